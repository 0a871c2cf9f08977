/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, actionSpec } from "../actions/actions.ts";
import type { Draft } from "../actions/draft.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, recordOf } from "../actions/fields.ts";
import { about, type Problem } from "../actions/problem.ts";
import { NONE, validateDraft } from "../actions/validate.ts";
import { utcText } from "../text.ts";
import { type Flaw, flawsIn, withoutLogin } from "./text-flaws.ts";

/**
 * Everything that is wrong with an action, and what is likely a mistake in it. Their severity is that of their rules.
 *
 * @param now in Unix seconds.
 */
export function checkDraft(draft: Draft, now: number): readonly Problem[] {
  const wrong = validateDraft(draft);
  const likely = likelyMistakes(draft, now);
  if (wrong.length === 0) return likely;
  return likely.length === 0 ? wrong : [...wrong, ...likely];
}

/** First what every row of an export may have, then field by field. */
function likelyMistakes(draft: Draft, now: number): readonly Problem[] {
  const { action } = draft;
  const problems: Problem[] = [];
  if (!draft.has("orderTime")) problems.push(...TIMELESS[action]);
  if (actionSpec(action).updates && changesNothing(draft)) problems.push(changeless(action));
  for (const given of draft.given) {
    const { name, text, value, fault } = given;
    if (value === null) continue;
    for (const flaw of flawsIn(given)) problems.push(problemOfFlaw(name, flaw));
    if (!TIMES.has(name) || text === undefined || fault?.rule === "field-type") continue;
    const mistake = mistakeOfTime(name, text, now);
    if (mistake !== undefined) problems.push(mistake);
  }
  if (draft.has("endTime")) problems.push(...mistakesOfSpan(timeOf(draft, "startTime"), timeOf(draft, "endTime")));
  return problems.length === 0 ? NONE : problems;
}

/** Of an action without orderTime, as whole exports may be. */
const TIMELESS = recordOf(ACTION_NAMES, (action): readonly Problem[] => {
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
const REFERENCES: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"]);

const changesNothing = (draft: Draft): boolean =>
  draft.given.every(({ name, value }) => REFERENCES.has(name) || value === null);

const changeless = (action: ActionName): Problem => ({
  rule: "update-without-change",
  action,
  pointer: "/data",
  message: `${action} changes nothing: it has no field but its id.`,
  hint: "Check whether a column was renamed or is empty; leave out rows that change nothing.",
});

const problemOfFlaw = (field: string, { rule, what, hint, text = "" }: Flaw): Problem => ({
  rule,
  ...about(field, withoutLogin(text)),
  message: `${field} ${what}.`,
  hint,
});

/** The digits of a time; undefined for what is no number. */
function timeOf(draft: Draft, field: FieldName): string | undefined {
  const { text, fault } = draft.get(field) ?? {};
  return fault?.rule === "field-type" ? undefined : text;
}

/** 2009-01-01: there was no blockchain before, and no ticket on it. */
const EARLIEST_ORDER = 1_230_768_000;
/** What was sold or scanned lies in the past; so far may clocks differ, and zones are further apart. */
const LATEST_ORDER_AHEAD = 15 * 60;
const FARTHEST_EVENT = 10 * 31_556_952;

/** The instants of 2001 to 2286 (2262 in nanoseconds) in each unit; as seconds they are thousands of years away. */
const FINER_UNITS = [
  { unit: "milliseconds", digits: 3, from: 1e12, below: 1e13 },
  { unit: "microseconds", digits: 6, from: 1e15, below: 1e16 },
  { unit: "nanoseconds", digits: 9, from: 1e18, below: 9.2e18 },
] as const;

const TIMES: ReadonlySet<string> = new Set(FIELD_NAMES.filter((name) => fieldSpec(name).kind === "u64"));

/** What is likely wrong with a time. `now` is that of the check, in Unix seconds. */
function mistakeOfTime(field: string, text: string, now: number): Problem | undefined {
  const time = Number(text);
  const finer = FINER_UNITS.find(({ from, below }) => time >= from && time < below);
  if (finer !== undefined && /^\d+$/.test(text)) {
    const seconds = text.slice(0, -finer.digits);
    const message = `${field} looks like ${finer.unit}; the service reads seconds.`;
    const hint = `Give ${seconds}, which is ${dated(seconds)}.`;
    return { rule: "looks-like-milliseconds", ...about(field, text), message, hint };
  }
  const far = farTime(field, text, now);
  return far && { ...about(field, text), ...far, hint: FAR_HINT };
}

const FAR_HINT = "Check that the right column is mapped, and that its day, month, year and zone are read as intended.";

/** A zero says that the start or end of an event is not known. */
function farTime(field: string, text: string, now: number): Pick<Problem, "rule" | "message"> | undefined {
  const time = Number(text);
  if (field !== "orderTime") {
    if (time <= 0 || (time >= now - FARTHEST_EVENT && time <= now + FARTHEST_EVENT)) return undefined;
    return { rule: "event-time-far", message: `${field} is ${dated(text)}, more than ten years from now.` };
  }
  if (time >= EARLIEST_ORDER && time <= now + LATEST_ORDER_AHEAD) return undefined;
  const why = time < EARLIEST_ORDER ? "before there were such tickets" : "which is in the future";
  return { rule: "order-time-far", message: `orderTime is ${dated(text)}, ${why}.` };
}

/** An event that ends before it starts. Zero is the default and means that nothing is known. */
function mistakesOfSpan(start = "0", end = "0"): readonly Problem[] {
  if (Number(end) === 0 || !(Number(end) < Number(start))) return NONE;
  return [
    {
      rule: "end-before-start",
      ...about("endTime", end),
      message: `The event ends (${dated(end)}) before it starts (${dated(start)}).`,
      hint: "Check whether the two are mixed up or their zones differ.",
    },
  ];
}

/** A time for a message: as a date where it is one, else as the number it is. */
const dated = (seconds: string): string => utcText(Number(seconds)) ?? seconds;
