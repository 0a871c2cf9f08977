import { readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { describe, expect, it } from "vitest";
import { CHUNK_STATES } from "../../src/ledger/chunks.ts";
import { DYNAMIC, importsOf, withoutComments } from "../support/imports.ts";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/**
 * The arrows of CONTRIBUTING.md: what each folder of src/ may import besides itself. `failure.ts` is a leaf for all.
 * The sandbox is the other side: what talks to it never shares more with it than the tables of the service.
 */
const MAY_IMPORT = {
  failure: [],
  actions: [],
  disk: ["actions"],
  checks: ["actions"],
  mapping: ["actions"],
  readers: ["actions", "mapping"],
  config: ["actions", "disk", "mapping", "readers"],
  ledger: ["actions", "disk", "mapping", "checks"],
  book: ["actions", "disk"],
  plan: ["actions", "disk", "mapping", "checks", "readers", "ledger"],
  outputs: ["actions", "disk", "mapping", "readers", "ledger", "plan"],
  sending: ["actions", "disk", "checks", "ledger", "plan", "outputs"],
  init: ["actions", "mapping", "readers"],
  sandbox: ["actions"],
  run: ["actions", "disk", "mapping", "checks", "readers", "config", "ledger", "plan", "outputs", "sending"],
  commands: [
    ...["actions", "disk", "mapping", "checks", "readers", "config"],
    ...["ledger", "plan", "outputs", "sending", "init", "sandbox", "run"],
  ],
  cli: ["actions", "disk", "config", "plan", "commands"],
  main: ["actions", "cli"],
  library: ["config", "run", "sandbox"],
  index: ["actions", "library", "run", "sandbox"],
} as const satisfies Record<string, readonly string[]>;

/** Likewise within src/plan/. */
const MAY_IMPORT_IN_PLAN = {
  files: [],
  candidates: ["files"],
  order: ["files", "candidates"],
  histories: [],
  identity: ["files", "candidates", "histories"],
  findings: ["files", "candidates", "identity"],
  rejects: ["files", "candidates", "identity", "findings"],
  compile: ["files", "candidates", "order", "identity", "findings", "rejects"],
  decide: ["files", "candidates", "identity", "findings", "rejects", "compile"],
  "make-plan": ["files", "candidates", "order", "findings", "rejects", "compile", "decide"],
} as const satisfies Record<string, readonly string[]>;

/** And of next/ (next/README.md), where `src/` is what it shares with the program of today. */
const MAY_IMPORT_IN_NEXT = {
  actions: ["src/actions"],
  ledger: ["actions", "src/actions", "src/disk"],
  plan: ["actions", "ledger", "src/actions", "src/disk", "src/mapping", "src/checks", "src/readers"],
  write: ["actions", "ledger", "src/actions", "src/disk", "src/mapping", "src/outputs"],
  send: ["ledger", "src/actions", "src/disk", "src/sending"],
  run: [
    ...["actions", "ledger", "plan", "write", "send"],
    ...["src/actions", "src/disk", "src/mapping", "src/checks", "src/readers", "src/config", "src/sending", "src/run"],
  ],
  library: ["run", "src/config", "src/sandbox"],
} as const satisfies Record<string, readonly string[]>;

type Layer = keyof typeof MAY_IMPORT;
type LayerOfPlan = keyof typeof MAY_IMPORT_IN_PLAN;

const isLayer = (name: string): name is Layer => Object.hasOwn(MAY_IMPORT, name);
const isLayerOfPlan = (name: string): name is LayerOfPlan => Object.hasOwn(MAY_IMPORT_IN_PLAN, name);

/** `actions/fields.ts` → `actions`, `main.ts` → `main`. */
function layerOf(path: string): string {
  return (path.split("/")[0] ?? "").replace(/\.ts$/, "");
}

/** But for the beginning of a lookahead, in a pattern of words. */
const ANY_DYNAMIC = /\bimport\((?!\?)/g;

const files = globSync("**/*.ts", { cwd: SRC }).map((path) => path.split(sep).join("/"));
const filesOfPlan = files.filter((path) => path.startsWith("plan/")).map((path) => path.slice("plan/".length));

describe("the layers of src/", () => {
  it("are all there are", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => !isLayer(layerOf(path)))).toEqual([]);
    expect(filesOfPlan.filter((path) => !isLayerOfPlan(layerOf(path)))).toEqual([]);
  });

  it.each(files)("%s imports only what stands below it", (path) => {
    const source = readFileSync(join(SRC, path), "utf8");
    const layer = layerOf(path);
    const allowed: readonly string[] = isLayer(layer) ? [...MAY_IMPORT[layer], layer, "failure"] : [];
    const forbidden = importsOf(source)
      .filter((target) => target.startsWith("."))
      .map((target) => posix.join(dirname(path), target))
      .filter((target) => !allowed.includes(layerOf(target)));
    expect(forbidden).toEqual([]);
  });

  it.each(filesOfPlan)("plan/%s imports only what stands below it in src/plan/", (path) => {
    const layer = layerOf(path);
    const allowed: readonly string[] = isLayerOfPlan(layer) ? [...MAY_IMPORT_IN_PLAN[layer], layer] : [];
    const forbidden = importsOf(readFileSync(join(SRC, "plan", path), "utf8"))
      .filter((target) => target.startsWith("."))
      .map((target) => posix.join(dirname(path), target))
      .filter((target) => !target.startsWith("../") && !allowed.includes(layerOf(target)));
    expect(forbidden).toEqual([]);
  });

  it.each(files)("%s names what it imports, with its extension", (path) => {
    const source = readFileSync(join(SRC, path), "utf8");
    const code = withoutComments(source);
    expect([...code.matchAll(ANY_DYNAMIC)].length).toBe([...code.matchAll(DYNAMIC)].length);
    const known = new Set(files);
    for (const target of importsOf(source).filter((each) => each.startsWith("."))) {
      const file = posix.join(dirname(path), target).replace(/\.js$/, ".ts");
      expect(known, `${target} of ${relative(".", path)}`).toContain(file);
    }
  });
});

