/** The fast path of a plan against the reference: both make the same candidates, findings and everything else of a range. */

import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { severityIn } from "../../../../src/checks/severity.ts";
import { createMapper, type MapperOptions } from "../../../../src/mapping/create-mapper.ts";
import type { Batch } from "../../../../src/plan/compile/batch.ts";
import { createRowCompiler } from "../../../../src/plan/compile/compile-rows.ts";
import { createProblemLog } from "../../../../src/plan/findings/problem-log.ts";
import { createRowMarks } from "../../../../src/plan/rejects/mended-rows.ts";

const RUNS = Number(process.env.RUNS ?? 500);
const NOW = 1_800_000_000;

interface Table {
  readonly header: readonly string[];
  readonly text: string;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly settings?: Partial<MapperOptions>;
  readonly notesEvents?: boolean;
}

/** Both ways of one text, in one range or cut in two, and how many rows the mapper was asked about. */
function compileBoth(table: Table) {
  const { header, text, delimiter = ",", quote, settings = {}, notesEvents = false } = table;
  const made: MapperOptions = { fileName: "sales.csv", header, ...settings };
  const ranged = { format: "csv", quote, start: { header, headerLine: 1, delimiter } } as const;
  const compilerOf = (isFast: boolean) => {
    const mapper = createMapper(made);
    const map = vi.spyOn(mapper, "map");
    const compiler = createRowCompiler({
      file: { name: "sales.csv", format: "csv" },
      input: 3,
      mapper,
      severityOf: severityIn(new Map()),
      now: NOW,
      notesEvents,
      readAs: "soldTicket",
      rules: [],
      header,
      ranged,
      settings: isFast ? made : undefined,
      marks: createRowMarks(new Set(), "some"),
      keepsBatches: true,
    });
    return { compiler, map };
  };
  const bytes = Buffer.from(text);
  const [fast, reference] = [compilerOf(true), compilerOf(false)];
  const batches: Batch[] = [];
  // A range ends with a row, and what is known of the file goes on.
  for (const [at, part] of [bytes, bytes].entries()) {
    const range = { bytes: part, lineEnds: 1 + at * 1000, isLast: at === 1 };
    const [one, other] = [fast, reference].map(({ compiler }) =>
      compiler.compileRange(range, createProblemLog(100, "all")),
    );
    expect(one).toEqual(other);
    if (one !== undefined) batches.push(one);
    if (one?.isUnreadable || !text.endsWith("\n")) break;
  }
  return { batches, asked: fast.map.mock.calls.length, rows: reference.map.mock.calls.length };
}

const SALE = ["eventId", "ticketId", "userId", "price", "orderTime"];
const table = (header: readonly string[], ...rows: readonly string[]): Table => ({
  header,
  text: rows.map((row) => `${row}\n`).join(""),
});

describe("rows of every real export are plain", () => {
  it.each<[string, Table]>([
    ["sales", table(SALE, "E1,T-000001,u1,12.50,1790000000", "E1,T-000002,u1,12.50,1790000000")],
    [
      "with words, quotes, attributes and addresses",
      table(
        [...SALE, "name", "imageUrl", "to", "metadataAttributes", "note"],
        ...[1, 2, 3].map(
          (n) =>
            `E1,TCK-000000${n},user-${n},12.50,1790000000,"Été, 東京 ""${n}""\nPart two",https://img.example.com/${n}.png?x=1,0x${"ab".repeat(20)},` +
            `"[{""trait_type"":""Row"",""value"":""A ${n}""},{""trait_type"": ""Área"", ""value"": ""–""}]",anything @ all`,
        ),
      ),
    ],
    [
      "of several actions",
      {
        ...table(
          ["action", ...SALE, "to"],
          "soldTicket,E1,T-1,u1,5,1790000000,",
          "scannedTicket,,T-1,,,1790000100,",
          "claimedTicket,,T-1,u1,,1790000100,",
          `claimedTicket,,T-1,,,1790000100,0x${"0".repeat(40)}`,
          "resoldTicket,,T-1,u2,6.00,1790000200,",
          "invalidatedTicket,,T-1,,,1790000300,",
        ),
        settings: { fileName: "all.csv" },
      },
    ],
    [
      "of tickets by nftId",
      {
        ...table(["nftId", "orderTime"], "GET-1-22,1790000000", "GET-1-23,1790000000"),
        settings: { fileName: "scans.csv" },
      },
    ],
    [
      "updates without times",
      {
        ...table(["ticketId", "imageUrl"], "T-1,https://a.example/x", "T-2,https://a.example/y"),
        settings: { fileName: "updates.csv" },
      },
    ],
    [
      "of events",
      {
        ...table(
          ["eventId", "eventName", "startTime", "endTime", "currency"],
          "E1,Fête,1790000000,1790000900,EUR",
          "E2,Fête,1790000000,1790000900,USD",
        ),
        settings: { fileName: "x.csv", action: "updateEvent" },
      },
    ],
    ["with CRLF and blank lines", { header: SALE, text: "E1,T-1,u1,1,1790000000\r\n\r\n\nE1,T-2,u1,1,1790000000\r\n" }],
    ["with semicolons", { ...table(SALE, "E1;T-1;u1;1;1790000000"), delimiter: ";" }],
  ])("%s", (_, given) => {
    const { asked, rows, batches } = compileBoth(given);
    expect(rows).toBeGreaterThan(0);
    expect(batches[0]?.candidates).toBeGreaterThan(0);
    // Words that become public for the first time, and traits, are noted by the reference: once.
    expect(asked).toBeLessThanOrEqual(1);
  });
});

