/** A bad row of which a mended one was accepted, and which gives something else since. */

import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Field, makeContext, openField, verbs } from "../../../support/context.ts";
import { forWalks } from "../../../support/walks.ts";

const source = (actions: readonly string[], more = ""): string => `sources:
  sales:
    match: "sales*"
${more}    fields: {ticketId: "{Ticket}"}
    actions:
${actions.map((action) => `      - ${action}\n`).join("")}`;

const LOOKUP = '    lookup: {order: {file: orders.csv, where: {Ref: "{Order}"}}}\n';
const SOLD = 'soldTicket: {fields: {eventId: E, userId: "{User}", price: "{Price}", orderTime: "{At}"}}';
const REFUND_OF_ORDER =
  'invalidatedTicket: {when: {"{order.Status}": refunded}, fields: {orderTime: "{order.RefundedAt}"}}';
const REFUND = 'invalidatedTicket: {when: {Status: refunded}, fields: {orderTime: "{RefundedAt}"}}';
const scanOf = (column: string): string =>
  `scannedTicket: {when: {${column}: {empty: false}}, fields: {orderTime: "{${column}}"}}`;

/** What the service has accepted, in order; scans and invalidations with their times. */
const acceptedBy = ({ sandbox }: Field): readonly string[] =>
  Array.from(sandbox.engine.processed()).flatMap(({ action, status, data }) => {
    const { ticketId, orderTime } = JSON.parse(data) as Record<string, unknown>; // as the engine wrote it
    return status !== "success" || action === "newEvent" ? [] : `${action} ${ticketId} ${orderTime}`;
  });

interface Night {
  readonly config: string;
  readonly files: Readonly<Record<string, string>>;
  /** What is wrong with the row, and what a person makes of it. */
  readonly mend: readonly [bad: string, good: string];
}

