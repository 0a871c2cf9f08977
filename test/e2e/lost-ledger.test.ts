/** A ledger that was lost or put back from an older copy is noticed, and refilled from promises. */

import { appendFileSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { dies, type SalesRig, salesRig, processedCount as sent, settleByTruth } from "../support/interrupted.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { type SharedLedger, sharedLedger } from "../support/shared-ledger.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";
import { LONG, testEach } from "../support/walks.ts";

const to = (output: string, ...more: readonly string[]): readonly string[] => [
  ...["stream", "events.csv", "sales.csv", "--env", "playground", "-o", output],
  ...more,
];
const importOf = (file: string): readonly string[] => ["results", "--import", file, "--env", "playground"];

const listOf = (rig: SalesRig): string => join(rig.state, "journal.ndjson");
const ledgerFiles = (rig: SalesRig) => readdirSync(rig.state).filter((name) => name.startsWith("ledger.db"));
const loseLedger = (rig: SalesRig): void => {
  for (const name of ledgerFiles(rig)) rmSync(join(rig.state, name));
};

/** Keeps a copy of the ledger; what is returned puts it back. */
function copyLedger(rig: SalesRig): () => void {
  const names = ledgerFiles(rig);
  for (const name of names) copyFileSync(join(rig.state, name), rig.place.path(`copy-of-${name}`));
  return () => {
    loseLedger(rig);
    for (const name of names) copyFileSync(rig.place.path(`copy-of-${name}`), join(rig.state, name));
  };
}

/** The command is refused since the ledger lacks something; what it says. */
async function refused(rig: SalesRig, command: readonly string[]): Promise<string> {
  const before = sent(rig);
  const { exitCode, stderr } = await rig.run(command);
  expect([command.join(" "), exitCode], stderr).toEqual([command.join(" "), 2]);
  expect(sent(rig)).toBe(before);
  return stderr;
}

const LOST = "The ledger of playground was lost, or restored from an older copy";

/** Nothing of the input is sent any more. */
async function nothingNew(rig: SalesRig, output: string): Promise<void> {
  const before = sent(rig);
  const { exitCode, stderr } = await rig.run(to(output));
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Nothing new")]);
  expect(sent(rig)).toBe(before);
}

describe("a ledger that was lost", () => {
  const isNoticed = async (...commands: readonly (readonly string[])[]): Promise<void> => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    loseLedger(rig);
    for (const command of commands) {
      const said = await refused(rig, command);
      expect(said).toContain(LOST);
      expect(said).toContain("Import what it lacks: tickets results --import a.ndjson --env playground");
      expect(said).toMatch(
        /move the journal aside, then adopt those again: mv \S+journal\.ndjson \S+journal\.ndjson\.aside$/m,
      );
    }
    expect(await rig.run(importOf("a.ndjson"))).toMatchObject({ exitCode: 0 });
    await nothingNew(rig, "b.ndjson");
    expect(await rig.run(["status", "--env", "playground"])).toMatchObject({ exitCode: 0 });
    const again = await rig.run(importOf("a.ndjson"));
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("20 actions were known already")]);
  };
  test("is noticed by the next night, and the import opens the way again", () => isNoticed(to("b.ndjson")));
  test("is noticed by every command that would decide by it", LONG, () =>
    isNoticed(
      ...[
        to("b.ndjson"),
        to("b.ndjson", "--dry-run"),
        to("a.ndjson", "--move-aside"),
        ["validate", "sales.csv", "--env", "playground"],
      ],
      ...[
        ["plan", "sales.csv", "--env", "playground"],
        ["status", "--env", "playground"],
      ],
      ...[["resume", "--env", "playground"]],
    ),
  );

  test("and whose promises stand in several files is missed until all of them are imported", LONG, async () => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    rig.place.write("sales.csv", salesTable(29));
    await rig.run(to("b.csv"));
    loseLedger(rig);
    rig.place.write("damaged.csv", rig.place.read("b.csv").replace(/^(.*\n.{40}).*\n/, "$1\n"));
    for (const none of ["sales.csv", "damaged.csv"]) expect(await refused(rig, importOf(none))).toContain(none);
    const half = await rig.run(importOf("a.ndjson"));
    expect([half.exitCode, half.stderr]).toEqual([0, expect.stringContaining("tickets results --import b.csv")]);
    const said = await refused(rig, to("c.ndjson"));
    expect(said).toContain("tickets results --import b.csv");
    expect(said).not.toContain("a.ndjson");
    await rig.run(importOf("b.csv"));
    await nothingNew(rig, "c.ndjson");
    expect(sent(rig)).toBe(30);
  });

  test.each(["a.ndjson", "a.csv"])("knows again from %s what a person settled as sent", async (output) => {
    const rig = await salesRig(20);
    const without = ["actionPromise"];
    rig.sandbox.setFaults({ rules: [{ fault: "changed", items: { count: 2 }, without, on: { request: 1 } }] });
    expect(await rig.run(to(output))).toMatchObject({ exitCode: 6 });
    await settleByTruth(rig, rig.placed);
    expect(await rig.run(to(output))).toMatchObject({ exitCode: 0 });
    loseLedger(rig);
    expect(await rig.run(importOf(output))).toMatchObject({ exitCode: 0 });
    await nothingNew(rig, "b.ndjson");
    expect(sent(rig)).toBe(20);
  });

  /** Sends a sale and then an image `a` and `b` of its ticket, each with its promises file. */
  async function imagesSent(outputs: { readonly sale: string; readonly a: string; readonly b: string }) {
    const rig = await salesRig(2);
    const [{ ticketId = "" } = {}] = readTable(rig.place.read("sales.csv"));
    expect(await rig.run(to(outputs.sale))).toMatchObject({ exitCode: 0 });
    const send = async (image: string, output: string) => {
      rig.place.write("updates.csv", `ticketId,imageUrl\n${ticketId},https://example.com/${image}.png\n`);
      return await rig.run(["stream", "updates.csv", "--env", "playground", "-o", output]);
    };
    expect(await send("a", outputs.a)).toMatchObject({ exitCode: 0 });
    expect(await send("b", outputs.b)).toMatchObject({ exitCode: 0 });
    return { rig, send };
  }

  test.each([
    ["the later file is named first", "journal", { sale: "z.ndjson", a: "z.ndjson", b: "y.ndjson" }],
    ["the earlier file goes on later", "journal", { sale: "z.ndjson", a: "y.ndjson", b: "z.ndjson" }],
    ["the earlier file goes on later", "times", { sale: "z.ndjson", a: "y.ndjson", b: "z.ndjson" }],
  ] as const)("knows again what came last where %s, by its %s", async (_what, by, outputs) => {
    const { rig, send } = await imagesSent(outputs);
    loseLedger(rig);
    if (by === "times") rmSync(listOf(rig));
    expect(await rig.run(["results", "--env", "playground", "--import", "y.ndjson", "z.ndjson"])).toMatchObject({
      exitCode: 0,
    });
    expect(await send("b", "x.ndjson")).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("Nothing new") });
    expect(await send("a", "x.ndjson")).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("unclear: updates.csv:2"),
    });
  });

  test("takes no run any more that came before one which it knows again", async () => {
    const { rig } = await imagesSent({ sale: "z.ndjson", a: "y.ndjson", b: "z.ndjson" });
    loseLedger(rig);
    expect(await rig.run(importOf("z.ndjson"))).toMatchObject({ exitCode: 0 });
    const said = await refused(rig, importOf("y.ndjson"));
    expect(said).toMatch(/^error: The ledger knows run [0-9a-f]{8}, and lacks run [0-9a-f]{8}, which came before it/m);
    expect(said).toContain("in one command: tickets results --import FILE --env playground");
    loseLedger(rig);
    const both = "results --import z.ndjson y.ndjson --env playground";
    expect(await refused(rig, to("x.ndjson"))).toContain(`tickets ${both}`);
    expect(await rig.run(both.split(" "))).toMatchObject({ exitCode: 0 });
  });

  test("of which only two imports tell is missed until both are done again", LONG, async () => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    const lines = rig.place.read("a.ndjson").split(/(?<=\n)/);
    rig.place.write("one.ndjson", lines.slice(0, 10).join(""));
    rig.place.write("other.ndjson", lines.slice(10).join(""));
    loseLedger(rig);
    rmSync(listOf(rig));
    await rig.run(importOf("one.ndjson"));
    await rig.run(importOf("other.ndjson"));
    loseLedger(rig);
    await rig.run(importOf("one.ndjson"));
    expect(await refused(rig, to("b.ndjson"))).toContain("it knows 10 of 20 actions");
    await rig.run(importOf("other.ndjson"));
    await nothingNew(rig, "b.ndjson");
  });

  test("while a chunk was on its way is missed also after the import: no file says what became of it", async () => {
    const rig = await salesRig(20);
    // The request that is on its way reaches nothing, whenever the process dies.
    rig.sandbox.setFaults({ rules: [{ fault: "drop", when: "before", on: { request: 3 } }] });
    await dies(rig, to("a.ndjson", "TICKETS_CHUNK_SIZE=5"), "projected", 2);
    expect(sent(rig)).toBe(10);
    loseLedger(rig);
    await rig.run(importOf("a.ndjson"));
    const said = await refused(rig, to("b.ndjson"));
    expect(said).toContain("it knows 10 of 20 actions");
    expect(said).toContain("Actions that were adopted or in doubt are not in promises files");
  });

  test("by a run that died before its first request is noticed, too", async () => {
    const rig = await salesRig(20);
    await dies(rig, to("a.ndjson"), "listed");
    loseLedger(rig);
    expect(await refused(rig, to("b.ndjson"))).toContain("(20 actions)");
    expect(sent(rig)).toBe(0);
  });

  test("holds no second run of what an open one has planned: that is closed before the import", async () => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    loseLedger(rig);
    rmSync(listOf(rig));
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, on: { request: 1 } }] });
    const doubted = await rig.run(to("b.ndjson"));
    expect(doubted.exitCode).toBe(6);
    const [, close = ""] = /(tickets settle [0-9a-f]{8})/.exec(doubted.stderr) ?? [];
    const said = await refused(rig, importOf("a.ndjson"));
    expect(said).toContain("was planned without what the file says");
    expect(said).toContain(`${close} --abandon`);
    const run = close.split(" ").at(-1) ?? "";
    expect(await rig.run(["settle", run, "--not-sent", "--env", "playground", "-y"])).toMatchObject({ exitCode: 0 });
    expect(await rig.run(["settle", run, "--abandon", "--env", "playground", "-y"])).toMatchObject({ exitCode: 0 });
    expect(await rig.run(importOf("a.ndjson"))).toMatchObject({ exitCode: 0 });
    rig.sandbox.setFaults({ rules: [] });
    await nothingNew(rig, "c.ndjson");
  });
});

