/** Of one history something later was accepted while an action was in doubt: sent now, it would undo that. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Field, makeContext, type Options, openField, verbs } from "../support/context.ts";
import { forWalks } from "../support/walks.ts";

interface Given {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const update = (ticketId: string, image: string): Given => ({
  action: "updateTicket",
  data: { ticketId, imageUrl: `https://img.example/${image}` },
});
const updateOfEvent = (image: string): Given => ({
  action: "updateEvent",
  data: { eventId: "E", coverImageUrl: `https://img.example/${image}` },
});
const scan = (ticketId: string, orderTime?: number): Given => ({
  action: "scannedTicket",
  data: { ticketId, ...(orderTime !== undefined && { orderTime }) },
});
const resale = (ticketId: string, userId: string, orderTime?: number): Given => ({
  action: "resoldTicket",
  data: { ticketId, userId, price: "1", ...(orderTime !== undefined && { orderTime }) },
});
const claim = (ticketId: string, userId: string): Given => ({ action: "claimedTicket", data: { ticketId, userId } });
const text = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** What tells which deed a row is: what it says, or a key of its source. */
const WAYS = ["of a plain input", "of a source with a key"] as const;
type Way = (typeof WAYS)[number];
const WALKS = forWalks(WAYS, 2);

/** Rows `{Id, action, ...data}`. */
const KEYED = `sources:
  night:
    match: "night*.ndjson"
    key: "{Id}"
    actions:
      - updateTicket: {when: {action: updateTicket}, fields: {ticketId: "{ticketId}", imageUrl: "{imageUrl}"}}
      - updateEvent: {when: {action: updateEvent}, fields: {eventId: "{eventId}", coverImageUrl: "{coverImageUrl}"}}
      - scannedTicket: {when: {action: scannedTicket}, fields: {ticketId: "{ticketId}", orderTime: "{orderTime}"}}
      - claimedTicket: {when: {action: claimedTicket}, fields: {ticketId: "{ticketId}", userId: "{userId}"}}
      - resoldTicket: {when: {action: resoldTicket}, fields: {ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}}
`;
const COLUMNS = { ticketId: "", imageUrl: "", eventId: "", coverImageUrl: "", userId: "", price: "", orderTime: "" };

/** Tickets T1 and T2 of event E, T3 of event F. */
async function openSold(): Promise<Field> {
  const field = await openField();
  const sales = Object.entries({ T1: "E", T2: "E", T3: "F" }).map(([ticketId, eventId]) => ({
    action: "soldTicket",
    data: { eventId, ticketId, userId: "u", price: "1", orderTime: 100 },
  }));
  const events = ["E", "F"].map((eventId) => ({ action: "newEvent", data: { eventId, currency: "EUR" } }));
  await field.write("sales.ndjson", text([...events, ...sales]));
  expect((await field.stream(["sales.ndjson"])).exitCode).toBe(0);
  return field;
}

interface NightOptions {
  readonly way?: Way;
  readonly chunkSize?: number;
  readonly lanes?: number;
  readonly faults?: readonly object[];
}

/** The service says of the actions with these numbers something that leaves them in doubt. A single one it has not taken. */
async function doubtOf(
  items: readonly number[],
  actions: readonly Given[],
  { way = WAYS[0], chunkSize = 10, lanes = 1, faults }: NightOptions = {},
): Promise<Field> {
  const field = await openSold();
  const isKeyed = way === "of a source with a key";
  if (isKeyed) await field.write("tickets.config.yaml", KEYED);
  const rows = actions.map(({ action, data }, at) => ({ Id: at + 1, action, ...COLUMNS, ...data }));
  await field.write("night.ndjson", text(isKeyed ? rows : actions));
  const fault =
    items.length === 1
      ? { fault: "failure-items", items, body: { status: "failed", actionPromise: "p" }, on: { request: 1 } }
      : { fault: "missing-promise", items, on: { request: 1 } };
  field.setFaults(...(faults ?? [fault]));
  const { exitCode, said } = await field.stream(["night.ndjson"], { flags: { chunkSize, lanes } });
  expect(exitCode, said).toBe(6);
  field.setFaults();
  return field;
}

const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;

const openRun = async (field: Field): Promise<string> => (await field.runs())[0]?.run ?? "";

