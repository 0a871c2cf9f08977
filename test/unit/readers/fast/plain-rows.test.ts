/** The fast path against the reference: both read the same rows, lines, raw texts and findings, and every finding is the reference's. */

import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { globSync } from "tinyglobby";
import { describe, expect, it, test, vi } from "vitest";
import { type CsvOptions, csvParser } from "../../../../src/readers/csv.ts";
import { trackRow } from "../../../../src/readers/csv-quotes.ts";
import { readCsvRow, readCsvRows } from "../../../../src/readers/csv-rows.ts";
import { FAST_FROM_BYTES, readPlainRows } from "../../../../src/readers/fast/plain-rows.ts";
import { MAX_ROW_BYTES } from "../../../../src/readers/row-parser.ts";
import { feed } from "../feed.ts";

const REFERENCE_ALONE = Number.POSITIVE_INFINITY;
const RUNS = Number(process.env.RUNS ?? 1000);

/** All that a parser tells of a text, and what is known of it after each block. */
function read(text: string | Buffer, options: CsvOptions, fastFrom: number, size = Number.POSITIVE_INFINITY) {
  const parser = csvParser(options, fastFrom);
  const rows = feed(parser, text, size);
  const { header, headerLine, delimiter, stopped, lineEnds } = parser;
  return { rows, header, headerLine, delimiter, stopped, lineEnds: stopped ? undefined : lineEnds };
}

/** What the reference alone reads, when the fast path came to the same with it: in one piece, and in blocks, from the beginning or from later on. */
function readBothWays(text: string | Buffer, options: CsvOptions = {}, size = Number.POSITIVE_INFINITY) {
  const reference = read(text, options, REFERENCE_ALONE);
  expect(read(text, options, 0)).toEqual(reference);
  for (const fastFrom of [0, Math.floor(text.length / 2), REFERENCE_ALONE])
    expect(read(text, options, fastFrom, size)).toEqual(reference);
  return reference;
}

const rulesOf = ({ rows }: ReturnType<typeof read>): readonly string[] =>
  rows.flatMap((row) => ("findings" in row ? (row.findings ?? []) : []).map(({ rule }) => rule));

const DELIMITERS = [",", ";", "\t", "|"] as const;
const LINE_ENDS = ["\n", "\r\n", "\r", "\r\r\n"] as const;

/** What is in a cell, as it is written. */
const written = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("", "a", "t-1", "12.50", "Zoë", "日本", "😀", "two words", " ") },
  { weight: 3, arbitrary: fc.constantFrom('""', '"a"', '"a,b;c|d\te"', '"5"" x"', '""""', '"\ufeff"') },
  { weight: 2, arbitrary: fc.constantFrom('"1\n2"', '"1\r\n2"', '"1\r2"', '"a\n\n,b,"', '"x\n1,2,3\ny"', '",\n,"') },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(5000), `"${"y\n".repeat(2000)}"`, `"${'""'.repeat(900)}"`) },
);

/** What may befall a file. */
const damage = fc.constantFrom(
  ...['"', '""', '"x', 'x"', '5" x', " ", '" ', "\r", "\r\r", "\n", "\r\n", "\n\n", ",", ";", "\t", "|"],
  ...["\ufeff", "\0", '"\0', "a,b,c\n", "c,b,a\n", "sep=;\n", "\u2028", "'", "=1"],
);

/** Tables of a few rows, whose lines end in one way or in several, some of them damaged. */
const tables = fc
  .record({
    columns: fc.integer({ min: 1, max: 4 }),
    delimiter: fc.constantFrom(...DELIMITERS),
    lineEnds: fc.oneof(
      fc.constantFrom(...LINE_ENDS).map((one) => [one]),
      fc.array(fc.constantFrom(...LINE_ENDS), { minLength: 1, maxLength: 4 }),
    ),
    above: fc.constantFrom("", "", "", "\ufeff", "\n\n", "sep=;\r\n", 'Box "office\nas of\n\n'),
    rows: fc.array(fc.array(written, { minLength: 4, maxLength: 4 }), { maxLength: 12 }),
    ragged: fc.option(fc.nat(11), { freq: 3 }),
    ended: fc.boolean(),
    damages: fc.array(fc.tuple(fc.nat(), fc.nat(6), damage), { maxLength: 2 }),
    isCut: fc.option(fc.nat(), { freq: 8 }),
  })
  .map(({ columns, delimiter, lineEnds, above, rows, ragged, ended, damages, isCut }) => {
    const header = ["a", "b", "c", "tickets:guarded"].slice(0, columns).join(delimiter);
    const lines = rows.map((cells, at) => cells.slice(0, at === ragged ? columns + 1 : columns).join(delimiter));
    let text = above;
    for (const [at, line] of [header, ...lines].entries())
      text += line + (at === lines.length && !ended ? "" : lineEnds[at % lineEnds.length]);
    for (const [place, removed, put] of damages) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + put + text.slice(at + removed);
    }
    return isCut === null ? text : text.slice(0, isCut % (text.length + 1));
  });