test("a ledger that was lost with what was adopted is noticed, too", async () => {
  const rig = await salesRig(20);
  expect(await rig.run([...to("a.ndjson"), "--adopt"])).toMatchObject({ exitCode: 0 });
  loseLedger(rig);
  expect(await refused(rig, to("a.ndjson"))).toContain("(20 actions)");
  expect(sent(rig)).toBe(0);
});

describe("a ledger that was put back from an older copy", () => {
  test("is noticed whatever the output is called", async () => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    const putBack = copyLedger(rig);
    rig.place.write("sales.csv", salesTable(29));
    await rig.run(to("b.ndjson"));
    putBack();
    expect(await refused(rig, to("c.ndjson"))).toContain("tickets results --import b.ndjson");
    await rig.run(importOf("b.ndjson"));
    await nothingNew(rig, "c.ndjson");
    expect(sent(rig)).toBe(30);
  });

  test("of the middle of a run is noticed, and an import adds the rest", async () => {
    const rig = await stopped();
    const putBack = copyLedger(rig);
    expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 0 });
    putBack();
    expect(await refused(rig, to("a.ndjson"))).toContain("it knows 5 of 20 actions");
    expect(await rig.run(importOf("a.ndjson"))).toMatchObject({ exitCode: 0 });
    const ended = await rig.run(to("a.ndjson"));
    expect([ended.exitCode, ended.stderr]).toEqual([0, expect.stringContaining("Promises: a.ndjson\n")]);
    await nothingNew(rig, "b.ndjson");
    expect(sent(rig)).toBe(20);
  });

  test("while a later command on the same run was killed is noticed; an import leaves what is in doubt", async () => {
    const rig = await stopped();
    const putBack = copyLedger(rig);
    // The request that is on its way reaches nothing, whenever the process dies.
    rig.sandbox.setFaults({ rules: [{ fault: "drop", when: "before", on: { request: 3 } }] });
    await dies(rig, to("a.ndjson"), "projected", 2);
    putBack();
    expect(sent(rig)).toBe(15);
    expect(await refused(rig, to("a.ndjson"))).toContain("it knows 5 of 20 actions");
    const imported = await rig.run(importOf("a.ndjson"));
    expect([imported.exitCode, imported.stderr]).toEqual([0, expect.stringContaining("it knows 15 of 20 actions")]);
    expect(await refused(rig, to("a.ndjson"))).toContain(
      "Actions that were adopted or in doubt are not in promises files",
    );
  });

  test("with a doubt lets a person settle it, and close the run", async () => {
    const rig = await salesRig(20);
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, on: { request: 2 } }] });
    expect((await rig.run(to("a.ndjson", "TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(6);
    const putBack = copyLedger(rig);
    rig.sandbox.setFaults({ rules: [] });
    await settleByTruth(rig, rig.placed);
    expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 0 });
    putBack();
    expect(await refused(rig, to("a.ndjson"))).toContain("it knows 5 of 20 actions");
    const close = ["settle", "--abandon", "-y", "--env", "playground"];
    expect(await rig.run(close)).toMatchObject({
      exitCode: expect.any(Number),
      stderr: expect.stringContaining("closed"),
    });
    expect(await refused(rig, to("a.ndjson"))).toContain("tickets results --import a.ndjson");
  });
});

