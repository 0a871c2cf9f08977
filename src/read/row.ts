/** Records of input files, as they are read, and as they are kept. */

import { parseJson } from "../actions/json.ts";
import type { Problem } from "../actions/problem.ts";
import type { ReaderRule } from "../rules.ts";
import { cellsOfRecord } from "./csv-records.ts";
import { EMPTY, headOf, lineEndsIn } from "./encoding.ts";
import { GUARDED_COLUMN, unguardCell } from "./rejects-columns.ts";

/** One record of an input file; `line` is the physical line where it starts, from 1; in a JSON array its index, from 0. */
export type Row = CellsRow | ObjectRow | MalformedRow;

/** A row of a table, with as many cells as its header. */
export class CellsRow {
  readonly kind = "cells";
  readonly line: number;
  /** Trimmed. */
  readonly cells: readonly string[];
  /** The record as RFC 4180 has it, without its line end. */
  readonly text: string;
  readonly #written: readonly string[];

  /** @param cells those of `text`, quotes resolved. The row may end in a delimiter more, or in one less, than its header. */
  constructor(
    line: number,
    cells: readonly string[],
    text: string,
    { header, isGuarded }: { readonly header: readonly string[]; readonly isGuarded?: boolean },
  ) {
    const fitted = cells.length === header.length ? cells : header.map((_name, at) => cells[at] ?? "");
    this.#written = isGuarded === true ? fitted.map(unguardCell) : fitted;
    this.cells = this.#written.map((cell) => cell.trim());
    this.line = line;
    this.text = text;
  }

  /** Its cells as they are written, quotes resolved, without the marks of `safeCsv`. */
  whole(): readonly string[] {
    return this.#written;
  }

  get isBlank(): boolean {
    return this.cells.every((cell) => cell === "");
  }
}

/** An NDJSON line or an item of a JSON array, parsed with exact integers. */
interface ObjectRow {
  readonly kind: "object";
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** The JSON object that `value` was parsed from, whatever the format: it is read again for the numbers as they are written. */
  readonly text: string;
}

/** What can't be read as a row. */
interface MalformedRow {
  readonly kind: "malformed";
  readonly line: number;
  /** As it stands in the file, or as much of it as is kept. */
  readonly text: string;
  readonly problems: readonly Problem[];
  /** False when what follows in the file can't be trusted either, as after a quote that never closes. */
  readonly bordersKnown: boolean;
  /** Of a row with fewer cells than the header, those that it has. */
  readonly cells?: readonly string[];
}

/** What the plan and the ledger keep of a row: its text. A line end, with which no row begins, marks one that can't be read. */
export const keptText = ({ kind, text }: Pick<Row, "kind" | "text">): string =>
  kind === "malformed" ? `\n${text}` : text;

/** The row that was kept. @param of what is known of its input; JSON has no header. */
export function keptRow(
  kept: string,
  line: number,
  of: { readonly header?: readonly string[] | undefined; readonly delimiter?: string | undefined },
): Row {
  if (kept.startsWith("\n")) return { kind: "malformed", line, text: kept.slice(1), problems: [], bordersKnown: true };
  if (of.header === undefined) return { kind: "object", line, value: Object(parseJson(kept)), text: kept };
  const { header, delimiter = "," } = of;
  const cells = cellsOfRecord(kept, delimiter);
  if (cells === undefined) throw new Error("no quote of a row is wrong");
  return new CellsRow(line, cells, kept, { header, isGuarded: header.includes(GUARDED_COLUMN) });
}

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

/** Rows that end in empty cells beyond the header, or without its last cell, which has no name; or that seem to hold others in a cell. */
export interface UnevenRows {
  readonly kind: "longer" | "shorter" | "hiding";
  rows: number;
  readonly firstLine: number;
}

/** A row or line longer than this (1 MiB, in UTF-8) is a problem instead of a row. */
export const MAX_ROW_BYTES = 1024 * 1024;

/** As much of a malformed row is kept, for reports and the rejects file. */
export const MAX_RAW_BYTES = 64 * 1024;

export const rawText = (text: string): string => headOf(text, MAX_RAW_BYTES);

interface ReaderProblem extends Problem {
  readonly rule: ReaderRule;
}

/**
 * @param text of the row, as far as it was read.
 * @param cells of a row that has fewer than the header.
 */
export function malformed(
  line: number,
  text: string,
  bordersKnown: boolean,
  problem: ReaderProblem,
  cells?: readonly string[],
): Row {
  return {
    kind: "malformed",
    line,
    text: rawText(text),
    problems: [problem],
    bordersKnown,
    ...(cells !== undefined && { cells }),
  };
}

export function rowTooLong(line: number, head: string, bordersKnown = false): Row {
  return malformed(line, head, bordersKnown, {
    rule: "row-too-long",
    message: `The row is longer than 1 MiB${bordersKnown ? "" : "; nothing after its beginning was read"}.`,
    hint: "Look for a quote that never closes, or check that it is the right file.",
  });
}
