/** Which actions are the same deed, so that none is sent twice. */

import { hash } from "node:crypto";
import { type Action, type ActionData, type ActionName, actionSpec } from "./actions.ts";
import { fieldSpec, isFieldName } from "./fields.ts";
import { parseJson, quoteJson, stringifyJson } from "./json.ts";

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
  return `["${action}",${quoteJson(subject)}]`;
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

/** An action as text. */
export interface ActionTexts {
  /** `{action, data}` as it is sent. `action` comes first, so that the data can be cut out again. */
  readonly json: string;
  /**
   * Everything the action says, in a canonical form: equal for two actions exactly when sending one instead of the other
   * would make no difference. The order of fields, `null` in updates, defaults that are sent or left out elsewhere, the
   * case of a 0x address and the spelling of metadataAttributes as text do not matter.
   */
  readonly content: string;
}

/** Both texts at once, since what is costly is to write the values. */
export function textsOf({ action, data }: Action): ActionTexts {
  const { fields, places } = shapeOf(action, Object.keys(data));
  const written: string[] = new Array(fields.length);
  let json = `{"action":"${action}","data":{`;
  let isFirst = true;
  for (let at = 0; at < fields.length; at += 1) {
    const { name, key } = fields[at] as FieldShape; // within its length
    const value = (data as Readonly<Record<string, unknown>>)[name]; // an own key
    if (value === undefined) continue;
    const text = typeof value === "string" ? quoteJson(value) : stringifyJson(value);
    written[at] = text;
    json += isFirst ? `${key}:${text}` : `,${key}:${text}`;
    isFirst = false;
  }
  let content = `["${action}"`;
  for (let place = 0; place < places.length; place += 1) {
    const at = places[place] as number; // within its length
    const { name, key, omitted, isCanonical } = fields[at] as FieldShape;
    const value = (data as Readonly<Record<string, unknown>>)[name]; // an own key
    if (value == null || value === omitted) continue;
    content += `,${key},${isCanonical ? stringifyJson(canonical(name, value)) : written[at]}`;
  }
  return { json: `${json}}}`, content: `${content}]` };
}

/** The canonical form alone. */
export const contentText = (action: Action): string => textsOf(action).content;

/** What the texts need to know of the fields of an action beside their values. */
interface Shape {
  readonly action: ActionName;
  readonly fields: readonly FieldShape[];
  /** The places of the fields in the order of their names. */
  readonly places: readonly number[];
}

interface FieldShape {
  readonly name: string;
  /** The name as JSON. */
  readonly key: string;
  /** The value that says the same as none. */
  readonly omitted: unknown;
  readonly isCanonical: boolean;
}

/** The rows of a file have few shapes, so the last ones are kept. */
const SHAPES_KEPT = 16;
const shapes: Shape[] = [];
let oldest = 0;

function shapeOf(action: ActionName, names: readonly string[]): Shape {
  for (let at = 0; at < shapes.length; at += 1) {
    const shape = shapes[at] as Shape; // within its length
    if (shape.action === action && isOf(shape.fields, names)) return shape;
  }
  const { updates } = actionSpec(action);
  const shape: Shape = {
    action,
    fields: names.map((name) => ({
      name,
      key: quoteJson(name),
      omitted: !updates && isFieldName(name) ? fieldSpec(name).default : undefined,
      isCanonical: name === "to" || name === "metadataAttributes",
    })),
    places: names
      .map((name, at) => ({ name, at }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ at }) => at),
  };
  shapes[oldest] = shape;
  oldest = (oldest + 1) % SHAPES_KEPT;
  return shape;
}

function isOf(fields: readonly FieldShape[], names: readonly string[]): boolean {
  if (fields.length !== names.length) return false;
  for (let at = 0; at < names.length; at += 1) if (fields[at]?.name !== names[at]) return false;
  return true;
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
