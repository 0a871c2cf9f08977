/** Deeds of rows that are not sent, where they belong to a history: each stands in it as one deed of unknown content. */

import { type Action, type ActionName, actionSpec } from "../../actions/actions.ts";
import { digestHex, identityText } from "../../actions/identity.ts";
import type { Hold } from "./candidates.ts";
import { timeOf } from "./said.ts";

export interface HeldDeed {
  /** Number of the candidate that it stands before. */
  readonly before: number;
  readonly input: number;
  readonly line: number;
  readonly action: ActionName;
  /** Which action of that kind of its row it is, from 1, and whether there are several. */
  readonly nth: number;
  readonly isOnly: boolean;
  readonly time: bigint | undefined;
}

/** By identity (hex), in the order of the input; only what could be read of the rows. */
export type HistoryHolds = ReadonlyMap<string, readonly HeldDeed[]>;

export async function readHistoryHolds(holds: Iterable<Hold> | AsyncIterable<Hold>): Promise<HistoryHolds> {
  const found = new Map<string, HeldDeed[]>();
  for await (const { before, input, line, attempted } of holds) {
    for (const [at, each] of attempted.entries()) {
      const held = toAction(each);
      if (held === undefined || actionSpec(held.action).identity !== "history") continue;
      const isAlike = (other: unknown): boolean => toAction(other)?.action === held.action;
      const deed = {
        before,
        input,
        line,
        action: held.action,
        nth: attempted.slice(0, at + 1).filter(isAlike).length,
        isOnly: attempted.filter(isAlike).length === 1,
        time: timeOf(held.data.orderTime),
      };
      const identity = digestHex(identityText(held));
      const deeds = found.get(identity);
      if (deeds === undefined) found.set(identity, [deed]);
      else deeds.push(deed);
    }
  }
  return found;
}

/** What was read of an action, where it names its kind and its ticket or event. */
function toAction(attempted: unknown): Action | undefined {
  const { action, data } = attempted as Partial<Action>; // as compile wrote it
  if (action === undefined || data === undefined) return undefined;
  const { about } = actionSpec(action);
  const id = about === "event" ? data.eventId : (data.ticketId ?? data.nftId);
  return typeof id === "string" ? { action, data } : undefined;
}