async function person(field: Field, says: Partial<Pick<Options<"settle">, "decision" | "chunk" | "first">> = {}) {
  const { context, said } = makeContext(field.folder, field.env);
  const exitCode = await verbs.settle(
    { ...OPTIONS, run: await openRun(field), reason: "looked", yes: true, ...NOTHING, ...says },
    context,
  );
  return { exitCode, said: said() };
}
const NOTHING = { decision: undefined, chunk: undefined, first: undefined };

async function goOn(field: Field) {
  const { context, said } = makeContext(field.folder, field.env);
  const exitCode = await verbs.resume({ ...OPTIONS, run: undefined, maxDuration: undefined }, context);
  return { exitCode, said: said() };
}

const CHANGES: ReadonlySet<unknown> = new Set([
  ...["updateTicket", "updateEvent", "scannedTicket", "resoldTicket", "claimedTicket"],
]);

/** What the service has taken of the night's actions, in order. */
const taken = ({ sandbox }: Field, ticket?: string): string =>
  Array.from(sandbox.engine.processed())
    .filter(({ action, status }) => status === "success" && CHANGES.has(action))
    .filter(({ ticketId }) => ticket === undefined || ticketId === ticket)
    .map(({ ticketId, eventId, data }) => {
      const { imageUrl, coverImageUrl, userId, orderTime } = JSON.parse(data) as Readonly<Record<string, string>>;
      return `${ticketId ?? eventId}${(imageUrl ?? coverImageUrl)?.slice(-1) ?? userId ?? orderTime ?? ""}`;
    })
    .join(" ");

const rejects = (field: Field) => field.read("night.rejects.ndjson");

test("a scan that was left behind undoes nothing, and its words say so", async () => {
  const field = await doubtOf([0], [scan("T1", 100), scan("T1", 200)]);
  expect((await person(field)).said).toContain("1 action would come after a later one of the same history");
  expect((await person(field, { decision: "not-sent" })).said).toContain("of those not sent 1 superseded");
  expect(await rejects(field)).toContain(
    "scannedTicket was not sent: it would come after a later action of its history",
  );
  const told = await field.stream(["night.rejects.ndjson"]);
  expect(told.said).toContain("sent now, it would come after that one");
});

test("a scan and an update that were left behind are told by one sentence", async () => {
  const given = [scan("T1", 100), update("T2", "A"), scan("T1", 200), update("T2", "B")];
  const field = await doubtOf([0, 1], given);
  expect((await person(field)).said).toContain("2 actions would undo or come after a later one of the same history");
  const settled = await person(field, { decision: "not-sent" });
  expect(settled.said).toContain(
    "a later action of the same history was accepted meanwhile, and now they would come after it.",
  );
});

test.each(WAYS)("a claim that was left behind is not sent behind another recipient's, %s", async (way) => {
  const field = await doubtOf([0], [claim("T1", "ann"), claim("T1", "ben"), claim("T2", "cat")], { way });
  expect((await person(field)).said).toContain("1 action would undo a later one of the same history");
  expect((await person(field, { decision: "not-sent" })).said).toContain("of those not sent 1 superseded");
  expect((await goOn(field)).exitCode).toBe(4);
  expect(taken(field)).toBe("T1ben T2cat");
  expect(await rejects(field)).toContain("claimedTicket was not sent: it would undo a later action of its history");
});

