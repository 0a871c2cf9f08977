import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildProgram } from "../../../src/cli/program.ts";
import { EXIT_CODES } from "../../../src/failure.ts";
import { openLedger } from "../../../src/ledger/ledger.ts";
import { tables } from "../../../src/ledger/schema.ts";
import { SQLITE_TYPES } from "../../../src/ledger/sqlite.ts";
import { linksIn, PAGES, ROOT, readPage } from "../../support/pages.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../support/postgres.ts";

/** 128 and the numbers of SIGHUP, SIGINT and SIGTERM. */
const SIGNAL_CODES = [129, 130, 143];

const program = buildProgram(async () => undefined);
const commands = new Map(program.commands.map((command) => [command.name(), command]));
const flagsOf = (command: Command): readonly string[] =>
  [...command.options.flatMap(({ short, long }) => [short, long]), "-h", "--help"].filter((flag) => flag != null);
const everyFlag = new Set([program, ...commands.values()].flatMap(flagsOf));

/** Code of a page: the lines of its blocks, with continued lines joined, and its spans. */
function codeOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) =>
    block.replaceAll(/\\\n/g, " ").split("\n"),
  );
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  const indented = prose.split("\n").filter((line) => line.startsWith("    "));
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span.replaceAll("\\|", "|"));
  return [...blocks, ...indented, ...spans];
}

/** What stands behind each `tickets` of a line of code that has arguments, up to where the shell ends the command. */
function invocationsIn(line: string): readonly string[] {
  const starts = /(?:^|[\s"(/])(?:npx tickets|tickets|bin\/tickets\.js)\s+(?=[a-z-])/g;
  return [...line.matchAll(starts)].map((match) => {
    const rest = line.slice(match.index + match[0].length);
    return rest.replaceAll(/"[^"]*"|'[^']*'/g, "TEXT").replace(/\s#.*|[|;&>)].*/, "");
  });
}

interface Use {
  readonly page: string;
  readonly text: string;
}
const invocations: readonly Use[] = PAGES.flatMap((page) =>
  codeOf(readPage(page))
    .flatMap(invocationsIn)
    .map((text) => ({ page, text })),
).filter(({ text }) => commands.has(text.split(/[\s.,:]/)[0] ?? "") || /^-|\s-/.test(text));

describe("commands in the docs", () => {
  it("are found", () => {
    expect(invocations.length).toBeGreaterThan(40);
    expect(invocationsIn('npm ci && npx tickets stream a.csv "x --y" -n | head -n 3')).toEqual([
      "stream a.csv TEXT -n ",
    ]);
  });

  it.each(invocations)("$page: tickets $text", ({ text }) => {
    const [verb = "", ...rest] = text.trim().split(/\s+/);
    const command = verb.startsWith("-") ? program : commands.get(verb);
    expect(command, `there is no command ${verb}`).toBeDefined();
    const flags = [...(verb.startsWith("-") ? [verb] : []), ...rest]
      .filter((word) => /^--?[a-zA-Z]/.test(word))
      .map((flag) => flag.replace(/[.,:]+$/, ""));
    for (const flag of flags) expect(command === undefined ? [] : flagsOf(command)).toContain(flag);
  });

  const spans = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/`(--[a-z][a-z-]*)(?: [^`]*)?`/g)].map(([, flag = ""]) => ({ page, flag })),
  );
  it.each(spans)("$page: $flag is a flag", ({ flag }) => {
    expect([...everyFlag]).toContain(flag);
  });

  it.each([...commands].filter(([name]) => name !== "help"))("docs/commands.md tells all of %s", (name, command) => {
    const page = readPage("docs/commands.md");
    expect(page.split("\n").includes(`## tickets ${name}`)).toBe(true);
    const reported = new Set([...page.matchAll(/(?<![\w-])--?[a-zA-Z][a-z-]*/g)].map(([flag]) => flag));
    expect(flagsOf(command).filter((flag) => !reported.has(flag) && flag !== "-h")).toEqual([]);
  });
});

