import { CsvError, parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { splitQuoted } from "../../../../src/readers/fast/quoted-cells.ts";

/** csv-parse's reading of one row; undefined where it finds a fault. */
function judged(row: string): readonly string[] | undefined {
  try {
    const rows: readonly (readonly string[])[] = parse(row, { record_delimiter: "\n", relax_column_count: true });
    return rows.length === 1 ? rows[0] : undefined;
  } catch (cause) {
    if (cause instanceof CsvError) return undefined;
    throw cause;
  }
}

const rows = fc.array(fc.constantFrom('"', '"', ",", "a", "Ü", "😀", " ", "\r", '""', '","'), { maxLength: 12 });

it("splits a row as csv-parse does, or leaves it to it", () => {
  fc.assert(
    fc.property(rows, (pieces) => {
      const row = `"${pieces.join("")}`;
      const cells = splitQuoted(row, ",", '"');
      if (cells !== undefined) expect(cells).toEqual(judged(row));
    }),
    { numRuns: 5000 },
  );
});

it.each([
  ['"a,b",c', ["a,b", "c"]],
  ['"say ""x""","y"', ['say "x"', "y"]],
  ['a,"",', ["a", "", ""]],
  ['"line\none",b', ["line\none", "b"]],
])("splits %j itself", (row, cells) => expect(splitQuoted(row, ",", '"')).toEqual(cells));

it.each(['"a"b,c', 'a"b,c', '"open', '"a"\r,b'])("leaves %j to csv-parse", (row) =>
  expect(splitQuoted(row, ",", '"')).toBeUndefined(),
);
