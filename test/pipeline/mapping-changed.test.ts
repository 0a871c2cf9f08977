/** A source that makes ids, times or keys in another way than before is stopped, however its first actions were entered. */

import { describe, expect, test } from "vitest";
import { type Field, openField, processedBy } from "../support/context.ts";

const SCANS = "T,At,Scan ID,No\nT,2026-05-01 20:00,g1,1\nT,2026-05-01 20:10,g2,2\n";
const TIMED = `actions: [scannedTicket: {fields: {ticketId: "{T}", orderTime: {from: "{At}", format: "yyyy-MM-dd H:mm"}}}]`;

/** An event and a ticket that was sold, and scans of it. */
async function openScans(source: string, scans = SCANS): Promise<Field> {
  const field = await openField();
  const sale = { eventId: "E", ticketId: "T", userId: "u", price: "1" };
  await field.write("base.ndjson", [
    { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
    { action: "soldTicket", data: sale },
  ]);
  expect((await field.stream(["base.ndjson"])).exitCode).toBe(0);
  await field.write("scans.csv", scans);
  await describeScans(field, source);
  return field;
}

/** @param lines of the source, each at its margin. */
const describeScans = (field: Field, lines: string): Promise<void> =>
  field.write(
    "tickets.config.yaml",
    `sources:\n  door:\n    match: "scans*"\n    ${lines.replaceAll("\n", "\n    ")}\n`,
  );

async function expectStop(field: Field, message: string): Promise<void> {
  const before = processedBy(field.sandbox);
  const { exitCode, said } = await field.stream(["scans.csv"]);
  expect(said).toContain(message);
  expect([exitCode, processedBy(field.sandbox)]).toEqual([3, before]);
}

const BERLIN = `zone: Europe/Berlin\n${TIMED}`;
const LONDON = `zone: Europe/London\n${TIMED}`;

describe("what is remembered of a source", () => {
  test.each([
    ["--limit", { limit: 1 }],
    ["--adopt", { adopt: true }],
    ["--resend", { resend: true }],
  ])("is how it made its actions with %s as well", async (_flag, options) => {
    const field = await openScans(BERLIN);
    expect((await field.stream(["scans.csv"], options)).exitCode).toBe(0);
    await describeScans(field, LONDON);
    await expectStop(field, "zone Europe/Berlin. Now: ");
  });
});
