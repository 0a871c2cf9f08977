import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { elementsOf, escapePointer, parseJson, surveyJson } from "../../../src/actions/json.ts";

describe("numbers", () => {
  it.each([
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", new ExactNumber("9007199254740993")],
    ["-9007199254740993", new ExactNumber("-9007199254740993")],
    ["18446744073709551615", new ExactNumber("18446744073709551615")],
    ["1e3", 1000],
    ["18446744073709551615.0", new ExactNumber("18446744073709551615")],
    ["1.8446744073709551615e19", new ExactNumber("18446744073709551615")],
    ["-5e-05", -0.00005],
  ] as const)("reads %s", (text, value) => {
    expect(parseJson(text)).toStrictEqual(value);
    expect(parseJson(`{"a":[${text}]}`)).toStrictEqual({ a: [value] });
  });

  it("writes every unsigned 64-bit integer with all its digits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const text = `{"startTime":${value}}`;
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });
});

describe("texts", () => {
  it("writes half a surrogate pair as an escape, never as another character", () => {
    expect(JSON.stringify("\ud800")).toBe('"\\ud800"');
    expect(parseJson('"\\ud800"')).toBe("\ud800");
  });

  it("round-trips any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  it.each(["", "{", "[1,]", "{'a':1}", "nul", "01", '"\u0001"', "NaN", "1234567890123456 x"])("refuses %j", (text) =>
    expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  it("refuses what nests too deeply to be walked, as a fault of the text", () => {
    const text = `${"[".repeat(200_000)}1234567890123456789${"]".repeat(200_000)}`;
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe("keys", () => {
  it("keeps __proto__ as an ordinary key", () => {
    for (const more of ["", ',"n":18446744073709551615']) {
      const value = parseJson(`{"__proto__":{"polluted":true}${more}}`) as object;
      expect(Object.keys(value)[0]).toBe("__proto__");
      expect("polluted" in value).toBe(false);
    }
    expect("polluted" in {}).toBe(false);
  });

  it.each([
    ['[{"a":1},{"b":{"c":1,"d":[],"c":2}}]', "/1/b/c"],
    ['{"a":[[1,2],{"b":1}],"x":{"a":[0,{"k":1,"k":1}]}}', "/x/a/1/k"],
    ['{"a":1,"\\u0061":2}', "/a"],
    ['{"a/b~":1,"a/b~":2}', "/a~1b~0"],
    ['{"a":"\\\\","b":"\\"","a":1}', "/a"],
    ['{"a":{},"b":{"a":1},"a":3}', "/a"],
  ])("finds the key that stands twice in %s", (text, pointer) => {
    expect(surveyJson(text).duplicate).toBe(pointer);
  });

  it.each([
    '{"a":{"b":1},"b":{"b":2}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"x\\\\","b":":"}',
  ])("finds none in %s", (text) => {
    expect(surveyJson(text).duplicate).toBeUndefined();
  });

  it("finds a key that stands twice exactly where there is one", () => {
    interface Made {
      readonly text: string;
      readonly isTwice: boolean;
    }
    const leaf = fc
      .constantFrom("1", '"a:"', '"\\\\"', '"\\"a\\":1"', "null")
      .map((text): Made => ({ text, isTwice: false }));
    // Two spellings of some keys.
    const key = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"a:"', '"\\\\"', '"\\""', '"__proto__"');
    const { json } = fc.letrec<{ json: Made }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        leaf,
        fc.array(tie("json"), { maxLength: 3 }).map((items) => ({
          text: `[${items.map(({ text }) => text).join(" ,")}]`,
          isTwice: items.some(({ isTwice }) => isTwice),
        })),
        fc.array(fc.tuple(key, tie("json")), { maxLength: 3 }).map((entries) => ({
          text: `{${entries.map(([name, { text }]) => `${name} :${text}`).join(",")}}`,
          isTwice:
            entries.some(([, { isTwice }]) => isTwice) ||
            new Set(entries.map(([name]) => JSON.parse(name))).size < entries.length,
        })),
      ),
    }));
    fc.assert(
      fc.property(json, ({ text, isTwice }) => {
        expect(surveyJson(text).duplicate !== undefined).toBe(isTwice);
      }),
      { numRuns: 2000 },
    );
  });

  it("walks deep JSON without a stack", () => {
    const text = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect(surveyJson(text).duplicate).toBeUndefined();
  });

  it.each([
    ["a/b", "a~1b"],
    ["a~b", "a~0b"],
    ["~1", "~01"],
    [7, "7"],
  ] as const)("escapes %s in a pointer", (step, escaped) => expect(escapePointer(step)).toBe(escaped));
});

it("cuts an array into its elements, byte by byte", () => {
  const texts = ['{"a":"],[\\"{ö😀","b":[1,{"c":[]}]}', '{"n":1.50e2}', "[]", "7"];
  expect(elementsOf(Buffer.from(`[${texts.join(",")}]`)).map(String)).toEqual(texts);
  expect(elementsOf(Buffer.from("[]"))).toEqual([]);
});
