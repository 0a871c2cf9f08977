/** A ledger that was lost or put back from an older copy is noticed, whatever the output is called. */

import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readRunList, runListLine } from "../../src/ledger/run-list.ts";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { salesRig, settleByTruth } from "../support/interrupted.ts";
import { openSales, type SalesRig } from "../support/invariant/sales.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { type SharedLedger, sharedLedger } from "../support/shared-ledger.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";
import { forWalks } from "../support/walks.ts";

async function sales(actions = 20) {
  const rig = await openSales(actions);
  onTestFinished(rig.close);
  return rig;
}

const to = (output: string, ...more: readonly string[]): readonly string[] => [
  "stream",
  "events.csv",
  "sales.csv",
  "--env",
  "playground",
  "-o",
  output,
  ...more,
];

const sent = (rig: SalesRig): number => rig.requests().flat().length;
const listOf = (rig: SalesRig): string => join(rig.state, "run-list.ndjson");
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

const importOf = (file: string): readonly string[] => ["results", "--import", file, "--env", "playground"];
const forget = ["env", "playground", "--forget-lost"];

const NAMES = forWalks(
  [
    ["none.ndjson", "There is no file none.ndjson that can be read."],
    ["", "A file name is empty.\nWas a variable not set?"],
    [".", ". is a directory, not a file."],
  ] as const,
  3,
);
const isToldOf = async (name: string, sentence: string): Promise<void> => {
  const rig = await sales();
  const refused = await rig.run(importOf(name));
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(sentence)]);
};
test.each(NAMES.short)("an import of %j says what is wrong with the name", isToldOf);
test.each(NAMES.long)("an import of %j says what is wrong with the name", { tags: ["long"] }, isToldOf);

