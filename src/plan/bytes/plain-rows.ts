/**
 * The fast path of a plan: rows of a table become candidates without a text or an object being made of them, as long as they
 * are *plain*. Of any other row it says nothing; that one goes whole through the reference, in its place (compile-rows.ts).
 */

import { fold } from "../../actions/nearest.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import type { PlainColumns } from "../../mapping/create-mapper.ts";
import type { Mapper, PlainAmount } from "../../mapping/mapper.ts";
import type { PlainSource } from "../../mapping/plain-source.ts";
import { isAmount } from "../../mapping/totals.ts";
import { isTotalsWord, mayBeginTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import type { CandidateWriter } from "../candidates/candidate-writer.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { createAttributesLeaf } from "./attributes.ts";
import { type Cells, createCells, DOUBLED } from "./cells.ts";
import { createDeclaredRows } from "./declared-rows.ts";
import { ActionDraft, type MutableCandidate, newCandidate } from "./draft.ts";
import { createNamedRows } from "./named-rows.ts";
import type { PlainAction, RowOutcome, RowProgram } from "./program.ts";
import type { Table } from "./values.ts";

export interface PlainRows {
  /** Behind the row that was taken, and the physical line there. */
  readonly next: number;
  readonly nextLine: number;
  /** It was nothing but a line end: no row. */
  readonly isBlank: boolean;
  /** Why the row that was taken gives nothing; undefined where it gives something. */
  readonly skipped: string | undefined;
  /** What is told of it all the same: warnings that many rows have. */
  readonly findings: readonly Finding[];
  /** Its cells. */
  readonly cells: () => readonly string[];
  /**
   * Takes the row at `at`, which begins on `line`, as candidates of the writer. False where it is not plain; then nothing
   * has happened.
   */
  take(bytes: Buffer, at: number, line: number, row: number): boolean;
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
  readonly writer: CandidateWriter;
  readonly publicValues: PublicValuesSeen;
  readonly mapper: Pick<Mapper, "seeAmount" | "seeItem" | "seePlain" | "hasGiven">;
}

/** Undefined where no row can be plain. */
export function createPlainRows(options: PlainRowsOptions): PlainRows | undefined {
  const { reading, now, quote, delimiter } = options;
  const { header, clearWord } = "source" in reading ? reading.source : reading.columns;
  const table: Table = {
    cells: createCells(header.length, codeOf(delimiter), codeOf(quote)),
    leafOptions: { quote: codeOf(quote), now, clearWord },
    stripsGuards: "source" in reading && reading.source.stripsGuards,
  };
  const program = programOf(options, table);
  return program === undefined ? undefined : new TableRows(options, header, table, program);
}

function programOf(options: PlainRowsOptions, table: Table): RowProgram | undefined {
  const { reading, notesEvents, severityOf, publicValues, mapper } = options;
  if ("columns" in reading) {
    const attributes = createAttributesLeaf((trait) => publicValues.wantsTrait(trait));
    return createNamedRows({ columns: reading.columns, table, attributes, notesEvents, severityOf });
  }
  return createDeclaredRows({
    source: reading.source,
    table,
    publicValues,
    notesEvents,
    severityOf,
    hasGiven: (eventId) => mapper.hasGiven?.(eventId) ?? false,
    seePlain: (seen) => mapper.seePlain?.(seen),
  });
}

const codeOf = (character: string): number => (character === "" ? -1 : character.charCodeAt(0));

const NO_BYTES = Buffer.alloc(0);
const NO_FINDINGS: readonly Finding[] = [];

class TableRows implements PlainRows {
  skipped: string | undefined;
  findings: readonly Finding[] = NO_FINDINGS;
  readonly cells = (): readonly string[] => this.#textsAgain();
  readonly #options: PlainRowsOptions;
  readonly #table: Table;
  readonly #cells: Cells;
  readonly #program: RowProgram;
  readonly #looksLikeHeader: (bytes: Uint8Array, cells: Cells) => boolean;
  /** Those of the row in hand, as many as its outcome has actions. */
  readonly #drafts: ActionDraft[] = [];
  readonly #candidate: MutableCandidate;
  /** Where the row stands that was taken last. */
  readonly #last: { bytes: Buffer; at: number; line: number; outcome: RowOutcome | undefined } = {
    bytes: NO_BYTES,
    at: 0,
    line: 0,
    outcome: undefined,
  };
  readonly #filled: Uint8Array;
  readonly #amount: { -readonly [K in keyof PlainAmount]: PlainAmount[K] };

  constructor(options: PlainRowsOptions, header: readonly string[], table: Table, program: RowProgram) {
    this.#options = options;
    this.#table = table;
    this.#cells = table.cells;
    this.#program = program;
    this.#looksLikeHeader = compileHeaderLook(header);
    this.#candidate = newCandidate(options.input);
    this.#filled = new Uint8Array(header.length);
    this.#amount = { line: 0, amount: 0, filled: this.#filled, read: () => this.#readAgain() };
  }

  get next(): number {
    return this.#cells.next;
  }

  get nextLine(): number {
    return this.#cells.nextLine;
  }

  get isBlank(): boolean {
    return this.#cells.isBlank;
  }

  take(bytes: Buffer, at: number, line: number, row: number): boolean {
    const cells = this.#cells;
    if (!cells.scan(bytes, at, line)) return false;
    this.skipped = undefined;
    this.findings = NO_FINDINGS;
    if (cells.isBlank) return true;
    const outcome = this.#program.outcomeOf(bytes);
    if (outcome === undefined || this.#looksLikeHeader(bytes, cells) || this.#mayBeTotals(bytes)) return false;
    const { actions } = outcome;
    for (let number = 0; number < actions.length; number += 1)
      if (!this.#draftAt(number).write(actions[number] as PlainAction, bytes, cells.next - at)) return false; // within its length
    this.skipped = outcome.skipped;
    this.#last.outcome = outcome;
    this.#last.bytes = bytes;
    this.#last.at = at;
    this.#last.line = line;
    this.#add(outcome, bytes, line, row);
    return true;
  }

  #draftAt(number: number): ActionDraft {
    let draft = this.#drafts[number];
    if (draft === undefined) {
      draft = new ActionDraft(this.#table, this.#options.publicValues);
      this.#drafts[number] = draft;
    }
    return draft;
  }

  /** A row may call itself a sum in its first filled cell, or be empty. */
  #mayBeTotals(bytes: Buffer): boolean {
    const { from, to } = this.#cells;
    let cell = 0;
    while (cell < from.length && from[cell] === to[cell]) cell += 1;
    if (cell === from.length) return true;
    const [start, end] = [from[cell] as number, to[cell] as number]; // within their length
    if (!mayBeginTotalsWord(bytes[start] as number) || !mayBeTotalsWord(bytes, start, end)) return false;
    return isTotalsWord(bytes.toString("utf8", start, end)) || (bytes[start] as number) <= BLANK;
  }

  #add(outcome: RowOutcome, bytes: Buffer, line: number, row: number): void {
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
      const { untimed } = draft.action;
      if (!draft.isTimed && untimed.length > 0)
        this.findings = this.findings.length === 0 ? untimed : [...this.findings, ...untimed];
    }
    const { from, to } = this.#cells;
    const filled = this.#filled;
    for (let cell = 0; cell < filled.length; cell += 1)
      filled[cell] = isFilled(bytes, from[cell] as number, to[cell] as number) ? 1 : 0; // as many
    mapper.seeAmount?.(amount);
    this.#program.note?.(outcome, line, this.cells);
  }

  /** The price and the cells of the row that was taken last. */
  #readAgain(): { readonly price: string; readonly cells: readonly string[] } {
    const { outcome, bytes, at } = this.#last;
    if (outcome === undefined) throw new Error("no row was taken");
    const cells = this.#textsAgain();
    let price = "";
    for (const [number, action] of outcome.actions.entries()) {
      const draft = this.#draftAt(number);
      draft.write(action, bytes, this.#cells.next - at);
      if (isAmount(draft.price)) price = draft.price;
    }
    return { price, cells };
  }

  /** The cells of the row that was taken last. */
  #textsAgain(): readonly string[] {
    const { bytes, at, line } = this.#last;
    const { from, to, flags } = this.#cells;
    this.#cells.scan(bytes, at, line);
    const quote = this.#options.quote;
    return Array.from(from, (start, cell) => {
      const text = bytes.toString("utf8", start, to[cell]);
      return ((flags[cell] ?? 0) & DOUBLED) === 0 ? text : text.replaceAll(quote + quote, quote);
    });
  }
}

const BLANK = 0x20;

/** As `isFilled` of totals.ts. */
const isFilled = (bytes: Buffer, from: number, to: number): boolean =>
  from < to && ((bytes[from] as number) > BLANK || bytes.toString("utf8", from, to).trim() !== "");

/** Whether a row may be the header once more (second-header.ts): each cell begins as one of its names may. */
function compileHeaderLook(header: readonly string[]): (bytes: Uint8Array, cells: Cells) => boolean {
  const mayBegin = new Uint8Array(256).fill(1);
  const beginnings = new Set(header.map((name) => fold(name).charCodeAt(0)));
  for (let byte = 0x2e; byte <= 0x7e; byte += 1)
    if (byte !== 0x5f && !beginnings.has(byte) && !beginnings.has(byte | 0x20)) mayBegin[byte] = 0;
  return (bytes, { from, to }) => {
    for (let cell = 0; cell < from.length; cell += 1) {
      const start = from[cell] as number; // within their length
      if (start !== to[cell] && mayBegin[bytes[start] as number] === 0) return false;
    }
    return true;
  };
}
