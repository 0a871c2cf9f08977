/** Actions that follow each other in a plan, as one row of `blocks` holds them. Pure. */

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { asBuffer } from "../disk/buffers.ts";

/** Actions a block at the most: so much is decompressed to read one of them. */
export const BLOCK_ACTIONS = 512;

/** Bytes of an identity, and of a content's digest, in `unmerged`. */
export const [IDENTITY_BYTES, CONTENT_BYTES] = [16, 8];
export const DEED_BYTES = IDENTITY_BYTES + CONTENT_BYTES;
export const DEED_WORDS = DEED_BYTES / 4;

/** Where an action came from. */
export interface Origin {
  readonly source: string;
  /** 1-based physical line where its row starts. */
  readonly line: number;
}

/** Identity and content of the deed at a place, where they stand one behind the other. */
export const digestsAt = (deeds: Uint8Array, at: number) => {
  const start = at * DEED_BYTES;
  const end = start + IDENTITY_BYTES;
  return { identity: deeds.subarray(start, end), content: deeds.subarray(end, end + CONTENT_BYTES) };
};

/** An action as it was sent. */
export interface SentAction {
  readonly action: ActionName;
  /** JSON text. */
  readonly data: string;
}

const HEAD = '{"action":"';
const BETWEEN = '","data":';

export const actionLine = (action: string, data: string): string => `${HEAD}${action}${BETWEEN}${data}}`;

/** @param line as `actionLine` makes it, and the planner. */
export function readActionLine(line: string): SentAction {
  const end = line.indexOf('"', HEAD.length);
  // Both were written by the planner, or read from a promises file that was checked.
  const action = line.slice(HEAD.length, end) as ActionName;
  return { action, data: line.slice(end + BETWEEN.length, -1) };
}

/** The least memory, which would take longer to be had than a block to be compressed. Other levels save nothing of such lines. */
export const COMPRESSION: Readonly<Record<number, number>> = {
  [constants.ZSTD_c_compressionLevel]: 1,
  [constants.ZSTD_c_windowLog]: 17,
};

/** @param lines of actions, with newlines between them or behind each. */
export const compressLines = (lines: Uint8Array): Buffer =>
  zstdCompressSync(lines, { pledgedSrcSize: lines.length, params: COMPRESSION });

/**
 * In memory of its own, of which all is used but a byte: zlib takes as much again where the first is full.
 *
 * @throws where the frame is not whole, of which Node 22 says nothing.
 */
export function decompressLines(compressed: Uint8Array): Buffer {
  const bytes = lengthOfLines(asBuffer(compressed));
  if (bytes === undefined) return zstdDecompressSync(compressed);
  const lines = zstdDecompressSync(compressed, {
    chunkSize: Math.min(Math.max(bytes + 1, LEAST_CHUNK), MOST_AT_ONCE),
  });
  if (lines.length !== bytes) throw new Error(`compressed lines of ${bytes} bytes end after ${lines.length}`);
  return lines;
}

/** What zlib takes. */
const LEAST_CHUNK = 64;

/** What a frame says of the length of its content (RFC 8878, 3.1.1.1), where it is as long as lines usually are. */
function lengthOfLines(frame: Buffer): number | undefined {
  const descriptor = frame.readUInt8(4);
  if ((descriptor & DICTIONARY) !== 0) return undefined;
  const oneSegment = (descriptor & ONE_SEGMENT) !== 0;
  const from = oneSegment ? 5 : 6;
  const form = descriptor >> 6;
  if (form === 0) return oneSegment ? frame.readUInt8(from) : undefined;
  if (form === 1) return frame.readUInt16LE(from) + 256;
  return form === 2 ? frame.readUInt32LE(from) : undefined;
}

const [DICTIONARY, ONE_SEGMENT] = [0x03, 0x20];
/** A length that is not true must not cost all memory. */
const MOST_AT_ONCE = 2 ** 26;

/** By source, the line of its first action and the distance of each further one: `[["sales.csv",[2,1,1]]]`. */
export function encodeOrigins(count: number, sourceAt: (at: number) => string, lineAt: (at: number) => number): string {
  const spans: [source: string, lines: number[]][] = [];
  let lines: number[] = [];
  let [source, line]: [source: string | undefined, line: number] = [undefined, 0];
  for (let at = 0; at < count; at += 1) {
    const [next, nextLine] = [sourceAt(at), lineAt(at)];
    if (next === source) lines.push(nextLine - line);
    else {
      lines = [nextLine];
      spans.push([next, lines]);
    }
    source = next;
    line = nextLine;
  }
  return JSON.stringify(spans);
}

export function decodeOrigins(text: string): readonly Origin[] {
  const spans = JSON.parse(text) as readonly (readonly [source: string, lines: readonly number[]])[]; // written above
  return spans.flatMap(([source, distances]) => {
    let line = 0;
    return distances.map((distance) => {
      line += distance;
      return { source, line };
    });
  });
}

export const UUID_BYTES = 16;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type Promises = readonly (string | undefined)[];

/** 16 bytes an action, zeros for none, where all are UUIDs in lower case; else a JSON array with null for none; null where there is none. */
export function encodePromises(promises: Promises): Buffer | string | null {
  if (promises.every((promise) => promise === undefined)) return null;
  return packUuids(promises) ?? JSON.stringify(promises.map((promise) => promise ?? null));
}

