import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { openLedger } from "../../../src/ledger/open-ledger.ts";
import {
  findLostRuns,
  openRunList,
  type RunList,
  readRunList,
  runListLine,
  setRunListAside,
  wasReset,
} from "../../../src/ledger/run-list.ts";
import { endRun, enterRun, findRun, type RunRecord } from "../../../src/ledger/runs.ts";

const AT = "2026-03-01T03:00:00.000Z";
const RUN = "7f3a0c11";
const PLAN = { run: RUN, createdAt: AT, boundTo: "https://example.test", actions: { planned: 4 }, chunks: [1, 2] };

interface Place {
  readonly listPath: string;
  readonly open: () => Ledger;
  readonly list: () => RunList;
  /** What is returned puts the copy back. */
  readonly copy: () => () => void;
}

/** A ledger with one run of two planned chunks, and the list beside it. */
async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-run-list-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, listPath] = [join(folder, "ledger.db"), join(folder, "run-list.ndjson")];
  const open = (): Ledger => openLedger({ path, boundTo: "https://example.test" });
  const chunks = [1, 3].map((first) => ({ lane: 0, first, count: 2, offset: 0, length: 1 }));
  const manifest = JSON.stringify({ mapping: "" });
  using ledger = open();
  enterRun(ledger, { run: RUN, manifest, output: undefined, chunks, at: AT });
  return {
    listPath,
    open,
    list: () => openRunList(listPath, ""),
    copy: () => {
      copyFileSync(path, join(folder, "copy.db"));
      return () => copyFileSync(join(folder, "copy.db"), path);
    },
  };
}

function runIn(ledger: Ledger): RunRecord {
  const run = findRun(ledger, RUN);
  if (run === undefined) throw new Error("the run is in the ledger");
  return run;
}

const lostIn = (list: RunList, ledger: Ledger): readonly string[] =>
  findLostRuns(list.content, ledger, () => true).map(({ how, state }) => `${how} ${state ?? "killed"}`);

it("an older copy is told by its count alone, also when the command that counted on was killed", async () => {
  const { open, list, copy } = await openPlace();
  {
    using ledger = open();
    const runList = list();
    runList.sending(ledger, runIn(ledger), PLAN);
    runList.stopped(ledger, runIn(ledger));
  }
  const putBack = copy();
  {
    using ledger = open();
    const runList = list();
    runList.sending(ledger, runIn(ledger), PLAN);
    expect(lostIn(runList, ledger), "the ledger that was killed with the command knows of it").toEqual([]);
  }
  putBack();
  using ledger = open();
  const runList = list();
  expect(lostIn(runList, ledger)).toEqual(["older killed"]);
  runList.stopped(ledger, runIn(ledger));
  expect(lostIn(list(), ledger), "an older copy has no say").toEqual(["older killed"]);
});

it("a process that died between ledger and list lacks nothing, and the next one tells the list", async () => {
  const { open, list } = await openPlace();
  using ledger = open();
  list().sending(ledger, runIn(ledger), PLAN);
  list().changing(ledger, runIn(ledger));
  endRun(ledger, runIn(ledger).runNo, "abandoned", 4, AT);
  const runList = list();
  expect(lostIn(runList, ledger)).toEqual([]);
  expect(runList.content.runs.get(RUN)?.stopped).toBeUndefined();
  runList.complete(ledger, () => PLAN);
  expect(list().content.runs.get(RUN)).toMatchObject({ number: 2, stopped: { state: "abandoned" } });
  runList.complete(ledger, () => PLAN);
  expect(list().content.runs.get(RUN)?.number).toBe(2);
});

it("a copy from before a person closed the run is older, and one that a person has said may be used is not", async () => {
  const { open, list, copy } = await openPlace();
  {
    using ledger = open();
    list().sending(ledger, runIn(ledger), PLAN);
    list().stopped(ledger, runIn(ledger));
  }
  const putBack = copy();
  {
    using ledger = open();
    list().changing(ledger, runIn(ledger));
    ledger.run("UPDATE chunks SET state = 'abandoned'");
    endRun(ledger, runIn(ledger).runNo, "abandoned", 4, AT);
    list().stopped(ledger, runIn(ledger));
  }
  putBack();
  using ledger = open();
  expect(lostIn(list(), ledger)).toEqual(["older abandoned"]);
  list().forget([RUN], "someone", "it is known");
  expect(lostIn(list(), ledger)).toEqual([]);
  list().sending(ledger, runIn(ledger), PLAN);
  expect(lostIn(list(), ledger)).toEqual([]);
  expect(list().content.runs.get(RUN)?.number, "counts on from the list").toBe(5);
});

it("entries of before they were counted are compared by what they say", async () => {
  const { open, list, listPath } = await openPlace();
  using ledger = open();
  const counts = { attempts: 0, taken: 0 };
  const { run, createdAt, boundTo } = PLAN;
  const rest = { output: null, machine: "", generation: 1, actions: 4, chunks: 2 };
  const left = { undecided: 0, rejected: 0, notSent: 4, planned: [] };
  const lines = [
    runListLine({ entry: "list", at: AT, machine: "", host: "", generation: 1 }),
    runListLine({ entry: "run", at: AT, run, createdAt, boundTo, ...counts, ...rest }),
    runListLine({ entry: "stopped", at: AT, run, state: "abandoned", ...counts, ...left }),
  ];
  writeFileSync(listPath, lines.join(""));
  expect(lostIn(list(), ledger)).toEqual(["older abandoned"]);
  ledger.run("UPDATE chunks SET state = 'abandoned'");
  endRun(ledger, runIn(ledger).runNo, "abandoned", 4, AT);
  expect(lostIn(list(), ledger)).toEqual([]);
});

