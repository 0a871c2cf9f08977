/** Why the service rejected an action, in a sentence. Its answer stands whole in the promises file. */

import { parseJson } from "../actions/json.ts";
import type { Item } from "../ledger/ledger.ts";
import { cleanText } from "../text.ts";

/** Where services say why; no specification of theirs is known, so that nothing is taken for granted. */
const WORDS: ReadonlySet<string> = new Set(["message", "reason", "detail", "details", "description", "title"]);
const CODES: ReadonlySet<string> = new Set(["code", "errorCode", "error_code", "type"]);
const NESTED: ReadonlySet<string> = new Set(["error", "errors", "failure", "failures", "reasons", "messages"]);

/** As deep as errors are looked for in errors. */
const DEPTH = 4;

const MOST_CHARACTERS = 300;

export const rejectionText = (item: Pick<Item, "response">): string => `rejected by the service: ${answerText(item)}`;

/** `The event is not registered (event_not_found).`, or how to find out. */
export function answerText({ response }: Pick<Item, "response">): string {
  const words: string[] = [];
  const codes: string[] = [];
  const item = itemOf(response);
  collect(item, words, codes, DEPTH);
  const status = String((item as { readonly status?: unknown } | null | undefined)?.status ?? "");
  const said = [...new Set(words)].join("; ");
  const code = [...new Set(codes)].filter((each) => !said.includes(each)).join(", ");
  if (said === "" && code === "") return `status "${cleanText(status)}"; its answer is in the promises file.`;
  const why = said === "" ? code : code === "" ? said : `${said.replace(/[.!]+$/, "")} (${code})`;
  const text = cleanText(why, MOST_CHARACTERS);
  return `${text}${/[.!?…]$/.test(text) ? "" : "."}`;
}

function itemOf(response: string | undefined): unknown {
  try {
    return response === undefined ? undefined : parseJson(response);
  } catch {
    return response; // kept as text where it was none of JSON
  }
}

function collect(value: unknown, words: string[], codes: string[], depth: number): void {
  if (typeof value === "string") {
    if (value.trim() !== "") words.push(value.trim());
    return;
  }
  if (typeof value !== "object" || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, words, codes, depth - 1);
    return;
  }
  for (const [key, each] of Object.entries(value)) {
    if (NESTED.has(key)) collect(each, words, codes, depth - 1);
    else if (WORDS.has(key) && typeof each === "string" && each.trim() !== "") words.push(each.trim());
    else if (CODES.has(key) && (typeof each === "string" || typeof each === "number")) codes.push(String(each));
  }
}
