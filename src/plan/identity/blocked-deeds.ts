/**
 * Deeds of rows that are not sent, where they belong to a history. Each stands in it as one deed: of an invalid row, one of
 * unknown content; of one that was mended, the one that was accepted for it.
 */

import { type Action, actionSpec } from "../../actions/actions.ts";
import { digestHex, identityText } from "../../actions/identity.ts";
import type { AskedAt } from "../../ledger/row-places.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import type { BlockedRow } from "../candidates/candidates.ts";
import type { OrderKey } from "../candidates/order-key.ts";
import { timeOf } from "./deed-contents.ts";
import { hasHistory } from "./history-of-candidate.ts";

export interface BlockedDeed {
  /** Number of the candidate that it stands before. */
  readonly before: number;
  readonly row: number;
  readonly input: number;
  readonly line: number;
  /** As `tickets:actions` names it; undefined where nobody knows what else its row gives. */
  readonly open: string | undefined;
  readonly time: bigint | undefined;
  /** Of a row that was mended. */
  readonly accepted: AskedAt | undefined;
}

/** By identity (hex), in the order of the input; only what could be read of the rows. */
export type BlockedHistories = ReadonlyMap<string, readonly BlockedDeed[]>;

export async function readBlockedHistories(
  blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>,
): Promise<BlockedHistories> {
  const found = new Map<string, BlockedDeed[]>();
  for await (const { before, row, input, line, attempted, accepted } of blockedRows) {
    for (const each of attempted) {
      const held = toDeedOfHistory(each);
      if (held === undefined) continue;
      const deed = {
        before,
        row,
        input,
        line,
        open: openTextOf(each),
        time: timeOf(held.data.orderTime),
        accepted,
      };
      const identity = digestHex(identityText(held));
      const deeds = found.get(identity);
      if (deeds === undefined) found.set(identity, [deed]);
      else deeds.push(deed);
    }
  }
  return found;
}

/**
 * What is open of the rows of which a deed stands in the place of an accepted one, by row, as `tickets:actions` names it;
 * nothing where all of it was accepted.
 */
export async function openBeside(
  closed: readonly BlockedDeed[],
  blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const open = new Map(closed.flatMap(({ row, open }) => (open === undefined ? [] : [[row, [] as string[]]])));
  if (open.size === 0) return open;
  const names = new Set(closed.map(({ row, open }) => `${row} ${open}`));
  for await (const { row, attempted } of blockedRows) {
    for (const each of attempted) {
      const name = openTextOf(each);
      if (name !== undefined && !names.has(`${row} ${name}`)) open.get(row)?.push(name);
    }
  }
  return open;
}

function openTextOf(attempted: unknown): string | undefined {
  const { action, nth } = attempted as OrderKey; // as compile wrote it
  return action === undefined || nth === undefined ? undefined : openActionText(action, nth);
}

/** What identifies the histories (hex) to which what was read of a row belongs. */
export function historiesOf(attempted: readonly unknown[]): readonly string[] {
  const identities = attempted.flatMap((each) => {
    const deed = toDeedOfHistory(each);
    return deed === undefined ? [] : digestHex(identityText(deed));
  });
  return [...new Set(identities)];
}

function toDeedOfHistory(attempted: unknown): Action | undefined {
  const action = toAction(attempted);
  return action !== undefined && hasHistory(action.action) ? action : undefined;
}

/** What was read of an action, where it names its kind and its ticket or event. */
function toAction(attempted: unknown): Action | undefined {
  const { action, data } = attempted as Partial<Action>; // as compile wrote it
  if (action === undefined || data === undefined) return undefined;
  const { about } = actionSpec(action);
  const id = about === "event" ? data.eventId : (data.ticketId ?? data.nftId);
  return typeof id === "string" ? { action, data } : undefined;
}
