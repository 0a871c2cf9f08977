/** The actions of one chunk as the bytes that are sent, and where in them each action and its ids stand. */

import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { asBuffer, isAt } from "../../disk/buffers.ts";
import { atOnce } from "../../disk/turns.ts";

export interface ChunkActions {
  /** The request body: a JSON array of the actions. */
  readonly body: Uint8Array;
  readonly count: number;
  /** `PLACES` numbers for each. */
  readonly places: Int32Array;
  /** Reads an action by its place, from 0. */
  read(at: number): ReadAction;
  /** The lines of actions from a place to before another, each with a newline, as they stand in the plan. */
  lines(from: number, to: number): Buffer;
}

/** What is asked of actions by those who compare them with an answer. */
export type ActionsSent = Omit<ChunkActions, "lines">;

/** What an answer must echo of an action. */
export interface SentAction {
  readonly action: ActionName;
  readonly data: Readonly<Partial<Record<"eventId" | "ticketId" | "nftId", string | null | undefined>>>;
}

/**
 * Numbers that are kept of an action: start and end in the body of itself, then of the JSON of its ids. Both are 0 for an id
 * that it does not give.
 */
const PLACES = 8;
const [START, END] = [0, 1];
/** By id, where among them its start is. */
const ID_PLACES = { eventId: 2, ticketId: 4, nftId: 6 } as const;
const { eventId: EVENT, ticketId: TICKET, nftId: NFT } = ID_PLACES;

const [OPEN, CLOSE, COMMA, NEWLINE] = [0x5b, 0x5d, 0x2c, 0x0a];
const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x7b, 0x7d];

const HEAD = `{"action":"`;
const BETWEEN = `","data":{`;
const NAME_BYTES = ACTION_NAMES.map((name) => Buffer.from(`${name}"`));

/** How many ids an action gives at most, by its place among the names: one of those that exclude each other. */
const MOST_IDS = ACTION_NAMES.map((name) => {
  const { exclusive } = actionSpec(name);
  const isId = (field: string): boolean => Object.hasOwn(ID_PLACES, field);
  const others = acceptedFields(name).filter((field) => isId(field) && !exclusive.includes(field));
  return others.length + (exclusive.some(isId) ? 1 : 0);
});

/**
 * Turns lines of a plan into the request body, in place, and finds their ids on the way. Behind the ids that an action can
 * have, nothing of its line is looked at but where it ends.
 *
 * @param bytes one free byte and then the lines, each ending in a newline.
 */
export const toChunkActions = (bytes: Buffer, count: number): ChunkActions => atOnce(chunkActionSteps(bytes, count));

/** The same in steps. The bytes are not whole lines, nor a body, before the last. */
export function* chunkActionSteps(bytes: Buffer, count: number): Generator<void, ChunkActions> {
  const places = new Int32Array(count * PLACES);
  let at = 1;
  for (let from = 0; from < count; from += IN_A_STEP) {
    if (from > 0) yield;
    at = placeActions(bytes, at, places, from, Math.min(from + IN_A_STEP, count));
  }
  if (at !== bytes.length || places.at(END - PLACES) === 0)
    throw new Error("the plan's chunk has another number of actions than it says");
  bytes[0] = OPEN;
  bytes[bytes.length - 1] = CLOSE;
  return actionsAt(bytes, places);
}

/** Actions that are looked at in a step: it takes less than a millisecond. */
export const IN_A_STEP = 2500;

/**
 * Finds some actions of a chunk, by their numbers in it, and parts them by commas.
 *
 * @param start of the first.
 * @returns a place behind the last.
 */
function placeActions(bytes: Buffer, start: number, places: Int32Array, from: number, to: number): number {
  let at = start;
  let kind = 0;
  for (let number = from; number < to && at < bytes.length; number += 1) {
    const base = number * PLACES;
    places[base + START] = at;
    at += HEAD.length;
    kind = kindAt(bytes, at, kind);
    at = findIds(bytes, at + (NAME_BYTES[kind]?.length ?? 0) + BETWEEN.length - 1, MOST_IDS[kind] ?? 0, places, base);
    const end = bytes.indexOf(NEWLINE, at);
    if (end === -1 || bytes[end - 1] !== CLOSE_OBJECT || bytes[end - 2] !== CLOSE_OBJECT)
      throw new Error("the plan's actions are not as the planner writes them");
    places[base + END] = end;
    bytes[end] = COMMA;
    at = end + 1;
  }
  return at;
}

/**
 * @param from where the first key of an action's data begins.
 * @returns a place behind the last id.
 */
