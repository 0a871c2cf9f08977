import fc from "fast-check";
import { expect, test } from "vitest";
import { wrapLines } from "../../../src/cli/wrap.ts";

test.each<[string, number, string]>([
  ["one two three", 20, "one two three"],
  ["one two three", 7, "one two\nthree"],
  ["  - one two three", 9, "  - one\n  two\n  three"],
  ["a-very-long-word and", 6, "a-very-long-word\nand"],
  ["名前 名前 名前", 9, "名前 名前\n名前"],
  ["Family 👩‍👩‍👧 ticket", 16, "Family 👩‍👩‍👧 ticket"],
  ["Continue: tickets settle 4ba62e61 --env playground", 20, "Continue:\ntickets settle 4ba62e61 --env playground"],
  ["  tickets resume 4ba62e61 --env playground", 20, "  tickets resume 4ba62e61 --env playground"],
  ["    price: 95,00 and more\n           ^^^^^", 12, "    price: 95,00 and more\n           ^^^^^"],
])("%j in %i columns", (text, columns, wrapped) => {
  expect(wrapLines(text, columns)).toBe(wrapped);
});

test("loses no word, and breaks only where a line is too long", () => {
  const word = fc.stringMatching(/^[a-z.,:·]{1,12}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 1, max: 80 }), (words, columns) => {
      const wrapped = wrapLines(words.join(" "), columns).split("\n");
      expect(wrapped.join(" ")).toBe(words.join(" "));
      for (const [at, line] of wrapped.entries()) {
        expect(line.length <= columns || !line.includes(" ")).toBe(true);
        const next = wrapped[at + 1]?.split(" ")[0];
        if (next !== undefined) expect(`${line} ${next}`.length).toBeGreaterThan(columns);
      }
    }),
  );
});