const cell = {
  id: [
    "E1",
    "T-1",
    "T-000000012",
    "3-11",
    "12.0",
    "1E+10",
    "N/A",
    "Jan-03",
    "TRUE",
    "#REF!",
    "a b",
    "ü",
    "x".repeat(256),
    "Total",
    "00123",
    "1234567890123400",
    "a\u200bb",
    "{{id}}",
    '"a"',
    '"a""b"',
    "\\clear",
  ],
  price: ["1", "12.50", "0.123456", "1,5", "-1", "1.", ".5", "99999999999.9999", "123456789012", "12.345", " 5", "1e3"],
  time: [
    "1790000000",
    "1",
    "01790000000",
    "1990000000",
    "2026-11-01T10:00:00Z",
    "1790000000000",
    "1230768000",
    "0",
    "20261101",
  ],
  words: [
    "Gala",
    "Été",
    "Ã¼ber",
    "a?b",
    "me@x",
    "https://u:p@h/",
    "null",
    "NaN",
    "#NV",
    `#${"A".repeat(60)}!`,
    "Err:502",
    "東京",
    "😀",
    "– “x”",
    '"a\n1,2,3,4,5,6,7,8,9,10\nb"',
    '"two\nlines"',
    '"a, ""b"""',
    "a\tb",
    "a\\b",
    "\\clear",
    "\u00a0x",
    "x\u00a0",
    "a\u2028b",
    "a\u007fb",
    "a\u0001b",
    "\ufffd",
    "Â°C",
    "ß…",
    "CAFÉ’S",
    "x".repeat(300),
    "\ufeffx",
  ],
  url: [
    "https://a.example/x",
    "https://a.example/x?y=1",
    "http://a.example?z",
    "https://xn--a.example/",
    "https://a.example/%20",
    "https://u@a.example/",
    "ftp://a.example/",
    "https://a",
    "https://a.example:80/x",
    "HTTPS://A.EXAMPLE/ü",
  ],
  wallet: [`0x${"ab".repeat(20)}`, `0x${"AB".repeat(20)}`, "0x12", `0x${"aB".repeat(20)}`],
  metadata: [
    '"[{""trait_type"":""Row"",""value"":""A""}]"',
    '"[{""trait_type"":""Row"",""value"":""A""},{""trait_type"": ""Seat"", ""value"": ""ü""}]"',
    '"[{""trait_type"":""Row"",""value"":1}]"',
    '"[{""value"":""A"",""trait_type"":""Row""}]"',
    '"[{""trait_type"":""Row"",""value"":""a\\""b""}]"',
    '"[{""trait_type"":""Row"",""value"":""me@x""}]"',
    '"[{""trait_type"":"""",""value"":""""}]"',
    '"[{""trait_type"":""Row"",""value"":""null""},{""trait_type"":""R2"",""value"":""A""},]"',
    "[]",
    '"[]"',
    "x",
  ],
  currency: ["EUR", "JPY", "XXX", "DEM", "eur", "EURO"],
} as const;

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  eventId: cell.id,
  ticketId: cell.id,
  userId: cell.id,
  nftId: ["GET-1-22", "get-1", "GET-1-", "GET-01-2"],
  price: cell.price,
  orderTime: cell.time,
  startTime: cell.time,
  endTime: cell.time,
  currency: cell.currency,
  eventName: cell.words,
  name: cell.words,
  description: cell.words,
  imageUrl: cell.url,
  callbackUrl: cell.url,
  to: cell.wallet,
  metadataAttributes: cell.metadata,
  latitude: ["52.5", "91", "1e1"],
  note: [...cell.words, "1,2", '"1,2"'],
  action: ["soldTicket", "scannedTicket", "updateTicket", "newEvent", "resoldTicket", "x", " soldTicket"],
};