/** A heading's anchor as the usual hosts of repositories make it. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );
}

const links = PAGES.flatMap((page) => linksIn(readPage(page)).map((target) => ({ page, target })));

it.each(links)("$page: the link $target leads somewhere", ({ page, target }) => {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  expect(existsSync(join(ROOT, file))).toBe(true);
  if (anchor !== undefined) expect(anchorsOf(readPage(file))).toContain(anchor);
});

it("README.md leads to every page of docs/", () => {
  const linked = new Set(linksIn(readPage("README.md")).map((target) => target.split("#")[0] ?? ""));
  // Each recipe is in the index of recipes.
  const pages = PAGES.filter((page) => page.startsWith("docs/") && !/^docs\/recipes\/(?!README)/.test(page));
  expect(pages.filter((page) => !linked.has(page))).toEqual([]);
});

it("the pages of docs/ beside the recipes and the design stay ten, with README.md", () => {
  expect(PAGES.filter((page) => page === "README.md" || /^docs\/[^/]+\.md$/.test(page))).toHaveLength(10);
});

describe("exit codes in the docs", () => {
  const known = [...Object.values(EXIT_CODES), ...SIGNAL_CODES];

  it.each([
    ["docs/commands.md", "Exit codes"],
    ["docs/when-it-fails.md", "At 03:00"],
  ])("are all in the table of %s, and no others", (path, heading) => {
    const [, section = ""] = readPage(path).split(`\n## ${heading}\n`);
    const reported = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| (\d+(?:, \d+)*) \|/gm)];
    expect(reported.flatMap(([, codes = ""]) => codes.split(", ").map(Number))).toEqual(known);
  });

  it.each(PAGES)("%s names only such", (page) => {
    const reported = [...readPage(page).matchAll(/\bexit(?:s| code)? (\d+)/gi)].map(([, code]) => Number(code));
    expect(reported.filter((code) => !known.includes(code))).toEqual([]);
  });
});

describe("docs/design/ledger.md", () => {
  const page = readPage("docs/design/ledger.md");
  const database = new DatabaseSync(":memory:");
  database.exec(tables(SQLITE_TYPES));

  const columns = database
    .prepare(
      "SELECT t.name AS name, c.name AS part FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'",
    )
    .all();

  it.each([...Map.groupBy(columns, ({ name }) => String(name))])("describes the table %s", (name, parts) => {
    const [, section = ""] = page.split(`**\`${name}\`**`);
    const [described = ""] = section.split("**`");
    for (const { part } of parts) expect(described).toContain(`\`${part}\``);
  });

  const queries = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql = ""]) => sql);
  it("has six queries", () => expect(queries).toHaveLength(6));
  it.each(queries)("%s can be run", (sql) => {
    expect(() => database.prepare(sql).all()).not.toThrow();
  });

  it.skipIf(WITHOUT_POSTGRES)(`has queries that PostgreSQL runs as well${NEEDS_POSTGRES}`, async () => {
    const { url, newSchema } = await startPostgres();
    const schema = newSchema();
    const place = { kind: "postgres", url, isTls: false, schema, shown: schema, application: "docs" } as const;
    await using ledger = await openLedger({ place, boundTo: "https://api.example.com/v1" });
    expect(await ledger.runs()).toEqual([]);
    const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
    await client.connect();
    onTestFinished(() => client.end());
    for (const sql of queries) expect((await client.query(sql)).rows).toEqual([]);
  });
});

it.each(["dependencies", "devDependencies"] as const)(
  "docs/design/dependencies.md gives every one of %s its reason",
  (kind) => {
    const manifest = JSON.parse(readPage("package.json")) as Record<typeof kind, Record<string, string>>; // our own file
    const [, production = "", development = ""] = readPage("docs/design/dependencies.md").split(/^## .+$/m);
    const reported = [...(kind === "dependencies" ? production : development).matchAll(/^\| `([^`]+)` \| .+ \|$/gm)];
    expect(reported.map(([, name]) => name)).toEqual(Object.keys(manifest[kind]));
  },
);

it("docs/design/dependencies.md says how many packages an installation has, and none of them has an install script", () => {
  interface Package {
    readonly dev?: true;
    readonly hasInstallScript?: true;
  }
  const { packages } = JSON.parse(readPage("package-lock.json")) as { packages: Record<string, Package> }; // npm's own file
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  const { dependencies } = JSON.parse(readPage("package.json")) as { dependencies: Record<string, string> }; // our own
  expect(readPage("docs/design/dependencies.md")).toContain(
    `${Object.keys(dependencies).length} packages, and ${installed.length} with those that they bring; none has an install script.`,
  );
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});
