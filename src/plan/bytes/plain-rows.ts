/**
 * The fast path of a plan: rows of a table become candidates without a text or an object being made of them, as long as they
 * are *plain*. Of any other row it says nothing; that one goes whole through the reference, in its place (compile-rows.ts).
 */

import { type ActionName, actionSpec } from "../../actions/actions.ts";
import { digestHex } from "../../actions/identity.ts";
import { fold } from "../../actions/nearest.ts";
import type { PlainColumns } from "../../mapping/create-mapper.ts";
import type { PlainAmount } from "../../mapping/mapper.ts";
import { isTotalsWord } from "../../mapping/totals-words.ts";
import type { CandidateWriter, PlainCandidate } from "../candidates/candidate-writer.ts";
import { FACT_FIELDS } from "../candidates/facts.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { createAttributesLeaf } from "./attributes.ts";
import { BEYOND_ASCII, type Cells, createCells, DOUBLED } from "./cells.ts";
import { copyBytes, digitsAt, NOT_PLAIN, textOf } from "./leaves.ts";
import { compileAction, type PlainAction } from "./program.ts";

export interface PlainRows {
  /** Behind the row that was taken, and the physical line there. */
  readonly next: number;
  readonly nextLine: number;
  /** It was nothing but a line end: no row. */
  readonly isBlank: boolean;
  /**
   * Takes the row at `at`, which begins on `line`, as a candidate of the writer. False where it is not plain; then nothing
   * has happened.
   */
  take(bytes: Buffer, at: number, line: number, row: number): boolean;
}

export interface PlainRowsOptions {
  readonly columns: PlainColumns;
  readonly delimiter: string;
  /** Empty for none. */
  readonly quote: string;
  /** Number of the input, from 0. */
  readonly input: number;
  /** In Unix seconds. */
  readonly now: number;
  /** The events that rows name for actions which carry none are noted, by the reference. */
  readonly notesEvents: boolean;
  readonly writer: CandidateWriter;
  readonly publicValues: PublicValuesSeen;
  readonly seeAmount: (amount: PlainAmount) => void;
}

/** Undefined where no row can be plain. */
export function createPlainRows(options: PlainRowsOptions): PlainRows | undefined {
  const { columns, notesEvents, now, quote } = options;
  const attributes = createAttributesLeaf((trait) => options.publicValues.wantsTrait(trait));
  const leafOptions = { quote: codeOf(quote), now, clearWord: columns.clearWord };
  const actions = new Map<ActionName, PlainAction>();
  for (const action of columns.byAction.keys()) {
    const isNoted = notesEvents && columns.columns.fields.has("eventId") && !takesEvent(action);
    const compiled = isNoted ? undefined : compileAction(columns, action, leafOptions, attributes.write);
    if (compiled !== undefined) actions.set(action, compiled);
  }
  return actions.size === 0 ? undefined : new TableRows(options, actions, attributes);
}

const codeOf = (character: string): number => (character === "" ? -1 : character.charCodeAt(0));

const takesEvent = (action: ActionName): boolean => {
  const { required, optional } = actionSpec(action);
  return required.includes("eventId") || optional.includes("eventId");
};

const NO_BYTES = Buffer.alloc(0);

/** Room for a row's line and content: each byte may take two, and names and marks stand around each value. */
const roomFor = (rowBytes: number): number => 4 * rowBytes + 4096;

