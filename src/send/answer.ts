/** What an exchange with the service means for the chunk (docs/guarantees.md has the table), as a flat ladder. Pure. */

import { echoesEvent } from "../actions/actions.ts";
import { ExactNumber, isJsonObject, typeName } from "../actions/exact-number.ts";
import { duplicateKey, parseJson, parseVerbatim, stringifyJson } from "../actions/json.ts";
import type { Answer } from "../ledger/ledger.ts";
import type { SeenPromises } from "./seen.ts";
import { folded, isRefusal, saysTaken, visible } from "./status-words.ts";

/** What an answer has to echo of an action that was sent. */
export interface SentAction {
  readonly action: string;
  readonly data: { readonly eventId?: unknown; readonly ticketId?: unknown; readonly nftId?: unknown };
}

/** What the client saw of one request. */
export type Exchange =
  /** No byte of the request was written. */
  | { readonly kind: "not sent"; readonly error: Error }
  /** Bytes left, but not even the status of an answer came. */
  | { readonly kind: "lost"; readonly error: Error }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: AnswerHeaders;
      /** As far as it came. */
      readonly body: Buffer;
      /** The body came to its end. */
      readonly whole: boolean;
      /** It began before the whole request had been handed over. */
      readonly early: boolean;
      /** Why the body did not come to its end. */
      readonly error?: Error;
      /** Why the body could not be decoded by its Content-Encoding. It is as it came, which may be plain text all the same. */
      readonly undecoded?: string;
    };

export interface AnswerHeaders {
  readonly retryAfter?: string | undefined;
  readonly date?: string | undefined;
  readonly location?: string | undefined;
  readonly contentEncoding?: string | undefined;
}

export type Reading =
  | {
      readonly kind: "decided";
      readonly items: readonly Answer[];
      /** The answer has a `status` of its own, as the specification shows; it is `success` then. */
      readonly hasStatus: boolean;
    }
  /** Safe to send again: the service has taken nothing. */
  | { readonly kind: "not sent"; readonly detail: string }
  | { readonly kind: "not taken"; readonly detail: string; readonly headers: AnswerHeaders }
  | { readonly kind: "authentication failed"; readonly detail: string; readonly body: string }
  | { readonly kind: "too large"; readonly detail: string }
  | { readonly kind: "refused"; readonly detail: string; readonly body: string }
  /** The environment's `retryStatuses` vouch that nothing was taken. */
  | { readonly kind: "retry"; readonly detail: string; readonly headers: AnswerHeaders }
  | { readonly kind: "in doubt"; readonly detail: string; readonly body: string };

/** Why only a person can say what became of an item. */
export const ITEM_DOUBTS = {
  "no promise": "success without an actionPromise",
  "no identifier": "success with an actionPromise that can't be one",
  contradiction: "an actionPromise beside a status other than success",
  "no status": "an item whose status is missing or not text",
  "odd success": "a status that is success in another spelling",
  "odd promise": "a promise under another key than actionPromise",
  "success denied": "success beside an error, or something else that contradicts it",
  "perhaps taken": "a status that may mean that the service has it",
} as const;
type ItemDoubt = keyof typeof ITEM_DOUBTS;

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
      const { status, headers, body, whole, early, error, undecoded } = exchange;
      const detail = `HTTP ${status}`;
      const text = shownOf(exchange);
      if (status >= 200 && status < 300) {
        const doubt = (why: string): Reading => ({ kind: "in doubt", detail: `${detail}, but ${why}`, body: text });
        if (early) return doubt("the answer came before the whole request was sent");
        if (!whole) return doubt(`the answer was cut off${error === undefined ? "" : ` (${describe(error)})`}`);
        const read = readAnswer(body, sent, seen);
        if (read === NOT_JSON && undecoded !== undefined)
          return doubt(`the answer's content encoding is broken (${undecoded})`);
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

/** How much of an answer is kept to be shown to a person. */
const MOST_SHOWN_BYTES = 64 * 1024;

const NOT_JSON = "the answer is not JSON";

/** The codings of a Content-Encoding that change the body, in the order in which they were applied. */
export const codingsOf = (header = ""): string[] =>
  header
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");

/** The beginning of an answer as text; nothing of one that is still compressed. */
export function shownOf({ headers, body, whole, undecoded }: Extract<Exchange, { kind: "answer" }>): string {
  const shown = body.subarray(0, MOST_SHOWN_BYTES);
  const isCoded = codingsOf(headers.contentEncoding).length > 0 && (!whole || undecoded !== undefined);
  const isPlain = isCoded ? isBeginningOfUtf8(shown) : !shown.subarray(0, GZIP.length).equals(GZIP);
  return isPlain ? shown.toString("utf8") : "";
}

/** What gzip begins with, also where no header says so. */
const GZIP = Buffer.from([0x1f, 0x8b]);

function isBeginningOfUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * One outcome per action, or what is wrong with the answer as a whole ("Response body" of the specification). Other keys are
 * allowed: the specification does not exclude them.
 */
function readAnswer(
  body: Buffer,
  sent: readonly SentAction[],
  seen: SeenPromises,
): Extract<Reading, { kind: "decided" }> | string {
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    parsed = parseJson(text);
  } catch {
    return NOT_JSON;
  }
  const answer = toObject(parsed);
  const hasStatus = answer !== undefined && Object.hasOwn(answer, "status");
  if (hasStatus && answer.status !== "success")
    return `the answer's status is ${shortened(answer.status)}, not "success"`;
  const denied = answer === undefined ? undefined : denialOf(answer);
  if (denied !== undefined) return `the answer as a whole says ${denied}`;
  const data = answer?.data;
  if (!Array.isArray(data)) return "the answer has no list called data";
  if (data.length !== sent.length) return `the answer has ${data.length} items for ${sent.length} actions`;
  const twice = duplicateKey(text, parsed);
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
    else items.push({ outcome: "in doubt", response, why: ITEM_DOUBTS[why] });
  }
  const repeated = seen.add(given);
  if (repeated !== undefined)
    return `the answer repeats the actionPromise ${shortened(repeated)} of an earlier action of this run`;
  return { kind: "decided", items, hasStatus };
}

