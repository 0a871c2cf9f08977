/** JSON texts as rows: a line of NDJSON each, or the items of an array. */

import { isJsonObject, typeName } from "../actions/exact-number.ts";
import { parseJson, surveyJson } from "../actions/json.ts";
import type { Problem } from "../actions/problem.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { LF } from "./encoding.ts";
import { MAX_ROW_BYTES, malformed, type Row, type RowParser, rawText, rowTooLong } from "./row.ts";

const CR = 13;

/** Reads one JSON object a line; blank lines are passed over. A line that is wrong says nothing about the next. */
export class NdjsonParser implements RowParser {
  lineEnds = 0;
  readonly hasBegun = true;
  readonly #name: string;
  #sawRow = false;
  /** In a line that was refused for its length. */
  #isInLong = false;

  constructor(name = "The input") {
    this.#name = name;
  }

  read(bytes: Buffer, isEnd: boolean, rows: Row[]): number {
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(LF, start);
      const line = bytes.subarray(start, end === -1 ? bytes.length : end);
      const isLong = this.#isInLong || line.length > MAX_ROW_BYTES;
      if (isLong && !this.#isInLong) rows.push(rowTooLong(this.lineEnds + 1, line.toString(), true));
      else if (!isLong && end === -1 && !isEnd) return start;
      else if (!isLong && !isBlank(line)) rows.push(this.#rowOf(line));
      this.#isInLong = isLong && end === -1;
      if (end === -1) return bytes.length;
      this.lineEnds += 1;
      start = end + 1;
    }
    return start;
  }

  #rowOf(line: Buffer): Row {
    const row = toObjectRow(line.at(-1) === CR ? line.subarray(0, -1) : line, this.lineEnds + 1);
    if (row.kind === "malformed" && !this.#sawRow) this.#refuseDocument(row.text);
    this.#sawRow = true;
    return row;
  }

  /** @param line the first, which is no object. */
  #refuseDocument(line: string): void {
    if (/^\s*\{\s*$/.test(line))
      throw new Failure("usage", `${this.#name} has an object over several lines, not one object per line.`, {
        hint: "Write each on one line, such as by jq -c . FILE; if it is one object that holds a list, name it .json.",
      });
    if (!/^\s*\[/.test(line)) return;
    throw new Failure("usage", `${this.#name} is one JSON document, not one object per line.`, {
      hint: "Name it .json, or add --format json.",
    });
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  return true;
}

/** Real rows nest five deep. What nests deeper than this would exhaust the stack of whatever walks it. */
const MAX_NESTING = 200;

/**
 * The row that a JSON text is: a line of NDJSON or an item of an array.
 *
 * @param item of an array: the physical line on which it begins, and whether the file ends in it. Behind one that is not JSON
 * nothing can be trusted.
 */
export function toObjectRow(
  bytes: Buffer,
  line: number,
  item?: { readonly firstLine: number; readonly isCut: boolean },
): Row {
  const text = bytes.toString("utf8");
  let value: unknown;
  let duplicate: string | undefined;
  try {
    const seen = surveyJson(bytes);
    if (seen.nesting > MAX_NESTING) return tooDeep(line, text);
    duplicate = seen.duplicate;
    value = parseJson(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const invalid = invalidJson(text, item?.firstLine ?? line);
    const problem = item === undefined ? invalid : inArray(invalid, item.isCut);
    return malformed(line, text, item === undefined, problem);
  }
  if (!isJsonObject(value)) {
    return malformed(line, text, true, {
      rule: "json-not-object",
      value: rawText(text),
      message: `A row is a JSON object, not ${typeof value === "string" ? "a text" : typeName(value)}.`,
      hint:
        typeof value === "string" && /^\s*\{/.test(value)
          ? "It is an object that was made text twice: write it as JSON once, such as by jq -r . FILE."
          : 'Write {"action": ..., "data": {...}}, or an object of columns and values.',
    });
  }
  if (duplicate !== undefined) {
    return malformed(line, text, true, {
      rule: "json-duplicate-key",
      pointer: duplicate,
      message: `The key ${cleanText(duplicate === "" ? "of an object" : duplicate)} occurs twice; one of its values would be lost.`,
      hint: "Remove one of the two.",
    });
  }
  return { kind: "object", line, value, text };
}

const tooDeep = (line: number, text: string): Row =>
  malformed(line, text, true, {
    rule: "json-invalid",
    message: `The JSON nests deeper than ${MAX_NESTING} levels.`,
    hint: "Real rows nest a few levels deep: check that it is the right file.",
  });

/** A first character that nobody sees, or that looks like a blank; without those that are blanks to JSON. */
const UNSEEN = /^(?![ \t\r\n])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

const FIX_JSON = "Fix it at that place, or write the file again with a JSON library.";

const codeOf = (text: string): string => `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

type InvalidJson = Problem & { readonly rule: "json-invalid" };

export const CUT_OFF = "The file may have been cut off: write or copy it again.";

const inArray = (invalid: InvalidJson, isCut: boolean): InvalidJson =>
  isCut
    ? { ...invalid, message: `The file ends inside this item. ${invalid.message}`, hint: CUT_OFF }
    : { ...invalid, message: `${invalid.message} Nothing after this item was read.` };

/** What is wrong with a text that is not JSON, with its column, and its line where it is not the row's first. */
export function invalidJson(text: string, line: number): InvalidJson {
  const fault = findJsonFault(text) ?? { offset: 0, reason: "it can't be parsed" };
  const before = text.slice(0, fault.offset);
  const lastLineEnd = before.lastIndexOf("\n");
  const lines = lastLineEnd === -1 ? 0 : before.split("\n").length - 1;
  const place = `${lines === 0 ? "" : `line ${line + lines}, `}column ${fault.offset - lastLineEnd}`;
  const found = text.slice(fault.offset, fault.offset + 20);
  const shown = UNSEEN.test(found) ? `the invisible ${codeOf(found)}` : cleanText(found, 12);
  return {
    rule: "json-invalid",
    message: `The row is not JSON: ${fault.reason} at ${place}${found === "" ? "" : `, before ${shown}`}.`,
    hint: FIX_JSON,
  };
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
