/** The fast path of a plan against the reference: both make the same candidates, findings and everything else of a range. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Severity } from "../../../../src/actions/problem.ts";
import { createMapper, type MapperOptions } from "../../../../src/mapping/create-mapper.ts";
import { type SourceConfig, sourceSchema } from "../../../../src/mapping/source.ts";
import { sourcesOf, tableOf } from "../../mapping/samples.ts";
import { compileBothWays } from "./both-ways.ts";

const RUNS = Number(process.env.RUNS ?? 150);

interface Table {
  readonly header: readonly string[];
  readonly text: string;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly settings?: Partial<MapperOptions>;
  readonly notesEvents?: boolean;
  readonly severities?: Readonly<Record<string, Severity>>;
}

function compileBoth({ header, delimiter = ",", quote, settings = {}, ...table }: Table) {
  const ranged = { format: "csv", quote, start: { header, headerLine: 1, delimiter } } as const;
  return compileBothWays({ ...table, made: { fileName: "sales.csv", header, ...settings }, ranged });
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

describe("sales without a user where a rule lets them in", () => {
  const RULE = "sold-ticket-without-user";
  const untimed = ["eventId", "ticketId", "price"];
  it.each([
    [
      "with no such column",
      table(["eventId", "ticketId", "price", "orderTime"], "E1,T-1,5,1790000000", "E1,T-2,5,1790000000"),
    ],
    ["with nothing in it", table(SALE, "E1,T-1,,5,1790000000", "E1,T-2,u1,5,1790000000", "E1,T-3,,5,1790000000")],
    ["and without a time", table(untimed, "E1,T-1,5", "E1,T-2,5")],
    ["of which one is not plain", table(SALE, "E1,T-1,,5,1790000000", "E1,,,5,1790000000", "E1,T-3,,5,1790000000")],
  ])("%s", (_, given) => {
    const invalid = given.text.includes(",,,") ? 1 : 0;
    for (const severity of ["off", "warn"] as const) {
      const { asked, batches } = compileBoth({ ...given, severities: { [RULE]: severity } });
      expect(asked).toBe(2 * invalid);
      expect(batches[0]?.candidates).toBe(given.text.trim().split("\n").length - invalid);
    }
    const { asked, rows } = compileBoth({ ...given, severities: { [RULE]: "error" } });
    expect(asked).toBe(2 * (given.text.match(/,u1,/) === null ? rows / 2 : 2));
  });
});

test("values that the fast path does not know itself are asked of the reference, and their rows stay plain", () => {
  const header = [...SALE, "name", "imageUrl", "to"];
  const wallet = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const { asked, batches } = compileBoth(
    table(
      header,
      "E1,T-1,u1,5,1790000000,Gala,,",
      "E1,T-2,  u1 , 5,1790000000 ,Gala,,",
      "Fête-1,Ж-🎟-3,gäst-1,5,2026-09-01T20:00:00+02:00,Gala,http://müller.example/ä.png,",
      `E1,T-4,u1,5,1790000000,"Was ist ""los""?",https://a.example/x%20y,${wallet}`,
    ),
  );
  expect(asked).toBe(1);
  expect(batches[0]?.candidates).toBe(4);
});

test("of a row that is not plain the cells are given, however the row before ends", () => {
  const { asked, batches } = compileBoth(
    table(
      [...SALE, "note"],
      'E1,T-1,u1,5,1790000000,"a\nb"',
      'E1,T-2,u1,"5,00",1790000000,"say ""x"""',
      "E1,,u1,5,1790000000,",
    ),
  );
  expect(asked).toBe(4);
  expect(batches[0]?.invalid.map(({ line }) => line)).toEqual([4, 5]);
});

test.each([
  ["\r", 1],
  ["\r\n", 1],
  ["\n", 1],
  [" ", 0],
])("rows that a quoted cell has swallowed are told by the reference, whatever ends them: %j", (lineEnd, told) => {
  const { batches } = compileBoth(
    table(
      [...SALE, "note", "seat"],
      ...["T-1", "T-2"].map((ticket) => `E1,${ticket},u1,5,1790000000,"a\rb",5`),
      `E1,T-3,u1,5,1790000000,"n,5${lineEnd}E1,T-4,u1,5,1790000000,x",6`,
    ),
  );
  expect(batches[0]?.invalid.length).toBe(told);
});

test("what is wrong with a value of many is told of each row", () => {
  const wrong = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const { batches } = compileBoth(
    table([...SALE, "to"], ...[1, 2, 3].map((n) => `E1,T-${n},u1,5,1790000000,${wrong}`)),
  );
  expect(batches.map(({ invalid }) => invalid.length)).toEqual([3, 3]);
});

test("a tab between quotes of a table with tabs is written as JSON writes it", () => {
  const { asked, batches } = compileBoth({
    ...table([...SALE, "name"], "E1\tT-1\tu1\t5\t1790000000\tA", 'E1\tT-2\tu1\t5\t1790000000\t"Row\tA"'),
    delimiter: "\t",
  });
  expect(asked).toBe(1);
  expect(batches[0]?.bytes.lines.toString()).toContain('"name":"Row\\tA"');
});

test("rows and ranges of any size come to the same both ways", () => {
  const sizes = [1, 20, 200, 2000, 20_000, 60_000, 70_000, 130_000, 300_000, 600_000];
  const rows = Array.from({ length: 4000 }, (_, n) => {
    const note = n % 400 === 7 ? "x".repeat(sizes[Math.floor(n / 400)] ?? 0) : "";
    return `E1,T-${100_000 + n},u1,5,1790000000,${"Süd ".repeat((n % 3) * 5).trim()},${note}\n`;
  });
  const { asked, batches } = compileBoth({ header: [...SALE, "name", "note"], text: rows.join("") });
  expect(batches.map(({ candidates }) => candidates)).toEqual([4000, 4000]);
  // The first with a name, and those that are too long to stand whole in the memory.
  expect(asked).toBeLessThan(20);
});

test("what comes of a row may be much more than the row", () => {
  const title = "Loge – Süd ".repeat(700).trim();
  const attributes = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`Seat ${n}`, "{Title}"]));
  const sold = { eventId: "gala", ticketId: "{Order}", userId: "u-{Order}", price: "5.00", orderTime: "{Paid}" };
  const config = { actions: [{ soldTicket: { fields: { ...sold, metadataAttributes: attributes } } }] };
  const header = ["Order", "Title", "Paid"];
  const rows = Array.from(
    { length: 60 },
    (_, n) => `A-${1000 + n},${n % 2 === 0 ? title : "Rang"},2026-09-01T10:05:30Z\n`,
  );
  const source = { name: "shop", config: sourceSchema.parse(config) };
  const { asked, batches } = compileBoth({ header, text: rows.join(""), settings: { fileName: "shop.csv", source } });
  expect(batches.map(({ candidates }) => candidates)).toEqual([60, 60]);
  expect(asked).toBeLessThanOrEqual(9);
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
    "Total: 2",
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
    '"a\r1,2,3,4,5,6,7,8,9,10\rb"',
    '",,,,,\r,,,,,"',
    '"two\nlines"',
    '"a, ""b"""',
    "a\tb",
    '"a\tb"',
    '"a;b"',
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

const severities = fc.dictionary(
  fc.constantFrom("order-time-missing", "sold-ticket-without-user"),
  fc.constantFrom<Severity>("off", "warn", "error"),
  { maxKeys: 2 },
);

const tables: fc.Arbitrary<Table> = fc
  .record({
    fileName: fc.constantFrom(...Object.keys(KINDS)),
    share: fc.constantFrom(0, 0.5, 1),
    strange: fc.subarray(OTHERS, { maxLength: 1 }),
    delimiter: fc.constantFrom(",", ";", "\t"),
    notesEvents: fc.boolean(),
    odd: oddCells,
    severities,
    without: fc.constantFrom("userId", "", "", "", ""),
  })
  .chain(({ fileName, share, strange, delimiter, notesEvents, odd, severities, without }) => {
    const [needed = [], optional = []] = KINDS[fileName] ?? [];
    const some = optional.slice(0, Math.round(share * optional.length));
    const header = [...new Set([...needed, ...some, ...strange])].filter((column) => column !== without);
    const row = fc.tuple(...header.map((column) => cellOf(column, odd))).map((cells) => cells.join(delimiter));
    const ones = header.map(() => "1").join(delimiter);
    // Their first cell has swallowed a row.
    const swallowed = ["\r", "\n", "\r\n"].map((lineEnd) => `"${ones}${lineEnd}1"${ones.slice(1)}`);
    const damaged = fc.constantFrom(
      ...["", "x", header.join(delimiter), '"', `a"b${delimiter}`, "\r", "Total", `"a\n`],
      ...swallowed,
    );
    const end = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r\r\n", "\n\n");
    const line = fc.oneof({ weight: 200, arbitrary: row }, { weight: odd, arbitrary: damaged });
    return fc
      .record({ rows: fc.array(fc.tuple(line, end), { maxLength: 12 }), isEnded: fc.boolean() })
      .map(({ rows, isEnded }): Table => {
        const text = rows.flat().join("");
        const settings = { fileName };
        return { header, text: isEnded ? text : text.trimEnd(), delimiter, notesEvents, severities, settings };
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

/** Columns of an export whose names are its own. */
const SHOP: Readonly<Record<string, readonly string[]>> = {
  Order: [
    "F8VVL",
    "A3KQN",
    "Jan",
    "00123",
    "",
    "TRUE",
    " F8VVL",
    "ü",
    "null",
    "'=x",
    '"A ""1"""',
    "Total",
    "Total: 2",
    "Anzahl: 12",
    "a:1",
  ],
  Position: ["1", "2", "3", "03", "Nov", "", "1E+10"],
  Event: ["gala-26", "gala-27", "", "N/A", "été", "gala 26"],
  Title: ["Gala", "Été", "Gala?", "", "Gala 2", "'+1 Gala", "'Gala"],
  Buyer: ["u-1001", "u-1002", "", "\\clear", "undefined"],
  Email: ["a@example.com", "b@example.com", ""],
  Price: ["23,00", "17,5", "0", "23.00", "1.234,50", "€ 12,00", "-1,00", "", "x", "12,", ",5", "23,00 "],
  Count: ["1", "2", "0", "", "x"],
  Paid: [
    "2026-09-01 10:05",
    "2026-10-25 02:15",
    "2026-03-29 02:30",
    "2026-10-25 03:00",
    "2026-13-01 10:05",
    "2026-09-01 24:00",
    "2026-09-01 10:60",
    "2026-09-01",
    "",
    "1790000000",
    "2036-09-01 10:05",
  ],
  Stamp: [
    "2026-09-01T10:05:30Z",
    "2026-09-01T10:05:30.123+02:00[Europe/Zurich]",
    "2026-09-01 10:05",
    "2026-03-29T02:30:00",
    "1790000000",
    "",
    "2026-09-01T10:05:61Z",
    "2026-09-01T10:5:30Z",
    "2026-09-01T10:05:30.Z",
    "2026-09-01T10:05+01:0",
    "01:02:03",
  ],
  Day: ["1.9.2026", "01.09.2026", "31.2.2026", "", "9/1/26 2:05 PM", "9/1/26 12:59 AM"],
  Hour: ["10:05", "05:59", "6:00", "", "02:30"],
  Category: ["A", "B", "a", "X", "", "S "],
  Seat: ["12", "", "Loge – Süd", "me@x", "Ã¼", '"A, ""1"""', "null"],
  Attributes: ['"[{""trait_type"":""Row"",""value"":""A""}]"', "", "x"],
  Status: ["paid", "used", "void", "pending", "", "Paid", "open", "paid "],
  Checked: ["", "yes", " "],
  Quantity: ["1", "2", ""],
};

const anyOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Rules of fields, of which any may be what a source says. */
const RULES = {
  eventId: anyOf<unknown>("gala-26", "{Event}", "season-{Event}", ["{Event}", "none"], {
    from: "{Category}",
    map: { A: "first", B: "{Event}" },
    else: "other",
  }),
  ticketId: anyOf<unknown>("{Order}-{Position}", "{Order}", " {Order} / {Position}", ["{Order}", "{Seat}"], {
    from: "{Order}",
    blank: "{Position}",
  }),
  userId: anyOf<unknown>("{Buyer}", ["{Buyer}", "{Email}"], "u{Position}"),
  price: anyOf<unknown>(
    { from: "{Price}", decimal: "," },
    { from: "{Price}", decimal: ",", thousands: ".", sign: "€" },
    "{Price}",
    { from: "{Category}", map: { A: "12.50", B: "0" }, else: "1" },
    { from: "{Price}", decimal: ",", divide: "{Count}", remainder: "round" },
    "5.00",
    { from: "{Price}", blank: "0", thousands: "," },
  ),
  orderTime: anyOf<unknown>(
    { from: "{Paid}", format: "yyyy-MM-dd HH:mm" },
    { from: "{Paid}", format: "yyyy-MM-dd HH:mm", rollover: "06:30" },
    { from: "{Paid}", format: ["yyyy-MM-dd HH:mm", "yyyy-MM-dd"], zone: "America/New_York" },
    "{Stamp}",
    { from: "{Stamp}", format: "iso" },
    { from: "{Stamp}", format: ["iso", "unix"] },
    { from: "{Day} {Hour}", format: "d.M.yyyy H:mm" },
    { from: "{Day} {Hour}", format: "d.M.yyyy HH:mm", rollover: "02:30" },
    { from: "{Day}", format: "d.M.yyyy" },
    { from: "{Day}", format: "M/d/yy h:mm a" },
    { from: "{Paid}", zone: "UTC" },
    undefined,
  ),
  name: anyOf<unknown>(undefined, "{Title}", "{Title} {Seat}", "Einlaß", {
    from: "{Category}",
    map: { A: "Parkett", B: "{Title}" },
    else: "Rang",
  }),
  metadataAttributes: anyOf<unknown>(
    undefined,
    "{Attributes}",
    { Seat: "{Seat}", Title: "{Title}" },
    { Seat: "{Seat}", Kind: { from: "{Category}", map: { A: "Parkett" }, else: "Rang" }, Fixed: "ja" },
    { "Paid on": { from: "{Day}", format: "d.M.yyyy" }, from_: "{Seat}" },
    { Number: { from: "{Count}", display: "number" } },
  ),
  when: anyOf<unknown>(
    undefined,
    { Status: ["paid", "used"] },
    { Status: { not: "void" } },
    [{ Status: "paid" }, { Checked: { empty: false }, Status: "used" }],
    { Status: { not: ["void", "open"] }, Checked: { empty: "true" } },
    { "{Status}{Checked}": ["paid", "usedyes"] },
  ),
  scan: anyOf<unknown>(
    undefined,
    { scannedTicket: { when: { Status: "used" } } },
    { checkedInTicket: { when: { Checked: { empty: "false" } } } },
    { soldTicket: { when: { Status: "used" }, fields: { userId: "{Buyer}", price: "5.00" } } },
    { invalidatedTicket: { when: { Status: "void" }, fields: { orderTime: "{Stamp}" } } },
  ),
  event: anyOf<unknown>(
    undefined,
    undefined,
    { newEvent: { fields: { eventName: "{Title}", currency: "EUR" } } },
    { newEvent: { when: { Status: { not: "void" } }, fields: { currency: "EUR" } } },
  ),
  skip: anyOf<unknown>(undefined, { Status: "pending" }, { Status: ["pending", ""], Category: "X" }),
  expect: anyOf<unknown>(undefined, { Quantity: 1 }, { Quantity: ["1", "{Count}"] }, { Event: ["gala-26", "gala-27"] }),
  zone: anyOf<string | undefined>("Europe/Berlin", "UTC", undefined),
  guards: anyOf<unknown>(undefined, undefined, { guards: "strip" }),
  key: anyOf<unknown>(undefined, undefined, undefined, "{Order}", ["{Order}/{Position}", "{Seat}"]),
};

