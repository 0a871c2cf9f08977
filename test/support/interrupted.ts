/** A run that was interrupted: a rig of the test's own, what its ledger says, and a person who settles what is in doubt. */

import { expect, onTestFinished } from "vitest";
import type { SharedLedger } from "./both-ledgers.ts";
import { openRig, type Rig } from "./invariant/rig.ts";
import { openSales, type SalesRig } from "./invariant/sales.ts";
import { type Placed, readLedger, readTruth } from "./invariant/truth.ts";

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

/** The states of the newest run's chunks, in order. */
export const states = (rig: Rig): string => statesOf(rig).join(" ");
export const statesOf = (rig: Rig): readonly string[] =>
  readLedger(rig)
    .at(-1)
    ?.chunks.filter(({ state }) => state !== "split")
    .map(({ state }) => state) ?? [];

/** Settles every question by what the service really has. */
export async function settleByTruth(rig: Rig, placed: readonly Placed[]): Promise<void> {
  for (const { run, chunk, answer } of readTruth(rig, placed).questions) {
    const settle = ["settle", run, `--${answer}`, "--chunk", String(chunk), "--env", "playground"];
    expect(await rig.run([...settle, "--reason", "looked"])).toMatchObject({ killed: false });
  }
}

/** How many actions the service has processed. */
export const processedCount = (rig: Rig): number => rig.requests().flat().length;
