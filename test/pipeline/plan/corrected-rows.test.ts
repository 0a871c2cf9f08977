/** A bad row counts as sent once its corrected version was accepted. */

import { describe, expect, test } from "vitest";
import type { ActionName } from "../../../src/actions/actions.ts";
import { acceptedBy, type Field, openSold } from "../../support/context.ts";
import { LONG } from "../../support/walks.ts";

const BEARING = { maxInvalid: { rows: 2 } } as const;

const acceptedOf = ({ sandbox }: Field, kind: ActionName): number =>
  acceptedBy(sandbox).filter(({ action }) => action === kind).length;

test.each(["input", "time"] as const)("a sale, by %s", async (order) => {
  const field = await openSold();
  await field.write(
    "sales.csv",
    "ticketId,eventId,userId,price,orderTime\nt2,E,u2,11.00,1780000001\nt1,E,u1,?,1780000000\n",
  );
  expect((await field.stream(["sales.csv"], { ...BEARING, order })).exitCode).toBe(4);
  await field.edit("sales.rejects.csv", "?", "10.00");
  expect((await field.stream(["sales.rejects.csv"], { order })).summary?.actions).toMatchObject({ accepted: 1 });
  const again = await field.stream(["sales.csv"], { order });
  expect(again.summary, again.said).toMatchObject({ exitCode: 0, rows: { invalid: 0 }, actions: { alreadySent: 2 } });
});

