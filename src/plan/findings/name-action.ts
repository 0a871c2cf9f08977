/** With `--again` all that a row gives is sent, also what was accepted before: remedies name the one action that is meant. */

import type { Finding } from "../../actions/problem.ts";
import { OPEN_ACTIONS_COLUMN, openActionText } from "../../mapping/open-actions.ts";
import type { Candidate } from "../candidates/candidates.ts";

/** Told by the words, so that no remedy can forget it. */
const AGAIN = "--again";

/** More names than a person copies by hand are not told. */
const LONGEST_REST = 160;

/**
 * The finding with a hint that can be followed as it stands.
 *
 * @param options `isOfSource`: a source of the config says what the row gives, which may be more than one action.
 *   `isOfRejects`: the row has the column already. `rest`: what else of the row would be sent, where nobody can tell whether
 *   this one was accepted.
 */
export function namingAction<F extends Finding>(
  finding: F,
  { action, nth }: Pick<Candidate, "action" | "nth">,
  {
    isOfSource,
    isOfRejects,
    rest,
  }: { readonly isOfSource: boolean; readonly isOfRejects: boolean; readonly rest?: readonly string[] | undefined },
): F {
  const { hint, field } = finding;
  if (!isOfSource || !hint?.includes(AGAIN)) return finding;
  const first = rest === undefined ? "" : withoutIt(rest);
  if (hint.includes(OPEN_ACTIONS_COLUMN)) return { ...finding, hint: `${first}${hint}` };
  // An event becomes known by its registration.
  const name = field === "eventId" ? openActionText("newEvent", 0) : openActionText(action, nth);
  const risk = rest === undefined ? "" : " which sends it a second time if the service has it,";
  const alone = isOfRejects
    ? `have ${OPEN_ACTIONS_COLUMN} of the row say ${name} and no more: else other actions of it are sent again.`
    : `add a column ${OPEN_ACTIONS_COLUMN} that says ${name}: else all that the row gives is sent again.`;
  return { ...finding, hint: `${first}${hint} With --again,${risk} ${alone}` };
}

/** What is surely right comes first. */
function withoutIt(rest: readonly string[]): string {
  const names = rest.join(" ");
  if (names === "" || names.length > LONGEST_REST) return "";
  return `To send the rest of its row without it, stream the row alone with ${names} in ${OPEN_ACTIONS_COLUMN}, and without --again. `;
}
