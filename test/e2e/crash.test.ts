/** Each way to be interrupted, one by one: what is on disk then, what the same command does next, and that the end is the same. */

import type { ChildProcess } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CrashPoint } from "../../src/disk/crash-points.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { openWorkplace } from "../support/bin.ts";
import type { Summary } from "../support/counts.ts";
import { openRig, type Ran, type Rig } from "../support/invariant/rig.ts";
import { EVENTS, openSales, placedRows, type SalesRig, summaryIn } from "../support/invariant/sales.ts";
import { expectAllTold, type Placed, readLedger, readOutput, readTruth } from "../support/invariant/truth.ts";
import { startService } from "../support/service.ts";
import { type Cells, editTable, readPromises, salesTable } from "../support/tables.ts";

async function sales(actions: number): Promise<SalesRig> {
  const rig = await openSales(actions);
  onTestFinished(rig.close);
  return rig;
}

async function empty(): Promise<Rig> {
  const rig = await openRig();
  onTestFinished(rig.close);
  return rig;
}

/** The states of the newest run's chunks, in order. */
const states = (rig: Rig): string => statesOf(rig).join(" ");
const statesOf = (rig: Rig): readonly string[] =>
  readLedger(rig)
    .at(-1)
    ?.chunks.filter(({ state }) => state !== "split")
    .map(({ state }) => state) ?? [];

/** Settles every question by what the service really has. */
async function settleByTruth(rig: Rig, placed: readonly Placed[]): Promise<void> {
  for (const { run, chunk, answer } of readTruth(rig, placed).questions) {
    const settle = ["settle", run, `--${answer}`, "--chunk", String(chunk), "--env", "playground"];
    expect(await rig.run([...settle, "--reason", "looked"])).toMatchObject({ killed: false });
  }
}

const count = (rig: Rig): number => rig.requests().flat().length;

// ---- every boundary of a chunk's life ----

interface Boundary {
  readonly point: CrashPoint;
  /** Chunk states when the process has died at its n-th pass of four; undefined: no run yet. */
  readonly at: (time: number) => string | undefined;
  /** What the same command ends with. */
  readonly next: (time: number) => number;
}

const CHUNKS = 4;

/** The states of four chunks, by what was `done`, and what comes after. */
const row = (settled: number, ...then: readonly string[]): string =>
  [...Array<string>(settled).fill("settled"), ...then, ...Array<string>(CHUNKS).fill("planned")]
    .slice(0, CHUNKS)
    .join(" ");

/** A chunk is settled while the next one flies. */
const whileNextFlies = (time: number): string => row(time, "sending");

const BOUNDARIES: readonly Boundary[] = [
  { point: "planned", at: () => undefined, next: () => 0 },
  { point: "entered", at: () => row(0), next: () => 0 },
  { point: "counted", at: () => row(0), next: () => 0 },
  { point: "listed", at: () => row(0), next: () => 0 },
  {
    point: "intended",
    at: (time) => (time === 1 ? row(0, "sending") : row(time - 2, "answered", "sending")),
    next: () => 6,
  },
  { point: "answered", at: (time) => row(time - 1, "sending"), next: () => 6 },
  { point: "stored", at: () => row(CHUNKS - 1, "answered"), next: () => 0 },
  { point: "settled", at: whileNextFlies, next: (time) => (time < CHUNKS ? 6 : 0) },
  { point: "projected", at: whileNextFlies, next: (time) => (time < CHUNKS ? 6 : 0) },
  { point: "recorded", at: whileNextFlies, next: (time) => (time < CHUNKS ? 6 : 0) },
  { point: "rejects written", at: () => row(CHUNKS), next: () => 0 },
  { point: "merged", at: () => row(CHUNKS), next: () => 0 },
  { point: "ended", at: () => row(CHUNKS), next: () => 0 },
];

const ONCE: readonly CrashPoint[] = [
  "planned",
  "entered",
  "counted",
  "listed",
  "stored",
  "rejects written",
  "merged",
  "ended",
];

/** Which pass, of how many chunks: the only one, one in the middle, the last one. */
const PASSES = BOUNDARIES.flatMap(({ point, at, next }) =>
  (ONCE.includes(point)
    ? ([
        [1, 1],
        [1, CHUNKS],
      ] as const)
    : ([
        [1, 1],
        [2, CHUNKS],
        [CHUNKS, CHUNKS],
      ] as const)
  ).map(([time, chunks]) => ({ point, time, chunks, at, next })),
);

describe("a process that dies at a boundary of a chunk's life", () => {
  const dies = async ({ point, time, chunks, at, next }: (typeof PASSES)[number]): Promise<void> => {
    const rig = await sales(20);
    const command = rig.stream("--chunk-size", String(20 / chunks), "--json");
    const died = await rig.run(command, { interruption: { kind: "boundary", point, time } });
    expect(died.killed).toBe(true);
    if (chunks === CHUNKS) expect(states(rig)).toBe(at(time) ?? "");

    const shown = JSON.parse((await rig.run(["status", "--env", "playground", "--json"])).stdout);
    const again = await rig.run(command);
    const expected = chunks === CHUNKS ? next(time) : point === "intended" || point === "answered" ? 6 : 0;
    expect(again.exitCode).toBe(expected);
    if (point !== "planned")
      expect(shown.runs[0].actions.inDoubt, "status names the doubts that the next command finds").toBe(
        expected === 6 ? 20 / chunks : 0,
      );
    if (expected === 6) {
      const { questions } = readTruth(rig, rig.placed);
      expect(questions).toHaveLength(1);
      expect(again.stderr).toContain(`tickets settle ${questions[0]?.run}`);
      const before = count(rig);
      expect((await rig.run(command)).exitCode, "the doubt stays until a person has settled it").toBe(6);
      expect(count(rig)).toBe(before);
      await settleByTruth(rig, rig.placed);
      expect((await rig.run(command)).exitCode).toBe(0);
    }
    expectAllTold(rig, rig.placed);
    expect(rig.requests().map(({ length }) => length)).toEqual(Array(chunks).fill(20 / chunks));
    expect(summaryIn<Summary>(await rig.run(command)).state).toBe("nothing new");
    expect(count(rig)).toBe(20);
  };
  /** Those around what the service may have got. */
  const OFTEN: readonly CrashPoint[] = ["entered", "intended", "answered", "stored"];
  const isShort = ({ point, time, chunks }: (typeof PASSES)[number]) =>
    chunks === CHUNKS && time < CHUNKS && OFTEN.includes(point);
  test.each(PASSES.filter(isShort))("$point, pass $time of $chunks: the same command puts it right", dies);
  test.each(PASSES.filter((pass) => !isShort(pass)))(
    "$point, pass $time of $chunks: the same command puts it right, too",
    { tags: ["long"] },
    dies,
  );
});

// ---- several lanes ----

