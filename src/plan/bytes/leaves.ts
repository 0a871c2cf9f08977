/**
 * Leaves: each writes the value of one plain cell as JSON, byte by byte. What a leaf does not know to be plain it leaves to the
 * reference, so that its language is a part of what the reference (`judgeItem`) finds nothing in. A leaf never finds anything.
 */

import { isCurrency, isWithdrawnCurrency } from "../../actions/currencies.ts";
import { type FieldKind, type FieldName, fieldSpec } from "../../actions/fields.ts";
import { LONGEST_DATE, looksMangled, standsForNoText } from "../../actions/mangled-ids.ts";
import { EARLIEST_ORDER, FARTHEST_EVENT, LATEST_ORDER_AHEAD } from "../../checks/far-times.ts";
import { BEYOND_ASCII, DOUBLED, ESCAPED } from "./cells.ts";

export const NOT_PLAIN = -1;
/** What gives a value of a row gives this where the row has none. */
export const ABSENT = -2;

/**
 * Writes the cell from `from` to `to` of `bytes`, which is trimmed and not empty, to `out` at `at`: its end, or `NOT_PLAIN`.
 * What it writes then is to be forgotten.
 *
 * @param flags of the cell (cells.ts).
 */
export type Leaf = (out: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number, flags: number) => number;

export interface LeafOptions {
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
  return leaf === undefined ? neverPlain : besideClearWord(leaf, options.clearWord);
}

/** The reference judges every value. */
const neverPlain: Leaf = () => NOT_PLAIN;

function besideClearWord(leaf: Leaf, word: string): Leaf {
  const first = Buffer.from(word)[0];
  if (first === BACKSLASH) {
    // No plain cell begins with it but words.
    return (out, at, bytes, from, to, flags) =>
      bytes[from] === BACKSLASH ? NOT_PLAIN : leaf(out, at, bytes, from, to, flags);
  }
  const mayBe = clearWordTest(word);
  return (out, at, bytes, from, to, flags) =>
    mayBe(bytes, from, to) ? NOT_PLAIN : leaf(out, at, bytes, from, to, flags);
}

/** Tells whether a text has the length of the word and begins like it. */
export function clearWordTest(word: string): (bytes: Uint8Array, from: number, to: number) => boolean {
  const first = Buffer.from(word)[0];
  const length = Buffer.byteLength(word);
  return (bytes, from, to) => bytes[from] === first && to - from === length;
}

/** Words of any length, as the value of an attribute may be. */
export const wordsLeaf = (options: LeafOptions): Leaf =>
  besideClearWord(textLeaf(Number.POSITIVE_INFINITY, options), options.clearWord);

const LEAVES: Partial<Record<FieldKind, (maxLength: number, options: LeafOptions, name: FieldName) => Leaf>> = {
  id: idLeaf,
  text: textLeaf,
  url: urlLeaf,
  currency: currencyLeaf,
  u64: timeLeaf,
  nftId: (maxLength) => (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from > maxLength) return NOT_PLAIN;
    const text = textOf(bytes, from, to);
    return /^[A-Z]+-\d+-\d+$/.test(text) && !looksMangled(text) ? writeQuoted(out, at, bytes, from, to) : NOT_PLAIN;
  },
  price: priceLeaf,
  wallet: () => (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from !== 42) return NOT_PLAIN;
    return /^0x[0-9a-f]{40}$/.test(textOf(bytes, from, to)) ? writeQuoted(out, at, bytes, from, to) : NOT_PLAIN;
  },
};

/** Text of plain ASCII. */
export const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  (bytes as Buffer).toString("latin1", from, to);

export function copyBytes(out: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  let end = at;
  for (let next = from; next < to; next += 1, end += 1) out[end] = bytes[next] as number; // within its length
  return end;
}

function writeQuoted(out: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  out[at] = QUOTE;
  const end = copyBytes(out, at + 1, bytes, from, to);
  out[end] = QUOTE;
  return end + 1;
}

export const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

const BLANK = 0x20;

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
function idLeaf(maxLength: number): Leaf {
  return (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from > maxLength) return NOT_PLAIN;
    if (!isSurelyPlainId(bytes, from, to) && looksMangled(textOf(bytes, from, to))) return NOT_PLAIN;
    return writeQuoted(out, at, bytes, from, to);
  };
}

/**
 * Letters, digits and hyphens that are neither a date, such as `3-Nov` and `Nov-03`, nor a word, nor a long number that may
 * have been rounded. Of all others `looksMangled` is asked.
 */
export function isSurelyPlainId(bytes: Uint8Array, from: number, to: number): boolean {
  let isNumber = true;
  let hasHyphen = false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (isDigit(byte)) continue;
    if (byte === HYPHEN) hasHyphen = true;
    else if (!isLetter(byte)) return false;
    isNumber = false;
  }
  const length = to - from;
  if (isNumber) return length < 16;
  if (length >= 16) return true;
  const endsAsNumber = isDigit(bytes[to - 1]); // not empty
  if (isDigit(bytes[from])) return endsAsNumber || !hasHyphen;
  return isLetter(bytes[from] as number) && endsAsNumber && (length > LONGEST_DATE || bytes[to - 3] !== HYPHEN);
}

/** More than the longest word that stands for none has; what a spreadsheet writes for a failed formula, behind a hash, may be longer. */
const LONGEST_WORD = 40;

