import { Failure } from "../failure.ts";
import { toObjectRow } from "./json-row.ts";
import { type Row, type RowParser, rowTooLong } from "./row.ts";
import { LF, MAX_ROW_BYTES } from "./row-bytes.ts";

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
      if (isLong && !this.#isInLong) rows.push(rowTooLong(this.lineEnds + 1, line, true));
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
