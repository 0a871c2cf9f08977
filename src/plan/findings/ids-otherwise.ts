/** What is said of a source that makes its ids in another way than when something of it was sent. */

import { cleanText } from "../../actions/text.ts";
import { findMadeOtherwise, type MadeOtherwise, type SourceIds } from "../../ledger/id-rules.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { FileFinding } from "../../mapping/file-finding.ts";
import type { MappingRule } from "../../mapping/rules.ts";

/** One finding for all kinds of the source whose ids changed alike. */
export function findIdsOtherwise(ledger: Ledger, kinds: readonly SourceIds[]): readonly FileFinding[] {
  const alike = Map.groupBy(findMadeOtherwise(ledger, kinds), ({ gone, added }) => JSON.stringify([gone, added]));
  return [...alike.values()].flatMap((changes) => changes.slice(0, 1).map((first) => idsOtherwise(first, changes)));
}

function idsOtherwise({ source, gone, added, since }: MadeOtherwise, changes: readonly MadeOtherwise[]): FileFinding {
  const kinds = changes.map(({ action }) => action).join(", ");
  const run = since === undefined ? "" : ` since the run ${since.run} of ${since.createdAt}`;
  return {
    rule: "ids-otherwise" satisfies MappingRule,
    field: /^\w+/.exec(added[0] ?? "")?.[0] ?? "ticketId",
    message: `The ${cleanText(source, 100)} makes the ids of ${kinds} differently than it has${run}. Then: ${shown(gone)}. Now: ${shown(added)}. What was sent so far would look new and be sent again.`,
    hint: `${areConstant(added) ? "If these name other ones now" : "Undo that. If the ids come out the same"}, or the input holds nothing that was sent so far, set rules: {ids-otherwise: warn} in the config for one run; the new way is then remembered.`,
  };
}

const shown = (ways: readonly string[]): string => cleanText(ways.join(" and "), 400);

/** The same id for every row: the person means another event, more likely than not. */
const areConstant = (ways: readonly string[]): boolean => ways.every((way) => !way.includes("{"));
