import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExactNumber, exactNumber } from "../../../src/actions/exact-number.ts";
import { JsonArrayParser } from "../../../src/read/json-array.ts";
import { findJsonFault, invalidJson, NdjsonParser } from "../../../src/read/ndjson.ts";
import { MAX_RAW_BYTES, MAX_ROW_BYTES, type RowParser } from "../../../src/read/row.ts";
import { brief, feed, messageOf } from "./feed.ts";

/** Reads a text in one block and in small ones, which must make no difference. */
function read(open: () => RowParser, text: string, sizes: readonly number[] = [1, 2, 3, 7]) {
  const rows = feed(open(), text);
  for (const size of sizes) expect(feed(open(), text, size)).toEqual(rows);
  return rows;
}

describe("NDJSON", () => {
  test.each<[name: string, text: string, rows: string[]]>([
    ["an empty file", "", []],
    ["lines", '{"a":1}\n{"a":2}\n', ['1 {"a":1}', '2 {"a":2}']],
    ["CRLF and blank lines", '\r\n{"a":1}\r\n\r\n{"a":2}\r\n', ['2 {"a":1}', '4 {"a":2}']],
    ["what is wrong with one line leaves the next", '{"a":1\n{"a":2}\n', ["1 ! json-invalid", '2 {"a":2}']],
    [
      "other values than objects",
      '1\n"x"\nnull\ntrue\n[]\n{}',
      [...[1, 2, 3, 4, 5].map((line) => `${line} ! json-not-object`), "6 {}"],
    ],
    ["a key twice", '{"a":{"b":1,"b":2}}\n{"a":1}', ["1 ! json-duplicate-key", '2 {"a":1}']],
    ["nesting without end", `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}\n{"a":1}`, ["1 ! json-invalid", '2 {"a":1}']],
    ["brackets in strings do not nest", `{"a":"${"[".repeat(5000)}"}`, [`1 {"a":"${"[".repeat(5000)}"}`]],
  ])("%s", (_name, text, expected) => {
    expect(read(() => new NdjsonParser(), text).map(brief)).toEqual(expected);
  });

  test("integers are exact and prototype keys ordinary", () => {
    const [row] = read(() => new NdjsonParser(), '{"n":18446744073709551615,"__proto__":{"x":1},"constructor":2}');
    expect(row?.kind === "object" && row.value.n).toEqual(new ExactNumber("18446744073709551615"));
    expect(row?.kind === "object" && Object.keys(row.value)).toEqual(["n", "__proto__", "constructor"]);
    expect(row?.kind === "object" && Object.getPrototypeOf(row.value)).toBe(Object.prototype);
  });

  test.each(['[\n{"a":1}\n]', '[{"a":1}]'])("a document that is no NDJSON is refused: %j", (text) => {
    expect(() => feed(new NdjsonParser("sales.ndjson"), text)).toThrow(
      "sales.ndjson is one JSON document, not one object per line.",
    );
  });

  // finos/datahelix#1650: neither .ndjson nor .json reads several of them.
  test("an object over several lines is refused", () => {
    expect(() => feed(new NdjsonParser("sales.ndjson"), '{\n"a":1\n}\n{\n"a":2\n}\n')).toThrow(
      expect.objectContaining({
        message: "sales.ndjson has an object over several lines, not one object per line.",
        hint: expect.stringContaining("jq -c . FILE"),
      }),
    );
  });

  test("an object that was made text twice is named", () => {
    const [row] = feed(new NdjsonParser(), '"{\\"a\\":1}"\n');
    expect(row?.kind === "malformed" && row.problems).toMatchObject([
      {
        rule: "json-not-object",
        hint: "It is an object that was made text twice: write it as JSON once, such as by jq -r . FILE.",
      },
    ]);
  });

  test.each([Number.POSITIVE_INFINITY, 300_000, 65_536])(
    "a line over 1 MiB is a problem and the next is read (blocks of %d)",
    (size) => {
      const long = `{"a":"${"x".repeat(MAX_ROW_BYTES)}"}`;
      for (const end of ["\n", ""]) {
        const rows = feed(new NdjsonParser(), `{"a":1}\n${long}\n{"a":2}\n${long}${end}`, size);
        expect(rows.map(brief)).toEqual(['1 {"a":1}', "2 ! row-too-long", '3 {"a":2}', "4 ! row-too-long"]);
        for (const row of rows)
          expect(row.kind === "malformed" ? row.text.length : 0).toBeLessThanOrEqual(MAX_RAW_BYTES);
      }
    },
  );
});