/** The columns that a file of an action needs, and which it may have. */
const KINDS: Readonly<Record<string, readonly [needed: readonly string[], optional: readonly string[]]>> = {
  "sales.csv": [SALE, ["name", "description", "imageUrl", "to", "metadataAttributes"]],
  "resales.csv": [
    ["ticketId", "userId", "price", "orderTime"],
    ["to", "nftId"],
  ],
  "scans.csv": [["ticketId", "orderTime"], ["nftId"]],
  "claims.csv": [["ticketId", "orderTime", "userId"], ["to"]],
  "updates.csv": [
    ["ticketId", "imageUrl"],
    ["metadataAttributes", "name"],
  ],
  "events.csv": [
    ["eventId", "currency"],
    ["eventName", "startTime", "endTime"],
  ],
  "all.csv": [
    ["action", ...SALE],
    ["imageUrl", "metadataAttributes", "nftId"],
  ],
};
const OTHERS = ["note", "eventId", "startTime", "callbackUrl", "latitude", "action"];

/** How many of a column's cells are odd, of a hundred. */
const oddCells = fc.constantFrom(0, 2, 10, 40);

const cellOf = (column: string, odd: number): fc.Arbitrary<string> => {
  const [plain = "", ...others] = COLUMNS[column] ?? [];
  return fc.oneof(
    { weight: 100 - odd, arbitrary: fc.constantFrom(plain, plain, others[0] ?? plain) },
    { weight: odd, arbitrary: fc.constantFrom("", plain, ...others) },
  );
};

const tables: fc.Arbitrary<Table> = fc
  .record({
    fileName: fc.constantFrom(...Object.keys(KINDS)),
    share: fc.constantFrom(0, 0.5, 1),
    strange: fc.subarray(OTHERS, { maxLength: 1 }),
    delimiter: fc.constantFrom(",", ";", "\t"),
    notesEvents: fc.boolean(),
    odd: oddCells,
  })
  .chain(({ fileName, share, strange, delimiter, notesEvents, odd }) => {
    const [needed = [], optional = []] = KINDS[fileName] ?? [];
    const some = optional.slice(0, Math.round(share * optional.length));
    const header = [...new Set([...needed, ...some, ...strange])];
    const row = fc.tuple(...header.map((column) => cellOf(column, odd))).map((cells) => cells.join(delimiter));
    const damaged = fc.constantFrom("", "x", header.join(delimiter), '"', `a"b${delimiter}`, "\r", "Total", `"a\n`);
    const end = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r\r\n", "\n\n");
    const line = fc.oneof({ weight: 200, arbitrary: row }, { weight: odd, arbitrary: damaged });
    return fc
      .record({ rows: fc.array(fc.tuple(line, end), { maxLength: 12 }), isEnded: fc.boolean() })
      .map(({ rows, isEnded }): Table => {
        const text = rows.flat().join("");
        return { header, text: isEnded ? text : text.trimEnd(), delimiter, notesEvents, settings: { fileName } };
      });
  })
  .filter(({ header, settings }) => isUnderstood({ fileName: "", header, ...settings }));

function isUnderstood(options: MapperOptions): boolean {
  try {
    createMapper(options);
    return true;
  } catch {
    return false;
  }
}

test("tables of plain and of odd cells come to the same both ways", () => {
  let asked = 0;
  let rows = 0;
  fc.assert(
    fc.property(tables, (given) => {
      const done = compileBoth(given);
      asked += done.asked;
      rows += done.rows;
    }),
    { numRuns: RUNS },
  );
  // The fast path took some of them.
  expect(asked).toBeLessThan(rows * 0.8);
});
