/**
 * Leaves: each writes the value of one plain cell as JSON, byte by byte. What a leaf does not know to be plain it leaves to the
 * reference, so that its language is a part of what the reference (`judgeItem`) finds nothing in. A leaf never finds anything.
 * Where cells are values as they stand, the reference is asked of the one value, and not of its row.
 */

import { isCurrency, isWithdrawnCurrency } from "../../actions/currencies.ts";
import { type FieldKind, type FieldName, fieldSpec } from "../../actions/fields.ts";
import { stringifyJson } from "../../actions/json.ts";
import { LONGEST_DATE, looksMangled, standsForNoText } from "../../actions/mangled-ids.ts";
import { EARLIEST_ORDER, FARTHEST_EVENT, LATEST_ORDER_AHEAD } from "../../checks/far-times.ts";
import { isSoundValue } from "../../checks/shape.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { ByteMap } from "./byte-map.ts";
import { ASKING, BEYOND_ASCII, DIGITS, DOUBLED, ESCAPED, HYPHENS, LETTERS, ODD, STRANGE } from "./cells.ts";

export const NOT_PLAIN = -1;
/** What gives a value of a row gives this where the row has none. */
export const ABSENT = -2;

/**
 * Writes the cell from `from` to `to`, which is trimmed and not empty, at `at`: its end, or `NOT_PLAIN`. What it writes then is
 * to be forgotten. It takes at most twice as many bytes as the cell, and two.
 *
 * @param flags of the cell (cells.ts).
 */
export type Leaf = (at: number, from: number, to: number, flags: number) => number;

export interface LeafOptions {
  readonly memory: RowMemory;
  readonly quote: number;
  /** In Unix seconds. */
  readonly now: number;
  readonly clearWord: string;
}

const QUOTE = 0x22;
const HYPHEN = 0x2d;
const HASH = 0x23;
const BACKSLASH = 0x5c;

/** The leaf of a field; one that knows nothing plain where there is none for its kind. */
export function leafOf(name: FieldName, options: LeafOptions): Leaf {
  const { kind, maxLength = 255 } = fieldSpec(name);
  if (name === "callbackUrl") return neverPlain; // whether the service can reach it is told by the reference
  const leaf = LEAVES[kind]?.(maxLength, options, name);
  return leaf === undefined ? neverPlain : besideClearWord(leaf, options);
}

/** Of these a value is its text, whatever that is. */
const ASKED: ReadonlySet<FieldKind> = new Set<FieldKind>(["id", "nftId", "text", "url", "wallet"]);
const MOST_ASKED = 512;
const NOTHING_SOUND = Buffer.alloc(0);

/** The leaf of a field whose cells are values as they stand: of what it does not know, it asks. */
export function askingLeafOf(name: FieldName, options: LeafOptions): Leaf {
  const leaf = leafOf(name, options);
  const { kind } = fieldSpec(name);
  if (leaf === neverPlain || !ASKED.has(kind)) return leaf;
  const { memory } = options;
  const known = new ByteMap<Uint8Array>(memory.bytes, MOST_ASKED);
  return (at, from, to, flags) => {
    const end = leaf(at, from, to, flags);
    if (end !== NOT_PLAIN || (flags & ESCAPED) !== 0 || to - from > MOST_TEXT_BYTES) return end;
    let json = known.get(from, to);
    if (json === undefined) {
      json = soundJson(name, textOf(from, to, flags, options), options);
      known.set(from, to, json);
    }
    return json.length === 0 || json.length > 2 * (to - from) + 2 ? NOT_PLAIN : memory.put(at, json);
  };
}

function textOf(from: number, to: number, flags: number, { memory, quote }: LeafOptions): string {
  const text = memory.text(from, to);
  if ((flags & DOUBLED) === 0) return text;
  const mark = String.fromCharCode(quote);
  return text.replaceAll(mark + mark, mark);
}

/** The value as JSON; empty where the reference is to judge its row. */
function soundJson(name: FieldName, text: string, { clearWord, now }: LeafOptions): Uint8Array {
  if (text === clearWord || !isSoundValue(name, text, now)) return NOTHING_SOUND;
  const json = stringifyJson(text);
  const { kind } = fieldSpec(name);
  // What names something is looked at again, as it stands in the line.
  const isAsItStands = json.length === text.length + 2;
  return (kind === "id" || kind === "nftId") && !isAsItStands ? NOTHING_SOUND : Buffer.from(json);
}

