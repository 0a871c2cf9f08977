/** Where a rule lets a row go without sending it, a warning names every such row: a fold would hide what is not sent. */

import { expect, test } from "vitest";
import { type Field, openField } from "../../support/context.ts";

const scanOf = (column: string): string =>
  `scannedTicket: {when: {${column}: {empty: false}}, fields: {orderTime: "{${column}}"}}`;
const source = (columns: readonly string[], more = ""): string =>
  `sources: {scans: {match: "scans*.csv", ${more}fields: {ticketId: "{T}"}, actions: [${columns.map(scanOf).join(", ")}]}}\n`;

const relaxed = (rule: string, config: string): string => `rules: {${rule}: warn}\n${config}`;
const HEADER = "T,In,Out,K";
const table = (...rows: readonly string[]): string => `${[HEADER, ...rows].join("\n")}\n`;
const TICKETS = ["T1", "T2", "T3"] as const;

async function openSold(): Promise<Field> {
  const field = await openField();
  const sales = TICKETS.map((ticketId) => ({
    action: "soldTicket",
    data: { eventId: "E", ticketId, userId: "u", price: "1", orderTime: 1780000000 },
  }));
  const event = { action: "newEvent", data: { eventId: "E", currency: "EUR" } };
  await field.write("sold.ndjson", [event, ...sales].map((each) => `${JSON.stringify(each)}\n`).join(""));
  expect((await field.stream(["sold.ndjson"])).exitCode).toBe(0);
  return field;
}

/** The night under the relaxed rule: nothing goes, and the rows behind the first one are named. */
async function namesTheOthers(field: Field, rule: string, others: string): Promise<void> {
  const night = await field.stream(["scans.csv"]);
  expect(night.exitCode, night.said).toBe(0);
  const [warning] = night.said.split("\n").filter((line) => line.includes(`${rule} (`));
  expect(warning, night.said).toContain(` Not sent either: ${others}.`);
}

test("history-unclear", async () => {
  const field = await openSold();
  await field.write("tickets.config.yaml", relaxed("history-unclear", source(["In"])));
  const copies = TICKETS.flatMap((ticket) => [`${ticket},1780000061,,`, `${ticket},1780000061,,`]);
  await field.write("scans.csv", table(...copies));
  await namesTheOthers(field, "history-unclear", "scans.csv:3, scans.csv:4, scans.csv:5, scans.csv:6, scans.csv:7");
});

test("key-shared", async () => {
  const field = await openSold();
  await field.write("tickets.config.yaml", relaxed("key-shared", source(["In"], 'key: "{K}", ')));
  await field.write("scans.csv", table(...TICKETS.map((ticket) => `${ticket},1780000061,,k`)));
  await namesTheOthers(field, "key-shared", "scans.csv:4");
});

test.each([
  ["mended-unsure", ["In"], "1780000062,1780000081,a"],
  ["mended-gives-more", ["In", "Out"], "1780000061,1780000081,b"],
] as const)("%s", async (rule, columns, mended) => {
  const field = await openSold();
  await field.write("tickets.config.yaml", source(["In"]));
  const scans = "1780000061,1780000081,a";
  await field.write("scans.csv", table(...TICKETS.map((ticket) => `${ticket},${scans}`)));
  field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0, 1, 2] });
  expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ rejected: 3 });
  field.setFaults();
  await field.write("scans.rejects.csv", (await field.read("scans.rejects.csv")).replaceAll(scans, mended));
  expect((await field.stream(["scans.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 3 });
  await field.write("tickets.config.yaml", relaxed(rule, source(columns)));
  await namesTheOthers(field, rule, "scans.csv:3, scans.csv:4");
});
