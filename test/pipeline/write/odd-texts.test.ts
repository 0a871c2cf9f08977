/** What tickets writes it can read, whatever characters are in headings, cells, ids and names of files. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Field, openField, processedBy } from "../../support/context.ts";

const EVENTS = "eventId,currency,eventName\nE,EUR,Fair\n";
const SALE_COLUMNS = "eventId,ticketId,userId,price,orderTime";
const ONE_BAD = { maxInvalid: { rows: 1 }, output: "p.ndjson" };

async function openSales(header: string, ...rows: readonly string[]): Promise<Field> {
  const field = await openField();
  await field.write("events.csv", EVENTS);
  await field.write("sales.csv", [header, ...rows, ""].join("\n"));
  return field;
}

async function expectCorrected(field: Field): Promise<void> {
  const rejects = await field.read("sales.rejects.csv");
  expect(rejects.split("x.00")).toHaveLength(2);
  await field.edit("sales.rejects.csv", "x.00", "1.00");
  const corrected = await field.stream(["sales.rejects.csv"]);
  expect(corrected.exitCode, corrected.said).toBe(0);
  expect(processedBy(field.sandbox)).toBe("E T2 T1");
}

test.each([
  ["heading", '"Seat\rNo"', "5"],
  ["cell", "Note", '"by\rmail"'],
])("a carriage return in a %s: the rejects are written, added to, and read", async (_, column, cell) => {
  const rows = [`E,T1,u1,x.00,1768600000,${cell}`, "E,T2,u2,1.00,1768600001,6"];
  const field = await openSales(`${SALE_COLUMNS},${column}`, ...rows);
  const first = await field.stream(["events.csv", "sales.csv"], ONE_BAD);
  expect(first.summary, first.said).toMatchObject({ rows: { invalid: 1 }, actions: { accepted: 2 } });
  const second = await field.stream(["events.csv", "sales.csv"], ONE_BAD);
  expect(second.summary, second.said).toMatchObject({
    exitCode: 4,
    rows: { invalid: 1 },
    actions: { alreadySent: 2 },
  });
  await expectCorrected(field);
});

test("a carriage return in the name of an input: the promises are written as a table, and imported into a new ledger", async () => {
  const field = await openField();
  await field.write("events\r.csv", EVENTS);
  const sent = await field.stream(["events\r.csv"], { output: "p.csv" });
  expect(sent.exitCode, sent.said).toBe(0);
  expect(await field.read("p.csv")).toContain('"events\r.csv"');
  await rm(join(field.folder, "state"), { recursive: true });
  expect(await field.ask("importResults", { files: ["p.csv"] })).toMatchObject({ exitCode: 0 });
  const again = await field.stream(["events\r.csv"]);
  expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0, alreadySent: 1 });
});

test("ids with any character are known again, also by a new ledger that is filled from the promises", async () => {
  const field = await openField();
  const eventId = "E\u0000-1";
  const ids = ["A", "A\u0000B", ..."\u2028\u2029\r\u0085\ufeff\"\\'😀"].map((text, at) => `T${text}${at}`);
  const sale = (ticketId: string) => ({
    action: "soldTicket",
    data: { eventId, ticketId, userId: "u\u0000", price: "1.00", orderTime: 1767225600 },
  });
  const event = { action: "newEvent", data: { eventId, eventName: "Gala", currency: "EUR" } };
  await field.write("payload.json", JSON.stringify([event, ...ids.map(sale)]));
  const first = await field.stream(["payload.json"]);
  expect(first.summary?.actions.accepted, first.said).toBe(ids.length + 1);
  const lines = (await field.read("promises.local.ndjson")).trim().split("\n").slice(1);
  expect(lines.map((line) => JSON.parse(line).ticketId)).toEqual(ids);
  expect((await field.ask("find", { id: ids[1] ?? "", json: true })).out).toContain("A\\u0000B");
  await rm(join(field.folder, "state"), { recursive: true });
  expect(await field.ask("importResults", { files: ["promises.local.ndjson"] })).toMatchObject({ exitCode: 0 });
  const again = await field.stream(["payload.json"]);
  expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0, alreadySent: ids.length + 1 });
});

test.each([
  ["of plain letters", "n".repeat(245)],
  ["of letters of several bytes", "ä".repeat(120)],
])("an input whose name leaves no room for those of promises and rejects gets them cut: %s", async (_, stem) => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  await field.stream(["events.csv"]);
  const name = `${stem}.csv`;
  await field.write(name, "ticketId,eventId,userId,price,orderTime\nA,E,u,1,soon\nB,E,u,1,1780000000\n");
  const done = await field.stream([name], { action: "soldTicket", maxInvalid: { rows: 1 } });
  expect(done.exitCode, done.said).toBe(4);
  const rejects = (await readdir(field.folder)).filter((each) => each.endsWith(".rejects.csv"));
  expect(rejects).toHaveLength(1);
  expect(name.startsWith(String(rejects[0]).replace(".rejects.csv", ""))).toBe(true);
  await field.write("more.csv", "eventId,currency\nF,EUR\n");
  expect((await field.stream(["more.csv"], { action: "newEvent" })).exitCode).toBe(0);
});