function isClosed(way: Way): void {
  test("is shown as such, and when a person says that it was not sent it is closed, told and counted", async () => {
    const field = await doubtOf([0, 2], [update("T1", "A"), update("T1", "B"), update("T2", "A")], { way });
    const shown = await person(field);
    expect(shown.said).toContain("1 action would undo a later one of the same history that was accepted");
    const settled = await person(field, { decision: "not-sent" });
    expect(settled.said).toContain("stream the rows in the rejects with --again");
    expect(settled.said).toContain("3 actions: 1 accepted, 2 not sent; of those not sent 1 superseded");
    const resumed = await goOn(field);
    expect(resumed.exitCode).toBe(4);
    expect(resumed.said).toContain("3 actions: 2 accepted, 1 not sent; of those not sent 1 superseded");
    expect(taken(field)).toBe("T1A T1B T2A T2A");
    expect(await rejects(field)).toContain("would undo a later action of its history");
  });

  test("is not sent by its rejects, nor by a full export, which say so; only with --again", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "B")], { way });
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(4);
    const ofRejects = await field.stream(["night.rejects.ndjson"]);
    expect(ofRejects.said).toContain("history-superseded");
    expect(ofRejects.summary?.actions).toMatchObject({ total: 1, notSent: 1, superseded: 1 });
    const night = await field.stream(["night.ndjson"]);
    expect(night.said).toContain("history-superseded");
    expect(night.summary?.actions).toMatchObject({ total: 2, alreadySent: 1, notSent: 1, superseded: 1 });
    expect(taken(field)).toBe("T1B");
    expect((await field.stream(["night.rejects.ndjson"], { again: true })).exitCode).toBe(0);
    expect(taken(field)).toBe("T1B T1A");
    expect((await field.stream(["night.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 2, notSent: 0 });
  });

  test("is sent where what was accepted later says the same, or is of another ticket", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "A"), update("T2", "B")], { way });
    expect((await person(field)).said).not.toContain("something later");
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(0);
    expect(taken(field)).toBe("T1A T2B T1A");
  });

  test("is judged by the times where both have one, and where these are equal by its place, also by a later stream", async () => {
    const field = await doubtOf(
      [0, 1],
      [resale("T1", "a", 200), resale("T2", "b", 100), resale("T1", "c", 200), resale("T2", "d", 200)],
      { way },
    );
    expect((await person(field)).said).toContain("2 actions would undo a later one");
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toBe("T1a T2b T1c T2d");
    for (const name of ["night.ndjson", "night.rejects.ndjson"]) {
      const again = await field.stream([name]);
      expect(again.said).toContain("history-superseded");
      // In the rejects a resale of the time of an accepted one is that one.
      const { accepted, rejected, superseded = 0, changed = 0 } = again.summary?.actions ?? {};
      expect([accepted, rejected, superseded + changed], again.said).toEqual([0, 0, 2]);
    }
  });

  test("is closed where it concerns an event, or a resale lacks its time", async () => {
    const field = await doubtOf(
      [0, 1],
      [updateOfEvent("A"), resale("T1", "a", 200), resale("T1", "b"), updateOfEvent("B")],
      { way },
    );
    expect((await person(field, { decision: "not-sent" })).said).toContain("2 superseded");
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toBe("EA T1a T1b EB");
  });

  test("is closed also when the later one is settled as sent after it", async () => {
    const field = await doubtOf([0, 1], [update("T1", "A"), update("T1", "B"), update("T2", "A")], { way });
    expect((await person(field, { decision: "not-sent", chunk: 2, first: 1 })).said).not.toContain("superseded");
    const settled = await person(field, { decision: "sent" });
    expect(settled.said).toContain("1 accepted, 1 settled by hand, 1 not sent; of those not sent 1 superseded");
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toBe("T1A T1B T2A");
  });

  test("of a run that was closed is not sent by its rejects either", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "B")], { way });
    await person(field, { decision: "abandon" });
    expect((await person(field, { decision: "not-sent" })).said).toContain("1 superseded");
    expect((await field.stream(["night.rejects.ndjson"])).summary?.actions).toMatchObject({ superseded: 1 });
    expect(taken(field)).toBe("T1B");
  });

  test("keeps its place where nothing later was accepted", async () => {
    const field = await doubtOf([1], [update("T1", "A"), update("T1", "B"), update("T1", "C")], { way, chunkSize: 2 });
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(0);
    expect(taken(field)).toBe("T1A T1B T1C");
    expect(existsSync(join(field.folder, "night.rejects.ndjson"))).toBe(false);
    expect(readdirSync(field.folder)).toContain("night.local.promises.ndjson");
  });

  test("is closed also in a part of a chunk that was split", async () => {
    const field = await doubtOf(
      [0],
      [update("T1", "A"), update("T2", "A"), update("T1", "B"), update("T2", "B"), update("T1", "C")],
      {
        way,
        faults: [
          { fault: "status", status: 413, on: { itemsOver: 3 } },
          { fault: "missing-promise", items: [0], on: { request: 2 } },
        ],
      },
    );
    expect((await person(field, { decision: "not-sent" })).said).toContain("of those not sent 1 superseded");
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toBe("T1A T2A T1B T2B T1C");
  });
}

describe.each(WALKS.short)("an action %s in doubt of which something later was accepted", isClosed);
describe.each(WALKS.long)("an action %s in doubt of which something later was accepted", { tags: ["long"] }, isClosed);