describe("a JSON array", () => {
  test.each<[name: string, text: string, rows: string[]]>([
    ["an empty file", "", []],
    ["an empty array with blanks", "\n [ \n ] \n", []],
    ["items", '[{"a":1},{"a":2}]', ['0 {"a":1}', '1 {"a":2}']],
    ["items over lines", '[\n  {"a":1},\n\n  {\n"a":2}\n,{"a":3}]\n', ['0 {"a":1}', '1 {\n"a":2}', '2 {"a":3}']],
    [
      "brackets, commas and quotes in strings",
      '[{"a":"}],[{"},{"b":"\\"]\\\\"}]',
      ['0 {"a":"}],[{"}', '1 {"b":"\\"]\\\\"}'],
    ],
    [
      "other items than objects",
      '[1,"x,]\\"",null,[1],{}, -2.5e3 ]',
      [...[0, 1, 2, 3].map((line) => `${line} ! json-not-object`), "4 {}", "5 ! json-not-object"],
    ],
    ["a key twice", '[{"a":1,"a":2},\n{"a":3}]', ["0 ! json-duplicate-key", '1 {"a":3}']],
    ["an item that is not JSON", '[{"a":1},\n{"a":x},\n{"a":3}]', ['0 {"a":1}', "1 !! json-invalid"]],
    ["mismatched brackets", '[{"a":[1}],{"a":3}]', ["0 !! json-invalid"]],
    ["a missing quote", '[{"a":"1},\n{"a":"2"}]', ["0 !! json-invalid"]],
    ["a missing comma", '[{"a":1}\n{"a":2}]', ["0 !! json-invalid"]],
    ["a trailing comma", '[{"a":1},\n]', ['0 {"a":1}', "1 !! json-invalid"]],
    ["text after the end", '[{"a":1}]\n{"a":2}', ['0 {"a":1}', "1 !! json-invalid"]],
    ["a file cut inside an item", '[{"a":1},\n{"a":', ['0 {"a":1}', "1 !! json-invalid"]],
    ["a file cut inside a text item", '[{"a":1},"x', ['0 {"a":1}', "1 !! json-invalid"]],
    ["a file cut inside a number", '[{"a":1},\n12', ['0 {"a":1}', "1 ! json-not-object", "2 !! json-invalid"]],
    ["an array that never begins an item", "[", ["0 !! json-invalid"]],
    ["nesting without end", `[${"[".repeat(2000)}${"]".repeat(2000)},{"a":1}]`, ["0 ! json-invalid", '1 {"a":1}']],
  ])("%s", (_name, text, expected) => {
    expect(read(() => new JsonArrayParser(), text).map(brief)).toEqual(expected);
  });

  test("faults name their line, and their column in the item", () => {
    expect(messageOf(read(() => new JsonArrayParser(), '[\n{"a":\n1,\n"b" 2}]')[0])).toBe(
      "The row is not JSON: expected a colon at line 4, column 5, before 2}. Nothing after this item was read.",
    );
    expect(messageOf(read(() => new JsonArrayParser(), '[{"a":1}\n{"a":2}]')[0])).toBe(
      'The row is not JSON: more text follows the end of the value at line 2, column 1, before {"a":2}. Nothing after this item was read.',
    );
    expect(messageOf(read(() => new JsonArrayParser(), '[{"a":1},\n{"a":')[1])).toContain(
      "The file ends inside this item.",
    );
  });

  test.each([Number.POSITIVE_INFINITY, 300_000])("an item over 1 MiB ends the reading (blocks of %d)", (size) => {
    const long = `{"a":"${"x".repeat(MAX_ROW_BYTES)}"}`;
    for (const item of [long, `"${long.replaceAll('"', "")}"`, "1".repeat(MAX_ROW_BYTES + 1)]) {
      const rows = feed(new JsonArrayParser(), `[{"a":1},\n${item},\n{"a":2}]`, size);
      expect(rows.map(brief)).toEqual(['0 {"a":1}', "1 !! row-too-long"]);
      expect(rows[1]?.kind === "malformed" ? rows[1].text.length : 0).toBe(MAX_RAW_BYTES);
    }
  });
});

