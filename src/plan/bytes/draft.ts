/** An action of the row in hand while it is written: its line, where its values stand there, and what is asked of them. */

import { paddedBytes } from "../../actions/sha256/lanes.ts";
import { isTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import type { CandidateWriter, PlainCandidate } from "../candidates/candidate-writer.ts";
import { MOST_MESSAGE_BYTES } from "../candidates/digests.ts";
import { FACT_FIELDS } from "../candidates/facts.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import type { Cells } from "./cells.ts";
import { ABSENT, copyBytes, digitsAt, NOT_PLAIN, textOf } from "./leaves.ts";
import type { PlainAction, PlainField } from "./program.ts";
import { FOUND } from "./texts.ts";
import type { Table } from "./values.ts";

export type MutableCandidate = { -readonly [K in keyof PlainCandidate]: PlainCandidate[K] };

/** One that `fill` makes into each of a file's candidates in turn. */
export const newCandidate = (input: number): MutableCandidate => ({
  input,
  line: 0,
  row: 0,
  nth: 0,
  keyed: false,
  code: 0,
  text: NO_BYTES,
  textBytes: 0,
  identityFrom: 0,
  identityTo: 0,
  contentFrom: 0,
  contentTo: 0,
  source: NO_BYTES,
  factFrom: new Int32Array(FACT_FIELDS.length),
  factTo: new Int32Array(FACT_FIELDS.length),
  byNft: false,
  time: undefined,
});

const NO_BYTES = Buffer.alloc(0);
const LF = 10;
const QUOTE = 0x22;
const POINT = 0x2e;
const CLOSE = 0x7d;
const CLOSE_LIST = 0x5d;
const EVENT_FACT = FACT_FIELDS.indexOf("eventId");
const TICKET_FACT = FACT_FIELDS.indexOf("ticketId");
/** Behind the last value. */
const CLOSING_BYTES = 3;

/** Room for most lines of a row; a longer one is left to the reference. */
const roomFor = (rowBytes: number): number => 8 * rowBytes + 16 * 1024;

/** Identity and content are shorter than the line but for attributes, which take less than as much again; and their padding. */
const roomForMessages = (lineBytes: number): number => 4 * lineBytes + 512;
const MOST_LINE_BYTES = (MOST_MESSAGE_BYTES - roomForMessages(0)) / 4;

export class ActionDraft {
  readonly #table: Table;
  readonly #publicValues: PublicValuesSeen;
  #line: Buffer = Buffer.allocUnsafe(roomFor(4096));
  #end = 0;
  /** Where each field's value stands in the line; the beginning is -1 where it has none. */
  #valueFrom = new Int32Array(0);
  #valueTo = new Int32Array(0);
  #action: PlainAction | undefined;

  constructor(table: Table, publicValues: PublicValuesSeen) {
    this.#table = table;
    this.#publicValues = publicValues;
  }

  /** Whether all of it is plain, in a row of so many bytes. */
  write(action: PlainAction, bytes: Buffer, rowBytes: number): boolean {
    if (this.#line.length < roomFor(rowBytes)) this.#line = Buffer.allocUnsafe(roomFor(2 * rowBytes));
    this.#action = action;
    this.#end = this.#writeLine(action, bytes);
    return (
      this.#end !== NOT_PLAIN && this.#end <= MOST_LINE_BYTES && this.#isWhole(action) && hasPlainKey(action, bytes)
    );
  }

  #writeLine({ head, fields, refused }: PlainAction, bytes: Buffer): number {
    const { cells } = this.#table;
    if (!areEmpty(refused, cells)) return NOT_PLAIN;
    if (this.#valueFrom.length < fields.length) {
      this.#valueFrom = new Int32Array(fields.length);
      this.#valueTo = new Int32Array(fields.length);
    }
    const line = this.#line;
    let at = copyBytes(line, 0, head, 0, head.length);
    let comma = 1; // left out before the first field
    for (let number = 0; number < fields.length; number += 1) {
      const { key, write, isNeeded } = fields[number] as PlainField; // within its length
      const begun = copyBytes(line, at, key, comma, key.length);
      const end = write(line, begun, bytes);
      if (end === NOT_PLAIN) return NOT_PLAIN;
      if (end === ABSENT) {
        if (isNeeded) return NOT_PLAIN;
        this.#valueFrom[number] = -1;
        continue;
      }
      this.#valueFrom[number] = begun;
      this.#valueTo[number] = end;
      at = end;
      comma = 0;
    }
    // What stands beyond the room was not written.
    if (at + CLOSING_BYTES > line.length) return NOT_PLAIN;
    line[at] = CLOSE;
    line[at + 1] = CLOSE;
    line[at + 2] = LF;
    return at + CLOSING_BYTES;
  }

  /** Whether it has the fields that the reference asks for together, and nothing that becomes public for the first time. */
  #isWhole(action: PlainAction): boolean {
    const { places, anyOf, publicTexts } = action;
    if (action.isAboutTicket && this.#has(places.ticketId) === this.#has(places.nftId)) return false;
    if (anyOf.length > 0 && !anyOf.some((place) => this.#has(place))) return false;
    if (action.updates && this.#given(action) < 2) return false;
    if (this.#has(places.startTime) && this.#has(places.endTime)) {
      if (this.#numberAt(places.endTime) < this.#numberAt(places.startTime)) return false;
    }
    for (const { place, name } of publicTexts) if (this.#has(place) && this.#publicValues.wantsText(name)) return false;
    return !this.#has(places.ticketId) || !this.#isTotals(places.ticketId);
  }

  #given({ fields }: PlainAction): number {
    let given = 0;
    for (let number = 0; number < fields.length; number += 1) if (this.#valueFrom[number] !== -1) given += 1;
    return given;
  }

  #isTotals(place: number): boolean {
    const [start, end] = this.#textAt(place);
    return mayBeTotalsWord(this.#line, start, end) && isTotalsWord(textOf(this.#line, start, end));
  }

  #has(place: number): boolean {
    return place !== -1 && this.#valueFrom[place] !== -1;
  }

  /** Where a text that it has stands in the line, without its quotes. */
  #textAt(place: number): readonly [from: number, to: number] {
    return [(this.#valueFrom[place] as number) + 1, (this.#valueTo[place] as number) - 1];
  }

  #numberAt(place: number): number {
    return digitsAt(this.#line, this.#valueFrom[place] as number, this.#valueTo[place] as number); // it has one
  }

  /** Whether it has a value for the field at this place of its action. */
  gives(place: number): boolean {
    return this.#valueFrom[place] !== -1;
  }

  get action(): PlainAction {
    if (this.#action === undefined) throw new Error("nothing was written");
    return this.#action;
  }

  /** Whether its action has an orderTime. */
  get isTimed(): boolean {
    return this.#has(this.action.places.orderTime);
  }

  /** Gives what was written to the candidate, and the texts of its digests to the writer that takes it next. */
  fill(candidate: MutableCandidate, writer: CandidateWriter): void {
    const { action } = this;
    candidate.code = action.code;
    candidate.text = this.#line;
    candidate.textBytes = this.#end;
    candidate.source = this.#line;
    candidate.byNft = this.#has(action.places.nftId);
    for (let fact = 0; fact < FACT_FIELDS.length; fact += 1) {
      let place = action.facts[fact] as number; // as many
      if (fact === TICKET_FACT && candidate.byNft) place = action.places.nftId;
      const has = this.#has(place);
      candidate.factFrom[fact] = has ? (this.#valueFrom[place] as number) + 1 : -1;
      candidate.factTo[fact] = has ? (this.#valueTo[place] as number) - 1 : -1;
    }
    const start = writer.roomForMessages(roomForMessages(this.#end));
    const { messages } = writer;
    candidate.keyed = action.key !== undefined;
    candidate.identityFrom = start;
    candidate.identityTo = this.#writeIdentity(action, candidate, messages, start);
    candidate.contentFrom = start + paddedBytes(candidate.identityTo - start);
    candidate.contentTo = this.#writeContent(action, messages, candidate.contentFrom);
    candidate.time = this.isTimed ? this.#numberAt(action.places.orderTime) : undefined;
  }

  /** Writes what `identityText` or `ownKeyText` gives; its end. */
  #writeIdentity(action: PlainAction, { byNft, factFrom, factTo }: PlainCandidate, out: Buffer, start: number): number {
    const { key, isAboutTicket, identityHead, identityHeadOfNft } = action;
    const head = byNft ? identityHeadOfNft : identityHead;
    let at = copyBytes(out, start, head, 0, head.length);
    if (key === undefined) {
      const subject = isAboutTicket ? TICKET_FACT : EVENT_FACT;
      at = copyBytes(out, at, this.#line, factFrom[subject] as number, factTo[subject] as number); // it has one
    } else at = copyBytes(out, at, key.bytes, key.from, key.to);
    out[at] = QUOTE;
    out[at + 1] = CLOSE_LIST;
    return at + 2;
  }

  /** Writes the content as `textsOf` gives it; its end. */
  #writeContent(
    { contentHead, fields, byName, attributes, attributesContent }: PlainAction,
    content: Buffer,
    start: number,
  ): number {
    let at = copyBytes(content, start, contentHead, 0, contentHead.length);
    for (let number = 0; number < byName.length; number += 1) {
      const place = byName[number] as number; // within its length
      const valueFrom = this.#valueFrom[place] as number; // as many
      if (valueFrom === -1) continue;
      const { contentKey } = fields[place] as PlainField; // its place
      at = copyBytes(content, at, contentKey, 0, contentKey.length);
      at =
        place === attributes
          ? copyBytes(content, at, attributesContent.content, 0, attributesContent.contentBytes)
          : copyBytes(content, at, this.#line, valueFrom, this.#valueTo[place] as number);
    }
    content[at] = CLOSE_LIST;
    return at + 1;
  }

  /** The price in 1/10000; 0 where it has none, or more digits than that, as in `lastOf`. */
  get amount(): number {
    const place = this.action.places.price;
    if (!this.#has(place)) return 0;
    const line = this.#line;
    const [start, end] = this.#textAt(place);
    let point = start;
    while (point < end && line[point] !== POINT) point += 1;
    const decimals = Math.max(0, end - point - 1);
    if (point - start > 11 || decimals > 4) return 0;
    let units = digitsAt(line, start, point) * 10 ** decimals;
    if (decimals > 0) units += digitsAt(line, point + 1, end);
    return units * 10 ** (4 - decimals);
  }

  /** Empty where it has none. */
  get price(): string {
    const place = this.action.places.price;
    return this.#has(place) ? textOf(this.#line, ...this.#textAt(place)) : "";
  }
}

/** There is room for as much beside the line. */
const MOST_KEY_BYTES = 255;

/** Whether the key that a source makes of the row, if it does, is plain ASCII. */
const hasPlainKey = ({ key }: PlainAction, bytes: Buffer): boolean =>
  key === undefined || (key.read(bytes) === FOUND && key.flags === 0 && key.to - key.from <= MOST_KEY_BYTES);

function areEmpty(columns: Int32Array, { from, to }: Cells): boolean {
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at] as number; // within its length
    if (from[column] !== to[column]) return false;
  }
  return true;
}
