/** What makes two actions the same: their subject, their kind, and their mark (docs/guarantees.md, "What counts as already sent"). */

import { hash } from "node:crypto";
import { type Action, type ActionName, actionSpec } from "./actions.ts";
import { fieldSpec, isFieldName } from "./fields.ts";
import { parseJson, stringifyJson } from "./json.ts";
import { withoutNul } from "./nul.ts";

type Named = Pick<Action, "action" | "data">;

/** The ticket or event that an action is about: `t:<ticketId>`, `n:<nftId>` or `e:<eventId>`, as any database holds it. */
export function subjectOf({ action, data }: Named): string {
  if (actionSpec(action).about === "event") return withoutNul(`e:${data.eventId ?? ""}`);
  return withoutNul(data.ticketId == null ? `n:${data.nftId ?? ""}` : `t:${data.ticketId}`);
}

/** Whether the service would probably refuse it a second time: there is but one of its kind. It would take others again. */
export function isOnce(kind: ActionName): boolean {
  const { mark } = actionSpec(kind);
  return mark === "none" || mark === "recipient";
}

/** Whether the last one decides how things stand; a scan undoes nothing. */
export function overwrites(kind: ActionName): boolean {
  const { mark } = actionSpec(kind);
  return mark === "recipient" || mark === "content";
}

/**
 * What tells two actions of one kind of one ticket or event apart: nothing (`""`), the key of their source (`k:`), their time
 * (`t:`), a claim's recipient (`w:` a wallet, `u:` a user), or their content (`c:`).
 *
 * @param content as `textsOf` gives it.
 * @param key as the source's rule makes it.
 */
export function markOf({ action, data }: Named, content: string, key?: string): string {
  const { mark } = actionSpec(action);
  if (mark === "none") return "";
  if (key !== undefined) return plain(`k:${key}`);
  if (data.orderTime != null) return `t:${data.orderTime}`;
  if (mark === "recipient")
    return plain(data.to == null ? `u:${data.userId ?? ""}` : `w:${sameWallet(String(data.to))}`);
  return mark === "content" ? `c:${content}` : "";
}

/** The kind of a mark. Where one came or went, nothing tells which action an accepted one is. */
export const kindOfMark = (mark: string): string => mark.slice(0, 1);

/** Whether neither a time nor a key tells a second one of the same mark from the first. */
export const comesBack = (mark: string): boolean => /^[cuw]/.test(mark);

const NUMBER = /#\d+$/;
/** A mark that happens to end like a resent one gets a number, so that the two differ. */
const plain = (mark: string): string => withoutNul(NUMBER.test(mark) ? `${mark}#1` : mark);

/** The mark of an action that is sent for the `times`-th time. */
export const resentMark = (mark: string, times: number): string => (times === 1 ? mark : `${baseOf(mark)}#${times}`);

/** A mark without the number of a resent action. */
export const baseOf = (mark: string): string => (mark.includes("#") ? mark.replace(NUMBER, "") : mark);

/** How many times an action of this mark was sent. */
export const timesOf = (mark: string): number => Number(NUMBER.exec(mark)?.[0].slice(1) ?? 1);

/**
 * When it was, in Unix seconds. Beyond what a number holds exactly all times are equal; no one lives to see them. None where
 * the config lets something pass that is no time.
 */
