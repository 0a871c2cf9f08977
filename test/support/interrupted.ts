/** Sales and where each stands, a run of them that is interrupted, what its ledger says, and a person who settles what is in doubt. */

import { expect } from "vitest";
import type { Action } from "../../src/actions/actions.ts";
import type { CrashPoint } from "../../src/disk/crash-points.ts";
import type { Summary } from "./counts.ts";
import { openRig, type Ran, type Rig } from "./invariant/rig.ts";
import { newestChunks, type Placed } from "./invariant/runs.ts";
import { readTruth, type TruthOptions } from "./invariant/truth.ts";
import type { SharedLedger } from "./shared-ledger.ts";
import { readTable, salesTable } from "./tables.ts";

export const EVENTS = "eventId,currency\nE-1,EUR\n";

/** The rows of a file of one action a row, each on one line. */
export function placedRows(source: string, action: "newEvent" | "soldTicket", text: string): readonly Placed[] {
  return readTable(text).map(({ orderTime, ...cells }, at) => ({
    source,
    line: at + 2,
    action: { action, data: { ...cells, ...(orderTime !== undefined && { orderTime: Number(orderTime) }) } } as Action, // as the table says
  }));
}

export interface SalesRig extends Rig {
  /** All rows of events.csv and sales.csv. */
  readonly placed: readonly Placed[];
  /** The command for both files. */
  stream(...more: readonly string[]): readonly string[];
}

/** An event and its sales, ready to be streamed. The event is the first of `actions` actions. */
export async function salesRig(actions: number, shared?: SharedLedger): Promise<SalesRig> {
  const rig = await openRig({ shared });
  const sales = salesTable(actions - 1);
  rig.place.write("events.csv", EVENTS);
  rig.place.write("sales.csv", sales);
  return {
    ...rig,
    placed: [...placedRows("events.csv", "newEvent", EVENTS), ...placedRows("sales.csv", "soldTicket", sales)],
    stream: (...more) => ["stream", "events.csv", "sales.csv", "--env", "playground", "-o", "out.ndjson", ...more],
  };
}

/** The `--json` document of a command. */
export function summaryIn<T = Summary>({ stdout }: Ran): T {
  return JSON.parse(stdout) as T; // the caller says what it looks at
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