describe("a process that dies with four lanes", () => {
  const EVENT_IDS = ["E-1", "E-2", "E-3", "E-4"];

  /** Four events and ten sales of each, in chunks of three: four a lane. */
  async function fourLanes() {
    const rig = await empty();
    const events = `eventId,currency\n${EVENT_IDS.map((eventId) => `${eventId},EUR\n`).join("")}`;
    const tables = EVENT_IDS.map((eventId, at) => salesTable(10, { first: 1 + 10 * at, eventId }));
    const sales = tables.map((table, at) => (at === 0 ? table : table.slice(table.indexOf("\n") + 1))).join("");
    rig.place.write("events.csv", events);
    rig.place.write("sales.csv", sales);
    const placed = [...placedRows("events.csv", "newEvent", events), ...placedRows("sales.csv", "soldTicket", sales)];
    const sizes = ["--lanes", "4", "--chunk-size", "3"];
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "-o", "out.ndjson", ...sizes];
    return { rig, placed, command };
  }

  test("with a request on its way in each: four doubts, each named, and nothing is sent before all are settled", {
    tags: ["long"],
  }, async () => {
    const { rig, placed, command } = await fourLanes();
    rig.sandbox.setFaults({
      rules: [
        { fault: "hang", processed: "none", on: { from: 1 }, times: 2 },
        { fault: "hang", processed: "all", on: { from: 3 }, times: 2 },
      ],
    });
    const died = await rig.run(command, { interruption: { kind: "request", request: 2, when: "after" } });
    expect(died.killed).toBe(true);
    rig.sandbox.setFaults({ rules: [] });
    const lane = "sending planned planned planned";
    expect(states(rig)).toBe([lane, lane, lane, lane].join(" "));
    const [run] = readLedger(rig);
    const shown = await rig.run(["status", run?.run ?? "", "--env", "playground"]);
    expect(shown.stdout).toContain("in doubt");

    const again = await rig.run(command);
    expect(again.exitCode).toBe(6);
    for (const chunk of [1, 5, 9, 13]) expect(again.stderr).toContain(`chunk ${chunk} (actions`);
    const { questions } = readTruth(rig, placed);
    expect(questions.map(({ chunk }) => chunk)).toEqual([1, 5, 9, 13]);
    expect(questions.map(({ answer }) => answer).toSorted()).toEqual(["not-sent", "not-sent", "sent", "sent"]);
    for (const { run, chunk, answer } of questions) {
      expect((await rig.run(command)).exitCode, "one that is left is enough").toBe(6);
      await rig.run(["settle", run, `--${answer}`, "--chunk", String(chunk), "--env", "playground"]);
    }
    expect(rig.requests()).toHaveLength(2);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expect(rig.requests()).toHaveLength(16);
    expectAllTold(rig, placed);
    expect(summaryIn<Summary>(await rig.run([...command, "--json"])).state).toBe("nothing new");
  });

  test.each(["intended", "answered", "stored", "settled", "projected", "recorded"] as const)(
    "at %s: the same command puts every lane right",
    { tags: ["long"] },
    async (point) => {
      const { rig, placed, command } = await fourLanes();
      const died = await rig.run(command, { interruption: { kind: "boundary", point, time: 2 } });
      expect(died.killed).toBe(true);
      const again = await rig.run(command);
      const { questions } = readTruth(rig, placed);
      expect(again.exitCode).toBe(questions.length > 0 ? 6 : 0);
      expect(questions.length).toBeLessThanOrEqual(4);
      await settleByTruth(rig, placed);
      expect((await rig.run(command)).exitCode).toBe(0);
      expectAllTold(rig, placed);
      expect(count(rig)).toBe(placed.length);
    },
  );
});

// ---- the promises file after a power cut ----