it("what the list says of a run lies in its folder too, from where one that was put back learns it", async () => {
  const { open, list, listPath } = await openPlace();
  const folder = join(listPath, "..", "runs", RUN);
  const listed = join(folder, "listed.ndjson");
  mkdirSync(folder, { recursive: true });
  using ledger = open();
  list();
  const before = readFileSync(listPath);
  list().sending(ledger, runIn(ledger), PLAN);
  list().stopped(ledger, runIn(ledger));
  const told = readRunList(listPath).runs.get(RUN);
  expect(told).toMatchObject({ number: 2, stopped: { state: "open" } });

  for (const damage of ["", '{"entry":"stop', "\0\0\0"]) {
    writeFileSync(listPath, before);
    appendFileSync(listed, damage);
    expect(readRunList(listPath).runs.get(RUN), "to those that only look").toEqual(told);
    expect(list().content.runs.get(RUN)).toEqual(told);
    // Not every name there is a folder.
    writeFileSync(join(folder, "..", ".DS_Store"), "");
  }
  const learnt = readFileSync(listPath, "utf8");
  list();
  expect(readFileSync(listPath, "utf8"), "once").toBe(learnt);
  // A folder that was put back is behind the list, which the process may also have died after.
  list().sending(ledger, runIn(ledger), PLAN);
  writeFileSync(listed, readFileSync(listed, "utf8").replace(/[^\n]*\n$/, ""));
  expect(list().content.runs.get(RUN)).toMatchObject({ number: 3, stopped: undefined });
});

it("a last entry of which only the end arrived before a power cut is cut off, and another line with zeros is damage", async () => {
  const { open, list, listPath } = await openPlace();
  using ledger = open();
  list().sending(ledger, runIn(ledger), PLAN);
  const before = readFileSync(listPath);
  const [first = ""] = before.toString().split("\n");
  list().stopped(ledger, runIn(ledger));
  const whole = readFileSync(listPath);
  const written = (zeros: readonly [number, number]): Buffer => Buffer.from(whole).fill(0, ...zeros);

  writeFileSync(listPath, written([before.length, before.length + 100]));
  expect(readRunList(listPath).runs.get(RUN)).toMatchObject({ number: 1, stopped: undefined });
  list().stopped(ledger, runIn(ledger));
  expect(readRunList(listPath).runs.get(RUN)).toMatchObject({ number: 3, stopped: { state: "open" } });
  expect(readFileSync(listPath).includes(0)).toBe(false);

  writeFileSync(listPath, written([first.length + 10, first.length + 20]));
  expect(() => readRunList(listPath)).toThrow("damaged in line 2");
});

it("a run is forgotten also by a list that is made again, until it is sent once more", async () => {
  const { open, list, listPath } = await openPlace();
  mkdirSync(join(listPath, "..", "runs", RUN), { recursive: true });
  using ledger = open();
  list().sending(ledger, runIn(ledger), PLAN);
  list().forget([RUN, "another"], "someone", "it is known");
  rmSync(listPath);
  expect(readRunList(listPath)).toMatchObject({ head: undefined });
  expect(list().content.runs.get(RUN)?.isForgotten).toBe(true);
  expect(lostIn(list(), ledger)).toEqual([]);
  list().sending(ledger, runIn(ledger), PLAN);
  rmSync(listPath);
  expect(list().content.runs.get(RUN)).toMatchObject({ number: 2, isForgotten: false });
});

it("a sandbox that is begun anew has nothing of what the folders tell", async () => {
  const { open, list, listPath } = await openPlace();
  mkdirSync(join(listPath, "..", "runs", RUN), { recursive: true });
  using ledger = open();
  list().sending(ledger, runIn(ledger), PLAN);
  expect(wasReset(listPath, RUN)).toBe(false);
  setRunListAside(listPath, new Date("2026-03-02"));
  expect(readRunList(listPath).runs.size).toBe(0);
  expect([wasReset(listPath, RUN), wasReset(listPath, "0badcafe")]).toEqual([true, false]);
});

it("a folder where the list or the ledger has to be is told, and what to do", async () => {
  const { listPath } = await openPlace();
  const ledgerPath = `${listPath}.db`;
  for (const [path, open] of [
    [listPath, () => readRunList(listPath)],
    [ledgerPath, () => openLedger({ path: ledgerPath, boundTo: "https://example.test" })],
    [ledgerPath, () => openLedger({ path: ledgerPath, boundTo: "https://example.test", readOnly: true })],
  ] as const) {
    rmSync(path, { force: true, recursive: true });
    mkdirSync(path);
    expect(open).toThrow(
      expect.objectContaining({
        code: "storage",
        message: `${path} is a folder, where a file has to be.`,
        hint: expect.stringContaining("move it away"),
      }),
    );
  }
});
