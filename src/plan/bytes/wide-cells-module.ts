/** The WebAssembly module of wide-cells.ts. */

import {
  AGAIN_IF,
  AT_LEAST,
  BLOCK,
  type Code,
  constant,
  END,
  get,
  I32,
  I32_ADD,
  I32_SUB,
  LOOP,
  list,
  load,
  moduleOf,
  set,
  tee,
  unsigned,
  V128,
  wide,
} from "../../actions/wasm.ts";
import { MAX_ROW_BYTES } from "../../readers/row-parser.ts";

export const WIDTH = 16;
/** The kinds of bytes, by their upper four bits: a table for each that ASCII has. */
export const TABLES = 8;

/** What `scan` finds of a row. */
export const NOT_WHOLE = 0;
const WHOLE = 1;
export const BLANK = 2;

/** Places behind `out`: what was found, behind the line end, and line ends in the row; the tables; sixteen bytes of ones before as many zeros. */
export const [FOUND, NEXT, LINE_ENDS, KINDS_FROM] = [0, 4, 8, 16] as const;
export const ONES = KINDS_FROM + TABLES * WIDTH;
/** Where the cells begin, one number for each; behind these, where they end; behind these, their kinds, two bytes each. */
export const CELLS = ONES + 2 * WIDTH;

/** Quotes that stand for one quote each, in the kinds of a cell. */
const DOUBLED = 2;
/** In a table, that place says what this one says of a cell. */
export const TABLE_ASKING = 2;
const ASKING_SHIFT = 7;

const LF = 10;
const CR = 13;

const I64 = 0x7e;
const IF: Code = [0x04, 0x40];
const ELSE: Code = [0x05];
const RETURN: Code = [0x0f];
const again = (depth: number): Code => [0x0c, depth];
const againIf = (depth: number): Code => [0x0d, depth];
const EQUAL: Code = [0x46];
const IS_ZERO: Code = [0x45];
const NOT_EQUAL: Code = [0x47];
const MORE: Code = [0x4b];
const LOWEST_BIT: Code = [0x68];
const COUNT_BITS: Code = [0x69];
const AND: Code = [0x71];
const OR: Code = [0x72];
const SHIFT_LEFT: Code = [0x74];
const byteAt = (local: number, offset = 0): Code => [...get(local), 0x2d, 0, ...unsigned(offset)];
const store = (offset: number): Code => [0x36, 2, ...unsigned(offset)];
const storeShort = (offset: number): Code => [0x3b, 1, ...unsigned(offset)];

const IN_ALL_PLACES = wide(0x0f);
const IS_EQUAL = wide(0x23);
const TO_BITS = wide(0x64);
const WIDE_AND = wide(0x4e);
const WIDE_OR = wide(0x50);
const LOOK_UP = wide(0x0e);
const WIDE_SUB = wide(0x71);
const WIDE_SHIFT_RIGHT = wide(0x6d);
const halfOf = (half: number): Code => [...wide(0x1d), half];
const allOf = (byte: number): Code => [...wide(0x0c), ...Array.from({ length: WIDTH }, () => byte)];

const [AT, END_AT, COLUMNS, OUT, DELIMITER, OPENING, QUOTE] = [0, 1, 2, 3, 4, 5, 6] as const;
const [START, CELL, FROM, TO, FIRST, LINES, DELIMITERS, ENDS, RETURNS, BITS, SIZE, FLAGS, PLACE] = [
  7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
] as const;
const BYTES = 20;
const [BLOCK_AT, KINDS, ALL_DELIMITERS, ALL_QUOTES, ALL_LF, ALL_CR] = [21, 22, 23, 24, 25, 26] as const;

const areEqualTo = (all: number): Code => [...get(BLOCK_AT), ...get(all), ...IS_EQUAL];
const bitsOf = (all: number): Code => [...areEqualTo(all), ...TO_BITS];
const add = (local: number, code: Code): Code => [...get(local), ...code, ...I32_ADD, ...set(local)];

/** The kinds of all bytes in the block. */
const kindsOfBlock: Code = [
  ...[...get(BLOCK_AT), ...constant(7), ...WIDE_SHIFT_RIGHT],
  ...Array.from({ length: TABLES }, (_, table) => [
    ...[...get(OUT), ...load(KINDS_FROM + table * WIDTH)],
    ...get(BLOCK_AT),
    ...(table === 0 ? [] : [...allOf(table * WIDTH), ...WIDE_SUB]),
    ...[...LOOK_UP, ...WIDE_OR],
  ]).flat(),
];

