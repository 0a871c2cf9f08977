import { expect, test } from "vitest";
import { detectDelimiter } from "../../../src/read/csv.ts";

test.each([
  ["eventId,ticketId,price", ","],
  ["eventId;ticketId;price", ";"],
  ["eventId\tticketId\tprice", "\t"],
  ["eventId|ticketId|price", "|"],
  ["ticketId", ","],
  ["", ","],
  ["a;b,c", ","], // a tie
  ["a|b;c", ","], // a tie of others
  ['"Name, first, last";Price', ";"],
  ['"a,b,c"', ","],
  ['Price (EUR, gross);"Tax; VAT, MwSt.";Status;Zone', ";"],
  ['"a ""quoted, comma"" b";c', ";"],
  ['"multi\nline, header";b;c', ";"],
])("the delimiter of %j is %j", (header, delimiter) => {
  expect(detectDelimiter(header)).toBe(delimiter);
});
