/**
 * Answers that say of every action that it was accepted, in the very words of which the reference has read a few (answer.ts):
 * only ids and promises differ. Any other answer goes to the reference.
 */

import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";
import { isAt } from "../../disk/buffers.ts";
import { packUuidAt, UUID_BYTES, UUID_LENGTH } from "../../ledger/block.ts";
import {
  type ActionsSent,
  type ChunkActions,
  ID_PLACES,
  IN_A_STEP,
  PLACES,
  selectActions,
  sentActions,
} from "../../plan/files/chunk-actions.ts";
import { type ItemOutcome, readExchange } from "../answer.ts";
import { createRunPromises } from "../run-promises.ts";

/** All actions of a chunk were accepted, each with a promise that is a UUID in lower case. */
export interface PlainAnswer {
  readonly body: Uint8Array;
  /** Where each promise begins in the body. */
  readonly starts: Int32Array;
  /** 16 bytes each. */
  readonly promises: Buffer;
}

/** Has the reference read some items of an answer, and reads what is like them. */
export interface PlainAnswers {
  /** In steps; undefined for an answer that the reference has to read. */
  read(body: Buffer, actions: ChunkActions): Generator<void, PlainAnswer | undefined>;
}

/** Answers from which is learnt. One whose words differ each time will not become plain. */
const MOST_LEARNT = 8;

export function plainAnswers(): PlainAnswers {
  let form: AnswerForm | undefined;
  let left = IS_FAST_PATH_ON ? MOST_LEARNT : 0;
  return {
    *read(body, actions) {
      const answer = form === undefined ? undefined : yield* readByForm(form, body, actions);
      if (answer !== undefined || left === 0) return answer;
      const learnt = learnFrom(body, actions, form);
      if (learnt === undefined) return undefined;
      left -= 1;
      form = learnt;
      yield;
      return yield* readByForm(learnt, body, actions);
    },
  };
}

type IdField = keyof typeof ID_PLACES;

const ID_FIELDS = Object.keys(ID_PLACES) as readonly IdField[]; // the keys of a constant object literal

/** The item of an action of one kind: pieces that are always the same, and what stands between them. */
interface ItemForm {
  /** One more than the holes. */
  readonly pieces: readonly Piece[];
  /** `promise`, or the place of an id. */
  readonly holes: readonly (number | "promise")[];
}

/** Bytes, and as many of them as fill words as such: they are compared four at a time. */
interface Piece {
  readonly bytes: Buffer;
  readonly words: Int32Array;
}

interface AnswerForm {
  readonly head: Buffer;
  readonly between: Buffer;
  readonly tail: Buffer;
  /** By `kindOf` its action. */
  readonly items: ReadonlyMap<number, ItemForm>;
}

/** The name of the action, told by some of its letters, and which ids it gives. */
function kindOf({ body, places }: ActionsSent, at: number): number {
  const base = at * PLACES;
  const name = (places[base] ?? 0) + NAME;
  const given = ID_FIELDS.reduce((bits, field) => bits * 2 + (places[base + ID_PLACES[field]] === 0 ? 0 : 1), 0);
  return LETTERS.reduce((sum, letter) => sum * 256 + (body[name + letter] ?? 0), given);
}

/** Places of letters by which no two names are alike; a test holds them to that. */
export const LETTERS = [0, 2, 6];

/** Where the name begins in an action as the planner writes it. */
const NAME = '{"action":"'.length;

// ---- learning ----

/** The form of an answer of which the reference takes some items as accepted: to read all of them takes it a hundred times as long. */
function learnFrom(body: Buffer, actions: ChunkActions, before: AnswerForm | undefined): AnswerForm | undefined {
  const sample = sampleOf(body, actions);
  if (sample === undefined) return undefined;
  const exchange = { kind: "answer", status: 200, headers: {}, body: sample.body, whole: true, early: false } as const;
  const reading = readExchange(exchange, sentActions(sample.actions), [], createRunPromises());
  if (reading.kind !== "decided" || !reading.hasStatus) return undefined;
  if (reading.items.some(({ outcome }) => outcome !== "accepted")) return undefined;
  return learnForm(sample.body, sample.actions, reading.items, before);
}

/** Items that are looked at of each kind: in one that repeats an id, it is not told where that belongs. */
const OF_A_KIND = 4;

