/** What is wrong, or probably wrong, with one action by itself. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "../actions/actions.ts";
import { type Draft, type FieldSet, itemOf, numberOf, setOf } from "../actions/draft.ts";
import { isJsonObject } from "../actions/exact-number.ts";
import { type FieldKind, type FieldName, fieldSpec, recordOf } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { type Flaw, flawInId, flawInName, flawInUrl, flawInWords, withoutLogin } from "../actions/likely.ts";
import { about, type Finding } from "../actions/problem.ts";
import { NONE, validateItem } from "../actions/validate.ts";
import { mistakesOfSpan, mistakesOfTime } from "./times.ts";

/**
 * Everything that is wrong with an item of a request body, and what is likely a mistake in it. Their severity is that
 * of their rules.
 *
 * @param now - in Unix seconds; without it no time is compared with today.
 */
export function checkAction(item: unknown, now?: number): readonly Finding[] {
  const wrong = validateItem(item);
  if (!isJsonObject(item) || !isJsonObject(item.data)) return wrong;
  const { action, data } = item;
  if (typeof action !== "string" || !isActionName(action)) return wrong;
  const likely = likelyMistakes(action, data, now);
  return likely.length === 0 ? wrong : [...wrong, ...likely];
}

/**
 * The same of an action as it was read: what is ordinary and complete costs a few comparisons.
 *
 * @param now in Unix seconds.
 */
export function checkDraft(draft: Draft, now: number): readonly Finding[] {
  const { action, given } = draft;
  if (!draft.isOrdinary || !COMPLETE[action](given) || !areNear(draft, now)) return checkAction(itemOf(draft), now);
  return (given & ORDER_TIME) === 0 ? TIMELESS[action] : NONE;
}

const ORDER_TIME = setOf(["orderTime"]);

/** What an update is about; without anything else it changes nothing. */
const REFERENCES: readonly FieldName[] = ["eventId", "ticketId", "nftId"];
const isReference = (name: string): boolean => REFERENCES.some((reference) => reference === name);

/** Whether an action is complete with the fields that are given, and an update changes something. */
const COMPLETE = recordOf(ACTION_NAMES, (action) => {
  const { required, exclusive, anyOf, updates } = actionSpec(action);
  const [all, one, some] = [setOf(required), setOf(exclusive), setOf(anyOf)];
  const changes = updates ? ~setOf(REFERENCES) : 0;
  return (given: FieldSet): boolean => {
    const chosen = given & one;
    return (
      (given & all) === all &&
      (one === 0 || (chosen !== 0 && (chosen & (chosen - 1)) === 0)) &&
      (some === 0 || (given & some) !== 0) &&
      (changes === 0 || (given & changes) !== 0)
    );
  };
});

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

/** Whether nothing is wrong with the times of an ordinary draft. */
function areNear({ text }: Draft, now: number): boolean {
  for (const { field, number } of TIMES) {
    const time = text[number];
    if (time !== undefined && mistakesOfTime(field, Number(time), now) !== NONE) return false;
  }
  const [start = 0, end = 0] = [Number(text[START] ?? 0), Number(text[END] ?? 0)];
  return end === 0 || start <= end;
}

const TIMES = (["orderTime", "startTime", "endTime"] as const).map((field) => ({ field, number: numberOf(field) }));
const [START, END] = [numberOf("startTime"), numberOf("endTime")];

type Data = Readonly<Record<string, unknown>>;

/** First what every row of an export may have, then field by field. */
function likelyMistakes(action: ActionName, data: Data, now: number | undefined): readonly Finding[] {
  const { updates } = actionSpec(action);
  const findings: Finding[] = [];
  if (data.orderTime == null) findings.push(...TIMELESS[action]);
  // Null, as what is left out, changes nothing.
  if (updates && !Object.keys(data).some((name) => data[name] != null && !isReference(name)))
    findings.push({
      rule: "update-without-change",
      action,
      pointer: "/data",
      message: `${action} changes nothing: it has no field but its id.`,
      hint: "Check whether a column was renamed or is empty; leave out rows that change nothing.",
    });
  for (const field of LOOKED_INTO[action]) findings.push(...mistakesOf(field, data[field], now));
  findings.push(...mistakesOfSpan(data.startTime, data.endTime));
  return findings;
}

/** The fields of each action in which mistakes are looked for. Attributes, which a rule may let in anywhere, are always among them. */
const LOOKED_INTO = recordOf(ACTION_NAMES, (action) => [
  ...new Set<FieldName>([...acceptedFields(action), "metadataAttributes"]),
]);

/** What is looked for in texts of each kind. */
const FLAWS: Partial<Record<FieldKind, (text: string) => Flaw | undefined>> = {
  id: flawInId,
  nftId: flawInId,
  wallet: flawInName,
  text: flawInWords,
  url: flawInUrl,
};

function mistakesOf(field: FieldName, value: unknown, now: number | undefined): readonly Finding[] {
  if (field === "metadataAttributes") return mistakesOfAttributes(value);
  if (typeof value === "number" || typeof value === "bigint")
    return fieldSpec(field).kind === "u64" ? mistakesOfTime(field, value, now) : NONE;
  if (typeof value !== "string") return NONE;
  const flaw = FLAWS[fieldSpec(field).kind]?.(value);
  if (flaw !== undefined) return [flawIn(field, value, flaw)];
  return field === "callbackUrl" ? mistakesOfCallback(value) : NONE;
}

const flawIn = (field: FieldName, value: string, { rule, what, hint }: Flaw): Finding => ({
  rule,
  ...about(field, withoutLogin(value)),
  message: `${field} ${what}.`,
  hint,
});

/** One mistake of each rule. */
function mistakesOfAttributes(attributes: unknown): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const text of textsIn(attributes)) {
    const flaw = flawInWords(text);
    if (flaw !== undefined && !found.has(flaw.rule)) found.set(flaw.rule, flawIn("metadataAttributes", text, flaw));
  }
  return [...found.values()];
}

/** The texts of a list of attributes, or of one in JSON; what is no such list has another finding. */
function textsIn(attributes: unknown): readonly string[] {
  if (typeof attributes === "string") {
    try {
      return textsIn(Array.from(Object(parseJson(attributes))));
    } catch {
      return [];
    }
  }
  if (!Array.isArray(attributes)) return [];
  return attributes.flatMap((attribute) =>
    Object.values(Object(attribute)).filter((value) => typeof value === "string"),
  );
}

/** A host that only one's own machine or network knows, as the URL parser writes hosts. */
const PRIVATE_HOST =
  /^(?:0|10|127|22[4-9]|2[3-5]\d|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$|^\[(?:::|f[cdef])|\.(?:localhost|local|internal|intranet|lan|corp|home|test|home\.arpa)$|^[^.[]*$/;

function mistakesOfCallback(url: string): readonly Finding[] {
  const hostname = URL.parse(url)?.hostname.replace(/\.$/, "");
  if (hostname === undefined || !PRIVATE_HOST.test(hostname)) return NONE;
  return [
    {
      rule: "callback-not-public",
      ...about("callbackUrl", url),
      message: `callbackUrl leads to ${hostname}, which only your own machine or network can reach.`,
      hint: "The service calls it from outside: give a public address, or leave it out.",
    },
  ];
}
