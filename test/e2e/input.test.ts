/** What may be given as input, and how what can't be used is refused. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkplace, type RunOptions } from "../support/bin.ts";
import { expectSpokenAsSpecified, openPlayground, openSales } from "../support/service.ts";
import { readLines, readPromises, salesTable, ticketIds } from "../support/tables.ts";
import { LONG, testEach } from "../support/walks.ts";

/** Runs a command as someone who may read and write only what the file modes say, which root need not heed; undefined where that can't be done. */
const DROP = ["--bounding-set", "-dac_override,-dac_read_search"];

const BY_MODES_ONLY: string | undefined =
  process.getuid?.() !== 0
    ? '"$@"'
    : spawnSync("setpriv", [...DROP, "true"]).status === 0
      ? `exec setpriv ${DROP.join(" ")} "$@"`
      : undefined;
const PLAYGROUND = ["--env", "playground"];
const NEEDS_MODES = "(needs setpriv, or a user other than root)";

const sale = (n: number) => ({
  eventId: "E-1",
  ticketId: `T-${n}`,
  userId: `user-${n % 7}`,
  price: `${10 + (n % 5)}.50`,
  orderTime: 1_700_000_000 + n,
});
const NDJSON = [1, 2, 3].map((n) => `${JSON.stringify(sale(n))}\n`).join("");
const ITEMS = [1, 2, 3].map((n) => ({ action: "soldTicket", data: sale(n) }));

describe("input of every kind arrives as the same actions", () => {
  const KINDS: readonly (readonly [name: string, content: string | Buffer])[] = [
    ["sales.csv", salesTable(3)],
    ["sales.csv", `\ufeff${salesTable(3).replaceAll("\n", "\r\n")}`],
    ["sales.csv", salesTable(3).replaceAll(",", ";")],
    ["sales.tsv", salesTable(3).replaceAll(",", "\t")],
    ["sales.ndjson", NDJSON],
    ["sales.jsonl", NDJSON.trimEnd()],
    ["sales.json", JSON.stringify(ITEMS)],
    ["sales.csv.gz", gzipSync(salesTable(3))],
    ["sales.csv.zst", zstdCompressSync(salesTable(3))],
    ["sales.json.zst", zstdCompressSync(JSON.stringify(ITEMS))],
  ];
  testEach("%s", KINDS, KINDS.length, async ([name, content]) => {
    const { place, service } = await openPlayground();
    place.write(name, content);
    const { summary } = await place.summary(["stream", name, ...PLAYGROUND], service);
    expect(summary).toMatchObject({ exitCode: 0, actions: { total: 3, accepted: 3 } });
    expectSpokenAsSpecified(service);
    expect(service.sent()).toEqual(ITEMS);
    const promises = readPromises(place.read("promises.playground.ndjson"));
    expect(promises.map(({ source }) => source)).toEqual([name, name, name]);
  });

  test.skipIf(process.platform === "win32")("a named pipe, which gives its bytes once (needs mkfifo)", async () => {
    const { place, service } = await openPlayground();
    place.write("source", salesTable(3));
    execFileSync("mkfifo", [place.path("sales.csv")]);
    const writer = spawn("sh", ["-c", "cat source > sales.csv"], { cwd: place.folder, stdio: "ignore" });
    onTestFinished(() => {
      writer.kill("SIGKILL");
    });
    const { summary } = await place.summary(["stream", "sales.csv", ...PLAYGROUND], service);
    expect(summary).toMatchObject({ exitCode: 0, actions: { total: 3, accepted: 3 } });
    expect(service.sent()).toEqual(ITEMS);
  });

  test("several files and globs, in the order given; a glob's files by name", async () => {
    const { place, service } = await openPlayground();
    place.write("sales-b.csv", salesTable(2, { first: 3 }));
    place.write("sales-a.csv", salesTable(2, { first: 1 }));
    place.write("sales 0.csv", salesTable(2, { first: 5 }));
    const { summary } = await place.summary(["stream", "sales-*.csv", "sales 0.csv", ...PLAYGROUND], service);
    expect(summary).toMatchObject({ exitCode: 0, rows: { read: 6 } });
    expect(service.sent().map(({ data }) => data.ticketId)).toEqual(ticketIds(1, 6));
    expect(service.requests).toHaveLength(1);
  });
});

test.each<[string, string, string]>([
  ["an empty NDJSON file", "sales.ndjson", ""],
  ["an empty standard input", "-", ""],
  ["a CSV file with a header only", "sales.csv", "eventId,ticketId,userId,price\n"],
])("a quiet night: %s is exit 0 with no actions, which is said", LONG, async (_, name, content) => {
  const { place, service } = await openPlayground();
  if (name !== "-") place.write(name, content);
  const options = { env: service.env, ...(name === "-" && { stdin: content }) };
  const { stderr, summary } = await place.summary(["stream", name, ...PLAYGROUND], options);
  expect(summary).toMatchObject({ exitCode: 0, rows: { read: 0 }, actions: { total: 0 } });
  expect(stderr).toMatch(/no rows|0 actions/);
  expect(service.connections()).toBe(0);
  expect(await place.tickets(["stream", name, ...PLAYGROUND, "--quiet"], options)).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: expect.stringMatching(/^(.* NEW( · .*)?\n)?(warning: .*\n)+$/),
  });
});

/** Says once what is wrong with the file, in a sentence, and is no fault of the program. */
function expectOneSentence(stderr: string, name: string): void {
  const said = stderr.split("\n").filter((line) => line.startsWith("error: "));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(name);
  expect(said[0]).toMatch(/[.]$/);
  expect(stderr).not.toMatch(/\n\s+at |a fault in tickets/);
}

