import fc from "fast-check";
import { expect, test } from "vitest";
import { withNul, withoutNul } from "../../../../src/ledger/postgres/nul.ts";

const [NUL, ONE, TWO] = [0, 1, 2].map((code) => String.fromCharCode(code)) as [string, string, string];
const texts = fc.string({ unit: fc.constantFrom(NUL, ONE, TWO, "a", "é", "😀") });

test.each([
  ["plain", "plain"],
  [`a${NUL}b`, `a${ONE}${ONE}b`],
  [ONE, `${ONE}${TWO}`],
  [`${NUL}${ONE}`, `${ONE}${ONE}${ONE}${TWO}`],
])("%j is written as %j", (text, written) => {
  expect(withoutNul(text)).toBe(written);
});

test("what is written has no U+0000, reads as it was, and stands in the same order", () => {
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const [first, second] = [withoutNul(one), withoutNul(other)];
      expect(first).not.toContain(NUL);
      expect(withNul(first)).toBe(one);
      expect(Math.sign(Buffer.compare(Buffer.from(first), Buffer.from(second)))).toBe(
        Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other))),
      );
    }),
  );
});
