/** What writes the value of a field of the row in hand as JSON, from its cells. */

import { type FieldName, type FieldValue, fieldSpec } from "../../actions/fields.ts";
import { areDigits } from "../../actions/zero-ids.ts";
import { type Clock, type PlainTime, type PlainValue, UNCLEAR } from "../../mapping/plain-source.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { ByteMap } from "./byte-map.ts";
import { CellKey } from "./cell-key.ts";
import { DOUBLED, ESCAPED, STRANGE } from "./cells.ts";
import {
  ABSENT,
  clearWordTest,
  isBlank,
  isDigit,
  isTrimmed,
  type Leaf,
  likelyTimes,
  MOST_TEXT_BYTES,
  NOT_PLAIN,
} from "./leaves.ts";
import type { Table } from "./table.ts";
import { createRowText, FOUND, flagsOf, type RowText, type TemplateParts } from "./texts.ts";
import { createClock, type SecondsOf } from "./times.ts";

/**
 * Writes the value at `at`: its end, `ABSENT` where the row has none, or `NOT_PLAIN`. It takes at most twice as many bytes as the
 * row, or as a text that is put together, and two; unless it looks itself at where the lines end.
 */
export type ValueWriter = (at: number) => number;

/** The value of a column as it stands, without blanks around it. */
export function writeCell(column: number, leaf: Leaf, table: Table): ValueWriter {
  const { cells, memory } = table;
  const { from, to, flags } = cells;
  const { bytes } = memory;
  return (at) => {
    let start = from[column] as number; // a column of the header
    let end = to[column] as number;
    if (start === end) return ABSENT;
    const flag = flags[column] as number;
    if (!isTrimmed(bytes, start, end, flag)) {
      // Behind a backslash may be another blank.
      if ((flag & ESCAPED) !== 0) return NOT_PLAIN;
      while (start < end && isBlank(bytes[start])) start += 1;
      while (end > start && isBlank(bytes[end - 1])) end -= 1;
      if (start === end) return ABSENT;
      if (!isTrimmed(bytes, start, end, flag)) return NOT_PLAIN;
    }
    return leaf(at, start, end, flag);
  };
}

/** The same of an item, which is taken as it is. */
export function writeExact(column: number, leaf: Leaf, { memory: { bytes }, cells }: Table): ValueWriter {
  const { from, to, flags } = cells;
  return (at) => {
    const start = from[column] as number; // a column of the header
    const end = to[column] as number;
    if (start === end) return ABSENT;
    const flag = flags[column] as number;
    return isTrimmed(bytes, start, end, flag) ? leaf(at, start, end, flag) : NOT_PLAIN;
  };
}

/** The value that a text of the row says. */
export function writeText(text: RowText, leaf: Leaf): ValueWriter {
  return (at) => {
    const found = text.read();
    if (found !== FOUND) return found;
    return leaf(at, text.from, text.to, text.flags);
  };
}

/** The same of every row. */
function writeConstant(memory: RowMemory, json: Uint8Array): ValueWriter {
  const { from, length } = memory.keep(json);
  return (at) => memory.copy(at, from, length);
}

export function rowTextOf(templates: readonly TemplateParts[], field: FieldName, table: Table): RowText {
  const { kind } = fieldSpec(field);
  const isId = kind === "id" || kind === "nftId";
  const partOf = !isId ? undefined : field === "ticketId" || field === "nftId" ? "ticket" : "other id";
  return createRowText(templates, table, { scratch: table.scratch, needsAll: isId, partOf });
}

const POINT = 0x2e;
const MOST_DIGITS = 40;

