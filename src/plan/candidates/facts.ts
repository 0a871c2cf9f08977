/**
 * What is asked of every candidate again and again, beside its bytes: its size, its ids, its price and its time. So no
 * check across actions parses an action once more.
 *
 * A record of fixed width says how long each text is; the texts stand one after the other in a file of their own.
 */

import type { Action, ActionData, ActionName } from "../../actions/actions.ts";
import { U64_MAX } from "../../actions/formats.ts";

/** Layout: bytes of the line and of the texts, marks, the texts' lengths (UTF-16 units), each u32; orderTime u64. */
export const FACTS_BYTES = 4 * 8 + 8;

/** The fields whose texts are facts; an nftId stands in the place of ticketId. */
const FACT_FIELDS = ["eventId", "ticketId", "userId", "price", "currency"] as const;
const LENGTHS = 12;
const TIME = LENGTHS + 4 * FACT_FIELDS.length;
/** The length of a text that is not there. */
const ABSENT = 0xffff_ffff;

const TIMED = 0b1;
/** The ticket is named by its nftId. */
const BY_NFT = 0b10;
/** A value is none that the table allows, because its rule was turned off: the action itself is to be parsed. */
const IRREGULAR = 0b100;

/** The record of an action whose line has so many bytes, and its texts. */
export function factsOf({ data }: Action, lineBytes: number): { readonly record: Buffer; readonly texts: string } {
  const { ticketId, nftId, orderTime } = data as Readonly<Record<string, unknown>>; // only checked where rules are on
  const record = Buffer.alloc(FACTS_BYTES);
  const byNft = ticketId == null && nftId != null;
  let marks = byNft ? BY_NFT : 0;
  if (ticketId != null && nftId != null) marks |= IRREGULAR;
  let texts = "";
  for (const [number, name] of FACT_FIELDS.entries()) {
    const value: unknown = name === "ticketId" && byNft ? nftId : data[name];
    if (typeof value === "string") texts += value;
    else if (value != null) marks |= IRREGULAR;
    record.writeUInt32LE(typeof value === "string" ? value.length : ABSENT, LENGTHS + 4 * number);
  }
  if (isTime(orderTime)) {
    marks |= TIMED;
    record.writeBigUInt64LE(BigInt(orderTime), TIME);
  }
  record.writeUInt32LE(lineBytes, 0);
  record.writeUInt32LE(Buffer.byteLength(texts), 4);
  record.writeUInt32LE(marks, 8);
  return { record, texts };
}

export function isTime(value: unknown): value is number | bigint {
  return typeof value === "bigint"
    ? value >= 0n && value <= U64_MAX
    : typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Bytes of the action's line, the newline included. */
export const lineBytesAt = (facts: Buffer, at: number): number => facts.readUInt32LE(at);
export const textBytesAt = (facts: Buffer, at: number): number => facts.readUInt32LE(at + 4);

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

/** Candidates as the bytes of their files. */
export interface CandidateBytes {
  readonly lines: Uint8Array;
  readonly index: Uint8Array;
  readonly facts: Uint8Array;
  readonly texts: Uint8Array;
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

/** The bytes of the action's orderTime; undefined where it has none that is a time. */
export function timeBytesAt(facts: Buffer, at: number): Buffer | undefined {
  return (facts.readUInt32LE(at + 8) & TIMED) === 0 ? undefined : facts.subarray(at + TIME, at + FACTS_BYTES);
}
