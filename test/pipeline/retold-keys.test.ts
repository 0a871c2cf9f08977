/** Keys of a source that are written otherwise one night, or that number rows: what they tell was accepted under another one. */

import { describe, expect, test } from "vitest";
import { type Field, openField } from "../support/context.ts";

const HEADER = "Id,Ticket,Time,Buyer";
const SCAN = "{scannedTicket: {fields: {orderTime: '{Time}'}}}";
const RESALE = "{resoldTicket: {fields: {orderTime: '{Time}', userId: '{Buyer}', price: '10.00'}}}";
const CLAIM = "{claimedTicket: {fields: {orderTime: '{Time}', userId: '{Buyer}'}}}";
const SECOND = "2026-05-01T20:00:07Z";
const LATER = "2026-05-01T21:30:08Z";

async function openGate(action = SCAN): Promise<Field> {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  gate:
    match: "gate*.csv"
    key: "{Id}"
    fields: {ticketId: "{Ticket}"}
    actions: [${action}]
  sales:
    match: sales.csv
    fields: {eventId: gala, ticketId: "{Ticket}", userId: zoe, price: "10.00", orderTime: "1768600000"}
    actions: [{newEvent: {fields: {currency: EUR}}}, {soldTicket: {}}]
rules: {order-time-missing: "off"}
`,
  );
  await field.write("sales.csv", "Ticket\nT0\nT1\nT2\n");
  expect((await field.stream(["sales.csv"])).exitCode).toBe(0);
  return field;
}

const night = async (field: Field, rows: readonly string[], options: Parameters<Field["stream"]>[1] = {}) => {
  await field.write("gate.csv", [HEADER, ...rows, ""].join("\n"));
  return field.stream(["gate.csv"], options);
};

const deedsAt = ({ sandbox }: Field): readonly unknown[] =>
  Array.from(sandbox.engine.processed()).filter(
    ({ action, status }) => status === "success" && action !== "newEvent" && action !== "soldTicket",
  );

describe("a key that is written otherwise than when its deed was accepted", () => {
  test.each([
    ["scans, without the zeros in front", SCAN, "000123", "123"],
    ["scans, in another Unicode form", SCAN, "gäst", "ga\u0308st"],
    ["scans, as a number", SCAN, "1001", "1001.0"],
    ["resales", RESALE, "000123", "123"],
    ["claims", CLAIM, "000123", "123"],
  ])("is a problem of %s, and nothing is sent again", async (_, action, before, now) => {
    const field = await openGate(action);
    const first = await night(field, [`${before},T1,${SECOND},ann`]);
    expect(first.summary?.actions, first.said).toMatchObject({ accepted: 1 });
    const later = await night(field, [`${now},T1,${SECOND},ann`, `9,T2,${LATER},bob`]);
    expect(later.exitCode, later.said).toBe(3);
    expect(later.said).toContain("history-unclear");
    expect(later.said).toContain("was accepted under another key of its source (gate.csv:2)");
    expect(deedsAt(field)).toHaveLength(1);
    const others = await night(field, [`${now},T1,${SECOND},ann`, `9,T2,${LATER},bob`], { maxInvalid: { rows: 1 } });
    expect(others.summary, others.said).toMatchObject({ rows: { invalid: 1 }, actions: { accepted: 1 } });
  });

  test("is sent as another deed with --again, and known from then on", async () => {
    const field = await openGate();
    await night(field, [`0123,T1,${SECOND},ann`]);
    const again = await night(field, [`123,T1,${SECOND},ann`], { again: true });
    expect(again.summary, again.said).toMatchObject({ actions: { accepted: 1 } });
    const known = await night(field, [`123,T1,${SECOND},ann`, `9,T2,${LATER},bob`]);
    expect(known.exitCode, known.said).toBe(0);
    expect(known.summary).toMatchObject({ actions: { accepted: 1, alreadySent: 1 } });
  });

  test("is told of each row whose keys count the rows of an export", async () => {
    const field = await openGate();
    await night(field, [`1,T1,${SECOND},`, `2,T2,${SECOND},`]);
    const moved = await night(field, [`1,T0,${LATER},`, `2,T1,${SECOND},`, `3,T2,${SECOND},`]);
    expect(moved.exitCode, moved.said).toBe(3);
    expect(deedsAt(field)).toHaveLength(2);
  });
});

describe("another key", () => {
  test("is another deed where the input has the accepted one too", async () => {
    const field = await openGate();
    await night(field, [`1,T1,${SECOND},`]);
    const both = await night(field, [`1,T1,${SECOND},`, `2,T1,${SECOND},`]);
    expect(both.exitCode, both.said).toBe(0);
    expect(both.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
    const third = await night(field, [`1,T1,${SECOND},`, `2,T1,${SECOND},`, `3,T1,${SECOND},`]);
    expect(third.summary?.actions, third.said).toMatchObject({ accepted: 1, alreadySent: 2 });
    const lacking = await night(field, [`1,T1,${SECOND},`, `2,T1,${SECOND},`, `4,T1,${SECOND},`]);
    expect(lacking.exitCode, lacking.said).toBe(3);
  });

  test("is another deed at another time", async () => {
    const field = await openGate();
    await night(field, [`1,T1,${SECOND},`]);
    const other = await night(field, [`2,T1,${LATER},`]);
    expect(other.summary?.actions, other.said).toMatchObject({ accepted: 1 });
  });

  test("is another deed within the same minute where times have no seconds, and without times", async () => {
    const field = await openGate();
    await night(field, ["1,T1,2026-05-01T20:00Z,", "2,T2,,"]);
    const other = await night(field, ["3,T1,2026-05-01T20:00Z,", "4,T2,,"]);
    expect(other.summary?.actions, other.said).toMatchObject({ accepted: 2 });
  });

  test("of a whole minute is unclear in an input whose times have seconds", async () => {
    const field = await openGate();
    await night(field, ["1,T1,2026-05-01T20:00:00Z,", `2,T2,${SECOND},`]);
    const other = await night(field, ["3,T1,2026-05-01T20:00:00Z,", `2,T2,${SECOND},`]);
    expect(other.exitCode, other.said).toBe(3);
  });
});
