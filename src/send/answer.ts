/** What an exchange with the service means for the chunk (docs/guarantees.md has the table), as a flat ladder. Pure. */

import { echoesEvent } from "../actions/actions.ts";
import { ExactNumber, isJsonObject, typeName } from "../actions/exact-number.ts";
import { elementsOf, parseJson, parseVerbatim, surveyJson } from "../actions/json.ts";
import type { Answer } from "../ledger/ledger.ts";
import { shownOf } from "./content-codings.ts";
import type { AnswerHeaders, Exchange } from "./exchange.ts";
import type { SeenPromises } from "./seen.ts";
import { folded, isRefusal, saysTaken, visible } from "./status-words.ts";

/** What an answer has to echo of an action that was sent. */
export interface SentAction {
  readonly action: string;
  readonly data: { readonly eventId?: unknown; readonly ticketId?: unknown; readonly nftId?: unknown };
}

/** Of each action what its answer has to echo. A whole request that is parsed at once takes several times its bytes. */
export function toBeEchoed(body: Uint8Array): readonly SentAction[] {
  const decoder = new TextDecoder();
  return elementsOf(body).map((element) => {
    const { action, data } = JSON.parse(decoder.decode(element)) as SentAction; // as the plan wrote it
    const { eventId, ticketId, nftId } = data;
    return { action, data: { eventId, ticketId, nftId } };
  });
}

export type Reading =
  | { readonly kind: "decided"; readonly items: readonly Answer[] }
  /** Safe to send again: the service has taken nothing. */
  | { readonly kind: "not sent"; readonly detail: string }
  | { readonly kind: "not taken"; readonly detail: string; readonly headers: AnswerHeaders }
  | { readonly kind: "authentication failed"; readonly detail: string; readonly body: string }
  | { readonly kind: "too large"; readonly detail: string }
  | { readonly kind: "refused"; readonly detail: string; readonly body: string }
  /** The environment's `retryStatuses` vouch that nothing was taken. */
  | { readonly kind: "retry"; readonly detail: string; readonly headers: AnswerHeaders }
  | { readonly kind: "in doubt"; readonly detail: string; readonly body: string };

/**
 * Decides what became of the chunk whose actions are `sent`, from what the client saw.
 *
 * @param seen the promises that the run was given before; an answer that decides adds its own.
 */