export function timeOf({ data: { orderTime } }: Named): number | undefined {
  if (orderTime == null) return undefined;
  const time = Number(orderTime);
  if (time > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isSafeInteger(time) ? time : undefined;
}

/** Who has the ticket from now on. Of an event, the currency of its prices. */
export function ownerOf({ action, data }: Named): string | undefined {
  if (actionSpec(action).about === "event") return data.currency ?? undefined;
  return action === "soldTicket" || action === "resoldTicket" ? (data.userId ?? undefined) : undefined;
}

export interface ActionTexts {
  /** `{action, data}` as it is sent. */
  readonly json: string;
  /**
   * What the action says beside its ticket or event: equal for two of one kind and subject exactly when sending one instead of
   * the other makes no difference. The order of fields, `null`, defaults (but in updates, where they clear), the spelling of
   * numbers, the case of a 0x address and metadataAttributes as text do not matter. What is long is digested.
   */
  readonly content: string;
}

/** Longer contents are stored as their digest: 128 bits of SHA-256, so that no two meet by chance. */
const LONGEST_CONTENT = 32;
const DIGEST_CHARACTERS = 22;

/** Both texts at once, since what is costly is to write the values. */
export function textsOf({ action, data }: Named): ActionTexts {
  const { fields, places } = shapeOf(action, Object.keys(data));
  const values = data as Readonly<Record<string, unknown>>; // own keys
  const written: string[] = new Array(fields.length);
  let json = "";
  for (let at = 0; at < fields.length; at += 1) {
    const { name, key } = fields[at] as FieldShape; // within its length
    const value = values[name];
    if (value === undefined) continue;
    const text = typeof value === "string" ? JSON.stringify(value) : stringifyJson(value);
    written[at] = text;
    json += json === "" ? `${key}:${text}` : `,${key}:${text}`;
  }
  let content = "";
  for (const at of places) {
    const { name, key, omitted, canonical } = fields[at] as FieldShape; // places are of these
    const value = values[name];
    if (value == null || value === omitted) continue;
    const text = canonical === undefined ? written[at] : canonical(value);
    content += content === "" ? `${key}:${text}` : `,${key}:${text}`;
  }
  return { json: `{"action":"${action}","data":{${json}}}`, content: shortened(`{${content}}`) };
}

export const contentOf = (action: Named): string => textsOf(action).content;

const shortened = (text: string): string =>
  text.length <= LONGEST_CONTENT ? text : hash("sha256", text, "base64url").slice(0, DIGEST_CHARACTERS);

/** What the texts need to know of the fields of an action beside their values. */
interface Shape {
  readonly action: ActionName;
  readonly fields: readonly FieldShape[];
  /** The places of the fields that are content, in the order of their names. */
  readonly places: readonly number[];
}

interface FieldShape {
  readonly name: string;
  /** The name as JSON. */
  readonly key: string;
  /** The value that says the same as none. */
  readonly omitted: unknown;
  /** For a field whose value has several spellings. */
  readonly canonical: ((value: unknown) => string) | undefined;
}

/** The rows of a file have few shapes, so the last ones are kept. */
const SHAPES_KEPT = 16;
const shapes: Shape[] = [];
let oldest = 0;

function shapeOf(action: ActionName, names: readonly string[]): Shape {
  for (const shape of shapes) if (shape.action === action && isOf(shape.fields, names)) return shape;
  const { updates, about } = actionSpec(action);
  const subject: ReadonlySet<string> = new Set(about === "event" ? ["eventId"] : ["ticketId", "nftId"]);
  const shape: Shape = {
    action,
    fields: names.map((name) => ({
      name,
      key: JSON.stringify(name),
      omitted: !updates && isFieldName(name) ? fieldSpec(name).default : undefined,
      canonical: CANONICAL[name],
    })),
    places: names
      .map((name, at) => ({ name, at }))
      .filter(({ name }) => !subject.has(name))
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

const CANONICAL: Readonly<Record<string, (value: unknown) => string>> = {
  price: (value) => samePrice(String(value)),
  to: (value) => JSON.stringify(sameWallet(String(value))),
  metadataAttributes: (value) => stringifyJson(sameAttributes(value)),
};

const DECIMAL = /^0*(\d+?)(?:\.(\d*?)0*)?$/;

/** `18` of `18.00` and `018`. */
function samePrice(text: string): string {
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return JSON.stringify(text);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** The case of an address is a checksum, not a part of it. */
const sameWallet = (text: string): string => (/^0x/i.test(text) ? text.toLowerCase() : text);

function sameAttributes(value: unknown): unknown {
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

/** Whether two values of a field say the same. */
export function saysTheSame(name: string, one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  const canonical = CANONICAL[name] ?? stringifyJson;
  return canonical(one) === canonical(other);
}

/** An id that needs no other form, as almost all are: no blanks, no leading zeros, no decimals, nothing beyond ASCII. */
const ORDINARY = /^(?!0+\d+$)[!-~]+$/;
const DECIMALS = /^(\d+)[.,]0+$/;

/**
 * A subject in the one form in which ids are compared: NFKC, without what can't be seen, blanks and hyphens folded, without the leading zeros of a number
 * and without a `.0` behind it. Two ids that share it look like one.
 */
export function formOf(subject: string): string {
  const id = subject.slice(2);
  if (ORDINARY.test(id) && !DECIMALS.test(id)) return subject;
  const folded = id
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[\p{Pd}\u2212]/gu, "-");
  return `${subject.slice(0, 2)}${folded.replace(DECIMALS, "$1").replace(/^0+(?=\d+$)/, "")}`;
}
