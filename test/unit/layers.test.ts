import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { describe, expect, it } from "vitest";
import { DYNAMIC, importsOf, withoutComments } from "../support/imports.ts";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

const CONTRIBUTING = readFileSync(join(SRC, "../CONTRIBUTING.md"), "utf8").split("\n");

/** All may import them. */
const LEAVES = ["failure", "text", "rules", "next-command"];

/** The arrows of CONTRIBUTING.md: `a ◀ {b, c} ◀ d` lets b and c import a, and d both. From who imports. */
function arrowsOf(drawn: string): readonly (readonly [from: string, to: string])[] {
  const namesIn = (place: string): readonly string[] => place.match(/[\w-]+/g) ?? [];
  return drawn.split(/\s{2,}|;/).flatMap((chain) => {
    const places = chain.split("◀").map(namesIn);
    return places
      .slice(1)
      .flatMap((importers, at) => importers.flatMap((from) => (places[at] ?? []).map((to) => [from, to] as const)));
  });
}

const arrows = arrowsOf(CONTRIBUTING.filter((line) => line.startsWith("    ") && line.includes("◀")).join("  "));
const below = (layer: string): readonly string[] =>
  arrows.flatMap(([from, to]) => (from === layer ? [to, ...below(to)] : []));

/** At the rim less than stands below. */
const RIM: Readonly<Record<string, readonly string[]>> = {
  cli: ["actions", "disk", "config", "plan", "run", "commands"],
  main: ["actions", "cli"],
  library: ["config", "run", "sandbox"],
  index: ["actions", "library", "run", "sandbox"],
};

/** `actions/fields.ts` → `actions`, `main.ts` → `main`. */
function layerOf(path: string): string {
  return (path.split("/")[0] ?? "").replace(/\.ts$/, "");
}

/** But for the beginning of a lookahead, in a pattern of words. */
const ANY_DYNAMIC = /\bimport\((?!\?)/g;

const files = globSync("**/*.ts", { cwd: SRC }).map((path) => path.split(sep).join("/"));

describe("the layers of src/", () => {
  it("are all there are", () => {
    expect(files.length).toBeGreaterThan(10);
    const layers = new Set([...arrows.flat(), ...LEAVES]);
    expect(files.filter((path) => !layers.has(layerOf(path)))).toEqual([]);
  });

  it.each(files)("%s imports only what stands below it", (path) => {
    const source = readFileSync(join(SRC, path), "utf8");
    const layer = layerOf(path);
    const allowed = LEAVES.includes(layer) ? LEAVES : [...(RIM[layer] ?? below(layer)), layer, ...LEAVES];
    const forbidden = importsOf(source)
      .filter((target) => target.startsWith("."))
      .map((target) => posix.join(dirname(path), target))
      .filter((target) => !allowed.includes(layerOf(target)));
    expect(forbidden).toEqual([]);
  });

  it.each(files)("%s names what it imports", (path) => {
    const code = withoutComments(readFileSync(join(SRC, path), "utf8"));
    expect([...code.matchAll(ANY_DYNAMIC)].length).toBe([...code.matchAll(DYNAMIC)].length);
  });
});

/** All that a file imports, directly or through others. */
function reachOf(from: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(imports.get(from) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(imports.get(next) ?? []));
  }
  return reached;
}

describe("the way of a row in CONTRIBUTING.md", () => {
  const steps = CONTRIBUTING.filter((line) => /^\| \d+ \|/.test(line));
  const filesOf = (lines: readonly string[]) => lines.flatMap((line) => line.match(/`(?:src|bin)\/[^`]+`/g) ?? []);

  it("names files that are there", () => {
    const gone = filesOf(steps).filter((name) => !existsSync(join(SRC, "..", name.replaceAll("`", ""))));
    expect(steps.length).toBeGreaterThan(20);
    expect(gone).toEqual([]);
  });

  it("takes at most 40 to the request", () => {
    const request = steps.findIndex((line) => line.includes("| request |"));
    expect(request).toBeGreaterThan(0);
    expect(new Set(filesOf(steps.slice(0, request + 1))).size).toBeLessThanOrEqual(40);
  });
});

describe("the chunks table", () => {
  it("has its states changed by src/ledger/chunk-life.ts alone", () => {
    const changes =
      /\bUPDATE\s+chunks\s+SET\s+state\b|\bINSERT INTO\s+chunks\b|\binsertInto\("chunks"|\bDELETE FROM\s+chunks\b/i;
    const found = files.filter((path) => changes.test(readFileSync(join(SRC, path), "utf8")));
    expect(found).toEqual(["ledger/chunk-life.ts"]);
  });
});

describe("SQL", () => {
  it("stands in the ledger, in the plan's file, in the sandbox, and where promises are seen twice", () => {
    const sql = /\b(?:SELECT [\w*]|INSERT (?:OR \w+ )?INTO |REPLACE INTO |UPDATE (?:OR \w+ )?\w+ SET |DELETE FROM )/;
    const isAllowed = (path: string): boolean =>
      ["ledger", "plan", "sandbox"].includes(layerOf(path)) || path === "send/seen.ts";
    expect(files.filter((path) => !isAllowed(path) && sql.test(readFileSync(join(SRC, path), "utf8")))).toEqual([]);
  });
});

describe("the files of src/", () => {
  it("import each other in no circle, types included", () => {
    const imports = new Map(
      files.map((path) => [
        path,
        importsOf(readFileSync(join(SRC, path), "utf8"))
          .filter((target) => target.startsWith("."))
          .map((target) => posix.join(dirname(path), target).replace(/\.js$/, ".ts")),
      ]),
    );
    expect(files.filter((path) => reachOf(path, imports).has(path))).toEqual([]);
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