function findIds(bytes: Uint8Array, from: number, most: number, places: Int32Array, base: number): number {
  let at = from;
  for (let left = most; left > 0 && bytes[at] === QUOTE; ) {
    const key = at + 1;
    at = stringEnd(bytes, at) + 2;
    const place = placeOf(bytes, key, at - 2);
    const value = at;
    at = valueEnd(bytes, at);
    if (place !== 0 && bytes[value] !== NULL) {
      places[base + place] = value;
      places[base + place + 1] = at;
      left -= 1;
    }
    if (bytes[at] === COMMA) at += 1;
  }
  return at;
}

const NULL = 0x6e; // "n": a value that starts with it is null

/** The offset of the quote that ends the string which starts at `at`. */
function stringEnd(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  for (; end < bytes.length && bytes[end] !== QUOTE; end += 1) if (bytes[end] === BACKSLASH) end += 1;
  return end;
}

function valueEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] === QUOTE) return stringEnd(bytes, at) + 1;
  let depth = 0;
  for (let end = at; end < bytes.length; end += 1) {
    switch (bytes[end]) {
      case QUOTE:
        end = stringEnd(bytes, end);
        break;
      case OPEN_OBJECT:
      case OPEN:
        depth += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE:
        if (depth === 0) return end;
        depth -= 1;
        break;
      case COMMA:
        if (depth === 0) return end;
        break;
    }
  }
  return bytes.length;
}

const KEYS = [
  { key: Buffer.from("eventId"), place: EVENT },
  { key: Buffer.from("ticketId"), place: TICKET },
  { key: Buffer.from("nftId"), place: NFT },
] as const;

/** Where the places of an id are kept; 0 for any other field. */
function placeOf(bytes: Uint8Array, start: number, end: number): number {
  for (const { key, place } of KEYS) {
    if (end - start !== key.length) continue;
    let same = 0;
    while (same < key.length && bytes[start + same] === key[same]) same += 1;
    if (same === key.length) return place;
  }
  return 0;
}

/** One action of a chunk, read out of its bytes. */
interface ReadAction {
  readonly eventId: string | undefined;
  readonly ticketId: string | undefined;
  readonly nftId: string | undefined;
  readonly action: ActionName;
  /** The JSON text of its data. */
  readonly data: Uint8Array;
  /** Bytes of the action, without what separates it from the next. */
  readonly length: number;
}

function actionsAt(body: Uint8Array, places: Int32Array): ChunkActions {
  let text: string | undefined;
  const id = (from: number, to: number): string | undefined => {
    if (to === 0) return undefined;
    // A byte a character, so that taking a piece costs nothing; what is not ASCII is decoded by itself.
    text ??= asBuffer(body).toString("latin1");
    const plain = text.slice(from + 1, to - 1);
    if (PLAIN.test(plain) && body[from] === QUOTE) return plain;
    return parseJson(Buffer.from(body.buffer, body.byteOffset + from, to - from).toString("utf8")) as string; // a field of text, checked by the planner
  };
  return {
    body,
    count: places.length / PLACES,
    places,
    read(at) {
      const base = at * PLACES;
      const place = (which: number): number => places[base + which] ?? 0;
      const [start, end] = [place(START), place(END)];
      const action = nameAt(body, start + HEAD.length);
      return {
        action,
        eventId: id(place(EVENT), place(EVENT + 1)),
        ticketId: id(place(TICKET), place(TICKET + 1)),
        nftId: id(place(NFT), place(NFT + 1)),
        data: body.subarray(start + HEAD.length + action.length + BETWEEN.length - 1, end - 1),
        length: end - start,
      };
    },
    lines(from, to) {
      const start = places[from * PLACES + START] ?? 0;
      const lines = Buffer.from(body.subarray(start, (places[(to - 1) * PLACES + END] ?? 0) + 1));
      for (let at = from; at < to; at += 1) lines[(places[at * PLACES + END] ?? 0) - start] = NEWLINE;
      return lines;
    },
  };
}

const PLAIN = /^[ !#-[\]-~]*$/;

const nameAt = (body: Uint8Array, at: number): ActionName => ACTION_NAMES[kindAt(body, at, 0)] as ActionName; // one of them

/**
 * The place among the names of the one that begins at `at`.
 *
 * @param first which is looked for first.
 */
function kindAt(body: Uint8Array, at: number, first: number): number {
  if (isNameAt(body, at, first)) return first;
  const kind = NAME_BYTES.findIndex((_, number) => isNameAt(body, at, number));
  if (kind === -1) throw new Error("the plan holds an action of an unknown kind");
  return kind;
}

function isNameAt(body: Uint8Array, at: number, kind: number): boolean {
  const name = NAME_BYTES[kind];
  return name !== undefined && isAt(body, at, name);
}

/** What the answer to a chunk must echo. */
export function sentActions(chunk: ActionsSent): readonly SentAction[] {
  return Array.from({ length: chunk.count }, (_, at) => {
    const { action, eventId, ticketId, nftId } = chunk.read(at);
    return { action, data: { eventId, ticketId, nftId } };
  });
}