describe("a promises file that a power cut left torn", () => {
  /** The lines of the second chunk are on disk, but the ledger does not know it; the third chunk flies. */
  async function cutOff(): Promise<{ rig: SalesRig; command: readonly string[]; text: string; recorded: number }> {
    const rig = await sales(20);
    const command = rig.stream("--chunk-size", "5");
    const died = await rig.run(command, { interruption: { kind: "boundary", point: "projected", time: 2 } });
    expect(died.killed).toBe(true);
    const text = rig.place.read("out.ndjson");
    expect(text.split("\n")).toHaveLength(11);
    return { rig, command, text, recorded: Buffer.byteLength(text.split("\n").slice(0, 5).join("\n")) + 1 };
  }

  const MIDDLE = (tail: Buffer): Buffer => tail.subarray(0, tail.indexOf("\n") + 20);
  const TAILS: readonly (readonly [string, (tail: Buffer) => Buffer])[] = [
    ["nothing of it is there", () => Buffer.alloc(0)],
    ["one byte of it is there", (tail) => tail.subarray(0, 1)],
    ["all but its last byte is there", (tail) => tail.subarray(0, -1)],
    ["all of it is there", (tail) => tail],
  ];

  const isCutBack = async (tear: (tail: Buffer) => Buffer): Promise<void> => {
    const { rig, command, text, recorded } = await cutOff();
    const bytes = Buffer.from(text);
    writeFileSync(
      rig.place.path("out.ndjson"),
      Buffer.concat([bytes.subarray(0, recorded), tear(bytes.subarray(recorded))]),
    );
    expect((await rig.run(command)).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(command)).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  };
  test("is cut back and completed: it ends in the middle of a line", () => isCutBack(MIDDLE));
  test.each(TAILS)("is cut back and completed: %s", { tags: ["long"] }, (_, tear) => isCutBack(tear));

  test("is cut back where the file system made room for what it then did not write", { tags: ["long"] }, async () => {
    const { rig, command, text, recorded } = await cutOff();
    const bytes = Buffer.from(text).fill(0, recorded + 40);
    writeFileSync(rig.place.path("out.ndjson"), bytes);
    expect((await rig.run(command)).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(command)).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });

  test("is left alone when what stands at its end is not what was being written; the rest goes elsewhere", {
    tags: ["long"],
  }, async () => {
    const { rig, command, text, recorded } = await cutOff();
    rig.place.write("out.ndjson", `${text}{"mine":1}\n`);
    const moved = await rig.run(command);
    expect(moved.exitCode).toBe(6);
    expect(moved.stderr).toContain("The rest goes to out.ndjson.");
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expect(rig.place.read("out.ndjson")).toBe(`${text}{"mine":1}\n`);
    const elsewhere = rig.place.files().find((name) => name.startsWith("out.ndjson.")) ?? "";
    const lines = text.slice(0, recorded) + rig.place.read(elsewhere);
    expect(readPromises(lines).map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });
});

// ---- without the input ----

describe("a run of 200 chunks that is killed at chunk 150", { tags: ["long"] }, () => {
  async function killedAt150() {
    const rig = await sales(10_000);
    const command = rig.stream("--chunk-size", "50");
    const died = await rig.run(command, { interruption: { kind: "boundary", point: "answered", time: 150 } });
    expect(died.killed).toBe(true);
    expect(rig.requests()).toHaveLength(150);
    expect((await rig.run(command)).exitCode).toBe(6);
    await settleByTruth(rig, rig.placed);
    return { rig, command };
  }

  test("goes on from its plan when the input is gone", async () => {
    const { rig, command } = await killedAt150();
    rmSync(rig.place.path("sales.csv"));
    rmSync(rig.place.path("events.csv"));
    const resumed = await rig.run(command);
    expect(resumed.exitCode, "the input that this command names is gone").toBe(2);
    expect(resumed.stderr).toContain("events.csv");
    expect(rig.requests().map(({ length }) => length)).toEqual(Array(200).fill(50));
    expectAllTold(rig, rig.placed);
    expect(readLedger(rig).map(({ state }) => state)).toEqual(["finished"]);
  });

  test("goes on from its plan with resume, and what the input has become in between does not matter", async () => {
    const { rig, command } = await killedAt150();
    rig.place.write("sales.csv", "no table at all");
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
    rig.place.write("sales.csv", salesTable(10_000));
    const summary = summaryIn<Summary>(await rig.run([...command, "--json"]));
    expect(summary.actions).toMatchObject({ total: 10_001, alreadySent: 10_000, accepted: 1 });
  });
});

// ---- settle and resume, killed and repeated ----

describe("settle", () => {
  async function inDoubt(point: "intended" | "answered" = "answered") {
    const rig = await sales(20);
    const command = rig.stream("--chunk-size", "5");
    await rig.run(command, { interruption: { kind: "boundary", point, time: 2 } });
    expect((await rig.run(command)).exitCode).toBe(6);
    const [question] = readTruth(rig, rig.placed).questions;
    if (question === undefined) throw new Error("nothing is in doubt");
    return { rig, command, run: question.run, settle: ["settle", question.run, "--env", "playground"] };
  }

  test.each(["projected", "recorded", "rejects written", "merged"] as const)(
    "--sent that dies at %s is repeated",
    { tags: ["long"] },
    async (point) => {
      const { rig, command, settle } = await inDoubt();
      const died = await rig.run([...settle, "--sent"], { interruption: { kind: "boundary", point, time: 1 } });
      if (point === "projected" || point === "recorded") expect(died.killed).toBe(true);
      expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
      expect((await rig.run(command)).exitCode).toBe(0);
      expectAllTold(rig, rig.placed);
    },
  );

  test.each([
    ["--sent", "answered", ["settled by hand"]],
    ["--not-sent", "intended", ["planned"]],
  ] as const)("%s twice is as good as once", { tags: ["long"] }, async (decision, point, [state]) => {
    const { rig, command, settle } = await inDoubt(point);
    for (const _ of [1, 2, 3]) {
      expect((await rig.run([...settle, decision])).exitCode).toBe(0);
      expect(statesOf(rig)[1]).toBe(state);
    }
    expect((await rig.run(command)).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });

  test("for one chunk, twice is as good as once", { tags: ["long"] }, async () => {
    const { rig, settle } = await inDoubt("intended");
    const one = [...settle, "--not-sent", "--chunk", "2"];
    expect((await rig.run(one)).exitCode).toBe(0);
    expect((await rig.run(one)).exitCode).toBe(0);
    expect(states(rig)).toBe("settled planned planned planned");
  });

  describe.each([
    ["closing", 1],
    ["settled", 1],
    ["settled", 3],
    ["rejects written", 1],
    ["merged", 1],
  ] as const)("--abandon that dies at %s, pass %i", (point, time) => {
    const isKept = async (): Promise<void> => {
      const rig = await sales(20);
      // Refused by the key, so the run is open and nothing is in doubt.
      rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
      const stopped = await rig.run(rig.stream("--chunk-size", "5", "--json"));
      expect(stopped.exitCode).toBe(5);
      const run = summaryIn<Summary>(stopped).run ?? "";
      const abandon = ["settle", run, "--abandon", "--env", "playground", "--reason", "for tonight"];
      const died = await rig.run(abandon, { interruption: { kind: "boundary", point, time } });
      expect(died.killed).toBe(true);
      const shown = await rig.run(["status", "--env", "playground"]);
      expect(shown.stdout).toContain("open, being closed");
      // Tonight's job comes before the person does.
      rig.place.write("tonight.csv", salesTable(5, { first: 101 }));
      for (const command of [
        ["stream", "tonight.csv", "--action", "soldTicket"],
        ["resume"],
        ["resume", run],
        ["settle", run, "--not-sent"],
      ]) {
        const other = await rig.run([...command, "--env", "playground"]);
        expect(other.stderr).toContain(`tickets settle ${run} --abandon --env playground`);
        expect(other.stderr).not.toContain("tickets resume");
        if (command[0] !== "settle") expect(other.exitCode).toBe(8);
      }
      expect(count(rig)).toBe(5);

      for (const _ of [1, 2]) expect((await rig.run(abandon)).exitCode).toBe(0);
      expect(states(rig)).toBe("settled abandoned abandoned abandoned");
      const ended = await rig.run(["status", run, "--env", "playground"]);
      expect(ended.stdout.match(/settled run as abandon by .*: for tonight/g)).toHaveLength(1);
      expect(ended.stdout).toContain(": abandoned\n");
      expect((await rig.run(["status", "--env", "playground"])).stdout).toContain("abandoned  exit 4");
      expect(count(rig)).toBe(5);
      expect(
        (await rig.run(["stream", "sales.rejects.csv", "--action", "soldTicket", "--env", "playground"])).exitCode,
      ).toBe(0);
      expect(
        rig
          .requests()
          .flat()
          .map(({ ticketId }) => ticketId)
          .slice(5),
      ).toEqual(rig.placed.slice(5).map(({ action }) => action.data.ticketId));
    };
    const name = "nothing sends what is left of the run, and the same command finishes";
    if (point === "settled" && time === 1) test(name, isKept);
    else test(name, { tags: ["long"] }, isKept);
  });

  test("a run of which an earlier version closed a part ends with its rejects, exit 4", {
    tags: ["long"],
  }, async () => {
    const rig = await sales(20);
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 2 } }] });
    const stopped = await rig.run(rig.stream("--chunk-size", "5", "--json"));
    const run = summaryIn<Summary>(stopped).run ?? "";
    const abandon = ["settle", run, "--abandon", "--env", "playground"];
    await rig.run(abandon, { interruption: { kind: "boundary", point: "settled", time: 1 } });
    using ledger = new DatabaseSync(join(rig.state, "ledger.db"));
    ledger.exec("DELETE FROM settlements");
    const resumed = await rig.run(["resume", "--env", "playground", "--json"]);
    expect(resumed.exitCode).toBe(4);
    expect(summaryIn<Summary>(resumed).rejects).toEqual([rig.place.path("sales.rejects.csv")]);
  });

  test("--abandon leaves the rest unsent, and a later command with the same file sends exactly that, but not the doubt", async () => {
    const { rig, command, settle } = await inDoubt();
    expect((await rig.run([...settle, "--abandon"])).exitCode).toBe(6);
    const later = summaryIn<Summary>(await rig.run([...command, "--json"]));
    expect(later.actions).toMatchObject({ total: 20, alreadySent: 5, inDoubt: 5, accepted: 10 });
    expect(later).toMatchObject({ exitCode: 6, next: `tickets ${settle.join(" ")}` });
    expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
    const last = summaryIn<Summary>(await rig.run([...command, "--json"]));
    expect(last.actions).toMatchObject({ total: 20, alreadySent: 20 });
    expect(
      new Set(
        rig
          .requests()
          .flat()
          .map(({ data }) => data),
      ).size,
    ).toBe(count(rig));
  });

  describe.each([
    ["--sent", "projected", "out.ndjson"],
    ["--sent", "projected", "tonight.ndjson"],
    ["--sent", "recorded", "out.ndjson"],
    ["--sent", "merged", "out.ndjson"],
    ["--not-sent", "rejects placed", "out.ndjson"],
    ["--not-sent", "rejects written", "out.ndjson"],
  ] as const)("of a run that is closed, %s that dies at %s", (decision, point, output) => {
    const isWritten = async (): Promise<void> => {
      const { rig, command, run, settle } = await inDoubt(decision === "--sent" ? "answered" : "intended");
      expect((await rig.run([...settle, "--abandon"])).exitCode).toBe(6);
      const died = await rig.run([...settle, decision], { interruption: { kind: "boundary", point, time: 1 } });
      expect(died.killed).toBe(true);
      const tonight = await rig.run([...command, "-o", output]);
      expect(tonight).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("not appended to") });
      const written = new Set(["out.ndjson", output]);
      expect(rig.place.files().filter((name) => /^[^/]*\.ndjson/.test(name))).toEqual([...written]);
      expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
      const lines = [...written].flatMap((name) => readPromises(rig.place.read(name)));
      expect(new Set(lines.map(({ line, action }) => `${action} ${line}`)).size).toBe(lines.length);
      expect(lines).toHaveLength(20);
      const ofClosed = readPromises(rig.place.read("out.ndjson")).filter((line) => line.run === run);
      expect(ofClosed).toHaveLength(decision === "--sent" ? 10 : 5);
      const rejects = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
      expect(new Set(rejects.map((row) => row.split(",")[1])).size).toBe(rejects.length);
      expect(rejects).toHaveLength(decision === "--sent" ? 10 : 15);
      expect((await rig.run(settle)).stderr).not.toContain("had not been written whole");
    };
    const name = `is put right by the next command, which writes ${output}`;
    if (point === "projected" && output === "out.ndjson") test(name, isWritten);
    else test(name, { tags: ["long"] }, isWritten);
  });

  test("a doubt of a run that was closed is remembered for as long as it is one", { tags: ["long"] }, async () => {
    const { rig, command, settle } = await inDoubt();
    await rig.run([...settle, "--abandon"]);
    // Long ago, and many runs ago.
    using ledger = new DatabaseSync(join(rig.state, "ledger.db"));
    ledger.exec("UPDATE runs SET ended_at = '2020-01-01T00:00:00.000Z'");
    const insert = ledger.prepare(
      "INSERT INTO runs (run, created_at, ended_at, state, exit_code, manifest) SELECT ?, created_at, created_at, 'finished', 0, manifest FROM runs LIMIT 1",
    );
    ledger.exec("BEGIN");
    for (let run = 0; run < 1001; run += 1) insert.run(`0000${run.toString(16).padStart(4, "0")}`);
    ledger.exec("COMMIT");
    for (const _ of [1, 2]) {
      const later = await rig.run([...command, "--json"]);
      expect(summaryIn<Summary>(later).actions).toMatchObject({ total: 20, inDoubt: 5 });
    }
    expect((await rig.run([...settle, "--sent"])).exitCode).toBe(0);
    expect(summaryIn<Summary>(await rig.run([...command, "--json"])).actions).toMatchObject({ alreadySent: 20 });
    expect(
      new Set(
        rig
          .requests()
          .flat()
          .map(({ data }) => data),
      ).size,
    ).toBe(count(rig));
  });

  test.each<[string, (plan: string) => void]>([
    ["lost", (plan) => rmSync(plan, { recursive: true })],
    ["damaged", (plan) => truncateSync(join(plan, "actions.index"), 100)],
  ])(
    "of a run whose plan is %s leads out of it: nothing is sent before a person says so",
    { tags: ["long"] },
    async (_, harm) => {
      const rig = await sales(20);
      const command = rig.stream("--chunk-size", "5");
      await rig.run(command, { interruption: { kind: "boundary", point: "intended", time: 3 } });
      const run = readLedger(rig)[0]?.run ?? "";
      using ledger = new DatabaseSync(join(rig.state, "ledger.db"), { readOnly: true });
      const chunks = ledger.prepare(
        "SELECT chunks.state FROM chunks JOIN runs USING (run_no) WHERE run = ? ORDER BY first",
      );
      const chunkStates = () =>
        chunks
          .all(run)
          .map(({ state }) => state)
          .join(" ");
      expect(chunkStates()).toBe("settled answered sending planned");
      const settle = ["settle", run, "--env", "playground"];
      const plan = join(rig.state, "runs", run);
      cpSync(plan, `${plan}.backup`, { recursive: true });
      harm(plan);
      const stopped = await rig.run(command);
      expect(stopped.exitCode).toBe(10);
      expect(stopped.stderr).toContain(`tickets settle ${run} --abandon --env playground`);

      for (const _ of [1, 2]) {
        const closed = await rig.run([...settle, "--abandon", "--json"]);
        expect(closed.exitCode).toBe(6);
        const { actions, next } = summaryIn<Summary>(closed);
        expect(actions).toMatchObject({ accepted: 5, inDoubt: 10, notSent: 5 });
        expect(next).toBe(`tickets settle ${run} --env playground`);
        expect(closed.stderr).toContain(`Then: tickets settle ${run} --env playground --not-sent`);
        const refused = await rig.run(command);
        expect(refused.exitCode).toBe(10);
        expect(refused.stderr).toContain(`Then: tickets settle ${run} --env playground --not-sent`);
        expect((await rig.run(settle)).exitCode).toBe(6);
        expect((await rig.run([...settle, "--sent"])).exitCode).toBe(2);
      }
      expect(chunkStates()).toBe("settled answered sending abandoned");
      const sent = count(rig);

      // With the folder, what was answered is not in doubt.
      rmSync(plan, { recursive: true, force: true });
      cpSync(`${plan}.backup`, plan, { recursive: true });
      expect(await rig.run(settle)).toMatchObject({ exitCode: 6 });
      expect(chunkStates()).toBe("settled settled in doubt abandoned");

      harm(plan);
      expect((await rig.run([...settle, "--not-sent"])).exitCode).toBe(0);
      expect((await rig.run([...settle, "--not-sent"])).exitCode).toBe(0);
      expect(chunkStates()).toBe("settled settled abandoned abandoned");
      expect((await rig.run(command)).exitCode).toBe(0);
      expect(count(rig)).toBe(sent + 10);
    },
  );

  test("--again does not send what is in doubt either", { tags: ["long"] }, async () => {
    const { rig, command, settle } = await inDoubt();
    await rig.run([...settle, "--abandon"]);
    const sent = count(rig);
    await rig.run([...command, "--again"]);
    const doubtful = rig.requests()[1]?.map(({ ticketId }) => ticketId) ?? [];
    const again = rig
      .requests()
      .flat()
      .slice(sent)
      .map(({ ticketId }) => ticketId);
    expect(again.filter((ticketId) => doubtful.includes(ticketId))).toEqual([]);
  });
});

