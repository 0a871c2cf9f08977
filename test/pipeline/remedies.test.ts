/** What a message tells a person to do, done literally: nothing is sent that was accepted before. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Field, makeContext, openField, verbs } from "../support/context.ts";

/** Each row gives its event, once an input, and one deed more. */
const source = (deed: string): string =>
  `sources:\n  rows: {match: "rows*.csv", fields: {eventId: "{Ev}", ticketId: "{T}"}, actions: [newEvent: {fields: {currency: EUR}}, ${deed}]}\n`;
const SOLD = 'soldTicket: {fields: {userId: "{U}", price: "10.00", orderTime: "1768600000"}}';
const SCANNED = 'scannedTicket: {fields: {orderTime: "{U}"}}';
const SCANS = "scannedTicket: {each: {in: '{U}', match: '(?<at>[0-9]+)'}, fields: {orderTime: '{item.at}'}}";

const HEADER = "Ev,T,U";
const table = (header: string, ...rows: readonly string[]): string => `${[header, ...rows].join("\n")}\n`;

async function openRows(deed: string): Promise<Field> {
  const field = await openField();
  await field.write("tickets.config.yaml", source(deed));
  return field;
}

/** Everything that the service took, in order. */
const taken = ({ sandbox }: Field): readonly string[] =>
  [...sandbox.engine.processed()]
    .filter(({ status }) => status === "success")
    .map(({ action, eventId, ticketId, data }) => {
      const { orderTime } = JSON.parse(data) as { orderTime?: number };
      return [action, action === "newEvent" ? eventId : ticketId, action === "scannedTicket" ? orderTime : ""]
        .join(" ")
        .trimEnd();
    });

/** Streams the row alone with `--again` and the column that the message asks for, which names one action. */
async function follow(field: Field, said: string, row: string): Promise<void> {
  const names = said.matchAll(/add a column (?<column>\S+) that says (?<name>\S+): else/g);
  const [asked] = [...names].toReversed();
  const { column = "", name = "" } = asked?.groups ?? {};
  expect(column, said).toBe("tickets:actions");
  await field.write("rows-alone.csv", table(`${HEADER},${column}`, `${row},${name}`));
  const alone = await field.stream(["rows-alone.csv"], { again: true });
  expect(alone.exitCode, alone.said).toBe(0);
  expect(alone.said).not.toContain("not used: tickets:actions");
}