/** Words in Latin letters and most others; what may be misread in another encoding is asked of the reference. */
function textLeaf(maxLength: number, { quote }: LeafOptions): Leaf {
  return (out, at, bytes, from, to, flags) => {
    if (to - from > maxLength || !isWords(bytes, from, to, flags)) return NOT_PLAIN;
    if (flags === 0 || (flags & ESCAPED) !== 0) return writeQuoted(out, at, bytes, from, to);
    return writeEscaped(out, at, bytes, from, to, flags, quote);
  };
}

/** As `isWords` of checks/fast. */
export function isWords(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
  if (
    (to - from <= LONGEST_WORD || bytes[from] === HASH) &&
    mayStandForNone(bytes[from]) &&
    standsForNoText((bytes as Buffer).toString("utf8", from, to))
  )
    return false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (byte === 0x3f || byte === 0x40 || byte === 0x7f) return false; // ? and @
    if (byte < 0x20 && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return (flags & BEYOND_ASCII) === 0 || isSoundBeyondAscii(bytes, from, to);
}

const FIRST_OF_NONE: ReadonlySet<number | undefined> = new Set(Buffer.from("#EFNnu(\\["));
const mayStandForNone = (first: number | undefined): boolean => FIRST_OF_NONE.has(first);

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

const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x0a, 0x6e],
  [0x0d, 0x72],
  [0x09, 0x74],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
]);

function writeEscaped(
  out: Uint8Array,
  start: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  flags: number,
  quote: number,
): number {
  let at = start;
  out[at++] = QUOTE;
  for (let next = from; next < to; next += 1) {
    const byte = bytes[next] as number; // within its length
    const letter = byte < 0x5d ? SHORT_ESCAPES.get(byte) : undefined;
    if (letter !== undefined) out[at++] = BACKSLASH;
    out[at++] = letter ?? byte;
    if (byte === quote && (flags & DOUBLED) !== 0) next += 1;
  }
  out[at] = QUOTE;
  return at + 1;
}

const PLAIN_HOST = /^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}[/?]$/i;
const IN_PATH = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./?&=+~:,;!$'()*"))
  IN_PATH[byte] = 1;

/** The host by an expression, once for all URLs that begin so. */
function urlLeaf(maxLength: number): Leaf {
  let host = Buffer.alloc(0);
  return (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from > maxLength) return NOT_PLAIN;
    let path = beginsWith(bytes, from, to, host) ? from + host.length : 0;
    if (path === 0) {
      path = from;
      for (let slashes = 0; path < to && slashes < 3; path += 1) {
        if (bytes[path] === 0x2f) slashes += 1;
        else if (bytes[path] === 0x3f) slashes = 3;
      }
      if (!PLAIN_HOST.test(textOf(bytes, from, path))) return NOT_PLAIN;
      host = Buffer.from(bytes.subarray(from, path));
    }
    for (; path < to; path += 1) if (IN_PATH[bytes[path] as number] === 0) return NOT_PLAIN; // within its length
    return writeQuoted(out, at, bytes, from, to);
  };
}

function beginsWith(bytes: Uint8Array, from: number, to: number, start: Uint8Array): boolean {
  if (start.length === 0 || to - from < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (bytes[from + at] !== start[at]) return false;
  return true;
}

function currencyLeaf(): Leaf {
  /** By its three letters as one number; the codes are few. */
  const plain = new Map<number, boolean>();
  return (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from !== 3) return NOT_PLAIN;
    const key = ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number); // three bytes, as looked at
    let isPlain = plain.get(key);
    if (isPlain === undefined) {
      const code = textOf(bytes, from, to);
      isPlain = isCurrency(code) && !isWithdrawnCurrency(code);
      plain.set(key, isPlain);
    }
    return isPlain ? writeQuoted(out, at, bytes, from, to) : NOT_PLAIN;
  };
}

/** Unix seconds near enough to be meant. */
export function likelyTimes(name: FieldName, now: number): { readonly earliest: number; readonly latest: number } {
  return name === "orderTime"
    ? { earliest: EARLIEST_ORDER, latest: now + LATEST_ORDER_AHEAD }
    : { earliest: Math.max(EARLIEST_ORDER, now - FARTHEST_EVENT), latest: now + FARTHEST_EVENT };
}

function timeLeaf(_maxLength: number, { now }: LeafOptions, name: FieldName): Leaf {
  const { earliest, latest } = likelyTimes(name, now);
  return (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from > 11 || bytes[from] === 0x30) return NOT_PLAIN;
    const time = digitsAt(bytes, from, to);
    return time >= earliest && time <= latest ? copyBytes(out, at, bytes, from, to) : NOT_PLAIN;
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

function priceLeaf(maxLength: number): Leaf {
  return (out, at, bytes, from, to, flags) => {
    if (flags !== 0 || to - from > maxLength || !isDigit(bytes[from]) || !isDigit(bytes[to - 1])) return NOT_PLAIN;
    let points = 0;
    for (let next = from; next < to; next += 1) {
      const byte = bytes[next] as number; // within its length
      if (byte === 0x2e) points += 1;
      else if (!isDigit(byte)) return NOT_PLAIN;
    }
    return points <= 1 ? writeQuoted(out, at, bytes, from, to) : NOT_PLAIN;
  };
}
