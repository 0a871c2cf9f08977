/** Patterns of several sources: each takes its own file, and none that of another. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { widePattern, withoutOverlap } from "../../../src/init/guess.ts";
import { selectSource } from "../../../src/map/select-source.ts";

const patternsOf = (...fileNames: readonly string[]) =>
  withoutOverlap(fileNames.map((fileName) => ({ fileName, pattern: widePattern(fileName) })));

const name = fc
  .array(fc.constantFrom("a", "A", "s", "ſ", "1", "22", "-", ".", "[", "sales", "*", "😀"), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(""));

test("a pattern takes its own file, and that of no other source", () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 4 }), (names) => {
      let patterns: readonly string[];
      try {
        patterns = patternsOf(...names);
      } catch {
        return;
      }
      const sources = Object.fromEntries(patterns.map((match, at) => [`s${at}`, { match }]));
      for (const [at, each] of names.entries()) expect(selectSource(sources, each, undefined)?.name).toBe(`s${at}`);
    }),
    { numRuns: 300 },
  );
});
