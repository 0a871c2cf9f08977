import { readFileSync } from "node:fs";
import { type Options, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { globSync } from "tinyglobby";
import { describe, expect, test } from "vitest";
import { type CsvOptions, CsvParser, detectDelimiter } from "../../../src/read/csv.ts";
import { MAX_RAW_BYTES, MAX_ROW_BYTES, RowReader } from "../../../src/read/row.ts";
import { brief, feed, messageOf } from "./feed.ts";

const CUTS = [Number.POSITIVE_INFINITY, 1, 2, 3, 7] as const;

/** Reads a text in one block and in small ones, which must make no difference. */
function read(text: string | Buffer, options: CsvOptions = {}) {
  const [whole, ...cut] = CUTS.map((size) => {
    const parser = new CsvParser(options);
    const reader = new RowReader(parser);
    const rows = feed(parser, text, size, reader);
    const { header, headerLine, delimiter } = parser;
    const { stopped, lineEnds } = reader;
    return { rows, header, headerLine, delimiter, stopped, lineEnds: stopped ? 0 : lineEnds };
  });
  for (const other of cut) expect(other).toEqual(whole);
  if (whole === undefined) throw new Error("no cut was tried");
  return whole;
}

test.each<[name: string, text: string, header: string | undefined, rows: string[]]>([
  ["an empty file", "", undefined, []],
  ["a header only", "a,b", "a|b", []],
  ["a last row that ends in CR", "a,b\r\n1,2\r", "a|b", ["2 1|2"]],
  ["CR only, as on old Macs", "a,b\r1,2\r3,4\r", undefined, ["1 !! lone-carriage-return"]],
  ["a CR inside a quoted cell where rows end in LF", 'a,b\n"1\r2",3\n', "a|b", ["2 1\r2|3"]],
  ["a CR in an unquoted cell where rows end in LF", "a\n1\n2\r3\n4\n", "a", ["2 1", "3 ! lone-carriage-return", "4 4"]],
  ["a CR between two rows of several cells", "a,b\n1,2\r3,4\n5,6\n", "a|b", ["2 ! lone-carriage-return", "3 5|6"]],
  ["a CR in the unquoted cell beside a quoted one", 'a,b\n"1\r2",3\r4\n', "a|b", ["2 ! lone-carriage-return"]],
  ["a CR in the last row, which has no line end", "a\n1\n2\r3", "a", ["2 1", "3 ! lone-carriage-return"]],
  [
    "a CR before a cell with a wrong quote, whose record may be two",
    'a,b,c\n1,1\r 5" pipe,"\n1,2,"x"\n1,3,y\n',
    "a|b|c",
    ["2 !! lone-carriage-return"],
  ],
  ["the header again", "a,b\n1,2\na,b\n3,4\n", "a|b", ["2 1|2", "3 ! header-repeated", "4 3|4"]],
  [
    "the header again in another spelling",
    "ticketId,b c\nTicket ID, B_C\n3,4\n",
    "ticketId|b c",
    ["2 ! header-repeated", "3 3|4"],
  ],
  ["the header again behind a byte order mark", "a,b\n\ufeffa,b\n3,4\n", "a|b", ["2 ! header-repeated", "3 3|4"]],
  ["the header again in another order", "a,b\n1,2\nB,a\n3,4\n", "a|b", ["2 1|2", "3 !! header-repeated"]],
  ["one cell that is a column's name", "a,b\na,1\na,\n", "a|b", ["2 a|1", "3 a|"]],
  ["a column's name twice", "a,b\na,a\n", "a|b", ["2 a|a"]],
  ["lines that end in CR CR LF", "a,b\n1,2\r\r\n3,4\r\n", "a|b", ["2 ! lone-carriage-return", "3 3|4"]],
  ["a quoted empty cell is no blank line", 'a\n""\n\nx\n', "a", ["2 ", "4 x"]],
  ["CRLF in the header's cells", '"a\r\nb",c\r\n1,2\r\n', "a\r\nb|c", ["3 1|2"]],
  ["duplicate and empty header cells", "a,a,\n1,2,3\n", "a|a|", ["2 1|2|3"]],
  ["a spreadsheet's sep= line", "sep=;\r\na;b,c\r\n1;2\r\n", "a|b,c", ["3 1|2"]],
  ["a delimiter at each row's end", 'a,b\n1,2,\n"3",4, \n', "a|b", ["2 1|2", "3 3|4"]],
  ["delimiters at the end of some rows", "a,b\r\n1,2\r\n3,4,,,\r\n", "a|b", ["2 1|2", "3 3|4"]],
  ["a delimiter at the header's end", "a,b,\n1,2\n3,4,\n5,6,7\n", "a|b|", ["2 1|2|", "3 3|4|", "4 5|6|7"]],
  ["more than the nameless cell is missing", "a,b,\n1\n3,4\n", "a|b|", ["2 ! cell-count", "3 3|4|"]],
  [
    "a decimal comma before an empty last cell, where other rows have none",
    "a,b,c\n1,2,x\n1,50,\n1,1,50,\n",
    "a|b|c",
    ["2 1|2|x", "3 1|50|", "4 ! cell-count"],
  ],
  [
    "numbers of two digits in a table whose rows all end in a delimiter",
    "a,b,c\n1,20,x,\n1,50,,\n",
    "a|b|c",
    ["2 1|20|x", "3 1|50|"],
  ],
  ["something beyond the header, behind an empty cell", "a,b\n1,2,,x\n", "a|b", ["2 ! cell-count"]],
  ["a row of delimiters, longer than the header", "a,b\n,,,\n1,2\n", "a|b", ["2 |", "3 1|2"]],
  ["the header again, with a delimiter at its end", "a,b\na,b,\n1,2,\n", "a|b", ["2 ! header-repeated", "3 1|2"]],
  ["a line of blanks is none", "a,b\n  \n1,2\n", "a|b", ["3 1|2"]],
  ["blanks only are a cell of a table of one column", "a\n  \n1\n", "a", ["2   ", "3 1"]],
  ["a header whose quote never closes", 'a,"b\n1,2\n', undefined, ["1 !! csv-quotes"]],
  ["CR after a quote inside a line", 'a,b\n"1"\rx,2\n', "a|b", ["2 !! csv-quotes"]],
])("%s", (_name, text, header, rows) => {
  const result = read(text);
  expect(result.header?.join("|")).toBe(header);
  expect(result.rows.map(brief)).toEqual(rows);
});

const LOOSE = { delimiter: ",", dialect: { quotes: "loose" } } as const;

describe("what a malformed row says", () => {
  test.each([
    ["a,b,c\n1\n", 'The row has 1 cell, the header has 3: Column 2 ("b") and what follows it are missing.'],
    [
      'a,b\n1,5" x\n',
      'Column 2 ("b") has a quote inside, but does not begin with one. Nothing after this row was read.',
    ],
    ['a,b\n"1\n2","3\n\n', 'A quote in line 3, column 2 ("b"), never closes. Lines after 3 were not read.'],
    ['a,"b\n', "A quote in line 1, column 2, never closes. Lines after 1 were not read."],
    [
      "a,b\n1,t3\rt4\n",
      'Column 2 ("b") holds a carriage return outside quotes; the lines of this file end otherwise, so two rows may stand in one.',
    ],
  ])("%j: %s", (text, message) => {
    expect(messageOf(read(text).rows[0])).toBe(message);
  });

  test.each([
    ["a backslash in the row before", LOOSE, 'a,b\n"x\\""",y\n1,"z\n', "Close it"],
    ["a backslash in the row behind", {}, 'a,b\n1,5" x\n2,"y\\""\n', "Put a cell that holds quotes"],
    ["its own backslash", {}, 'a,b\n1,"5\\" x"\n', "A backslash stands before a quote"],
    ["its own blank", {}, 'a,b\n1, "x"\n2,3\n', "A blank stands between a delimiter and a quote"],
  ])("its hint goes by the line of the fault alone: %s", (_what, options, text, hint) => {
    const row = read(text, options).rows.at(-1);
    expect(row?.kind === "malformed" && row.problems[0]?.hint).toContain(hint);
  });

  test("it keeps its raw text", () => {
    expect(read('a,b\r\n"1 ""x""",2,3\r\n').rows[0]).toMatchObject({ kind: "malformed", text: '"1 ""x""",2,3' });
    expect(read('a,b\n1,"2\n3,4\n').rows[0]).toMatchObject({ kind: "malformed", text: '1,"2\n3,4\n' });
  });
});

test("cells are trimmed; the row keeps them as they are written", () => {
  const [row, blank] = feed(new CsvParser(), 'a,b,c\n 1 ,"x ""y""",é \n,,\n');
  expect(row).toMatchObject({ cells: ["1", 'x "y"', "é"], text: ' 1 ,"x ""y""",é ', isBlank: false });
  expect(row?.kind === "cells" && row.whole()).toEqual([" 1 ", 'x "y"', "é "]);
  expect(blank).toMatchObject({ isBlank: true });
});

test.each([
  ["eventId,ticketId,price", ","],
  ["eventId;ticketId;price", ";"],
  ["eventId\tticketId\tprice", "\t"],
  ["eventId|ticketId|price", "|"],
  ["ticketId", ","],
  ["", ","],
  ["a;b,c", ","], // a tie
  ["a|b;c", ","], // a tie of others
  ['"Name, first, last";Price', ";"],
  ['"a,b,c"', ","],
  ['Price (EUR, gross);"Tax; VAT, MwSt.";Status;Zone', ";"],
  ['"a ""quoted, comma"" b";c', ";"],
  ['"multi\nline, header";b;c', ";"],
])("the delimiter of %j is %j", (header, delimiter) => {
  expect(detectDelimiter(header)).toBe(delimiter);
});

test("a delimiter can be declared", () => {
  expect(read("a,b;c\n1,2;3\n", { delimiter: ";" }).rows.map(brief)).toEqual(["2 1,2|3"]);
  expect(read("sep=,\na;b\n1;2\n", { delimiter: ";" }).rows.map(brief)).toEqual(["3 1|2"]);
});

describe("rows over 1 MiB", () => {
  const long = "x".repeat(MAX_ROW_BYTES + 1);
  const BLOCKS = [Number.POSITIVE_INFINITY, 300_000, 65_536];

  test.each<[string, string, string[]]>([
    ["an unquoted cell", `a,b\n1,2\n3,${long}\n4,5\n`, ["2 1|2", "3 !! row-too-long"]],
    ["a quoted cell over several lines", `a,b\n"${long}\n\n""x",3\n4,5\n`, ["2 !! row-too-long"]],
    ["text after its closing quote", `a,b\n"${long}"x,3\n4,5\n`, ["2 !! row-too-long"]],
    ["a quote that never closes", `a,b\n1,"${long}\n4,5\n`, ["2 !! row-too-long"]],
    ["a header", `a,${long}\n4,5\n`, ["1 !! row-too-long"]],
  ])("%s", (_name, text, expected) => {
    for (const size of BLOCKS) {
      const rows = feed(new CsvParser(), text, size);
      expect(rows.map(brief)).toEqual(expected);
      for (const row of rows) if (row.kind === "malformed") expect(row.text.length).toBeLessThanOrEqual(MAX_RAW_BYTES);
    }
  });

  test("exactly 1 MiB is a row", () => {
    const cell = "x".repeat(MAX_ROW_BYTES - 2);
    for (const size of BLOCKS)
      expect(feed(new CsvParser(), `a,b\n1,${cell}\n`, size)).toMatchObject([{ line: 2, cells: ["1", cell] }]);
  });

  test.each(["\r\n", "\r"])("exactly 1 MiB is a row, too, where a block ends with the CR of its %j", (end) => {
    const head = "a,b\r\n";
    const row = `1,${"x".repeat(MAX_ROW_BYTES - 2)}`;
    const rows = feed(new CsvParser(), head + row + end, head.length + row.length + 1);
    expect(rows).toMatchObject([{ line: 2, cells: row.split(",") }]);
  });
});

describe("what a source declares of its tables", () => {
  const ESCAPE = { dialect: { escape: "\\" } };

  test.each<[name: string, options: CsvOptions, text: string, rows: string[]]>([
    ["a quote behind an escape", ESCAPE, 'a,b\n1,"x \\"y\\" z"\n3,4\n', ['2 1|x "y" z', "3 3|4"]],
    ["doubled quotes beside it, as PHP has both", ESCAPE, 'a,b\n"5"" x","\\"y"\n', ['2 5" x|"y']],
    ["an escape of itself, last in its cell", ESCAPE, 'a,b\n"C:\\\\","D:\\x"\n3,4\n', ["2 C:\\|D:\\x", "3 3|4"]],
    ["an escape outside quotes", ESCAPE, "a,b\nC:\\x,\\\n", ["2 C:\\x|\\"]],
    ["an escaped quote before a delimiter and a line break", ESCAPE, 'a,b\n"\\",\n\\"",2\n', ['2 ",\n"|2']],
    ["a cell whose last quote is escaped", ESCAPE, 'a,b\n1,"x\\"\n3,4\n', ["2 !! csv-quotes"]],
    ["comments", { dialect: { comment: "#" } }, '#t\na,b\n#x,"y\r\n1,"\n#2"\n3,#4\n#', ["4 1|\n#2", "6 3|#4"]],
    ["loose quotes in a plain cell", LOOSE, 'a,b\n3,5" x\n4,6"\n', ['2 3|5" x', '3 4|6"']],
    ["loose quotes in a quoted cell", LOOSE, 'a,b\n"5" x","a ""b"" c"\r\n3,4\n', ['2 5" x|a "b" c', "3 3|4"]],
    [
      "a loose quote before a delimiter, which ends its cell",
      LOOSE,
      'a,b\n1,"x "y", z"\n3,4\n',
      ["2 ! cell-count", "3 3|4"],
    ],
    ["a header with loose quotes over two lines", LOOSE, '"5" x ""y"",\nz",b\n3,4\n', ["3 3|4"]],
    [
      "a comment with a lone carriage return",
      { dialect: { comment: "#" } },
      "a,b\n#x\r1,2\n3,4\n",
      ["2 ! lone-carriage-return", "3 3|4"],
    ],
    ["a loose quote that never closes", LOOSE, 'a,b\n1,"x\n3,4\n', ["2 !! csv-quotes"]],
  ])("%s", (_name, options, text, rows) => {
    expect(read(text, options).rows.map(brief)).toEqual(rows);
  });

  test("the text of a row is that of RFC 4180, by which it is read again", () => {
    const [row] = read('a,b\n1,"x \\"y\\""\n', ESCAPE).rows;
    expect(row?.text).toBe('1,"x ""y"""');
  });

  test("a cell of loose quotes over 1 MiB is no row", () => {
    const rows = feed(new CsvParser(LOOSE), `a,b\n1,${"x".repeat(MAX_ROW_BYTES)}"\n3,4\n`, 65_536);
    expect(rows.map(brief)).toEqual(["2 !! row-too-long"]);
  });

  test("whatever csv-parse reads with an escape or comments is read alike", () => {
    const nasty = fc.string({
      unit: fc.constantFrom("a", '"', "\\", '\\"', ",", "\n", "\n#", '","', " "),
      maxLength: 40,
    });
    let accepted = 0;
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 10 }), (body, size) => {
        // csv-parse takes an escape off whatever follows it.
        fc.pre(!/\\(?:[^"\\]|$)/.test(body.replaceAll("\\\\", "")));
        const text = `x,y\n${body}`;
        const parser = () => new CsvParser({ delimiter: ",", dialect: { escape: "\\", comment: "#" } });
        const rows = feed(parser(), text);
        expect(feed(parser(), text, size)).toEqual(rows);
        const reference = csvParseRows(text, ",", { escape: "\\", comment: "#", comment_no_infix: true });
        if (reference === undefined) return;
        accepted += 1;
        expect(rows.length).toBe(reference.length);
        for (const [at, row] of rows.entries()) {
          const asWide = asWideAs(["x", "y"], reference[at] ?? []);
          if (row.kind === "cells") expect(row.whole()).toEqual(asWide);
          else expect(asWide.length).not.toBe(2);
        }
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", '"', ",", ";", "\t", "|", "\n", "\r\n", " ", "€", "😀"), maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 10 }).filter((text) => !text.includes("\r") && !text.includes("\0")),
);

test("whatever csv-stringify writes is read back, each row with its physical line", () => {
  const table = fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(",", ";", "\t", "|"),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    )
    .chain(([columns, delimiter, crlf]) =>
      fc.record({
        delimiter: fc.constant(delimiter),
        crlf: fc.constant(crlf),
        blanks: fc.array(fc.nat(2), { minLength: 1, maxLength: 5 }),
        // No row is the header again, whose names are longer than any cell.
        rows: fc
          .array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 12 })
          .map(([header = [], ...others]) => [header.map((name, at) => `column number ${at} ${name}`), ...others]),
        size: fc.integer({ min: 1, max: 40 }),
      }),
    );
  fc.assert(
    fc.property(table, ({ delimiter, crlf, blanks, rows, size }) => {
      let text = "";
      const expected: { line: number; cells: string[] }[] = [];
      for (const [at, cells] of rows.entries()) {
        const lineEnd = crlf[at % crlf.length] ? "\r\n" : "\n";
        text += lineEnd.repeat(blanks[at % blanks.length] ?? 0);
        expected.push({ line: text.split("\n").length, cells });
        const quoted = cells.length === 1 || at === 0;
        text += stringify([cells], {
          delimiter,
          quoted,
          quoted_string: quoted,
          quoted_empty: quoted,
          record_delimiter: lineEnd,
          quoted_match: /[\r\n]/,
        });
      }
      const parser = new CsvParser({ delimiter });
      const read = feed(parser, text, size);
      expect([
        { line: parser.headerLine, cells: parser.header },
        ...read.map((row) => ({ line: row.line, cells: row.kind === "cells" ? row.whole() : row })),
      ]).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("random bytes: blocks make no difference, and what csv-parse accepts is read alike", () => {
  const nasty = fc.string({ unit: fc.constantFrom("a", "b", '"', '"', ",", ",", "\n", "\r\n", " "), maxLength: 60 });
  fc.assert(
    fc.property(nasty, fc.integer({ min: 1, max: 10 }), (body, size) => {
      const text = `x,y\n${body}`;
      const rows = feed(new CsvParser({ delimiter: "," }), text);
      expect(feed(new CsvParser({ delimiter: "," }), text, size)).toEqual(rows);
      const reference = csvParseRows(text);
      if (reference === undefined) expect(rows.at(-1)).toMatchObject({ bordersKnown: false });
      else {
        expect(rows.length).toBe(reference.length);
        for (const [at, row] of rows.entries()) {
          const written = reference[at] ?? [];
          const asWide = asWideAs(["x", "y"], written);
          if (row.kind === "cells") expect(row.whole()).toEqual(asWide);
          else expect(asWide.length).not.toBe(2);
        }
      }
    }),
    { numRuns: 3000 },
  );
});

test.each(globSync("fixtures/**/*.csv").sort())("csv-parse reads %s alike", (path) => {
  const text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
  const parser = new CsvParser();
  const rows = feed(parser, text, 1000);
  const reference = csvParseRows(text, parser.delimiter);
  if (reference === undefined) return expect(rows.at(-1)).toMatchObject({ bordersKnown: false });
  const above = /^"?sep=/.test(text) ? 1 : 0;
  for (const [at, row] of rows.entries()) {
    const cells = asWideAs(parser.header ?? [], reference[above + at] ?? []);
    if (row.kind === "cells") expect(row.whole()).toEqual(cells);
  }
});

/** Without empty cells beyond the header, and with an empty one for its last column where that has no name. */
function asWideAs(header: readonly string[], cells: readonly string[]): readonly string[] {
  if (cells.slice(header.length).every((cell) => cell.trim() === "")) {
    const within = cells.slice(0, header.length);
    return within.length === header.length - 1 && header.at(-1)?.trim() === "" ? [...within, ""] : within;
  }
  return cells;
}

/** What csv-parse alone makes of it; undefined when it refuses. */
function csvParseRows(text: string, delimiter = ",", dialect: Options = {}): string[][] | undefined {
  try {
    const rows: string[][] = parse(text, {
      ...dialect,
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true,
      skip_empty_lines: true,
    });
    return rows.slice(1).filter((cells) => rows[0]?.length === 1 || cells.length > 1 || cells[0]?.trim() !== "");
  } catch {
    return undefined;
  }
}

describe("a header in a line of its own", () => {
  test.each([
    ["CRLF", 'Box\r\n"x\r\n\r\na,b\r\n1,2\r\n', "4", ["5 1|2"]],
    ["a declared delimiter above", "sep=;\nBox,x\n\na;b\n1;2\n", "4", ["5 1|2"]],
  ])("is read there, whatever stands above: %s", (_what, text, line, rows) => {
    const found = read(text, { headerLine: Number(line) });
    expect(found).toMatchObject({ header: ["a", "b"], headerLine: 4 });
    expect(found.rows.map(brief)).toEqual(rows);
  });

  test("is none where the text ends before", () => {
    expect(read("a,b\n1,2\n", { headerLine: 4 })).toMatchObject({ header: undefined, rows: [] });
    expect(read("a,b\n1,2", { headerLine: 2 })).toMatchObject({ header: ["1", "2"], rows: [] });
  });
});
