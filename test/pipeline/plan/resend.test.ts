/** `stream --resend`: what was accepted is sent once more, and counted as sent ever after. */

import { describe, expect, test } from "vitest";
import { type Field, openField, openSold, processedBy } from "../../support/context.ts";

const newEvent = (eventId: string): object => ({ action: "newEvent", data: { eventId, currency: "EUR" } });
const sale = { action: "soldTicket", data: { eventId: "E", ticketId: "A", userId: "u", price: "1", orderTime: 100 } };
const update = (ticketId: string, number: number): object => ({
  action: "updateTicket",
  data: { ticketId, imageUrl: `https://img.example/${number}` },
});

/** `a.ndjson` was sent, and is being sent again when the service stops taking anything. */
async function interrupted(): Promise<Field> {
  const field = await openSold({ A: "E", B: "E" });
  await field.write("a.ndjson", [update("A", 1)]);
  await field.write("b.ndjson", [update("B", 1)]);
  expect((await field.stream(["a.ndjson"])).exitCode).toBe(0);
  field.setFaults({ fault: "status", status: 429, on: { request: 1 } });
  expect((await field.stream(["a.ndjson"], { resend: true })).exitCode).toBe(7);
  field.setFaults();
  return field;
}

test("a row that is sent alone with --resend does not meet who holds its ticket by that row", async () => {
  const field = await openField();
  const resale = { action: "resoldTicket", data: { ticketId: "A", userId: "v", price: "2", orderTime: 200 } };
  await field.write("night.ndjson", [newEvent("E"), sale, resale]);
  expect((await field.stream(["night.ndjson"])).exitCode).toBe(0);
  await field.write("alone.ndjson", [resale]);
  expect((await field.stream(["alone.ndjson"], { resend: true, dryRun: true })).exitCode).toBe(0);
});

test("what was sent again is known ever after", async () => {
  const field = await openField();
  await field.write("updates.ndjson", [update("A", 1), update("A", 2)]);
  expect((await field.stream(["updates.ndjson"])).exitCode).toBe(4); // nobody has sold it
  await field.write("sales.ndjson", [newEvent("E"), sale]);
  expect((await field.stream(["sales.ndjson", "updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 4 });
  expect((await field.stream(["updates.ndjson"], { resend: true })).summary?.actions).toMatchObject({ accepted: 2 });
  expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
  await field.write("updates.ndjson", [update("A", 2), update("A", 1)]);
  expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 0 });
  expect(processedBy(field.sandbox)).toBe("(A) (A) E A A A A A");
});

describe("after an interrupted --resend", () => {
  test("the same command finishes it and sends nothing beside it", async () => {
    const field = await interrupted();
    const done = await field.stream(["a.ndjson"], { resend: true });
    expect(done).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 1 } } });
    expect(done.said).toContain("That finished a run of this same input.");
    expect(processedBy(field.sandbox)).toBe("E A B A A");
  });

  test.each([
    ["the file changed", "a.ndjson", [update("A", 1), update("B", 1)]],
    ["it is another file", "b.ndjson", [update("B", 1)]],
  ])("%s: it is finished, and that the file was not sent is said, with an exit code", async (_what, name, text) => {
    const field = await interrupted();
    await field.write(name, text);
    const done = await field.stream([name], { resend: true });
    expect(done).toMatchObject({ exitCode: 7, summary: { exitCode: 7, actions: { accepted: 1 } } });
    expect(done.said).toContain(`${name} was not sent`);
    expect(processedBy(field.sandbox)).toBe("E A B A A");
    expect((await field.stream([name], { resend: true })).exitCode).toBe(0);
  });
});

test("a failure behind an earlier run that was finished first says that nothing of the input was sent, not that nothing was", async () => {
  const field = await openField();
  await field.write("first.ndjson", [newEvent("E1")]);
  await field.write("second.ndjson", [newEvent("E2")]);
  await field.write("taken.ndjson", "something else\n");
  field.setFaults({ fault: "status", status: 403, on: { request: 1 } });
  expect((await field.stream(["first.ndjson"])).exitCode).toBe(5);
  field.setFaults();
  const failed = await field.stream(["second.ndjson"], { output: "taken.ndjson" });
  expect(failed.exitCode).toBe(2);
  expect(processedBy(field.sandbox)).toBe("E1");
  expect(failed.said).toContain("taken.ndjson is not appended to");
  expect(failed.said).toContain("Nothing of second.ndjson was sent.");
  expect(failed.said).not.toContain("Nothing was sent.");
});

test("a whole file behind an interrupted run of its first rows is sent, too", async () => {
  const field = await openField();
  await field.write("events.ndjson", ["E1", "E2", "E3"].map(newEvent));
  field.setFaults({ fault: "status", status: 403, on: { request: 1 } });
  expect((await field.stream(["events.ndjson"], { limit: 1 })).exitCode).toBe(5);
  field.setFaults();
  const done = await field.stream(["events.ndjson"]);
  expect(done).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 2, alreadySent: 1 } } });
  expect(processedBy(field.sandbox)).toBe("E1 E2 E3");
});

describe("an update that comes back without time and key", () => {
  const updates = (...names: readonly string[]): string =>
    ["ticketId,imageUrl", ...names.map((name) => `T-1,https://example.com/${name}.png`), ""].join("\n");
  const EVENT = "eventId,eventName,currency\nE-1,Gala,EUR\n";
  const SALE = "eventId,ticketId,userId,price,orderTime\nE-1,T-1,u1,12.00,1768600000\n";

  async function openSold(...names: readonly string[]) {
    const field = await openField();
    await field.write("events.csv", EVENT);
    await field.write("sales.csv", SALE);
    await field.write("updates.csv", updates(...names));
    await field.stream(["events.csv", "sales.csv", "updates.csv"]);
    return field;
  }

  test("is unclear where it comes back once more, and what was decided is not asked again", async () => {
    const field = await openSold("A", "B", "A");
    await field.stream(["updates.rejects.csv"], { resend: true });
    await field.write("updates.csv", updates("A", "B", "A", "B", "A"));
    const night = await field.stream(["updates.csv"]);
    expect(night.exitCode, night.said).toBe(4);
    expect(night.said).toContain("3 already sent, 2 unclear");
    await field.write("alone.csv", updates("B", "A"));
    await field.stream(["alone.csv"], { resend: true, action: "updateTicket" });
    const after = await field.stream(["updates.csv"]);
    expect(after.exitCode, after.said).toBe(0);
    expect(after.said).toContain("all 5 actions were sent before");
  });

  test("is sent once, though its row stays in the rejects to which a later night adds another", async () => {
    const field = await openField();
    await field.write("events.csv", EVENT);
    await field.write("sales.csv", `${SALE}E-1,T-2,u1,12.00,1768600000\n`);
    const of = (ticket: string, ...names: readonly string[]) => updates(...names).replaceAll("T-1", ticket);
    await field.write("updates.csv", updates("A", "B", "A"));
    await field.stream(["events.csv", "sales.csv", "updates.csv"]);
    await field.stream(["updates.rejects.csv"], { resend: true });
    await field.write("updates.csv", updates("A", "B", "A") + of("T-2", "A", "B", "A").split("\n").slice(1).join("\n"));
    await field.stream(["updates.csv"]);
    expect(await field.read("updates.rejects.csv")).toContain("T-1,");
    const decided = await field.stream(["updates.rejects.csv"], { resend: true });
    expect(decided.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
    expect(processedBy(field.sandbox)).toBe("E-1 T-1 T-2 T-1 T-1 T-1 T-2 T-2 T-2");
  });
});
