/** The fast path of rows of JSON against the reference: both make the same candidates, findings and everything else of a range. */

import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { stringifyJson } from "../../../../src/actions/json.ts";
import type { Severity } from "../../../../src/actions/problem.ts";
import type { MapperOptions } from "../../../../src/mapping/create-mapper.ts";
import { actionArbitrary } from "../../../support/arbitraries.ts";
import { compileBothWays } from "./both-ways.ts";

const RUNS = Number(process.env.RUNS ?? 150);

interface Lines {
  readonly text: string;
  readonly settings?: Partial<MapperOptions>;
  readonly notesEvents?: boolean;
  readonly severities?: Readonly<Record<string, Severity>>;
}

const compileBoth = ({ settings = {}, ...lines }: Lines) =>
  compileBothWays({ ...lines, made: { fileName: "x.ndjson", ...settings }, ranged: { format: "ndjson" } });

const lines = (...rows: readonly unknown[]): string =>
  rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join("");

const sale = (number: number, more: object = {}) => ({
  eventId: "E1",
  ticketId: `T-00000${number}`,
  userId: `user-${number}`,
  price: "12.50",
  orderTime: 1_790_000_000 + number,
  ...more,
});
const item = (data: object, action = "soldTicket") => ({ action, data });
const WORDS = {
  name: "Été, 東京 – eins",
  imageUrl: "https://img.example.com/1.png?x=1",
  to: `0x${"ab".repeat(20)}`,
  metadataAttributes: [
    { trait_type: "Row", value: "A 1" },
    { trait_type: "Área", value: "–" },
  ],
};
/** As Python writes JSON. */
const spaced = (row: unknown): string => stringifyJson(row).replaceAll(/([,:])(?=["[{\d])/g, "$1 ");

describe("rows that follow one with the same keys are plain", () => {
  it.each<[string, Lines, forms?: number]>([
    ["items", { text: lines(...[1, 2, 3].map((n) => item(sale(n)))) }],
    ["items with words, attributes and addresses", { text: lines(...[1, 2, 3].map((n) => item(sale(n, WORDS)))) }],
    [
      "items whose words have quotes, backslashes and lines",
      { text: lines(...['a "b"', "a\nb", "a\\b\tc", 'é "–"'].map((name, n) => item(sale(n, { ...WORDS, name })))) },
    ],
    ["items as Python writes them", { text: lines(...[1, 2, 3].map((n) => spaced(item(sale(n))))) }],
    [
      "items of several actions",
      {
        text: lines(
          ...[1, 2].flatMap((n) => [
            item(sale(n)),
            item({ ticketId: `T-${n}`, orderTime: 1_790_000_000 }, "scannedTicket"),
            item({ nftId: `GET-1-${n}`, orderTime: 1_790_000_000 }, "scannedTicket"),
            item({ ticketId: `T-${n}`, imageUrl: "https://a.example/x" }, "updateTicket"),
          ]),
        ),
      },
      4,
    ],
    ["flat rows of a file's action", { text: lines(sale(1), sale(2)), settings: { fileName: "sales.ndjson" } }],
    [
      "flat rows that name their action",
      {
        text: lines(
          ...[1, 2].flatMap((n) => [
            { action: "soldTicket", ...sale(n) },
            { action: "scannedTicket", ticketId: `T-${n}`, orderTime: 1_790_000_000 },
          ]),
        ),
      },
      2,
    ],
    [
      "flat rows with numbers as texts and texts as numbers, and keys that nobody knows",
      {
        text: lines(
          sale(1, { price: 12.5, orderTime: "1790000000", note: null, seats: 3 }),
          sale(2, { price: 90, orderTime: "2026-11-01T10:00:00Z", note: "x", seats: -1.5 }),
          sale(3, { price: "1", orderTime: "1790000000", note: true, seats: false }),
        ),
        settings: { fileName: "sales.ndjson" },
      },
    ],
    ...(["item", "flat row"] as const).map((kind): [string, Lines] => [
      `${kind}s without a time and without a user, which is told`,
      {
        text: lines(
          ...[1, 2, 3].map((n) => {
            const { orderTime: _time, userId: _user, ...data } = sale(n);
            return kind === "item" ? item(data) : data;
          }),
        ).replace(/\n$/, "\r\n"),
        settings: { fileName: "sales.ndjson" },
        severities: { "sold-ticket-without-user": "warn" },
      },
    ]),
    ["with CRLF", { text: lines(item(sale(1)), item(sale(2))).replaceAll("\n", "\r\n") }],
  ])("%s", (_, given, forms = 1) => {
    const { asked, rows, batches } = compileBoth(given);
    expect(batches[0]?.candidates).toBeGreaterThan(1);
    expect(rows).toBeGreaterThan(forms);
    expect(asked).toBe(forms);
  });
});

describe("what the reference alone can tell is left to it", () => {
  const known = [item(sale(1, WORDS)), item(sale(2, WORDS))];
  it.each<[string, unknown]>([
    ["a text that begins with an escape", item(sale(3, { ...WORDS, name: '"a" b' }))],
    ["a text that ends with a line", item(sale(3, { ...WORDS, name: "a\n" }))],
    ["a word behind a backslash", item(sale(3, { ...WORDS, name: "\\N" }))],
    ["an id with an escape", item({ ...sale(3, WORDS), userId: 'a "b"' })],
    ["an escape of a control character", item(sale(3, { ...WORDS, name: "a\u0001b" }))],
    ["an escape that says a letter", JSON.stringify(item(sale(3, WORDS))).replace("user-3", "user-\\u0033")],
    ["an id that is a number", item({ ...sale(3, WORDS), userId: 3 })],
    ["a price that is a number", item({ ...sale(3, WORDS), price: 12.5 })],
    ["a time that is text", item({ ...sale(3, WORDS), orderTime: "1790000003" })],
    ["a time with a fraction", JSON.stringify(item(sale(3, WORDS))).replace("1790000003", "1790000003.0")],
    ["a time as other programs write it", JSON.stringify(item(sale(3, WORDS))).replace("1790000003", "1.790000003e9")],
    ["no time", item({ ...sale(3, WORDS), orderTime: null })],
    ["an empty text", item({ ...sale(3, WORDS), userId: "" })],
    ["a blank before a text", item({ ...sale(3, WORDS), userId: " user" })],
    ["a key twice", JSON.stringify(item(sale(3, WORDS))).replace('"userId"', '"ticketId":"T-4","userId"')],
    ["a key more", item(sale(3, { ...WORDS, seat: "1" }))],
    ["a key of the tool beside the item", { ...item(sale(3, WORDS)), "tickets:row": "x" }],
    ["data before the action", { data: sale(3, WORDS), action: "soldTicket" }],
    ["attributes as text", item({ ...sale(3, WORDS), metadataAttributes: "[]" })],
    [
      "an attribute that is a number",
      item(sale(3, { ...WORDS, metadataAttributes: [{ trait_type: "Row", value: 1 }] })),
    ],
    ["an empty list", item(sale(3, { ...WORDS, metadataAttributes: [] }))],
    ["a list in a list", item(sale(3, { ...WORDS, metadataAttributes: [[]] }))],
    ["a blank at the end", `${JSON.stringify(item(sale(3, WORDS)))} `],
    ["what stands behind it", `${JSON.stringify(item(sale(3, WORDS)))}{}`],
    ["a list of rows", `[${JSON.stringify(item(sale(3, WORDS)))}]`],
    ["nothing", ""],
    ["half a row", JSON.stringify(item(sale(3, WORDS))).slice(0, -20)],
    ["an action that nobody knows", item(sale(3, WORDS), "sold")],
    ["a ticket that is called like a sum", item({ ...sale(3, WORDS), ticketId: "Total" })],
    ["a number with a zero before it", JSON.stringify(item(sale(3, WORDS))).replace("1790000003", "01790000003")],
  ])("%s", (_, odd) => {
    const { asked } = compileBoth({ text: lines(...known, odd, item(sale(5, WORDS))) });
    expect(asked).toBe(odd === "" ? 1 : 3);
  });

  it("a file that ends within a row, wherever that is", () => {
    const [whole, last] = [lines(...known), JSON.stringify(item(sale(3, WORDS)))];
    for (let end = 0; end <= last.length; end += 1) compileBoth({ text: whole + last.slice(0, end) });
  });

  it("another order of keys, once", () => {
    const { orderTime, ...others } = sale(3, WORDS);
    const { asked, rows } = compileBoth({
      text: lines(...known, item({ orderTime, ...others }), item(sale(5, WORDS))),
    });
    expect([asked, rows]).toEqual([2, 8]);
  });

  it("an order of keys after so many of them, and one that JavaScript does not keep", () => {
    const many = Array.from({ length: 200 }, (_, at) => sale(at, { [`key ${at}`]: "" }));
    const { asked, rows } = compileBoth({ text: lines(...many), settings: { fileName: "sales.ndjson" } });
    expect([asked, rows]).toEqual([200 + 200 - 64, 400]);
    const turned = [1, 2, 3].map((n) => sale(n, { b: "", 7: "" }));
    const text = lines(...turned.map((row) => JSON.stringify(row).replace('"7":"",', "").replace("}", ',"7":""}')));
    expect(compileBoth({ text, settings: { fileName: "sales.ndjson" } })).toMatchObject({ asked: 6, rows: 6 });
  });
});

/** A value that stands in place of a good one. */
const odd = fc.constantFrom<unknown>(
  ...[
    "",
    " ",
    " x",
    "x ",
    "a\nb",
    "a\n",
    'a "b" c',
    '"',
    "a\\b",
    "a\tb\r",
    "#\\N",
    "\\N",
    "a\r\n\tb\\",
    "ü",
    "Ã¼",
    "null",
    "NaN",
    "\\clear",
    "Total",
    "1E+10",
    "00123",
    "x".repeat(300),
  ],
  ...["https://a.example/x", "1790000000", "2026-11-01T10:00:00Z", "\u2028", "\ufeff", "\u007f", "12,5", "1.", "-1"],
  ...[null, true, 0, 1, 12.5, -1, 1e21, 1_790_000_000, 1_790_000_000_000, [], {}, [[]]],
  ...[[{ trait_type: "Row", value: "A" }], [{ value: "A", trait_type: "Row" }], [{ trait_type: "Row", value: 1 }]],
);
const rowOf = (shape: readonly string[]): fc.Arbitrary<string> =>
  fc
    .record({
      action: fc.constantFrom("soldTicket", "soldTicket", "scannedTicket", "updateTicket", "resoldTicket"),
      number: fc.nat({ max: 999 }),
      isFlat: fc.boolean(),
      isSpaced: fc.boolean(),
      wrong: fc.option(fc.tuple(fc.constantFrom(...shape, "note", "action"), odd), { freq: 4 }),
    })
    .map(({ action, number, isFlat, isSpaced, wrong }) => {
      const all: Readonly<Record<string, unknown>> = { ...sale(number, WORDS), nftId: `GET-1-${number}`, note: "x" };
      const data = Object.fromEntries(shape.map((name) => [name, all[name]]));
      if (wrong !== null) data[wrong[0]] = wrong[1];
      const row = isFlat ? { action, ...data } : item(data, action);
      return isSpaced ? spaced(row) : JSON.stringify(row);
    });
const shapes = fc.constantFrom(
  ["eventId", "ticketId", "userId", "price", "orderTime"],
  ["eventId", "ticketId", "userId", "price", "orderTime", "name", "imageUrl", "to", "metadataAttributes"],
  ["eventId", "ticketId", "price", "orderTime"],
  ["ticketId", "orderTime"],
  ["nftId", "orderTime"],
  ["ticketId", "imageUrl", "metadataAttributes"],
  ["ticketId", "userId", "price", "orderTime", "note"],
);
const texts = fc
  .tuple(fc.array(shapes, { minLength: 1, maxLength: 3 }), fc.constantFrom("\n", "\n", "\r\n", "\n\n"))
  .chain(([kinds, end]) =>
    fc
      .tuple(
        fc.array(
          fc.oneof(
            { weight: 30, arbitrary: fc.oneof(...kinds.map(rowOf)) },
            { weight: 1, arbitrary: fc.constantFrom("", "{}", "{", "[]", "x", '{"action":"soldTicket"}', " ") },
          ),
          { maxLength: 14 },
        ),
        fc.boolean(),
      )
      .map(([rows, isEnded]) => {
        const text = rows.map((row) => row + end).join("");
        return isEnded ? text : text.trimEnd();
      }),
  );

describe("both ways come to the same", () => {
  test("of whole and damaged rows", () => {
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom("x.ndjson", "sales.ndjson", "scans.ndjson", "updates.ndjson"),
        fc.boolean(),
        fc.constantFrom<Readonly<Record<string, Severity>>>(
          {},
          { "order-time-missing": "off" },
          { "sold-ticket-without-user": "off" },
          { "sold-ticket-without-user": "warn", "order-time-missing": "error" },
          { "id-mangled": "warn" },
        ),
        (text, fileName, notesEvents, severities) => {
          compileBoth({ text, settings: { fileName }, notesEvents, severities });
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("of any valid actions, as any program writes them", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(actionArbitrary(), fc.boolean()), { maxLength: 6 }), (actions) => {
        const rows = actions.map(([action, isSpaced]) => (isSpaced ? spaced(action) : stringifyJson(action)));
        compileBoth({ text: lines(...rows, ...rows) });
      }),
      { numRuns: RUNS },
    );
  });
});
