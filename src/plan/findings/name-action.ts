/** With `--again` all that a row gives is sent, also what was accepted before: remedies name the one action that is meant. */

import type { Finding } from "../../actions/problem.ts";
import { OPEN_ACTIONS_COLUMN, openActionText } from "../../mapping/open-actions.ts";
import type { Candidate } from "../candidates/candidates.ts";

/** Told by the words, so that no remedy can forget it. */
const AGAIN = "--again";

/**
 * The finding with a hint that can be followed as it stands.
 *
 * @param isOfSource a source of the config says what the row gives, which may be more than one action.
 */
export function namingAction<F extends Finding>(
  finding: F,
  { action, nth }: Pick<Candidate, "action" | "nth">,
  isOfSource: boolean,
): F {
  const { hint, field } = finding;
  if (!isOfSource || !hint?.includes(AGAIN) || hint.includes(OPEN_ACTIONS_COLUMN)) return finding;
  // An event becomes known by its registration.
  const name = field === "eventId" ? openActionText("newEvent", 0) : openActionText(action, nth);
  return {
    ...finding,
    hint: `${hint} With --again, add a column ${OPEN_ACTIONS_COLUMN} that says ${name}: else all that the row gives is sent again.`,
  };
}
