/** What the rows of a file show together: one event with different fields, one ticket of all rows. */

import { expect, test } from "vitest";
import type { FileProblem } from "../../../src/map/rules.ts";
import { cellsRow } from "./rows.ts";
import { sourceOf, tableOf } from "./samples.ts";
import { createMapper } from "./shown.ts";

const YAML = `fields: {eventId: "{Event}", ticketId: "{ID}"}
actions:
  - newEvent: {fields: {eventName: "{Title}", currency: EUR, startTime: {from: "{Start}", format: iso}}}
  - scannedTicket: {}`;

function saidOf(csv: string): readonly FileProblem[] {
  const { header, rows } = tableOf(csv);
  const mapper = createMapper({ fileName: "x.csv", header, source: { name: "s", config: sourceOf(YAML) } });
  for (const [at, cells] of rows.entries()) mapper.map(cellsRow(at + 2, cells));
  return mapper.problemsOfFile?.() ?? [];
}

const CSV = `ID,Event,Title,Start
a,e1,Gala,2026-05-01T20:00:00Z
b,e1,,2026-05-01T22:00:00+02:00
c,e2,Ball,2026-05-02T20:00:00Z
d,e1,Gala 2026,2026-05-01T20:00:00Z
e,e2,Ball,2026-05-02T21:00:00Z
f,e1,Gala X,2026-05-01T20:00:00Z
`;

test("two rows that tell one event differently are reported with both, by what they mean", () => {
  const said = saidOf(CSV);
  expect(said.map(({ rule, line, field, message }) => [rule, line, field, message])).toEqual([
    [
      "event-described-differently",
      5,
      "eventName",
      'x.csv:2 says "Gala" about the event "e1", but this row says "Gala 2026". The first row counts.',
    ],
    [
      "event-described-differently",
      6,
      "startTime",
      'x.csv:4 says "1777752000" about the event "e2", but this row says "1777755600". The first row counts.',
    ],
  ]);
});

test("rows that agree, or leave a field out, say nothing", () => {
  expect(
    saidOf("ID,Event,Title,Start\na,e1,Gala,2026-05-01T20:00:00Z\nb,e1,,\nc,e1,Gala,2026-05-01T20:00:00Z\n"),
  ).toEqual([]);
});

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
