/** What makes two actions the same: their subject, their kind, and their mark (docs/guarantees.md, "What counts as already sent"). */

import { hash } from "node:crypto";
import { ACTION_NAMES, type ActionName, type ActionSpec, acceptedFields, actionSpec } from "./actions.ts";
import { type Draft, type Given, jsonIn } from "./draft.ts";
import { FIELD_NAMES, fieldSpec, recordOf } from "./fields.ts";
import { quote } from "./json.ts";
import { KINDS } from "./kinds.ts";
import { plainMark, withoutNul } from "./marks.ts";

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
  /** The event of a ticket, where the action or its row names it; as any database holds it. */
  readonly event: string | undefined;
  /** Who has the ticket from now on, likewise. Of an event, the currency of its prices. */
  readonly owner: string | undefined;
  /** How many decimals its price uses. */
  readonly decimals: number | undefined;
  /** `{action, data}` as it is sent. */
  readonly json: string;
}

/** @param eventOfRow counts where the action itself names no event. */
export function identityOf(draft: Draft, eventOfRow?: string): Identity {
  const { action } = draft;
  const isOfEvent = actionSpec(action).about === "event";
  const content = contentOf(draft);
  const sells = action === "soldTicket" || action === "resoldTicket";
  const price = draft.text("price");
  const event = isOfEvent ? undefined : (draft.text("eventId") ?? eventOfRow);
  const owner = isOfEvent ? draft.text("currency") : sells ? draft.text("userId") : undefined;
  return {
    subject: subjectOf(draft, isOfEvent),
    mark: markOf(draft, content),
    content,
    time: timeOf(draft.text("orderTime")),
    event: event && withoutNul(event),
    owner: owner && withoutNul(owner),
    decimals: price === undefined ? undefined : decimalsOf(price),
    json: jsonOf(draft),
  };
}

function subjectOf(draft: Draft, isOfEvent: boolean): string {
  if (isOfEvent) return withoutNul(`e:${draft.text("eventId") ?? ""}`);
  const ticketId = draft.text("ticketId");
  return withoutNul(ticketId === undefined ? `n:${draft.text("nftId") ?? ""}` : `t:${ticketId}`);
}

export function markOf(draft: Draft, content: string): string {
  const { mark } = actionSpec(draft.action);
  if (mark === "none") return "";
  if (draft.key !== undefined) return plainMark(`k:${draft.key}`);
  const time = draft.text("orderTime");
  if (time !== undefined) return `t:${time}`;
  if (mark === "content") return `c:${content}`;
  if (mark === "time") return "";
  const wallet = draft.text("to");
  return plainMark(
    wallet === undefined
      ? `u:${draft.text("userId") ?? ""}`
      : `w:${/^0x/i.test(wallet) ? wallet.toLowerCase() : wallet}`,
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

function jsonOf({ action, given }: Draft): string {
  let members = "";
  for (const each of given) members += `${members === "" ? "" : ","}${headOf(each.name)}${jsonIn(each)}`;
  return `{"action":"${action}","data":{${members}}}`;
}

/** What stands before the value of a field in JSON. */
const HEADS: ReadonlyMap<string, string> = new Map(FIELD_NAMES.map((name) => [name, `"${name}":`]));

const headOf = (name: string): string => HEADS.get(name) ?? `${quote(name)}:`;

/** Longer contents are stored as their digest: 128 bits of SHA-256, so that no two meet by chance. */
const LONGEST_CONTENT = 32;
const DIGEST_CHARACTERS = 22;

function contentOf({ action, given }: Draft): string {
  const { about, updates } = actionSpec(action);
  let members = "";
  for (const each of inOrder(action, given)) {
    if (each === undefined || each.value === null || isReference(each.name, about)) continue;
    const { none, canonical } = SPELLINGS.get(each.name) ?? AS_IT_IS;
    const json = jsonIn(each);
    if (json === none && !updates) continue;
    members += `${members === "" ? "" : ","}${headOf(each.name)}${canonical === undefined ? json : canonical(json)}`;
  }
  const content = `{${members}}`;
  return content.length <= LONGEST_CONTENT ? content : hash("sha256", content, "base64url").slice(0, DIGEST_CHARACTERS);
}

/** Whether a field names the event or ticket, and so is no content. */
const isReference = (name: string, about: ActionSpec["about"]): boolean =>
  about === "event" ? name === "eventId" : name === "ticketId" || name === "nftId";

/** Where each field of an action stands in the order of their names. */
const PLACES = recordOf(
  ACTION_NAMES,
  (action): ReadonlyMap<string, number> =>
    new Map(
      acceptedFields(action)
        .toSorted()
        .map((name, place) => [name, place]),
    ),
);

/** What is given in the order of names, with gaps for what is not. */
function inOrder(action: ActionName, given: readonly Given[]): readonly (Given | undefined)[] {
  const places = PLACES[action];
  const ordered = new Array<Given | undefined>(places.size);
  for (const each of given) {
    const place = places.get(each.name);
    if (place === undefined) return given.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    ordered[place] = each;
  }
  return ordered;
}

interface Spelling {
  /** The JSON that says the same as none. */
  readonly none?: string | undefined;
  /** Gives its JSON in one spelling, where it has several. */
  readonly canonical?: ((json: string) => string) | undefined;
}

const SPELLINGS: ReadonlyMap<string, Spelling> = new Map(
  FIELD_NAMES.map((name) => {
    const { kind, default: preset } = fieldSpec(name);
    return [name, { none: JSON.stringify(preset), canonical: KINDS[kind].canonical }];
  }),
);
const AS_IT_IS: Spelling = {};

/** Whether two values of a field say the same. */
export function saysTheSame(name: string, one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  const inOneSpelling = SPELLINGS.get(name)?.canonical ?? ((json: string) => json);
  return inOneSpelling(JSON.stringify(one)) === inOneSpelling(JSON.stringify(other));
}
