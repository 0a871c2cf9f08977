import { expect, test } from "vitest";
import { decidingColumns } from "../../../src/map/deciding.ts";
import { cells, json } from "./rows.ts";
import { sourceOf } from "./samples.ts";

const SOURCE = `columns: {state: [Zustand, Status]}
csv: {guards: strip}
actions:
  - soldTicket:
      when: [{state: paid}, {"{Type}/{Status}": x, At: {empty: false}}]
      fields: {eventId: e, ticketId: t, userId: u, price: "1"}
  - scannedTicket: {when: {state: {not: open}, item.at: x}, fields: {ticketId: t}}`;

test("are those that a when compares with values, each once, read as the mapping reads them", () => {
  const columns = decidingColumns(sourceOf(SOURCE), ["Status", "Type", "At"]);
  expect(columns.map(({ label }) => label)).toEqual(["state", "{Type}/{Status}"]);
  const row = cells("'+1", "a", "");
  expect(columns.map(({ read }) => read(row))).toEqual(["+1", "a/+1"]);
  const malformed = { kind: "malformed", line: 1, text: "", findings: [], bordersKnown: true } as const;
  expect(columns.map(({ read }) => read(malformed))).toEqual([undefined, undefined]);
});

test("of JSON rows are paths; none of a source without conditions", () => {
  const rows = sourceOf("actions: [scannedTicket: {when: {a.b: x}, fields: {ticketId: t}}]");
  expect(decidingColumns(rows, undefined).map(({ read }) => read(json('{"a":{"b":7}}')))).toEqual(["7"]);
  expect(decidingColumns(sourceOf("action: scannedTicket"), ["A"])).toEqual([]);
});
