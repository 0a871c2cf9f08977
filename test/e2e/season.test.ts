/** The job that the program is for: whole exports to a service, and the same exports again. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fixture, openWorkplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, openPlayground } from "../support/service.ts";
import { readPromises, readTable, salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const SALES = fixture("sales.csv");

test("12,000 sales are three requests, and 12,000 promises in the order of the file", LONG, async () => {
  const { place, service } = await openPlayground();
  const command = ["stream", SALES, "--env", "playground"];
  const { exitCode, stderr, summary } = await place.summary(command, { env: service.env });
  expect(exitCode).toBe(0);
  expectSpokenAsSpecified(service);
  expect(service.requests.map(({ items }) => items.length)).toEqual([5000, 5000, 2000]);
  // One for each request: a late second answer on a connection would be taken for the next one.
  expect(service.connections()).toBe(3);

  const sales = readTable(readFileSync(SALES, "utf8"));
  expect(summary).toMatchObject({ state: "finished", rows: { read: 12_000 }, actions: { accepted: 12_000 } });
  // A new ledger knows no event; each is shown once, in one line together.
  const events = new Set(sales.map(({ eventId }) => eventId)).size;
  expect(stderr.match(/event-not-registered/g)).toHaveLength(1);
  expect(stderr).toContain(`event-not-registered (${events} times)`);

  // In the order of the file, with what its cells say.
  expect(service.sent().map(({ action }) => action)).toEqual(sales.map(() => "soldTicket"));
  for (const field of ["eventId", "ticketId", "userId", "price"]) {
    expect(service.sent().map(({ data }) => data[field])).toEqual(sales.map((row) => row[field]));
  }

  // No cell of this file has a line break, so the row after the header stands on line 2.
  const promises = readPromises(place.read("promises.playground.ndjson"));
  expect(promises.map(({ source, line, ticketId }) => `${source}:${line} ${ticketId}`)).toEqual(
    sales.map(({ ticketId }, at) => `${SALES}:${at + 2} ${ticketId}`),
  );
  expect(new Set(promises.map(({ actionPromise }) => actionPromise)).size).toBe(12_000);
});

test("a change is reported by every command, and is news until a stream has reported it", async () => {
  const place = openWorkplace();
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  place.write("sales.csv", salesTable(3));
  expect((await place.tickets(["stream", "events.csv", "sales.csv"])).exitCode).toBe(0);
  place.write("sales.csv", place.read("sales.csv").replace(/(?<=\d)\.\d\d(?=,)/, ".77"));
  const exitCodes: (number | null)[] = [];
  for (const verb of [["plan"], ["stream", "--dry-run"], ["stream"], ["plan"], ["stream", "--dry-run"], ["stream"]]) {
    const { exitCode, stderr } = await place.tickets([...verb, "sales.csv", "--env", "sandbox"]);
    expect(stderr).toContain("changed: sales.csv:2 It was accepted with other content");
    exitCodes.push(exitCode);
  }
  expect(exitCodes).toEqual([4, 4, 4, 0, 0, 0]);
});