describe("a list in a JSON object", () => {
  const open = (rows?: string) => new JsonArrayParser({ name: "page.json", rows });

  test.each<[name: string, rows: string, text: string, expected: string[]]>([
    [
      "between other keys",
      "data",
      '{"meta":{"n":[1,"]"]},\n"data":[{"a":1}\n,{"a":2}],"next":null}',
      ['0 {"a":1}', '1 {"a":2}'],
    ],
    ["below other keys", "result.items", '{"items":[{"a":0}],"result":{"items":[{"a":1}]}}\n', ['0 {"a":1}']],
    ["with a key beyond ASCII", "da\u00e9", '{"da\u00e9":[{"a":1}]}', ['0 {"a":1}']],
    ["that is empty", "data", '{"data":[]}', []],
    ["of a file that is an array", "data", '[{"a":1}]', ['0 {"a":1}']],
    ["of a file that is cut behind it", "data", '{"data":[{"a":1}],"next":', ['0 {"a":1}', "1 !! json-invalid"]],
    ["of a file that is cut in it", "data", '{"data":[{"a":1}', ['0 {"a":1}', "1 !! json-invalid"]],
    ["with more behind its object", "data", '{"data":[{"a":1}]} x', ['0 {"a":1}', "1 !! json-invalid"]],
  ])("%s", (_name, rows, text, expected) => {
    expect(read(() => open(rows), text).map(brief)).toEqual(expected);
  });

  test.each([
    [undefined, '{"data":[{"a":1}],"meta":{"next":null}}', "page.json is an object that holds a list of rows: data."],
    [undefined, '{"a":{"b":[{}]},"c":[{}],"d":[1]}', "page.json is an object that holds several lists: a.b, c."],
    ["rows", '{"data":[{"a":1}]}', "page.json has no list rows; it is an object that holds a list of rows: data."],
    [undefined, '{"data":[1]}', "page.json is an object without a list of rows."],
    [
      undefined,
      '{"action":"newEvent","data":{"a":[{}]}}',
      "page.json is one {action, data} object, not an array of them.",
    ],
    [undefined, '{"a":1}\n{"a":2}', "page.json has one JSON object per line, not one array."],
    [undefined, '{"data":[{"a":1', "page.json ends inside its first object."],
    ["data", '{"data":[{"a":1}],"data":[{"a":2}]}', "page.json holds the list data twice."],
    [undefined, "eventId,ticketId\n1,2\n", "page.json is not JSON: it begins with neither [ nor {."],
  ])("%s in %j is refused", (rows, text, message) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 3]) expect(() => feed(open(rows), text, size)).toThrow(message);
  });

  test.each([1, 2])("is not looked for behind a text of megabytes, of which nothing is kept (%d MiB)", (mib) => {
    const text = `{"logo":"${"x".repeat(mib * MAX_ROW_BYTES + 1)}","data":[{"a":1}]}`;
    expect(() => feed(open("data"), text, 65_536)).toThrow(
      "page.json holds a text of more than 1 MiB outside its list of rows.",
    );
  });

  test("is found behind megabytes that nobody keeps", () => {
    const text = `{"log":[${'{"line":"x]}"},'.repeat(200_000)}{}],"data":[{"a":1}]}`;
    expect(feed(open("data"), text, 65_536).map(brief)).toEqual(['0 {"a":1}']);
  });
});

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "grapheme" }),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((whole) => exactNumber(String(whole))),
    fc.constant(null),
    fc.boolean(),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("any"), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(fc.constantFrom("__proto__", "a", "data"), fc.string({ maxLength: 4 })), tie("any"), {
    maxKeys: 4,
  }),
}));

test("random objects come back from NDJSON and from an array, in any blocks", () => {
  fc.assert(
    fc.property(
      fc.array(value.object, { maxLength: 6 }),
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom("", " ", "\n"),
      (objects, size, space) => {
        const texts = objects.map((object) => JSON.stringify(object));
        const lines = feed(new NdjsonParser(), texts.join("\n"), size);
        const items = feed(new JsonArrayParser(), `[${texts.join(`${space},${space}`)}${space}]`, size);
        for (const rows of [lines, items]) {
          expect(
            rows.map((row) => (row.kind === "object" ? [row.text, JSON.stringify(row.value)] : brief(row))),
          ).toEqual(texts.map((text) => [text, text]));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("random damage to an array: blocks make no difference, and whatever JSON.parse refuses has a malformed row", () => {
  const token = fc.constantFrom('{"a":1}', '{"b":"x"}', "{", "}", "[", "]", ",", '"', ":", "1", " ", "\n", "x", "\\");
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (tokens, size) => {
      const text = `[${tokens.join("")}`;
      const rows = feed(new JsonArrayParser(), text);
      expect(feed(new JsonArrayParser(), text, size)).toEqual(rows);
      expect(rows.some((row) => row.kind === "malformed" && !row.bordersKnown)).toBe(!isJson(text));
    }),
    { numRuns: 3000 },
  );
});

test("a fault is found exactly where JSON.parse refuses", () => {
  const token = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    "01",
    "1.",
    ".5",
    "1e",
    "1e5",
    "true",
    "nul",
    "\\u12",
    "\\n",
    " ",
    "\n",
    "\t",
    "'",
    "é",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 10 }), (tokens) => {
      const text = tokens.join("");
      expect(findJsonFault(text) === undefined, text).toBe(isJson(text));
    }),
    { numRuns: 5000 },
  );
});

test.each([
  ["", 0, "it ends too early"],
  ['{"a":1', 6, "it ends too early"],
  ["{\"a\":'x'}", 5, 'strings need double quotes (")'],
  ['{"a":1,}', 7, 'expected a key in double quotes (")'],
  ["[1 2]", 3, "expected a comma or ]"],
  ['{"a":1 "b":2}', 7, "expected a comma or }"],
  ['{"a" 1}', 5, "expected a colon"],
  ['{"a":"C:\\dir"}', 8, "\\ does not begin a known escape"],
  ['{"a":1}}', 7, "more text follows the end of the value"],
])("the fault of %j is at %i: %s", (text, offset, reason) => {
  expect(findJsonFault(text)).toEqual({ offset, reason });
});

test.each([
  ['\ufeff\ufeff{"a":1}', "U+FEFF"],
  ['{"a":\u00a01}', "U+00A0"],
])("a fault at a character that nobody sees names it: %j", (text, code) => {
  expect(invalidJson(text, 1).message).toMatch(
    new RegExp(`^The row is not JSON: .* at column \\d+, before the invisible ${code.replace("+", "\\+")}\\.$`),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
