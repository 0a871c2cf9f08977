/** What is wrong with a row by itself. */

import type { Draft } from "../actions/draft.ts";
import { isFieldName } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import { checkDraft } from "../check/shape.ts";
import type { Mapped } from "../map/mapper.ts";

/** @param now in Unix seconds. */
export function findingsOfMapped(mapped: Exclude<Mapped, { kind: "skipped" }>, now: number): readonly Finding[] {
  const likely = mapped.likely ?? [];
  if (mapped.kind === "invalid") {
    const further = mapped.isGuess === true ? [] : furtherFindings(mapped.findings, mapped.attempted, now);
    return [...mapped.findings, ...likely, ...further];
  }
  const [only, ...others] = mapped.drafts;
  if (only === undefined) return likely;
  const first = checkDraft(only, now);
  const found = others.length === 0 ? first : [first, ...others.map((draft) => checkDraft(draft, now))].flat();
  return likely.length === 0 ? found : [...likely, ...found];
}

/** What a field that could not be read also leads to; telling it would only confuse. */
const FOLLOWS: ReadonlySet<string> = new Set([
  "field-required",
  "sold-ticket-without-user",
  "ticket-reference-missing",
  "claim-recipient-missing",
  "order-time-missing",
]);

/** What is wrong with the fields that could be read, so that all problems of a row are told at once. */
function furtherFindings(findings: readonly Finding[], attempted: readonly Draft[], now: number): readonly Finding[] {
  const told = new Set(findings.map(({ field }) => field));
  // Findings of a declared source name columns, so which field each left empty is not known.
  const ofColumns = findings.some(({ field }) => field === undefined || !isFieldName(field));
  return attempted
    .flatMap((draft) => checkDraft(draft, now))
    .filter(
      ({ field, rule }) =>
        (field === undefined || !told.has(field)) &&
        !(ofColumns && FOLLOWS.has(rule)) &&
        // What could not be read may be the change.
        rule !== "update-without-change",
    );
}
