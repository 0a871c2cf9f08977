/** The values of a JSON object whose keys are known, as places in its bytes: no text or object is made of them. */

import { MAX_ROW_BYTES } from "../../readers/row-parser.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { type Cells, DIGITS, ESCAPED, KINDS, MARKS } from "./cells.ts";

/** What a value may be, to be plain. */
export const TEXT = 1;
/** A number as most programs write it: digits, and at most one decimal point between them. */
export const NUMBER = 2;
/** A list of flat objects of texts. */
export const LIST = 4;
/** Null or an empty text, which says nothing. */
export const NOTHING = 8;
/** Whatever nobody looks at. */
export const UNUSED = 16;

export interface JsonKey {
  readonly name: string;
  readonly takes: number;
}

const [QUOTE, COMMA, COLON, BLANK, BACKSLASH, MINUS, POINT, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE, ZERO, NINE] =
  Buffer.from('",: \\-.[]{}09') as unknown as readonly number[] as readonly [
    ...[number, number, number, number, number, number, number],
    ...[number, number, number, number, number, number],
  ];
const LF = 10;
const CR = 13;
const MOST_DIGITS = 15;

/** The quote that ends a text, and a byte that is written in another way, or is none of a text. */
const LOOK = 0x8000;
const IN_TEXT = KINDS.map((kind, byte) => (byte < BLANK || byte === QUOTE || byte === BACKSLASH ? LOOK : kind));
/** A number as the cell of a table would have it. */
const OF_NUMBER = DIGITS | MARKS;

/** No value stands there that is plain. */
const LOST = -1;

/** Another form has to be asked itself how much of a row it has. */
const UNKNOWN = -1;

/** A row that begins at `start` and on `line`, and ends before `end`. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** What every row of the form has in the same words: a key with its colon, or the name of the action. */
interface Piece {
  /** What stands before it; undefined for nothing. */
  readonly mark: number | undefined;
  readonly word: Word;
}

/** Bytes that are compared four at a time. */
interface Word {
  readonly bytes: Uint8Array;
  /** Each four from the beginning on, and the last four; none of fewer. */
  readonly fours: Int32Array;
}

const FOUR = 4;

function wordOf(text: string): Word {
  const bytes = Buffer.from(text);
  const last = bytes.length - FOUR;
  const count = last < 0 ? 0 : Math.ceil(bytes.length / FOUR);
  const fours = Int32Array.from({ length: count }, (_, at) => bytes.readInt32LE(Math.min(at * FOUR, last)));
  return { bytes, fours };
}

const NULL = wordOf("null");
const WORDS: readonly Word[] = [NULL, wordOf("true"), wordOf("false")];

