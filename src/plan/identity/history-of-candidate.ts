/** Which history a candidate belongs to, and whether it undoes what stands before it there. */

import { type ActionName, actionSpec, type Effect } from "../../actions/actions.ts";
import { digestOf, identityText } from "../../actions/identity.ts";
import { actionOf, type Candidate } from "../candidates/candidates.ts";

/** Of these the last one counts, so that an earlier one must not come after it. */
const REPLACING: ReadonlySet<Effect> = new Set(["change-event", "change-ticket", "resell-ticket"]);

export const replaces = (action: ActionName): boolean => REPLACING.has(actionSpec(action).effect);

/** Whether the last one that is sent counts: of what replaces, and of claims, which say in whose wallet the ticket is. */
export const lastCounts = (action: ActionName): boolean =>
  replaces(action) || actionSpec(action).effect === "claim-ticket";

/** Whether its ticket or event may have several of its kind, one after the other. */
export const hasHistory = (action: ActionName): boolean => actionSpec(action).identity !== "once";

/** What identifies a candidate's history: the digest that would identify the candidate itself if it had no key. */
export function historyOf(candidate: Candidate): Buffer {
  return candidate.keyed ? digestOf(identityText(actionOf(candidate))) : candidate.identity;
}
