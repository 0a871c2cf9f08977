import { parseJson } from "../actions/json.ts";
import { invalidJson, toObjectRow } from "./json-row.ts";
import type { Row } from "./row.ts";
import { EMPTY, MAX_ROW_BYTES, malformed, type RowParser, rawText, rowTooLong } from "./row-parser.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const LF = 10;

/**
 * Reads a JSON array item by item in flat memory. Only the items' borders are found here, each item is then parsed by
 * itself. After the first fault nothing is read: a missing quote turns everything behind it inside out.
 */
export class JsonArrayParser implements RowParser {
  #expects: "array" | "first item" | "item" | "comma" | "nothing" = "array";
  /** What begins something whose end is still to come. */
  #carry: Buffer = EMPTY;
  /** Line ends before that. */
  #lineEnds = 0;
  #items = 0;
  stopped = false;

  get lineEnds(): number {
    return this.#lineEnds + lineEndsIn(this.#carry);
  }

  take(block: Buffer): Row[] {
    return this.#read(this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]), false);
  }

  end(): Row[] {
    return this.#read(this.#carry, true);
  }

  #read(bytes: Buffer, isEnd: boolean): Row[] {
    const rows: Row[] = [];
    let at = 0;
    while (!this.stopped) {
      at = this.#behindBlanks(bytes, at);
      const isOver = at === bytes.length;
      if (isOver && isEnd && this.#expects !== "array" && this.#expects !== "nothing") rows.push(this.#endsEarly());
      const next = isOver ? undefined : this.#step(bytes, at, isEnd, rows);
      if (next === undefined) break;
      at = next;
    }
    for (const row of rows) if (row.kind === "malformed" && !row.bordersKnown) this.stopped = true;
    this.#carry = this.stopped ? EMPTY : Buffer.from(bytes.subarray(at));
    return rows;
  }

  #behindBlanks(bytes: Buffer, from: number): number {
    let at = from;
    for (; isWhite(bytes[at]); at += 1) if (bytes[at] === LF) this.#lineEnds += 1;
    return at;
  }

  /** Takes what begins at a place; gives the place behind it, or undefined where nothing more can be taken. */
  #step(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const byte = bytes[at];
    const isWaiting = !isEnd && bytes.length - at <= MAX_ROW_BYTES;
    const fault = (message: string, hint: string): undefined => {
      const end = bytes.indexOf(LF, at);
      if (end === -1 && isWaiting) return;
      rows.push(this.#fault(bytes.subarray(at, end === -1 ? bytes.length : end), message, hint));
    };
    switch (this.#expects) {
      case "array":
        if (byte !== OPEN_LIST) {
          if (!isWaiting) rows.push(notArray(bytes.subarray(at), this.#lineEnds + 1));
          return undefined;
        }
        this.#expects = "first item";
        return at + 1;
      case "comma":
        if (byte !== COMMA && byte !== CLOSE_LIST)
          return fault(`A comma or ] is missing after item ${this.#items}.`, "Add it there.");
        this.#expects = byte === COMMA ? "item" : "nothing";
        return at + 1;
      case "nothing":
        return fault(
          "There is more after the ] that ends the array.",
          "A .json file is one array; for one object per line use .ndjson.",
        );
      case "first item":
        if (byte === CLOSE_LIST) {
          this.#expects = "nothing";
          return at + 1;
        }
        if (byte === COMMA) return fault("There is a comma before the first item.", "Remove the comma.");
        return this.#item(bytes, at, isEnd, rows);
      case "item":
        if (byte === CLOSE_LIST || byte === COMMA)
          return fault(`There is no item after the comma that follows item ${this.#items}.`, "Remove the comma.");
        return this.#item(bytes, at, isEnd, rows);
    }
  }

  #item(bytes: Buffer, at: number, isEnd: boolean, rows: Row[]): number | undefined {
    const line = this.#lineEnds + 1;
    const end = endOfItem(bytes, at, isEnd);
    const item = bytes.subarray(at, end);
    if (item.length > MAX_ROW_BYTES) rows.push(rowTooLong(line, item, false));
    else if (end !== undefined)
      rows.push(toObjectRow(item, line, { bordersKnown: false, note: "Nothing after this item was read." }));
    else if (isEnd) rows.push(this.#cutOff(item, line));
    const row = rows.at(-1);
    if (end === undefined || (row?.kind === "malformed" && !row.bordersKnown)) return undefined;
    this.#items += 1;
    this.#lineEnds += lineEndsIn(item);
    this.#expects = "comma";
    return end;
  }

  #cutOff(item: Buffer, line: number): Row {
    return malformed(line, rawText(item), false, {
      rule: "json-invalid",
      message: `The file ends inside item ${this.#items + 1}. ${invalidJson(item.toString(), line).message}`,
      hint: "The file may have been cut off: write or copy it again.",
    });
  }

  /** From a fault to the line's end is what the report shows of it. */
  #fault(bytes: Buffer, message: string, hint: string): Row {
    return malformed(this.#lineEnds + 1, rawText(bytes), false, {
      rule: "json-invalid",
      message: `${message} Nothing after it was read.`,
      hint,
    });
  }

  #endsEarly(): Row {
    return malformed(this.#lineEnds + 1, "", false, {
      rule: "json-invalid",
      message: `The file ends after item ${this.#items} without the ] that ends the array.`,
      hint: "The file may have been cut off: write or copy it again.",
    });
  }
}

const isWhite = (byte: number | undefined): boolean => byte === 0x20 || byte === LF || byte === 13 || byte === 9;

/** Where the item at a place ends; undefined when that is still to come. */
function endOfItem(bytes: Buffer, from: number, isEnd: boolean): number | undefined {
  const first = bytes[from];
  if (first === QUOTE) {
    const end = endOfString(bytes, from);
    return end > bytes.length ? undefined : end;
  }
  if (first !== 0x7b && first !== OPEN_LIST) {
    for (let at = from; at < bytes.length; at += 1)
      if (isWhite(bytes[at]) || bytes[at] === COMMA || bytes[at] === CLOSE_LIST) return at;
    return isEnd ? bytes.length : undefined;
  }
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === 0x7b || byte === OPEN_LIST) depth += 1;
    else if (byte === 0x7d || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Behind the quote that ends the string which begins at a place; beyond the bytes where it does not. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function lineEndsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** The row for a document that is not an array. */
function notArray(head: Buffer, line: number): Row {
  const text = rawText(head);
  return malformed(line, text, false, { rule: "json-not-array", ...describe(text.trim()) });
}

function describe(text: string): { readonly message: string; readonly hint: string } {
  const whole = parsed(text);
  if (isAction(whole)) {
    return { message: "The file is one {action, data} object, not an array of them.", hint: "Put [ ] around it." };
  }
  const firstLine = parsed(text.split("\n", 1)[0] ?? "");
  if (whole === undefined && typeof firstLine === "object" && firstLine !== null) {
    return {
      message: "The file has one JSON object per line, not one array.",
      hint: "Name it .ndjson, or add --format ndjson.",
    };
  }
  if (text.startsWith("{")) {
    return {
      message: "The file is an object, not an array.",
      hint: 'A .json file is a request body: [{"action": ..., "data": {...}}, ...]. Put [ ] around the items.',
    };
  }
  return {
    message: "The file does not begin with [, so it is not a JSON array.",
    hint: 'A .json file is a request body: [{"action": ..., "data": {...}}, ...].',
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isAction(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "action") && Object.hasOwn(value, "data");
}
