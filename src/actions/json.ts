/** JSON with exact numbers and without silently dropped keys. */

import { exactNumber, rawJson } from "./exact-number.ts";

/**
 * A number that may not be what `JSON.parse` makes of it: one of 16 digits or more, or with an exponent. What stands
 * before it keeps most texts from being taken for one, since reading numbers by their text takes several times as long.
 */
const RISKY_NUMBER = /(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+[eE])/;

/**
 * Parses JSON text. What a number can't hold exactly becomes an `ExactNumber`, so that `JSON.stringify` writes every number with
 * the value that it was read with. Throws SyntaxError like `JSON.parse`.
 */
export function parseJson(text: string): unknown {
  return RISKY_NUMBER.test(text) ? parseNumbers(text, exactNumber) : JSON.parse(text);
}

/** The same with every number as it is written, so that what `JSON.stringify` writes has the same numbers, digit by digit. */
export const parseVerbatim = (text: string): unknown => parseNumbers(text, rawJson);

function parseNumbers(text: string, read: (source: string) => unknown): unknown {
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" && context?.source !== undefined ? read(context.source) : value;
  try {
    return JSON.parse(text, revive);
  } catch (cause) {
    // Only the walk with a reviver recurses; JSON that nests so deeply is no data of this service.
    if (cause instanceof RangeError) throw new SyntaxError("JSON nests too deeply", { cause });
    throw cause;
  }
}

/** ASCII that needs no escapes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON. */
export const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** The bytes that mean something to JSON: `":,\\[]{}`. */
export const JSON_BYTES = [0x22, 0x3a, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d] as const;
const [QUOTE, COLON, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = JSON_BYTES;

/** Whether the next byte after `at` that is not blank is a colon, so that the string before is a key. */
function colonFollows(bytes: Buffer, at: number): boolean {
  let next = at + 1;
  while ((bytes[next] ?? COLON) <= 0x20) next += 1;
  return bytes[next] === COLON;
}

/** The offset of the quote that ends the string which starts at `start`; the length where none does. */
export function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  return bytes.length;
}

/** The comma or bracket behind the element of a list that begins at a place; undefined where neither follows. */
export function endOfElement(bytes: Buffer, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (depth <= 0 && (byte === COMMA || byte === CLOSE_LIST)) return at;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return undefined;
}

/** The elements of a valid JSON array, byte by byte as they stand there. */
export function elementsOf(list: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(list.buffer, list.byteOffset, list.byteLength);
  const elements: Buffer[] = [];
  for (let from = 1; from < bytes.length; ) {
    const end = endOfElement(bytes, from) ?? bytes.length;
    if (end > from) elements.push(bytes.subarray(from, end));
    if (bytes[end] !== COMMA) break;
    from = end + 1;
  }
  return elements;
}

/** What a walk over JSON shows of it that `JSON.parse` says nothing of. */
interface Survey {
  readonly nesting: number;
  /** The first key that occurs twice in one object, as a JSON pointer: `JSON.parse` would keep the last value without a word. */
  readonly duplicate?: string;
}

/** @throws SyntaxError for some texts that are not JSON. */
export function surveyJson(text: string | Buffer): Survey {
  // By bytes, since all that matters is ASCII: a character of a string over 1 MB, which Node keeps outside the heap,
  // takes optimised code 10 µs to look at.
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  /** The objects and lists around a place, with the keys of each object so far, and the key or index that leads to the place. */
  const open: { readonly keys: Set<string> | undefined; step: string | number }[] = [];
  let inner = open.at(-1);
  let nesting = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    switch (byte) {
      case QUOTE: {
        const start = at;
        at = stringEnd(bytes, start);
        if (inner?.keys === undefined || !colonFollows(bytes, at)) break;
        inner.step = keyIn(bytes, start, at);
        if (inner.keys.has(inner.step))
          return { nesting, duplicate: open.map(({ step }) => `/${escapePointer(step)}`).join("") };
        inner.keys.add(inner.step);
        break;
      }
      case OPEN_OBJECT:
      case OPEN_LIST:
        inner = byte === OPEN_OBJECT ? { keys: new Set(), step: "" } : { keys: undefined, step: 0 };
        nesting = Math.max(nesting, open.push(inner));
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop();
        inner = open.at(-1);
        break;
      case COMMA:
        if (typeof inner?.step === "number") inner.step += 1;
        break;
    }
  }
  return { nesting };
}

function keyIn(bytes: Buffer, start: number, end: number): string {
  const written = bytes.toString("utf8", start + 1, end);
  return written.includes("\\") ? String(JSON.parse(`"${written}"`)) : written;
}

/** Escapes one step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string | number): string {
  return String(step).replaceAll("~", "~0").replaceAll("/", "~1");
}