export function readExchange(
  exchange: Exchange,
  sent: readonly SentAction[],
  retryStatuses: readonly number[],
  seen: SeenPromises,
): Reading {
  switch (exchange.kind) {
    case "not sent":
      return { kind: "not sent", detail: describe(exchange.error) };
    case "lost":
      return { kind: "in doubt", detail: describe(exchange.error), body: "" };
    case "answer": {
      const { status, headers, whole, early, error } = exchange;
      const detail = `HTTP ${status}`;
      const text = shownOf(exchange);
      if (status >= 200 && status < 300) {
        const doubt = (why: string): Reading => ({ kind: "in doubt", detail: `${detail}, but ${why}`, body: text });
        if (early) return doubt("the answer came before the whole request was sent");
        if (!whole) return doubt(`the answer was cut off${error === undefined ? "" : ` (${describe(error)})`}`);
        const read = readAnswer(exchange, sent, seen);
        return typeof read === "string" ? doubt(read) : read;
      }
      if (retryStatuses.includes(status)) return { kind: "retry", detail, headers };
      if (status === 429) return { kind: "not taken", detail, headers };
      if (status === 401 || status === 403) return { kind: "authentication failed", detail, body: text };
      if (status === 413) return { kind: "too large", detail };
      if (status === 408 || status < 300 || status >= 500) return { kind: "in doubt", detail, body: text };
      return {
        kind: "refused",
        detail:
          headers.location === undefined ? detail : `${detail} to ${headers.location}; redirects are not followed`,
        body: text,
      };
    }
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * One outcome per action, or what is wrong with the answer as a whole ("Response body" of the specification). Other keys are
 * allowed: the specification does not exclude them.
 */
function readAnswer(
  { body, undecoded }: Extract<Exchange, { kind: "answer" }>,
  sent: readonly SentAction[],
  seen: SeenPromises,
): Extract<Reading, { kind: "decided" }> | string {
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    parsed = parseJson(text);
  } catch {
    if (undecoded !== undefined) return `the answer's content encoding is broken (${undecoded})`;
    return "the answer is not JSON";
  }
  const answer = toObject(parsed);
  if (answer !== undefined && Object.hasOwn(answer, "status") && answer.status !== "success")
    return `the answer's status is ${shortened(answer.status)}, not "success"`;
  const denied = answer === undefined ? undefined : denialOf(answer);
  if (denied !== undefined) return `the answer as a whole says ${denied}`;
  const data = answer?.data;
  if (!Array.isArray(data)) return "the answer has no list called data";
  if (data.length !== sent.length) return `the answer has ${data.length} items for ${sent.length} actions`;
  const twice = surveyJson(body).duplicate;
  if (twice !== undefined) return `the answer has the key ${shortened(twice)} twice`;
  const wholeItem = itemTexts(text);
  const given = new Set<string>();
  const items: Answer[] = [];
  for (const [at, action] of sent.entries()) {
    const item = toObject(data[at]);
    if (item === undefined) return `item ${at + 1} is ${shortened(data[at])}, not an object`;
    const status = typeof item.status === "string" ? item.status : "";
    const other = echoMismatch(action, item, status === "success");
    if (other !== undefined) return `item ${at + 1} ${other}`;
    const { actionPromise } = item;
    if (typeof actionPromise === "string" && !isNothing(actionPromise)) {
      if (given.has(actionPromise)) return `item ${at + 1} repeats the actionPromise ${shortened(actionPromise)}`;
      given.add(actionPromise);
    }
    const why = doubtOf(item);
    if (why === undefined && status === "success") {
      items.push({ outcome: "accepted", promise: String(actionPromise) });
      continue;
    }
    const response = wholeItem(at);
    if (response === undefined) return `item ${at + 1} nests too deeply`;
    if (why === undefined) items.push({ outcome: "rejected", response });
    else items.push({ outcome: "in doubt", response, why });
  }
  const repeated = seen.add(given);
  if (repeated !== undefined)
    return `the answer repeats the actionPromise ${shortened(repeated)} of an earlier action of this run`;
  return { kind: "decided", items };
}

/** Why only a person can say what became of an item. It is a "no" only if it says that its action was not taken, and nothing to the contrary. */
function doubtOf(item: JsonObject): string | undefined {
  const { status, actionPromise } = item;
  const hasPromise = !isNothing(actionPromise);
  if (status === "success") {
    if (actionPromise === undefined || actionPromise === null || actionPromise === "")
      return "success without an actionPromise";
    if (!hasPromise || !isIdentifier(actionPromise)) return "success with an actionPromise that can't be one";
    return denialOf(item) && "success beside an error, or something else that contradicts it";
  }
  if (hasPromise) return "an actionPromise beside a status other than success";
  if (typeof status !== "string" || visible(status) === "") return "an item whose status is missing or not text";
  if (folded(status) === "success") return "a status that is success in another spelling";
  if (hasPromiseElsewhere(item)) return "a promise under another key than actionPromise";
  const isPerhapsTaken = visible(status) === "1" || saysTaken(status) || saysTakenBeside(item);
  return isPerhapsTaken ? "a status that may mean that the service has it" : undefined;
}

/** Keys of an item that hold what became of its action, folded. */
const VERDICTS: ReadonlySet<string> = new Set([
  ...["status", "success", "ok", "accepted", "processed", "state", "result", "outcome"],
]);

/** Those that are answered by yes or no, so that 1 is a yes. */
const YES_OR_NO: ReadonlySet<string> = new Set(["success", "ok", "accepted", "processed"]);

/** Keys under which an item may wrap such keys. */
const WRAPPERS: ReadonlySet<string> = new Set(["result", "outcome"]);

const isWrapper = (name: string): boolean => WRAPPERS.has(name);

/**
 * The keys of an object, with their values, and folded; then the same of what it holds under the keys that are gone into. What
 * stands in a list has the key "".
 */
function* saidBy(
  item: JsonObject,
  isGoneInto: (name: string) => boolean = isWrapper,
): Generator<readonly [key: string, value: unknown, name: string]> {
  // A list of what is still to be looked at, since an item may nest deeper than calls can.
  const left: unknown[] = [item];
  while (left.length > 0) {
    const value = left.pop();
    if (Array.isArray(value)) for (const each of value) left.push(each);
    if (!isJsonObject(value)) yield ["", value, ""];
    else
      for (const [key, each] of Object.entries(value)) {
        const name = folded(key);
        yield [key, each, name];
        if (isGoneInto(name)) left.push(each);
      }
  }
}

/** Whether an item whose status is another than `success` says elsewhere that its action was taken. */
function saysTakenBeside(item: JsonObject): boolean {
  for (const [key, value, name] of saidBy(item)) {
    // A second status, as in `Status`, or in what is wrapped.
    if (key === "status" && value === item.status) continue;
    if (!VERDICTS.has(name) || !isPlain(value)) continue;
    const text = String(value);
    if (saysTaken(text) || (YES_OR_NO.has(name) && text === "1")) return true;
  }
  return false;
}

const isPlain = (value: unknown): boolean =>
  value !== null && (typeof value !== "object" || value instanceof ExactNumber);

/** Folded. Empty ones say that nothing went wrong. */
const ERROR_KEYS = [
  ...["error", "errors", "errormessage", "errormessages", "errorcode", "errorcodes"],
  ...["exception", "exceptions", "failure", "failures"],
];

/** Which values of a key say that something went wrong. */
const DENIALS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["success", (value: unknown) => value !== true],
  ...["ok", "accepted", "processed"].map((key) => [key, saysFalse] as const),
  // Not a number: it may be how many of the items failed.
  ...["failed", "rejected"].map((key) => [key, saysTrue] as const),
  ...["state", "result", "outcome"].map((key) => [key, saysRefused] as const),
  ...ERROR_KEYS.map((key) => [key, holdsSomething] as const),
]);

function saysTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && ["true", "yes"].includes(folded(value)));
}

function saysFalse(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === "string" && ["false", "no", "0"].includes(folded(value)));
}

function saysRefused(value: unknown): boolean {
  return value === false || (typeof value === "string" && isRefusal(value));
}

/** What an answer, or an item of it, says against its own `success`; undefined where it says nothing of the kind. */
function denialOf(value: JsonObject): string | undefined {
  for (const [key, each, name] of saidBy(value)) {
    const isSecondStatus = name === "status" && each !== value.status && saysRefused(each);
    if (isSecondStatus || DENIALS.get(name)?.(each) === true) return `${cut(key)}: ${shortenedJson(each)}`;
  }
  return undefined;
}

function holdsSomething(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === "" || value === "0") return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

/** How languages write that there is nothing. */
const NOTHING: ReadonlySet<string> = new Set(["", "null", "undefined", "none"]);

function isNothing(promise: unknown): boolean {
  if (promise === undefined || promise === null) return true;
  // Most promises have a digit, and none of those words has.
  return typeof promise === "string" && !/\d/.test(promise) && NOTHING.has(visible(promise).toLowerCase());
}

/** A promise in a text, as in an answer that was put into another as text. Without a digit it is a word: `actionPromise: missing`. */
const PROMISE_IN_TEXT = /action[\s_-]?promise\W{0,5}[:=]\W{0,5}[\w-]{0,64}\d/i;

/** Whether the item holds a promise under any other key that is called so, deeper inside, or in a text. */
function hasPromiseElsewhere(item: JsonObject): boolean {
  for (const [, value, name] of saidBy(item, () => true)) {
    if (typeof value === "string" && PROMISE_IN_TEXT.test(value)) return true;
    if (name.includes("promise") && holdsSomething(value) && !isNothing(value)) return true;
  }
  return false;
}

/** In characters; far beyond any form of identifier. */
const LONGEST_PROMISE = 4096;

/** Whether a promise can be kept exactly as it came. It need not be a UUID. */
function isIdentifier(promise: unknown): boolean {
  return (
    typeof promise === "string" &&
    promise.length <= LONGEST_PROMISE &&
    !promise.includes("\0") &&
    promise.isWellFormed()
  );
}

const toObject = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

/**
 * Gives items as JSON text, with every number as it was written; undefined where they nest too deeply to be parsed or written.
 */
function itemTexts(text: string): (at: number) => string | undefined {
  let written: readonly unknown[] | undefined;
  return (at) => {
    try {
      // Only now: keeping the spelling costs several times the plain parse, and most answers accept everything.
      written ??= (parseVerbatim(text) as { readonly data: readonly unknown[] }).data; // the caller has seen it
      return JSON.stringify(written[at]);
    } catch {
      return undefined;
    }
  };
}

/**
 * Whether an item belongs to another action than the one at its place. A `success` item echoes the action and its ids; other
 * items need not echo anything, but what they echo must match.
 */
function echoMismatch({ action, data }: SentAction, item: JsonObject, success: boolean): string | undefined {
  return (
    mismatch("action", action, item.action, success) ??
    mismatch("eventId", data.eventId, item.eventId, success && echoesEvent(action)) ??
    mismatch("ticketId", data.ticketId, item.ticketId, success) ??
    mismatch("nftId", data.nftId, item.nftId, success)
  );
}

function mismatch(key: string, wanted: unknown, echoed: unknown, needed: boolean): string | undefined {
  if (wanted == null || echoed === wanted) return undefined;
  if (echoed === undefined || echoed === null)
    return needed ? `is not about ${key} ${shortened(wanted)}: it does not say what it is about` : undefined;
  // An id of digits may come back as a number.
  if (typeName(echoed) === "a number" && String(echoed) === String(wanted)) return undefined;
  return `is not about ${key} ${shortened(wanted)}: it says ${shortened(echoed)}`;
}

/** Long enough for every id. */
const MOST_SHOWN = 300;

function shortened(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return isJsonObject(value) ? "an object" : cut(JSON.stringify(value));
}

/**
 * With the contents of lists and objects, which tell a person why. The part of the answer that is shown may end before them.
 */
function shortenedJson(value: unknown): string {
  try {
    return cut(JSON.stringify(value));
  } catch {
    return shortened(value); // nests too deeply to be written
  }
}

const cut = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

export function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  if (error.message === "" || error.message === code) return code;
  return code === "Error" ? error.message : `${code}: ${error.message}`;
}