const SOLD = { eventId: "{Event}", userId: "u1", price: "5", orderTime: "1790000000" };

const withoutUndefined = (map: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined));

const configs: fc.Arbitrary<SourceConfig> = fc.record(RULES).map((rules) => {
  const { when, scan, event, skip, expect: expected, zone, guards, key, eventId, ticketId, ...sold } = rules;
  const written = {
    ...{ skip, expect: expected, zone, key, csv: guards },
    fields: { eventId, ticketId },
    actions: [event, { soldTicket: withoutUndefined({ when, fields: withoutUndefined(sold) }) }, scan].filter(
      (action) => action !== undefined,
    ),
  };
  const { data, error } = sourceSchema.safeParse(asTexts(withoutUndefined(written)));
  if (data === undefined) throw error;
  return data as SourceConfig;
});

/** As the config's reader gives leaves. */
function asTexts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(asTexts);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asTexts(inner)]));
}

const declared: fc.Arbitrary<Table> = fc
  .record({
    config: configs,
    severities,
    odd: oddCells,
    notesEvents: fc.boolean(),
    header: fc.shuffledSubarray(Object.keys(SHOP), { minLength: Object.keys(SHOP).length }),
  })
  .chain(({ config, severities, odd, notesEvents, header }) => {
    const cellOfShop = (column: string): fc.Arbitrary<string> => {
      const [plain = "", ...others] = SHOP[column] ?? [];
      return fc.oneof(
        { weight: 100 - odd, arbitrary: fc.constantFrom(plain, plain, others[0] ?? plain) },
        { weight: odd, arbitrary: fc.constantFrom("", ...others) },
      );
    };
    const row = fc.tuple(...header.map(cellOfShop)).map((cells) => cells.join(";"));
    return fc.array(row, { minLength: 1, maxLength: 12 }).map(
      (rows): Table => ({
        header,
        text: rows.map((each) => `${each}\n`).join(""),
        delimiter: ";",
        notesEvents,
        severities,
        settings: { fileName: "shop.csv", source: { name: "shop", config } },
      }),
    );
  })
  .filter(({ header, settings }) => isUnderstood({ fileName: "", header, ...settings }));

