/** What the answer about one promise means, as a flat ladder. Pure. */

import { isJsonObject } from "../actions/exact-number.ts";
import { parseJson } from "../actions/json.ts";
import { cleanText } from "../text.ts";
import { describe } from "./answer.ts";
import { shownOf } from "./content-codings.ts";
import type { AnswerHeaders, Exchange } from "./exchange.ts";

export type StatusReading =
  | { readonly kind: "status"; readonly status: string }
  /** The answer does not say: another promise, no status, or no JSON. */
  | { readonly kind: "unreadable"; readonly detail: string }
  /** Worth asking again: asking changes nothing. */
  | { readonly kind: "later"; readonly detail: string; readonly headers: AnswerHeaders; readonly reached: boolean }
  | { readonly kind: "authentication failed"; readonly detail: string; readonly body: string }
  | { readonly kind: "refused"; readonly detail: string; readonly body: string };

/** How a promise can end: no later answer says otherwise. */
const FINAL_STATUSES = ["confirmed", "no_broadcast_required", "error", "wont_broadcast"] as const;

/** Those that mean that the action did not reach the blockchain, though it should have. */
export const FAILED_STATUSES: readonly string[] = [
  "error",
  "wont_broadcast",
] satisfies readonly (typeof FINAL_STATUSES)[number][];

/** Those of a promise that is still on its way. */
export const OPEN_STATUSES = ["waiting_broadcast", "waiting_funds", "pending"] as const;

/** What is noted of a promise that the service does not know. */
export const NOT_FOUND = "not found";

export const isFinal = (status: string): boolean => FINAL_STATUSES.some((each) => each === status);

const KNOWN: ReadonlySet<string> = new Set([...FINAL_STATUSES, ...OPEN_STATUSES]);

/** More of a word that is not known would be no word. */
const MOST_STATUS_CHARACTERS = 60;

/** @param actionPromise what was asked about. */
export function readStatus(exchange: Exchange, actionPromise: string): StatusReading {
  if (exchange.kind !== "answer")
    return { kind: "later", detail: describe(exchange.error), headers: {}, reached: exchange.kind === "lost" };
  const { status, headers, whole, error } = exchange;
  const detail = `HTTP ${status}`;
  if (status === 401 || status === 403) return { kind: "authentication failed", detail, body: shownOf(exchange) };
  if (status === 404 || status === 410) return { kind: "status", status: NOT_FOUND };
  // Asking again would not help: a service that does not do this says so at once.
  if (status === 501)
    return { kind: "refused", detail: `${detail}, not implemented by the service`, body: shownOf(exchange) };
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return { kind: "later", detail, headers, reached: true };
  if (status < 200 || status >= 300) {
    const to = headers.location === undefined ? "" : ` to ${headers.location}; redirects are not followed`;
    return { kind: "refused", detail: `${detail}${to}`, body: shownOf(exchange) };
  }
  if (!whole) {
    const why = error === undefined ? "" : ` (${describe(error)})`;
    return { kind: "unreadable", detail: `the answer was cut off, or is too long${why}` };
  }
  return readBody(exchange.body, actionPromise);
}

/**
 * The specification does not show this answer. A status is looked for where one would stand: under `status` of the answer or,
 * where that is about the request, of its `data`. If a promise is named beside it, it must be the one that was asked about.
 * What may be about the request alone is no end of a promise: it would never be asked about again.
 */
function readBody(body: Buffer, actionPromise: string): StatusReading {
  const unreadable = (detail: string): StatusReading => ({ kind: "unreadable", detail });
  let answer: unknown;
  try {
    answer = parseJson(body.toString("utf8"));
  } catch {
    return unreadable("the answer is not JSON");
  }
  if (!isJsonObject(answer)) return unreadable("the answer is no JSON object");
  const places = [answer, ...(isJsonObject(answer.data) ? [answer.data] : [])];
  const other = places
    .map((place) => place.actionPromise)
    .find((named) => named !== undefined && named !== actionPromise);
  if (other !== undefined) return unreadable("the answer is about another promise");
  const given = places
    .map((place) => place.status)
    .filter((status) => typeof status === "string" && status.trim() !== "");
  const words = given.map((status) => cleanText(String(status).trim(), MOST_STATUS_CHARACTERS));
  const known = [...new Set(words.filter((word) => KNOWN.has(word)))];
  if (known.length > 1) return unreadable(`the answer gives two statuses, "${known.join('" and "')}"`);
  const status = known[0] ?? words.at(-1);
  if (status === "error" && places.every((place) => place.actionPromise === undefined))
    return unreadable('the answer says "error" and names no promise, so the request may have failed');
  return status === undefined ? unreadable("the answer has no status") : { kind: "status", status };
}