/** Nothing but what means something to the grammar. */
const soup = fc
  .string({ unit: fc.constantFrom('"', '"', ",", ",", "\n", "\r", "\r\n", "a", "é", " ", "\0"), maxLength: 60 })
  .map((body) => `a,b\n${body}`);

const options = fc.constantFrom<CsvOptions>(
  ...[{}, {}, {}, {}, { delimiter: ";" }, { delimiter: "\t" }, { quote: "" }, { quote: "'" }, { headerLine: 4 }],
);
const sizes = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 31, max: 9000 }));
/** More blocks tell nothing more. */
const MOST_BLOCKS = 200;

describe("both read the same", () => {
  test("of whole and damaged tables, in blocks of any size", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.oneof(tables, soup), options, sizes, (text, chosen, size) => {
        const found = readBothWays(text, chosen, Math.max(size, Math.ceil(text.length / MOST_BLOCKS)));
        for (const rule of new Set([
          ...rulesOf(found),
          found.rows.some(({ kind }) => kind === "cells") ? "cells" : "no cells",
        ]))
          seen.set(rule, (seen.get(rule) ?? 0) + 1);
      }),
      { numRuns: RUNS },
    );
    const least = (rule: string): number => seen.get(rule) ?? 0;
    const rules = [
      "cells",
      "no cells",
      "csv-quotes",
      "cell-count",
      "lone-carriage-return",
      "header-repeated",
      "rows-in-cell",
    ];
    expect(rules.filter((rule) => least(rule) < RUNS / 1000)).toEqual([]);
  });

  type Case = readonly [what: string, rows: readonly string[]];
  const often: readonly Case[] = [
    ["a row", ["1,2"]],
    ["a row over the limit", [`1,${"x".repeat(MAX_ROW_BYTES)}`]],
    ["a row of exactly the limit", [`1,${"x".repeat(MAX_ROW_BYTES - 2)}`, "3,4"]],
  ];
  const seldom: readonly Case[] = [
    ["a row of many lines over the limit", [`1,"${"x\r\n".repeat(MAX_ROW_BYTES / 2)}"`, "3,4"]],
    ["text behind a quote after the limit", [`1,"${"x\n".repeat(MAX_ROW_BYTES)}"y`, "3,4"]],
    ["a bare quote after the limit", [`1,${"x".repeat(MAX_ROW_BYTES)}"`, "3,4"]],
    ["a quote that never closes", ["1,2", '3,"4', ...Array.from({ length: 60_000 }, (_, at) => `${at},some words`)]],
  ];
  const readWhateverEnds = (rows: readonly string[]): void => {
    for (const [lineEnd, size] of [
      ["\n", 300_000],
      ["\r\n", 65_536],
      ["\r", 200_000],
    ] as const)
      readBothWays(["a,b", ...rows, "5,6", ""].join(lineEnd), {}, size);
  };
  test.each(often)("of %s, whatever ends rows and blocks", (_, rows) => readWhateverEnds(rows));
  test.each(seldom)("of %s, whatever ends rows and blocks", { tags: ["long"] }, (_, rows) => readWhateverEnds(rows));
});

const ROOT = join(import.meta.dirname, "../../../..");
/** Exports of real systems, beside the checkout where they are at hand. */
const BESIDE = join(ROOT, "../shared/exports");
const FILES = [join(ROOT, "fixtures"), BESIDE]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => globSync("**/*.{csv,tsv,txt,md,ndjson,json,yaml}", { cwd: folder, absolute: true }).toSorted());

it("both read the same of every file at hand, tables or not", { tags: ["long"] }, () => {
  expect(FILES.length).toBeGreaterThan(200);
  let rows = 0;
  for (const file of FILES) {
    const stored = readFileSync(file);
    const text = isUtf8(stored) ? stored : Buffer.from(stored.toString("latin1"));
    for (const chosen of [{}, { headerLine: 4 }, { delimiter: ";" }])
      rows += readBothWays(text, chosen, 4096).rows.length;
  }
  expect(rows).toBeGreaterThan(10_000);
});

