/**
 * What is asked of every candidate again and again, beside its bytes: its size, its ids, its price and its time. So no
 * check across actions parses an action once more.
 *
 * A record of fixed width says how long each text is; the texts stand one after the other in a file of their own.
 */

import type { Action, ActionData, ActionName } from "../../actions/actions.ts";
import { U64_MAX } from "../../actions/formats.ts";
import { parseJson } from "../../actions/json.ts";
import { RECORD_BYTES, readOrigin, wordAt } from "../files/index-file.ts";
import type { RowMemory } from "./row-memory.ts";

/** Layout: bytes of the line and of the texts, marks, the texts' lengths (UTF-16 units), each u32; orderTime u64. */
export const FACTS_BYTES = 4 * 8 + 8;

/** The fields whose texts are facts; an nftId stands in the place of ticketId. */
export const FACT_FIELDS = ["eventId", "ticketId", "userId", "price", "currency"] as const;
const LENGTHS = 12;
const TIME = LENGTHS + 4 * FACT_FIELDS.length;
/** The length of a text that is not there. */
const ABSENT = 0xffff_ffff;

const TIMED = 0b1;
/** The ticket is named by its nftId. */
const BY_NFT = 0b10;
/** A value is none that the table allows, because its rule was turned off: the action itself is to be parsed. */
const IRREGULAR = 0b100;

/** Writes the record but for the sizes, and gives the texts. */
export function writeFacts(buffer: Buffer, at: number, { data }: Action): string {
  const { ticketId, nftId, orderTime } = data as Readonly<Record<string, unknown>>; // only checked where rules are on
  const byNft = ticketId == null && nftId != null;
  let marks = byNft ? BY_NFT : 0;
  if (ticketId != null && nftId != null) marks |= IRREGULAR;
  let texts = "";
  for (let number = 0; number < FACT_FIELDS.length; number += 1) {
    const name = FACT_FIELDS[number] ?? "eventId";
    const value: unknown = name === "ticketId" && byNft ? nftId : data[name];
    if (typeof value === "string") {
      buffer.writeUInt32LE(value.length, at + LENGTHS + 4 * number);
      texts += value;
    } else {
      if (value != null) marks |= IRREGULAR;
      buffer.writeUInt32LE(ABSENT, at + LENGTHS + 4 * number);
    }
  }
  if (isTime(orderTime)) {
    marks |= TIMED;
    if (typeof orderTime === "bigint") buffer.writeBigUInt64LE(orderTime, at + TIME);
    else {
      buffer.writeUInt32LE(orderTime % 0x1_0000_0000, at + TIME);
      buffer.writeUInt32LE(Math.floor(orderTime / 0x1_0000_0000), at + TIME + 4);
    }
  } else buffer.fill(0, at + TIME, at + TIME + 8);
  buffer.writeUInt32LE(marks, at + 8);
  return texts;
}

/** What a plain candidate says: texts as places in a memory; -1 where there is none. */
export interface PlainFacts {
  /** One for each of `FACT_FIELDS`. */
  readonly factFrom: Int32Array;
  readonly factTo: Int32Array;
  readonly byNft: boolean;
  /** Its orderTime. */
  readonly time: number | undefined;
}

/** The same for a plain candidate, whose texts are copied to `textAt`; gives their end. */
export function writePlainFacts(
  memory: RowMemory,
  at: number,
  { factFrom, factTo, byNft, time }: PlainFacts,
  textAt: number,
): number {
  const { view } = memory;
  let end = textAt;
  for (let number = 0; number < factFrom.length; number += 1) {
    const from = factFrom[number] as number; // within its length
    const length = from === -1 ? 0 : (factTo[number] as number) - from; // as many
    const units = from === -1 ? ABSENT : unitsOf(memory, from, length);
    view.setUint32(at + LENGTHS + 4 * number, units, true);
    end = memory.copy(end, from, length);
  }
  view.setUint32(at + TIME, (time ?? 0) % 0x1_0000_0000, true);
  view.setUint32(at + TIME + 4, Math.floor((time ?? 0) / 0x1_0000_0000), true);
  view.setUint32(at + 8, (byNft ? BY_NFT : 0) | (time === undefined ? 0 : TIMED), true);
  return end;
}

const BEYOND_ASCII = 0x8080_8080;

