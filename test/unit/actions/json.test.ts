import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf, parseJson, surveyJson } from "../../../src/actions/json.ts";

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
    ['{"a":[[1,2],{"b":1}],"x":{"a":[0,{"k":1,"k":1}]}}', "/x/a/1/k"],
    ['{"a":1,"\\u0061":2}', "/a"],
    ['{"a/b~":1,"a/b~":2}', "/a~1b~0"],
  ])("finds the key that stands twice in %s", (text, pointer) => {
    expect(surveyJson(text).duplicate).toBe(pointer);
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
});

it("cuts an array into its elements, byte by byte", () => {
  const texts = ['{"a":"],[\\"{ö😀","b":[1,{"c":[]}]}', '{"n":1.50e2}', "[]", "7"];
  expect(elementsOf(Buffer.from(`[${texts.join(",")}]`)).map(String)).toEqual(texts);
  expect(elementsOf(Buffer.from("[]"))).toEqual([]);
});
