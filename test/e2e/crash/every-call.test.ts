/**
 * Every call by which a small run changes a disk, one after the other: the process dies as it makes it, or the call fails, once as
 * a broken disk fails and once as a full one. Then the same command puts it right.
 *
 * `CALLS=all` does each of them; `CALLS=150` so many, spread evenly over the run.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EVENTS, placedRows, settleByTruth } from "../../support/interrupted.ts";
import { openRig, type Ran, type Rig } from "../../support/invariant/rig.ts";
import type { Placed } from "../../support/invariant/runs.ts";
import { expectAllShown } from "../../support/invariant/truth.ts";
import {
  type CallFault,
  type FailingCall,
  failedFile,
  failing,
  HAS_STRACE,
  ONE_THREAD,
  readCalls,
  type TracedCall,
  traced,
} from "../../support/strace.ts";
import { salesTable } from "../../support/tables.ts";

/** How many: `vitest.config.ts`. */
const CALLS = process.env.CALLS ?? "all";
/** As many trials of one fault tell whether it happens at all. */
const ENOUGH = 20;
/** Two, since a machine of CI has no more cores. */
const AT_ONCE = 2;
const NEEDS = HAS_STRACE ? "" : " (needs Debian's strace, and the right to trace)";

/** Sales of which one is invalid, so that there are rejects. */
const SALES = `${salesTable(5)}E-1,T-bad,u-1,none,1767225600\n`;
const STREAM = "stream events.csv sales.csv --env playground -o out.ndjson TICKETS_CHUNK_SIZE=3 --max-invalid 1".split(
  " ",
);
/** Some rows are in the rejects. */
const DONE = 4;
const STORAGE = 10;

async function newRig(): Promise<Rig> {
  const rig = await openRig();
  // Its calls are tried too.
  rmSync(join(rig.state, "ballast"));
  rig.place.write("events.csv", EVENTS);
  rig.place.write("sales.csv", SALES);
  return rig;
}

const placed: readonly Placed[] = [
  ...placedRows("events.csv", "newEvent", EVENTS),
  ...placedRows("sales.csv", "soldTicket", salesTable(5)),
];

test.skipIf(!HAS_STRACE)(
  `a kill at any call that changes a disk, and any such call that fails, loses and doubles nothing${NEEDS}`,
  { tags: ["both"] },
  async () => {
    const rig = await newRig();
    // What is compiled once is compiled before.
    await rig.run(["--version"]);
    const log = rig.place.path("calls.log");
    const whole = await rig.run(STREAM, { shell: traced(log), env: ONE_THREAD });
    expect(whole.exitCode, whole.stderr).toBe(DONE);
    const trials = spread(trialsOf(readCalls(log), rig.place.folder), CALLS);
    expect(trials.length).toBeGreaterThan(0);

    const hits = new Map<CallFault, number>();
    const left = trials.values();
    const work = async (): Promise<void> => {
      for (const trial of left) {
        const isHit = await tryOne(trial).catch((cause: unknown) => {
          throw new Error(`${JSON.stringify(trial)}\n${cause instanceof Error ? cause.message : cause}`);
        });
        if (isHit) hits.set(trial.fault, (hits.get(trial.fault) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // Threads take turns as they like: now and then there is one call less than when they were counted.
    expect(hits.size).toBeGreaterThan(0);
    for (const [fault, { length }] of Map.groupBy(trials, ({ fault }) => fault))
      if (length >= ENOUGH) expect(hits.get(fault) ?? 0, `calls that were ${fault}`).toBeGreaterThan(length / 2);
  },
);

/** Each call of the busiest thread with each fault; paths count from the folder of the rig. */
function trialsOf(calls: readonly TracedCall[], folder: string): readonly FailingCall[] {
  const own = (path: string | undefined): path is string => path?.startsWith(folder) === true;
  const known = new Set<string>();
  const trials: FailingCall[] = [];
  const add = (trial: FailingCall): void => {
    const key = JSON.stringify(trial);
    if (!known.has(key)) trials.push(trial);
    known.add(key);
  };
  for (const { call, nth, nthOfFile, path } of calls) {
    add({ call, nth, fault: "killed" });
    if (!own(path)) continue;
    // A wake-up of another thread is written too, and ends the process where it fails: files are known from it by name.
    const isNamed = call === "write" && !path.includes("/plan-");
    const which = isNamed ? { call, nth: nthOfFile, path: path.slice(folder.length + 1) } : { call, nth };
    add({ ...which, fault: "EIO" });
    add({ ...which, fault: "ENOSPC" });
  }
  return trials;
}

function spread(trials: readonly FailingCall[], most: string): readonly FailingCall[] {
  const count = most === "all" ? trials.length : Math.min(Number(most), trials.length);
  return Array.from({ length: count }, (_, at) => trials[Math.floor((at * trials.length) / count)]).flatMap(
    (trial) => trial ?? [],
  );
}

/** @returns whether the fault came about. */
async function tryOne({ path, ...call }: FailingCall): Promise<boolean> {
  const rig = await newRig();
  try {
    const log = rig.place.path("failed.log");
    const shell = failing({ ...call, path: path === undefined ? undefined : rig.place.path(path) }, log);
    const failed = await rig.run(STREAM, { shell, env: ONE_THREAD });
    const file = failedFile(log);
    if (file?.startsWith(rig.place.folder)) expectReport(failed, file);
    await putRight(rig);
    return call.fault === "killed" ? failed.killed : file !== undefined;
  } finally {
    await rig.close();
  }
}

/** A storage that fails is reported as such, and never as a fault of the program. */
function expectReport({ exitCode, stderr }: Ran, file: string): void {
  expect([0, DONE, STORAGE], `${file}\n${stderr}`).toContain(exitCode);
}

async function putRight(rig: Rig): Promise<void> {
  let again = await rig.run(STREAM);
  if (again.exitCode === 6) {
    await settleByTruth(rig, placed);
    again = await rig.run(STREAM);
  }
  expect(again.exitCode, again.stderr).toBe(DONE);
  await expectAllShown(rig, placed);
  expect(rig.requests().flat().length).toBe(placed.length);
  expect(rig.place.read("sales.rejects.csv")).toContain("T-bad");
}