/** A run of four chunks that the key stopped after the first. */
async function stopped(): Promise<SalesRig> {
  const rig = await salesRig(20);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
  expect((await rig.run(to("a.ndjson", "TICKETS_CHUNK_SIZE=5"))).exitCode).toBe(5);
  rig.sandbox.setFaults({ rules: [] });
  return rig;
}

test("a command that was killed before its first request lacks nothing: the next one goes on", LONG, async () => {
  const rig = await stopped();
  await dies(rig, to("a.ndjson"), "listed");
  expect(await rig.run(["status", "--env", "playground"])).toMatchObject({ exitCode: 0 });
  expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 0 });
  expect(sent(rig)).toBe(20);
});

describe("the list of runs", () => {
  test.each([
    ["half a line", (line: string) => line.slice(0, 40)],
    ["zeros, as after a power cut", () => "\0".repeat(200)],
    ["zeros in front of the end of a line", () => `${"\0".repeat(200)}"}\n`],
  ])("that ends in %s after a crash is cut back, and nothing is said", LONG, async (_what, tail) => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    appendFileSync(listOf(rig), tail(readFileSync(listOf(rig), "utf8")));
    rig.place.write("sales.csv", salesTable(29));
    const next = await rig.run(to("b.ndjson"));
    expect([next.exitCode, next.stderr]).toEqual([0, expect.not.stringContaining("list of runs")]);
    loseLedger(rig);
    const said = await refused(rig, to("c.ndjson"));
    expect(said).toContain("--import a.ndjson b.ndjson");
  });

  test("that is damaged in the middle stops everything, until a person moves it away", LONG, async () => {
    const rig = await salesRig(20);
    await rig.run(to("a.ndjson"));
    writeFileSync(listOf(rig), readFileSync(listOf(rig), "utf8").replace(/"actions":20/, '"actions":-20'));
    const damaged = await rig.run(to("b.ndjson"));
    expect([damaged.exitCode, damaged.stderr]).toEqual([10, expect.stringContaining("Line 1 of")]);
    rmSync(listOf(rig));
    await nothingNew(rig, "b.ndjson");
  });
});

