/** What distinguishes the actions of a doubt, where a person compares them with what the service has. */

import { describe, expect, test } from "vitest";
import { type Field, makeContext, openField, verbs } from "../../support/context.ts";

const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;
const EVENT = { action: "newEvent", data: { eventId: "E", currency: "EUR" } };
const SALE = { action: "soldTicket", data: { eventId: "E", ticketId: "T1", userId: "holder", price: "10.00" } };

interface Doubt extends Field {
  readonly run: string;
}

/** The event and the ticket are there, and what was sent of the actions is in doubt. */
async function doubtOf(actions: readonly object[]): Promise<Doubt> {
  const field = await openField();
  await field.write("sales.ndjson", [EVENT, SALE]);
  expect((await field.stream(["sales.ndjson"])).exitCode).toBe(0);
  await field.write("doubt.ndjson", actions);
  field.setFaults({ fault: "drop", when: "before" });
  const { exitCode, summary } = await field.stream(["doubt.ndjson"]);
  expect(exitCode).toBe(6);
  field.setFaults();
  return { ...field, run: summary?.run ?? "" };
}

async function looked(field: Doubt, verbose = false): Promise<readonly string[]> {
  const { context, said } = makeContext(field.folder, field.env);
  const options = { ...OPTIONS, run: field.run, decision: undefined, chunk: undefined, first: undefined } as const;
  expect(await verbs.settle({ ...options, reason: undefined }, { ...context, verbose })).toBe(6);
  return said().split("\n");
}

async function documents(field: Doubt, verbose = false): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { context, out } = makeContext(field.folder, field.env);
  await verbs.status({ flags: {}, run: field.run, chunk: 1, maxAge: undefined, json: false }, { ...context, verbose });
  return out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line)); // lines of ours
}

const scan = (orderTime?: number): object => ({ action: "scannedTicket", data: { ticketId: "T1", orderTime } });
const resale = (userId: string, price: string, more: object = {}): object => ({
  action: "resoldTicket",
  data: { ticketId: "T1", userId, price, ...more },
});

describe("several actions of one ticket in doubt are distinguished", () => {
  test("scans by their times, as they were sent", async () => {
    const field = await doubtOf([scan(1768600000), scan(1768600060)]);
    const said = await looked(field);
    expect(said).toContain("  doubt.ndjson:1 scannedTicket T1, orderTime 1768600000");
    expect(said).toContain("  doubt.ndjson:2 scannedTicket T1, orderTime 1768600060");
    const same = { source: "doubt.ndjson", action: "scannedTicket", ticketId: "T1", chunk: 1, state: "in doubt" };
    expect(await documents(field)).toEqual([
      { ...same, line: 1, orderTime: 1768600000 },
      { ...same, line: 2, orderTime: 1768600060 },
    ]);
  });

  test("resales by buyer and price: buyers are masked, and shown as they are with --verbose", async () => {
    const field = await doubtOf([
      resale("anna.schmidt-12", "10.00", { orderTime: 1768600000 }),
      resale("anton.schmidt-12", "10.00"),
      resale("bert.maier-77", "12.50", { to: `0x${"ab".repeat(20)}` }),
      resale("anna.schmidt-12", "11.00"),
    ]);
    const said = await looked(field);
    expect(said.filter((line) => line.includes("resoldTicket T1"))).toEqual([
      "  doubt.ndjson:1 resoldTicket T1, userId an…12, price 10.00, orderTime 1768600000",
      "  doubt.ndjson:4 resoldTicket T1, userId an…12, price 11.00",
    ]);
    expect(said.join("\n")).toContain(
      `  … 2 more; all of them: tickets status ${field.run} --chunk 1 --env local\n  doubt.ndjson:4 `,
    );
    expect(said).toContain("  The service works in order: if it has the last one, it has processed them all.");
    expect(await documents(field)).toMatchObject([
      { userId: "an…12", price: "10.00", orderTime: 1768600000 },
      { userId: "an…12", price: "10.00" },
      { userId: "be…77", to: "0x…ab", price: "12.50" },
      { userId: "an…12", price: "11.00" },
    ]);
    expect(await looked(field, true)).toContain(
      "  doubt.ndjson:4 resoldTicket T1, userId anna.schmidt-12, price 11.00",
    );
    expect(await documents(field, true)).toMatchObject([
      ...[
        { userId: "anna.schmidt-12" },
        { userId: "anton.schmidt-12" },
        { userId: "bert.maier-77", to: `0x${"ab".repeat(20)}` },
      ],
      ...[{ userId: "anna.schmidt-12" }],
    ]);
  });

  test("updates by all they carry; a sentence cuts long values, and the chunk's own list has them whole", async () => {
    const [long, longer] = ["x", "y"].map(
      (middle) => `https://example.com/${"a".repeat(40)}${middle}${"b".repeat(40)}.png`,
    );
    const update = (data: object): object => ({ action: "updateTicket", data: { ticketId: "T1", ...data } });
    const traits = [{ trait_type: "Seat", value: "A 1" }];
    const field = await doubtOf([
      update({ imageUrl: long, mediaUrl: "" }),
      update({ imageUrl: null, mediaUrl: "" }),
      update({ imageUrl: "https://example.com/1.png" }),
      update({ imageUrl: longer }),
      update({ imageUrl: null, metadataAttributes: traits }),
    ]);
    expect((await looked(field)).filter((line) => line.includes("updateTicket T1"))).toEqual([
      `  doubt.ndjson:1 updateTicket T1, imageUrl https://example.com/${"a".repeat(40)}…, mediaUrl ""`,
      `  doubt.ndjson:5 updateTicket T1, imageUrl null, metadataAttributes ${JSON.stringify(traits)}`,
    ]);
    expect(await documents(field)).toMatchObject([
      { imageUrl: long, mediaUrl: "" },
      { imageUrl: null, mediaUrl: "" },
      { imageUrl: "https://example.com/1.png" },
      { imageUrl: longer },
      { imageUrl: null, metadataAttributes: traits },
    ]);
  });
});

describe("the words of a settlement fit", () => {
  test("one action", async () => {
    const field = await doubtOf([scan(1768600000)]);
    const said = (await looked(field)).join("\n");
    expect(said).toMatch(/^Chunk 1, 1 action, is in doubt: /m);
    expect(said).toContain("The service would register it twice (scannedTicket).");
    expect(said).toContain("If the service has it:");
    expect(said).toContain("If it does not (it is sent again):");
  });

  test("one action beside others", async () => {
    const field = await doubtOf([
      scan(1768600000),
      { action: "invalidatedTicket", data: { ticketId: "T1", orderTime: 1768600001 } },
    ]);
    const said = (await looked(field)).join("\n");
    expect(said).toMatch(/^Chunk 1, 2 actions, is in doubt: /m);
    expect(said).toContain("The service would probably refuse one of them a second time (invalidatedTicket).");
    expect(said).toContain("The service would register one of them twice (scannedTicket).");
    expect(said).toContain("If the service has them:");
    const settled = await field.settle("sent", { chunk: 1, first: 1 });
    expect(settled.said).toContain("Chunk 1: the first of 2 actions settled as sent.");
    expect(settled.said).toContain("The other one still waits, as chunk 3.");
  });
});
