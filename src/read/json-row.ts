/** JSON texts as rows. */

import { isJsonObject } from "../actions/exact-number.ts";
import { duplicateKey, parseJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../text.ts";
import { MAX_RAW_BYTES, malformed, type Row } from "./row.ts";

/** Real rows nest five deep. What nests deeper than this would exhaust the stack of whatever walks it. */
const MAX_NESTING = 200;

export interface JsonRowOptions {
  /** Whether what follows can be trusted when this text is not JSON. */
  readonly bordersKnown: boolean;
  /** What else to say of it. */
  readonly note?: string;
  /** The physical line on which it begins, where `line` is an index. */
  readonly firstLine?: number;
}

/** The row that a JSON text is: a line of NDJSON or an item of an array. */
export function toObjectRow(bytes: Buffer, line: number, options: JsonRowOptions): Row {
  const seen = look(bytes);
  const text = bytes.toString(seen.isAscii ? "latin1" : "utf8");
  if (seen.nesting > MAX_NESTING) {
    return malformed(line, rawJson(text), true, {
      rule: "json-invalid",
      message: `The JSON nests deeper than ${MAX_NESTING} levels.`,
      hint: "Real rows nest a few levels deep: check that it is the right file.",
    });
  }
  let value: unknown;
  try {
    value = seen.hasLongNumber ? parseJson(text) : JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return malformed(line, rawJson(text), options.bordersKnown, invalidJson(text, options.firstLine ?? line, options));
  }
  if (!isJsonObject(value)) {
    return malformed(line, rawJson(text), true, {
      rule: "json-not-object",
      value: rawJson(text),
      message: `A row is a JSON object, not ${kindOf(value)}.`,
      hint: 'Write {"action": ..., "data": {...}}, or an object of columns and values.',
    });
  }
  // Of a key that stands twice, one is lost. A key with an escape needs a closer look.
  const mayRepeat = seen.hasEscapedKey || keysIn(value) !== seen.keys;
  const duplicate = mayRepeat ? duplicateKey(text, value) : undefined;
  if (duplicate !== undefined) {
    return malformed(line, rawJson(text), true, {
      rule: "json-duplicate-key",
      pointer: duplicate,
      message: `The key ${cleanText(duplicate === "" ? "of an object" : duplicate)} occurs twice; one of its values would be lost.`,
      hint: "Remove one of the two.",
    });
  }
  return { kind: "object", line, value, text };
}

const [QUOTE, COLON, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  ...[0x22, 0x3a, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d],
] as const;
/** Digits and point of a number that `JSON.parse` may round. */
const LONG_NUMBER = 16;

/** What one look at all bytes of a JSON text shows. Each byte of a JSON file passes here. */
function look(bytes: Buffer) {
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

function colonFollows(bytes: Buffer, quote: number): boolean {
  let at = quote + 1;
  while ((bytes[at] ?? COLON) <= 0x20) at += 1;
  return bytes[at] === COLON;
}

/** The keys of an object and of all in it. */
function keysIn(value: object): number {
  const inside = Object.values(value);
  let keys = Array.isArray(value) ? 0 : inside.length;
  for (const inner of inside) if (typeof inner === "object" && inner !== null) keys += keysIn(inner);
  return keys;
}

/** A first character that nobody sees, or that looks like a blank; without those that are blanks to JSON. */
const UNSEEN = /^(?![ \t\r\n])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

const FIX_JSON = "Fix it at that place, or write the file again with a JSON library.";

const codeOf = (text: string): string => `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** What is wrong with a text that is not JSON, with its column, and its line where it is not the row's first. */
export function invalidJson(
  text: string,
  line: number,
  { note }: Pick<JsonRowOptions, "note"> = {},
): Finding & { readonly rule: "json-invalid" } {
  const fault = findJsonFault(text) ?? { offset: 0, reason: "it can't be parsed" };
  const before = text.slice(0, fault.offset);
  const lastLineEnd = before.lastIndexOf("\n");
  const lines = lastLineEnd === -1 ? 0 : before.split("\n").length - 1;
  const place = `${lines === 0 ? "" : `line ${line + lines}, `}column ${fault.offset - lastLineEnd}`;
  const found = text.slice(fault.offset, fault.offset + 20);
  const shown = UNSEEN.test(found) ? `the invisible ${codeOf(found)}` : cleanText(found, 12);
  return {
    rule: "json-invalid",
    message: `The row is not JSON: ${fault.reason} at ${place}${found === "" ? "" : `, before ${shown}`}.${note === undefined ? "" : ` ${note}`}`,
    hint: FIX_JSON,
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return { string: "a text", boolean: "true or false" }[typeof value as string] ?? "a number"; // any string may index it
}

function rawJson(text: string): string {
  if (text.length <= MAX_RAW_BYTES / 4) return text;
  const head = text.slice(0, MAX_RAW_BYTES / 4);
  return head.isWellFormed() ? head : head.slice(0, -1);
}

/** Where a text stops being JSON (RFC 8259), and why. */
export interface JsonFault {
  /** 0-based index into the text; its length when the text ends too early. */
  readonly offset: number;
  /** Such as `expected a comma or }`. */
  readonly reason: string;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma" | "end";

const WHITE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string without its last quote, as far as it is one. */
const STRING = /"(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/**
 * The first fault of a text that `JSON.parse` refused. The engine's own message is no use here: it often has no position,
 * and its wording differs between versions.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  for (let at = endOf(WHITE, text, 0); at < text.length; at = endOf(WHITE, text, at)) {
    const character = text.charAt(at);
    const inner = open.at(-1);
    const closing = inner === "{" ? "}" : "]";
    const isClosed = inner !== undefined && character === closing && /comma|or/.test(expected);
    if (isClosed) open.pop();
    const afterValue = open.length === 0 ? "end" : "comma";
    if (isClosed) {
      expected = afterValue;
      at += 1;
    } else if (expected === "comma" || expected === "colon" || expected === "end") {
      if (expected === "end") return { offset: at, reason: "more text follows the end of the value" };
      if (character !== (expected === "comma" ? "," : ":"))
        return { offset: at, reason: `expected a ${expected === "comma" ? `comma or ${closing}` : "colon"}` };
      expected = expected === "comma" && inner === "{" ? "key" : "value";
      at += 1;
    } else if (character === '"') {
      const fault = faultOfString(text, at);
      if (fault !== undefined) return fault;
      expected = expected.startsWith("key") ? "colon" : afterValue;
      at = endOf(STRING, text, at) + 1;
    } else if (expected.startsWith("key")) {
      return { offset: at, reason: 'expected a key in double quotes (")' };
    } else if (character === "{" || character === "[") {
      open.push(character);
      expected = character === "{" ? "key or }" : "value or ]";
      at += 1;
    } else {
      const end = endOf(SCALAR, text, at);
      if (end === at)
        return { offset: at, reason: character === "'" ? 'strings need double quotes (")' : "expected a value" };
      expected = afterValue;
      at = end;
    }
  }
  return expected === "end" ? undefined : { offset: text.length, reason: "it ends too early" };
}

/** Where what the pattern matches at a place ends; the place itself where it matches nothing. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function faultOfString(text: string, at: number): JsonFault | undefined {
  const end = endOf(STRING, text, at);
  if (text[end] === '"') return undefined;
  if (end === text.length) return { offset: at, reason: "a string never ends" };
  const isEscape = text[end] === "\\";
  const reason = isEscape ? "\\ does not begin a known escape" : "a string contains a line end or control character";
  return { offset: end, reason };
}
