/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import type { Draft } from "../actions/draft.ts";
import { FIELD_NAMES, fieldSpec, numberOf, recordOf, setOf } from "../actions/fields.ts";
import { about, type Finding } from "../actions/problem.ts";
import { NONE, validateDraft } from "../actions/validate.ts";
import { flawsIn, WATCHED, withoutLogin } from "./likely.ts";
import { mistakesOfSpan, mistakesOfTime } from "./times.ts";

/**
 * Everything that is wrong with an action, and what is likely a mistake in it. Their severity is that of their rules.
 *
 * @param now in Unix seconds.
 */
export function checkDraft(draft: Draft, now: number): readonly Finding[] {
  const wrong = validateDraft(draft);
  const likely = likelyMistakes(draft, now);
  if (wrong.length === 0) return likely;
  return likely.length === 0 ? wrong : [...wrong, ...likely];
}

/** First what every row of an export may have, then field by field. */
function likelyMistakes(draft: Draft, now: number): readonly Finding[] {
  const { action, given } = draft;
  const findings: Finding[] = [];
  if ((given & ORDER_TIME) === 0) findings.push(...TIMELESS[action]);
  if (actionSpec(action).updates && changesNothing(draft)) findings.push(changeless(action));
  for (const number of WATCHED) if ((given & (1 << number)) !== 0) findings.push(...findingsOfFlaws(draft, number));
  for (const { field, number } of TIMES) {
    const time = timeOf(draft, number);
    if (time !== undefined) findings.push(...mistakesOfTime(field, time, now));
  }
  if ((given & SPAN) === SPAN) findings.push(...mistakesOfSpan(timeOf(draft, START), timeOf(draft, END)));
  return findings.length === 0 ? NONE : findings;
}

const ORDER_TIME = setOf(["orderTime"]);

/** Of an action without orderTime, as whole exports may be. */
const TIMELESS = recordOf(ACTION_NAMES, (action): readonly Finding[] => {
  if (!actionSpec(action).optional.includes("orderTime")) return NONE;
  return [
    {
      rule: "order-time-missing",
      action,
      field: "orderTime",
      pointer: "/data",
      message: `${action} has no orderTime, so the service takes the time of sending.`,
      hint: "Map the column that holds the time, or leave it out if the export has none.",
    },
  ];
});

/** What an update is about; without anything else it changes nothing. */
const REFERENCES = setOf(["eventId", "ticketId", "nftId"]);

const changesNothing = (draft: Draft): boolean =>
  (draft.given & ~REFERENCES) === 0 && !draft.keys.some((key) => typeof key === "string" && draft.value(key) !== null);

const changeless = (action: ActionName): Finding => ({
  rule: "update-without-change",
  action,
  pointer: "/data",
  message: `${action} changes nothing: it has no field but its id.`,
  hint: "Check whether a column was renamed or is empty; leave out rows that change nothing.",
});

function findingsOfFlaws(draft: Draft, number: number): readonly Finding[] {
  const flaws = flawsIn(draft, number);
  if (flaws.length === 0) return NONE;
  const field = FIELD_NAMES[number] ?? "";
  return flaws.map(({ rule, what, hint, text = "" }) => {
    return { rule, ...about(field, withoutLogin(text)), message: `${field} ${what}.`, hint };
  });
}

const TIMES = FIELD_NAMES.filter((field) => fieldSpec(field).kind === "u64").map((field) => ({
  field,
  number: numberOf(field),
}));
const SPAN = setOf(["startTime", "endTime"]);
const [START, END] = [numberOf("startTime"), numberOf("endTime")];

/** The digits of a time; undefined for what is no number. */
const timeOf = ({ text, faults }: Draft, number: number): string | undefined =>
  faults?.get(number)?.rule === "field-type" ? undefined : text[number];
