/** What was accepted is not sent again, whatever happened around it. */

import { expect, test } from "vitest";
import { openField, processedBy } from "../support/context.ts";

const lines = (...actions: readonly object[]): string =>
  actions.map((action) => `${JSON.stringify(action)}\n`).join("");
const newEvent = (eventId: string): object => ({ action: "newEvent", data: { eventId, currency: "EUR" } });
const sold = (ticketId: string, userId = "u1"): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId, price: "10.00", orderTime: 1768600000 },
});
const updated = (imageUrl: string): object => ({ action: "updateTicket", data: { ticketId: "T", imageUrl } });
const resold = (userId: string, orderTime: number): object => ({
  action: "resoldTicket",
  data: { ticketId: "T", userId, price: "11.00", orderTime },
});
const checkedIn = (ticketId: string, orderTime: number): object => ({
  action: "checkedInTicket",
  data: { ticketId, orderTime },
});
const url = (name: string): string => `https://img.example.com/${name}.png`;

const rejecting = (...items: readonly number[]): object => ({ on: { request: 1 }, fault: "failure-items", items });

test("after a rejection in the middle of a history without times, only the rejected update is sent again", async () => {
  const field = await openField();
  await field.write("base.ndjson", lines(newEvent("E"), sold("T")));
  await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("c"))));
  expect((await field.stream(["base.ndjson"])).exitCode).toBe(0);
  field.setFaults(rejecting(1));
  expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 2, rejected: 1 });
  field.setFaults();
  expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 2 });
  const third = await field.stream(["updates.ndjson"]);
  expect(third.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 3 });
});

test("after a rejection in the middle of resales, only the rejected one is sent again", async () => {
  const field = await openField();
  await field.write("base.ndjson", lines(newEvent("E"), sold("T")));
  await field.write(
    "resales.ndjson",
    lines(resold("u2", 1768600001), resold("u3", 1768600002), resold("u4", 1768600003)),
  );
  await field.stream(["base.ndjson"]);
  field.setFaults(rejecting(1));
  await field.stream(["resales.ndjson"]);
  field.setFaults();
  expect((await field.stream(["resales.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 2 });
});

test("a deed that repeats one of an invalid row is held back with it, and not taken for sent", async () => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  swaps:
    match: "swaps*.csv"
    fields: {eventId: E, ticketId: "{New}"}
    actions:
      - soldTicket:
          fields: {userId: "u-{New}", price: "1.00", orderTime: "1768600000"}
      - invalidatedTicket:
          when: {Old: {empty: false}}
          fields: {ticketId: "{Old}", orderTime: "1768600001"}
`,
  );
  await field.write("events.ndjson", lines(newEvent("E")));
  await field.write("swaps.csv", "New,Old\nA,\nB,\nA,B\nC,B\n");
  const { summary, exitCode } = await field.stream(["events.ndjson", "swaps.csv"], { maxInvalid: { rows: 2 } });
  expect(exitCode).toBe(4);
  // The third row sells A twice; the fourth invalidates B, as the third would have.
  expect(summary?.rows).toMatchObject({ mapped: 3, invalid: 1, held: 1 });
  expect(summary?.actions).toMatchObject({ accepted: 3, alreadySent: 0 });
  expect(processedBy(field.sandbox)).toBe("E A B");
  expect(await field.read("swaps.rejects.csv")).toContain("C,B,");
});

test("a check-in that stands twice in one input is sent once, and said", async () => {
  const field = await openField();
  await field.write(
    "all.ndjson",
    lines(newEvent("E"), sold("T"), checkedIn("T", 1768700000), checkedIn("T", 1768700060)),
  );
  const { summary, said } = await field.stream(["all.ndjson"]);
  expect(summary?.actions).toMatchObject({ accepted: 3, alreadySent: 1 });
  expect(said).toContain("deed-repeated");
});

test("actions in doubt in a closed run are sent by no other run, not even with --again, and the end says so", async () => {
  const field = await openField();
  await field.write("base.ndjson", lines(newEvent("E"), sold("T")));
  field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
  expect((await field.stream(["base.ndjson"])).exitCode).toBe(6);
  field.setFaults();
  const { settle } = await import("../../src/commands/settle.ts");
  const { makeContext } = await import("../support/context.ts");
  const run = field.withLedger((ledger) => String(ledger.get("SELECT run FROM runs")?.run));
  const { context } = makeContext(field.folder, {
    HOME: field.folder,
    TICKETS_ENV: "local",
    TICKETS_STATE_DIR: `${field.folder}/state`,
    TICKETS_LOCAL_BASE_URL: field.sandbox.url,
    TICKETS_LOCAL_API_KEY: "key-of-the-test",
  });
  await settle(
    {
      run,
      decision: "abandon",
      chunk: undefined,
      first: undefined,
      reason: "test",
      json: false,
      waitLock: 0,
      flags: {},
    },
    context,
  );
  for (const again of [false, true]) {
    const next = await field.stream(["base.ndjson"], { again });
    expect(next.exitCode).toBe(6);
    expect(next.summary?.actions).toMatchObject({ accepted: 0, inDoubt: 2 });
  }
  expect(processedBy(field.sandbox)).toBe("E T");
});
