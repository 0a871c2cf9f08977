import { toObjectRow } from "./json-row.ts";
import type { Row } from "./row.ts";
import { EMPTY, MAX_ROW_BYTES, type RowParser, rawText, rowTooLong } from "./row-parser.ts";

const LF = 10;
const BLANK = /^[ \t\r]*$/;

/** Reads one JSON object a line; blank lines are passed over. A line that is wrong says nothing about the next. */
export function ndjsonParser(): RowParser {
  let carry: Buffer = EMPTY;
  let lineEnds = 0;
  let sawRow = false;
  /** The beginning of a line over the limit, whose rest is passed over. */
  let longHead: Buffer | undefined;

  function toRow(text: string): Row {
    const hint = sawRow ? undefined : hintForFirst(text);
    sawRow = true;
    return toObjectRow(text, lineEnds + 1, { bordersKnown: true, hint });
  }

  function endLine(rows: Row[], bytes: Buffer, start: number, end: number): void {
    if (longHead !== undefined) {
      rows.push(rowTooLong(lineEnds + 1, longHead, true));
      longHead = undefined;
    } else if (end - start > MAX_ROW_BYTES) rows.push(rowTooLong(lineEnds + 1, bytes.subarray(start, end), true));
    else {
      const text = bytes.toString("utf8", start, end > start && bytes[end - 1] === 13 ? end - 1 : end);
      if (!BLANK.test(text)) rows.push(toRow(text));
    }
  }

  return {
    take(block) {
      const bytes = carry.length === 0 ? block : Buffer.concat([carry, block]);
      const rows: Row[] = [];
      let start = 0;
      for (let end = bytes.indexOf(LF, carry.length); end !== -1; end = bytes.indexOf(LF, start)) {
        endLine(rows, bytes, start, end);
        lineEnds += 1;
        start = end + 1;
      }
      carry = start === bytes.length || longHead !== undefined ? EMPTY : Buffer.from(bytes.subarray(start));
      if (carry.length > MAX_ROW_BYTES) {
        longHead = Buffer.from(rawText(carry));
        carry = EMPTY;
      }
      return rows;
    },
    end() {
      const rows: Row[] = [];
      if (carry.length > 0 || longHead !== undefined) endLine(rows, carry, 0, carry.length);
      carry = EMPTY;
      return rows;
    },
    get lineEnds() {
      return lineEnds;
    },
    stopped: false,
  };
}

/** A document spread over lines is the usual reason why the first line is not an object. */
function hintForFirst(text: string): string {
  const first = text.trim();
  if (first.startsWith("[")) return "If the file is one array, name it .json or add --input-format json.";
  if (first === "{") return "NDJSON has each object on one line; an array of objects is read with --input-format json.";
  return "NDJSON has one JSON object per line.";
}