describe("the layers of next/", () => {
  const NEXT = fileURLToPath(new URL("../../next", import.meta.url));
  const ofNext = globSync("**/*.ts", { cwd: NEXT, ignore: "test/**" }).map((path) => path.split(sep).join("/"));
  const table: Readonly<Record<string, readonly string[]>> = MAY_IMPORT_IN_NEXT;
  const targetsOf = (path: string): readonly string[] =>
    importsOf(readFileSync(join(NEXT, path), "utf8"))
      .filter((target) => target.startsWith("."))
      .map((target) => posix.join(dirname(path), target));

  it.each(ofNext)("%s imports only what stands below it", (path) => {
    const layer = layerOf(path);
    const allowed = [layer, "src/failure", ...(table[layer] ?? [])];
    const layerOfTarget = (target: string): string =>
      target.startsWith("../src/") ? `src/${layerOf(target.slice("../src/".length))}` : layerOf(target);
    expect(targetsOf(path).filter((target) => !allowed.includes(layerOfTarget(target)))).toEqual([]);
  });

  it("are in no circle, and SQL stands in its ledger and where a plan keeps its rows", () => {
    expect(circlesOf(new Map(ofNext.map((path) => [path, targetsOf(path)])))).toEqual([]);
    const sql = /\b(?:SELECT [\w*]|INSERT (?:OR \w+ )?INTO |UPDATE (?:OR \w+ )?\w+ SET |DELETE FROM )/;
    const withSql = ofNext.filter((path) => sql.test(readFileSync(join(NEXT, path), "utf8")));
    expect(withSql.filter((path) => !["ledger", "plan"].includes(layerOf(path)))).toEqual([]);
  });

  it("are not what the program is made of", () => {
    const used = files.filter((path) =>
      importsOf(readFileSync(join(SRC, path), "utf8")).some((target) => target.includes("/next/")),
    );
    expect(used).toEqual([]);
  });

  it("has the states of chunks changed by ledger/chunk-life.ts alone", () => {
    const changes = /\bUPDATE\s+chunks\s+SET\s+state\b|\bINSERT INTO\s+chunks\b|\bDELETE FROM\s+chunks\b/i;
    expect(ofNext.filter((path) => changes.test(readFileSync(join(NEXT, path), "utf8")))).toEqual([
      "ledger/chunk-life.ts",
    ]);
  });
});