export class JsonCells implements Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly flags: Uint16Array;
  next = 0;
  nextLine = 0;
  readonly isBlank = false;
  /** Whether the row that `scan` read has the keys of this form, as far as it was read. */
  isOfForm = false;
  readonly #memory: RowMemory;
  readonly #bytes: Uint8Array;
  /** How many keys the row has in common with this form, and where it is another one then. */
  #taken = 0;
  #lostAt = 0;
  readonly #sharedWith = new Map<JsonCells, number>();
  readonly #opening: readonly Piece[];
  readonly #pieces: readonly Piece[];
  readonly #takes: Uint8Array;
  readonly #closings: number;

  /**
   * @param keys of the object, in their order.
   * @param action where the object is the data of an item of this action.
   */
  constructor(memory: RowMemory, keys: readonly JsonKey[], action?: string) {
    this.#memory = memory;
    this.#bytes = memory.bytes;
    this.from = new Int32Array(keys.length);
    this.to = new Int32Array(keys.length);
    this.flags = new Uint16Array(keys.length);
    this.#takes = Uint8Array.from(keys, ({ takes }) => takes);
    this.#pieces = keys.map(({ name }, at) => ({
      mark: at === 0 ? OPEN : COMMA,
      word: wordOf(`${JSON.stringify(name)}:`),
    }));
    this.#opening =
      action === undefined
        ? []
        : [
            { mark: OPEN, word: wordOf('"action":') },
            { mark: undefined, word: wordOf(JSON.stringify(action)) },
            { mark: COMMA, word: wordOf('"data":') },
          ];
    this.#closings = action === undefined ? 1 : 2;
  }

  /** How much of the row that `scan` read it has in common with this form. */
  get taken(): number {
    return this.#taken;
  }

  scan(start: number, end: number, line: number): boolean {
    this.isOfForm = false;
    this.#taken = 0;
    let at = start;
    for (let number = 0; number < this.#opening.length; number += 1) {
      at = takePiece(this.#memory, at, end, this.#opening[number] as Piece); // within its length
      if (at === LOST) return false;
    }
    return this.#scanFrom(0, at, { start, end, line });
  }

  /** The same of a row that is not of the other form: what that one has read is not read again. */
  scanAfter(other: JsonCells, start: number, end: number, line: number): boolean {
    const shared = other.#taken === 0 ? UNKNOWN : this.#shared(other);
    if (shared === UNKNOWN) return this.scan(start, end, line);
    this.isOfForm = false;
    this.#taken = 0;
    // With fewer keys in common the row has one of the other's here; with more, this form wants the same key that it lacks.
    if (shared !== other.#taken) return false;
    for (let cell = 0; cell < shared; cell += 1) {
      this.from[cell] = other.from[cell] as number; // as many
      this.to[cell] = other.to[cell] as number;
      this.flags[cell] = other.flags[cell] as number;
    }
    return this.#scanFrom(shared, other.#lostAt, { start, end, line });
  }

  /** How many keys both have, one after the other; unknown where they don't take the same before or in them. */
  #shared(other: JsonCells): number {
    let shared = this.#sharedWith.get(other);
    if (shared === undefined) {
      shared = this.#compare(other);
      this.#sharedWith.set(other, shared);
    }
    return shared;
  }

  #compare(other: JsonCells): number {
    const isSame = (one: Piece | undefined, another: Piece | undefined): boolean =>
      one !== undefined && another !== undefined && Buffer.compare(one.word.bytes, another.word.bytes) === 0;
    if (this.#opening.length !== other.#opening.length) return UNKNOWN;
    if (!this.#opening.every((piece, at) => isSame(piece, other.#opening[at]))) return UNKNOWN;
    let shared = 0;
    for (; isSame(this.#pieces[shared], other.#pieces[shared]); shared += 1)
      if (this.#takes[shared] !== other.#takes[shared]) return UNKNOWN;
    return shared;
  }

  /** @param from the first key that is not read yet, behind which stands nothing that was read. */
  #scanFrom(from: number, place: number, { start, end, line }: Stretch): boolean {
    const bytes = this.#bytes;
    let at = place;
    for (let cell = from; cell < this.#pieces.length; cell += 1) {
      this.#taken = cell;
      this.#lostAt = at;
      at = takePiece(this.#memory, at, end, this.#pieces[cell] as Piece); // within its length
      if (at === LOST) return false;
      at = this.#takeValue(at, end, cell);
      if (at === LOST) {
        this.isOfForm = true;
        return false;
      }
    }
    this.#taken = this.#pieces.length;
    this.#lostAt = at;
    for (let number = 0; number < this.#closings; number += 1, at += 1) if (bytes[at] !== CLOSE) return false;
    if (bytes[at] === CR) at += 1;
    // What was read may stand behind the end, where an earlier row stood.
    this.isOfForm = at < end && bytes[at] === LF && at - start <= MAX_ROW_BYTES;
    this.next = at + 1;
    this.nextLine = line + 1;
    return this.isOfForm;
  }

  /** Behind the value at `at`, or `LOST`. */
  #takeValue(at: number, end: number, cell: number): number {
    const bytes = this.#bytes;
    const takes = this.#takes[cell] as number; // as many
    const first = bytes[at] as number; // within the memory
    if (first === QUOTE) return this.#takeText(at + 1, end, cell, takes);
    this.flags[cell] = 0;
    this.from[cell] = at;
    if (first === OPEN_LIST && (takes & LIST) !== 0) return this.#takeList(at, end, cell);
    if (isDigit(first) || first === MINUS) {
      this.flags[cell] = OF_NUMBER;
      const behind = takeNumber(bytes, at, (takes & UNUSED) !== 0);
      this.to[cell] = behind;
      return (takes & (NUMBER | UNUSED)) === 0 ? LOST : behind;
    }
    this.to[cell] = at;
    if ((takes & UNUSED) !== 0) return takeWord(this.#memory, at, end);
    return (takes & NOTHING) !== 0 && isWord(this.#memory, at, end, NULL) ? at + NULL.bytes.length : LOST;
  }

  #takeText(start: number, end: number, cell: number, takes: number): number {
    const bytes = this.#bytes;
    if ((takes & (TEXT | UNUSED)) === 0) return LOST;
    let flags = 0;
    let at = start;
    for (; ; at += 1) {
      if (at >= end) return LOST;
      const byte = bytes[at] as number; // within the memory
      const kind = IN_TEXT[byte] as number; // a byte
      if (kind < LOOK) {
        flags |= kind;
        continue;
      }
      if (byte === QUOTE) break;
      if (at === start || !isEscape(bytes, at)) return LOST;
      flags |= ESCAPED;
      at += 1;
    }
    if (at === start && (takes & (NOTHING | UNUSED)) === 0) return LOST;
    this.from[cell] = start;
    this.to[cell] = at;
    this.flags[cell] = flags;
    return at + 1;
  }

  /** What stands in the list is told by who reads it. */
  #takeList(start: number, end: number, cell: number): number {
    const bytes = this.#bytes;
    let flags = 0;
    let isInText = false;
    for (let at = start + 1; at < end; at += 1) {
      const byte = bytes[at] as number; // within its length
      const kind = IN_TEXT[byte] as number; // a byte
      if (byte === QUOTE) isInText = !isInText;
      else if (kind === LOOK) return LOST;
      else flags |= kind;
      if (!isInText && byte === OPEN_LIST) return LOST;
      else if (!isInText && byte === CLOSE_LIST) {
        this.to[cell] = at + 1;
        this.flags[cell] = flags;
        return at + 1;
      }
    }
    return LOST;
  }
}

/** What JSON has to escape, and each in one way; and blanks, which no text may end with. */
const SIGNS: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\'));
const BLANKS: ReadonlySet<number | undefined> = new Set(Buffer.from("nrt"));

/** An escape that the text keeps as it is. At its beginning or its end it might be a word of its own, or be trimmed. */
function isEscape(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== BACKSLASH) return false;
  const escaped = bytes[at + 1];
  return SIGNS.has(escaped) || (BLANKS.has(escaped) && bytes[at + 2] !== QUOTE);
}

/** Behind a piece; many programs write a blank behind a comma and a colon. */
function takePiece(memory: RowMemory, start: number, end: number, { mark, word }: Piece): number {
  const { bytes } = memory;
  let at = start;
  if (mark !== undefined) {
    if (bytes[at] !== mark) return LOST;
    at += 1;
    if (mark === COMMA && bytes[at] === BLANK) at += 1;
  }
  if (!isWord(memory, at, end, word)) return LOST;
  at += word.bytes.length;
  return bytes[at - 1] === COLON && bytes[at] === BLANK ? at + 1 : at;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Behind a number that every reader of JSON takes for the same. */
function takeNumber(bytes: Uint8Array, start: number, mayBeNegative: boolean): number {
  let at = start;
  if (bytes[at] === MINUS) {
    if (!mayBeNegative) return LOST;
    at += 1;
  }
  const first = at;
  while (isDigit(bytes[at])) at += 1;
  if (at === first || at - first > MOST_DIGITS || (bytes[first] === ZERO && at - first > 1)) return LOST;
  if (bytes[at] !== POINT) return isEndOfNumber(bytes[at]) ? at : LOST;
  const point = at;
  at += 1;
  while (isDigit(bytes[at])) at += 1;
  return at === point + 1 || at - first > MOST_DIGITS + 1 || !isEndOfNumber(bytes[at]) ? LOST : at;
}

const isEndOfNumber = (byte: number | undefined): boolean => byte === COMMA || byte === CLOSE;

function takeWord(memory: RowMemory, at: number, end: number): number {
  for (const word of WORDS) if (isWord(memory, at, end, word)) return at + word.bytes.length;
  return LOST;
}

function isWord({ bytes, view }: RowMemory, at: number, end: number, word: Word): boolean {
  const { length } = word.bytes;
  if (at + length > end) return false;
  const last = length - FOUR;
  if (last < 0) {
    for (let next = 0; next < length; next += 1) if (bytes[at + next] !== word.bytes[next]) return false;
    return true;
  }
  let number = 0;
  for (let next = 0; next < last; next += FOUR, number += 1)
    if (view.getInt32(at + next, true) !== word.fours[number]) return false;
  return view.getInt32(at + last, true) === word.fours[number];
}