/** Where no bit is set, all of the block is looked at; otherwise what stands before the first. */
const noteKindsBefore: Code = [
  ...[...get(BITS), ...constant(1 << WIDTH), ...OR, ...LOWEST_BIT, ...set(SIZE)],
  ...get(KINDS),
  ...kindsOfBlock,
  ...[...get(OUT), ...get(SIZE), ...I32_SUB, ...load(ONES + WIDTH), ...WIDE_AND],
  ...[...WIDE_OR, ...set(KINDS)],
];

const loadBlock: Code = [...get(AT), ...load(0), ...set(BLOCK_AT)];

/** How many of the bytes before the first bit that is set are those of `all`. */
const countBefore = (all: number): Code => [
  ...bitsOf(all),
  ...[...constant(1), ...get(SIZE), ...SHIFT_LEFT, ...constant(1), ...I32_SUB],
  ...[...AND, ...COUNT_BITS],
];

/** Ends with what was found so far, which is nothing, where it is true; at so many blocks within the row. */
const failIf = (condition: Code, depth: number): Code => [...condition, ...againIf(depth)];
const isAtEnd: Code = [...get(AT), ...get(END_AT), ...AT_LEAST];

/** Blocks: row 0, cells 1, if 2, closed 3, quoted 4. */
const quotedCell: Code = [
  ...add(AT, constant(1)),
  ...[...get(AT), ...set(FROM)],
  ...[...constant(0), ...set(DELIMITERS), ...constant(0), ...tee(ENDS), ...set(RETURNS)],
  ...BLOCK,
  ...LOOP,
  ...failIf(isAtEnd, 4),
  ...loadBlock,
  ...[...bitsOf(ALL_QUOTES), ...set(BITS)],
  ...noteKindsBefore,
  ...add(DELIMITERS, countBefore(ALL_DELIMITERS)),
  ...add(ENDS, countBefore(ALL_LF)),
  ...add(RETURNS, countBefore(ALL_CR)),
  ...add(AT, get(SIZE)),
  ...[...get(BITS), ...IS_ZERO, ...againIf(0)],
  ...failIf(isAtEnd, 4),
  // Of two quotes the cell goes on.
  ...[...get(AT), ...constant(1), ...I32_ADD, ...get(END_AT), ...AT_LEAST, ...againIf(1)],
  ...[...byteAt(AT, 1), ...get(QUOTE), ...NOT_EQUAL, ...againIf(1)],
  ...[...get(FLAGS), ...constant(DOUBLED), ...OR, ...set(FLAGS)],
  ...add(AT, constant(2)),
  ...again(0),
  END,
  END,
  // With fewer delimiters than a row its lines are none of the table. There a CR alone ends a line, too.
  ...failIf(
    [
      ...[...get(ENDS), ...get(RETURNS), ...OR, ...constant(0), ...NOT_EQUAL],
      ...[...get(DELIMITERS), ...constant(1), ...I32_ADD, ...get(COLUMNS), ...AT_LEAST],
      ...AND,
    ],
    2,
  ),
  ...add(LINES, get(ENDS)),
  ...[...get(AT), ...set(TO)],
  ...add(AT, constant(1)),
];

/** Blocks: row 0, cells 1, if 2, open 3. */
const openCell: Code = [
  ...[...get(AT), ...set(FROM)],
  ...LOOP,
  ...failIf(isAtEnd, 3),
  ...loadBlock,
  ...[...areEqualTo(ALL_DELIMITERS), ...areEqualTo(ALL_QUOTES), ...WIDE_OR],
  ...[...areEqualTo(ALL_LF), ...areEqualTo(ALL_CR), ...WIDE_OR, ...WIDE_OR, ...TO_BITS, ...set(BITS)],
  ...noteKindsBefore,
  ...add(AT, get(SIZE)),
  ...[...get(BITS), ...IS_ZERO, ...AGAIN_IF],
  END,
  ...[...get(AT), ...set(TO)],
];

