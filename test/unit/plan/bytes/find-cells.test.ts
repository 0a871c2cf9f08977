import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cells, DIGITS, DOUBLED, LETTERS, MARKS, ODD } from "../../../../src/plan/bytes/cells.ts";
import { createCells } from "../../../../src/plan/bytes/find-cells.ts";
import { RowMemory } from "../../../../src/plan/candidates/row-memory.ts";
import { MAX_ROW_BYTES } from "../../../../src/readers/row-parser.ts";

const SIZE = 2 * MAX_ROW_BYTES + 128 * 1024;
const COLUMNS = 3;
const LINE = 7;

/** The cells of one memory, and where a text stands in it. */
function cellsIn(isMany: boolean, { delimiter = ",", quote = '"' } = {}) {
  const memory = new RowMemory(SIZE, isMany);
  const at = memory.allot(SIZE / 2);
  const cells = createCells(memory, COLUMNS, delimiter.charCodeAt(0), quote === "" ? -1 : quote.charCodeAt(0));
  const scan = (text: Uint8Array): boolean => {
    memory.bytes.set(text, at);
    return cells.scan(at, at + text.length, LINE);
  };
  return { cells, at, scan, memory };
}

/** What a scan says, with places from the beginning of the text. */
function told({ cells, at, scan }: ReturnType<typeof cellsIn>, text: Uint8Array) {
  if (!scan(text)) return undefined;
  const { isBlank, next, nextLine } = cells;
  const found = { isBlank, next: next - at, nextLine };
  return isBlank ? found : { ...found, cells: Array.from(cells.from, (from, cell) => placeOf(cells, from, cell, at)) };
}

const placeOf = ({ to, flags }: Cells, from: number, cell: number, at: number) => ({
  from: from - at,
  to: (to[cell] ?? 0) - at,
  flags: flags[cell],
});

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(",", ",", '"', '"', '""', "\n", "\r\n", "\r", ";", "'") },
  { weight: 4, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 40 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("a".repeat(15), "7".repeat(16), "-".repeat(17), "ü", "😀", "?", "\\", "\u007f", ""),
  },
);
const anyText = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
/** Rows that are mostly plain: cells with and without quotes. */
const cell = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 40 }).map((text) => text.replaceAll(/[",;'\r\n]/g, "")),
  fc.string({ unit: "grapheme-ascii", maxLength: 60 }).map((text) => `"${text.replaceAll('"', '""')}"`),
  fc.array(fc.constantFrom("\n", "\r", ",", "x", '""', "ü"), { maxLength: 40 }).map((pieces) => `"${pieces.join("")}"`),
);
const likelyText = fc
  .tuple(fc.array(cell, { minLength: 2, maxLength: 4 }), fc.constantFrom("\n", "\r\n", "", "\n\n"))
  .map(([cells, end]) => `${cells.join(",")}${end}`);

describe("cells found sixteen bytes at a time", () => {
  it.each([
    ["with quotes", {}],
    ["of another dialect", { delimiter: ";", quote: "'" }],
    ["without quotes", { quote: "" }],
  ])("are those found one by one, %s", (_, dialect) => {
    const [wide, single] = [cellsIn(true, dialect), cellsIn(false, dialect)];
    expect(wide.cells.constructor).not.toBe(single.cells.constructor);
    const check = (text: string, rest: string): void => {
      const bytes = Buffer.from(text);
      // What stood there before is no part of it.
      wide.memory.bytes.write(`${rest},"\n`.repeat(20), wide.at + bytes.length);
      expect(told(wide, bytes)).toEqual(told(single, bytes));
    };
    fc.assert(fc.property(anyText, anyText, check), { numRuns: 2000 });
    fc.assert(fc.property(likelyText, anyText, check), { numRuns: 3000 });
  });

  it("are those found one by one, for each byte at each place of a block", () => {
    const [wide, single] = [cellsIn(true), cellsIn(false)];
    for (let byte = 0; byte < 256; byte += 1)
      for (let before = 0; before < 18; before += 1) {
        const open = Buffer.concat([Buffer.alloc(before, "a"), Buffer.of(byte), Buffer.from("b,1,2\n")]);
        const quoted = Buffer.concat([
          Buffer.from('"'),
          Buffer.alloc(before, "a"),
          Buffer.of(byte),
          Buffer.from('",1,2\n'),
        ]);
        for (const text of [open, quoted]) expect(told(wide, text)).toEqual(told(single, text));
      }
  });

  it("say what stands in each", () => {
    const wide = cellsIn(true);
    expect(told(wide, Buffer.from('12,"a ""b""\nc",\r\nmore'))).toEqual({
      isBlank: false,
      next: 17,
      nextLine: LINE + 2,
      cells: [
        { from: 0, to: 2, flags: DIGITS },
        { from: 4, to: 13, flags: LETTERS | MARKS | DOUBLED | ODD },
        { from: 15, to: 15, flags: 0 },
      ],
    });
  });

  it.each([
    [0, true],
    [1, false],
  ])("are those of a row of the greatest length and %i more: %s", (more, isPlain) => {
    const ends = ",1,2\n";
    const text = Buffer.from(`${"x".repeat(MAX_ROW_BYTES + more - ends.length + 1)}${ends}`);
    for (const isMany of [true, false]) expect(cellsIn(isMany).scan(text)).toBe(isPlain);
  });
});