function isSuperseded(way: Way): void {
  test("is superseded, by whichever file it comes again", async () => {
    const field = await openSold();
    const isKeyed = way === "of a source with a key";
    if (isKeyed) await field.write("tickets.config.yaml", KEYED);
    const given = [update("T1", "A"), updateOfEvent("A"), resale("T1", "ann"), scan("T2")];
    const later = [update("T1", "B"), updateOfEvent("B"), resale("T1", "ben")];
    const rows = [...given, ...later].map(({ action, data }, at) => ({ Id: at + 1, action, ...COLUMNS, ...data }));
    await field.write("night.ndjson", text(isKeyed ? rows.slice(0, 4) : given));
    await field.write("night-2.ndjson", text(isKeyed ? rows.slice(4) : later));
    field.setFaults({ fault: "status", status: 429, on: { request: 1 } });
    expect((await field.stream(["night.ndjson"], { flags: { retries: 0 } })).exitCode).toBe(7);
    field.setFaults();
    await person(field, { decision: "abandon" });
    expect((await field.stream(["night-2.ndjson"])).summary?.actions).toMatchObject({ accepted: 3 });
    for (const again of ["night.rejects.ndjson", "night.ndjson"]) {
      const { summary, said } = await field.stream([again]);
      const isFirst = again === "night.rejects.ndjson";
      expect(summary?.actions, said).toMatchObject({ accepted: isFirst ? 1 : 0, superseded: 3 });
    }
    const whole = await field.stream(["night.ndjson", "night-2.ndjson"]);
    expect(whole.summary?.actions, whole.said).toMatchObject({ accepted: 0, alreadySent: 4, superseded: 3 });
  });
}

describe.each(WALKS.short)("an action %s that was closed unsent, of which something later was accepted", isSuperseded);
describe.each(WALKS.long)(
  "an action %s that was closed unsent, of which something later was accepted",
  { tags: ["long"] },
  isSuperseded,
);

describe("a scan in doubt of which a later one was accepted", () => {
  test.each([
    { way: WAYS[0], closed: ["T1200", "T2100", "T1100", "T2200", "T3", "T3300", "T1200"], superseded: 2 },
    // Its key says which it is, and a scan undoes nothing.
    {
      way: WAYS[1],
      closed: ["T1200", "T2100", "T1100", "T2200", "T3", "T3300", "T1200", "T2100", "T3"],
      superseded: 0,
    },
  ])("$way", async ({ way, closed, superseded }) => {
    const field = await doubtOf(
      [0, 1, 4],
      [scan("T1", 200), scan("T2", 100), scan("T1", 100), scan("T2", 200), scan("T3"), scan("T3", 300)],
      { way },
    );
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(superseded === 0 ? 0 : 4);
    expect(taken(field).split(" ")).toEqual(closed);
  });
});

describe("a source that", () => {
  const MOVES = (key: string) => `sources:
  moves:
    match: "moves*.csv"
    ${key}
    actions: [{updateTicket: {fields: {ticketId: T1, imageUrl: "https://img.example/{Image}"}}}]
`;

  test("has a key sees what one without it has sent, and the reverse", async () => {
    for (const [items, closed] of [
      [[0], "T1A T1B"],
      [[1], "T1B T1A"],
    ] as const) {
      const field = await openSold();
      await field.write("tickets.config.yaml", MOVES('key: "{Id}"'));
      await field.write("moves.csv", "Id,Image\n1,A\n");
      await field.write("plain.ndjson", text([update("T1", "B")]));
      const files = items[0] === 0 ? ["moves.csv", "plain.ndjson"] : ["plain.ndjson", "moves.csv"];
      field.setFaults({ fault: "missing-promise", items: [0], on: { request: 1 } });
      expect((await field.stream(files)).exitCode).toBe(6);
      expect((await person(field, { decision: "not-sent" })).said).toContain("1 superseded");
      expect(taken(field)).toBe(closed);
    }
  });

  test.each(["", 'key: "x{Id}"'])(
    "loses its key, or has another (%s), sends nothing that was superseded",
    async (key) => {
      const field = await openSold();
      await field.write("tickets.config.yaml", MOVES('key: "{Id}"'));
      await field.write("moves.csv", "Id,Image\n1,A\n2,B\n");
      field.setFaults({ fault: "missing-promise", items: [0], on: { request: 1 } });
      expect((await field.stream(["moves.csv"])).exitCode).toBe(6);
      await person(field, { decision: "not-sent" });
      expect((await goOn(field)).exitCode).toBe(4);
      await field.write("tickets.config.yaml", MOVES(key));
      await field.write("moves-1.csv", "Id,Image\n1,A\n");
      const again = await field.stream(["moves-1.csv"]);
      expect(again.said).toContain("history-superseded");
      expect(taken(field)).toBe("T1A T1B");
    },
  );
});