describe("lines that were written, and not noted before a kill, stand once in a file that is imported", () => {
  const seqsIn = (text: string): readonly number[] =>
    (text.startsWith("{") ? readPromises(text) : readTable(text)).map(({ seq }) => Number(seq));
  const EACH = [1, 2, 3, 4, 5, 6];

  interface Case {
    readonly file: string;
    readonly what: "torn" | "whole";
    /** How much the power cut, or the kill, left of the lines. */
    readonly left: (text: string) => string;
  }
  const CASES: readonly Case[] = [
    { file: "a.ndjson", what: "torn", left: (text) => text.slice(0, -40) },
    { file: "a.ndjson", what: "whole", left: (text) => text },
    { file: "a.csv", what: "whole", left: (text) => text },
    { file: "a.csv", what: "torn", left: (text) => text.slice(0, -40) },
  ];

  /** A run that died with the lines of its first chunk written and not noted. */
  async function killed({ file, left }: Case, shared?: SharedLedger) {
    const rig = await salesRig(6, shared);
    // What a process that died was sending is waited for, where another one may be sending it still.
    const limits = shared === undefined ? [] : ["TICKETS_TIMEOUT=2s", "--wait-lock", "1m"];
    const command = to(file, "TICKETS_CHUNK_SIZE=2", ...limits);
    // A table has its header first.
    const time = file.endsWith(".csv") ? 2 : 1;
    await dies(rig, command, "projected", time);
    rig.place.write(file, left(rig.place.read(file)));
    return { rig, command };
  }

  /** The import of the file, which brings nothing when it is done again. */
  async function importTwice(rig: SalesRig, file: string): Promise<void> {
    expect(await rig.run(importOf(file))).toMatchObject({ exitCode: 0 });
    const text = rig.place.read(file);
    const again = await rig.run(importOf(file));
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("known already")]);
    expect(rig.place.read(file)).toBe(text);
  }

  async function endWell(rig: SalesRig, command: readonly string[], file: string): Promise<void> {
    await settleByTruth(rig, rig.placed);
    expect(await rig.run(command)).toMatchObject({ exitCode: 0 });
    expect(seqsIn(rig.place.read(file))).toEqual(EACH);
    expect(sent(rig)).toBe(EACH.length);
    expect(rig.place.files().filter((name) => name.startsWith(file))).toEqual([file]);
  }

  const nothingWasLost = async (each: Case, shared?: SharedLedger): Promise<void> => {
    const { rig, command } = await killed(each, shared);
    await importTwice(rig, each.file);
    await rig.run(command);
    await endWell(rig, command, each.file);
  };
  testEach("$file, $what, and nothing was lost", CASES, 2, (each) => nothingWasLost(each));

  describe.skipIf(WITHOUT_POSTGRES)(`with the ledger in PostgreSQL${NEEDS_POSTGRES}`, () => {
    test.each(CASES)("$file, $what", LONG, async (each) => nothingWasLost(each, await sharedLedger()));
  });
});