describe("the packages that src/ imports", () => {
  const isOfThePackage = (target: string) => {
    const [, name = "", subpath] = /^((?:@[^/]+\/)?[^/]+)(\/.+)?$/.exec(target) ?? [];
    if (subpath === undefined) return true;
    const manifest = readFileSync(join(SRC, "../node_modules", name, "package.json"), "utf8");
    return JSON.parse(manifest).exports !== undefined; // Node then refuses what it does not name
  };

  it.each(files)("%s takes only what they offer", (path) => {
    const targets = importsOf(readFileSync(join(SRC, path), "utf8")).filter((target) => !/^(?:\.|node:)/.test(target));
    expect(targets.filter((target) => !isOfThePackage(target))).toEqual([]);
  });

  it.each([
    ["cosmiconfig", true],
    ["csv-parse/sync", true],
    ["@noble/hashes/sha3.js", true],
    ["cosmiconfig/dist/Explorer.js", false],
  ])("%s: %s", (target, isTheirs) => expect(isOfThePackage(target)).toBe(isTheirs));
});

/** Files that import each other, directly or through others: each set once. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const reach = (from: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    const open = [...(imports.get(from) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(imports.get(next) ?? []));
    }
    return reached;
  };
  const reached = new Map([...imports.keys()].map((file) => [file, reach(file)]));
  const circles = [...imports.keys()]
    .filter((file) => reached.get(file)?.has(file))
    .map((file) =>
      [...imports.keys()].filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)),
    );
  return [...new Map(circles.map((circle) => [circle.join(" "), circle])).values()];
}

/** `a ◀ {b, c} ◀ d` lets b and c import a, and d both: each arrow of CONTRIBUTING.md, from who imports. */
function arrowsOf(drawn: string): readonly (readonly [from: string, to: string])[] {
  const namesIn = (place: string): readonly string[] => place.match(/[\w-]+/g) ?? [];
  return drawn.split(/\s{2,}|;/).flatMap((chain) => {
    const places = chain.split("◀").map(namesIn);
    return places
      .slice(1)
      .flatMap((importers, at) => importers.flatMap((from) => (places[at] ?? []).map((to) => [from, to] as const)));
  });
}

