/** Which actions are the same deed, so that none is sent twice. */

import { hash } from "node:crypto";
import { type Action, actionSpec } from "./actions.ts";
import { fieldSpec, isFieldName } from "./fields.ts";
import { parseJson, stringifyJson } from "./json.ts";

/** The fields that name the deed, as text: equal for two actions exactly when they are the same deed or of one history. */
export function identityText({ action, data }: Action): string {
  const parts: string[] = [action];
  for (const field of actionSpec(action).identity.by) {
    if (field === "ticket") parts.push(data.ticketId == null ? `nft:${data.nftId ?? ""}` : `ticket:${data.ticketId}`);
    else parts.push(data[field] == null ? "" : `=${canonical(field, data[field])}`);
  }
  return stringifyJson(parts);
}

/** The same for a source that says itself what identifies its deeds. */
export function ownKeyText({ action }: Pick<Action, "action">, key: string): string {
  return stringifyJson([action, "key", key]);
}

/**
 * For actions that a promises file alone can't identify (it holds ids, and no times, buyers or contents): the text by
 * which an imported ledger remembers that there was such a deed on the ticket or event. Undefined where the ids suffice.
 */
export function importedIdentityText({ action, data }: Pick<Action, "action" | "data">): string | undefined {
  const { rule, by } = actionSpec(action).identity;
  const idsSuffice = rule === "once" && by.every((field) => field === "ticket" || field === "eventId");
  if (idsSuffice) return undefined;
  return stringifyJson(["imported", action, data.eventId ?? null, data.ticketId ?? null, data.nftId ?? null]);
}

/**
 * Everything the action says, in a canonical form: equal for two actions exactly when sending one instead of the other
 * would make no difference. The order of fields, `null` in updates, defaults that are sent or left out elsewhere, the
 * case of a 0x address and the spelling of metadataAttributes as text do not matter.
 */
export function contentText({ action, data }: Action): string {
  const { updates } = actionSpec(action);
  const said: unknown[] = [action];
  for (const name of Object.keys(data).sort()) {
    const value = (data as Readonly<Record<string, unknown>>)[name]; // an own key
    if (value == null || (!updates && isFieldName(name) && value === fieldSpec(name).default)) continue;
    said.push(name, name === "to" || name === "metadataAttributes" ? canonical(name, value) : value);
  }
  return stringifyJson(said);
}

function canonical(name: string, value: unknown): unknown {
  // The case of an address is a checksum, not a part of it.
  if (name === "to" && typeof value === "string") return /^0x/i.test(value) ? value.toLowerCase() : value;
  if (name !== "metadataAttributes") return value;
  const list = typeof value === "string" ? parsedOr(value) : value;
  if (!Array.isArray(list)) return list;
  return list.map((each) =>
    typeof each === "object" && each !== null ? Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)) : each,
  );
}

function parsedOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** 128 bits of SHA-256: with ten thousand million identities a chance meeting stays below 10^-18, so a hit needs no confirmation. */
export const DIGEST_BYTES = 16;

export function digestOf(text: string): Buffer {
  return Buffer.from(digestHex(text), "hex");
}

/** The same as hexadecimal text, which costs a third: Node makes no view of memory for it. */
export function digestHex(text: string): string {
  return hash("sha256", text).slice(0, DIGEST_BYTES * 2);
}