test("a ledger belongs to its base URL: another one needs its promises first", LONG, async () => {
  const rig = await salesRig(20);
  await rig.run(to("a.ndjson"));
  const other = await startSandbox({ engine: rig.sandbox.engine, apiKey: rig.sandbox.apiKey });
  onTestFinished(() => other[Symbol.asyncDispose]());
  const env = { TICKETS_PLAYGROUND_BASE_URL: other.url };
  const { exitCode, stderr } = await rig.run(to("a.ndjson"), { env });
  expect([exitCode, sent(rig)]).toEqual([2, 20]);
  for (const part of [rig.sandbox.url, other.url, "tickets results --import"]) expect(stderr).toContain(part);

  // The same service under a new address.
  loseLedger(rig);
  expect(await rig.run(importOf("a.ndjson"), { env })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(listOf(rig), "utf8")).toMatch(new RegExp(`"baseUrl":"${other.url}/?","actions":20`));
  rig.place.write("sales.csv", salesTable(29));
  expect(await rig.run(to("new.ndjson"), { env })).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("10 accepted"),
  });
  expect(await rig.run(to("a.ndjson")), "and not back again").toMatchObject({ exitCode: 2 });
});

/** Begins the sandbox anew, as `tickets sandbox --reset` does. */
async function resetSandbox(place: Workplace): Promise<void> {
  const reset = await place.tickets(["sandbox", "--reset", "--port", "0"], {
    onSpawn: (child) => {
      child.stdout?.once("data", () => child.kill("SIGTERM"));
    },
  });
  expect(reset.exitCode).toBe(0);
}

test("after a reset everything goes to the new sandbox, once the old promises are set aside", LONG, async () => {
  const place = openWorkplace();
  place.write("sales.csv", salesTable(3));
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const command = ["stream", "events.csv", "sales.csv"];
  expect(await place.tickets(command)).toMatchObject({ exitCode: 0 });
  const before = place.read("promises.sandbox.ndjson");
  await resetSandbox(place);

  const refused = await place.tickets(command);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining("set this one aside with --move-aside"),
  ]);
  const next = await place.tickets([...command, "--move-aside"]);
  expect(next).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("4 actions: 4 accepted.") });
  const aside = place.files().find((name) => /^promises\.sandbox\..*ndjson/.test(name) && place.read(name) === before);
  expect(aside, "the old promises are kept").toBeDefined();
  expect(place.read("promises.sandbox.ndjson").split("\n")).toHaveLength(5);
  expect(await place.tickets(command)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("all 4 actions were sent before"),
  });
});

test("a sandbox whose state was deleted by hand is begun anew by a reset", LONG, async () => {
  const place = openWorkplace();
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const command = ["stream", "events.csv", "-o", "-"];
  expect(await place.tickets(command)).toMatchObject({ exitCode: 0 });
  for (const suffix of ["", "-wal", "-shm"])
    rmSync(place.path(`.tickets/sandbox/service.db${suffix}`), { force: true });
  const reported = await place.tickets(command);
  expect(reported).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^The sandbox's state .*: tickets sandbox --reset$/m),
  });
  await resetSandbox(place);
  expect(await place.tickets(command)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("1 action: 1 accepted."),
  });
});