test.each(["answered", "settled", "projected", "ended"] as const)(
  "resume that dies at %s is repeated",
  { tags: ["long"] },
  async (point) => {
    const rig = await sales(20);
    await rig.run(rig.stream("--chunk-size", "5"), { interruption: { kind: "boundary", point: "entered", time: 1 } });
    const resume = ["resume", "--env", "playground"];
    const died = await rig.run(resume, { interruption: { kind: "boundary", point, time: point === "ended" ? 1 : 2 } });
    expect(died.killed).toBe(true);
    const again = await rig.run(resume);
    expect(again.exitCode).toBe(point === "ended" ? 0 : 6);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(resume)).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  },
);

describe("a process that dies while it adds to a rejects file of an earlier night", () => {
  const REJECTED = ["T-3", "T-5", "T-7"];

  /** The first night has one sale alone, which the service rejects; the second night has all. */
  const isWhole = async (
    first: string,
    point: CrashPoint,
    tear: (text: string, before: string) => string = (text) => text,
  ): Promise<void> => {
    const rig = await sales(20);
    const all = rig.place.read("sales.csv");
    const [header = "", ...rows] = all.trimEnd().split("\n");
    const one = rows.find((row) => row.split(",").includes(first)) ?? "";
    rig.place.write("sales.csv", `${header}\n${one}\n`);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [1], on: { request: 1 } }] });
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    const before = rig.place.read("sales.rejects.csv");

    rig.place.write("sales.csv", all);
    // The event was sent.
    const items = REJECTED.map((ticketId) => rows.findIndex((row) => row.split(",").includes(ticketId)));
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items, on: { request: 1 } }] });
    const died = await rig.run(rig.stream(), { interruption: { kind: "boundary", point, time: 1 } });
    expect(died.killed).toBe(true);
    rig.place.write("sales.rejects.csv", tear(rig.place.read("sales.rejects.csv"), before));
    expect((await rig.run(rig.stream())).exitCode).toBe(4);

    const standing = rig.place.read("sales.rejects.csv").trimEnd().split("\n").slice(1);
    expect(standing.map((row) => REJECTED.find((ticketId) => row.split(",").includes(ticketId)))).toEqual(REJECTED);
    expect(rig.place.files().filter((name) => name.includes(".rejects."))).toEqual(["sales.rejects.csv"]);
    const mended = ["stream", "sales.rejects.csv", "--action", "soldTicket", "--env", "playground"];
    expect((await rig.run(mended)).exitCode).toBe(0);
    expect(count(rig)).toBe(20 + 1 + REJECTED.length);
  };

  test.each([
    ["rejects placed", "between those that stand there", "T-5"],
    ["replacing", "between those that stand there", "T-5"],
    ["rejects placed", "behind those that stand there", "T-3"],
    ["rejects written", "between those that stand there", "T-5"],
  ] as const)("at %s, %s: each row stands there once, in order", { tags: ["long"] }, (point, _, first) =>
    isWhole(first, point),
  );

  test("behind those that stand there, of which half is on disk: the same", { tags: ["long"] }, () =>
    isWhole("T-3", "rejects placed", (text, before) => text.slice(0, before.length + 30)),
  );
});

