/** What writes the value of a field of the row in hand as JSON, from its cells. */

import { type FieldName, type FieldValue, fieldSpec } from "../../actions/fields.ts";
import { type Clock, type PlainTime, type PlainValue, UNCLEAR } from "../../mapping/plain-source.ts";
import { ByteMap } from "./byte-map.ts";
import { CellKey } from "./cell-key.ts";
import { type Cells, DOUBLED } from "./cells.ts";
import {
  ABSENT,
  clearWordTest,
  copyBytes,
  isDigit,
  isTrimmed,
  type Leaf,
  type LeafOptions,
  likelyTimes,
  NOT_PLAIN,
} from "./leaves.ts";
import { createRowText, FOUND, flagsOf, type RowText, type TemplateParts } from "./texts.ts";
import { createClock, type SecondsOf } from "./times.ts";

/** Writes the value to `out` at `at`: its end, `ABSENT` where the row has none, or `NOT_PLAIN`. */
export type ValueWriter = (out: Uint8Array, at: number, bytes: Buffer) => number;

/** What all values of a table are written with. */
export interface Table {
  readonly cells: Cells;
  readonly leafOptions: LeafOptions;
  readonly stripsGuards: boolean;
}

/** The value of a column as it stands. */
export function writeCell(column: number, leaf: Leaf, { cells }: Table): ValueWriter {
  const { from, to, flags } = cells;
  return (out, at, bytes) => {
    const start = from[column] as number; // a column of the header
    const end = to[column] as number;
    if (start === end) return ABSENT;
    const flag = flags[column] as number;
    if (!isTrimmed(bytes, start, end, flag)) return NOT_PLAIN;
    return leaf(out, at, bytes, start, end, flag);
  };
}

/** The value that a text of the row says. */
export function writeText(text: RowText, leaf: Leaf): ValueWriter {
  return (out, at, bytes) => {
    const found = text.read(bytes);
    if (found !== FOUND) return found;
    return leaf(out, at, text.bytes, text.from, text.to, text.flags);
  };
}

/** The same of every row. */
function writeConstant(json: Uint8Array): ValueWriter {
  return (out, at) => copyBytes(out, at, json, 0, json.length);
}

export function rowTextOf(templates: readonly TemplateParts[], field: FieldName, table: Table): RowText {
  const { kind } = fieldSpec(field);
  const isId = kind === "id" || kind === "nftId";
  const partOf = !isId ? undefined : field === "ticketId" || field === "nftId" ? "ticket" : "other id";
  return createRowText(templates, table.cells, { stripsGuards: table.stripsGuards, needsAll: isId, partOf });
}

const POINT = 0x2e;
const MOST_DIGITS = 40;

/** An amount of digits and at most one decimal mark; of any other text it asks. */
function writeAmount(text: RowText, mark: "." | ",", leaf: Leaf, ask: ValueWriter, table: Table): ValueWriter {
  const markByte = mark.charCodeAt(0);
  const mayBeClearWord = clearWordTest(table.leafOptions.clearWord);
  const scratch = Buffer.alloc(MOST_DIGITS);
  return (out, at, bytes) => {
    const found = text.read(bytes);
    if (found !== FOUND) return found;
    const { bytes: source, from, to } = text;
    const length = to - from;
    if (text.flags !== 0 || length > MOST_DIGITS || mayBeClearWord(source, from, to)) return ask(out, at, bytes);
    let marks = 0;
    for (let next = 0; next < length; next += 1) {
      const byte = source[from + next] as number; // within its length
      if (byte === markByte) marks += 1;
      else if (!isDigit(byte)) return ask(out, at, bytes);
      scratch[next] = byte === markByte ? POINT : byte;
    }
    // The leaf wants digits on both sides of the point.
    return marks > 1 ? ask(out, at, bytes) : leaf(out, at, scratch, 0, length, 0);
  };
}

/** A time whose seconds the reference tells by the hour, or one by one where it is written otherwise. */
export function writeTime(field: FieldName, time: TimeReading, leaf: Leaf, table: Table): ValueWriter {
  const { templates, takesDigits, secondsOf } = time;
  const text = rowTextOf(templates, field, table);
  const { earliest, latest } = likelyTimes(field, table.leafOptions.now);
  const mayBeClearWord = clearWordTest(table.leafOptions.clearWord);
  const clock = time.clock === undefined ? undefined : createClock(time.clock, secondsOf);
  const known = new Map<string, number>();
  const ask = (asked: string): number => {
    let seconds = known.get(asked);
    if (seconds === undefined) {
      seconds = secondsOf(asked) ?? Number.NaN;
      if (known.size >= MOST_TIMES) known.clear();
      known.set(asked, seconds);
    }
    return seconds;
  };
  return (out, at, bytes) => {
    const found = text.read(bytes);
    if (found !== FOUND) return found;
    const { bytes: source, from, to, flags } = text;
    if ((flags & DOUBLED) !== 0 || mayBeClearWord(source, from, to)) return NOT_PLAIN;
    if (takesDigits && areDigits(source, from, to)) return leaf(out, at, source, from, to, flags);
    let seconds = clock === undefined || flags !== 0 ? Number.NaN : clock(source, from, to);
    if (Number.isNaN(seconds)) seconds = ask((source as Buffer).toString("utf8", from, to));
    return seconds >= earliest && seconds <= latest ? writeDigits(out, at, seconds) : NOT_PLAIN;
  };
}