describe("a path that can't be used is exit 2 with one sentence", () => {
  const refuses = async (name: string, prepare: (path: string) => void, options: RunOptions = {}) => {
    const { place, service } = await openPlayground();
    prepare(place.path(name));
    for (const command of ["stream", "validate", "plan"]) {
      const { exitCode, stdout, stderr } = await place.tickets([command, name, ...PLAYGROUND], {
        env: service.env,
        ...options,
      });
      expect(exitCode).toBe(2);
      expect(stdout).toBe("");
      expectOneSentence(stderr, name);
    }
    expect(service.connections()).toBe(0);
  };

  test("a glob that matches nothing", LONG, () => refuses("sales-*.csv", () => {}));
  test("a directory", LONG, () => refuses("sales.csv", (path) => mkdirSync(path)));
  test("a link that leads nowhere", LONG, () => refuses("sales.csv", (path) => symlinkSync("gone.csv", path)));
  test.skipIf(BY_MODES_ONLY === undefined)(`a file without permission ${NEEDS_MODES}`, () =>
    refuses(
      "sales.csv",
      (path) => {
        writeFileSync(path, salesTable(1));
        chmodSync(path, 0o000);
      },
      { shell: BY_MODES_ONLY },
    ),
  );
  test.skipIf(process.platform !== "linux")("a file whose reading fails (needs Linux)", LONG, () =>
    // Reading the start of this one is an input/output error, even for root.
    refuses("sales.csv", (path) => symlinkSync("/proc/self/mem", path)),
  );
});

test.skipIf(BY_MODES_ONLY === undefined)(`a config without permission is exit 2 and named ${NEEDS_MODES}`, async () => {
  const place = openWorkplace();
  place.write("sales.csv", salesTable(1));
  chmodSync(place.write("tickets.config.yaml", "{}"), 0o000);
  const { exitCode, stderr } = await place.tickets(["validate", "sales.csv"], { shell: BY_MODES_ONLY });
  expect(exitCode).toBe(2);
  expectOneSentence(stderr, "tickets.config.yaml");
  expect(stderr).toContain("permission denied");
});

test.skipIf(BY_MODES_ONLY === undefined)(`a file that may only be read is streamed ${NEEDS_MODES}`, async () => {
  const { place, service } = await openPlayground();
  chmodSync(place.write("sales.csv", salesTable(3)), 0o444);
  const { exitCode } = await place.tickets(["stream", "sales.csv", ...PLAYGROUND], {
    env: service.env,
    shell: BY_MODES_ONLY,
  });
  expect(exitCode).toBe(0);
  expect(service.requests).toHaveLength(1);
});

test.skipIf(BY_MODES_ONLY === undefined)(
  `a working folder that can't be written is refused ${NEEDS_MODES}`,
  async () => {
    const { place, service } = await openPlayground();
    mkdirSync(place.path("exports"));
    place.write("exports/sales.csv", salesTable(3));
    chmodSync(place.path("exports"), 0o555);
    const { exitCode, stderr } = await place.tickets(
      ["stream", "sales.csv", "-o", place.path("out.ndjson"), ...PLAYGROUND],
      { env: service.env, shell: `cd exports && ${BY_MODES_ONLY}` },
    );
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toContain("exports is not writable, and rejects files are written there. Nothing was sent.");
    expect(service.requests).toHaveLength(0);
  },
);

describe("plan", () => {
  const isInput = async (name: string): Promise<void> => {
    const place = openWorkplace();
    const content = `${salesTable(20)}E-1,"T ""21""\n",Zoë 🎟,0.10,18446744073709551615\n`;
    if (name !== "-") place.write(name, content);
    const options = name === "-" ? { stdin: content } : {};
    const first = await place.tickets(["plan", name, "--action", "soldTicket"], options);
    expect(first.exitCode).toBe(0);
    expect(readLines(first.stdout)).toHaveLength(21);
    expect(first.stdout).toContain('"orderTime":18446744073709551615');
    place.write("plan.ndjson", first.stdout);
    const second = await place.tickets(["plan", "plan.ndjson", "-o", "again.ndjson"]);
    const problems = (await place.tickets(["validate", "plan.ndjson"])).stdout;
    expect(problems.match(/^\S+ [\w-]+/gm)).toEqual(["warning: order-time-far", "warning: event-not-registered"]);
    expect(second).toMatchObject({ exitCode: 0, stdout: problems });
    expect(place.read("again.ndjson")).toBe(first.stdout);
    expect(await place.tickets(["plan", "-"], { stdin: first.stdout })).toMatchObject({ stdout: first.stdout });
  };
  const IS_INPUT = "of %s is itself input, and gives the same plan byte by byte";
  test.each(["sales.csv", "-"])(IS_INPUT, LONG, isInput);

  test("is what is then sent", LONG, async () => {
    const { place, service } = await openSales(20);
    const { stdout } = await place.tickets(["plan", "sales.csv"]);
    await place.tickets(["stream", "sales.csv", ...PLAYGROUND, "TICKETS_CHUNK_SIZE=7"], service);
    const lines = stdout.trimEnd().split("\n");
    const bodies = [lines.slice(0, 7), lines.slice(7, 14), lines.slice(14)].map((chunk) => `[${chunk.join(",")}]`);
    expect(service.requests.map(({ body }) => body.toString())).toEqual(bodies);
  });
});