/** How long a text is in UTF-16: most are ASCII. */
function unitsOf({ bytes, view }: RowMemory, from: number, length: number): number {
  const to = from + length;
  let at = from;
  while (at + 4 <= to && (view.getInt32(at) & BEYOND_ASCII) === 0) at += 4;
  let units = at - from;
  for (; at < to; at += 1) {
    const byte = bytes[at] as number; // within the memory
    // One for each character, and another one where it takes four bytes.
    if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

/**
 * Where the texts of a candidate stand in bytes that have them from `textAt` on: one place for each of `FACT_FIELDS`, the
 * beginning -1 where there is none. False where one of them is not ASCII, is no text, or is an nftId.
 */
export function findAsciiTexts(facts: Buffer, at: number, textAt: number, from: Int32Array, to: Int32Array): boolean {
  if ((wordAt(facts, at + 8) & (IRREGULAR | BY_NFT)) !== 0) return false;
  let next = textAt;
  for (let number = 0; number < FACT_FIELDS.length; number += 1) {
    const length = wordAt(facts, at + LENGTHS + 4 * number);
    from[number] = length === ABSENT ? -1 : next;
    if (length !== ABSENT) next += length;
    to[number] = next;
  }
  // As many bytes as UTF-16 units.
  return next - textAt === textBytesAt(facts, at);
}

export function isTime(value: unknown): value is number | bigint {
  return typeof value === "bigint"
    ? value >= 0n && value <= U64_MAX
    : typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function writeSizes(view: DataView, at: number, lineBytes: number, textBytes: number): void {
  view.setUint32(at, lineBytes, true);
  view.setUint32(at + 4, textBytes, true);
}

/** Bytes of the action's line, the newline included. */
export const lineBytesAt = (facts: Buffer, at: number): number => wordAt(facts, at);
export const textBytesAt = (facts: Buffer, at: number): number => wordAt(facts, at + 4);

/** What of an action decides where it stands. */
export interface OrderKey {
  readonly action?: ActionName | undefined;
  readonly data: {
    readonly eventId?: unknown;
    readonly ticketId?: unknown;
    readonly nftId?: unknown;
    readonly orderTime?: unknown;
  };
  /** Of one that is not sent: which of the actions of its kind in the row it is, from 1; 0 for the only one. */
  readonly nth?: number;
}

export interface CandidateBytes {
  readonly lines: Buffer;
  readonly index: Buffer;
  readonly facts: Buffer;
  readonly texts: Buffer;
}

export interface Facts {
  /** The values that the checks across actions look at; null for those that are not there. */
  readonly data: ActionData;
  readonly isIrregular: boolean;
}

/** Reads records one after the other, whose texts are the beginning of `texts` and what follows. */
export function factsReader(texts: string): (facts: Buffer, at: number) => Facts {
  let from = 0;
  return (facts, at) => {
    const text = (number: number): string | null => {
      const length = facts.readUInt32LE(at + LENGTHS + 4 * number);
      if (length === ABSENT) return null;
      const start = from;
      from += length;
      return texts.slice(start, from);
    };
    const marks = facts.readUInt32LE(at + 8);
    const eventId = text(0);
    const ticket = text(1);
    const userId = text(2);
    const price = text(3);
    const currency = text(4);
    const byNft = (marks & BY_NFT) !== 0;
    const data = { eventId, ticketId: byNft ? null : ticket, nftId: byNft ? ticket : null, userId, price, currency };
    return { data, isIrregular: (marks & IRREGULAR) !== 0 };
  };
}

/** What decides where each action of a batch stands in time's order, and which tickets it names. */
export function orderKeysOf({ index, facts, texts, lines }: CandidateBytes): readonly OrderKey[] {
  const read = factsReader(texts.toString("utf8"));
  let lineAt = 0;
  return Array.from({ length: facts.length / FACTS_BYTES }, (_, number) => {
    const at = number * FACTS_BYTES;
    const { data, isIrregular } = read(facts, at);
    const end = lineAt + lineBytesAt(facts, at);
    const line = lines.subarray(lineAt, end - 1);
    lineAt = end;
    if (isIrregular) return parseJson(line.toString("utf8")) as Action; // written by the batch's writer
    const { action } = readOrigin(index, number * RECORD_BYTES);
    return { action, data: { ...data, orderTime: orderTimeAt(facts, at) } };
  });
}

/** The bytes of the action's orderTime; undefined where it has none that is a time. */
export function timeBytesAt(facts: Buffer, at: number): Buffer | undefined {
  return (facts.readUInt32LE(at + 8) & TIMED) === 0 ? undefined : facts.subarray(at + TIME, at + FACTS_BYTES);
}

/** The action's orderTime; undefined where it has none that is a time. */
function orderTimeAt(facts: Buffer, at: number): number | bigint | undefined {
  if ((facts.readUInt32LE(at + 8) & TIMED) === 0) return undefined;
  const time = facts.readBigUInt64LE(at + TIME);
  return time <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(time) : time;
}