describe("a ledger that was lost", () => {
  const isNoticed = async (...commands: readonly (readonly string[])[]): Promise<void> => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    loseLedger(rig);
    for (const command of commands) {
      const refused = await rig.run(command);
      expect(refused.exitCode, command.join(" ")).toBe(2);
      expect(refused.stderr).toContain("The ledger of playground was lost, or restored from an older copy");
      expect(refused.stderr).toContain("tickets results --import a.ndjson --env playground");
      expect(refused.stderr).toContain("tickets env --forget-lost --env playground --reason");
      expect(
        refused.stderr.match(/: tickets .*$/gm)?.filter((line) => !/ playground(?: --reason "…")?$/.test(line)),
      ).toEqual([]);
      expect(ledgerFiles(rig), "no new ledger takes its place").toEqual([]);
    }
    expect(sent(rig)).toBe(20);

    expect(await rig.run(importOf("a.ndjson"))).toMatchObject({ exitCode: 0 });
    const again = await rig.run(to("b.ndjson"));
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stderr).toContain("Nothing new");
    expect(await rig.run(["status", "--env", "playground"])).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(20);
  };
  test("is noticed by the next night, and the import opens the way again", () => isNoticed(to("b.ndjson")));
  test(
    "is noticed by every command that would decide by it, and the import opens the way again",
    {
      tags: ["long"],
    },
    () =>
      isNoticed(
        to("b.ndjson"),
        to("b.ndjson", "--dry-run"),
        ["validate", "sales.csv", "--env", "playground"],
        ["plan", "sales.csv", "--env", "playground"],
        ["status", "--env", "playground"],
        ["resume", "--env", "playground"],
      ),
  );

  test("and whose promises stand in several files is missed until all of them are imported", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    rig.place.write("sales.csv", salesTable(29));
    await rig.run(to("b.ndjson"));
    loseLedger(rig);
    const half = await rig.run(importOf("a.ndjson"));
    expect(half.exitCode).toBe(0);
    expect(half.stderr).toContain("tickets results --import b.ndjson");
    const refused = await rig.run(to("c.ndjson"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import b.ndjson");
    expect(refused.stderr).not.toContain("a.ndjson");
    await rig.run(importOf("b.ndjson"));
    expect(await rig.run(to("c.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(30);
  });

  test("is still missed when what was imported is only a part of a run", { tags: ["long"] }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    loseLedger(rig);
    const lines = rig.place.read("a.ndjson").split(/(?<=\n)/);
    rig.place.write("part.ndjson", lines.slice(0, 5).join(""));
    await rig.run(importOf("part.ndjson"));
    const refused = await rig.run(to("b.ndjson"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("knows 5 of 20 actions");
    await rig.run(importOf("a.ndjson"));
    expect(await rig.run(to("b.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(20);
  });

  test("while a chunk was on its way says that the rest is not known, also after the import", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    const died = await rig.run(to("a.ndjson", "--chunk-size", "5"), {
      interruption: { kind: "boundary", point: "recorded", time: 2 },
    });
    expect(died.killed).toBe(true);
    const before = sent(rig);
    loseLedger(rig);
    await rig.run(importOf("a.ndjson"));
    const refused = await rig.run(to("b.ndjson"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(
      "knows 10 of 20 actions; what became of the others is not known, since it was killed",
    );
    expect(sent(rig)).toBe(before);
  });

  test("is no loss where nothing can have been taken", { tags: ["long"] }, async () => {
    const rig = await sales();
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403 }] });
    expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 5 });
    rig.sandbox.setFaults({ rules: [] });
    loseLedger(rig);
    expect(await rig.run(to("b.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(20);
  });

  test.each([
    ["which say what it said", "a.ndjson", () => undefined],
    [
      "also those of a version that wrote nothing there",
      "FILE",
      (runs: string) => {
        for (const run of readdirSync(runs)) rmSync(join(runs, run, "listed.ndjson"));
      },
    ],
  ])(
    "together with the list of runs is noticed by the folders of the runs, %s",
    {
      tags: ["long"],
    },
    async (_, file, spoil) => {
      const rig = await sales();
      await rig.run(to("a.ndjson"));
      loseLedger(rig);
      rmSync(listOf(rig));
      spoil(join(rig.state, "runs"));
      for (const output of ["b.ndjson", "b.ndjson"]) {
        const refused = await rig.run(to(output));
        expect(refused.exitCode).toBe(2);
        expect(refused.stderr).toContain(`tickets results --import ${file}`);
      }
      await rig.run(importOf("a.ndjson"));
      expect(await rig.run(to("b.ndjson"))).toMatchObject({ exitCode: 0 });
      expect(sent(rig)).toBe(20);
    },
  );

  test("is given up by a person only with a reason, which is kept; then all is sent again", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    loseLedger(rig);
    expect(await rig.run(forget)).toMatchObject({ exitCode: 2 });
    const forgotten = await rig.run([...forget, "--reason", "the playground was emptied"]);
    expect(forgotten.exitCode).toBe(0);
    expect(forgotten.stderr).toContain("sent again");
    expect(readFileSync(listOf(rig), "utf8")).toContain("the playground was emptied");
    rig.place.write("sales.csv", salesTable(20, { first: 100 }));
    expect(await rig.run(["stream", "sales.csv", "--env", "playground", "-o", "b.ndjson"])).toMatchObject({
      exitCode: 0,
    });
    const twice = await rig.run([...forget, "--reason", "once more"]);
    expect(twice.stderr).toContain("nothing was forgotten");
  });
});

describe("a ledger that was put back from an older copy", () => {
  test("is noticed whatever the output is called", { tags: ["long"] }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    const putBack = copyLedger(rig);
    rig.place.write("sales.csv", salesTable(29));
    await rig.run(to("b.ndjson"));
    putBack();
    const refused = await rig.run(to("c.ndjson"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import b.ndjson");
    await rig.run(importOf("b.ndjson"));
    expect(await rig.run(to("c.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(30);
  });

  test("of the middle of a run is noticed also when the promises went to standard output", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 3 } }] });
    const first = await rig.run(to("-", "--chunk-size", "5"));
    expect(first.exitCode).toBe(5);
    const putBack = copyLedger(rig);
    const rest = await rig.run(to("-"));
    expect(rest.exitCode).toBe(0);
    putBack();
    const refused = await rig.run(to("-"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("knows 10 of 20 actions");
    expect(sent(rig)).toBe(20);
    rig.place.write("kept.ndjson", first.stdout + rest.stdout);
    await rig.run(importOf("kept.ndjson"));
    const again = await rig.run(to("-"));
    expect(again.exitCode).toBe(0);
    expect(sent(rig)).toBe(20);
  });
});

/** A run of four chunks that the key stopped after the first. */
async function stopped(): Promise<SalesRig> {
  const rig = await sales();
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
  expect((await rig.run(to("a.ndjson", "--chunk-size", "5"))).exitCode).toBe(5);
  rig.sandbox.setFaults({ rules: [] });
  return rig;
}

test("an older copy of the ledger is noticed when the command that was killed since had a request on its way", {
  tags: ["long"],
}, async () => {
  const rig = await stopped();
  const putBack = copyLedger(rig);
  const died = await rig.run(to("a.ndjson"), { interruption: { kind: "boundary", point: "answered", time: 1 } });
  expect(died.killed).toBe(true);
  const before = sent(rig);
  putBack();
  for (const output of ["a.ndjson", "b.ndjson"]) {
    const refused = await rig.run(to(output));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("what became of the others is not known, since it was killed");
  }
  expect(sent(rig)).toBe(before);
});

test.each(["counted", "listed"] as const)(
  "a command that was killed before its first request (%s) lacks nothing: the next one goes on",
  { tags: ["long"] },
  async (point) => {
    const rig = await stopped();
    const died = await rig.run(to("a.ndjson"), { interruption: { kind: "boundary", point, time: 1 } });
    expect(died.killed).toBe(true);
    expect(sent(rig)).toBe(5);
    expect(await rig.run(["status", "--env", "playground"])).toMatchObject({ exitCode: 0 });
    expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(20);
  },
);

describe("the list of runs", () => {
  test("that is missing is made again from the ledger, which is told, and does its work again", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    rmSync(listOf(rig));
    const told = await rig.run(to("b.ndjson"));
    expect(told.exitCode).toBe(0);
    expect(told.stderr).toContain("was missing. It was rebuilt from the ledger, with 1 run");
    loseLedger(rig);
    const refused = await rig.run(to("c.ndjson"));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import a.ndjson");
  });

  test.each([
    ["half a line", (line: string) => line.slice(0, 40)],
    ["zeros, as after a power cut", () => "\0".repeat(200)],
  ])("that ends in %s after a crash is cut back, and nothing is said", { tags: ["long"] }, async (_what, tail) => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    const whole = readFileSync(listOf(rig), "utf8");
    appendFileSync(listOf(rig), tail(whole));
    const next = await rig.run(to("a.ndjson"));
    expect(next.exitCode).toBe(0);
    expect(next.stderr).not.toContain("list of runs");
    rig.place.write("sales.csv", salesTable(29));
    expect(await rig.run(to("a.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(readRunList(listOf(rig)).runs.size).toBe(2);
  });

  test("that is damaged in the middle stops everything, and a person has it made again", {
    tags: ["long"],
  }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    const text = readFileSync(listOf(rig), "utf8");
    writeFileSync(listOf(rig), text.replace(/"actions":20/, '"actions":21'));
    const refused = await rig.run(to("b.ndjson"));
    expect(refused.exitCode).toBe(10);
    expect(refused.stderr).toContain("is damaged in line 2");
    expect(refused.stderr).toContain("--forget-lost");
    expect(await rig.run([...forget, "--reason", "bad disk"])).toMatchObject({ exitCode: 0 });
    expect(await rig.run(to("b.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(sent(rig)).toBe(20);
    loseLedger(rig);
    expect(await rig.run(to("c.ndjson"))).toMatchObject({ exitCode: 2 });
  });

  test("of another machine is told once, and its generation grows", { tags: ["long"] }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    const head = {
      entry: "list",
      at: "2026-01-01T00:00:00.000Z",
      machine: "another",
      host: "web1",
      generation: 1,
    } as const;
    appendFileSync(listOf(rig), runListLine(head));
    const told = await rig.run(to("a.ndjson"));
    expect(told.stderr).toContain("came from another machine (web1");
    expect(readRunList(listOf(rig)).head?.generation).toBe(2);
    expect((await rig.run(to("a.ndjson"))).stderr).not.toContain("another machine");
  });

  test("and a copy of it on a second machine: who sees the other's promises stops", { tags: ["long"] }, async () => {
    const rig = await sales();
    await rig.run(to("a.ndjson"));
    const other = rig.place.path("other");
    cpSync(join(rig.state, ".."), other, { recursive: true });
    rig.place.write("sales.csv", salesTable(29));
    await rig.run(to("b.ndjson"));
    const seen = await rig.run(to("b.ndjson"), { env: { TICKETS_STATE_DIR: other } });
    expect(seen.exitCode).toBe(2);
    expect(seen.stderr).toContain("a copy of its folder is used elsewhere");
    expect(sent(rig)).toBe(30);
  });
});

test("the first line says NEW as long as nothing was sent", { tags: ["long"] }, async () => {
  const rig = await sales();
  rig.place.write("bad.csv", "eventId,ticketId\n,\n");
  await rig.run(["stream", "bad.csv", "--action", "soldTicket", "--env", "playground"]);
  for (const more of [["--dry-run"], []]) {
    const { stderr } = await rig.run(to("a.ndjson", ...more));
    expect(stderr).toMatch(/^playground \(.*ledger\.db NEW\b/m);
  }
  expect((await rig.run(to("a.ndjson"))).stderr).toMatch(/ledger\.db with 1 earlier run\b/m);
});

describe("lines that were written, and not noted before a kill, stand once in a file that is imported", () => {
  const seqsIn = (text: string): readonly number[] =>
    (text.startsWith("{") ? readPromises(text) : readTable(text)).map(({ seq }) => Number(seq));
  const EACH = [1, 2, 3, 4, 5, 6];

  interface Case {
    readonly file: string;
    /** How much the power cut, or the kill, left of the lines. */
    readonly left: (text: string) => string;
  }
  const ALL = (text: string): string => text;
  const ONE_AND_A_HALF = (text: string): string => text.slice(0, -40);
  const CASES = forWalks(
    [
      { file: "a.ndjson", left: ONE_AND_A_HALF },
      { file: "a.ndjson", left: ALL },
      { file: "a.csv", left: ALL },
      { file: "a.csv", left: ONE_AND_A_HALF },
    ],
    2,
  );

  /** A run that died with the lines of its first chunk written and not noted. */
  async function killed({ file, left }: Case, shared?: SharedLedger) {
    const rig = await salesRig(6, shared);
    // What a process that died was sending is waited for, where another one may be sending it still.
    const limits = shared === undefined ? [] : ["--timeout", "2s", "--wait-lock", "1m"];
    const command = to(file, "--chunk-size", "2", ...limits);
    const died = await rig.run(command, { interruption: { kind: "boundary", point: "projected", time: 1 } });
    expect(died.killed).toBe(true);
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
  const named = ({ file, left }: Case) => `${file}, ${left === ALL ? "whole" : "torn"}`;
  for (const each of CASES.short) test(`${named(each)}, and nothing was lost`, () => nothingWasLost(each));
  for (const each of CASES.long)
    test(`${named(each)}, and nothing was lost`, { tags: ["long"] }, () => nothingWasLost(each));

  describe.skipIf(WITHOUT_POSTGRES)(`with the ledger in PostgreSQL${NEEDS_POSTGRES}`, () => {
    for (const each of [...CASES.short, ...CASES.long])
      test(named(each), { tags: ["long"] }, async () => nothingWasLost(each, await sharedLedger()));
  });

  test("and the ledger was put back from a copy that was made then", async () => {
    const { rig, command } = await killed({ file: "a.ndjson", left: ALL });
    const putBack = copyLedger(rig);
    await rig.run(command);
    await settleByTruth(rig, rig.placed);
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, processed: "all", on: { request: 1 } }] });
    expect(await rig.run(command)).toMatchObject({ exitCode: 6 });
    rig.sandbox.setFaults({ rules: [] });
    putBack();
    const refused = await rig.run(command);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("Import what it lacks")]);
    await importTwice(rig, "a.ndjson");
    const [, run = ""] = /run ([0-9a-f]{8})/.exec(refused.stderr) ?? [];
    await rig.run(["settle", run, "--env", "playground"]);
    await endWell(rig, command, "a.ndjson");
  });
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

test("after a reset the same command sends everything to the new sandbox, and the old promises are set aside", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  place.write("sales.csv", salesTable(3));
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const command = ["stream", "events.csv", "sales.csv"];
  const promises = "events.sandbox.promises.ndjson";
  expect(await place.tickets(command)).toMatchObject({ exitCode: 0 });
  const before = place.read(promises);
  await resetSandbox(place);

  const refused = await place.tickets(["results", "--import", promises, "--env", "sandbox"]);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("to the sandbox before its reset") });
  expect(refused.stderr).toContain("Nothing was imported.");
  const next = await place.tickets(command);
  expect(next).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("4 actions: 4 accepted.") });
  expect(next.stderr).not.toContain("--import");
  const [, aside = ""] =
    /belonged to the sandbox before its reset, and was set aside as (\S+)\.$/m.exec(next.stderr) ?? [];
  expect(place.read(aside)).toBe(before);
  expect(place.read(promises).split("\n")).toHaveLength(5);
  expect(await place.tickets(["results", "--import", aside, "--env", "sandbox"])).toMatchObject({ exitCode: 2 });
  expect(await place.tickets(command)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("all 4 actions were sent before"),
  });
});