test("a run that is gone on with names the rejects of before, too", { tags: ["long"] }, async () => {
  const rig = await sales(20);
  rig.sandbox.setFaults({
    rules: [
      { fault: "failure-items", items: [2], on: { request: 1 } },
      { fault: "status", status: 403, on: { request: 2 } },
    ],
  });
  expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(5);
  const resumed = await rig.run(["resume", "--env", "playground", "--json"]);
  expect(resumed.exitCode).toBe(4);
  expect(summaryIn<Summary>(resumed)).toMatchObject({ rejects: [rig.place.path("sales.rejects.csv")] });
  expect(summaryIn<Summary>(resumed).next).toContain("sales.rejects.csv");
});

test("a run whose rejects can't be written, since its plan lacks the inputs, says so", { tags: ["long"] }, async () => {
  const rig = await sales(20);
  rig.sandbox.setFaults({
    rules: [
      { fault: "status", status: 403, on: { request: 1 } },
      { fault: "failure-items", items: [2], on: { request: 2 } },
    ],
  });
  expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(5);
  const run = readLedger(rig)[0]?.run ?? "";
  rmSync(join(rig.state, "runs", run, "inputs"), { recursive: true });
  const resume = ["resume", "--env", "playground"];
  for (const _ of [1, 2]) {
    const { exitCode, stderr } = await rig.run(resume);
    expect(exitCode).toBe(10);
    expect(stderr).toContain("lacks inputs/1.");
    expect(stderr).toContain(`tickets settle ${run} --abandon --env playground`);
  }
  expect(count(rig)).toBe(20);
  const closed = await rig.run(["settle", run, "--abandon", "--env", "playground"]);
  expect(closed).toMatchObject({ exitCode: 0 });
  expect(closed.stderr).toContain("its rows can't be listed");
  expect((await rig.run(["status", "--env", "playground"])).exitCode).toBe(0);
});

describe("the same command after a kill", () => {
  test.each(["stored", "rejects written", "merged"] as const)(
    "at %s with --again repeats what was asked for once, not twice",
    { tags: ["long"] },
    async (point) => {
      const rig = await sales(20);
      await rig.run(rig.stream());
      const again = rig.stream("--chunk-size", "5", "--again");
      const died = await rig.run(again, { interruption: { kind: "boundary", point, time: 1 } });
      expect(died.killed).toBe(true);
      await rig.run(again);
      expect(count(rig)).toBe(40);
    },
  );

  test("does not send what the service has just rejected once more", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [4], on: { request: 1 } }] });
    await rig.run(rig.stream(), { interruption: { kind: "boundary", point: "stored", time: 1 } });
    expect((await rig.run(rig.stream())).exitCode).toBe(4);
    expect(count(rig)).toBe(20);
  });

  test("ends well although its scans have no time", { tags: ["long"] }, async () => {
    const rig = await sales(5);
    rig.place.write("scans.csv", "ticketId\nT-1\nT-2\n");
    const command = ["stream", "events.csv", "sales.csv", "scans.csv", "--env", "playground"];
    await rig.run(command, { interruption: { kind: "boundary", point: "stored", time: 1 } });
    expect((await rig.run(command)).exitCode).toBe(0);
  });
});

test("an update that the service rejected does not make it take the others again", { tags: ["long"] }, async () => {
  const rig = await sales(5);
  const names = ["One", "Two", "Three"].map((eventName) => JSON.stringify({ eventId: "E-1", eventName }));
  rig.place.write("changes.ndjson", `${names.join("\n")}\n`);
  await rig.run(rig.stream());
  rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: [1], on: { request: 1 } }] });
  const command = ["stream", "changes.ndjson", "--action", "updateEvent", "--env", "playground"];
  expect((await rig.run(command)).exitCode).toBe(4);
  await rig.run(command);
  const taken = rig
    .requests()
    .flat()
    .filter(({ action, status }) => action === "updateEvent" && status === "success");
  expect(taken.map(({ data }) => (JSON.parse(data) as { readonly eventName: string }).eventName).toSorted()).toEqual([
    "One",
    // The second would undo the third now; so it is told as superseded, and not sent.
    "Three",
  ]);
});

test("what was processed in part: sent again as a whole, nothing that happens once happens twice", {
  tags: ["long"],
}, async () => {
  const rig = await sales(20);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, processed: 3, on: { request: 2 } }] });
  const command = rig.stream("--chunk-size", "5");
  expect((await rig.run(command)).exitCode).toBe(6);
  const [question] = readTruth(rig, rig.placed).questions;
  expect(question).toMatchObject({ answer: "partly", chunk: 2 });
  const shown = await rig.run(["settle", question?.run ?? "", "--env", "playground"]);
  expect(shown.stderr).toContain("5 of them the service would probably refuse a second time (soldTicket)");
  await rig.run(["settle", question?.run ?? "", "--not-sent", "--env", "playground"]);
  expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(4);
  const taken = rig
    .requests()
    .flat()
    .filter(({ status }) => status === "success");
  expect(taken.map(({ ticketId }) => ticketId)).toEqual(rig.placed.map(({ action }) => action.data.ticketId ?? null));
  const rejected = readOutput(rig.place.path("out.ndjson")).filter(({ status }) => status !== "success");
  expect(rejected.map(({ ticketId }) => ticketId)).toEqual(["T-5", "T-6", "T-7"]);
});

test("what was processed in part is settled action by action, as the service took it", { tags: ["long"] }, async () => {
  const rig = await sales(20);
  rig.sandbox.setFaults({ rules: [{ fault: "status", status: 500, processed: 3, on: { request: 2 } }] });
  const command = rig.stream("--chunk-size", "5", "--json");
  const { run } = summaryIn<Summary>(await rig.run(command));
  const settle = ["settle", run ?? "", "--env", "playground", "--chunk", "2", "--first"];
  for (const [wrong, why] of [
    [[...settle, "3"], "--first says how many actions of one chunk a decision is about."],
    [["settle", run ?? "", "--env", "playground", "--sent", "--first", "3"], "--first says how many"],
    [[...settle, "6", "--sent"], "Chunk 2 has only 5 actions, not 6."],
  ] as const) {
    const refused = await rig.run(wrong);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(why);
  }

  const head = await rig.run([...settle, "3", "--sent", "--reason", "the first three are there"]);
  expect(head.stderr).toContain("Chunk 2: the first 3 of 5 actions settled as sent.\nThe other 2 wait on as chunk 5.");
  expect(head.exitCode).toBe(6);
  expect(statesOf(rig)).toEqual(["settled", "settled by hand", "in doubt", "planned", "planned"]);
  const again = await rig.run([...settle, "3", "--sent"]);
  expect(again.stderr).toContain(`Chunk 2 of run ${run} was settled before.`);
  await rig.run(["settle", run ?? "", "--env", "playground", "--chunk", "5", "--not-sent"]);
  const { resumed } = summaryIn<Summary>(await rig.run(command));
  expect(resumed).toMatchObject({ exitCode: 0, actions: { accepted: 17, settledByHand: 3 } });
  const taken = rig.requests().flat();
  expect(taken.map(({ status, ticketId }) => [status, ticketId])).toEqual(
    rig.placed.map(({ action }) => ["success", action.data.ticketId ?? null]),
  );
  const lines = readOutput(rig.place.path("out.ndjson"));
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(lines.filter(({ status }) => status === "settled-by-hand").map(({ ticketId }) => ticketId)).toEqual([
    "T-5",
    "T-6",
    "T-7",
  ]);
});

