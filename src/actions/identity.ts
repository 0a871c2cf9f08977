/** Which actions are the same deed, so that none is sent twice. */

import { hash } from "node:crypto";
import { type Action, type ActionData, actionSpec } from "./actions.ts";
import { fieldSpec, isFieldName } from "./fields.ts";
import { parseJson, stringifyJson } from "./json.ts";

/**
 * The kind of action and its event or ticket, as text: equal for two actions that may be the same deed, or are deeds of one
 * history. Whichever of ticketId and nftId an action carries names its ticket.
 */
export function identityText({ action, data }: Pick<Action, "action" | "data">): string {
  const subject =
    actionSpec(action).about === "ticket"
      ? data.ticketId == null
        ? `nft:${data.nftId ?? ""}`
        : `ticket:${data.ticketId}`
      : data.eventId == null
        ? ""
        : `=${data.eventId}`;
  return stringifyJson([action, subject]);
}

/**
 * The same for a source that says itself what identifies its rows. The deeds of one kind that a row gives share it: they are
 * told apart by what they say, since the number of one changes when the row's list grows at the front.
 */
export function ownKeyText({ action }: Pick<Action, "action">, key: string): string {
  return stringifyJson([action, "key", key]);
}

/**
 * For actions that a promises file alone can't identify (it holds ids, and no times, buyers or contents): the text by
 * which an imported ledger remembers that there was such a deed on the ticket or event. Undefined where the ids suffice.
 */
export function importedIdentityText({ action, data }: Pick<Action, "action" | "data">): string | undefined {
  if (actionSpec(action).identity === "once") return undefined;
  return stringifyJson(["imported", action, data.eventId ?? null, data.ticketId ?? null, data.nftId ?? null]);
}

/** What a claim says of who claims, where two claims can be compared by it. */
const RECIPIENT = ["to", "userId"] as const;

/** Whether two claims of one ticket can be the same deed: where both give `to` or userId, they give the same. */
export function recipientsAgree(one: ActionData, other: ActionData): boolean {
  return RECIPIENT.every((field) => {
    const [a, b] = [one[field], other[field]];
    return a == null || b == null || personText(canonical(field, a)) === personText(canonical(field, b));
  });
}

/** Who a user or a wallet is, also where another program writes its letters in another Unicode form. */
export const personText = (value: unknown): string | undefined =>
  value == null ? undefined : String(value).normalize();

/**
 * Everything the action says, in a canonical form: equal for two actions exactly when sending one instead of the other
 * would make no difference. The order of fields, `null` in updates, defaults that are sent or left out elsewhere, the
 * case of a 0x address and the spelling of metadataAttributes as text do not matter.
 */
export function contentText({ action, data }: Action): string {
  const { updates } = actionSpec(action);
  const omitted = (name: string): unknown => (!updates && isFieldName(name) ? fieldSpec(name).default : undefined);
  const said = Object.entries(data)
    .filter(([name, value]) => value != null && value !== omitted(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return stringifyJson([action, ...said.flatMap(([name, value]) => [name, canonical(name, value)])]);
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

/** Whether two values of a field say the same. */
export function saysTheSame(name: string, one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return stringifyJson(canonical(name, one)) === stringifyJson(canonical(name, other));
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

export const digestOf = (text: string): Buffer => Buffer.from(digestHex(text), "hex");

/** The same as hexadecimal text, which costs a third: Node makes no view of memory for it. */
export const digestHex = (text: string): string => hash("sha256", text).slice(0, DIGEST_BYTES * 2);
