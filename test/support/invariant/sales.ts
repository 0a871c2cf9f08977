/** Files of sales for a rig, and where each action stands in them. */

import type { Action } from "../../../src/actions/actions.ts";
import type { SharedLedger } from "../shared-ledger.ts";
import { readTable, salesTable } from "../tables.ts";
import { openRig, type Ran, type Rig } from "./rig.ts";
import type { Placed } from "./runs.ts";

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
export async function openSales(actions: number, shared?: SharedLedger): Promise<SalesRig> {
  const rig = await openRig(undefined, shared);
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
export function summaryIn<T>({ stdout }: Ran): T {
  return JSON.parse(stdout) as T; // the caller says what it looks at
}