describe("the fast path", () => {
  const DIALECT = { delimiter: 0x2c, quote: 0x22, crEndsRows: false };

  test("takes most rows by itself", () => {
    const text = Buffer.from('t-1,EUR\n"t ""2""","a,b"\r\n\nt-3,"two\nlines"\n"t\r4",\n');
    const { rows, ...rest } = readPlainRows(text, 0, 2, DIALECT);
    expect(rest).toEqual({ rest: text.length, restLine: 8, asksReference: false });
    expect(rows).toEqual(readCsvRows(text, 0, 2, DIALECT, false).rows.map(({ returnIn, ...row }) => row));
    expect(rows.length).toBe(4);
  });

  test.each([
    '5" x,2\n3"\n',
    '"5" x,2\n',
    '"5,2\n"a\n',
    "1\r2,3\n",
    '"1"\r,3\n',
    '"1"\0,3\n',
    `${"x".repeat(MAX_ROW_BYTES + 1)}\n`,
  ])("says nothing of row %# here, and asks the reference from there on", (row) => {
    const found = readPlainRows(Buffer.from(`1,2\n${row}3,4\n`), 0, 2, DIALECT);
    expect(found).toMatchObject({ rows: [{ cells: ["1", "2"] }], rest: 4, restLine: 3, asksReference: true });
  });
});

describe("csv-parse is given", () => {
  const row = "t-1,some words,12.50\n";
  const BLOCK = 65_536;
  const text = `a,b,c\n${row.repeat(Math.ceil((3 * BLOCK) / row.length))}`;

  /** How much of a text csv-parse is given to read, and how many rows come of it. */
  async function given(
    text: string,
    variable: string,
    size = BLOCK,
  ): Promise<{ readonly bytes: number; readonly rows: number }> {
    let bytes = 0;
    vi.stubEnv("TICKETS_FAST_PATH", variable);
    vi.resetModules();
    vi.doMock("csv-parse/sync", async (original) => {
      const actual = await original<typeof import("csv-parse/sync")>();
      const parse = (data: Buffer, options: object) => {
        bytes += data.length;
        return actual.parse(data, options);
      };
      return { ...actual, parse };
    });
    const { csvParser } = await import("../../../../src/readers/csv.ts");
    const rows = feed(csvParser(), text, size).length;
    vi.doUnmock("csv-parse/sync");
    vi.unstubAllEnvs();
    vi.resetModules();
    return { bytes, rows };
  }

  test("all of a file below the size from which the fast path pays, and next to nothing of a larger one", async () => {
    const small = text.slice(0, text.lastIndexOf("\n", FAST_FROM_BYTES - 2) + 1);
    expect((await given(small, "")).bytes).toBeGreaterThan(small.length - row.length);
    expect((await given(text, "")).bytes).toBeLessThan(row.length);
  });

  test("what comes in small blocks until so much was taken", async () => {
    const { bytes } = await given(text, "", 4096);
    expect(bytes).toBeGreaterThan(FAST_FROM_BYTES - 4096 - row.length);
    expect(bytes).toBeLessThan(FAST_FROM_BYTES + 8 * row.length);
  });

  test("all with TICKETS_FAST_PATH=off, and the rows are the same", async () => {
    const off = await given(text, "off");
    expect(off.bytes).toBeGreaterThan(text.length - row.length);
    expect(off.rows).toBe((await given(text, "on")).rows);
  });

  test("whatever something is found in: all that was taken, from there on", async () => {
    const broken = `${text}t-2,too,many,cells\n${row.repeat(100)}`;
    const { bytes, rows } = await given(broken, "");
    expect(bytes).toBeGreaterThanOrEqual(100 * row.length);
    expect(bytes).toBeLessThan(2 * BLOCK);
    expect(rows).toBe(text.split("\n").length - 2 + 101);
  });
});

test("what csv-parse refuses of a row, the explanation of it finds too, and nothing else", () => {
  const row = fc.string({ unit: fc.constantFrom('"', '"', ",", "a", "é", "\r", '""', '","'), maxLength: 14 });
  const dialect = { delimiter: 0x2c, quote: 0x22, crEndsRows: false };
  let refused = 0;
  fc.assert(
    fc.property(row, (text) => {
      const bytes = Buffer.from(text.replace(/\r+$/, ""));
      const tracker = trackRow(dialect);
      tracker.feed(bytes, 0);
      tracker.finish();
      const isRefused = bytes.length > 0 && readCsvRow(bytes, dialect) === undefined;
      if (isRefused) refused += 1;
      expect(tracker.fault !== undefined).toBe(isRefused);
    }),
    { numRuns: RUNS },
  );
  expect(refused).toBeGreaterThan(RUNS / 4);
});
