/** Whatever number an item, a row or a payload says: on the wire is its value, digit by digit, or it is a problem. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson, parseVerbatim, surveyJson } from "../../../src/actions/json.ts";
import type { Problem } from "../../../src/actions/problem.ts";
import { toObjectRow } from "../../../src/read/ndjson.ts";
import { severityIn, severityTable } from "../../../src/rules.ts";
import { checkItem } from "../check/check-item.ts";
import { createMapper } from "../map/shown.ts";

/** What a number of JSON says, as a fraction: worked out otherwise than by the code that is tested. */
function fraction(text: string): { readonly over: bigint; readonly under: bigint } {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const exponent = Number(power) - decimals.length;
  const digits = BigInt(`${whole.replace("-", "")}${decimals}`) * (whole.startsWith("-") ? -1n : 1n);
  return exponent < 0
    ? { over: digits, under: 10n ** BigInt(-exponent) }
    : { over: digits * 10n ** BigInt(exponent), under: 1n };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [fraction(one), fraction(other)];
  return a.over * b.under === b.over * a.under;
}

const digits = (most: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: most });

/** Texts of numbers as RFC 8259 allows them, most of them near what a number of 64 bits can hold. */
const numberText = fc
  .record({
    sign: fc.constantFrom("", "", "-"),
    whole: fc.oneof(
      fc.constantFrom("0", "90", "180", "9007199254740992", "9007199254740993", "18446744073709551615", "1767225600"),
      digits(25).map((text) => text.replace(/^0+(?=\d)/, "")),
    ),
    decimals: fc.oneof(
      { weight: 2, arbitrary: fc.constant("") },
      digits(25).map((text) => `.${text}`),
      fc.nat({ max: 25 }).map((zeros) => `.${"0".repeat(zeros)}1`),
    ),
    power: fc.oneof(
      { weight: 3, arbitrary: fc.constant("") },
      fc
        .tuple(fc.constantFrom("e", "E", "e+", "E-", "e-0"), fc.oneof(fc.nat({ max: 25 }), fc.nat({ max: 420 })))
        .map((parts) => parts.join("")),
    ),
  })
  .map(({ sign, whole, decimals, power }) => `${sign}${whole}${decimals}${power}`);

const EVENT = '"eventId":"e","currency":"EUR"';
const SALE = '"eventId":"e","ticketId":"t","userId":"u","price":"1","orderTime":1767225600';

/** Where numbers stand in the input: the file's name, the row around the number, and the action that it makes. */
const PLACES: readonly (readonly [place: string, file: string, row: (number: string) => string])[] = [
  ["latitude", "p.ndjson", (n) => `{"action":"newEvent","data":{${EVENT},"latitude":${n}}}`],
  ["startTime", "p.ndjson", (n) => `{"action":"newEvent","data":{${EVENT},"startTime": ${n}}}`],
  [
    "a trait",
    "p.ndjson",
    (n) => `{"action":"soldTicket","data":{${SALE},"metadataAttributes":[{"trait_type":"n","value":${n}}]}}`,
  ],
  [
    "a trait in text",
    "p.ndjson",
    (n) =>
      `{"action":"soldTicket","data":{${SALE},"metadataAttributes":"[{\\"trait_type\\":\\"n\\",\\"value\\":${n}}]"}}`,
  ],
  ["a flat latitude", "events.ndjson", (n) => `{${EVENT},"latitude":${n}}`],
  ["a flat longitude in text", "events.ndjson", (n) => `{${EVENT},"longitude":"${n}"}`],
  ["a flat startTime", "events.ndjson", (n) => `{${EVENT},"startTime":\n${n}}`],
  ["a flat price", "sales.ndjson", (n) => `{${SALE.replace('"price":"1"', `"price":${n}`)}}`],
  ["a flat trait", "sales.ndjson", (n) => `{${SALE},"metadataAttributes":[{"trait_type":"n","value":${n}}]}`],
  [
    "a flat trait in text",
    "sales.ndjson",
    (n) => `{${SALE},"metadataAttributes":"[{\\"trait_type\\":\\"n\\",\\"value\\":${n}}]"}`,
  ],
];

const severityOf = severityIn(severityTable({}));

/** What would be sent of the row; what stops it. */
function wireOf(file: string, text: string): { readonly sent?: string; readonly errors: readonly Problem[] } {
  const row = toObjectRow(Buffer.from(text), 1);
  const mapped = createMapper({ fileName: file }).map(row);
  if (mapped.kind === "invalid") return { errors: mapped.problems };
  if (mapped.kind === "skipped") throw new Error(`skipped: ${mapped.reason}`);
  const errors = mapped.actions
    .flatMap((action) => checkItem(action))
    .filter(({ rule }) => severityOf(rule) === "error");
  return errors.length > 0
    ? { errors }
    : { sent: mapped.actions.map((action) => JSON.stringify(action)).join("\n"), errors };
}

const FIELD_NUMBER = /(?:latitude|longitude|startTime|price|value)\\?":"?(-?\d[\d.eE+-]*)/g;

describe("a number", () => {
  test.each(PLACES)("as %s is on the wire as it stands in the input, or it is a problem", (_place, file, row) => {
    fc.assert(
      fc.property(numberText, (number) => {
        const { sent, errors } = wireOf(file, row(number));
        if (sent === undefined) return errors.length > 0;
        const [, wire = ""] = [...sent.matchAll(FIELD_NUMBER)].at(-1) ?? [];
        return isSame(wire, number);
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ["latitude", "90.0000000000000000000001", false],
    ["latitude", "-89.9999999999999999999999", true],
    ["latitude", "1e-400", true],
    ["latitude", "1e400", false],
    ["startTime", "1767225600.0", true],
    ["startTime", "1.8446744073709551616e19", false],
    ["a trait", "123456789012345678.9", true],
    ["a flat latitude", "90.0000000000000000000001", false],
  ] as const)("as %s of %s is taken: %s", (place, number, isTaken) => {
    const [, file, row] = PLACES.find(([name]) => name === place) ?? [];
    if (file === undefined || row === undefined) throw new Error("there is no such place");
    const { sent } = wireOf(file, row(number));
    expect(sent !== undefined).toBe(isTaken);
  });

  test("in place of an object is no object", () => {
    expect(toObjectRow(Buffer.from("1e400"), 1)).toMatchObject({
      problems: [{ rule: "json-not-object" }],
    });
    for (const row of ['{"action":"newEvent","data":1e400}', `{"action":1e400,"data":{${EVENT}}}`])
      expect(wireOf("p.ndjson", row).errors.length).toBeGreaterThan(0);
    expect(
      wireOf("p.ndjson", `{"action":"soldTicket","data":{${SALE},"metadataAttributes":[1e400]}}`).errors[0]?.message,
    ).toContain("a number, not an object");
  });

  test("keeps its value through reading and writing, and its spelling where that is asked for", () => {
    fc.assert(
      fc.property(numberText, (number) => {
        const text = `{"a":[{"b":${number}}],"c":18446744073709551615}`;
        const [, written = ""] = /"b":([^}]*)/.exec(JSON.stringify(parseJson(text))) ?? [];
        expect(isSame(written, number)).toBe(true);
        expect(JSON.stringify(parseVerbatim(text))).toBe(text);
        expect(surveyJson(text).duplicate).toBeUndefined();
      }),
    );
  });
});