test("a sandbox whose state was deleted by hand is begun anew by a reset", { tags: ["long"] }, async () => {
  const place = openWorkplace({ isWarm: true });
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const command = ["stream", "events.csv"];
  expect(await place.tickets(command)).toMatchObject({ exitCode: 0 });
  for (const suffix of ["", "-wal", "-shm"])
    rmSync(place.path(`.tickets/sandbox/service.db${suffix}`), { force: true });
  const told = await place.tickets(command);
  expect(told).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^The sandbox's state .*: tickets sandbox --reset$/m),
  });
  await resetSandbox(place);
  expect(await place.tickets(command)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("1 action: 1 accepted."),
  });
});

test("a sandbox that was begun anew misses nothing, and one that lost its ledger does", {
  tags: ["long"],
}, async () => {
  const place = openWorkplace({ isWarm: true });
  place.write("sales.csv", salesTable(3));
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const command = ["stream", "events.csv", "sales.csv", "-o", "a.ndjson"];
  expect(await place.tickets(command)).toMatchObject({ exitCode: 0 });
  await resetSandbox(place);
  expect(existsSync(place.path(".tickets/sandbox/run-list.ndjson"))).toBe(false);
  expect(await place.tickets([...command.slice(0, -1), "b.ndjson"])).toMatchObject({ exitCode: 0 });
  rmSync(place.path(".tickets/sandbox/ledger.db"));
  expect(await place.tickets([...command.slice(0, -1), "c.ndjson"])).toMatchObject({ exitCode: 2 });
});