// ---- two at once ----

describe("two commands at the same moment", () => {
  /** `RACE_ROUNDS=500` does more; how many else: `vitest.config.ts`. */
  const ROUNDS = Number(process.env.RACE_ROUNDS);

  test.each([
    ["one runs, the other exits 8", []],
    ["one runs, the other waits and finds nothing new", ["--wait-lock", "1h"]],
  ] as const)("%s", { tags: ["both"] }, async (_, more) => {
    const waits = more.length > 0;
    const place = openWorkplace();
    let held = Promise.withResolvers<void>();
    const service = await startService({ answer: () => held.promise.then(() => undefined) });
    const tickets = Array.from({ length: ROUNDS * 10 }, (_none, at) => `T-${at + 1}`);
    for (let round = 0; round < ROUNDS; round += 1) {
      place.write("sales.csv", salesTable(10, { first: round * 10 + 1 }));
      const command = ["stream", "sales.csv", "--env", "playground", "--chunk-size", "5", ...more];
      held = Promise.withResolvers();
      // The one that waits has no end to go by; which of the two is first, and by how much, is left to the machine.
      if (waits) held.resolve();
      const both = [place.summary(command, service), place.summary(command, service)];
      // The service answers the winner only when the other one has ended.
      await Promise.race(both);
      held.resolve();
      const ended = (await Promise.all(both)).toSorted((a, b) => Number(a.exitCode) - Number(b.exitCode));
      expect(ended.map(({ exitCode }) => exitCode)).toEqual(waits ? [0, 0] : [0, 8]);
      if (waits) expect(ended.map(({ summary }) => summary.state).toSorted()).toEqual(["finished", "nothing new"]);
      else
        expect(ended[1]?.stderr).toMatch(/Another run holds the ledger|process \d+, since .*tickets stream sales\.csv/);
    }
    expect(service.sent().map(({ data }) => data.ticketId)).toEqual(tickets);
    const promises = readPromises(place.read("sales.playground.promises.ndjson"));
    expect(promises.map(({ ticketId }) => ticketId)).toEqual(tickets);
  });
});

// ---- signals ----

describe("signals", () => {
  /** Runs the command and sends signals while the service holds the n-th request; it answers a little later. */
  async function signalled(
    rig: Rig,
    command: readonly string[],
    request: number,
    ...signals: readonly NodeJS.Signals[]
  ): Promise<Ran> {
    // Given time, so that the program has heard the signals before the answer comes.
    rig.sandbox.setFaults({ rules: [{ fault: "drip", bytes: 10, everyMs: 10, on: { request } }] });
    let child: ChildProcess | undefined;
    rig.onRequest(request, "after", () => {
      for (const signal of signals) child?.kill(signal);
    });
    const ran = await rig.run(command, {
      onSpawn: (spawned) => {
        child = spawned;
      },
    });
    rig.sandbox.setFaults({ rules: [] });
    return ran;
  }

  test("Ctrl-C finishes the request in flight; another file then exits 8 with the two commands", async () => {
    const rig = await sales(20);
    const stopped = await signalled(rig, rig.stream("--chunk-size", "5", "--json"), 2, "SIGINT");
    expect(stopped.exitCode).toBe(130);
    const summary = summaryIn<Summary>(stopped);
    expect(summary).toMatchObject({ state: "stopped", actions: { accepted: 10, inDoubt: 0, notSent: 10 } });
    expect(states(rig)).toBe("settled settled planned planned");

    rig.place.write("corrected.csv", salesTable(30));
    const corrected = ["stream", "corrected.csv", "--action", "soldTicket", "--env", "playground", "-o", "out.ndjson"];
    const refused = await rig.run(corrected);
    expect(refused.exitCode).toBe(8);
    expect(refused.stderr).toContain(`tickets resume ${summary.run}`);
    expect(refused.stderr).toContain(`tickets settle ${summary.run} --abandon`);
    expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode, "the same command too").toBe(8);
    expect(count(rig)).toBe(10);

    expect((await rig.run(["settle", summary.run ?? "", "--abandon", "--env", "playground"])).exitCode).toBe(0);
    const sent = summaryIn<Summary>(await rig.run([...corrected, "--json"]));
    expect(sent.actions).toMatchObject({ total: 30, alreadySent: 9, accepted: 21 });
  });

  test("Ctrl-C, then resume: the run is finished, and the next file goes", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    expect((await signalled(rig, rig.stream("--chunk-size", "5"), 2, "SIGINT")).exitCode).toBe(130);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
    expect((await rig.run(rig.stream())).exitCode).toBe(0);
  });

  test("Ctrl-C, then a resume that is killed: the run is no longer a person's, and the next command finishes it", {
    tags: ["long"],
  }, async () => {
    const rig = await sales(20);
    expect((await signalled(rig, rig.stream("--chunk-size", "5"), 2, "SIGINT")).exitCode).toBe(130);
    const resume = ["resume", "--env", "playground"];
    const died = await rig.run(resume, { interruption: { kind: "boundary", point: "stored", time: 1 } });
    expect(died.killed).toBe(true);
    expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });

  test("SIGTERM, then tonight's file: the old run is finished first, and its summary is told", {
    tags: ["long"],
  }, async () => {
    const rig = await sales(20);
    expect((await signalled(rig, rig.stream("--chunk-size", "5"), 2, "SIGTERM")).exitCode).toBe(143);
    const run = readLedger(rig)[0]?.run;
    const tonight = salesTable(5, { first: 101 });
    rig.place.write("tonight.csv", tonight);
    const next = await rig.run(["stream", "tonight.csv", "--action", "soldTicket", "--env", "playground", "--json"]);
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toContain(`The run ${run} `);
    expect(summaryIn<Summary>(next)).toMatchObject({
      state: "finished",
      actions: { total: 5, accepted: 5 },
      resumed: { run, state: "finished", actions: { total: 20, accepted: 20 } },
    });
    expectAllTold(rig, [...rig.placed, ...placedRows("tonight.csv", "soldTicket", tonight)]);
    expect(rig.requests().map(({ length }) => length)).toEqual([5, 5, 5, 5, 5]);
  });

  test("a second Ctrl-C gives the request in flight up and leaves it in doubt", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    const stopped = await signalled(rig, rig.stream("--chunk-size", "5", "--json"), 2, "SIGINT", "SIGTERM");
    expect([6, 130]).toContain(stopped.exitCode);
    expect(stopped.stderr).toContain("in doubt");
    expect(states(rig)).toBe("settled in doubt planned planned");
    expect(readTruth(rig, rig.placed).questions).toMatchObject([{ chunk: 2, answer: "sent" }]);
    await settleByTruth(rig, rig.placed);
    expect((await rig.run(["resume", "--env", "playground"])).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });

  test("SIGHUP ends in 129, and the same command goes on", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    expect((await signalled(rig, rig.stream("--chunk-size", "5"), 2, "SIGHUP")).exitCode).toBe(129);
    expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });

  test("a signal during the last request leaves nothing to do: the run is finished", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    const ended = await signalled(rig, rig.stream("--chunk-size", "5", "--json"), 4, "SIGINT");
    expect(summaryIn<Summary>(ended)).toMatchObject({ state: "finished", actions: { accepted: 20 } });
    expect((await rig.run(rig.stream("--chunk-size", "5"))).exitCode).toBe(0);
  });

  test("--max-duration ends in 7 at the border of a chunk, and the same command goes on", {
    tags: ["long"],
  }, async () => {
    const rig = await sales(200);
    // The second answer comes when the time is over, however long the start took.
    rig.sandbox.setFaults({ rules: [{ fault: "latency", ms: 15_000, on: { request: 2 } }] });
    const command = rig.stream("--chunk-size", "10");
    expect((await rig.run([...command, "--max-duration", "15s"])).exitCode).toBe(7);
    expect(readTruth(rig, rig.placed).questions).toEqual([]);
    expect(new Set(statesOf(rig))).toEqual(new Set(["settled", "planned"]));
    rig.sandbox.setFaults({ rules: [] });
    expect((await rig.run(command)).exitCode).toBe(0);
    expectAllTold(rig, rig.placed);
  });
});