/** What is one bit of any byte is one of the cell. */
const noteFlags: Code = [
  ...[...get(KINDS), ...halfOf(0), ...get(KINDS), ...halfOf(1), 0x84, ...set(BYTES)],
  ...[32, 16, 8].flatMap((by) => [...get(BYTES), ...get(BYTES), 0x42, by, 0x88, 0x84, ...set(BYTES)]),
  ...[...get(BYTES), 0xa7, ...constant(0xff & ~TABLE_ASKING), ...AND, ...get(FLAGS), ...OR],
  ...[...get(BYTES), 0xa7, ...constant(TABLE_ASKING), ...AND, ...constant(ASKING_SHIFT), ...SHIFT_LEFT, ...OR],
  ...set(FLAGS),
];

const TIMES: Code = [0x6c];

const noteCell: Code = [
  ...[...get(CELL), ...constant(4), ...TIMES, ...get(OUT), ...I32_ADD, ...tee(PLACE), ...get(FROM), ...store(CELLS)],
  ...[...get(COLUMNS), ...constant(4), ...TIMES, ...get(PLACE), ...I32_ADD, ...get(TO), ...store(CELLS)],
  ...[...get(COLUMNS), ...constant(8), ...TIMES, ...get(CELL), ...constant(2), ...TIMES, ...I32_ADD],
  ...[...get(OUT), ...I32_ADD, ...get(FLAGS), ...storeShort(CELLS)],
];

/**
 * `scan(at, end, columns, out, delimiter, opening, quote)`: the row at `at`, as `Cells.scan` says. `opening` is the quote that a
 * cell may begin with, or none, and `quote` one that ends it.
 */
export function wideCellsModule(): Uint8Array {
  const body = [
    ...list([
      [13, I32],
      [1, I64],
      [6, V128],
    ]),
    ...[...get(OUT), ...constant(NOT_WHOLE), ...store(FOUND)],
    ...[...get(AT), ...set(START), ...constant(1), ...set(LINES)],
    ...[...get(DELIMITER), ...IN_ALL_PLACES, ...set(ALL_DELIMITERS)],
    ...[...get(QUOTE), ...IN_ALL_PLACES, ...set(ALL_QUOTES)],
    ...[...constant(LF), ...IN_ALL_PLACES, ...set(ALL_LF)],
    ...[...constant(CR), ...IN_ALL_PLACES, ...set(ALL_CR)],
    ...BLOCK,
    ...LOOP,
    ...failIf(isAtEnd, 1),
    ...failIf([...get(CELL), ...get(COLUMNS), ...EQUAL], 1),
    ...[...allOf(0), ...set(KINDS), ...constant(0), ...set(FLAGS)],
    ...[...byteAt(AT), ...tee(FIRST), ...get(OPENING), ...EQUAL],
    ...IF,
    ...quotedCell,
    ...ELSE,
    ...openCell,
    END,
    ...noteFlags,
    ...noteCell,
    ...failIf(isAtEnd, 1),
    ...[...byteAt(AT), ...get(DELIMITER), ...EQUAL],
    ...IF,
    ...add(AT, constant(1)),
    ...add(CELL, constant(1)),
    ...again(1),
    END,
    ...[...byteAt(AT), ...constant(CR), ...EQUAL],
    ...IF,
    ...add(AT, constant(1)),
    END,
    ...failIf(isAtEnd, 1),
    ...failIf([...byteAt(AT), ...constant(LF), ...NOT_EQUAL], 1),
    ...[...get(OUT), ...get(AT), ...constant(1), ...I32_ADD, ...store(NEXT)],
    ...[...get(OUT), ...get(LINES), ...store(LINE_ENDS)],
    ...[...get(CELL), ...IS_ZERO, ...get(FIRST), ...get(OPENING), ...NOT_EQUAL, ...AND],
    ...[...get(FROM), ...get(TO), ...EQUAL, ...AND],
    ...IF,
    ...[...get(OUT), ...constant(BLANK), ...store(FOUND), ...RETURN],
    END,
    ...failIf([...get(CELL), ...constant(1), ...I32_ADD, ...get(COLUMNS), ...NOT_EQUAL], 1),
    ...failIf([...get(AT), ...get(START), ...I32_SUB, ...constant(MAX_ROW_BYTES), ...MORE], 1),
    ...[...get(OUT), ...constant(WHOLE), ...store(FOUND)],
    END,
    END,
    END,
  ];
  return moduleOf("scan", 7, body);
}
