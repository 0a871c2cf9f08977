/** What the rows of a file show together: one event with different fields, one ticket of all rows. */

import { expect, test } from "vitest";
import { mapText } from "./samples.ts";

const YAML = `fields: {eventId: "{Event}", ticketId: "{ID}"}
actions:
  - newEvent: {fields: {eventName: "{Title}", currency: EUR, startTime: {from: "{Start}", format: iso}}}
  - scannedTicket: {}`;

const CSV = `ID,Event,Title,Start
a,e1,Gala,2026-05-01T20:00:00Z
b,e1,,2026-05-01T22:00:00+02:00
c,e2,Ball,2026-05-02T20:00:00Z
d,e1,Gala 2026,2026-05-01T20:00:00Z
e,e2,Ball,2026-05-02T21:00:00Z
f,e1,Gala X,2026-05-01T20:00:00Z
`;

test("two rows that tell one event differently are reported with both, by what they mean", () => {
  const { problems } = mapText(YAML, CSV);
  expect(problems.map(({ rule, line, field, message }) => [rule, line, field, message])).toEqual([
    ["event-described-differently", 5, "eventName", 'The event "e1" has "Gala" in line 2, and the first row counts.'],
    [
      "event-described-differently",
      6,
      "startTime",
      'The event "e2" has "1777752000" in line 4, and the first row counts.',
    ],
  ]);
});

/** What is found in rows of `T,Day`. */
function foundIn(action: string, ticketId: string, rows: string, more = ""): string[] {
  const yaml = `actions: [${action}: {fields: {ticketId: "${ticketId}"${more}}}]`;
  return mapText(yaml, `T,Day\n${rows}`)
    .problems.filter(({ rule }) => rule === "value-looks-constant")
    .map(({ field, value, message }) => `${field} ${value}: ${message}`);
}

const rows = (count: number, day = "Mon") => Array.from({ length: count }, (_, at) => `t${at},${day}\n`).join("");
const SALE = ', eventId: e, userId: "{T}", price: "1"';

test.each<[action: string, ticketId: string, rows: number, found: string[]]>([
  ["checkedInTicket", "wave-26", 3, ["ticketId wave-26: All 3 rows that give checkedInTicket are of one ticket."]],
  ["checkedInTicket", "wave-26", 2, []],
  ["checkedInTicket", "{T}", 20, []],
  ["invalidatedTicket", "x-{Day}", 4, ["ticketId x-Mon: All 4 rows that give invalidatedTicket are of one ticket."]],
  ["scannedTicket", "{Day}", 10, ["ticketId Mon: All 10 rows that give scannedTicket are of one ticket."]],
  ["scannedTicket", "{Day}", 9, []],
  ["scannedTicket", "{file.name}", 10, ["ticketId export.csv: All 10 rows that give scannedTicket are of one ticket."]],
])("%s with ticketId %s in %i rows", (action, ticketId, count, found) => {
  expect(foundIn(action, ticketId, rows(count))).toEqual(found);
});

test("sales of one ticket are found, whoever buys it", () => {
  expect(foundIn("soldTicket", "{Day}", rows(3), SALE)).toHaveLength(1);
});

test("rows that are all alike say nothing, nor do those of a second ticket", () => {
  expect(foundIn("checkedInTicket", "{T}", "t,Mon\n".repeat(5))).toEqual([]);
  expect(foundIn("checkedInTicket", "{Day}", rows(5) + rows(1, "Tue") + rows(5))).toEqual([]);
});

test("an nftId counts like a ticketId", () => {
  const { problems } = mapText('actions: [scannedTicket: {fields: {nftId: "K-1-1"}}]', `T,Day\n${rows(10)}`);
  expect(problems).toMatchObject([{ rule: "value-looks-constant", field: "nftId", value: "K-1-1" }]);
});
