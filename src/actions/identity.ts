/** What makes two actions the same: their subject, their kind, and their mark (docs/guarantees.md, "What counts as already sent"). */

import { hash } from "node:crypto";
import { actionSpec } from "./actions.ts";
import type { Draft } from "./draft.ts";
import { FIELD_NAMES, fieldSpec, isFieldName, numberOf } from "./fields.ts";
import { KINDS } from "./kinds.ts";
import { plainMark } from "./marks.ts";
import { withoutNul } from "./nul.ts";

/** What the plan and the ledger know an action by. */
export interface Identity {
  /** The ticket or event that it is about: `t:<ticketId>`, `n:<nftId>` or `e:<eventId>`, as any database holds it. */
  readonly subject: string;
  /**
   * What tells two actions of one kind of one ticket or event apart: nothing (`""`), the key of their source (`k:`), their
   * time (`t:`), a claim's recipient (`w:` a wallet, `u:` a user), or their content (`c:`).
   */
  readonly mark: string;
  /**
   * What the action says beside its ticket or event: equal for two of one kind and subject exactly when sending one instead
   * of the other makes no difference. The order of fields, `null`, defaults (but in updates, where they clear), the spelling
   * of numbers, the case of a 0x address and metadataAttributes as text do not matter. What is long is digested.
   */
  readonly content: string;
  /**
   * When it was, in Unix seconds. Beyond what a number holds exactly all times are equal; no one lives to see them. None
   * where the config lets something pass that is no time.
   */
  readonly time: number | undefined;
  /** The event of a ticket, where the action names it. */
  readonly event: string | undefined;
  /** Who has the ticket from now on. Of an event, the currency of its prices. */
  readonly owner: string | undefined;
  /** How many decimals its price uses. */
  readonly decimals: number | undefined;
  /** `{action, data}` as it is sent. */
  readonly json: string;
}

const [EVENT_ID, TICKET_ID, NFT_ID, USER_ID, CURRENCY, PRICE, TO, ORDER_TIME] = (
  ["eventId", "ticketId", "nftId", "userId", "currency", "price", "to", "orderTime"] as const
).map(numberOf) as [number, number, number, number, number, number, number, number]; // as many as names

export function identityOf(draft: Draft): Identity {
  const { action, text } = draft;
  const isOfEvent = actionSpec(action).about === "event";
  const content = contentOf(draft);
  const sells = action === "soldTicket" || action === "resoldTicket";
  return {
    subject: subjectOf(text, isOfEvent),
    mark: markOf(draft, content),
    content,
    time: timeOf(text[ORDER_TIME]),
    event: isOfEvent ? undefined : text[EVENT_ID],
    owner: isOfEvent ? text[CURRENCY] : sells ? text[USER_ID] : undefined,
    decimals: text[PRICE] === undefined ? undefined : decimalsOf(text[PRICE]),
    json: jsonOf(draft),
  };
}

function subjectOf(text: Draft["text"], isOfEvent: boolean): string {
  if (isOfEvent) return withoutNul(`e:${text[EVENT_ID] ?? ""}`);
  const ticketId = text[TICKET_ID];
  return withoutNul(ticketId === undefined ? `n:${text[NFT_ID] ?? ""}` : `t:${ticketId}`);
}

export function markOf({ action, text, key }: Draft, content: string): string {
  const { mark } = actionSpec(action);
  if (mark === "none") return "";
  if (key !== undefined) return plainMark(`k:${key}`);
  const time = text[ORDER_TIME];
  if (time !== undefined) return `t:${time}`;
  if (mark === "content") return `c:${content}`;
  if (mark === "time") return "";
  const wallet = text[TO];
  return plainMark(
    wallet === undefined ? `u:${text[USER_ID] ?? ""}` : `w:${/^0x/i.test(wallet) ? wallet.toLowerCase() : wallet}`,
  );
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Number(text);
  if (time > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isSafeInteger(time) ? time : undefined;
}

/** Decimals that a price really uses: 12.50 has one. Three are three, whatever the last is: they may be a group of thousands. */
function decimalsOf(price: string): number {
  const point = price.indexOf(".");
  if (point === -1) return 0;
  if (price.length - point - 1 === 3) return 3;
  let end = price.length;
  while (price.charCodeAt(end - 1) === 0x30) end -= 1;
  return end - point - 1;
}

/** By number of field, what stands before its value in JSON. */
const HEADS: readonly string[] = FIELD_NAMES.map((name) => `"${name}":`);
const headOf = (key: number | string): string =>
  typeof key === "number" ? (HEADS[key] ?? "") : `${JSON.stringify(key)}:`;

function jsonOf(draft: Draft): string {
  const { action, keys } = draft;
  let members = "";
  for (const key of keys) members += (members === "" ? "" : ",") + headOf(key) + draft.json(key);
  return `{"action":"${action}","data":{${members}}}`;
}

/** Longer contents are stored as their digest: 128 bits of SHA-256, so that no two meet by chance. */
const LONGEST_CONTENT = 32;
const DIGEST_CHARACTERS = 22;

const inOrder = FIELD_NAMES.toSorted().map(numberOf);
const CONTENT = {
  event: inOrder.filter((number) => number !== EVENT_ID),
  ticket: inOrder.filter((number) => number !== TICKET_ID && number !== NFT_ID),
} as const;
/** By number of field, the value that says the same as none. */
const DEFAULTS = FIELD_NAMES.map((name) => JSON.stringify(fieldSpec(name).default));

function contentOf(draft: Draft): string {
  const { about, updates } = actionSpec(draft.action);
  let members = "";
  for (const number of CONTENT[about]) {
    if ((draft.given & (1 << number)) === 0) continue;
    const json = draft.json(number);
    if (!updates && json === DEFAULTS[number]) continue;
    members += (members === "" ? "" : ",") + headOf(number) + (CANONICAL[number]?.(json) ?? json);
  }
  if (!draft.isSound)
    for (const key of draft.keys.filter((each) => typeof each === "string").sort())
      members += (members === "" ? "" : ",") + headOf(key) + draft.json(key);
  const content = `{${members}}`;
  return content.length <= LONGEST_CONTENT ? content : hash("sha256", content, "base64url").slice(0, DIGEST_CHARACTERS);
}

/** By number of field, its JSON in one spelling, where it has several. */
const CANONICAL = FIELD_NAMES.map((name) => KINDS[fieldSpec(name).kind].canonical);

/** Whether two values of a field say the same. */
export function saysTheSame(name: string, one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  const canonical = (isFieldName(name) ? CANONICAL[numberOf(name)] : undefined) ?? ((json: string) => json);
  return canonical(JSON.stringify(one)) === canonical(JSON.stringify(other));
}
