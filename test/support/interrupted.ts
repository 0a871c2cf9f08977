/** A run that was interrupted: a rig of the test's own, what its ledger says, and a person who settles what is in doubt. */

import { expect, onTestFinished } from "vitest";
import type { CrashPoint } from "../../src/disk/crash-points.ts";
import { openRig, type Rig } from "./invariant/rig.ts";
import { newestChunks, type Placed } from "./invariant/runs.ts";
import { openSales, type SalesRig } from "./invariant/sales.ts";
import { readTruth, type TruthOptions } from "./invariant/truth.ts";
import type { SharedLedger } from "./shared-ledger.ts";

export async function salesRig(actions: number, shared?: SharedLedger): Promise<SalesRig> {
  const rig = await openSales(actions, shared);
  onTestFinished(rig.close);
  return rig;
}

export async function emptyRig(): Promise<Rig> {
  const rig = await openRig();
  onTestFinished(rig.close);
  return rig;
}

/** Runs a command that is killed when it passes a boundary, for that time. */
export async function dies(rig: Rig, command: readonly string[], point: CrashPoint, time = 1): Promise<void> {
  const { killed, stderr } = await rig.run(command, { interruption: { kind: "boundary", point, time } });
  expect(killed, stderr).toBe(true);
}

/** The states of the newest run's chunks, in order; since nobody sends any more, what was being sent is in doubt. */
export const states = async (rig: Rig): Promise<string> => (await statesOf(rig)).join(" ");
export const statesOf = async (rig: Rig): Promise<readonly string[]> =>
  (await newestChunks(rig)).map(({ state }) => (state === "sending" ? "in doubt" : state));

/** Settles every question by what the service really has. */
export async function settleByTruth(rig: Rig, placed: readonly Placed[], options: TruthOptions = {}): Promise<void> {
  for (const { run, chunk, answer } of (await readTruth(rig, placed, options)).questions) {
    const settle = ["settle", run, `--${answer}`, "--chunk", String(chunk), "--env", "playground"];
    expect(await rig.run([...settle, "--reason", "looked"])).toMatchObject({ killed: false });
  }
}

/** How many actions the service has processed. */
export const processedCount = (rig: Rig): number => rig.requests().flat().length;
