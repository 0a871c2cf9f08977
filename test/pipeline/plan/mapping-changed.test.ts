/** A source that makes ids, times or keys in another way than before is stopped, however its first actions were entered. */

import { describe, expect, test } from "vitest";
import { type Field, openField, processedBy } from "../../support/context.ts";

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

async function expectStop(field: Field, message: string, options: Parameters<Field["stream"]>[1] = {}): Promise<void> {
  const before = processedBy(field.sandbox);
  const { exitCode, said } = await field.stream(["scans.csv"], options);
  expect(said).toContain(message);
  expect([exitCode, processedBy(field.sandbox)]).toEqual([3, before]);
}

const BERLIN = `zone: Europe/Berlin\n${TIMED}`;
const LONDON = `zone: Europe/London\n${TIMED}`;

const keyed = (key: string, more = ""): string =>
  `key: ${JSON.stringify(key)}\n${more}actions: [scannedTicket: {fields: {ticketId: "{T}"}}]`;
const timed = (more: string): string =>
  `${more}actions: [scannedTicket: {fields: {ticketId: "{T}", orderTime: {from: "{at}", format: "yyyy-MM-dd H:mm"}}}]`;
const looked = (where: string, more = ""): string =>
  `lookup: {gate: {file: gates.csv, where: {Nr: ${JSON.stringify(where)}}}}\n${keyed("{T}-{gate.Name}", more)}`;

describe("what a rule's names stand for belongs to how it is made", () => {
  test.each([
    ["own names of columns", keyed("{scan}", "columns: {scan: Scan ID}\n"), keyed("{scan}", "columns: {scan: 'No'}\n")],
    [
      "own names behind a time",
      timed("zone: UTC\ncolumns: {at: At}\n"),
      timed("zone: UTC\ncolumns: {at: [Left, At]}\n"),
    ],
    ["positions", keyed("{scan}", "columns: {scan: 3}\n"), keyed("{scan}", "columns: {scan: 4}\n")],
    ["each", keyed("{No}-{n}", 'each: {count: "1"}\n'), keyed("{No}-{n}", 'each: {count: "{No}"}\n')],
    [
      "own names behind each",
      keyed("{Scan ID}-{n}", "columns: {c: 'No'}\neach: {count: '{c}'}\n"),
      keyed("{Scan ID}-{n}", "columns: {c: [Count, 'No']}\neach: {count: '{c}'}\n"),
    ],
    ["lookups", looked("{No}"), looked("{Scan ID}")],
    ["own names behind lookups", looked("{c}", "columns: {c: 'No'}\n"), looked("{c}", "columns: {c: Scan ID}\n")],
    ["guards", keyed("{No}"), keyed("{No}", "csv: {guards: strip}\n")],
    ["fillDown", keyed("{No}"), keyed("{No}", "fillDown: 'No'\n")],
  ])("%s", async (_what, before, after) => {
    const field = await openScans(before);
    await field.write("gates.csv", "Nr,Name\n1,North\n2,South\ng1,West\ng2,East\n");
    const first = await field.stream(["scans.csv"]);
    expect(first.exitCode, first.said).toBe(0);
    await describeScans(field, after);
    await expectStop(field, "mapping-changed");
  });

  test("in words that name both", async () => {
    const field = await openScans(keyed("{scan}", "columns: {scan: Scan ID}\n"));
    await field.stream(["scans.csv"]);
    await describeScans(field, keyed("{scan}", "columns: {scan: 'No'}\n"));
    await expectStop(field, 'Before: key "{scan}", scan is "Scan ID". Now: key "{scan}", scan is "No". What was sent');
  });

  test("but what they do not use, or what reads the same, stops nothing", async () => {
    const field = await openScans(keyed("{scan}", "columns: {scan: 3}\n"));
    await field.stream(["scans.csv"]);
    const others = "columns: {scan: 3, other: At}\nfillDown: [At]\nskip: {other: none}\n";
    await describeScans(field, keyed("{scan}", others));
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ alreadySent: 2 });
  });
});

test.each([
  ["action of its source", {}, "source door"],
  ["--action", { action: "scannedTicket" }, "config"],
] as const)("with %s too, the zone belongs to how times are made", async (_how, options, who) => {
  const named = "ticketId,orderTime\nT,2026-05-01 20:00\n";
  const field = await openScans("action: scannedTicket\nzone: Europe/Berlin", named);
  expect((await field.stream(["scans.csv"], options)).exitCode).toBe(0);
  await describeScans(field, "action: scannedTicket\nzone: Europe/London");
  const message = `The ${who} makes the times of scannedTicket in another way than before. Before: orderTime "{orderTime}", zone`;
  await expectStop(field, message, options);
});

test.each([
  ["--limit", { limit: 1 }],
  ["--adopt", { adopt: true }],
  ["--resend", { resend: true }],
])("what is remembered of a source is how it made its actions with %s as well", async (_flag, options) => {
  const field = await openScans(BERLIN);
  expect((await field.stream(["scans.csv"], options)).exitCode).toBe(0);
  await describeScans(field, LONDON);
  await expectStop(field, "zone Europe/Berlin. Now: ");
});
