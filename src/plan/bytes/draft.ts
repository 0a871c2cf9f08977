/** An action of the row in hand while it is written: its line, where its values stand there, and what is asked of them. */

import type { Finding } from "../../actions/problem.ts";
import { paddedBytes } from "../../actions/sha256/lanes.ts";
import { isTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import type { PlainCandidate, PlainWriter } from "../candidates/candidate-writer.ts";
import { MOST_MESSAGE_BYTES } from "../candidates/digests.ts";
import { FACT_FIELDS } from "../candidates/facts.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import type { Area, RowMemory } from "../candidates/row-memory.ts";
import { type Cells, STRANGE } from "./cells.ts";
import { ABSENT, digitsAt, MOST_TEXT_BYTES, NOT_PLAIN } from "./leaves.ts";
import type { Lacking, PlainAction, PlainField } from "./program.ts";
import { FOUND } from "./texts.ts";

export type MutableCandidate = { -readonly [K in keyof PlainCandidate]: PlainCandidate[K] };

/** One that `fill` makes into each of a file's candidates in turn. */
export const newCandidate = (input: number): MutableCandidate => ({
  input,
  line: 0,
  row: 0,
  nth: 0,
  keyed: false,
  code: 0,
  lineTo: 0,
  identityFrom: 0,
  identityTo: 0,
  contentFrom: 0,
  contentTo: 0,
  factFrom: new Int32Array(FACT_FIELDS.length),
  factTo: new Int32Array(FACT_FIELDS.length),
  byNft: false,
  time: undefined,
});

const LF = 10;
const QUOTE = 0x22;
const [CAPITAL_A, CAPITAL_Z] = [0x41, 0x5a];
const COMMA = 0x2c;
const POINT = 0x2e;
const CLOSE = 0x7d;
const CLOSE_LIST = 0x5d;
const EVENT_FACT = FACT_FIELDS.indexOf("eventId");
const TICKET_FACT = FACT_FIELDS.indexOf("ticketId");
/** Behind the last value. */
const CLOSING_BYTES = 3;

/** Identity and content are shorter than the line but for attributes, which take less than as much again; and their padding. */
const roomForMessages = (lineBytes: number): number => 4 * lineBytes + 512;
const MOST_LINE_BYTES = (MOST_MESSAGE_BYTES - roomForMessages(0)) / 4;

/** So much a value takes at the most, of a row of so many bytes (`ValueWriter`). */
const mostOfValue = (rowBytes: number): number => 2 * Math.max(rowBytes, MOST_TEXT_BYTES) + 2;

export const NO_FINDINGS: readonly Finding[] = [];

export class ActionDraft {
  readonly #cells: Cells;
  readonly #memory: RowMemory;
  readonly #lines: Area;
  readonly #publicValues: PublicValuesSeen;
  /** Where its line stands. */
  #from = 0;
  #end = 0;
  /** Where each field's value stands in the line; the beginning is -1 where it has none. */
  #valueFrom = new Int32Array(0);
  #valueTo = new Int32Array(0);
  #action: PlainAction | undefined;

  constructor(cells: Cells, { memory, lines }: PlainWriter, publicValues: PublicValuesSeen) {
    this.#cells = cells;
    this.#memory = memory;
    this.#lines = lines;
    this.#publicValues = publicValues;
  }

  /** Writes the line at `at`, of a row of so many bytes; its end, or `NOT_PLAIN` where not all of it is plain. */
  write(action: PlainAction, at: number, rowBytes: number): number {
    this.#action = action;
    this.#from = at;
    this.#end = this.#writeLine(action, at, mostOfValue(rowBytes));
    if (this.#end === NOT_PLAIN || this.#end - at > MOST_LINE_BYTES) return NOT_PLAIN;
    return this.#isWhole(action) && hasPlainKey(action) ? this.#end : NOT_PLAIN;
  }

  #writeLine({ head, fields, refused }: PlainAction, start: number, most: number): number {
    if (!areEmpty(refused, this.#cells)) return NOT_PLAIN;
    if (this.#valueFrom.length < fields.length) {
      this.#valueFrom = new Int32Array(fields.length);
      this.#valueTo = new Int32Array(fields.length);
    }
    const memory = this.#memory;
    const last = this.#lines.to - most - CLOSING_BYTES;
    if (start + head.length > last) return NOT_PLAIN;
    let at = memory.copy(start, head.from, head.length);
    let comma = 1; // left out before the first field
    for (let number = 0; number < fields.length; number += 1) {
      const { key, write, isNeeded } = fields[number] as PlainField; // within its length
      if (at + key.length > last) return NOT_PLAIN;
      const begun = memory.copy(at, key.from + comma, key.length - comma);
      const end = write(begun);
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
    const { bytes } = memory;
    bytes[at] = CLOSE;
    bytes[at + 1] = CLOSE;
    bytes[at + 2] = LF;
    return at + CLOSING_BYTES;
  }

  /** Whether it has the fields that the reference asks for together, and nothing that becomes public for the first time. */
  #isWhole(action: PlainAction): boolean {
    const { places, anyOf, publicTexts } = action;
    if (action.isAboutTicket && this.has(places.ticketId) === this.has(places.nftId)) return false;
    if (anyOf.length > 0 && !anyOf.some((place) => this.has(place))) return false;
    if (action.updates && this.#given(action) < 2) return false;
    if (this.has(places.startTime) && this.has(places.endTime)) {
      if (this.#numberAt(places.endTime) < this.#numberAt(places.startTime)) return false;
    }
    for (const { place, name } of publicTexts) if (this.has(place) && this.#publicValues.wantsText(name)) return false;
    return !this.has(places.ticketId) || !this.#isTotals(places.ticketId);
  }

  #given({ fields }: PlainAction): number {
    let given = 0;
    for (let number = 0; number < fields.length; number += 1) if (this.#valueFrom[number] !== -1) given += 1;
    return given;
  }

  #isTotals(place: number): boolean {
    const [start, end] = this.#textAt(place);
    return mayBeTotalsWord(this.#memory.bytes, start, end) && isTotalsWord(this.#memory.text(start, end));
  }

  /** Whether it has a value for the field at this place of its action; -1: none of its fields. */
  has(place: number): boolean {
    return place !== -1 && this.#valueFrom[place] !== -1;
  }

  /** Where a text that it has stands, without its quotes. */
  #textAt(place: number): readonly [from: number, to: number] {
    return [(this.#valueFrom[place] as number) + 1, (this.#valueTo[place] as number) - 1];
  }

  #numberAt(place: number): number {
    return digitsAt(this.#memory.bytes, this.#valueFrom[place] as number, this.#valueTo[place] as number); // it has one
  }

  /** The findings so far, and what is told of what it lacks. */
  withLacking(findings: readonly Finding[]): readonly Finding[] {
    const { lacking } = this.action;
    let all = findings;
    for (let each = 0; each < lacking.length; each += 1) {
      const { place, told } = lacking[each] as Lacking; // within its length
      if (!this.has(place)) all = all.length === 0 ? told : [...all, ...told];
    }
    return all;
  }

  get action(): PlainAction {
    if (this.#action === undefined) throw new Error("nothing was written");
    return this.#action;
  }

  /** Gives what was written to the candidate, and the texts of its digests to the writer that takes it next. */
  fill(candidate: MutableCandidate, writer: PlainWriter): void {
    const { action } = this;
    candidate.code = action.code;
    candidate.lineTo = this.#end;
    candidate.byNft = this.has(action.places.nftId);
    const { factFrom, factTo } = candidate;
    for (let fact = 0; fact < FACT_FIELDS.length; fact += 1) {
      let place = action.facts[fact] as number; // as many
      if (fact === TICKET_FACT && candidate.byNft) place = action.places.nftId;
      const from = place === -1 ? -1 : (this.#valueFrom[place] as number); // one of its places
      factFrom[fact] = from === -1 ? -1 : from + 1;
      factTo[fact] = from === -1 ? -1 : (this.#valueTo[place] as number) - 1;
    }
    const start = writer.roomForMessages(roomForMessages(this.#end - this.#from));
    candidate.keyed = action.key !== undefined;
    candidate.identityFrom = start;
    candidate.identityTo = this.#writeIdentity(action, candidate, start);
    candidate.contentFrom = start + paddedBytes(candidate.identityTo - start);
    candidate.contentTo = this.#writeContent(action, candidate.contentFrom);
    candidate.time = this.has(action.places.orderTime) ? this.#numberAt(action.places.orderTime) : undefined;
  }

  /** Writes what `identityText` or `ownKeyText` gives; its end. */
  #writeIdentity(action: PlainAction, { byNft, factFrom, factTo }: PlainCandidate, start: number): number {
    const memory = this.#memory;
    const { key, isAboutTicket, identityHead, identityHeadOfNft } = action;
    const head = byNft ? identityHeadOfNft : identityHead;
    let at = memory.copy(start, head.from, head.length);
    if (key === undefined) {
      const subject = isAboutTicket ? TICKET_FACT : EVENT_FACT;
      const from = factFrom[subject] as number; // it has one
      at = memory.copy(at, from, (factTo[subject] as number) - from);
    } else at = memory.copy(at, key.from, key.to - key.from);
    memory.bytes[at] = QUOTE;
    memory.bytes[at + 1] = CLOSE_LIST;
    return at + 2;
  }

  /** Writes the content as `textsOf` gives it; its end. */
  #writeContent({ contentHead, fields, byName, attributes, attributesContent }: PlainAction, start: number): number {
    const memory = this.#memory;
    let at = memory.copy(start, contentHead.from, contentHead.length);
    for (let number = 0; number < byName.length; number += 1) {
      const place = byName[number] as number; // within its length
      const valueFrom = this.#valueFrom[place] as number; // as many
      if (valueFrom === -1) continue;
      const { key, name } = fields[place] as PlainField; // its place
      const keyed = valueFrom - key.length;
      const begun = at;
      const valueBegun = at + key.length;
      if (place === attributes) {
        memory.copy(begun, keyed, key.length);
        at = memory.copy(valueBegun, attributesContent.contentFrom, attributesContent.contentBytes);
      } else at = memory.copy(begun, keyed, (this.#valueTo[place] as number) - keyed);
      // Where the line has a comma, or the brace before its first field, and a colon.
      memory.bytes[begun] = COMMA;
      memory.bytes[valueBegun - 1] = COMMA;
      // The case of an address is a checksum, not a part of it.
      if (name === "to") lowerCase(memory.bytes, valueBegun, at);
    }
    memory.bytes[at] = CLOSE_LIST;
    return at + 1;
  }

  /** The price in 1/10000; 0 where it has none, or more digits than that, as in `lastOf`. */
  get amount(): number {
    const place = this.action.places.price;
    if (!this.has(place)) return 0;
    const { bytes } = this.#memory;
    const start = (this.#valueFrom[place] as number) + 1;
    const end = (this.#valueTo[place] as number) - 1;
    let point = start;
    while (point < end && bytes[point] !== POINT) point += 1;
    const decimals = Math.max(0, end - point - 1);
    if (point - start > 11 || decimals > 4) return 0;
    const units = digitsAt(bytes, start, point) * tenTo(decimals);
    return (decimals > 0 ? units + digitsAt(bytes, point + 1, end) : units) * tenTo(4 - decimals);
  }

  /** Empty where it has none. */
  get price(): string {
    const place = this.action.places.price;
    return this.has(place) ? this.#memory.ascii(...this.#textAt(place)) : "";
  }
}

/** Up to 4; a power is a call. */
const tenTo = (exponent: number): number => TENS[exponent] as number; // one of these

const TENS = [1, 10, 100, 1000, 10_000];

/** There is room for as much beside the line. */
const MOST_KEY_BYTES = 255;

/** Whether the key that a source makes of the row, if it does, is plain ASCII. */
const hasPlainKey = ({ key }: PlainAction): boolean =>
  key === undefined || (key.read() === FOUND && (key.flags & STRANGE) === 0 && key.to - key.from <= MOST_KEY_BYTES);

function lowerCase(bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number; // within the memory
    if (byte >= CAPITAL_A && byte <= CAPITAL_Z) bytes[at] = byte | 0x20;
  }
}

function areEmpty(columns: Int32Array, { from, to }: Cells): boolean {
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at] as number; // within its length
    if (from[column] !== to[column]) return false;
  }
  return true;
}