/** The reference judges every value. */
const neverPlain: Leaf = () => NOT_PLAIN;

function besideClearWord(leaf: Leaf, { clearWord, memory: { bytes } }: LeafOptions): Leaf {
  const first = Buffer.from(clearWord)[0];
  if (first === BACKSLASH) {
    // No plain cell begins with it but words.
    return (at, from, to, flags) => (bytes[from] === BACKSLASH ? NOT_PLAIN : leaf(at, from, to, flags));
  }
  const mayBe = clearWordTest(clearWord, bytes);
  return (at, from, to, flags) => (mayBe(from, to) ? NOT_PLAIN : leaf(at, from, to, flags));
}

/** Tells whether a text has the length of the word and begins like it. */
export function clearWordTest(word: string, bytes: Uint8Array): (from: number, to: number) => boolean {
  const first = Buffer.from(word)[0];
  const length = Buffer.byteLength(word);
  return (from, to) => bytes[from] === first && to - from === length;
}

/** Longer texts that are put together, or are values of attributes, are left to the reference. */
export const MOST_TEXT_BYTES = 16 * 1024;

/** Words as the value of an attribute may be. */
export const wordsLeaf = (options: LeafOptions): Leaf => besideClearWord(textLeaf(MOST_TEXT_BYTES, options), options);

const LEAVES: Partial<Record<FieldKind, (maxLength: number, options: LeafOptions, name: FieldName) => Leaf>> = {
  id: idLeaf,
  text: textLeaf,
  url: urlLeaf,
  currency: currencyLeaf,
  u64: timeLeaf,
  nftId:
    (maxLength, { memory }) =>
    (at, from, to, flags) => {
      if ((flags & STRANGE) !== 0 || to - from > maxLength) return NOT_PLAIN;
      const text = memory.ascii(from, to);
      return /^[A-Z]+-\d+-\d+$/.test(text) && !looksMangled(text) ? writeQuoted(memory, at, from, to) : NOT_PLAIN;
    },
  price: priceLeaf,
  wallet:
    (_maxLength, { memory }) =>
    (at, from, to, flags) => {
      if ((flags & STRANGE) !== 0 || to - from !== 42) return NOT_PLAIN;
      return /^0x[0-9a-f]{40}$/.test(memory.ascii(from, to)) ? writeQuoted(memory, at, from, to) : NOT_PLAIN;
    },
};

function writeQuoted(memory: RowMemory, at: number, from: number, to: number): number {
  const { bytes } = memory;
  bytes[at] = QUOTE;
  const end = memory.copy(at + 1, from, to - from);
  bytes[end] = QUOTE;
  return end + 1;
}

export const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

const BLANK = 0x20;

/** Blanks, tabs and line ends. */
export const isBlank = (byte: number | undefined): boolean =>
  byte !== undefined && (byte === BLANK || (byte >= 0x09 && byte <= 0x0d));

/** Whether no blank stands at an end of what is not empty. Beyond ASCII, what may be one is left to the reference. */
export function isTrimmed(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
  const first = bytes[from] as number; // not empty
  const last = bytes[to - 1] as number;
  if (first <= BLANK || last <= BLANK) return false;
  if ((flags & BEYOND_ASCII) === 0) return true;
  if (first >= 0x80 && MAY_BEGIN_BLANK.has(first)) return false;
  let at = to - 1;
  while ((bytes[at] as number) >= 0x80 && (bytes[at] as number) < 0xc0) at -= 1; // a valid character
  return at === to - 1 || !MAY_BEGIN_BLANK.has(bytes[at] as number);
}

/** The first bytes of the blanks that Unicode has beyond ASCII, and of the byte order mark. */
const MAY_BEGIN_BLANK: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

/** Ids of printed ASCII that nothing looks mangled in. */
function idLeaf(maxLength: number, { memory }: LeafOptions): Leaf {
  return (at, from, to, flags) => {
    if ((flags & STRANGE) !== 0 || to - from > maxLength) return NOT_PLAIN;
    if (!isSurelyPlainId(memory.bytes, from, to, flags) && looksMangled(memory.ascii(from, to))) return NOT_PLAIN;
    return writeQuoted(memory, at, from, to);
  };
}

