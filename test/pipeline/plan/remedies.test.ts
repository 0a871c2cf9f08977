/** What a message tells a person to do, done literally: nothing is sent that was accepted before. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Field, openField } from "../../support/context.ts";

/** Each row gives its event, once an input, and one action more. */
const source = (action: string): string =>
  `sources:\n  rows: {match: [rows.csv, rows-alone.csv], fields: {eventId: "{Ev}", ticketId: "{T}"}, actions: [newEvent: {fields: {currency: EUR}}, ${action}]}\n`;
const SOLD = 'soldTicket: {fields: {userId: "{U}", price: "10.00", orderTime: "1768600000"}}';
const UPDATED = 'updateTicket: {when: {A: {empty: false}}, fields: {imageUrl: "https://i.example/{A}.png"}}';
const SCANS = "scannedTicket: {each: {in: '{U}', match: '(?<at>[0-9]+)'}, fields: {orderTime: '{item.at}'}}";

const HEADER = "Ev,T,U";
const table = (header: string, ...rows: readonly string[]): string => `${[header, ...rows].join("\n")}\n`;

async function openRows(action: string): Promise<Field> {
  const field = await openField();
  await field.write("tickets.config.yaml", source(action));
  return field;
}

/** Everything that the service took, in order. */
const taken = ({ sandbox }: Field): readonly string[] =>
  [...sandbox.engine.processed()]
    .filter(({ status }) => status === "success")
    .map(({ action, eventId, ticketId, data }) => {
      const { orderTime = "", imageUrl = "" } = JSON.parse(data) as { orderTime?: number; imageUrl?: string };
      const what = action === "scannedTicket" ? orderTime : action === "updateTicket" ? imageUrl.slice(-5, -4) : "";
      return [action, action === "newEvent" ? eventId : ticketId, what].join(" ").trimEnd();
    });

/** Streams the row alone with the rule as the message says, and then the whole export. */
async function letPass(field: Field, said: string, row: string): Promise<void> {
  expect(said).toContain("alone with rules: {id-near-another: warn} in the config.");
  await field.write("rows-alone.csv", table(HEADER, row));
  const config = await field.read("tickets.config.yaml");
  await field.write("tickets.config.yaml", `${config}rules: {id-near-another: warn}\n`);
  const alone = await field.stream(["rows-alone.csv"]);
  expect(alone.exitCode, alone.said).toBe(0);
  await field.write("tickets.config.yaml", config);
  const whole = await field.stream(["rows.csv"]);
  expect(whole.summary, whole.said).toMatchObject({ exitCode: 0, actions: { accepted: 0 } });
}

test.each([
  ["00012", "12"],
  ["1001", "1001.0"],
  ["0012", "12.00"],
  ["M\u00fc1", "Mu\u03081"],
])("a row with another spelling of a ticket, let pass alone: %s, %s", async (ticket, other) => {
  const field = await openRows(SOLD);
  await field.write("rows.csv", table(HEADER, `e1,${ticket},u1`, "e1,t2,u2"));
  await field.stream(["rows.csv"]);
  await field.write("rows.csv", table(HEADER, `e1,${ticket},u1`, "e1,t2,u2", `e1,${other},u3`));
  const reported = await field.stream(["rows.csv"]);
  expect(reported.exitCode, reported.said).toBe(3);
  expect(reported.said).toContain("id-near-another: ");
  await letPass(field, reported.said, `e1,${other},u3`);
  expect(taken(field)).toEqual(["newEvent e1", `soldTicket ${ticket}`, "soldTicket t2", `soldTicket ${other}`]);
});

test("a row with another spelling of an event, let pass alone: its newEvent, and then all of it goes", async () => {
  const field = await openRows(SOLD);
  await field.write("rows.csv", table(HEADER, "00012,t1,u1"));
  await field.stream(["rows.csv"]);
  await field.write("rows.csv", table(HEADER, "00012,t1,u1", "12,t2,u2"));
  const reported = await field.stream(["rows.csv"]);
  expect(reported.exitCode, reported.said).toBe(3);
  await letPass(field, reported.said, "12,t2,u2");
  expect(taken(field)).toEqual(["newEvent 00012", "soldTicket t1", "newEvent 12", "soldTicket t2"]);
});

test("a new scan of a ticket whose earlier ones are known from promises alone", async () => {
  const field = await openRows(`${SOLD.replace("{U}", "u1")}, ${SCANS}`);
  await field.write("rows.csv", table(HEADER, "e1,t1,1780000001 1780000100"));
  const night = await field.stream(["rows.csv"], { output: "kept.ndjson" });
  expect(night.exitCode, night.said).toBe(0);
  await rm(join(field.folder, "state"), { recursive: true });
  expect((await field.ask("importResults", { files: ["kept.ndjson"] })).exitCode).toBe(0);
  await field.write("rows.csv", table(HEADER, "e1,t1,1780000001 1780000100 1780000200"));
  const next = await field.stream(["rows.csv"]);
  expect(next.summary, next.said).toMatchObject({ exitCode: 0, actions: { accepted: 1, alreadySent: 4 } });
  expect(taken(field)).toEqual([
    "newEvent e1",
    "soldTicket t1",
    "scannedTicket t1 1780000001",
    "scannedTicket t1 1780000100",
    "scannedTicket t1 1780000200",
  ]);
});

test("actions of a row wait for a sale of the same row that waits for what is in doubt", async () => {
  const resale =
    'resoldTicket: {when: {B: {empty: false}}, fields: {userId: "{B}", price: "12.00", orderTime: "1768600100"}}';
  const field = await openRows(`${SOLD}, ${resale}`);
  const header = `${HEADER},B`;
  await field.write("rows.csv", table(header, "g,t1,u1,"));
  field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
  expect((await field.stream(["rows.csv"])).exitCode).toBe(6);
  field.setFaults();
  await field.settle("abandon");
  await field.write("rows.csv", table(header, "g,t1,u1,", "g,t9,u9,u10"));
  const waits = await field.stream(["rows.csv"]);
  expect(waits.exitCode, waits.said).toBe(6);
  expect(taken(field)).toEqual(["newEvent g", "soldTicket t1"]);
  await field.settle("sent");
  await field.stream(["rows.csv"]);
  expect(taken(field)).toEqual(["newEvent g", "soldTicket t1", "soldTicket t9", "resoldTicket t9"]);
});

test("a bad row that has grown since it was corrected: once corrected again, only what is missing is sent", async () => {
  const scan = (column: string): string =>
    `scannedTicket: {when: {${column}: {empty: false}}, fields: {orderTime: "{${column}}"}}`;
  const field = await openRows([SOLD.replace("10.00", "{P}"), UPDATED, scan("S"), scan("R")].join(", "));
  const header = `${HEADER},P,A,S,R`;
  const night = async (row: string): Promise<void> => {
    await rm(join(field.folder, "rows.rejects.csv"), { force: true });
    await field.write("rows.csv", table(header, row));
    expect((await field.stream(["rows.csv"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
    await field.edit("rows.rejects.csv", "?", "9.50");
    const corrected = await field.stream(["rows.rejects.csv"]);
    expect(corrected.exitCode, corrected.said).toBe(0);
  };
  await night("g,t1,u1,?,a,1780000100,");
  const before = taken(field);
  await night("g,t1,u1,?,a,1780000100,1780000200");
  const next = await field.stream(["rows.csv"]);
  expect(next.summary, next.said).toMatchObject({ exitCode: 0, rows: { invalid: 0 }, actions: { accepted: 0 } });
  expect(taken(field)).toEqual([...before, "scannedTicket t1 1780000200"]);
});