/** The same where a column holds bytes and nothing else. A text is never as long as so many UUIDs would be. */
export function promisesAsBytes(promises: Buffer | string | null, count: number): Buffer | null {
  if (typeof promises !== "string") return promises;
  const bytes = Buffer.from(promises);
  return bytes.length === count * UUID_BYTES ? Buffer.from(`${promises} `) : bytes;
}

/** @param count of the block's actions. */
function textOfPromises(promises: unknown, count: number): string | undefined {
  if (typeof promises === "string") return promises;
  if (!(promises instanceof Uint8Array) || promises.length === count * UUID_BYTES) return undefined;
  return Buffer.from(promises).toString("utf8");
}

function packUuids(promises: Promises): Buffer | undefined {
  const packed = Buffer.alloc(promises.length * UUID_BYTES);
  for (const [at, promise] of promises.entries())
    if (promise !== undefined && !packUuid(promise, packed, at * UUID_BYTES)) return undefined;
  return packed;
}

const NO_DIGIT = 0x100;
/** Four bits of a digit in lower case. */
const NIBBLES = Uint16Array.from({ length: 256 }, (_, code) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(code));
  return digit === -1 ? NO_DIGIT : digit;
});
const HYPHEN = 0x2d;
const UUID_LENGTH = 36;
/** Before which of its bytes a UUID has a hyphen. */
const BEHIND_HYPHEN = Uint8Array.from({ length: UUID_BYTES }, (_, byte) => ([4, 6, 8, 10].includes(byte) ? 1 : 0));

const text = Buffer.alloc(UUID_LENGTH);

/** The same of a text. */
export function packUuid(promise: string, packed: Uint8Array, to: number): boolean {
  return (
    promise.length === UUID_LENGTH && text.write(promise, "utf8") === UUID_LENGTH && packUuidAt(text, 0, packed, to)
  );
}

/** Packs a UUID that stands in bytes, if it is one in lower case, and not the one of zeros, which would read as none. */
function packUuidAt(bytes: Uint8Array, from: number, packed: Uint8Array, to: number): boolean {
  let at = from;
  let any = 0;
  for (let byte = 0; byte < UUID_BYTES; byte += 1, at += 2) {
    if (BEHIND_HYPHEN[byte] === 1) {
      if (bytes[at] !== HYPHEN) return false;
      at += 1;
    }
    // What stands behind the end of the bytes is no digit either.
    const both = ((NIBBLES[bytes[at] ?? 0] as number) << 4) | (NIBBLES[bytes[at + 1] ?? 0] as number);
    if (both >= NO_DIGIT) return false;
    any |= both;
    packed[to + byte] = both;
  }
  return any !== 0;
}

/** @param count of the block's actions. */
export function decodePromises(promises: unknown, count: number): Promises {
  const text = textOfPromises(promises, count);
  if (text !== undefined)
    return (JSON.parse(text) as readonly (string | null)[]).map((promise) => promise ?? undefined); // written above
  if (!(promises instanceof Uint8Array)) return Array<undefined>(count).fill(undefined);
  const packed = Buffer.from(promises.buffer, promises.byteOffset, promises.byteLength);
  return Array.from({ length: count }, (_, at) => {
    const hex = packed.toString("hex", at * UUID_BYTES, (at + 1) * UUID_BYTES);
    return /^0+$/.test(hex)
      ? undefined
      : `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  });
}

/** Those that `encodePromises` has packed; undefined where they are told otherwise. */
export const packedPromises = (promises: unknown, count: number): Uint8Array | undefined =>
  promises instanceof Uint8Array && textOfPromises(promises, count) === undefined ? promises : undefined;

/**
 * At which places a promise stands, without reading the others.
 *
 * @param count of the block's actions.
 */
export function placesOfPromise(promises: unknown, count: number, promise: string): readonly number[] {
  if (textOfPromises(promises, count) !== undefined)
    return decodePromises(promises, count).flatMap((each, at) => (each === promise ? [at] : []));
  if (!(promises instanceof Uint8Array) || !UUID.test(promise)) return [];
  const packed = Buffer.from(promises.buffer, promises.byteOffset, promises.byteLength);
  const wanted = Buffer.from(promise.replaceAll("-", ""), "hex");
  // In their place zeros mean none.
  if (wanted.every((byte) => byte === 0)) return [];
  const places: number[] = [];
  for (let at = packed.indexOf(wanted); at !== -1; at = packed.indexOf(wanted, at + 1))
    if (at % UUID_BYTES === 0) places.push(at / UUID_BYTES);
  return places;
}

/** The ids that an action's data gives, as text. */
export interface GivenFields {
  readonly eventId: string | undefined;
  readonly ticketId: string | undefined;
  readonly nftId: string | undefined;
  readonly userId: string | undefined;
  readonly currency: string | undefined;
}

/** @param data JSON text. */
export function fieldsOf(data: string): GivenFields {
  const said = parseJson(data) as Readonly<Record<string, unknown>>; // written by the planner
  const text = (field: string): string | undefined => (said[field] == null ? undefined : String(said[field]));
  return {
    eventId: text("eventId"),
    ticketId: text("ticketId"),
    nftId: text("nftId"),
    userId: text("userId"),
    currency: text("currency"),
  };
}