/** An amount of digits and at most one decimal mark; of any other text it asks. */
function writeAmount(text: RowText, mark: "." | ",", leaf: Leaf, ask: ValueWriter, table: Table): ValueWriter {
  const { bytes } = table.memory;
  const markByte = mark.charCodeAt(0);
  const mayBeClearWord = clearWordTest(table.leafOptions.clearWord, bytes);
  const scratch = table.memory.allot(MOST_DIGITS);
  return (at) => {
    const found = text.read();
    if (found !== FOUND) return found;
    const { from, to } = text;
    const length = to - from;
    if ((text.flags & STRANGE) !== 0 || length > MOST_DIGITS || mayBeClearWord(from, to)) return ask(at);
    let marks = 0;
    for (let next = 0; next < length; next += 1) {
      const byte = bytes[from + next] as number; // within its length
      if (byte === markByte) marks += 1;
      else if (!isDigit(byte)) return ask(at);
      bytes[scratch + next] = byte === markByte ? POINT : byte;
    }
    // The leaf wants digits on both sides of the point.
    return marks > 1 ? ask(at) : leaf(at, scratch, scratch + length, 0);
  };
}

/** A time whose seconds the reference tells by the hour, or one by one where it is written otherwise. */
export function writeTime(field: FieldName, time: TimeReading, leaf: Leaf, table: Table): ValueWriter {
  const { templates, takesDigits, secondsOf } = time;
  const text = rowTextOf(templates, field, table);
  const { memory, leafOptions } = table;
  const { bytes } = memory;
  const { earliest, latest } = likelyTimes(field, leafOptions.now);
  const mayBeClearWord = clearWordTest(leafOptions.clearWord, bytes);
  const clock = time.clock === undefined ? undefined : createClock(memory, time.clock, secondsOf);
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
  return (at) => {
    const found = text.read();
    if (found !== FOUND) return found;
    const { from, to, flags } = text;
    if ((flags & DOUBLED) !== 0 || mayBeClearWord(from, to)) return NOT_PLAIN;
    if (takesDigits && areDigits(bytes, from, to)) return leaf(at, from, to, flags);
    let seconds = clock === undefined || (flags & STRANGE) !== 0 ? Number.NaN : clock(from, to);
    if (Number.isNaN(seconds)) seconds = ask(memory.text(from, to));
    return seconds >= earliest && seconds <= latest ? writeDigits(bytes, at, seconds) : NOT_PLAIN;
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

const HALF_OF_DIGITS = 100_000;

/** The digits of Unix seconds from 2001 to 2286, which are ten. */
function writeDigits(bytes: Uint8Array, at: number, seconds: number): number {
  if (!(seconds >= 1e9 && seconds < 1e10)) return NOT_PLAIN;
  let high = (seconds / HALF_OF_DIGITS) | 0;
  let low = (seconds - high * HALF_OF_DIGITS) | 0;
  for (let digit = 4; digit >= 0; digit -= 1) {
    bytes[at + digit] = 0x30 + (high % 10);
    bytes[at + 5 + digit] = 0x30 + (low % 10);
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
  const { memory } = table;
  const answers = new ByteMap<Answer>(memory.bytes, MOST_ANSWERS);
  const key = new CellKey(columns, table);
  return (at) => {
    const end = key.write();
    let answer = end === -1 ? UNPLAIN : answers.get(key.from, end);
    if (answer === undefined) {
      answer = answerBy(ask(key.texts()), leaf, table);
      answers.set(key.from, end, answer);
    }
    return answer.status ?? memory.put(at, answer.json);
  };
}

function answerBy(
  value: FieldValue | undefined | typeof UNCLEAR,
  leaf: Leaf,
  { memory, answers: { text: from, json } }: Table,
): Answer {
  if (value === undefined) return { json: NO_JSON, status: ABSENT };
  const text = value === UNCLEAR ? undefined : textOfValue(value);
  if (text === undefined || text.trim() !== text || text === "") return UNPLAIN;
  if (text.length * 3 > MOST_TEXT_BYTES) return UNPLAIN;
  const to = from + memory.bytes.write(text, from, "utf8");
  const end = leaf(json, from, to, flagsOf(text));
  return end === NOT_PLAIN ? UNPLAIN : { json: Buffer.from(memory.bytes.subarray(json, end)), status: undefined };
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
    const { json, status } = answerBy(value.ask([]), leaf, table);
    return status === undefined ? writeConstant(table.memory, json) : () => status;
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
