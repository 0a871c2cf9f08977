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
/** Digits and point of a number that `JSON.parse` may round. */
const LONG_NUMBER = 16;

/** What one look at all bytes of a JSON text shows. Each byte of a JSON file passes here. */
export function look(bytes: Buffer) {
  let keys = 0;
  let depth = 0;
  let nesting = 0;
  let digits = 0;
  let all = 0;
  let hasLongNumber = false;
  let hasEscapedKey = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      let isEscaped = false;
      for (at += 1; at < bytes.length; at += 1) {
        const inside = bytes[at] ?? 0;
        if (inside === QUOTE) break;
        all |= inside;
        if (inside !== BACKSLASH) continue;
        isEscaped = true;
        at += 1;
      }
      if (isEscaped && colonFollows(bytes, at)) hasEscapedKey = true;
      digits = 0;
    } else if ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e) {
      digits += 1;
      if (digits === LONG_NUMBER) hasLongNumber = true;
    } else {
      if (digits > 0 && (byte | 0x20) === 0x65) hasLongNumber = true;
      digits = 0;
      all |= byte;
      if (byte === COLON) keys += 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        depth += 1;
        if (depth > nesting) nesting = depth;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    }
  }
  return { keys, nesting, hasLongNumber, hasEscapedKey, isAscii: all < 0x80 };
}

/**
 * The first key that occurs twice in one object of valid JSON, as a JSON pointer, or undefined.
 * `JSON.parse` would keep the last value without a word. `parsed` is what the text was parsed to.
 *
 * A key with an escape is looked at itself: V8 (14.6) may parse `{"a":1,"\u0061":2}` to an object with the keys `a` and `\`,
 * so counting what was parsed would not show it.
 */
export function duplicateKey(
  text: string | Buffer,
  parsed: unknown,
  seen?: ReturnType<typeof look>,
): string | undefined {
  // By bytes, since all that matters is ASCII: a character of a string over 1 MB, which Node keeps outside the heap,
  // takes optimised code 10 µs to look at.
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const { keys, hasEscapedKey } = seen ?? look(bytes);
  return !hasEscapedKey && keys === keysIn(parsed) ? undefined : findDuplicate(bytes);
}

/** The keys of an object and of all in it. */
function keysIn(parsed: unknown): number {
  let count = 0;
  const open: unknown[] = [parsed];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    const inner = Object.values(value);
    if (!Array.isArray(value)) count += inner.length;
    for (const child of inner) if (typeof child === "object") open.push(child);
  }
  return count;
}

/** Whether the next byte after `at` that is not blank is a colon, so that the string before is a key. */
function colonFollows(bytes: Buffer, at: number): boolean {
  let next = at + 1;
  while ((bytes[next] ?? COLON) <= 0x20) next += 1;
  return bytes[next] === COLON;
}

/** The offset of the quote that ends the string which starts at `start`; the length where none does. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  return bytes.length;
}

/** The elements of a valid JSON array, byte by byte as they stand there. */
export function elementsOf(list: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(list.buffer, list.byteOffset, list.byteLength);
  const elements: Buffer[] = [];
  let [depth, from] = [0, 1];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    const isLast = depth === 0 && at > from;
    if (!isLast && (byte !== COMMA || depth !== 1)) continue;
    elements.push(bytes.subarray(from, at));
    from = at + 1;
  }
  return elements;
}

/** Walks the text once, keeping the keys of the open objects and the places in the open lists. */
function findDuplicate(bytes: Buffer): string | undefined {
  const open: { readonly keys: Set<string> | undefined; step: string | number }[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const inner = open.at(-1);
    switch (bytes[at]) {
      case QUOTE: {
        const start = at;
        at = stringEnd(bytes, start);
        if (inner?.keys === undefined || !colonFollows(bytes, at)) break;
        const key = String(JSON.parse(bytes.toString("utf8", start, at + 1)));
        inner.step = key;
        if (inner.keys.has(key)) return open.map(({ step }) => `/${escapePointer(step)}`).join("");
        inner.keys.add(key);
        break;
      }
      case OPEN_OBJECT:
        open.push({ keys: new Set(), step: "" });
        break;
      case OPEN_LIST:
        open.push({ keys: undefined, step: 0 });
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop();
        break;
      case COMMA:
        if (typeof inner?.step === "number") inner.step += 1;
        break;
    }
  }
  return undefined;
}

/** Escapes one step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string | number): string {
  return String(step).replaceAll("~", "~0").replaceAll("/", "~1");
}