export interface TimeReading {
  readonly templates: readonly TemplateParts[];
  readonly takesDigits: boolean;
  readonly clock: Clock | undefined;
  readonly secondsOf: SecondsOf;
}

/** Days of eleven years. */
const MOST_TIMES = 4096;

function areDigits(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!isDigit(bytes[at])) return false;
  return true;
}

const HALF_OF_DIGITS = 100_000;

/** The digits of Unix seconds from 2001 to 2286, which are ten. */
function writeDigits(out: Uint8Array, at: number, seconds: number): number {
  if (!(seconds >= 1e9 && seconds < 1e10)) return NOT_PLAIN;
  let high = (seconds / HALF_OF_DIGITS) | 0;
  let low = (seconds - high * HALF_OF_DIGITS) | 0;
  for (let digit = 4; digit >= 0; digit -= 1) {
    out[at + digit] = 0x30 + (high % 10);
    out[at + 5 + digit] = 0x30 + (low % 10);
    high = (high / 10) | 0;
    low = (low / 10) | 0;
  }
  return at + 10;
}

/** What the reference made of cells. */
interface Answer {
  /** The value as JSON; empty where there is none. */
  readonly json: Uint8Array;
  /** In place of an end. */
  readonly status: typeof ABSENT | typeof NOT_PLAIN | undefined;
}

const MOST_ANSWERS = 4096;
const NO_JSON = Buffer.alloc(0);

/** Asks the reference, once for the same cells as long as they are kept. */
function writeAsked({ columns, ask }: Pick<PlainValue, "columns" | "ask">, leaf: Leaf, table: Table): ValueWriter {
  const answers = new ByteMap<Answer>(MOST_ANSWERS);
  const key = new CellKey(columns, table);
  return (out, at, bytes) => {
    const end = key.write(bytes);
    let answer = end === -1 ? UNPLAIN : answers.get(key.bytes, 0, end);
    if (answer === undefined) {
      answer = answerBy(ask(key.texts(bytes)), leaf);
      answers.set(key.bytes, 0, end, answer);
    }
    if (answer.status !== undefined) return answer.status;
    return copyBytes(out, at, answer.json, 0, answer.json.length);
  };
}

function answerBy(value: FieldValue | undefined | typeof UNCLEAR, leaf: Leaf): Answer {
  if (value === undefined) return { json: NO_JSON, status: ABSENT };
  const text = value === UNCLEAR ? undefined : textOfValue(value);
  if (text === undefined || text.trim() !== text || text === "") return UNPLAIN;
  const bytes = Buffer.from(text);
  const json = Buffer.alloc(bytes.length * 2 + 2);
  const end = leaf(json, 0, bytes, 0, bytes.length, flagsOf(text));
  if (end === NOT_PLAIN) return UNPLAIN;
  return { json: json.subarray(0, end), status: undefined };
}

const UNPLAIN: Answer = { json: NO_JSON, status: NOT_PLAIN };

/** The text of which a leaf makes the value; undefined where there is none. */
function textOfValue(value: FieldValue): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  if (!Array.isArray(value)) return undefined;
  const [only, more] = value;
  return more === undefined && typeof only?.value === "string" ? only.value : undefined;
}

/** The value of a field of a source. */
export function writeValue(value: PlainValue, leaf: Leaf, table: Table): ValueWriter {
  const { field, columns, recipe } = value;
  if (columns.length === 0) {
    const { json, status } = answerBy(value.ask([]), leaf);
    return status === undefined ? writeConstant(json) : () => status;
  }
  const ask = writeAsked(value, leaf, table);
  switch (recipe.kind) {
    case "text":
      return writeText(rowTextOf(recipe.templates, field, table), leaf);
    case "amount":
      return writeAmount(rowTextOf(recipe.templates, field, table), recipe.mark, leaf, ask, table);
    case "time":
      return writeTime(field, recipe satisfies PlainTime, leaf, table);
    default:
      return ask;
  }
}
