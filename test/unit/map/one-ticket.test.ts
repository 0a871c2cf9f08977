import { expect, test } from "vitest";
import { cellsRow } from "./rows.ts";
import { sourceOf } from "./samples.ts";
import { createMapper } from "./shown.ts";

/** What is found in rows of `T,Day`. */
function foundIn(action: string, ticketId: string, rows: readonly (readonly [string, string])[], more = ""): string[] {
  const config = sourceOf(`actions: [${action}: {fields: {ticketId: "${ticketId}"${more}}}]`);
  const mapper = createMapper({ fileName: "e.csv", header: ["T", "Day"], source: { name: "s", config } });
  for (const [at, cells] of rows.entries()) mapper.map(cellsRow(at + 2, cells));
  return (mapper.problemsOfFile?.() ?? [])
    .filter(({ rule }) => rule === "value-looks-constant")
    .map(({ field, value, message }) => `${field} ${value}: ${message}`);
}

const rows = (count: number, day = "Mon") => Array.from({ length: count }, (_, at) => [`t${at}`, day] as const);
const SALE = ', eventId: e, userId: "{T}", price: "1"';

test.each<[action: string, ticketId: string, rows: number, found: string[]]>([
  ["checkedInTicket", "wave-26", 3, ["ticketId wave-26: All 3 rows that give checkedInTicket are of one ticket."]],
  ["checkedInTicket", "wave-26", 2, []],
  ["checkedInTicket", "{T}", 20, []],
  ["invalidatedTicket", "x-{Day}", 4, ["ticketId x-Mon: All 4 rows that give invalidatedTicket are of one ticket."]],
  ["scannedTicket", "{Day}", 10, ["ticketId Mon: All 10 rows that give scannedTicket are of one ticket."]],
  ["scannedTicket", "{Day}", 9, []],
  ["scannedTicket", "{file.name}", 10, ["ticketId e.csv: All 10 rows that give scannedTicket are of one ticket."]],
])("%s with ticketId %s in %i rows", (action, ticketId, count, found) => {
  expect(foundIn(action, ticketId, rows(count))).toEqual(found);
});

test("sales of one ticket are found, whoever buys it", () => {
  expect(foundIn("soldTicket", "{Day}", rows(3), SALE)).toHaveLength(1);
});

test("rows that are all alike say nothing, nor do those of a second ticket", () => {
  expect(foundIn("checkedInTicket", "{T}", new Array(5).fill(["t", "Mon"]))).toEqual([]);
  expect(foundIn("checkedInTicket", "{Day}", [...rows(5), ...rows(1, "Tue"), ...rows(5)])).toEqual([]);
});

test("an nftId counts like a ticketId", () => {
  const config = sourceOf('actions: [scannedTicket: {fields: {nftId: "K-1-1"}}]');
  const mapper = createMapper({ fileName: "e.csv", header: ["T"], source: { name: "s", config } });
  for (const [at, [cell]] of rows(10).entries()) mapper.map(cellsRow(at + 2, [cell]));
  expect(mapper.problemsOfFile?.()).toMatchObject([{ rule: "value-looks-constant", field: "nftId", value: "K-1-1" }]);
});
