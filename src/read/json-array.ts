import { parseJson } from "../actions/json.ts";
import { invalidJson, toObjectRow } from "./json-row.ts";
import type { Row } from "./row.ts";
import { EMPTY, MAX_ROW_BYTES, malformed, type RowParser, rawText, rowTooLong } from "./row-parser.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LF = 10;

type Phase =
  | "start"
  | "not-array"
  | "first-item"
  | "item"
  | "in-container"
  | "in-string"
  | "in-scalar"
  | "after-item"
  | "done"
  | "fault";

/** Phases in which bytes are kept until something ends. */
const OPEN_PHASES: ReadonlySet<Phase> = new Set(["not-array", "in-container", "in-string", "in-scalar", "fault"]);

/**
 * Reads a JSON array item by item in flat memory. Only the items' borders are found here, each item is then parsed by
 * itself. After the first fault nothing is read: a missing quote turns everything behind it inside out.
 */
export class JsonArrayParser implements RowParser {
  #phase: Phase = "start";
  /** The beginning of an item, of a document that is not an array, or of a faulty line, until it ends. */
  #carry: Buffer = EMPTY;
  /** Where that begins in the bytes in hand. */
  #start = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  lineEnds = 0;
  #itemLine = 1;
  #items = 0;
  stopped = false;
  #fault = { line: 1, message: "", hint: "" };

  take(block: Buffer): Row[] {
    const rows: Row[] = [];
    if (this.stopped || block.length === 0) return rows;
    const bytes = this.#carry.length === 0 ? block : Buffer.concat([this.#carry, block]);
    this.#start = 0;
    for (let at = this.#carry.length; at < bytes.length; at += 1) {
      at = this.#takeAt(at, bytes, rows);
      if (this.stopped) return rows;
    }
    this.#carry = OPEN_PHASES.has(this.#phase) ? Buffer.from(bytes.subarray(this.#start)) : EMPTY;
    if (this.#carry.length <= MAX_ROW_BYTES) return rows;
    if (this.#phase === "not-array") return this.#stop(rows, notArray(this.#carry, this.#itemLine));
    const row = this.#phase === "fault" ? this.#faultRow(this.#carry) : rowTooLong(this.#itemLine, this.#carry, false);
    return this.#stop(rows, row);
  }

  end(): Row[] {
    if (this.stopped || this.#phase === "start" || this.#phase === "done") return [];
    if (this.#phase === "not-array") return this.#stop([], notArray(this.#carry, this.#itemLine));
    if (this.#phase === "fault") return this.#stop([], this.#faultRow(this.#carry));
    if (this.#phase === "in-scalar") {
      const rows: Row[] = [];
      this.#endItem(rows, this.#carry);
      if (this.stopped) return rows;
      return this.#stop(rows, this.#endsEarly(this.lineEnds + 1));
    }
    if (this.#phase === "in-container" || this.#phase === "in-string") {
      const { message } = invalidJson(this.#carry.toString(), this.#itemLine);
      return this.#stop(
        [],
        malformed(this.#itemLine, rawText(this.#carry), false, {
          rule: "json-invalid",
          message: `The file ends inside item ${this.#items + 1}. ${message}`,
          hint: "The file may have been cut off: write or copy it again.",
        }),
      );
    }
    return this.#stop([], this.#endsEarly(this.lineEnds + 1));
  }

  /** Takes the byte at a place, or all to the end of a container; returns the place of the last that was taken. */
  #takeAt(at: number, bytes: Buffer, rows: Row[]): number {
    if (this.#phase === "in-container") {
      const end = this.#containerEnd(bytes, at);
      if (end < bytes.length) this.#endItem(rows, bytes.subarray(this.#start, end + 1));
      return end;
    }
    const byte = bytes[at] ?? 0;
    if (byte === LF) this.lineEnds += 1;
    switch (this.#phase) {
      case "in-string":
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#endItem(rows, bytes.subarray(this.#start, at + 1));
        return at;
      case "in-scalar":
        if (!isWhite(byte) && byte !== COMMA && byte !== 0x5d) return at;
        if (byte === LF) this.lineEnds -= 1;
        this.#endItem(rows, bytes.subarray(this.#start, at));
        return at - 1; // this byte again, after the item
      case "fault":
        if (byte === LF) this.#stop(rows, this.#faultRow(bytes.subarray(this.#start, at)));
        return at;
      case "not-array":
        return at;
      default:
        if (!isWhite(byte)) this.#takeBetween(byte, at);
        return at;
    }
  }

  /** What stands before, between and behind the items. */
  #takeBetween(byte: number, at: number): void {
    switch (this.#phase) {
      case "start":
        this.#begin(byte === 0x5b ? "first-item" : "not-array", at);
        break;
      case "after-item":
        if (byte === COMMA) this.#phase = "item";
        else if (byte === 0x5d) this.#phase = "done";
        else this.#beginFault(at, `A comma or ] is missing after item ${this.#items}.`, "Add it there.");
        break;
      case "done":
        this.#beginFault(
          at,
          "There is more after the ] that ends the array.",
          "A .json file is one array; for one object per line use .ndjson.",
        );
        break;
      default:
        if (byte === 0x5d && this.#phase === "first-item") this.#phase = "done";
        else if (byte === 0x5d || byte === COMMA) {
          const message =
            this.#items === 0
              ? "There is a comma before the first item."
              : `There is no item after the comma that follows item ${this.#items}.`;
          this.#beginFault(at, message, "Remove the comma.");
        } else this.#beginItem(byte, at);
    }
  }

  #begin(phase: Phase, at: number): void {
    this.#phase = phase;
    this.#start = at;
    this.#itemLine = this.lineEnds + 1;
  }

  #beginItem(byte: number, at: number): void {
    const isContainer = byte === 0x7b || byte === 0x5b;
    this.#begin(isContainer ? "in-container" : byte === QUOTE ? "in-string" : "in-scalar", at);
    this.#depth = isContainer ? 1 : 0;
    this.#inString = false;
    this.#escaped = false;
  }