/**
 * Letters, digits and hyphens that are neither a date, such as `3-Nov` and `Nov-03`, nor a word, nor a long number that may
 * have been rounded. Of all others `looksMangled` is asked.
 */
export function isSurelyPlainId(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
  if ((flags & ~(DIGITS | LETTERS | HYPHENS)) !== 0) return false;
  const length = to - from;
  if (flags === DIGITS) return length < 16;
  if (length >= 16) return true;
  const endsAsNumber = isDigit(bytes[to - 1]); // not empty
  if (isDigit(bytes[from])) return endsAsNumber || (flags & HYPHENS) === 0;
  return isLetter(bytes[from] as number) && endsAsNumber && (length > LONGEST_DATE || bytes[to - 3] !== HYPHEN);
}

/** More than the longest word that stands for none has; what a spreadsheet writes for a failed formula, behind a hash, may be longer. */
const LONGEST_WORD = 40;

/** Words in Latin letters and most others; what may be misread in another encoding is asked of the reference. */
function textLeaf(maxLength: number, { memory, quote }: LeafOptions): Leaf {
  return (at, from, to, flags) => {
    if (to - from > maxLength || !isWords(memory, from, to, flags)) return NOT_PLAIN;
    if ((flags & (DOUBLED | ODD)) === 0 || (flags & ESCAPED) !== 0) return writeQuoted(memory, at, from, to);
    return writeEscaped(memory.bytes, at, from, to, (flags & DOUBLED) === 0 ? NO_QUOTE : quote);
  };
}

/** No byte. */
const NO_QUOTE = -1;

/** As `isWords` of checks/fast. */
export function isWords(memory: RowMemory, from: number, to: number, flags: number): boolean {
  const { bytes } = memory;
  const first = bytes[from] as number; // not empty
  if (
    FIRST_OF_NONE[first] === 1 &&
    (to - from <= LONGEST_WORD || first === HASH) &&
    standsForNoText(memory.text(from, to))
  )
    return false;
  if ((flags & ASKING) !== 0) return false;
  return (flags & BEYOND_ASCII) === 0 || isSoundBeyondAscii(bytes, from, to);
}

const FIRST_OF_NONE = new Uint8Array(256);
for (const byte of Buffer.from("#EFNnu(\\[")) FIRST_OF_NONE[byte] = 1;

/**
 * Whether no character beyond ASCII can be one that is not seen, or UTF-8 that was read in another encoding: that shows in
 * one of U+00C2 to U+00F4 before another one beyond ASCII, in U+00C3 and in U+FFFD.
 */
function isSoundBeyondAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (byte < 0x80) continue;
    const second = bytes[at + 1] as number; // a valid character
    if (byte === 0xc2) {
      if (second < 0xa0) return false;
      at += 1;
    } else if (byte < 0xe0) {
      if (byte === 0xc3 && (second === 0x83 || isBeyondLatin(bytes[at + 2], at + 2, to))) return false;
      at += 1;
    } else if (byte < 0xf0) {
      // Where U+2028, U+2029, U+FEFF and U+FFFD stand.
      if ((byte === 0xe2 && second === 0x80) || byte === 0xef)
        return isKnownMark(bytes, at) && isSoundBeyondAscii(bytes, at + 3, to);
      at += 2;
    } else at += 3;
  }
  return true;
}

const isBeyondLatin = (byte: number | undefined, at: number, to: number): boolean =>
  at < to && byte !== undefined && byte >= 0x80 && byte !== 0xc3;

/** Dashes, quotation marks and dots: U+2010 to U+2027. */
const isKnownMark = (bytes: Uint8Array, at: number): boolean => {
  const third = bytes[at + 2] as number; // a valid character
  return bytes[at] === 0xe2 && third >= 0x90 && third <= 0xa7;
};

/** What stands behind a backslash for a byte; 0 where it stands for itself. */
const SHORT_ESCAPES = new Uint8Array(256);
SHORT_ESCAPES[0x0a] = 0x6e;
SHORT_ESCAPES[0x0d] = 0x72;
SHORT_ESCAPES[0x09] = 0x74;
SHORT_ESCAPES[QUOTE] = QUOTE;
SHORT_ESCAPES[BACKSLASH] = BACKSLASH;

