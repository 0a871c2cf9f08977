/** Blocks of bytes as rows, whatever the format. */

import type { Row, UnevenRows } from "./row.ts";
import { EMPTY, lineEndsIn } from "./row-bytes.ts";

/** Reads the rows of one format. After a malformed row whose borders are not known nothing more comes. */
export interface RowParser {
  /**
   * Reads on. Nothing of the bytes is kept by reference.
   *
   * @param rows to which those are added that end in the bytes.
   * @param isEnd the input ends with the bytes, and so does its last row.
   * @returns where the first row begins that does not end in them: from there they come again, with more behind them.
   */
  read(bytes: Buffer, isEnd: boolean, rows: Row[]): number;
  /** Line ends before that place. */
  readonly lineEnds: number;
  /** Whether it has come to the rows: behind the header of a table, or into the list of a JSON document. */
  readonly hasBegun: boolean;
  /** Of a table: its header as written, where that stands, and what stands between cells. */
  readonly header?: readonly string[] | undefined;
  readonly headerLine?: number | undefined;
  readonly delimiter?: string | undefined;
  /** Of a table: rows that were read although they may be read wrongly. */
  readonly unevenRows?: readonly UnevenRows[];
  /** Which columns of a table become cells; all where it is undefined. */
  wanted?: readonly boolean[] | undefined;
}

/**
 * Feeds a parser block by block. The blocks are valid UTF-8 without a byte order mark, cut anywhere between characters. At most
 * `MAX_ROW_BYTES` and one block are held in memory.
 */
export class RowReader {
  /** Nothing more will come. */
  stopped = false;
  readonly #parser: RowParser;
  /** The beginning of a row that has not ended. */
  #rest: Buffer = EMPTY;

  constructor(parser: RowParser) {
    this.#parser = parser;
  }

  /** Line ends in all bytes so far. */
  get lineEnds(): number {
    return this.#parser.lineEnds + lineEndsIn(this.#rest);
  }

  /** The rows that end in a block; without one, those that end with the input. */
  take(block?: Buffer): Row[] {
    const rows: Row[] = [];
    if (this.stopped) return rows;
    const bytes = this.#rest.length === 0 ? (block ?? EMPTY) : Buffer.concat([this.#rest, block ?? EMPTY]);
    const end = this.#parser.read(bytes, block === undefined, rows);
    const last = rows.at(-1);
    this.stopped = last?.kind === "malformed" && !last.bordersKnown;
    // A copy: the block may be reused, and a few bytes must not keep it in memory.
    this.#rest = this.stopped || end === bytes.length ? EMPTY : Buffer.from(bytes.subarray(end));
    return rows;
  }
}