  #endItem(rows: Row[], item: Buffer): void {
    this.#items += 1;
    this.#phase = "after-item";
    const row =
      item.length > MAX_ROW_BYTES
        ? rowTooLong(this.#itemLine, item, false)
        : toObjectRow(item.toString(), this.#itemLine, {
            bordersKnown: false,
            told: "Nothing after this item was read.",
          });
    rows.push(row);
    this.stopped = row.kind === "malformed" && !row.bordersKnown;
  }

  /** From here to the line's end is what the report shows of the fault. */
  #beginFault(at: number, message: string, hint: string): void {
    this.#phase = "fault";
    this.#start = at;
    this.#fault = { line: this.lineEnds + 1, message, hint };
  }

  #faultRow(bytes: Buffer): Row {
    const { line, ...fault } = this.#fault;
    const message = `${fault.message} Nothing after it was read.`;
    return malformed(line, rawText(bytes), false, { rule: "json-invalid", ...fault, message });
  }

  #stop(rows: Row[], row: Row): Row[] {
    this.stopped = true;
    this.#carry = EMPTY;
    rows.push(row);
    return rows;
  }

  /** Index of the byte that ends the container, or the length of `bytes`. Nearly all bytes of a file pass here. */
  #containerEnd(bytes: Buffer, from: number): number {
    let level = this.#depth;
    let quoted = this.#inString;
    let at = this.#escaped ? from + 1 : from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (quoted) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) quoted = false;
      } else if (byte === QUOTE) quoted = true;
      else if (byte === 0x7b || byte === 0x5b) level += 1;
      else if (byte === 0x7d || byte === 0x5d) {
        level -= 1;
        if (level === 0) break;
      } else if (byte === LF) this.lineEnds += 1;
    }
    this.#escaped = at > bytes.length;
    this.#depth = level;
    this.#inString = quoted;
    return Math.min(at, bytes.length);
  }

  #endsEarly(line: number): Row {
    return malformed(line, "", false, {
      rule: "json-invalid",
      message: `The file ends after item ${this.#items} without the ] that ends the array.`,
      hint: "The file may have been cut off: write or copy it again.",
    });
  }
}

const isWhite = (byte: number): boolean => byte === 0x20 || byte === LF || byte === 13 || byte === 9;

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
      hint: "Name it .ndjson, or add --input-format ndjson.",
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