/** @param quote - one of two that stand side by side is left out. */
function writeEscaped(bytes: Uint8Array, start: number, from: number, to: number, quote: number): number {
  let at = start;
  bytes[at++] = QUOTE;
  for (let next = from; next < to; next += 1) {
    const byte = bytes[next] as number; // within its length
    const letter = SHORT_ESCAPES[byte] as number; // a byte
    if (letter !== 0) bytes[at++] = BACKSLASH;
    bytes[at++] = letter === 0 ? byte : letter;
    if (byte === quote) next += 1;
  }
  bytes[at] = QUOTE;
  return at + 1;
}

const PLAIN_HOST = /^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}[/?]$/i;
const IN_PATH = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./?&=+~:,;!$'()*"))
  IN_PATH[byte] = 1;

const MOST_HOST_BYTES = 1024;

/** The host by an expression, once for all URLs that begin so. */
function urlLeaf(maxLength: number, { memory }: LeafOptions): Leaf {
  const { bytes } = memory;
  const host = memory.allot(MOST_HOST_BYTES);
  let hostBytes = 0;
  return (at, from, to, flags) => {
    if ((flags & STRANGE) !== 0 || to - from > maxLength) return NOT_PLAIN;
    let path = from + hostBytes;
    if (hostBytes === 0 || path > to || !memory.isSame(from, host, hostBytes)) {
      path = from;
      for (let slashes = 0; path < to && slashes < 3; path += 1) {
        if (bytes[path] === 0x2f) slashes += 1;
        else if (bytes[path] === 0x3f) slashes = 3;
      }
      if (path - from > MOST_HOST_BYTES || !PLAIN_HOST.test(memory.ascii(from, path))) return NOT_PLAIN;
      hostBytes = path - from;
      memory.copy(host, from, hostBytes);
    }
    for (; path < to; path += 1) if (IN_PATH[bytes[path] as number] === 0) return NOT_PLAIN; // within its length
    return writeQuoted(memory, at, from, to);
  };
}

function currencyLeaf(_maxLength: number, { memory }: LeafOptions): Leaf {
  const { bytes } = memory;
  /** By its three letters as one number; the codes are few. */
  const plain = new Map<number, boolean>();
  return (at, from, to, flags) => {
    if ((flags & STRANGE) !== 0 || to - from !== 3) return NOT_PLAIN;
    const key = ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number); // three bytes, as looked at
    let isPlain = plain.get(key);
    if (isPlain === undefined) {
      const code = memory.ascii(from, to);
      isPlain = isCurrency(code) && !isWithdrawnCurrency(code);
      plain.set(key, isPlain);
    }
    return isPlain ? writeQuoted(memory, at, from, to) : NOT_PLAIN;
  };
}

/** Unix seconds near enough to be meant. */
export function likelyTimes(name: FieldName, now: number): { readonly earliest: number; readonly latest: number } {
  return name === "orderTime"
    ? { earliest: EARLIEST_ORDER, latest: now + LATEST_ORDER_AHEAD }
    : { earliest: Math.max(EARLIEST_ORDER, now - FARTHEST_EVENT), latest: now + FARTHEST_EVENT };
}

function timeLeaf(_maxLength: number, { memory, now }: LeafOptions, name: FieldName): Leaf {
  const { earliest, latest } = likelyTimes(name, now);
  const { bytes } = memory;
  return (at, from, to, flags) => {
    if ((flags & STRANGE) !== 0 || to - from > 11 || bytes[from] === 0x30) return NOT_PLAIN;
    const time = digitsAt(bytes, from, to);
    return time >= earliest && time <= latest ? memory.copy(at, from, to - from) : NOT_PLAIN;
  };
}

/** The number that at most 15 digits say; -1 where they are none. */
export function digitsAt(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (!isDigit(byte)) return -1;
    value = value * 10 + byte - 0x30;
  }
  return value;
}

function priceLeaf(maxLength: number, { memory }: LeafOptions): Leaf {
  const { bytes } = memory;
  return (at, from, to, flags) => {
    if ((flags & STRANGE) !== 0 || to - from > maxLength || !isDigit(bytes[from]) || !isDigit(bytes[to - 1]))
      return NOT_PLAIN;
    let points = 0;
    for (let next = from; next < to; next += 1) {
      const byte = bytes[next] as number; // within its length
      if (byte === 0x2e) points += 1;
      else if (!isDigit(byte)) return NOT_PLAIN;
    }
    return points <= 1 ? writeQuoted(memory, at, from, to) : NOT_PLAIN;
  };
}