/** An answer of fewer items: the first of all, and of each kind. Between and around them stands what stands there in the whole. */
function sampleOf(
  body: Buffer,
  actions: ChunkActions,
): { readonly body: Buffer; readonly actions: ActionsSent } | undefined {
  const text = body.toString("latin1");
  const spans = itemSpans(text) ?? [];
  const [first, second, last] = [spans[0], spans[1], spans.at(-1)];
  if (spans.length !== actions.count || first === undefined || last === undefined) return undefined;
  const chosen = new Map<number, string>();
  const kinds = new Map<number, number>();
  for (const [at, { start, end }] of spans.entries()) {
    const kind = kindOf(actions, at);
    const seen = kinds.get(kind) ?? 0;
    if (at > 1 && seen === OF_A_KIND) continue;
    kinds.set(kind, seen + 1);
    chosen.set(at, text.slice(start, end));
  }
  const between = second === undefined ? "" : text.slice(first.end, second.start);
  const sample = text.slice(0, first.start) + [...chosen.values()].join(between) + text.slice(last.end);
  return { body: Buffer.from(sample, "latin1"), actions: selectActions(actions, [...chosen.keys()]) };
}

function learnForm(
  body: Buffer,
  actions: ActionsSent,
  items: readonly ItemOutcome[],
  before: AnswerForm | undefined,
): AnswerForm | undefined {
  const text = body.toString("latin1");
  const spans = itemSpans(text);
  const [first, second, last] = [spans?.[0], spans?.[1], spans?.at(-1)];
  if (spans?.length !== actions.count || first === undefined || last === undefined) return undefined;
  const head = body.subarray(0, first.start);
  const tail = body.subarray(last.end);
  const between = second === undefined ? before?.between : body.subarray(first.end, second.start);
  const known = new Map(
    before !== undefined && head.equals(before.head) && tail.equals(before.tail) ? before.items : [],
  );
  for (const [at, { start, end }] of spans.entries()) {
    const kind = kindOf(actions, at);
    const item = items[at];
    if (known.has(kind) || item?.outcome !== "accepted") continue;
    const form = itemForm(text.slice(start, end), actions, at, item.actionPromise);
    if (form !== undefined) known.set(kind, form);
  }
  return { head: Buffer.from(head), between: Buffer.from(between ?? ","), tail: Buffer.from(tail), items: known };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the items of an answer stand, if it is sound JSON: in the list called data of its outermost object. */
function itemSpans(text: string): readonly Span[] | undefined {
  let at = skipBlanks(text, 0);
  if (text[at] !== "{") return undefined;
  at = skipBlanks(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = valueEnd(text, at);
    const key = text.slice(at, keyEnd);
    at = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    if (key === '"data"') return spansOfList(text, at);
    at = skipBlanks(text, valueEnd(text, at));
    if (text[at] === ",") at = skipBlanks(text, at + 1);
  }
  return undefined;
}

function spansOfList(text: string, list: number): readonly Span[] {
  const spans: Span[] = [];
  for (let at = skipBlanks(text, list + 1); text[at] === "{"; ) {
    const end = valueEnd(text, at);
    spans.push({ start: at, end });
    at = skipBlanks(text, end);
    if (text[at] === ",") at = skipBlanks(text, at + 1);
  }
  return spans;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (/[ \t\r\n\u00ef\u00bb\u00bf]/.test(text[at] ?? "")) at += 1; // the last three: a byte order mark
  return at;
}

/** The end of a JSON value, if it is sound JSON. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') {
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
      if (depth === 0) return at + 1;
    } else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
      if (depth < 0) return at;
    } else if (depth === 0 && (sign === "," || /\s/.test(sign ?? ""))) return at;
  }
  return text.length;
}

/** @param text of the item, a byte a character. */
function itemForm(text: string, actions: ActionsSent, at: number, promise: string): ItemForm | undefined {
  const holes: { readonly start: number; readonly end: number; readonly is: number | "promise" }[] = [];
  const hole = (key: string, value: string, is: number | "promise"): boolean => {
    const start = text.indexOf(value);
    if (start === -1 || text.includes(value, start + 1)) return false;
    if (!new RegExp(`"${key}"\\s*:\\s*$`).test(text.slice(0, start))) return false;
    // Without its quotes.
    holes.push({ start: start + 1, end: start + value.length - 1, is });
    return true;
  };
  if (!hole("actionPromise", `"${promise}"`, "promise")) return undefined;
  const said = JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Readonly<Record<string, unknown>>; // the reference has read it
  for (const field of ID_FIELDS) {
    const place = at * PLACES + ID_PLACES[field];
    const [start, end] = [actions.places[place] ?? 0, actions.places[place + 1] ?? 0];
    const isSaid = said[field] !== undefined && said[field] !== null;
    if (start === 0 && isSaid) return undefined;
    if (start === 0 || !isSaid) continue;
    const value = Buffer.from(actions.body.subarray(start, end)).toString("latin1");
    if (!hole(field, value, ID_PLACES[field])) return undefined;
  }
  holes.sort((one, other) => one.start - other.start);
  const ends = [0, ...holes.map(({ end }) => end)];
  const pieces = ends.map((end, number) => toPiece(Buffer.from(text.slice(end, holes[number]?.start), "latin1")));
  return { pieces, holes: holes.map(({ is }) => is) };
}

function toPiece(bytes: Buffer): Piece {
  return { bytes, words: Int32Array.from({ length: bytes.length >> 2 }, (_, at) => bytes.readInt32LE(4 * at)) };
}

// ---- reading ----

function* readByForm(form: AnswerForm, body: Buffer, actions: ChunkActions): Generator<void, PlainAnswer | undefined> {
  const { head, tail } = form;
  const { count } = actions;
  const answer = { body, starts: new Int32Array(count), promises: Buffer.allocUnsafe(count * UUID_BYTES) };
  let at = isAt(body, 0, head) ? head.length : -1;
  for (let from = 0; from < count && at !== -1; from += IN_A_STEP) {
    if (from > 0) yield;
    at = readItems(form, answer, at, actions, from, Math.min(from + IN_A_STEP, count));
  }
  const isWhole = at !== -1 && isAt(body, at, tail) && at + tail.length === body.length;
  return isWhole ? answer : undefined;
}

/**
 * Reads some items of an answer, by their numbers in it.
 *
 * @param start of the first, with what parts it from the one before.
 * @returns where the last ends; -1 where one is not of the form.
 */
function readItems(
  { between, items }: AnswerForm,
  { body, starts, promises }: PlainAnswer,
  start: number,
  actions: ChunkActions,
  from: number,
  to: number,
): number {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let at = start;
  let kind = -1;
  let item: ItemForm | undefined;
  for (let number = from; number < to && at !== -1; number += 1) {
    if (number > 0) at = isAt(body, at, between) ? at + between.length : -1;
    const next = kindOf(actions, number);
    if (next !== kind) item = items.get(next);
    kind = next;
    if (item === undefined || at === -1) return -1;
    at = readItem(item, body, view, at, actions, number, starts, promises);
  }
  return at;
}

/** Where the item ends; -1 for one that is not of the form. */
function readItem(
  { pieces, holes }: ItemForm,
  body: Uint8Array,
  view: DataView,
  from: number,
  { body: sent, places }: ChunkActions,
  number: number,
  starts: Int32Array,
  promises: Buffer,
): number {
  let at = from;
  for (let part = 0; part < pieces.length; part += 1) {
    const piece = pieces[part];
    if (piece === undefined || !isPieceAt(view, at, piece)) return -1;
    at += piece.bytes.length;
    const hole = holes[part];
    if (hole === undefined) continue;
    if (hole === "promise") {
      if (!packUuidAt(body, at, promises, number * UUID_BYTES)) return -1;
      starts[number] = at;
      at += UUID_LENGTH;
      continue;
    }
    const place = number * PLACES + hole;
    const [start, end] = [(places[place] ?? 0) + 1, (places[place + 1] ?? 0) - 1];
    for (let byte = start; byte < end; byte += 1, at += 1) if (body[at] !== sent[byte]) return -1;
  }
  return at;
}

function isPieceAt(view: DataView, from: number, { bytes, words }: Piece): boolean {
  if (from + bytes.length > view.byteLength) return false;
  let at = from;
  for (let word = 0; word < words.length; word += 1, at += 4) if (view.getInt32(at, true) !== words[word]) return false;
  for (let byte = at - from; byte < bytes.length; byte += 1, at += 1)
    if (view.getUint8(at) !== bytes[byte]) return false;
  return true;
}
