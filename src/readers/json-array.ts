import { parseJson } from "../actions/json.ts";
import type { Row } from "../mapping/row.ts";
import { invalidJson, toObjectRow } from "./json-row.ts";
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
export function jsonArrayParser(): RowParser {
  let phase: Phase = "start";
  /** What was taken of an item, of a document that is no array, or of a faulty line, that has not ended. */
  let carry: Buffer = EMPTY;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let lineEnds = 0;
  let itemLine = 1;
  let items = 0;
  let stopped = false;
  let fault: { readonly line: number; readonly message: string; readonly hint: string | undefined } = {
    line: 1,
    message: "",
    hint: undefined,
  };

  function stop(rows: Row[], row: Row): Row[] {
    stopped = true;
    carry = EMPTY;
    rows.push(row);
    return rows;
  }

  /** From here to the line's end is what the report shows of the fault. */
  function beginFault(message: string, hint?: string): void {
    phase = "fault";
    fault = { line: lineEnds + 1, message, hint };
  }

  function faultRow(bytes: Buffer): Row {
    const { line, message, hint } = fault;
    return malformed(line, rawText(bytes), false, {
      rule: "json-invalid",
      message: `${message} Nothing after it was read.`,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /** Whether reading may go on after the item. */
  function endItem(rows: Row[], item: Buffer): boolean {
    items += 1;
    phase = "after-item";
    const row =
      item.length > MAX_ROW_BYTES
        ? rowTooLong(itemLine, item, false)
        : toObjectRow(item.toString(), itemLine, { bordersKnown: false, hint: "Nothing after this item was read." });
    rows.push(row);
    stopped = row.kind === "malformed" && !row.bordersKnown;
    return !stopped;
  }

  function beginItem(byte: number): void {
    itemLine = lineEnds + 1;
    depth = 0;
    inString = false;
    escaped = false;
    phase = byte === 0x7b || byte === 0x5b ? "in-container" : byte === QUOTE ? "in-string" : "in-scalar";
    if (phase === "in-container") depth = 1;
  }

  /** Index of the byte that ends the container, or the length of `bytes`. Nearly all bytes of a file pass here. */
  function containerEnd(bytes: Buffer, from: number): number {
    let level = depth;
    let quoted = inString;
    let at = escaped ? from + 1 : from;
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
      } else if (byte === LF) lineEnds += 1;
    }
    escaped = at > bytes.length;
    depth = level;
    inString = quoted;
    return Math.min(at, bytes.length);
  }

  function take(block: Buffer): Row[] {
    const rows: Row[] = [];
    if (stopped || block.length === 0) return rows;
    const bytes = carry.length === 0 ? block : Buffer.concat([carry, block]);
    let itemStart = 0;
    for (let at = carry.length; at < bytes.length; at += 1) {
      if (phase === "in-container") {
        at = containerEnd(bytes, at);
        if (at < bytes.length && !endItem(rows, bytes.subarray(itemStart, at + 1))) return rows;
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (byte === LF) lineEnds += 1;
      switch (phase) {
        case "in-string":
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE && !endItem(rows, bytes.subarray(itemStart, at + 1))) return rows;
          break;
        case "in-scalar":
          if (isWhite(byte) || byte === COMMA || byte === 0x5d) {
            if (byte === LF) lineEnds -= 1;
            if (!endItem(rows, bytes.subarray(itemStart, at))) return rows;
            at -= 1; // this byte again, after the item
          }
          break;
        case "after-item":
          if (byte === COMMA) phase = "item";
          else if (byte === 0x5d) phase = "done";
          else if (!isWhite(byte)) {
            const message = `After item ${items} a comma or ] is missing.`;
            itemStart = at;
            beginFault(message);
          }
          break;
        case "first-item":
        case "item":
          if (isWhite(byte)) break;
          if (byte === 0x5d && phase === "first-item") phase = "done";
          else if (byte === 0x5d || byte === COMMA) {
            const message =
              items === 0
                ? "A comma stands before the first item."
                : `After the comma behind item ${items} there is no item.`;
            itemStart = at;
            beginFault(message, "Remove the comma.");
          } else {
            itemStart = at;
            beginItem(byte);
          }
          break;
        case "done":
          if (!isWhite(byte)) {
            const message = "There is more after the ] that ends the array.";
            itemStart = at;
            beginFault(message, "A .json file is one array; for one object a line use .ndjson.");
          }
          break;
        case "start":
          if (byte === 0x5b) phase = "first-item";
          else if (!isWhite(byte)) {
            itemStart = at;
            itemLine = lineEnds + 1;
            phase = "not-array";
          }
          break;
        case "fault":
          if (byte === LF) return stop(rows, faultRow(bytes.subarray(itemStart, at)));
          break;
        case "not-array":
          break;
      }
    }
    carry = OPEN_PHASES.has(phase) ? Buffer.from(bytes.subarray(itemStart)) : EMPTY;
    if (carry.length <= MAX_ROW_BYTES) return rows;
    if (phase === "not-array") return stop(rows, notArray(carry, itemLine));
    return stop(rows, phase === "fault" ? faultRow(carry) : rowTooLong(itemLine, carry, false));
  }

  return {
    take,
    end() {
      if (stopped || phase === "start" || phase === "done") return [];
      if (phase === "not-array") return stop([], notArray(carry, itemLine));
      if (phase === "fault") return stop([], faultRow(carry));
      if (phase === "in-scalar") {
        const rows: Row[] = [];
        if (!endItem(rows, carry)) return rows;
        return stop(rows, endsEarly(lineEnds + 1));
      }
      if (phase === "in-container" || phase === "in-string") {
        const { message } = invalidJson(carry.toString(), itemLine);
        return stop(
          [],
          malformed(itemLine, rawText(carry), false, {
            rule: "json-invalid",
            message: `The file ends inside item ${items + 1}. ${message}`,
            hint: "The file may have been cut off: write or copy it again.",
          }),
        );
      }
      return stop([], endsEarly(lineEnds + 1));
    },
    get lineEnds() {
      return lineEnds;
    },
    get stopped() {
      return stopped;
    },
  };

  function endsEarly(line: number): Row {
    return malformed(line, "", false, {
      rule: "json-invalid",
      message: `The file ends after item ${items} without the ] that ends the array.`,
      hint: "The file may have been cut off: write or copy it again.",
    });
  }
}

function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === LF || byte === 13 || byte === 9;
}

/** The row for a document whose outermost value is no array. */
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
      message: "The file has one JSON object a line, not one array.",
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
    message: "The file does not begin with [, so it is no JSON array.",
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
