/** Rows of one event that describe it differently. */

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
    [
      "event-described-differently",
      5,
      "eventName",
      'export.csv:2 says "Gala" about the event "e1", but this row says "Gala 2026". The first row counts.',
    ],
    [
      "event-described-differently",
      6,
      "startTime",
      'export.csv:4 says "1777752000" about the event "e2", but this row says "1777755600". The first row counts.',
    ],
  ]);
});