// ---- too large ----

test.each([2, 3, 4, 5])(
  "a kill between the halves of a chunk that was too large, at attempt %i",
  { tags: ["long"] },
  async (time) => {
    const rig = await sales(40);
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 413, on: { itemsOver: 5, from: 2 } }] });
    const command = rig.stream("--chunk-size", "20");
    const died = await rig.run(command, { interruption: { kind: "boundary", point: "intended", time } });
    expect(died.killed).toBe(true);
    for (let starts = 0; starts < 4 && (await rig.run(command)).exitCode === 6; starts += 1) {
      await settleByTruth(rig, rig.placed);
    }
    expectAllTold(rig, rig.placed);
    expect(
      rig
        .requests()
        .slice(1)
        .every(({ length }) => length <= 5),
    ).toBe(true);
  },
);

// ---- a file that grows ----

describe("a file of 10,000 rows that grows", { tags: ["long"] }, () => {
  const ROWS = 10_000;
  const night = (text: string): string => {
    const grown =
      text +
      salesTable(200, { first: ROWS + 1 })
        .split("\n")
        .slice(1)
        .join("\n");
    const [header, ...rows] = grown.trimEnd().split("\n");
    const kept = rows.filter((_, at) => at % 1000 !== 17);
    return `${[header, ...kept.map((line, at) => (at === 4711 ? withPrice(line, "99.00") : line))].join("\n")}\n`;
  };
  const withPrice = (line: string, price: string): string => line.split(",").with(3, price).join(",");

  async function firstNight() {
    const rig = await empty();
    rig.place.write("events.csv", EVENTS);
    rig.place.write("sales.csv", salesTable(ROWS));
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "--json"];
    expect(summaryIn<Summary>(await rig.run(command)).actions).toMatchObject({ total: ROWS + 1, accepted: ROWS + 1 });
    return { rig, command };
  }

  const ticketsSent = (rig: Rig): readonly (string | null)[] =>
    rig
      .requests()
      .flat()
      .map(({ ticketId }) => ticketId);

  test.each<[string, (rig: Rig, text: string) => readonly string[]]>([
    ["as it is", (rig, text) => [rig.place.write("sales.csv", text)]],
    ["with another chunk size", (rig, text) => [rig.place.write("sales.csv", text), "--chunk-size", "70"]],
    ["under another name", (rig, text) => [rig.place.write("sales-tonight.csv", text)]],
    [
      "with its columns in another order",
      (rig, text) => {
        const turned = text.replace(/^(.*?),(.*?),(.*?),(.*?),(.*?)$/gm, "$5,$3,$2,$4,$1");
        return [rig.place.write("sales.csv", turned)];
      },
    ],
  ])("sends what is new, %s", async (_, write) => {
    const { rig, command } = await firstNight();
    const args = write(rig, night(rig.place.read("sales.csv")));
    const second = ["stream", "events.csv", ...args, "--env", "playground", "--json"];
    const grown = await rig.run(second);
    expect(grown.exitCode).toBe(0);
    const total = ROWS + 200 - 11 + 1;
    expect(summaryIn<Summary>(grown).actions).toMatchObject({
      total,
      accepted: 199,
      alreadySent: total - 199,
      changed: 1,
    });
    expect(grown.stderr).toContain("price");
    const tickets = ticketsSent(rig);
    expect(new Set(tickets).size, "nothing is doubled").toBe(tickets.length);
    expect(summaryIn<Summary>(await rig.run(second)).actions).toMatchObject({ accepted: 0, alreadySent: total });
    expect(summaryIn<Summary>(await rig.run(command)).actions.accepted).toBe(0);
    expect(ticketsSent(rig)).toEqual(tickets);
  });

  test("sends what was missing when the file itself is mended instead of the rejects", async () => {
    const rig = await empty();
    rig.place.write("events.csv", EVENTS);
    const whole = salesTable(ROWS);
    const bad = new Set(["T-5000", "T-7777"]);
    const spoil = (cells: Cells): Cells => (bad.has(cells.ticketId ?? "") ? { ...cells, price: "1,50" } : cells);
    rig.place.write("sales.csv", editTable(whole, spoil));
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "--json", "--max-invalid", "2"];
    const first = await rig.run(command);
    expect(first.exitCode).toBe(4);
    expect(summaryIn<Summary>(first).rows).toMatchObject({ invalid: 2 });
    expect(existsSync(rig.place.path("sales.rejects.csv"))).toBe(true);
    rig.place.write("sales.csv", whole);
    const second = await rig.run(command);
    expect(second.exitCode).toBe(0);
    expect(summaryIn<Summary>(second).actions).toMatchObject({ accepted: 2, alreadySent: ROWS - 1 });
    const tickets = ticketsSent(rig);
    expect(tickets.slice(-2)).toEqual([...bad]);
    expect(new Set(tickets).size).toBe(tickets.length);
  });
});

// ---- a ledger that is lost, restored or someone else's ----