describe("the arrows of CONTRIBUTING.md", () => {
  const lines = readFileSync(join(SRC, "../CONTRIBUTING.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("    ") && line.includes("◀"));
  const isOfPlan = (line: string): boolean => line.includes("within plan:");
  const ofSrc = lines.filter((line) => !isOfPlan(line)).join("  ");
  const ofPlan = lines.filter(isOfPlan).join("  ").replace("within plan:", "");

  it.each<[string, string, Readonly<Record<string, readonly string[]>>]>([
    ["src/", ofSrc, MAY_IMPORT],
    ["src/plan/", ofPlan, MAY_IMPORT_IN_PLAN],
  ])("of %s are the ones that hold", (_, drawn, table) => {
    const arrows = arrowsOf(drawn);
    const follow = (from: string): readonly string[] =>
      arrows.flatMap(([name, to]) => (name === from ? [to, ...follow(to)] : []));
    const hidden = Object.entries(table).flatMap(([from, to]) => {
      const drawnFor = new Set(follow(from));
      return to.filter((each) => !drawnFor.has(each)).map((each) => `${each} ◀ ${from}`);
    });
    expect(hidden).toEqual([]);
    expect(arrows.filter(([from, to]) => !table[from]?.includes(to)).map(([from, to]) => `${to} ◀ ${from}`)).toEqual(
      [],
    );
  });
});

describe("the chunks table", () => {
  it("is changed by src/ledger/chunks.ts alone", () => {
    const changes = /\b(?:UPDATE|INSERT(?: OR \w+)? INTO|REPLACE INTO|DELETE FROM)\s+chunks\b/i;
    const old = files.filter((path) => layerOf(path) !== "book");
    expect(old.filter((path) => changes.test(readFileSync(join(SRC, path), "utf8")))).toEqual(["ledger/chunks.ts"]);
  });

  it("of the new ledger has its states changed by src/ledger/chunk-life.ts alone", () => {
    const changes = /\bUPDATE\s+chunks\s+SET\s+state\b|\bINSERT INTO\s+chunks\b|\bDELETE FROM\s+chunks\b/i;
    const own = files.filter((path) => layerOf(path) === "book");
    expect(own.filter((path) => changes.test(readFileSync(join(SRC, path), "utf8")))).toEqual(["book/chunk-life.ts"]);
  });
});

describe("SQL", () => {
  it("stands in src/ledger/, in the sandbox, in examples, and where a plan keeps what does not fit into memory", () => {
    const sql = /\b(?:SELECT [\w*]|INSERT (?:OR \w+ )?INTO |REPLACE INTO |UPDATE (?:OR \w+ )?\w+ SET |DELETE FROM )/;
    const ofScratch = files.filter((path) => /\bcreateScratch\(/.test(readFileSync(join(SRC, path), "utf8")));
    const allowed = (path: string): boolean =>
      ["ledger", "book", "sandbox"].includes(layerOf(path)) || path === "cli/help.ts" || ofScratch.includes(path);
    expect(files.filter((path) => !allowed(path) && sql.test(readFileSync(join(SRC, path), "utf8")))).toEqual([]);
  });

  it("takes lists of the states of chunks from src/ledger/chunks.ts, but for tables and indices on disk", () => {
    const list = new RegExp(`\\bIN \\('(?:${CHUNK_STATES.join("|")})',`);
    const written = files.filter((path) => path !== "ledger/schema.ts");
    expect(written.filter((path) => list.test(readFileSync(join(SRC, path), "utf8")))).toEqual([]);
  });
});

describe("the files of src/", () => {
  it("import each other in no circle, types included", () => {
    const imports = files.map((path): [string, readonly string[]] => [
      path,
      importsOf(readFileSync(join(SRC, path), "utf8"))
        .filter((target) => target.startsWith("."))
        .map((target) => posix.join(dirname(path), target).replace(/\.js$/, ".ts")),
    ]);
    expect(circlesOf(new Map(imports))).toEqual([]);
  });

  it.each<[string, Record<string, readonly string[]>, readonly (readonly string[])[]]>([
    ["none", { a: ["b"], b: ["c"], c: [] }, []],
    ["a file of itself", { a: ["a"] }, [["a"]]],
    ["two, beside what only leads there", { a: ["b"], b: ["c"], c: ["b"] }, [["b", "c"]]],
    [
      "two circles",
      { a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"] },
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
  ])("are found: %s", (_, imports, circles) => {
    expect(circlesOf(new Map(Object.entries(imports)))).toEqual(circles);
  });
});

/** What reaches a person, a terminal, or the process as a whole. */
const OF_THE_PROCESS = /\breporter\b|\bconsole\.|\bprocess\.(?:argv|env|cwd|exit|exitCode|on|std\w+)\b/;

describe("the core of src/run/", () => {
  it.each(files.filter((path) => layerOf(path) === "run"))(
    "%s speaks to no one, and leaves the process alone",
    (path) => {
      const code = withoutComments(readFileSync(join(SRC, path), "utf8"));
      expect(OF_THE_PROCESS.exec(code)?.[0]).toBeUndefined();
    },
  );
});

describe("the reading of imports", () => {
  it.each([
    ['import { a } from "./a.ts";', ["./a.ts"]],
    ['import type { A } from "./a.ts";', ["./a.ts"]],
    ['import {\n  a,\n  type B,\n} from "../x/a.ts";', ["../x/a.ts"]],
    ['import "./effects.ts";', ["./effects.ts"]],
    ['export * from "./a.ts";', ["./a.ts"]],
    ['export { a } from "./a.ts";\nexport const b = 1;\nimport c from "./c.ts";', ["./a.ts", "./c.ts"]],
    ['const { a } = await import("./a.ts");', ["./a.ts"]],
    ['type A = import("./a.ts").A;', ["./a.ts"]],
    ['new Worker(new URL("./worker.ts", import.meta.url));', ["./worker.ts"]],
    ['/** import { a } from "./a.ts"; */\n// import "./b.ts";', []],
    ['export const text = "from";', []],
    ['const url = "https://example.com"; import { a } from "./a.ts";', ["./a.ts"]],
  ])("%s", (source, expected) => expect(importsOf(source)).toEqual(expected));
});
