/**
 * The fast path of a plan: rows of a table become candidates without a text or an object being made of them, as long as they
 * are *plain*. Of any other row it says nothing; that one goes whole through the reference, in its place (compile-rows.ts).
 */

import { fold } from "../../actions/nearest.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import type { PlainColumns } from "../../mapping/create-mapper.ts";
import type { Mapper, PlainAmount } from "../../mapping/mapper.ts";
import type { PlainSource } from "../../mapping/plain-source.ts";
import type { Row } from "../../mapping/row.ts";
import { isAmount } from "../../mapping/totals.ts";
import { isTotalsWord, mayBeginTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import type { PlainWriter } from "../candidates/candidate-writer.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { unlessFull } from "../candidates/row-memory.ts";
import { createAttributesLeaf } from "./attributes.ts";
import { type Cells, DOUBLED } from "./cells.ts";
import { createDeclaredRows } from "./declared-rows.ts";
import { ActionDraft, type MutableCandidate, NO_FINDINGS, newCandidate } from "./draft.ts";
import { createCells } from "./find-cells.ts";
import { NOT_PLAIN } from "./leaves.ts";
import { createNamedRows } from "./named-rows.ts";
import type { PlainAction, RowOutcome, RowProgram } from "./program.ts";
import { scratchIn, type Table } from "./table.ts";
import { RangeWindow } from "./window.ts";

export interface PlainRows {
  /** Takes the rows of a range from now on. */
  begin(range: Buffer): void;
  /** Behind the row that was taken, in the range, and the physical line there. */
  readonly next: number;
  readonly nextLine: number;
  /** It was nothing but a line end: no row. */
  readonly isBlank: boolean;
  /** Why the row that was taken gives nothing; undefined where it gives something. */
  readonly skipped: string | undefined;
  /** What is told of it all the same: warnings that many rows have. */
  readonly findings: readonly Finding[];
  /** The row that was taken, as problems name it: its cells or its text, where it is to be whole, but not an object's value. */
  rowAt(line: number, isWhole: boolean): Row;
  /**
   * Takes the row at `at` of the range, which begins on `line`, as candidates of the writer. False where it is not plain; then
   * nothing has happened.
   */
  take(at: number, line: number, row: number): boolean;
  /**
   * The cells of the row that was not taken, which ends at `next`; undefined where the reference is to tell what they are, and
   * where the row ends.
   */
  cellsOfOther(): readonly string[] | undefined;
}

export interface PlainRowsOptions {
  /** What the cells mean. */
  readonly reading: { readonly columns: PlainColumns } | { readonly source: PlainSource };
  readonly delimiter: string;
  /** Empty for none. */
  readonly quote: string;
  /** Number of the input, from 0. */
  readonly input: number;
  /** In Unix seconds. */
  readonly now: number;
  /** The events that rows name for actions which carry none are noted, by the reference. */
  readonly notesEvents: boolean;
  readonly severityOf: (rule: string) => Severity;
  readonly writer: PlainWriter;
  readonly publicValues: PublicValuesSeen;
  readonly mapper: Pick<Mapper, "seeAmount" | "seeItem" | "seePlain" | "hasGiven">;
}

/** Undefined where no row can be plain. */
export const createPlainRows = (options: PlainRowsOptions): PlainRows | undefined =>
  unlessFull(() => plainRowsBy(options));

function plainRowsBy(options: PlainRowsOptions): PlainRows | undefined {
  const { reading, now, quote, delimiter, writer } = options;
  const { memory } = writer;
  const { header, clearWord } = "source" in reading ? reading.source : reading.columns;
  const window = new RangeWindow(memory);
  const table: Table = {
    ...scratchIn(memory),
    cells: createCells(memory, header.length, codeOf(delimiter), codeOf(quote)),
    leafOptions: { memory, quote: codeOf(quote), now, clearWord },
    stripsGuards: "source" in reading && reading.source.stripsGuards,
  };
  const program = programOf(options, table);
  return program === undefined ? undefined : new TableRows(options, header, window, table, program);
}

function programOf(options: PlainRowsOptions, table: Table): RowProgram | undefined {
  const { reading, notesEvents, severityOf, publicValues, mapper, writer } = options;
  if ("columns" in reading) {
    const attributes = createAttributesLeaf(table.memory, (trait) => publicValues.wantsTrait(trait));
    return createNamedRows({ columns: reading.columns, table, attributes, notesEvents, severityOf });
  }
  return createDeclaredRows({
    source: reading.source,
    table,
    writer,
    publicValues,
    notesEvents,
    severityOf,
    hasGiven: (eventId) => mapper.hasGiven?.(eventId) ?? false,
    seePlain: (seen) => mapper.seePlain?.(seen),
  });
}

const codeOf = (character: string): number => (character === "" ? -1 : character.charCodeAt(0));

class TableRows implements PlainRows {
  skipped: string | undefined;
  findings: readonly Finding[] = NO_FINDINGS;
  readonly #textsOfLast = (): readonly string[] => this.#textsAgain();
  readonly #options: PlainRowsOptions;
  readonly #window: RangeWindow;
  readonly #cells: Cells;
  readonly #program: RowProgram;
  readonly #looksLikeHeader: (cells: Cells) => boolean;
  /** Those of the row in hand, as many as its outcome has actions. */
  readonly #drafts: ActionDraft[] = [];
  readonly #candidate: MutableCandidate;
  /** The row that was taken last, in the range. */
  readonly #last: { at: number; line: number; outcome: RowOutcome | undefined } = {
    at: 0,
    line: 0,
    outcome: undefined,
  };
  /** Nothing but the values of the row that was not taken is left to judge. */
  #areCellsPlain = false;
  readonly #filled: Int32Array;
  readonly #amount: { -readonly [K in keyof PlainAmount]: PlainAmount[K] };

  constructor(
    options: PlainRowsOptions,
    header: readonly string[],
    window: RangeWindow,
    { memory, cells }: Table,
    program: RowProgram,
  ) {
    this.#options = options;
    this.#window = window;
    this.#cells = cells;
    this.#program = program;
    this.#looksLikeHeader = compileHeaderLook(memory.bytes, header);
    this.#candidate = newCandidate(options.input);
    this.#filled = new Int32Array(Math.ceil(header.length / 32));
    this.#amount = {
      line: 0,
      amount: 0,
      cells: header.length,
      filled: this.#filled,
      read: () => this.#readAgain(),
    };
  }

  begin(range: Buffer): void {
    this.#window.begin(range);
  }

  get next(): number {
    return this.#cells.next - this.#window.shift;
  }

  get nextLine(): number {
    return this.#cells.nextLine;
  }

  get isBlank(): boolean {
    return this.#cells.isBlank;
  }

  take(at: number, line: number, row: number): boolean {
    const cells = this.#cells;
    const window = this.#window;
    const start = window.placeOf(at);
    this.#areCellsPlain = false;
    if (!cells.scan(start, window.end, line)) return false;
    this.skipped = undefined;
    this.findings = NO_FINDINGS;
    if (cells.isBlank) return true;
    if (this.#looksLikeHeader(cells)) return false;
    this.#areCellsPlain = true;
    const outcome = this.#program.outcomeOf();
    if (outcome === undefined || this.#mayBeTotals()) return false;
    if (!this.#write(outcome, cells.next - start)) return false;
    this.skipped = outcome.skipped;
    const last = this.#last;
    last.outcome = outcome;
    last.at = at;
    last.line = line;
    this.#add(outcome, line, row);
    return true;
  }

  rowAt(line: number, isWhole: boolean): Row {
    return { kind: "cells", line, cells: isWhole ? this.#textsAgain() : [] };
  }

  cellsOfOther(): readonly string[] | undefined {
    return this.#areCellsPlain ? this.#texts() : undefined;
  }

  /** Whether all actions of the row are plain, whose lines are written one behind the other. */
  #write({ actions }: RowOutcome, rowBytes: number): boolean {
    let end = this.#options.writer.roomForLines();
    for (let number = 0; number < actions.length; number += 1) {
      end = this.#draftAt(number).write(actions[number] as PlainAction, end, rowBytes); // within its length
      if (end === NOT_PLAIN) return false;
    }
    return true;
  }

  #draftAt(number: number): ActionDraft {
    let draft = this.#drafts[number];
    if (draft === undefined) {
      const { writer, publicValues } = this.#options;
      draft = new ActionDraft(this.#cells, writer, publicValues);
      this.#drafts[number] = draft;
    }
    return draft;
  }

  /** A row may call itself a sum in its first filled cell, or be empty. */
  #mayBeTotals(): boolean {
    const { memory } = this.#options.writer;
    const { bytes } = memory;
    const { from, to } = this.#cells;
    let cell = 0;
    while (cell < from.length && from[cell] === to[cell]) cell += 1;
    if (cell === from.length) return true;
    const start = from[cell] as number; // within their length
    const end = to[cell] as number;
    if (!mayBeginTotalsWord(bytes[start] as number) || !mayBeTotalsWord(bytes, start, end)) return false;
    return isTotalsWord(memory.text(start, end)) || (bytes[start] as number) <= BLANK;
  }

  #add(outcome: RowOutcome, line: number, row: number): void {
    const { writer, mapper } = this.#options;
    const candidate = this.#candidate;
    const amount = this.#amount;
    candidate.line = line;
    candidate.row = row;
    amount.line = line;
    amount.amount = 0;
    for (let number = 0; number < outcome.actions.length; number += 1) {
      const draft = this.#drafts[number] as ActionDraft; // written
      draft.fill(candidate, writer);
      candidate.nth = outcome.nths[number] as number; // as many
      writer.addPlain(candidate);
      amount.amount += draft.amount;
      this.findings = draft.withLacking(this.findings);
    }
    this.#noteFilled();
    mapper.seeAmount?.(amount);
    this.#program.note?.(outcome, line, this.#textsOfLast);
  }

  /** As `isFilled` of totals.ts. */
  #noteFilled(): void {
    const { memory } = this.#options.writer;
    const { bytes } = memory;
    const { from, to } = this.#cells;
    const filled = this.#filled;
    let bits = 0;
    for (let cell = 0; cell < from.length; cell += 1) {
      const start = from[cell] as number; // within its length
      const end = to[cell] as number; // as many
      if (start < end && ((bytes[start] as number) > BLANK || memory.text(start, end).trim() !== ""))
        bits |= 1 << (cell & 31);
      if ((cell & 31) === 31 || cell + 1 === from.length) {
        filled[cell >> 5] = bits;
        bits = 0;
      }
    }
  }

  /** The price and the cells of the row that was taken last. */
  #readAgain(): { readonly price: string; readonly cells: readonly string[] } {
    const { outcome, at, line } = this.#last;
    if (outcome === undefined) throw new Error("no row was taken");
    const cells = this.#textsAgain();
    const start = this.#scanAgain(at, line);
    let price = "";
    for (const [number, action] of outcome.actions.entries()) {
      const draft = this.#draftAt(number);
      draft.write(action, this.#options.writer.roomForLines(), this.#cells.next - start);
      if (isAmount(draft.price)) price = draft.price;
    }
    return { price, cells };
  }

  /** @returns where the row stands. */
  #scanAgain(at: number, line: number): number {
    const start = this.#window.placeOf(at);
    this.#cells.scan(start, this.#window.end, line);
    return start;
  }

  /** The cells of the row that was taken last. */
  #textsAgain(): readonly string[] {
    const { at, line } = this.#last;
    this.#scanAgain(at, line);
    return this.#texts();
  }

  /** The cells of the row that was scanned last. */
  #texts(): readonly string[] {
    const { writer, quote } = this.#options;
    const { from, to, flags } = this.#cells;
    return Array.from(from, (start, cell) => {
      const text = writer.memory.text(start, to[cell] as number); // as many
      return ((flags[cell] ?? 0) & DOUBLED) === 0 ? text : text.replaceAll(quote + quote, quote);
    });
  }
}

const BLANK = 0x20;

/** Whether a row may be the header once more (second-header.ts): each cell begins as one of its names may. */
function compileHeaderLook(bytes: Uint8Array, header: readonly string[]): (cells: Cells) => boolean {
  const mayBegin = new Uint8Array(256).fill(1);
  const beginnings = new Set(header.map((name) => fold(name).charCodeAt(0)));
  for (let byte = 0x2e; byte <= 0x7e; byte += 1)
    if (byte !== 0x5f && !beginnings.has(byte) && !beginnings.has(byte | 0x20)) mayBegin[byte] = 0;
  return ({ from, to }) => {
    for (let cell = 0; cell < from.length; cell += 1) {
      const start = from[cell] as number; // within their length
      if (start !== to[cell] && mayBegin[bytes[start] as number] === 0) return false;
    }
    return true;
  };
}