class TableRows implements PlainRows {
  readonly #options: PlainRowsOptions;
  readonly #cells: Cells;
  readonly #actions: ReadonlyMap<string, PlainAction>;
  readonly #attributes: ReturnType<typeof createAttributesLeaf>;
  readonly #columnOfAction: number;
  /** That of the row before, or of all rows. */
  #action: PlainAction | undefined;
  #actionName: Uint8Array = new Uint8Array(0);
  readonly #looksLikeHeader: (bytes: Uint8Array, cells: Cells) => boolean;
  #line: Buffer = Buffer.allocUnsafe(roomFor(4096));
  #content: Buffer = Buffer.allocUnsafe(roomFor(4096));
  /** Where each field's value stands in the line; the beginning is -1 where it has none. */
  #valueFrom = new Int32Array(0);
  #valueTo = new Int32Array(0);
  readonly #candidate: { -readonly [K in keyof PlainCandidate]: PlainCandidate[K] };
  /** Where the row stands that was taken last. */
  readonly #last: { action: PlainAction | undefined; bytes: Buffer; at: number } = {
    action: undefined,
    bytes: NO_BYTES,
    at: 0,
  };
  readonly #amount: { -readonly [K in keyof PlainAmount]: PlainAmount[K] };

  constructor(
    options: PlainRowsOptions,
    actions: ReadonlyMap<ActionName, PlainAction>,
    attributes: ReturnType<typeof createAttributesLeaf>,
  ) {
    const { columns, delimiter, quote, input } = options;
    const { header, fixed } = columns;
    this.#options = options;
    this.#cells = createCells(header.length, codeOf(delimiter), codeOf(quote));
    this.#actions = actions;
    this.#attributes = attributes;
    this.#columnOfAction = columns.columns.action ?? -1;
    this.#action = fixed === undefined ? undefined : actions.get(fixed.action);
    this.#looksLikeHeader = compileHeaderLook(header);
    this.#candidate = {
      input,
      line: 0,
      row: 0,
      code: 0,
      text: this.#line,
      textBytes: 0,
      identity: "",
      content: "",
      source: this.#line,
      factFrom: new Int32Array(FACT_FIELDS.length),
      factTo: new Int32Array(FACT_FIELDS.length),
      byNft: false,
      time: undefined,
    };
    this.#amount = { line: 0, amount: 0, filled: new Uint8Array(header.length), read: () => this.#readAgain() };
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
    if (cells.isBlank) return true;
    const action = this.#actionOf(bytes);
    if (action === undefined || this.#looksLikeHeader(bytes, cells) || this.#mayBeTotals(bytes)) return false;
    const length = cells.next - at;
    if (this.#line.length < roomFor(length)) {
      this.#line = Buffer.allocUnsafe(roomFor(2 * length));
      this.#content = Buffer.allocUnsafe(roomFor(2 * length));
    }
    const end = this.#writeLine(action, bytes);
    if (end === NOT_PLAIN || !this.#isWhole(action, bytes)) return false;
    this.#add(action, bytes, line, row, end);
    this.#last.action = action;
    this.#last.bytes = bytes;
    this.#last.at = at;
    return true;
  }

  /** The action of the row, if its cell names the one that all rows have, or one of those that may be plain. */
  #actionOf(bytes: Buffer): PlainAction | undefined {
    const column = this.#columnOfAction;
    if (column === -1) return this.#action;
    const { from, to } = this.#cells;
    const start = from[column] ?? 0;
    const end = to[column] ?? 0;
    const isFixed = this.#options.columns.fixed !== undefined;
    if (isFixed && start === end) return this.#action;
    if (isSame(bytes, start, end, this.#actionName)) return this.#action;
    const named = this.#actions.get(textOf(bytes, start, end));
    if (isFixed && named !== this.#action) return undefined;
    if (named === undefined) return undefined;
    this.#action = named;
    this.#actionName = Uint8Array.prototype.slice.call(bytes, start, end);
    return named;
  }

  /** A row may call itself a sum in its first filled cell, or as its ticket. No word for one has a digit. */
  #mayBeTotals(bytes: Buffer): boolean {
    const { from, to } = this.#cells;
    let cell = 0;
    while (cell < from.length && from[cell] === to[cell]) cell += 1;
    if (cell === from.length) return true;
    const [start, end] = [from[cell] as number, to[cell] as number]; // within their length
    if (hasDigit(bytes, start, end)) return false;
    return isTotalsWord(bytes.toString("utf8", start, end)) || bytes[start] === BLANK;
  }

  /** Writes the line; its end, or `NOT_PLAIN`. */
  #writeLine({ head, fields, refused }: PlainAction, bytes: Buffer): number {
    const { from, to, flags } = this.#cells;
    for (let at = 0; at < refused.length; at += 1) {
      const column = refused[at] as number; // within its length
      if (from[column] !== to[column]) return NOT_PLAIN;
    }
    if (this.#valueFrom.length < fields.length) {
      this.#valueFrom = new Int32Array(fields.length);
      this.#valueTo = new Int32Array(fields.length);
    }
    const line = this.#line;
    let at = copyBytes(line, 0, head, 0, head.length);
    let comma = 1; // left out before the first field
    for (let number = 0; number < fields.length; number += 1) {
      const { column, key, leaf, isNeeded } = fields[number] as PlainAction["fields"][number]; // within its length
      const start = from[column] as number; // a column of the header
      const end = to[column] as number;
      const flag = flags[column] as number;
      if (start === end) {
        if (isNeeded) return NOT_PLAIN;
        this.#valueFrom[number] = -1;
        continue;
      }
      if (!isTrimmed(bytes, start, end, flag)) return NOT_PLAIN;
      const begun = copyBytes(line, at, key, comma, key.length);
      at = leaf(line, begun, bytes, start, end, flag);
      if (at === NOT_PLAIN) return NOT_PLAIN;
      this.#valueFrom[number] = begun;
      this.#valueTo[number] = at;
      comma = 0;
    }
    line[at] = CLOSE;
    line[at + 1] = CLOSE;
    line[at + 2] = LF;
    return at + 3;
  }

  /** Whether it has the fields that the reference asks for together, and nothing that becomes public for the first time. */
  #isWhole(action: PlainAction, bytes: Buffer): boolean {
    const { places, anyOf, publicTexts } = action;
    if (action.isAboutTicket && this.#has(places.ticketId) === this.#has(places.nftId)) return false;
    if (anyOf.length > 0 && !anyOf.some((place) => this.#has(place))) return false;
    if (action.updates && this.#given(action) < 2) return false;
    if (this.#has(places.startTime) && this.#has(places.endTime)) {
      const start = this.#numberOf(action, places.startTime, bytes);
      if (this.#numberOf(action, places.endTime, bytes) < start) return false;
    }
    for (const { place, name } of publicTexts)
      if (this.#has(place) && this.#options.publicValues.wantsText(name)) return false;
    return !this.#has(places.ticketId) || !this.#isTotals(action, bytes);
  }

  #given({ fields }: PlainAction): number {
    let given = 0;
    for (let number = 0; number < fields.length; number += 1) if (this.#valueFrom[number] !== -1) given += 1;
    return given;
  }

  #isTotals(action: PlainAction, bytes: Buffer): boolean {
    const { from, to } = this.#cells;
    const column = (action.fields[action.places.ticketId] as PlainAction["fields"][number]).column; // it has one
    const [start, end] = [from[column] as number, to[column] as number]; // a column of the header
    return !hasDigit(bytes, start, end) && isTotalsWord(textOf(bytes, start, end));
  }

  #numberOf(action: PlainAction, place: number, bytes: Buffer): number {
    const column = action.fields[place]?.column ?? 0;
    return digitsAt(bytes, this.#cells.from[column] as number, this.#cells.to[column] as number); // a column of the header
  }

  #add(action: PlainAction, bytes: Buffer, line: number, row: number, end: number): void {
    const candidate = this.#candidate;
    const { from, to } = this.#cells;
    candidate.line = line;
    candidate.row = row;
    candidate.code = action.code;
    candidate.text = this.#line;
    candidate.textBytes = end;
    candidate.source = bytes;
    candidate.byNft = this.#has(action.places.nftId);
    for (let fact = 0; fact < FACT_FIELDS.length; fact += 1) {
      let place = action.facts[fact] as number; // as many
      if (fact === TICKET_FACT && candidate.byNft) place = action.places.nftId;
      const column = this.#has(place) ? (action.fields[place]?.column ?? -1) : -1;
      candidate.factFrom[fact] = column === -1 ? -1 : (from[column] as number); // a column of the header
      candidate.factTo[fact] = column === -1 ? -1 : (to[column] as number);
    }
    const subject = action.isAboutTicket ? TICKET_FACT : EVENT_FACT;
    const id = textOf(bytes, candidate.factFrom[subject] as number, candidate.factTo[subject] as number); // it has one
    candidate.identity = digestHex(`${candidate.byNft ? action.identityHeadOfNft : action.identityHead}${id}"]`);
    candidate.content = digestHex(this.#contentOf(action));
    candidate.time = this.#has(action.places.orderTime)
      ? this.#numberOf(action, action.places.orderTime, bytes)
      : undefined;
    this.#options.writer.addPlain(candidate);
    this.#seeAmount(action, bytes, line);
  }

  #has(place: number): boolean {
    return place !== -1 && this.#valueFrom[place] !== -1;
  }

  /** As `textsOf` gives it. */
  #contentOf({ contentHead, fields, byName, attributes }: PlainAction): string {
    const content = this.#content;
    let at = copyBytes(content, 0, contentHead, 0, contentHead.length);
    let flags = 0;
    for (let number = 0; number < byName.length; number += 1) {
      const place = byName[number] as number; // within its length
      const valueFrom = this.#valueFrom[place] as number; // as many
      if (valueFrom === -1) continue;
      const { contentKey, column } = fields[place] as PlainAction["fields"][number]; // its place
      flags |= this.#cells.flags[column] as number; // a column of the header
      at = copyBytes(content, at, contentKey, 0, contentKey.length);
      at =
        place === attributes
          ? copyBytes(content, at, this.#attributes.content, 0, this.#attributes.contentBytes)
          : copyBytes(content, at, this.#line, valueFrom, this.#valueTo[place] as number);
    }
    content[at] = CLOSE_LIST;
    return (flags & BEYOND_ASCII) === 0 ? content.toString("latin1", 0, at + 1) : content.toString("utf8", 0, at + 1);
  }

  /** What the row adds to the sum that a last row may be. */
  #seeAmount(action: PlainAction, bytes: Buffer, line: number): void {
    const amount = this.#amount;
    const { from, to } = this.#cells;
    const { filled } = amount;
    amount.line = line;
    amount.amount = this.#has(action.places.price) ? this.#amountOf(action, bytes) : 0;
    for (let cell = 0; cell < filled.length; cell += 1)
      filled[cell] = isFilled(bytes, from[cell] as number, to[cell] as number) ? 1 : 0; // as many
    this.#options.seeAmount(amount);
  }

  /** The price in 1/10000; 0 where it has more digits than that, as in `lastOf`. */
  #amountOf(action: PlainAction, bytes: Buffer): number {
    const column = action.fields[action.places.price]?.column ?? 0;
    const [start, end] = [this.#cells.from[column] as number, this.#cells.to[column] as number]; // a column of the header
    let point = start;
    while (point < end && bytes[point] !== POINT) point += 1;
    const decimals = Math.max(0, end - point - 1);
    if (point - start > 11 || decimals > 4) return 0;
    let units = digitsAt(bytes, start, point) * 10 ** decimals;
    if (decimals > 0) units += digitsAt(bytes, point + 1, end);
    return units * 10 ** (4 - decimals);
  }

  /** The price and the cells of the row that was taken last. */
  #readAgain(): { readonly price: string; readonly cells: readonly string[] } {
    const { action, bytes, at } = this.#last;
    if (action === undefined) throw new Error("no row was taken");
    const { from, to, flags } = this.#cells;
    this.#cells.scan(bytes, at, 0);
    const quote = this.#options.quote;
    const cells = Array.from(from, (start, cell) => {
      const text = bytes.toString("utf8", start, to[cell]);
      return ((flags[cell] ?? 0) & DOUBLED) === 0 ? text : text.replaceAll(quote + quote, quote);
    });
    return { price: cells[action.fields[action.places.price]?.column ?? -1]?.trim() ?? "", cells };
  }
}

const LF = 10;
const BLANK = 0x20;
const POINT = 0x2e;
const CLOSE = 0x7d;
const CLOSE_LIST = 0x5d;
const EVENT_FACT = FACT_FIELDS.indexOf("eventId");
const TICKET_FACT = FACT_FIELDS.indexOf("ticketId");

function isSame(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length || to === from) return false;
  for (let at = 0; at < other.length; at += 1) if (bytes[from + at] !== other[at]) return false;
  return true;
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within its length
    if (byte >= 0x30 && byte <= 0x39) return true;
  }
  return false;
}

/** Whether no blank stands at an end of the cell. Beyond ASCII, what may be one is left to the reference. */
function isTrimmed(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
  const first = bytes[from] as number; // not empty
  const last = bytes[to - 1] as number;
  if (first <= BLANK || last <= BLANK) return false;
  if ((flags & BEYOND_ASCII) === 0) return true;
  if (first >= 0x80 && MAY_BEGIN_BLANK.has(first)) return false;
  let at = to - 1;
  while ((bytes[at] as number) >= 0x80 && (bytes[at] as number) < 0xc0) at -= 1; // a valid character
  return at === to - 1 || !MAY_BEGIN_BLANK.has(bytes[at] as number);
}

/** The first bytes of the blanks that Unicode has beyond ASCII, and of the byte order mark. */
const MAY_BEGIN_BLANK: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

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