describe("the ledger", () => {
  const files = (rig: Rig): readonly string[] => readdirSync(rig.state).filter((name) => name.startsWith("ledger.db"));

  async function finished() {
    const rig = await sales(20);
    const command = rig.stream("--json");
    expect((await rig.run(command)).exitCode).toBe(0);
    return { rig, command };
  }

  async function expectImported(rig: SalesRig, command: readonly string[]): Promise<void> {
    const sent = count(rig);
    const before = rig.place.read("out.ndjson");
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.ndjson");
    expect(count(rig)).toBe(sent);
    const give = ["results", "--import", "out.ndjson", "--env", "playground"];
    expect((await rig.run(give)).exitCode).toBe(0);
    expect((await rig.run(give)).exitCode, "twice is as good as once").toBe(0);
    const again = await rig.run(command);
    expect(again.exitCode).toBe(0);
    expect(summaryIn<Summary>(again).state).toBe("nothing new");
    expect(count(rig)).toBe(sent);
    expect(rig.place.read("out.ndjson")).toBe(before);
  }

  test("that was deleted gets its memory back from the promises, and nothing is sent twice", async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    await expectImported(rig, command);
  });

  test("that was restored from an older backup gets its memory back, and nothing is sent twice", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    const backup = rig.place.path("backup");
    cpSync(rig.state, backup, { recursive: true });
    rig.place.write("sales.csv", salesTable(29));
    expect(summaryIn<Summary>(await rig.run(command)).actions).toMatchObject({ accepted: 10, alreadySent: 20 });
    for (const name of files(rig)) rmSync(join(rig.state, name));
    for (const name of readdirSync(backup).filter((each) => each.startsWith("ledger.db")))
      copyFileSync(join(backup, name), join(rig.state, name));
    await expectImported(rig, command);
  });

  async function restoredFromTheMiddle() {
    const rig = await sales(20);
    const command = rig.stream("--chunk-size", "5", "--json");
    rig.sandbox.setFaults({ rules: [{ fault: "status", status: 403, on: { request: 3 } }] });
    expect((await rig.run(command)).exitCode).toBe(5);
    const backup = rig.place.path("backup");
    cpSync(rig.state, backup, { recursive: true });
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    for (const name of readdirSync(backup).filter((each) => each.startsWith("ledger.db")))
      copyFileSync(join(backup, name), join(rig.state, name));
    return { rig, command };
  }

  test("that was restored from a backup of the middle of a run does not send the rest a second time", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await restoredFromTheMiddle();
    for (const args of [command, ["resume", "--env", "playground"]]) {
      const refused = await rig.run(args);
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("tickets results --import out.ndjson");
    }
    expect(count(rig)).toBe(20);
  });

  test("that was restored from a backup of the middle of a run gets its memory back", { tags: ["long"] }, async () => {
    const { rig, command } = await restoredFromTheMiddle();
    await expectImported(rig, command);
  });

  test("belongs to its base URL also when its memory was imported", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    await rig.run(["results", "--import", "out.ndjson", "--env", "playground"]);
    const refused = await rig.run(command, { env: { TICKETS_PLAYGROUND_BASE_URL: "http://127.0.0.1:9" } });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets env --rebind");
  });

  test("that lost its memory is noticed with promises as CSV too", { tags: ["long"] }, async () => {
    const rig = await sales(20);
    const command = ["stream", "events.csv", "sales.csv", "--env", "playground", "-o", "out.csv"];
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.csv");
    expect((await rig.run(["results", "--import", "out.csv", "--env", "playground"])).exitCode).toBe(0);
    expect((await rig.run(command)).exitCode).toBe(0);
    expect(count(rig)).toBe(20);
  });

  test("that was deleted is no matter of --force, which would have everything sent again", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const refused = await rig.run([...command, "--force"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("tickets results --import out.ndjson");
    expect(count(rig)).toBe(20);
  });

  test.each([
    ["lacks the end of its first line", (promises: string) => promises.replace(/^(.*\n.{40}).*\n/, "$1\n")],
    ["is no promises file", () => salesTable(3)],
  ])("gets nothing back from a table that %s, said in a sentence", { tags: ["long"] }, async (_what, made) => {
    const { rig } = await finished();
    await rig.run(["results", "--env", "playground", "-o", "whole.csv"]);
    rig.place.write("given.csv", made(rig.place.read("whole.csv")));
    const refused = await rig.run(["results", "--import", "given.csv", "--env", "playground"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("given.csv");
    expect(refused.stderr).not.toContain("    at ");
  });

  test("gets its memory back of ids with any character", { tags: ["long"] }, async () => {
    const rig = await sales(1);
    const ids = ["\u2028", "\u2029", "\r", "\u0085", "\ufeff", "'=", '"', "\\", "😀"].map((text) => `T${text}1`);
    const data = (ticketId: string) => ({ eventId: "E-1", ticketId, userId: "u", price: "1", orderTime: 1 });
    const lines = ids.map((ticketId) => `${JSON.stringify({ action: "soldTicket", data: data(ticketId) })}\n`);
    rig.place.write("odd.ndjson", lines.join(""));
    const command = ["stream", "events.csv", "odd.ndjson", "--env", "playground", "-o", "out.ndjson"];
    expect((await rig.run(command)).exitCode).toBe(0);
    const sent = count(rig);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    expect((await rig.run(["results", "--import", "out.ndjson", "--env", "playground"])).exitCode).toBe(0);
    expect((await rig.run(command)).stderr).toContain("Nothing new");
    expect(count(rig)).toBe(sent);
  });

  test("does not get back the keys of a source, and what was sent with one is known by its ticket", {
    tags: ["long"],
  }, async () => {
    const rig = await sales(20);
    rig.place.write(
      "tickets.config.yaml",
      `sources:
  sales:
    match: sales.csv
    key: "{ticketId} {orderTime}"
    actions:
      - soldTicket:
          fields: {eventId: "{eventId}", ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}
`,
    );
    const command = rig.stream("--json");
    expect((await rig.run(command)).exitCode).toBe(0);
    for (const name of files(rig)) rmSync(join(rig.state, name));
    expect((await rig.run(["results", "--import", "out.ndjson", "--env", "playground"])).exitCode).toBe(0);
    const asked = await rig.run(command);
    // A sale is known by its ticket, whatever key its source has.
    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toContain("Nothing new");
    expect(count(rig)).toBe(20);
  });

  test("gets its memory back also where the promises of a run stand in several files", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const lines = rig.place.read("out.ndjson").split(/(?<=\n)/);
    // The second file goes on amid a chunk; the third holds all of it once more.
    rig.place.write("part1.ndjson", lines.slice(10, 14).join(""));
    rig.place.write("part2.ndjson", [...lines.slice(0, 10), ...lines.slice(14)].join(""));
    for (const [name, said] of [
      ["part1.ndjson", "4 actions of 1 run imported"],
      ["part2.ndjson", `${lines.length - 4} actions of 1 run imported`],
      ["out.ndjson", `${lines.length} actions were known already`],
    ] as const) {
      const imported = await rig.run(["results", "--import", name, "--env", "playground"]);
      expect(imported.exitCode).toBe(0);
      expect(imported.stderr).toContain(said);
    }
    const again = await rig.run(command);
    expect(summaryIn<Summary>(again)).toMatchObject({ exitCode: 0, state: "nothing new" });
    expect(count(rig)).toBe(20);
    const written = await rig.run(["results", "--env", "playground"]);
    // A chunk of which a file tells only a part is cut there.
    const butChunk = (text: string): string => text.replaceAll(/"chunk":\d+/g, '"chunk":0');
    expect(butChunk(written.stdout)).toBe(butChunk(lines.join("")));
    const status = await rig.run(["status", "--env", "playground", "--json"]);
    expect(status.stdout).toContain(`"accepted":${lines.length}`);
  });

  test("gets its memory back from lines that stand twice, as standard output may have them, and never from contradictory ones", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    for (const name of files(rig)) rmSync(join(rig.state, name));
    const lines = rig.place.read("out.ndjson");
    const [last = ""] = lines.trimEnd().split("\n").slice(-1);
    rig.place.write(
      "contrary.ndjson",
      `${lines}${last.replace(/"actionPromise":"[^"]*"/, '"actionPromise":"another"')}\n`,
    );
    const refused = await rig.run(["results", "--import", "contrary.ndjson", "--env", "playground"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("Nothing was imported");
    rig.place.write("twice.ndjson", lines + lines);
    expect((await rig.run(["results", "--import", "twice.ndjson", "--env", "playground"])).exitCode).toBe(0);
    rmSync(rig.place.path("out.ndjson"));
    expect(summaryIn<Summary>(await rig.run(command)).state).toBe("nothing new");
    expect(count(rig)).toBe(20);
  });

  test("that is damaged stops the run before anything is sent, and is not made anew", { tags: ["long"] }, async () => {
    const { rig, command } = await finished();
    const path = join(rig.state, "ledger.db");
    truncateSync(path, 5000);
    const refused = await rig.run(command);
    expect(refused.exitCode).toBe(10);
    expect(refused.stderr).toContain("tickets results --import");
    expect(count(rig)).toBe(20);
    renameSync(path, `${path}.damaged`);
    for (const name of files(rig).filter((each) => !each.endsWith(".damaged"))) rmSync(join(rig.state, name));
    await expectImported(rig, command);
  });

  test("belongs to its base URL; with another one nothing is sent until a person rebinds it", {
    tags: ["long"],
  }, async () => {
    const { rig, command } = await finished();
    const other = await startSandbox({ engine: rig.sandbox.engine, apiKey: rig.sandbox.apiKey });
    onTestFinished(() => other[Symbol.asyncDispose]());
    const env = { TICKETS_PLAYGROUND_BASE_URL: other.url };
    const refused = await rig.run(command, { env });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(rig.sandbox.url);
    expect(refused.stderr).toContain(other.url);
    expect(refused.stderr).toContain("tickets env --rebind");
    expect(count(rig)).toBe(20);

    expect((await rig.run(["env", "playground", "--rebind"], { env })).exitCode).toBe(0);
    rig.place.write("sales.csv", salesTable(29));
    const sent = await rig.run(command, { env });
    expect(summaryIn<Summary>(sent).actions).toMatchObject({ accepted: 10, alreadySent: 20 });
    expect((await rig.run(command)).exitCode, "and back again only by a person").toBe(2);
  });
});
