import { expect, test } from "vitest";
import { holdsRows } from "../../../src/read/csv-problems.ts";

test.each([
  ["in the last cell", ["1", "2", "x\n3,4,\n5,6,y"], true],
  ["in the first cell", ["1,2,3\n4,5,6\n7", "8", "9"], true],
  ["in the cell between, with CRLF", ["1", "2,3\r\n4,5", "6"], true],
  ["an address", ["1", "2", "Hall 5\nStreet 7, Town"], false],
  ["an address whose commas would fill the table", ["a", "12 Main St, Flat 3, London\nUK, E1 6AN", "u", "v"], false],
  ["a cell of one line", ["1", "2", "3,4,5"], false],
  ["two columns", ["1", "x\ny,z"], false],
])("rows %s", (_name, cells, holds) => {
  expect(holdsRows(cells, ",")).toBe(holds);
});