test("of which not even the action could be read", async () => {
  const field = await openSold();
  await field.write("log.ndjson", '{"action":"scan","data":{"ticketId":"T1","orderTime":1780000100}}\n');
  expect((await field.stream(["log.ndjson"], BEARING)).exitCode).toBe(4);
  await field.edit("log.rejects.ndjson", '"scan"', '"scannedTicket"');
  expect((await field.stream(["log.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
  const again = await field.stream(["log.ndjson"]);
  expect(again.summary, again.said).toMatchObject({ exitCode: 0, rows: { invalid: 0 }, actions: { alreadySent: 1 } });
});

test("with all that was accepted of it, in however many runs", async () => {
  const field = await openSold();
  await field.write(
    "tickets.config.yaml",
    `sources:
  sales:
    match: "sales*"
    fields: {ticketId: "{Ticket}"}
    actions:
      - soldTicket: {fields: {eventId: E, userId: "{User}", price: "{Price}", orderTime: "{At}"}}
      - invalidatedTicket: {when: {RefundedAt: {empty: false}}, fields: {orderTime: "{RefundedAt}"}}
`,
  );
  await field.write("sales.csv", "Ticket,User,Price,At,RefundedAt\n#REF!,u1,?,1780000000,1780000500\n");
  expect((await field.stream(["sales.csv"], BEARING)).exitCode).toBe(4);
  await field.edit("sales.rejects.csv", "#REF!,u1,?", "t1,u1,10.00");
  field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [1] });
  const part = await field.stream(["sales.rejects.csv"]);
  expect(part.summary?.actions, part.said).toMatchObject({ accepted: 1, rejected: 1 });
  field.setFaults();
  expect((await field.stream(["sales.csv"])).exitCode, "a part of it is not accepted").toBe(3);
  const rest = await field.stream(["sales.rejects.rejects.csv"]);
  expect(rest.summary?.actions, rest.said).toMatchObject({ accepted: 1, alreadySent: 1 });
  const again = await field.stream(["sales.csv"]);
  expect(again.summary, again.said).toMatchObject({ exitCode: 0, rows: { invalid: 0 }, actions: { alreadySent: 2 } });
});

describe("in the next full export", () => {
  const HEADER = "eventId,ticketId,userId,price,orderTime";
  const BAD = "E,t2,u2,?,1780000002";
  const SALES = [HEADER, "E,t1,u1,11.00,1780000001", BAD, "E,t3,u3,12.00,1780000003", ""].join("\n");

  async function openNight(text = SALES, name = "sales.csv"): Promise<Field> {
    const field = await openSold();
    await field.write(name, text);
    expect((await field.stream([name], BEARING)).exitCode).toBe(4);
    return field;
  }
  const stream = async (field: Field, name = "sales.csv") => {
    const { summary, said } = await field.stream([name]);
    return expect(summary, said);
  };

  test.each<[how: string, name: string, edit: (text: string) => string]>([
    ["as it was", "sales.csv", (text) => text],
    [
      "on another line, with other blanks",
      "sales.csv",
      () => `${HEADER}\nE,t3,u3,12.00,1780000003\nE, t2 ,u2,?,1780000002\n`,
    ],
    ["among other columns", "sales.csv", (text) => text.replace(/^(.+)$/gm, "$1,").replace("Time,", "Time,note")],
    ["of a file with a date in its name", "sales-2026-03-02.csv", (text) => text],
  ])("it is known %s", async (_, name, edit) => {
    const field = await openNight();
    await field.edit("sales.rejects.csv", "t2,u2,?", "t22,u2,10.50");
    (await stream(field, "sales.rejects.csv")).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    await field.write(name, edit(SALES));
    (await stream(field, name)).toMatchObject({
      ...{ exitCode: 0, state: "nothing new", rows: { invalid: 0, held: 0 }, actions: { accepted: 0 } },
    });
  });

  test("without tickets:row the corrected row is sent, and the bad one stays invalid", async () => {
    const field = await openNight();
    const rejects = await field.read("sales.rejects.csv");
    await field.write("sales.rejects.csv", rejects.replace(/^(.*),[^,]*$/gm, "$1").replace("?", "10.50"));
    (await stream(field, "sales.rejects.csv")).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    (await stream(field)).toMatchObject({ exitCode: 3, rows: { invalid: 1 } });
    // Its rejects bring the column back: what they are corrected to was sent, and that is all that is needed.
    await field.stream(["sales.csv"], BEARING);
    await field.edit("sales.rejects.2.csv", "?", "10.50");
    (await stream(field, "sales.rejects.2.csv")).toMatchObject({ state: "nothing new", exitCode: 0 });
    (await stream(field)).toMatchObject({ exitCode: 0, rows: { invalid: 0 } });
  });

  test("of several equal ones each is corrected for itself", async () => {
    const row = "E,#REF!,u9,?,1780000009\n";
    const field = await openNight(`${HEADER}\n${row}${row}`);
    const [header = "", first = "", second = ""] = (await field.read("sales.rejects.csv")).split("\n");
    expect([first, second].map((line) => /#2@/.test(line))).toEqual([false, true]);
    const corrected = (line: string, ticket: string): string => line.replace("#REF!", ticket).replace("?", "9.50");
    await field.write("sales.rejects.csv", `${header}\n${corrected(second, "t8")}\n`);
    (await stream(field, "sales.rejects.csv")).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    (await stream(field)).toMatchObject({ exitCode: 3, rows: { invalid: 1 } });
    await field.write("sales.rejects.csv", `${header}\n${corrected(first, "t9")}\n${corrected(second, "t8")}\n`);
    (await stream(field, "sales.rejects.csv")).toMatchObject({ exitCode: 0, actions: { accepted: 1, alreadySent: 1 } });
    (await stream(field)).toMatchObject({ exitCode: 0, rows: { invalid: 0 } });
  });

  test("of NDJSON it is known whatever the order of its keys, and its numbers keep their digits", async () => {
    const row = '{"eventId":"E","ticketId":"t1","userId":"u","price":12.50,"orderTime":"soon"}\n';
    const field = await openNight(row, "sales.ndjson");
    await field.edit("sales.rejects.ndjson", '"soon"', "1780000000");
    (await stream(field, "sales.rejects.ndjson")).toMatchObject({ actions: { accepted: 1 } });
    expect(acceptedBy(field.sandbox).at(-1)?.data).toMatchObject({ price: "12.50" });
    const turned = '{"orderTime":"soon","price":12.50,"userId":"u","ticketId":"t1","name":null,"eventId":"E"}\n';
    await field.write("sales.ndjson", turned);
    (await stream(field, "sales.ndjson")).toMatchObject({ exitCode: 0, rows: { read: 1, invalid: 0 } });
  });
});

/** A row that says the same in another file, or under another row, is another one. */
describe("a bad row whose text comes again", () => {
  test("in a file of another date", async () => {
    const field = await openSold();
    const fields = '{ticketId: "{Ticket}", orderTime: {from: "{file.date} {Time}", format: "yyyy-MM-dd H:mm"}}';
    await field.write(
      "tickets.config.yaml",
      `sources: {door: {match: "scans-*.csv", zone: UTC, actions: [{scannedTicket: {fields: ${fields}}}]}}\n`,
    );
    for (const day of ["09", "10"]) await field.write(`scans-2026-05-${day}.csv`, "Ticket,Time\nT1,9:05\nT2,9:xx\n");
    expect((await field.stream(["scans-2026-05-09.csv"], BEARING)).exitCode).toBe(4);
    await field.edit("scans-2026-05-09.rejects.csv", "9:xx", "9:15");
    expect((await field.stream(["scans-2026-05-09.rejects.csv"])).exitCode).toBe(0);
    const same = await field.stream(["scans-2026-05-09.csv"]);
    expect(same.summary, same.said).toMatchObject({ exitCode: 0, actions: { alreadySent: 2 } });
    const other = await field.stream(["scans-2026-05-10.csv"]);
    expect(other.summary, other.said).toMatchObject({ exitCode: 3, rows: { invalid: 1 } });
  });

  test.each([
    { name: "under another order", first: "1,10.00", second: "2,?", isRecognised: true },
    { name: "and can't be read", first: "1,10.00", second: "2,11,00", isRecognised: false },
    { name: "behind a row that can't be read", first: "1,10,00", second: "2,11.00", isRecognised: false },
  ])("$name", async ({ first, second, isRecognised }) => {
    const field = await openSold();
    const fields = '{eventId: E, ticketId: "{Order}-{No}", userId: u, price: "{Price}"}';
    await field.write(
      "tickets.config.yaml",
      `sources: {box: {match: "box*.csv", fillDown: Order, actions: [{soldTicket: {fields: ${fields}}}]}}\n`,
    );
    for (const order of ["A7", "B1"])
      await field.write(`box-${order}.csv`, `Order,No,Price\n${order},${first}\n,${second}\n`);
    expect((await field.stream(["box-A7.csv"], BEARING)).exitCode).toBe(4);
    const rejects = await field.read("box-A7.rejects.csv");
    const [, key = ""] = /([^,\n"]*@[^,\n"]*)"?\n$/.exec(rejects) ?? [];
    await field.write("box-A7.rejects.csv", `Order,No,Price,tickets:reason,tickets:row\nA7,2,11.00,,${key}\n`);
    expect((await field.stream(["box-A7.rejects.csv"])).exitCode).toBe(0);
    expect((await field.stream(["box-A7.csv"])).exitCode).toBe(isRecognised ? 0 : 3);
    const other = await field.stream(["box-B1.csv"]);
    expect(other.summary, other.said).toMatchObject({ exitCode: 3, rows: { read: 2 }, actions: { alreadySent: 0 } });
  });
});

interface Kind {
  readonly action: ActionName;
  readonly header: string;
  readonly rows: readonly [one: string, two: string];
  readonly bad: string;
  readonly good: (name: string) => string;
}

const URLS = { bad: "#REF!", good: (name: string) => `https://i.example.com/${name}` };
const KINDS: readonly Kind[] = [
  { action: "updateTicket", header: "ticketId,imageUrl", rows: ["T1,#REF!", "T2,#REF!"], ...URLS },
  { action: "updateEvent", header: "eventId,shopUrl", rows: ["E,#REF!", "F,#REF!"], ...URLS },
  {
    ...{ action: "resoldTicket", header: "ticketId,userId,price,orderTime", rows: ["T1,a,?,", "T2,a,?,"] },
    ...{ bad: "a,?", good: (name) => `u${name},1.00` },
  },
  {
    ...{ action: "scannedTicket", header: "ticketId,orderTime", rows: ["T1,?", "T2,?"] },
    ...{ bad: "?", good: () => "" },
  },
];

function isKnown({ action, header, rows, bad, good }: Kind): void {
  const [one, two] = rows;
  const corrected = (row: string, name: string): string => row.replace(bad, good(name));

  /** Two bad rows, in their rejects. */
  async function openRejected(): Promise<Field> {
    const field = await openSold();
    await field.write("log.csv", `action,${header}\n${rows.map((row) => `${action},${row}\n`).join("")}`);
    expect((await field.stream(["log.csv"], BEARING)).exitCode).toBe(4);
    return field;
  }

  test("is known when its rejects are streamed once more, and the next one of the file is sent", async () => {
    const field = await openRejected();
    await field.edit("log.rejects.csv", one, corrected(one, "1"));
    const first = await field.stream(["log.rejects.csv"], BEARING);
    expect(first.summary?.actions, first.said).toMatchObject({ accepted: 1 });
    await field.edit("log.rejects.csv", two, corrected(two, "1"));
    const both = await field.stream(["log.rejects.csv"]);
    expect(both.summary?.actions, both.said).toMatchObject({ accepted: 1, alreadySent: 1 });
    const again = await field.stream(["log.rejects.csv"]);
    expect([again.exitCode, again.summary?.actions.alreadySent], again.said).toEqual([0, 2]);
    expect(acceptedOf(field, action)).toBe(2);
    const night = await field.stream(["log.csv"]);
    expect(night.summary, night.said).toMatchObject({ rows: { invalid: 0 }, actions: { alreadySent: 2 } });
  });

  test("is known where its answer was lost, and a person has settled it as sent", LONG, async () => {
    const field = await openRejected();
    for (const row of rows) await field.edit("log.rejects.csv", row, corrected(row, "1"));
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
    const doubt = await field.stream(["log.rejects.csv"]);
    expect(doubt.exitCode, doubt.said).toBe(6);
    field.setFaults();
    await field.settle("sent");
    await field.stream(["log.rejects.csv"]);
    const again = await field.stream(["log.rejects.csv"]);
    expect([again.exitCode, again.summary?.actions.alreadySent], again.said).toEqual([0, 2]);
    expect(acceptedOf(field, action)).toBe(2);
    const night = await field.stream(["log.csv"]);
    expect(night.summary, night.said).toMatchObject({ rows: { invalid: 0 }, actions: { alreadySent: 2 } });
  });

  test.runIf(good("1") !== good("2"))("that says something else than what was accepted of it is late", async () => {
    const field = await openRejected();
    for (const row of rows) await field.edit("log.rejects.csv", row, corrected(row, "1"));
    await field.stream(["log.rejects.csv"]);
    await field.edit("log.rejects.csv", corrected(one, "1"), corrected(one, "2"));
    const other = await field.stream(["log.rejects.csv"]);
    expect(other.summary, other.said).toMatchObject({ exitCode: 4, actions: { accepted: 0, alreadySent: 1, late: 1 } });
    const resent = await field.stream(["log.rejects.csv"], { resend: true });
    expect(resent.summary?.actions.accepted, resent.said).toBeGreaterThan(0);
    const known = await field.stream(["log.rejects.csv"]);
    expect(known.summary?.actions, known.said).toMatchObject({ accepted: 0, alreadySent: 2 });
  });
}

describe.each(KINDS)("without times: $action", isKnown);