/** Exports with a mapping: the folder of its config, the source, the file, the delimiter, and whether it may have plain rows. */
const EXPORTS = [
  ["pretix", "pretix-positions", "positions", ",", true],
  ["alfio", "alfio-tickets", "tickets", ",", true],
  ["hievents", "hievents-attendees", "attendees", ";", false],
  ["hievents", "hievents-events", "events", ",", true],
  ["eventbrite", "eventbrite-attendees", "attendees", ",", true],
  ["openevent", "openevent-orders", "orders", ",", false],
  ["openevent", "openevent-attendees", "attendees", ",", false],
] as const;
const OWN = join(import.meta.dirname, "../../../../fixtures/exports");
const SHARED = join(import.meta.dirname, "../../../../../shared/exports");

test.each(EXPORTS)(
  "the export of %s, source %s, comes to the same both ways",
  (system, source, stem, delimiter, isFast) => {
    const config = sourcesOf(readFileSync(join(OWN, system, "tickets.config.yaml"), "utf8"))[source];
    if (config === undefined) throw new Error(`there is no source ${source}`);
    const files = [join(OWN, system, `${stem}.csv`), join(SHARED, `${source}.csv`)].filter((file) => existsSync(file));
    for (const file of files) {
      const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
      const { header } = tableOf(text, delimiter);
      const body = text.slice(text.indexOf("\n") + 1).repeat(20);
      const settings = { fileName: `${stem}.csv`, source: { name: source, config } };
      const { asked, rows } = compileBoth({ header, text: body, delimiter, settings });
      expect(rows).toBeGreaterThan(100);
      if (isFast) expect(asked).toBeLessThan(rows);
      else expect(asked).toBe(rows);
    }
  },
);

