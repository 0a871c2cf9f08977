/** Whatever an export holds, what tickets init makes of it is a config. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { load } from "./configs.ts";

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "ID",
    "Price",
    "Status",
    "Date",
    "12,50",
    "1.250",
    "3/4/26",
    "2026-01-01",
    "a: b",
    "{x}",
    '"',
    "#",
    "- x",
    "\n",
    "paid",
    "10:00",
  ),
);

test("whatever an export holds, the config can be read, and asks only for what is missing", () => {
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 8 }).chain((header) =>
        fc.record({
          header: fc.constant(header),
          rows: fc.array(fc.array(text, { minLength: header.length, maxLength: header.length }), { maxLength: 6 }),
          fileName: fc.oneof(
            text.map((name) => name.replaceAll("/", "_")), // a base name
            fc.constantFrom("sales.csv", "scans-1.csv"),
          ),
          isWhole: fc.boolean(),
        }),
      ),
      (sample) => {
        const { problems, issues } = load(guessConfig(sample).yaml);
        for (const { message } of problems) expect(message).toMatch(/^is still to be filled in: /);
        for (const { message } of issues) expect(["has no value", "is empty"]).toContain(message);
      },
    ),
    {
      numRuns: 250,
      examples: [
        [{ header: ["ID", "\ufffd#"], rows: [["1", "\ufffd"]], fileName: "\ufffd.csv", isWhole: true }],
        [{ header: ["", "", "ID", "\ufffd#", ""], rows: [["", "", "ID", "!", "ID"]], fileName: "", isWhole: false }],
      ],
    },
  );
});
