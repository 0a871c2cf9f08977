import { Failure } from "../failure.ts";
import { toObjectRow } from "./json-row.ts";
import { type Row, type RowParser, rawText, rowTooLong } from "./row.ts";
import { EMPTY, LF, MAX_ROW_BYTES } from "./row-bytes.ts";

const CR = 13;

/** Reads one JSON object a line; blank lines are passed over. A line that is wrong says nothing about the next. */
export class NdjsonParser implements RowParser {
  lineEnds = 0;
  readonly hasBegun = true;
  readonly stopped = false;
  readonly #name: string;
  /** The beginning of a line; of one over the limit as much as is shown. */
  #carry: Buffer = EMPTY;
  #isLong = false;
  #sawRow = false;

  constructor(name = "The input") {
    this.#name = name;
  }

  take(block: Buffer): Row[] {
    const rows: Row[] = [];
    let start = 0;
    for (let end = block.indexOf(LF); end !== -1; end = block.indexOf(LF, start)) {
      this.#endLine(rows, block.subarray(start, end));
      this.lineEnds += 1;
      start = end + 1;
    }
    if (!this.#isLong && start < block.length) this.#carry = Buffer.concat([this.#carry, block.subarray(start)]);
    if (this.#carry.length > MAX_ROW_BYTES) {
      this.#isLong = true;
      this.#carry = Buffer.from(rawText(this.#carry));
    }
    return rows;
  }

  end(): Row[] {
    const rows: Row[] = [];
    this.#endLine(rows, EMPTY);
    return rows;
  }

  #endLine(rows: Row[], rest: Buffer): void {
    const bytes = this.#carry.length === 0 ? rest : Buffer.concat([this.#carry, rest]);
    const line = this.lineEnds + 1;
    if (this.#isLong || bytes.length > MAX_ROW_BYTES) rows.push(rowTooLong(line, bytes, true));
    else if (!isBlank(bytes)) {
      const text = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
      const row = toObjectRow(text, line);
      if (row.kind === "malformed" && !this.#sawRow) this.#refuseDocument(row.text);
      rows.push(row);
      this.#sawRow = true;
    }
    this.#carry = EMPTY;
    this.#isLong = false;
  }

  /** @param line the first, which is no object. */
  #refuseDocument(line: string): void {
    if (!/^\s*(?:\[|\{\s*$)/.test(line)) return;
    throw new Failure("usage", `${this.#name} is one JSON document, not one object per line.`, {
      hint: "Name it .json, or add --format json.",
    });
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  return true;
}