/** An event and tickets that were sold. */
async function openSold(...tickets: readonly string[]): Promise<Field> {
  const field = await openField();
  const before = [
    { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
    ...tickets.map((ticketId) => ({
      action: "soldTicket",
      data: { eventId: "E", ticketId, userId: "u", price: "1", orderTime: 1780000000 },
    })),
  ];
  await field.write("before.ndjson", before.map((each) => `${JSON.stringify(each)}\n`).join(""));
  expect((await field.stream(["before.ndjson"])).exitCode).toBe(0);
  return field;
}

/** An event and its tickets, a night with a bad row, and its rejects mended and accepted. */
async function mendedNight({ config, files, mend: [bad, good] }: Night): Promise<Field> {
  const field = await openSold("S1", "S2");
  await field.write("tickets.config.yaml", config);
  for (const [name, text] of Object.entries(files)) await field.write(name, text);
  expect((await field.stream(["sales.csv"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
  await mend(field, bad, good);
  const mended = await field.stream(["sales.rejects.csv"]);
  expect(mended.exitCode, mended.said).toBe(0);
  expect(mended.summary?.actions.accepted).toBeGreaterThan(0);
  const again = await field.stream(["sales.csv"]);
  expect(again.summary, again.said).toMatchObject({ exitCode: 0, rows: { invalid: 0, mended: 1 } });
  return field;
}

/** Mends the last row of the newest rejects, which stand in their file alone then. */
async function mend(field: Field, bad: string, good: string): Promise<string> {
  const [header = "", ...rows] = (await field.read("sales.rejects.csv")).trimEnd().split("\n");
  const row = rows.at(-1) ?? "";
  await field.write("sales.rejects.csv", `${header}\n${row.replace(bad, good)}\n`);
  return row;
}

/** The export of a later night: the row is told, and its rejects name just what is open of it. */
async function isToldAndOpen(field: Field, open: string): Promise<void> {
  const sent = acceptedBy(field);
  const stopped = await field.stream(["sales.csv"]);
  expect(stopped.exitCode, stopped.said).toBe(3);
  expect(stopped.said).toContain("mended-gives-more");
  await rm(join(field.folder, "sales.rejects.csv"));
  const night = await field.stream(["sales.csv"], { maxInvalid: { rows: 1 } });
  expect(night.summary, night.said).toMatchObject({ exitCode: 4, rows: { invalid: 1, mended: 0 } });
  expect(acceptedBy(field)).toEqual(sent);
  expect(await field.read("sales.rejects.csv")).toContain(`,${open},`);
}

const SALES = "Ticket,User,Order,Price,At\nt2,u2,R2,11.00,1780000001\nt1,u1,R1,?,1780000000\n";
const orders = (status: string): string => `Ref,Status,RefundedAt\nR1,${status}\nR2,${status.replace("900", "800")}\n`;

describe("a bad row of which a mended one was accepted is done with what was accepted, and with nothing else", () => {
  test.each(["input", "time"] as const)("an order that is refunded a night later, by %s", async (order) => {
    const field = await mendedNight({
      config: source([SOLD, REFUND_OF_ORDER], LOOKUP),
      files: { "orders.csv": orders("paid,"), "sales.csv": SALES },
      mend: ["?", "10.00"],
    });
    await field.write("orders.csv", orders("refunded,1780000900"));
    const stopped = await field.stream(["sales.csv"], { order });
    expect(stopped.exitCode, stopped.said).toBe(3);
    expect(stopped.said).toContain("mended-gives-more");
    const night = await field.stream(["sales.csv"], { order, maxInvalid: { rows: 1 } });
    expect(night.summary, night.said).toMatchObject({
      exitCode: 4,
      rows: { invalid: 1, mended: 0 },
      actions: { accepted: 1, alreadySent: 1 },
    });

    const written = basename(night.summary?.rejects[0] ?? "");
    const [header = "", row = ""] = (await field.read(written)).trimEnd().split("\n");
    expect(row).toContain(",invalidatedTicket,");
    await field.write("sales.rejects.csv", `${header}\n${row.replace("?", "10.00")}\n`);
    const mended = await field.stream(["sales.rejects.csv"], { order });
    expect(mended.summary?.actions, mended.said).toMatchObject({ total: 1, accepted: 1 });
    const last = await field.stream(["sales.csv"], { order });
    expect(last.summary, last.said).toMatchObject({ exitCode: 0, rows: { invalid: 0, mended: 1 } });
    expect(acceptedBy(field).slice(2)).toEqual([
      "soldTicket t2 1780000001",
      "soldTicket t1 1780000000",
      "invalidatedTicket t2 1780000800",
      "invalidatedTicket t1 1780000900",
    ]);
  });

  test("an order that is gone a night later: whether it was refunded is not known, which is told", async () => {
    const field = await mendedNight({
      config: source([SOLD, REFUND_OF_ORDER], LOOKUP),
      files: { "orders.csv": orders("paid,"), "sales.csv": SALES },
      mend: ["?", "10.00"],
    });
    await field.write("orders.csv", orders("paid,").replace(/^R1.*\n/m, ""));
    const night = await field.stream(["sales.csv"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(night.said).toContain("whether it gives more now can't be read (lookup-missing)");
  });

  test("an action that the mapping has since, whatever became of the ticket's name", { tags: ["long"] }, async () => {
    const field = await mendedNight({
      config: source([SOLD]),
      files: { "sales.csv": "Ticket,User,Price,At,Status,RefundedAt\n#REF!,u1,?,1780000000,refunded,1780000500\n" },
      mend: ["#REF!,u1,?", "t1,u1,10.00"],
    });
    await field.write("tickets.config.yaml", source([SOLD, REFUND]));
    await isToldAndOpen(field, "invalidatedTicket");
    await mend(field, "#REF!,u1,?", "t1,u1,10.00");
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ total: 1, accepted: 1 });
    const last = await field.stream(["sales.csv"]);
    expect(last.summary, last.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(acceptedBy(field).slice(2)).toEqual(["soldTicket t1 1780000000", "invalidatedTicket t1 1780000500"]);
  });

  test("a second scan that the mapping has since", { tags: ["long"] }, async () => {
    const field = await mendedNight({
      config: source([scanOf("In")]),
      files: { "sales.csv": "Ticket,In,Out\nS1,BAD,1780000200\n" },
      mend: ["BAD", "1780000100"],
    });
    await field.write("tickets.config.yaml", source([scanOf("In"), scanOf("Out")]));
    await isToldAndOpen(field, "1:scannedTicket 2:scannedTicket");
    await mend(field, "BAD", "1780000100");
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(acceptedBy(field).slice(2)).toEqual(["scannedTicket S1 1780000100", "scannedTicket S1 1780000200"]);
  });

  test("what a person left out by mending does not come back", { tags: ["long"] }, async () => {
    const field = await mendedNight({
      config: source([SOLD, REFUND]),
      files: { "sales.csv": "Ticket,User,Price,At,Status,RefundedAt\nt1,u1,?,1780000000,refunded,1780000500\n" },
      mend: ["?,1780000000,refunded", "10.00,1780000000,paid"],
    });
    expect(acceptedBy(field).slice(2)).toEqual(["soldTicket t1 1780000000"]);
  });

  test("nor what a person leaves out of it later, and what another row brought is not open", async () => {
    const row = "t1,u1,?,1780000000,refunded,1780000500";
    const field = await mendedNight({
      config: source([SOLD]),
      files: { "sales.csv": `Ticket,User,Price,At,Status,RefundedAt\n${row}\n` },
      mend: ["?", "10.00"],
    });
    await field.write("tickets.config.yaml", source([SOLD, REFUND]));
    await isToldAndOpen(field, "invalidatedTicket");
    const rejects = await field.read("sales.rejects.csv");
    const leftOut = rejects
      .replace("?,1780000000,refunded", "10.00,1780000000,paid")
      .replace(",invalidatedTicket,", ",,");
    await field.write("sales.rejects.csv", leftOut);
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ total: 1, alreadySent: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });

    await field.write("tickets.config.yaml", source([SOLD, REFUND, scanOf("At")]));
    await field.write("more.ndjson", '{"action":"scannedTicket","data":{"ticketId":"t1","orderTime":1780000000}}\n');
    expect((await field.stream(["more.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  });

  test("what is open stays so while the service rejects it, and its first rejects bring it too", {
    tags: ["long"],
  }, async () => {
    const field = await mendedNight({
      config: source([SOLD]),
      files: { "sales.csv": "Ticket,User,Price,At,Status,RefundedAt\nt1,u1,?,1780000000,refunded,1780000500\n" },
      mend: ["?", "10.00"],
    });
    const old = await field.read("sales.rejects.csv");
    await field.write("tickets.config.yaml", source([SOLD, REFUND]));
    await isToldAndOpen(field, "invalidatedTicket");
    await mend(field, "?", "10.00");
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ rejected: 1 });
    field.setFaults();
    const stopped = await field.stream(["sales.csv"]);
    expect(stopped.exitCode, stopped.said).toBe(3);

    await field.write("sales.rejects.csv", old);
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ alreadySent: 1, accepted: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  });

  test("a mended row of which a part was taken, and the rest a run later, is done with both", {
    tags: ["long"],
  }, async () => {
    const field = await openField();
    await field.write("before.ndjson", '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');
    await field.stream(["before.ndjson"]);
    await field.write("tickets.config.yaml", source([SOLD, REFUND]));
    await field.write(
      "sales.csv",
      "Ticket,User,Price,At,Status,RefundedAt\n#REF!,u1,?,1780000000,refunded,1780000500\n",
    );
    expect((await field.stream(["sales.csv"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
    await mend(field, "#REF!,u1,?", "t1,u1,10.00");
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [1] });
    const part = await field.stream(["sales.rejects.csv"]);
    expect(part.summary?.actions, part.said).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    expect((await field.stream(["sales.csv"])).exitCode).toBe(3);
    expect((await field.stream(["sales.rejects.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    const night = await field.stream(["sales.csv"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  });

  test("rejects that name an action close no other", { tags: ["long"] }, async () => {
    const field = await openField();
    await field.write("before.ndjson", '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');
    await field.stream(["before.ndjson"]);
    await field.write("tickets.config.yaml", source([SOLD]));
    await field.write(
      "sales.csv",
      "Ticket,User,Price,At,Status,RefundedAt\nt1,u1,10.00,1780000000,refunded,1780000500\n",
    );
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
    expect((await field.stream(["sales.csv"])).summary?.actions).toMatchObject({ rejected: 1 });
    field.setFaults();
    expect(await mend(field, "u1", "u-1")).toContain(",soldTicket,");
    const old = await field.read("sales.rejects.csv");
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });

    await field.write("tickets.config.yaml", source([SOLD, REFUND]));
    await isToldAndOpen(field, "invalidatedTicket");
    const open = await field.read("sales.rejects.csv");
    await field.write("sales.rejects.csv", old);
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ total: 1, alreadySent: 1 });
    expect((await field.stream(["sales.csv"])).exitCode).toBe(3);
    await field.write("sales.rejects.csv", open);
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ total: 1, accepted: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(acceptedBy(field)).toEqual(["soldTicket t1 1780000000", "invalidatedTicket t1 1780000500"]);
  });

  test("a row of which not even the action can be read gives nothing more", { tags: ["long"] }, async () => {
    const field = await openField();
    const rows = [
      '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}',
      '{"action":"soldTicket","data":{"eventId":"E","ticketId":"S1","userId":"u","price":"1","orderTime":1780000000}}',
      '{"action":"scan","data":{"ticketId":"S1","orderTime":1780000100}}',
    ];
    await field.write("sales.ndjson", `${rows.join("\n")}\n`);
    expect((await field.stream(["sales.ndjson"], { maxInvalid: { rows: 1 } })).exitCode).toBe(4);
    const rejects = await field.read("sales.rejects.ndjson");
    await field.write("sales.rejects.ndjson", rejects.replace('"scan"', '"scannedTicket"'));
    expect((await field.stream(["sales.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
    const night = await field.stream(["sales.ndjson"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  });

  test("of a row that can be read since, its rejects send what is open as they are", async () => {
    const field = await mendedNight({
      config: source([SOLD]),
      files: { "sales.csv": 'Ticket,User,Price,At,Status,RefundedAt\nt1,u1,"10,00",1780000000,refunded,1780000500\n' },
      mend: ['"10,00"', "10.00"],
    });
    const readable = SOLD.replace('"{Price}"', '{from: "{Price}", decimal: ","}');
    await field.write("tickets.config.yaml", source([readable, REFUND]));
    await isToldAndOpen(field, "invalidatedTicket");
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ total: 1, accepted: 1 });
    expect((await field.stream(["sales.csv"])).summary).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
  });
});

describe("what the service took of a row itself is no part of what is open beside its mended one", {
  tags: ["long"],
}, () => {
  const IMAGE = (column: string): string =>
    `updateTicket: {when: {${column}: {empty: false}}, fields: {imageUrl: "https://i.example/{${column}}.png"}}`;
  const UNTIMED = (column: string): string => `scannedTicket: {when: {${column}: {empty: false}}, fields: {}}`;

  /** An event with a ticket, and a night whose row the service takes without the items of these numbers. */
  async function rejectedNight(actions: readonly string[], row: string, items: readonly number[]): Promise<Field> {
    const field = await openSold("S1");
    await field.write("tickets.config.yaml", source(actions));
    await field.write("sales.csv", `Ticket,One,Two,More\n${row}\n`);
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [...items] });
    const night = await field.stream(["sales.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ rejected: items.length });
    field.setFaults();
    return field;
  }

  const SCANS = [scanOf("One"), scanOf("Two")];
  const SCANNED = "S1,1780000100,1780000200,x";

  test.each([
    ["with another time", "S1,1780000150,1780000200", "1:scannedTicket", ["scannedTicket S1 1780000150"]],
    ["without it", "S1,,1780000200", "1:scannedTicket", []],
    ["without it, and with no more in tickets:actions", "S1,,1780000200", "", []],
    [
      "with another time, and with no more in tickets:actions",
      "S1,1780000150,1780000200",
      "",
      ["scannedTicket S1 1780000150"],
    ],
  ] as const)("a rejected scan that is mended %s", async (_, row, open, sent) => {
    const field = await rejectedNight(SCANS, SCANNED, [0]);
    const before = acceptedBy(field);
    const rejects = await field.read("sales.rejects.csv");
    expect(rejects).toContain(",1:scannedTicket,");
    const mendedRow = rejects.replace("S1,1780000100,1780000200", row).replace(",1:scannedTicket,", `,${open},`);
    await field.write("sales.rejects.csv", mendedRow);
    expect((await field.stream(["sales.rejects.csv"])).exitCode).toBe(0);
    const night = await field.stream(["sales.csv"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(night.said).toContain("mended-unsure: sales.csv:2");
    expect(acceptedBy(field)).toEqual([...before, ...sent]);
    // What the mapping has since is open all the same.
    await field.write("tickets.config.yaml", source([...SCANS, "invalidatedTicket: {fields: {}}"]));
    await isToldAndOpen(field, "invalidatedTicket");
    await field.write("tickets.config.yaml", source([...SCANS, 'scannedTicket: {fields: {orderTime: "1780000300"}}']));
    expect((await field.stream(["sales.csv"])).said).toContain("mended-gives-more");
  });

  test("it does not stand for what is open of its kind", { tags: ["long"] }, async () => {
    const actions = [...SCANS, 'invalidatedTicket: {fields: {orderTime: "{More}"}}'];
    const field = await rejectedNight(actions, "S1,1780000100,1780000200,1780000300", [0, 2]);
    const rejects = await field.read("sales.rejects.csv");
    expect(rejects).toContain(",1:scannedTicket invalidatedTicket,");
    await field.write(
      "sales.rejects.csv",
      rejects.replace("1780000300", "1780000301").replace("1:scannedTicket invalidated", "invalidated"),
    );
    expect((await field.stream(["sales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    const told = await field.stream(["sales.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said).toContain("mended-gives-more");
    expect(told.said).toContain("1:scannedTicket");
  });

  test("it stays in its history: a scan without a time that another row brings is one more", {
    tags: ["long"],
  }, async () => {
    const field = await rejectedNight([UNTIMED("One"), UNTIMED("Two")], "S1,y,y,x", [0]);
    await mend(field, "S1,y,y,x", "S1,y,y,z");
    expect((await field.stream(["sales.rejects.csv"], { again: true })).summary?.actions).toMatchObject({
      accepted: 1,
    });
    await field.write("sales.csv", "Ticket,One,Two,More\nS1,y,y,x\nS1,y,,new\n");
    const night = await field.stream(["sales.csv"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 }, actions: { accepted: 1 } });
    expect((await field.stream(["sales.csv"])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 1 });
  });

  test.each([
    ["update", [IMAGE("One"), IMAGE("Two")], "S1,a,b,x", "S1,,b,x"],
    ["scan without a time", [UNTIMED("One"), UNTIMED("Two")], "S1,y,y,x", "S1,,y,x"],
  ] as const)(
    "it was sent already where its number is that of the rejected one, which was taken out: %s",
    async (_, actions, row, now) => {
      const field = await rejectedNight(actions, row, [0]);
      const before = acceptedBy(field);
      await mend(field, row, now);
      const mended = await field.stream(["sales.rejects.csv"]);
      expect(mended.summary, mended.said).toMatchObject({ exitCode: 0, actions: { total: 1, alreadySent: 1 } });
      expect(mended.said).not.toContain("--again");
      expect(acceptedBy(field)).toEqual(before);
    },
  );

  test("an update that is back to what was accepted before another one is told as before", async () => {
    const field = await rejectedNight([IMAGE("One"), IMAGE("Two")], "S1,a,b,x", [0]);
    await field.write(
      "more.ndjson",
      '{"action":"updateTicket","data":{"ticketId":"S1","imageUrl":"https://i.example/c.png"}}\n',
    );
    expect((await field.stream(["more.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
    await mend(field, "S1,a,b,x", "S1,,b,x");
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 0, alreadySent: 0, superseded: 1 });
  });

  test("a scan that has lost its time is not that one, which its row still gives", async () => {
    const field = await rejectedNight(
      ['scannedTicket: {fields: {orderTime: "{One}"}}', UNTIMED("Two")],
      "S1,1780000100,y,x",
      [0],
    );
    await mend(field, "S1,1780000100,y", "S1,,y");
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ total: 1, alreadySent: 0 });
  });
});

describe("rejects that name an action by its number", () => {
  /** Rows of a gate of which the service rejects one scan, and the accepted ones. */
  const rejectedNight = async (config: string, item: number): Promise<Field> => {
    const field = await openSold("S1");
    await field.write("tickets.config.yaml", config);
    await field.write("sales.csv", "Ticket,Pre,In,Out\nS1,1780000050,1780000100,1780000200\n");
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [item] });
    expect((await field.stream(["sales.csv"])).summary?.actions).toMatchObject({ rejected: 1 });
    field.setFaults();
    return field;
  };
  const UPDATE = 'updateTicket: {fields: {imageUrl: "https://img.example.com/{Ticket}.png"}}';

  test.each([
    ["2:scannedTicket", [scanOf("In"), scanOf("Out")], 1, [scanOf("Pre"), scanOf("In"), scanOf("Out")], 2],
    ["scannedTicket", [scanOf("In"), UPDATE], 0, [scanOf("Pre"), scanOf("In"), UPDATE], 2],
  ] as const)("are a problem where the mapping numbers otherwise: %s", async (open, then, item, now, rest) => {
    const field = await rejectedNight(source(then), item);
    expect(await field.read("sales.rejects.csv")).toContain(`,${open},`);
    const sent = acceptedBy(field);
    await field.write("tickets.config.yaml", source(now));
    const misread = await field.stream(["sales.rejects.csv"]);
    expect(misread.exitCode, misread.said).toBe(3);
    expect(misread.said).toContain("rejects-misread");
    expect(misread.said).toContain(`which one ${open} means can't be told`);
    // Told anew, it stands in rejects of its own, and is as unclear there.
    await field.stream(["sales.rejects.csv"], { maxInvalid: { rows: 1 } });
    expect((await field.stream(["sales.rejects.rejects.csv"])).exitCode).toBe(3);
    expect(acceptedBy(field)).toEqual(sent);

    const emptied = (await field.read("sales.rejects.csv")).replace(`,${open},`, ",,");
    await field.write("sales.rejects.csv", emptied);
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: rest, alreadySent: 1 });
  });

  test("are read as they were written where the mapping was put right, or has other actions too", {
    tags: ["long"],
  }, async () => {
    const field = await rejectedNight(source([scanOf("In"), scanOf("Out")]), 1);
    await field.write("tickets.config.yaml", source([UPDATE, scanOf("In"), scanOf("Out").replace("{Out}", "{Pre}")]));
    const mended = await field.stream(["sales.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ total: 1, accepted: 1 });
    expect(acceptedBy(field).slice(1)).toEqual(["scannedTicket S1 1780000100", "scannedTicket S1 1780000050"]);
  });
});

describe("a mended row whose lookup says something else the next night", () => {
  const images = ({ sandbox }: Field): readonly string[] =>
    Array.from(sandbox.engine.processed()).flatMap(({ action, data }) =>
      action === "updateTicket" ? String((JSON.parse(data) as Record<string, unknown>).imageUrl).slice(-1) : [],
    );
  const UPDATED =
    'updateTicket: {each: {in: "{order.Images}", match: "(?<x>[A-Z])"}, fields: {imageUrl: "https://i.example.com/{item.x}"}}';
  const openOrder = (): Promise<Field> =>
    mendedNight({
      config: source([SOLD, UPDATED], LOOKUP),
      files: {
        "orders.csv": "Ref,Images\nR1,A\n",
        "sales.csv": 'Ticket,Order,User,Price,At\nT1,R1,u,"10,00",1780000000\n',
      },
      mend: ['"10,00"', "10.00"],
    });

  test("in the place of what was accepted is told, and nothing is sent on a guess", { tags: ["long"] }, async () => {
    const field = await openOrder();
    await field.write("orders.csv", "Ref,Images\nR1,B\n");
    const night = await field.stream(["sales.csv"]);
    expect(night.summary, night.said).toMatchObject({ exitCode: 0, rows: { mended: 1 } });
    expect(night.said).toContain(
      "mended-unsure: sales.csv:2 The row was mended, and its updateTicket was accepted; this",
    );
    expect(images(field)).toEqual(["A"]);
  });

  test("beside what was accepted sends it from the rejects: its own deeds did not come after it", {
    tags: ["long"],
  }, async () => {
    const field = await openOrder();
    await field.write("orders.csv", "Ref,Images\nR1,A B\n");
    await isToldAndOpen(field, "2:updateTicket");
    await mend(field, '"10,00"', "10.00");
    const rest = await field.stream(["sales.rejects.csv"]);
    expect(rest.summary?.actions, rest.said).toMatchObject({ accepted: 1, superseded: 0 });
    expect(images(field)).toEqual(["A", "B"]);
    expect((await field.stream(["sales.csv"])).summary?.rows).toMatchObject({ mended: 1 });
  });
});

type Kind = readonly [
  action: string,
  header: string,
  one: string,
  two: string,
  bad: string,
  good: (name: string) => string,
];
const KINDS: readonly Kind[] = [
  [
    "updateTicket",
    "ticketId,imageUrl",
    "T1,#REF!",
    "T2,#REF!",
    "#REF!",
    (name: string) => `https://i.example.com/${name}`,
  ],
  ["updateEvent", "eventId,shopUrl", "E,#REF!", "F,#REF!", "#REF!", (name: string) => `https://i.example.com/${name}`],
  ["resoldTicket", "ticketId,userId,price,orderTime", "T1,a,?,", "T2,a,?,", "a,?", (name: string) => `u${name},1.00`],
  ["scannedTicket", "ticketId,orderTime", "T1,?", "T2,?", "?", () => ""],
];
const WALKS = forWalks(KINDS, 2);
const NAME = "a mended row of a history without times: %s";

function isKnown(...[action, header, one, two, bad, good]: Kind): void {
  const tellsApart = action !== "scannedTicket";
  const accepted = (field: Field): number => acceptedBy(field).filter((each) => each.startsWith(action)).length;

  /** Two bad rows, in their rejects. */
  async function openRejected(): Promise<Field> {
    const field = await openField();
    const events = ["E", "F"].map((eventId) => ({ action: "newEvent", data: { eventId, currency: "EUR" } }));
    const sales = ["T1", "T2"].map((ticketId) => ({
      action: "soldTicket",
      data: { eventId: "E", ticketId, userId: "u", price: "1", orderTime: 1780000000 },
    }));
    await field.write("before.ndjson", [...events, ...sales].map((each) => `${JSON.stringify(each)}\n`).join(""));
    await field.stream(["before.ndjson"]);
    const text = `action,${header}\n${action},${one}\n${action},${two}\n`;
    await field.write("log.csv", text);
    expect((await field.stream(["log.csv"], { maxInvalid: { rows: 2 } })).exitCode).toBe(4);
    return field;
  }
  const mendOne = async (field: Field, from: string, to: string): Promise<void> => {
    const rejects = await field.read("log.rejects.csv");
    expect(rejects).toContain(from);
    await field.write("log.rejects.csv", rejects.replace(from, to));
  };
  const mended = (row: string, name: string): string => row.replace(bad, good(name));

  test("is known when its rejects are streamed once more, and the next one of the file is sent", {
    tags: ["long"],
  }, async () => {
    const field = await openRejected();
    await mendOne(field, one, mended(one, "1"));
    const first = await field.stream(["log.rejects.csv"], { maxInvalid: { rows: 1 } });
    expect(first.summary?.actions, first.said).toMatchObject({ accepted: 1 });
    await mendOne(field, two, mended(two, "1"));
    const both = await field.stream(["log.rejects.csv"]);
    expect(both.summary?.actions, both.said).toMatchObject({ accepted: 1, alreadySent: 1 });
    const again = await field.stream(["log.rejects.csv"]);
    expect([again.exitCode, again.summary?.actions.alreadySent], again.said).toEqual([0, 2]);
    expect(accepted(field)).toBe(2);
    expect((await field.stream(["log.csv"])).summary?.rows).toMatchObject({ mended: 2 });
  });

  test("is known where its answer was lost, and a person has settled it as sent", { tags: ["long"] }, async () => {
    const field = await openRejected();
    await mendOne(field, one, mended(one, "1"));
    await mendOne(field, two, mended(two, "1"));
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
    const doubt = await field.stream(["log.rejects.csv"]);
    expect(doubt.exitCode, doubt.said).toBe(6);
    field.setFaults();
    const decision = { decision: "sent", chunk: undefined, first: undefined, reason: "test" } as const;
    const { context } = makeContext(field.folder, field.env);
    await verbs.settle({ run: String(doubt.summary?.run), ...decision, json: false, waitLock: 0, flags: {} }, context);
    expect((await field.stream(["log.rejects.csv"])).exitCode).toBe(0);
    const again = await field.stream(["log.rejects.csv"]);
    expect([again.exitCode, again.summary?.actions.alreadySent], again.said).toEqual([0, 2]);
    expect(accepted(field)).toBe(2);
  });

  test.runIf(tellsApart)("that says something else than what was accepted of it was changed", async () => {
    const field = await openRejected();
    await mendOne(field, one, mended(one, "1"));
    await mendOne(field, two, mended(two, "1"));
    await field.stream(["log.rejects.csv"]);
    await mendOne(field, mended(one, "1"), mended(one, "2"));
    const other = await field.stream(["log.rejects.csv"]);
    expect(other.summary?.actions, other.said).toMatchObject({ accepted: 0, alreadySent: 2, changed: 1 });
    expect(other.said).toContain("1 action changed since it was accepted; not sent again");
    expect((await field.stream(["log.rejects.csv"], { again: true })).summary?.actions.accepted).toBeGreaterThan(0);
    const known = await field.stream(["log.rejects.csv"]);
    expect(known.summary?.actions, known.said).toMatchObject({ accepted: 0, changed: 0 });
  });
}

describe.each(WALKS.short)(NAME, isKnown);
describe.each(WALKS.long)(NAME, { tags: ["long"] }, isKnown);
