/** The deeds that the service was asked for, in the order of what identifies them. */

import { actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import type { Ledger } from "./ledger.ts";
import { outcomeAt, sentAt } from "./outcomes.ts";

/** One accepted deed of the same identity. */
export interface AcceptedDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly content: Buffer;
}

/** A deed that the service was asked for, taken or rejected. */
export interface TriedDeed extends AcceptedDeed {
  readonly isTaken: boolean;
}

/** The deeds of an identity that the service answered, oldest first. */
export const triedDeeds = (ledger: Ledger, identity: Buffer): readonly TriedDeed[] =>
  ledger.all(TRIED, identity).map((row) => ({
    runNo: Number(row.run_no),
    seq: Number(row.seq),
    content: Buffer.from(row.content as Uint8Array), // a BLOB NOT NULL column
    isTaken: Number(row.taken) === 1,
  }));

const TRIED = "SELECT run_no, seq, content, taken FROM deeds WHERE identity = ? ORDER BY run_no, seq";

interface Placed {
  readonly runNo: number;
  readonly seq: number;
}

export const byPlace = (one: Placed, other: Placed): number => one.runNo - other.runNo || one.seq - other.seq;

/** Whether a run was an `--again`. */
export function wasAgain(ledger: Ledger, runNo: number): boolean {
  return Number(ledger.get("SELECT manifest ->> '$.again' AS again FROM runs WHERE run_no = ?", runNo)?.again) === 1;
}

/** The accepted deeds of an identity, oldest first. */
export function acceptedDeeds(ledger: Ledger, identity: Buffer): readonly AcceptedDeed[] {
  return triedDeeds(ledger, identity).filter(({ isTaken }) => isTaken);
}

/** Whether this ledger has any deed at all; if not, nothing need be looked up. */
export function hasDeeds(ledger: Ledger): boolean {
  return ledger.get("SELECT 1 AS one FROM deeds LIMIT 1") !== undefined;
}

/** The data of an accepted action as it was sent, as JSON text. */
export const acceptedData = (ledger: Ledger, { runNo, seq }: AcceptedDeed): string | undefined =>
  sentAt(ledger, runNo, seq)?.data;

/** Where the accepted sale of a ticket came from, and when. */
export function acceptedSale(
  ledger: Ledger,
  ticketId: string,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  for (const action of actionsThat("sell-ticket")) {
    const identity = digestOf(identityText({ action, data: { ticketId } }));
    const deed =
      acceptedDeeds(ledger, identity).at(-1) ?? keyedDeeds(ledger, identity).findLast(({ isTaken }) => isTaken);
    if (deed !== undefined) return acceptedAt(ledger, deed);
  }
  return undefined;
}

/** Where an accepted action came from, and when. */
export function acceptedAt(
  ledger: Ledger,
  deed: AcceptedDeed,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  const outcome = outcomeAt(ledger, deed.runNo, deed.seq);
  return outcome && { source: outcome.source, line: outcome.line, at: outcome.at };
}