test.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
  [
    "an exporter's apostrophe",
    { csv: { guards: "strip" }, actions: [{ soldTicket: { fields: { ...SOLD, name: "{Note}" } } }] },
    ["paid,gala,T-2,Balkon", "paid,gala,T-3,'+1 Ticket", "paid,gala,T-4,'Ticket"],
  ],
  [
    "the event of a row whose actions name none",
    {
      fields: { eventId: "season-{Event}" },
      actions: [
        { soldTicket: { when: { Status: "paid" }, fields: { userId: "u1", price: "5" } } },
        { scannedTicket: { when: { Status: "used" } } },
      ],
    },
    ["used,gala,T-1,", "used,N/A,T-2,", "used,,T-3,"],
  ],
])("the same comes of %s", (_, config, rows) => {
  const header = ["Status", "Event", "Ticket", "Note"];
  const fields = { ticketId: "{Ticket}", ...Object(config.fields) };
  const source = { name: "shop", config: sourceSchema.parse(asTexts({ ...config, fields })) };
  const text = ["paid,gala,T-1,Rang", ...rows].map((row) => `${row}\n`).join("");
  const { asked, rows: read } = compileBoth({ header, text, settings: { fileName: "shop.csv", source } });
  expect(asked).toBeLessThan(read);
});

test.each([
  ["of plain and of odd cells", tables],
  ["that a declared source reads", declared],
])("tables %s come to the same both ways", (_, given) => {
  let asked = 0;
  let rows = 0;
  fc.assert(
    fc.property(given, (table) => {
      const done = compileBoth(table);
      asked += done.asked;
      rows += done.rows;
    }),
    { numRuns: RUNS },
  );
  // The fast path took some of them.
  expect(asked).toBeLessThan(rows * 0.8);
});

describe("a range of whose rows much comes", () => {
  const rows = Array.from({ length: 400 }, (_, at) => {
    if (at % 50 === 7) return `E1,,u${at},10.00,1768600000`;
    return at % 90 === 11 ? `E1,"T\n${at}",u,10.00,1768600000` : `E1,T${at},u${at},10.00,${1_768_600_000 + at}`;
  });
  const { batches, linesInParts } = compileBoth(table(SALE, ...rows));
  const all = batches[0]?.bytes.lines ?? Buffer.alloc(0);
  const longest = Math.max(
    ...all
      .toString()
      .split("\n")
      .map(({ length }) => length + 1),
  );

  test.each([
    [true, 1],
    [true, 5000],
    [false, 1],
    [false, 5000],
  ])("ends a batch with the row that it is at, and goes on with the next (fast: %s, %i bytes)", (isFast, mostGiven) => {
    const parts = linesInParts(isFast, mostGiven);
    expect(Buffer.concat(parts).equals(all)).toBe(true);
    expect(parts.length).toBeGreaterThan(all.length / (mostGiven + longest) - 1);
    for (const { length } of parts) expect(length).toBeLessThan(mostGiven + longest);
  });
});
