/** The command line itself: help, usage errors, and what is loaded. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { openSales } from "../support/service.ts";
import { LONG, testEach } from "../support/walks.ts";

/** What the bin does before the program comes in. */
const STARTED = { isStarted: true };

const GOLDEN = fileURLToPath(new URL("golden/", import.meta.url));

/** What it says of each command: test/unit/cli/program.test.ts. */
describe("help", () => {
  test("fits a terminal of 80 columns and has no value of the program's inside", async () => {
    for (const name of readdirSync(GOLDEN)) {
      const text = readFileSync(join(GOLDEN, name), "utf8");
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(text, name).toMatch(/\nExamples?:\n {2}tickets /);
      expect(text, name).toMatch(/\nMore: docs\/commands\.md/);
      expect(text).not.toMatch(/\[object|undefined|\{"|default: false/);
    }
  });

  test("without a command, a newcomer sees the help, with exit 2", async () => {
    const place = openWorkplace();
    const { exitCode, stdout, stderr } = await place.tickets([], STARTED);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    const golden = readFileSync(join(GOLDEN, "tickets.txt"), "utf8");
    expect(stderr).toBe(golden);
    expect(await place.tickets(["--help"], STARTED)).toMatchObject({ exitCode: 0, stdout: golden, stderr: "" });
    expect(stderr).toMatch(/^Examples:\n(?: {2}tickets (?:init|validate|stream) .*\n){3}$/m);
  });
});

test("--version is the package's", async () => {
  const place = openWorkplace();
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await place.tickets(["--version"], STARTED)).toMatchObject({
    exitCode: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
});

describe("a usage error is exit 2, names the way out, and nothing is sent", () => {
  const ERRORS: readonly (readonly [args: readonly string[], way: RegExp])[] = [
    [["strem", "sales.csv"], /stream/],
    [["stream"], /files/],
    [["stream", "sales.csv", "TICKETS_CHUNK_SIZE=5001"], /5000/],
    [["stream", "sales.csv", "TICKETS_CHUNK_SIZE=0"], /1 to 5000/],
    [["stream", "sales.csv", "--limit", "ten"], /limit/],
    [["stream", "sales.csv", "--lanes", "65"], /--lanes needs a whole number from 1 to 64/],
    [["stream", "sales.csv", "--max-invalid", "-1"], /max-invalid/],
    [["stream", "sales.csv", "--action", "soldTickets"], /soldTicket\b/],
    [["stream", "sales.csv", "TICKETS_TIMEOUT=soon"], /TICKETS_TIMEOUT/],
    [["stream", "sales.csv", "--max-duration", "soon"], /duration/],
    [["stream", "sales.csv", "--env", "playgruond"], /playground/],
    [["stream", "sales.csv", "--qiet"], /--quiet/],
    [["stream", "sales.csv", "--api-key", "abc"], /unknown option/],
    [["stream", "sales.csv", "--format", "xls"], /ndjson/],
    [["stream", "sales.csv", "--encoding", "utf-99"], /encoding/i],
    [["stream", "sales.csv", "sales.csv"], /twice/],
    [["status", "--chunk", "1"], /^error: --chunk has no effect without a run$/m],
    [["results", "--wait-lock", "1m"], /^error: --wait-lock has no effect without --import$/m],
    [["results", "--import", "sales.csv", "-o", "x.csv"], /'--import <files\.\.\.>' cannot be used with option '-o, /],
    [
      ["results", "7f3a", "--import", "sales.csv"],
      /^error: --import is about all runs; leave out the run or the flag$/m,
    ],
    [["results", "7f3a", "--all"], /--all is about all runs/],
    [["status", "7f3a", "--max-age", "26h"], /--max-age is about all runs/],
    [["status", "7f3a", "--metrics", "x.prom"], /--metrics is about all runs/],
    [["settle", "7f3a", "--sent", "--first", "3"], /^error: --first has no effect without --chunk$/m],
    [["env", "--trust", "--check"], /'--check' cannot be used with option '--trust'/],
  ];
  testEach("%j", ERRORS, 8, async ([args, way]) => {
    const { place, service } = await openSales(3);
    const named = args.includes("--env") ? [] : ["--env", "playground"];
    const { exitCode, stdout, stderr } = await place.tickets([...args, ...named], service);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(way);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(service.connections()).toBe(0);
  });
});

describe("what is loaded", () => {
  /** Prints every module that is asked for, once the process ends. */
  const LISTING = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ resolve(name, context, next) { const found = next(name, context); loaded.add(found.url); return found; } });
    process.on("exit", () => process.stderr.write([...loaded].join("\\n")));
  `)}`;

  const loadedBy = async (args: readonly string[]): Promise<readonly string[]> => {
    const place = openWorkplace();
    const { exitCode, stderr } = await place.tickets(args, { nodeArgs: ["--import", LISTING] });
    expect(exitCode).toBe(0);
    return stderr.split("\n").filter((line) => /^(node|file|data):/.test(line));
  };
  const packagesOf = (urls: readonly string[]) =>
    new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []));

  test.each([
    ["--version", []],
    ["--help", ["commander"]],
  ])("by %s is the command line alone", async (flag, packages) => {
    const urls = await loadedBy([flag]);
    expect(packagesOf(urls)).toEqual(new Set(packages));
    for (const heavy of ["node:sqlite", "node:http"]) expect(urls).not.toContain(heavy);
  });

  test("by validate is nothing that sends or draws", LONG, async () => {
    const urls = await loadedBy(["validate", fileURLToPath(new URL("../../fixtures/events.csv", import.meta.url))]);
    for (const heavy of ["ora", "undici"]) expect(packagesOf(urls)).not.toContain(heavy);
  });
});

describe("compiled code", () => {
  const NO_CHOICE = { NODE_COMPILE_CACHE: "" };
  const versionIn = (place: ReturnType<typeof openWorkplace>, env: Readonly<Record<string, string>>) =>
    place.tickets(["--version"], { ...STARTED, env: { ...NO_CHOICE, ...env } });

  test("is kept in the user's own cache folder and nowhere else", async () => {
    const place = openWorkplace();
    for (const env of [{}, { XDG_CACHE_HOME: "relative/is/no/choice" }]) {
      expect((await versionIn(place, env)).exitCode).toBe(0);
      expect(place.files().length).toBeGreaterThan(0);
      expect(place.files().filter((name) => !name.startsWith(join("home", ".cache", "tickets")))).toEqual([]);
    }
    expect(statSync(place.path("home/.cache/tickets")).mode & 0o077).toBe(0);
  });

  test.each([["/proc"], ["/dev/null"], [""]])("is not kept, and not missed, where the home is %j", async (home) => {
    const place = openWorkplace();
    const { exitCode, stderr } = await versionIn(place, { HOME: home });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(place.files()).toEqual([]);
  });
});