test.each([
  ["00012", "12"],
  ["1001", "1001.0"],
  ["0012", "12.00"],
  ["M\u00fc1", "Mu\u03081"],
])("a row with another spelling of a ticket, alone with --again: %s, %s", async (ticket, other) => {
  const field = await openRows(SOLD);
  await field.write("rows.csv", table(HEADER, `e1,${ticket},u1`, "e1,t2,u2"));
  await field.stream(["rows.csv"]);
  await field.write("rows.csv", table(HEADER, `e1,${ticket},u1`, "e1,t2,u2", `e1,${other},u3`));
  const told = await field.stream(["rows.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  expect(told.said).toContain("[id-near-another]");
  await follow(field, told.said, `e1,${other},u3`);
  expect(taken(field)).toEqual(["newEvent e1", `soldTicket ${ticket}`, "soldTicket t2", `soldTicket ${other}`]);
});

test("a row with another spelling of an event, alone with --again: its newEvent, and then all of it goes", async () => {
  const field = await openRows(SOLD);
  await field.write("rows.csv", table(HEADER, "00012,t1,u1"));
  await field.stream(["rows.csv"]);
  await field.write("rows.csv", table(HEADER, "00012,t1,u1", "12,t2,u2"));
  const told = await field.stream(["rows.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  await follow(field, told.said, "12,t2,u2");
  expect((await field.stream(["rows.csv"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 3 });
  expect(taken(field)).toEqual(["newEvent 00012", "soldTicket t1", "newEvent 12", "soldTicket t2"]);
});

test("two rows of one second that are two deeds, alone with --again", async () => {
  const field = await openRows(SCANNED);
  await field.write("sale.ndjson", '{"action":"newEvent","data":{"eventId":"e1","currency":"EUR"}}\n');
  await field.stream(["sale.ndjson"]);
  await field.write(
    "ticket.ndjson",
    '{"action":"soldTicket","data":{"eventId":"e1","ticketId":"t1","userId":"u","price":"1","orderTime":1768600000}}\n',
  );
  await field.stream(["ticket.ndjson"]);
  const row = "e1,t1,1780311678";
  await field.write("rows.csv", table(HEADER, row, row));
  const told = await field.stream(["rows.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  expect(told.said).toContain("[history-unclear]");
  await follow(field, told.said, row);
  expect(taken(field)).toEqual(["newEvent e1", "soldTicket t1", "scannedTicket t1 1780311678"]);
});

test("a new scan of a ticket whose earlier ones are known from promises alone, alone with --again", async () => {
  const field = await openRows(`${SOLD.replace("{U}", "u1")}, ${SCANS}`);
  await field.write("rows.csv", table(HEADER, "e1,t1,1780000001 1780000100"));
  const night = await field.stream(["rows.csv"], { output: "kept.ndjson" });
  expect(night.exitCode, night.said).toBe(0);
  await rm(join(field.folder, "state"), { recursive: true });
  await verbs.importResults(
    { file: "kept.ndjson", waitLock: 0, flags: {} },
    makeContext(field.folder, field.env).context,
  );
  const row = "e1,t1,1780000001 1780000100 1780000200";
  await field.write("rows.csv", table(HEADER, row));
  const told = await field.stream(["rows.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  for (const nth of [1, 2, 3])
    expect(told.said, "each scan is named").toContain(`says ${nth}:scannedTicket: else all that the row gives`);
  await follow(field, told.said, row);
  expect(taken(field)).toEqual([
    "newEvent e1",
    "soldTicket t1",
    "scannedTicket t1 1780000001",
    "scannedTicket t1 1780000100",
    "scannedTicket t1 1780000200",
  ]);
});

test("what its closing words say of rejects, to stream them with --again, sends what is open of each row and no more", async () => {
  const field = await openRows(`${SOLD.replace("{U}", "u1")}, ${SCANS}`);
  await field.write("rows.csv", table(HEADER, "e1,t1,1780000061"));
  await field.stream(["rows.csv"]);
  // Perhaps the same scan, read in another zone.
  await field.write("rows.csv", table(HEADER, "e1,t1,1780003661", "e1,t2,1780000500"));
  const told = await field.stream(["rows.csv"], { maxInvalid: { rows: 1 } });
  expect(told.exitCode, told.said).toBe(4);
  expect(await field.read("rows.rejects.csv")).toMatch(/,scannedTicket,\d+\.[0-9a-f]+$/m);
  const again = await field.stream(["rows.rejects.csv"], { again: true });
  expect(again.summary?.actions, again.said).toMatchObject({ total: 1, accepted: 1 });
  expect(taken(field)).toEqual([
    ...["newEvent e1", "soldTicket t1", "scannedTicket t1 1780000061"],
    ...["soldTicket t2", "scannedTicket t2 1780000500", "scannedTicket t1 1780003661"],
  ]);
  const next = await field.stream(["rows.csv"]);
  expect(next.summary?.actions, next.said).toMatchObject({ accepted: 0 });
});

test("deeds of a row wait for a sale of the same row that waits for what is in doubt", async () => {
  const resale =
    'resoldTicket: {when: {B: {empty: false}}, fields: {userId: "{B}", price: "12.00", orderTime: "1768600100"}}';
  const field = await openRows(`${SOLD}, ${resale}`);
  const header = `${HEADER},B`;
  await field.write("rows.csv", table(header, "g,t1,u1,"));
  field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
  expect((await field.stream(["rows.csv"])).exitCode).toBe(6);
  field.setFaults();
  const decide = async (decision: "abandon" | "sent"): Promise<void> => {
    await field.settle(decision);
  };
  await decide("abandon");
  await field.write("rows.csv", table(header, "g,t1,u1,", "g,t9,u9,u10"));
  const waits = await field.stream(["rows.csv"]);
  expect(waits.exitCode, waits.said).toBe(6);
  expect(taken(field)).toEqual(["newEvent g", "soldTicket t1"]);
  await decide("sent");
  const sent = await field.stream(["rows.csv"]);
  expect(sent.said).not.toContain("ticket-not-sold");
  expect(taken(field)).toEqual(["newEvent g", "soldTicket t1", "soldTicket t9", "resoldTicket t9"]);
});

test("a row that has grown and says again what was accepted of its older form: the rest goes without it, and then all is known", async () => {
  const update = 'updateTicket: {fields: {imageUrl: "https://i.example/{A}.png"}}';
  const scan = (column: string): string =>
    `scannedTicket: {when: {${column}: {empty: false}}, fields: {orderTime: "{${column}}"}}`;
  const actions = [SOLD.replace("10.00", "{P}"), update, scan("S"), scan("R")];
  const field = await openRows(actions.join(", "));
  const header = `${HEADER},P,A,S,R`;
  const mend = async (file: string, from: string, to: string): Promise<void> =>
    field.write(file, (await field.read(file)).replace(from, to));
  await field.write("rows.csv", table(header, "g,t1,u1,?,a,1780000100,"));
  expect((await field.stream(["rows.csv"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
  await mend("rows.rejects.csv", "?", "9.50");
  expect((await field.stream(["rows.rejects.csv"])).exitCode).toBe(0);
  const before = taken(field);
  await rm(join(field.folder, "rows.rejects.csv"));
  await field.write("rows.csv", table(header, "g,t1,u1,?,a,1780000100,1780000200"));
  expect((await field.stream(["rows.csv"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
  await mend("rows.rejects.csv", "?", "9.50");
  const told = await field.stream(["rows.rejects.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  expect(told.said).toContain("which sends it a second time if the service has it");
  const rest = /stream the row alone with (?<names>.+) in tickets:actions, and without --again\./.exec(told.said);
  expect(rest?.groups?.names, told.said).toBe("2:scannedTicket");
  const [columns = "", row = ""] = (await field.read("rows.rejects.csv")).split("\n");
  expect(columns).toMatch(/,tickets:actions,tickets:row$/);
  await field.write("rows.rejects.csv", `${columns}\n${row.replace(/,,(?=[^,]+$)/, ",2:scannedTicket,")}\n`);
  const done = await field.stream(["rows.rejects.csv"]);
  expect(done.exitCode, done.said).toBe(0);
  expect((await field.stream(["rows.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  expect(taken(field)).toEqual([...before, "scannedTicket t1 1780000200"]);
});

test("a row of rejects, alone with --again: the column that it has names the one deed", async () => {
  const field = await openRows(SOLD);
  await field.write("rows.csv", table(HEADER, "e1,00012,u1"));
  await field.stream(["rows.csv"]);
  await field.write("rows.csv", table(HEADER, "e1,00012,u1", "e1,12,u3"));
  const night = await field.stream(["rows.csv"], { maxInvalid: { rows: 1 } });
  expect(night.exitCode, night.said).toBe(4);
  const told = await field.stream(["rows.rejects.csv"]);
  expect(told.exitCode, told.said).toBe(3);
  const [, name = ""] = /have tickets:actions of the row say (\S+) and no more: else/.exec(told.said) ?? [];
  expect(told.said).not.toContain("add a column");
  const rejects = await field.read("rows.rejects.csv");
  await field.write("rows.rejects.csv", rejects.replace(/,,([^,]+)\n$/, `,${name},$1\n`));
  const alone = await field.stream(["rows.rejects.csv"], { again: true });
  expect(alone.exitCode, alone.said).toBe(0);
  expect(taken(field)).toEqual(["newEvent e1", "soldTicket 00012", "soldTicket 12"]);
});
