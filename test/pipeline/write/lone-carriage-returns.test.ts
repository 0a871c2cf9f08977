/** What tickets writes as a table it can read, also where a heading, a cell or a file's name has a carriage return alone. */

import { rm } from "node:fs/promises";
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
  await field.write("sales.rejects.csv", rejects.replace("x.00", "1.00"));
  const corrected = await field.stream(["sales.rejects.csv"]);
  expect(corrected.exitCode, corrected.said).toBe(0);
  expect(processedBy(field.sandbox)).toBe("E T2 T1");
}

test("in a heading: the rejects are written, added to, and read once they are corrected", async () => {
  const field = await openSales(`${SALE_COLUMNS},"Seat\rNo"`, "E,T1,u1,x.00,1768600000,5", "E,T2,u2,1.00,1768600001,6");
  const first = await field.stream(["events.csv", "sales.csv"], ONE_BAD);
  expect(first.summary, first.said).toMatchObject({ rows: { invalid: 1 }, actions: { accepted: 2 } });
  const second = await field.stream(["events.csv", "sales.csv"], ONE_BAD);
  expect(second.summary, second.said).toMatchObject({ rows: { invalid: 1 }, actions: { alreadySent: 2 } });
  expect(second.exitCode).toBe(4);
  await expectCorrected(field);
});

test("in a cell: the rejects are read once they are corrected", async () => {
  const field = await openSales(
    `${SALE_COLUMNS},Note`,
    'E,T1,u1,x.00,1768600000,"by\rmail"',
    "E,T2,u2,1.00,1768600001,",
  );
  const first = await field.stream(["events.csv", "sales.csv"], ONE_BAD);
  expect(first.exitCode, first.said).toBe(4);
  await expectCorrected(field);
});

test("in the name of an input: the promises are written as a table, and imported into a new ledger", async () => {
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