/** An item is a "no" only if it says that its action was not taken, and nothing to the contrary. */
function doubtOf(item: JsonObject): ItemDoubt | undefined {
  const { status, actionPromise } = item;
  const hasPromise = !isNothing(actionPromise);
  if (status === "success") {
    if (actionPromise === undefined || actionPromise === null || actionPromise === "") return "no promise";
    if (!hasPromise || !isIdentifier(actionPromise)) return "no identifier";
    return denialOf(item) === undefined ? undefined : "success denied";
  }
  if (hasPromise) return "contradiction";
  if (typeof status !== "string" || visible(status) === "") return "no status";
  if (folded(status) === "success") return "odd success";
  if (hasPromiseElsewhere(item)) return "odd promise";
  return visible(status) === "1" || saysTaken(status) || saysTakenBeside(item) ? "perhaps taken" : undefined;
}

/** Keys of an item that hold what became of its action, folded. */
const VERDICTS: ReadonlySet<string> = new Set([
  ...["status", "success", "ok", "accepted", "processed", "state", "result", "outcome"],
]);

/** Those that are answered by yes or no, so that 1 is a yes. */
const YES_OR_NO: ReadonlySet<string> = new Set(["success", "ok", "accepted", "processed"]);

/** Keys under which an item may wrap such keys. */
const WRAPPERS: ReadonlySet<string> = new Set(["result", "outcome"]);

/** The keys of an object, folded, and of what it wraps, with their values. */
function* saidBy(item: JsonObject): Generator<readonly [key: string, value: unknown, folded: string]> {
  // A list of what is still to be looked at, since an item may nest deeper than calls can.
  const left: unknown[] = [item];
  while (left.length > 0) {
    const value = left.pop();
    if (Array.isArray(value)) for (const each of value) left.push(each);
    if (!isJsonObject(value)) continue;
    for (const [key, each] of Object.entries(value)) {
      const name = folded(key);
      yield [key, each, name];
      if (WRAPPERS.has(name)) left.push(each);
    }
  }
}

/** Whether an item whose status is another than `success` says elsewhere that its action was taken. */
function saysTakenBeside(item: JsonObject): boolean {
  for (const [key, value, name] of saidBy(item)) {
    // A second status, as in `Status`, or in what is wrapped.
    if (key === "status" && value === item.status) continue;
    if (!VERDICTS.has(name)) continue;
    const isOne = YES_OR_NO.has(name) && isPlain(value) && String(value) === "1";
    if (isOne || (isPlain(value) && saysTaken(String(value)))) return true;
  }
  return false;
}

const isPlain = (value: unknown): boolean =>
  value !== null && (typeof value !== "object" || value instanceof ExactNumber);

/** Which values of a key say that something went wrong. */
const DENIALS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["success", (value: unknown) => value !== true],
  ...["ok", "accepted", "processed"].map((key) => [key, saysFalse] as const),
  // Not a number: it may be how many of the items failed.
  ...["failed", "rejected"].map((key) => [key, saysTrue] as const),
  ...["state", "result", "outcome"].map((key) => [key, saysRefused] as const),
  ...[
    "error",
    "errors",
    "errormessage",
    "errormessages",
    "errorcode",
    "errorcodes",
    "exception",
    "exceptions",
    "failure",
    "failures",
  ].map((key) => [key, holdsSomething] as const),
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
  // A list of what is still to be looked at, since an item may nest deeper than calls can.
  const left: unknown[] = [item];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string" && PROMISE_IN_TEXT.test(value)) return true;
    if (Array.isArray(value)) for (const each of value) left.push(each);
    if (!isJsonObject(value)) continue;
    for (const [key, each] of Object.entries(value)) {
      if (folded(key).includes("promise") && holdsSomething(each) && !isNothing(each)) return true;
      left.push(each);
    }
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
      return stringifyJson(written[at]);
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
  const isPlain = value === null || typeof value !== "object" || value instanceof ExactNumber;
  return cut(isPlain ? stringifyJson(value) : Array.isArray(value) ? "a list" : "an object");
}

/**
 * With the contents of lists and objects, which tell a person why. The part of the answer that is shown may end before them.
 */
function shortenedJson(value: unknown): string {
  try {
    return cut(stringifyJson(value));
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
