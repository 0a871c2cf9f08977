/** What was accepted is not sent again, whatever happened around it. */

import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Field, makeContext, openField, processedBy, verbs } from "../support/context.ts";

const lines = (...actions: readonly object[]): string =>
  actions.map((action) => `${JSON.stringify(action)}\n`).join("");
const newEvent = (eventId: string): object => ({ action: "newEvent", data: { eventId, currency: "EUR" } });
const sold = (ticketId: string, userId = "u1"): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId, price: "10.00", orderTime: 1768600000 },
});
const updated = (imageUrl: string): object => ({ action: "updateTicket", data: { ticketId: "T", imageUrl } });
const resold = (userId: string, orderTime: number): object => ({
  action: "resoldTicket",
  data: { ticketId: "T", userId, price: "11.00", orderTime },
});
const checkedIn = (ticketId: string, orderTime: number): object => ({
  action: "checkedInTicket",
  data: { ticketId, orderTime },
});
const url = (name: string): string => `https://img.example.com/${name}.png`;

/** Closes the last run; its doubts stay. */
const abandon = (field: Field): Promise<void> => settleLast(field, "abandon");

async function settleLast(field: Field, decision: "abandon" | "sent"): Promise<void> {
  await field.settle(decision);
}

const rejecting = (...items: readonly number[]): object => ({ on: { request: 1 }, fault: "failure-items", items });

/** An event and a ticket that was sold. */
async function openSold(): Promise<Field> {
  const field = await openField();
  await field.write("base.ndjson", lines(newEvent("E"), sold("T")));
  expect((await field.stream(["base.ndjson"])).exitCode).toBe(0);
  return field;
}

/** What the service has accepted of one kind, by one field of its data, in order. */
function acceptedOf({ sandbox }: Field, kind: string, field: string): readonly unknown[] {
  return Array.from(sandbox.engine.processed())
    .filter(({ action, status }) => action === kind && status === "success")
    .map(({ data }) => (JSON.parse(data) as Record<string, unknown>)[field]);
}

const images = (field: Field): string =>
  acceptedOf(field, "updateTicket", "imageUrl")
    .map((text) => String(text).replace(/.*\/|\.png/g, ""))
    .join(" ");

describe("a history without times", () => {
  test("a rejected update is not sent again once a later one was accepted, whatever becomes of its row", async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("c"))));
    field.setFaults(rejecting(1));
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 2, rejected: 1 });
    field.setFaults();

    const again = await field.stream(["updates.ndjson"]);
    expect(again.exitCode).toBe(0);
    expect(again.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2, notSent: 1, superseded: 1 });
    expect(again.said).toContain("history-superseded: updates.ndjson:2");
    expect((await field.stream(["updates.rejects.ndjson"])).summary?.actions).toMatchObject({
      superseded: 1,
      accepted: 0,
    });

    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b2")), updated(url("c"))));
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 2, late: 1 });
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("c"))));
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 2, notSent: 0 });
    expect(images(field)).toBe("a c");

    await field.write("alone.ndjson", lines(updated(url("b"))));
    expect((await field.stream(["alone.ndjson"], { again: true })).summary?.actions).toMatchObject({ accepted: 1 });
    expect(images(field)).toBe("a c b");
  });

  test("a rejected update that nothing followed is tried again", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b"))));
    field.setFaults(rejecting(1));
    await field.stream(["updates.ndjson"]);
    field.setFaults();
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
    expect(images(field)).toBe("a b");
  });

  test("of several rows that came late, each one is named", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("z"))));
    await field.stream(["updates.ndjson"]);
    await field.write("updates.ndjson", lines(...["a", "b", "c", "d", "z"].map((name) => updated(url(name)))));
    const night = await field.stream(["updates.ndjson"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 0, late: 4 });
    expect(night.said).toContain("history-late (4 times");
    expect(night.said).toContain("Not sent either: updates.ndjson:2, updates.ndjson:3, updates.ndjson:4.");
    const short = await field.stream(["updates.ndjson"], { maxProblems: 2 });
    expect(short.said).toContain("Not sent either: updates.ndjson:2, updates.ndjson:3 and 1 more.");
    // One that is news stands first, and those that were reported before are named all the same.
    await field.write("updates.ndjson", lines(...["e", "a", "b", "c", "d", "z"].map((name) => updated(url(name)))));
    const more = await field.stream(["updates.ndjson"]);
    expect(more.said).toContain("(5 times");
    expect(more.said).toMatch(/Not sent either: updates\.ndjson:\d, .+, updates\.ndjson:6?5\./);
  });

  test("a row that came late is told and not sent; streamed on its own it is, and then all is known", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("c"))));
    await field.stream(["updates.ndjson"]);
    await field.write(
      "updates.ndjson",
      lines(updated(url("a")), updated(url("b")), updated(url("c")), updated(url("d"))),
    );
    const night = await field.stream(["updates.ndjson"]);
    expect(night.exitCode).toBe(0);
    expect(night.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 2, notSent: 1, late: 1 });
    expect(night.said).toContain("history-late: updates.ndjson:2");
    expect(night.said).toContain("1 not sent, 2 already sent; of those not sent 1 late");

    await field.write("late.ndjson", lines(updated(url("b"))));
    expect((await field.stream(["late.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, late: 0 });
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 4, notSent: 0 });
    expect(images(field)).toBe("a c d b");
  });

  test("files in another order send nothing again", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("one.ndjson", lines(updated(url("a")), updated(url("b"))));
    await field.write("two.ndjson", lines(updated(url("c")), updated(url("d"))));
    await field.stream(["one.ndjson", "two.ndjson"]);
    const turned = await field.stream(["two.ndjson", "one.ndjson"]);
    expect(turned.summary?.actions).toMatchObject({ alreadySent: 4, notSent: 0 });
    expect(images(field)).toBe("a b c d");
  });

  test("of a row with two updates of which one is rejected, the accepted one is never sent again", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const config = `sources:
  pairs:
    match: "pairs*.csv"
    fields: {ticketId: T}
    actions:
      - updateTicket: {fields: {imageUrl: "{One}"}}
      - updateTicket: {fields: {mediaUrl: "{Other}"}}
`;
    await field.write("tickets.config.yaml", config);
    await field.write("pairs.csv", `One,Other\n${url("a")},${url("b")}\n`);
    field.setFaults(rejecting(1));
    expect((await field.stream(["pairs.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    expect((await field.stream(["pairs.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    expect((await field.stream(["pairs.csv"])).summary?.actions).toMatchObject({ alreadySent: 2, accepted: 0 });
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toEqual([url("a"), undefined]);
  });

  test("what repeats in a way that can't be told is a problem that shows both sides, and --again sends it", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("a"))));
    await field.stream(["updates.ndjson"]);
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 3 });
    await field.write("piece.ndjson", lines(updated(url("b"))));
    const unclear = await field.stream(["piece.ndjson"]);
    expect(unclear.exitCode).toBe(3);
    expect(unclear.said).toContain("[history-unclear]");
    expect(unclear.said).toContain(
      `imageUrl ${url("a")}; imageUrl ${url("b")}; imageUrl ${url("a")}. This input: imageUrl ${url("b")}.`,
    );
    expect(unclear.said).toContain("--again");
    expect((await field.stream(["piece.ndjson"], { again: true })).summary?.actions).toMatchObject({ accepted: 1 });
  });
});

describe("a row that is invalid tonight", () => {
  const bad = (imageUrl: string): object => updated(imageUrl);

  test("sends nothing again of its history, nothing new beside it, and all that is new once it is mended", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("c"))));
    await field.stream(["updates.ndjson"]);

    await field.write(
      "updates.ndjson",
      lines(updated(url("a")), bad("no address"), updated(url("c")), updated(url("d"))),
    );
    const night = await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.exitCode).toBe(4);
    expect(night.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    expect(night.summary?.rows).toMatchObject({ invalid: 1, held: 1 });

    await field.write(
      "updates.ndjson",
      lines(updated(url("a")), updated(url("b")), updated(url("c")), updated(url("d"))),
    );
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 3 });
    expect(images(field)).toBe("a b c d");
  });

  test("leaves nothing open where it stands in the place of an accepted one, and the rejects leave it out", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("c"))));
    await field.stream(["updates.ndjson"]);
    await field.write("updates.ndjson", lines(updated(url("a")), bad("no address"), updated(url("c"))));
    const night = await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.exitCode).toBe(4);
    expect(night.summary).toMatchObject({ rejects: [], next: null, rows: { invalid: 1, held: 0 } });
    expect(night.said).toContain(
      "1 invalid row stands for an action that was accepted already, so the rejects leave it out.",
    );
  });

  test.each(["input", "time"] as const)("leaves open what else it gives, by %s", async (order) => {
    const field = await openSold();
    await field.write("more.ndjson", lines(...["A", "B", "C", "V"].map((ticketId) => sold(ticketId))));
    await field.stream(["more.ndjson"]);
    const config = `sources:
  pairs:
    match: "pairs*.csv"
    actions:
      - updateTicket: {fields: {ticketId: T, imageUrl: "{One}"}}
      - updateTicket: {fields: {ticketId: "{Other}", imageUrl: "https://img.example.com/{Other}.png"}}
`;
    await field.write("tickets.config.yaml", config);
    const rows = (second: string): string => `One,Other\n${url("a")},A\n${second}\n${url("c")},C\n`;
    await field.write("pairs.csv", rows(`${url("b")},B`));
    expect((await field.stream(["pairs.csv"], { order })).summary?.actions).toMatchObject({ accepted: 6 });
    await field.write("pairs.csv", rows("no address,V"));
    const night = await field.stream(["pairs.csv"], { order, maxInvalid: { rows: 5 } });
    expect(night.summary?.rows).toMatchObject({ invalid: 1 });
    const rejects = await field.read("pairs.rejects.csv");
    expect(rejects).toContain(",2:updateTicket,");

    await field.write("pairs.rejects.csv", rejects.replace("no address", url("b2")));
    const mended = await field.stream(["pairs.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ total: 1, accepted: 1 });
    expect(images(field).split(" ").sort().join(" ")).toBe("A B C V a b c");
  });

  test("is late once what waited for it was streamed without it", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(bad("no address"), updated(url("b"))));
    await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    const [cause, held, ...others] = (await field.read("updates.rejects.ndjson")).trimEnd().split("\n");
    expect([cause, held]).toEqual([
      expect.stringContaining("no address"),
      expect.stringContaining("depends-on-invalid"),
    ]);
    expect(others).toEqual([]);
    await field.write("updates.rejects.ndjson", `${held}\n`);
    expect((await field.stream(["updates.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });

    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b"))));
    const mended = await field.stream(["updates.ndjson"]);
    expect(mended.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 1, late: 1 });
    expect(mended.said).toContain("history-late: updates.ndjson:1");
    expect(images(field)).toBe("b");
  });

  test("holds what stands before it too, the first night as any", async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), bad("no address"), updated(url("c"))));
    const night = await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.actions).toMatchObject({ accepted: 0 });
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("c"))));
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 3 });
    expect(images(field)).toBe("a b c");
  });

  test.each(["input", "time"] as const)("stands for what was accepted when it was mended, by %s", async (order) => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(bad("no address")));
    await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    await field.write(
      "updates.rejects.ndjson",
      (await field.read("updates.rejects.ndjson")).replace("no address", url("a")),
    );
    expect((await field.stream(["updates.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });

    await field.write("updates.ndjson", lines(bad("no address"), updated(url("b"))));
    const second = await field.stream(["updates.ndjson"], { order });
    expect(second.summary).toMatchObject({ rows: { mended: 1 }, actions: { total: 1, accepted: 1 } });

    // It says what the mended row said, and is a deed of its own.
    await field.write("updates.ndjson", lines(bad("no address"), updated(url("b")), updated(url("a"))));
    const third = await field.stream(["updates.ndjson"], { order });
    expect(third.summary?.actions).toMatchObject({ total: 2, alreadySent: 1, accepted: 1 });
    expect((await field.stream(["updates.ndjson"], { order })).summary?.actions).toMatchObject({ alreadySent: 2 });

    await field.write(
      "updates.ndjson",
      lines(updated(url("c")), bad("no address"), updated(url("b")), updated(url("a"))),
    );
    const late = await field.stream(["updates.ndjson"], { order });
    expect(late.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2, late: 1 });
    expect(images(field)).toBe("a b a");
  });

  test("comes too late in its rejects once a later one was accepted, and so does what waited for it", async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), bad("no address"), updated(url("c"))));
    await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    await field.write("more.ndjson", lines(updated(url("d"))));
    expect((await field.stream(["more.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
    await field.write(
      "updates.rejects.ndjson",
      (await field.read("updates.rejects.ndjson")).replace("no address", url("b")),
    );
    const mended = await field.stream(["updates.rejects.ndjson"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 0, superseded: 3 });
    expect(mended.said).toContain(
      "Its row was rejected, and the service has accepted another updateTicket of the same ticket since",
    );
    expect(images(field)).toBe("d");
  });

  test("holds the updates of its event", async () => {
    const field = await openSold();
    const renamed = (eventName: unknown): object => ({ action: "updateEvent", data: { eventId: "E", eventName } });
    await field.write("events.ndjson", lines(renamed("One"), renamed(2), renamed("Three")));
    const night = await field.stream(["events.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.actions).toMatchObject({ accepted: 0 });
    expect(acceptedOf(field, "updateEvent", "eventName")).toEqual([]);
  });
});

test("a newEvent of which only an update was accepted is sent with a warning, or held where its rule is an error", {
  tags: ["long"],
}, async () => {
  const field = await openField();
  await field.write("elsewhere.ndjson", lines(newEvent("E")));
  await field.stream(["elsewhere.ndjson"], {}, { env: { TICKETS_STATE_DIR: join(field.folder, "elsewhere") } });
  const renamed = { action: "updateEvent", data: { eventId: "E", eventName: "Gala" } };
  await field.write("event.ndjson", lines(newEvent("E"), renamed));
  const first = await field.stream(["event.ndjson"]);
  expect(first.summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
  expect(first.said).not.toContain("[event-registered-late]");
  const night = await field.stream(["event.ndjson"]);
  expect(night.summary?.actions).toMatchObject({ rejected: 1, alreadySent: 1 });
  expect(night.said).toContain('comes after an updateEvent of "E", which was accepted before this input');
  expect((await field.stream(["event.ndjson"], { again: true })).said).not.toContain("[event-registered-late]");
  await field.write("tickets.config.yaml", "rules: {event-registered-late: error}\n");
  expect((await field.stream(["event.ndjson"])).exitCode).toBe(3);
  expect(processedBy(field.sandbox)).toBe("E (E) E (E) (E) E");
});

test("an id that is a number with an exponent is not sent, since the next export may write it otherwise", {
  tags: ["long"],
}, async () => {
  const field = await openSold();
  const scan = (ticketId: string): string => `{"ticketId":${ticketId},"orderTime":1768600005}\n`;
  await field.write("scans.ndjson", scan("1.5e3"));
  const night = await field.stream(["scans.ndjson"]);
  expect(night.exitCode).toBe(3);
  expect(night.said).toContain('ticketId: "1.5e3" ticketId is a number that another export may write otherwise');
  await field.write(
    "tickets.config.yaml",
    'sources: {s: {match: "gate*", actions: [scannedTicket: {fields: {ticketId: "{id}", orderTime: "{at}"}}]}}\n',
  );
  await field.write("gate.ndjson", '{"id":1.5e3,"at":1768600005}\n');
  expect((await field.stream(["gate.ndjson"])).said).toContain("[id-number-spelling]");
  await field.write("items.ndjson", '{"action":"scannedTicket","data":{"ticketId":1.5e3,"orderTime":1768600005}}\n');
  expect((await field.stream(["items.ndjson"])).said).toContain("[field-type]");
  expect(acceptedOf(field, "scannedTicket", "ticketId")).toEqual([]);
  // Whole numbers and texts are taken by what stands there.
  await field.write("scans.ndjson", `${scan("1500")}${scan('"1.5e3"')}`);
  expect((await field.stream(["scans.ndjson"])).said).not.toContain("[id-number-spelling]");
});

test("a history of which --limit leaves a part out is not guessed to be in order, with a key or without", {
  tags: ["long"],
}, async () => {
  for (const key of ["", '    key: "{Id}"\n']) {
    const field = await openSold();
    const actions = '    actions: [{updateTicket: {fields: {imageUrl: "https://img.example.com/{Image}.png"}}}]\n';
    await field.write(
      "tickets.config.yaml",
      `sources:\n  moves:\n    match: "moves*.csv"\n${key}    fields: {ticketId: T}\n${actions}`,
    );
    await field.write("moves.csv", "Id,Image\n2,b\n");
    await field.stream(["moves.csv"]);
    await field.write("moves.csv", "Id,Image\n1,a\n2,b\n");
    const canary = await field.stream(["moves.csv"], { limit: 1 });
    expect(canary.exitCode).toBe(3);
    expect(canary.said).toContain("can't be told, since --limit leaves rows out");
    expect((await field.stream(["moves.csv"], { limit: 2 })).summary?.actions).toMatchObject({ accepted: 0, late: 1 });
    expect(images(field)).toBe("b");
  }
});

test.each(["warn", "off"])("what registers is sent once, also where the rule that says so is %s", async (severity) => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `rules: {ticket-sold-twice: ${severity}, event-registered-twice: ${severity}}\n`,
  );
  await field.write("sales.ndjson", lines(newEvent("E"), newEvent("E"), sold("T"), sold("T"), sold("T", "u2")));
  const night = await field.stream(["sales.ndjson"]);
  expect(night.summary?.actions, night.said).toMatchObject({ total: 5, accepted: 2, alreadySent: 3 });
  expect(night.said).toContain("deed-repeated");
  expect(processedBy(field.sandbox)).toBe("E T");
});

describe("a history with times", () => {
  test("of resales, a rejected one is not sent once a later one was accepted, nor one that came late", async () => {
    const field = await openSold();
    const [two, three, four] = [resold("u2", 1768600001), resold("u3", 1768600003), resold("u4", 1768600004)];
    await field.write("resales.ndjson", lines(two, three, four));
    field.setFaults(rejecting(1));
    await field.stream(["resales.ndjson"]);
    field.setFaults();
    const again = await field.stream(["resales.ndjson"]);
    expect(again.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2, superseded: 1 });
    await field.write("resales.ndjson", lines(two, resold("u9", 1768600002), four));
    const late = await field.stream(["resales.ndjson"]);
    expect(late.summary?.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, late: 1 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["u2", "u4"]);
  });

  test("a resale of an earlier time than an accepted one is late, in any file, but with --again", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const resales = async (name: string, of: readonly object[], again = false) => {
      await field.write(name, lines(...of));
      const night = await field.stream([name], { again });
      return { said: night.said, actions: night.summary?.actions };
    };
    const [ann, cid] = [resold("ann", 1768600100), resold("cid", 1768600300)];
    expect((await resales("full.ndjson", [cid])).actions).toMatchObject({ accepted: 1 });
    expect((await resales("delta.ndjson", [ann], true)).actions).toMatchObject({ accepted: 1 });
    const [bob, dan] = [resold("bob", 1768600200), resold("dan", 1768600300)];
    const full = await resales("full.ndjson", [ann, bob, cid, dan, resold("eve", 1768600400)]);
    expect(full.actions, full.said).toMatchObject({ accepted: 2, alreadySent: 2, late: 1, notSent: 1 });
    expect(full.said).toContain("history-late: full.ndjson:2");
    expect(full.said).toContain("a resoldTicket of the same ticket with a later orderTime (full.ndjson:1)");
    expect((await resales("delta.ndjson", [bob])).actions).toMatchObject({ accepted: 0, late: 1 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["cid", "ann", "dan", "eve"]);

    // A person may send it all the same, and then it is known.
    expect((await resales("delta.ndjson", [bob], true)).actions).toMatchObject({ accepted: 1 });
    expect((await resales("full.ndjson", [ann, bob, cid])).actions).toMatchObject({ alreadySent: 3, late: 0 });
  });

  test("a resale of an earlier time that was bad at first is late once it is mended", { tags: ["long"] }, async () => {
    const field = await openSold();
    const row = (userId: string, price: string, orderTime: number): string => `T,${userId},${price},${orderTime}\n`;
    const header = "ticketId,userId,price,orderTime\n";
    await field.write("resales-1.csv", `${header}${row("cid", "10.00", 1768600300)}`);
    expect((await field.stream(["resales-1.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    await field.write("resales-2.csv", `${header}${row("bob", "ten", 1768600200)}`);
    await field.stream(["resales-2.csv"], { maxInvalid: { rows: 1 } });
    const rejects = await field.read("resales-2.rejects.csv");
    await field.write("resales-2.rejects.csv", rejects.replace("ten", "10.00"));
    const mended = await field.stream(["resales-2.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 0, late: 1 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["cid"]);
  });

  test("of resales, one that was mended in its rejects is not sent behind a later one; a scan is", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const scanned = { action: "scannedTicket", data: { ticketId: "T", orderTime: 1768600009 } };
    await field.write("moves.ndjson", lines({ ...resold("u2", 1768600001) }, scanned, resold("u3", 1768600003)));
    field.setFaults(rejecting(0, 1));
    expect((await field.stream(["moves.ndjson"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 2 });
    field.setFaults();
    const later = { action: "scannedTicket", data: { ticketId: "T", orderTime: 1768600019 } };
    await field.write("later.ndjson", lines(later));
    expect((await field.stream(["later.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
    const rejects = await field.read("moves.rejects.ndjson");
    await field.write("moves.rejects.ndjson", rejects.replace("11.00", "12.00").replace("1768600009", "1768600008"));
    const mended = await field.stream(["moves.rejects.ndjson"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 1, superseded: 1 });
    expect(mended.said).toContain("history-superseded: moves.rejects.ndjson:1");
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["u3"]);
  });

  test("resales that later get their times are the same", async () => {
    const field = await openSold();
    const untimed = (userId: string): object => ({
      action: "resoldTicket",
      data: { ticketId: "T", userId, price: "11.00" },
    });
    await field.write("resales.ndjson", lines(untimed("u2"), untimed("u3")));
    await field.stream(["resales.ndjson"]);
    await field.write(
      "resales.ndjson",
      lines(resold("u2", 1768600001), resold("u3", 1768600002), resold("u4", 1768600003)),
    );
    const timed = await field.stream(["resales.ndjson"]);
    expect(timed.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 2, changed: 2 });
    expect(timed.said).toContain("orderTime (none) → 1768600001");
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["u2", "u3", "u4"]);
  });

  test("scans that later get their times are the same, and so are times that were lost again", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const scanned = (orderTime?: number): object => ({ action: "scannedTicket", data: { ticketId: "T", orderTime } });
    const scans = async (...of: readonly object[]) => {
      await field.write("scans.ndjson", lines(...of));
      return (await field.stream(["scans.ndjson"])).summary?.actions;
    };
    expect(await scans(scanned(), scanned())).toMatchObject({ accepted: 2 });
    expect(await scans(scanned(), scanned())).toMatchObject({ alreadySent: 2, changed: 0 });
    expect(await scans(scanned(1768600009), scanned(1768600001))).toMatchObject({ alreadySent: 2, changed: 2 });
    expect(await scans(scanned(), scanned(), scanned(1768600020))).toMatchObject({ accepted: 1, alreadySent: 2 });
    expect(await scans(scanned(), scanned(), scanned())).toMatchObject({ accepted: 0, alreadySent: 3, changed: 1 });
  });
});

describe("a file that holds its rows twice", () => {
  const scans = (...times: readonly number[]): string =>
    `ticketId,orderTime\n${times.map((at) => `T,${at}\n`).join("")}`;
  const times = (field: Field): readonly unknown[] => acceptedOf(field, "scannedTicket", "orderTime");
  const [ONE, TWO, _MINUTE] = [1768700011, 1768700022, 1768700040];

  test("sends none of those of one second, the first night or any other; which are two goes with --again", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("scans.csv", scans(ONE, TWO, ONE, TWO));
    const first = await field.stream(["scans.csv"]);
    expect(first.exitCode, first.said).toBe(3);
    expect(first.summary?.rows).toMatchObject({ invalid: 4 });
    expect(first.said).toContain(
      "scans.csv:2 The same scannedTicket of this ticket, of the same second, stands at scans.csv:4 too",
    );

    await field.write("scans.csv", scans(ONE, TWO));
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    await field.write("scans.csv", scans(ONE, TWO, ONE, TWO, TWO + 1));
    const appended = await field.stream(["scans.csv"], { maxInvalid: { rows: 5 } });
    expect(appended.summary, appended.said).toMatchObject({
      rows: { invalid: 2, held: 1 },
      actions: { accepted: 0, alreadySent: 2 },
    });
    // Without the others, the copies are what was accepted.
    const rejects = await field.stream(["scans.rejects.csv"]);
    expect(rejects.summary?.actions, rejects.said).toMatchObject({ accepted: 1, alreadySent: 2 });
    expect(times(field)).toEqual([ONE, TWO, TWO + 1]);

    await field.write("row.csv", scans(ONE));
    const row = await field.stream(["row.csv"], { again: true, action: "scannedTicket" });
    expect(row.summary?.actions, row.said).toMatchObject({ accepted: 1 });
    await field.write("scans.csv", scans(ONE, TWO, ONE));
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 3 });
  });
});

describe("claims", () => {
  const claimed = (data: object): object => ({ action: "claimedTicket", data: { ticketId: "T", ...data } });
  const wallet = "0x52908400098527886E0F7030069857D2E4169EE7";

  test("of one ticket are the same where their recipients agree as far as both give them", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const claims = async (...of: readonly object[]) => {
      await field.write("claims.ndjson", lines(...of));
      return (await field.stream(["claims.ndjson"])).summary?.actions;
    };
    expect(await claims(claimed({ to: wallet, orderTime: 1768600001 }))).toMatchObject({ accepted: 1 });
    const named = claimed({ to: wallet.toLowerCase(), userId: "u1", orderTime: 1768600001 });
    expect(await claims(named)).toMatchObject({ accepted: 0, alreadySent: 1, changed: 1 });
    const other = { to: "0x8617E340B3D01FA5F11F306F4090FD50E238070D", orderTime: 1768600002 };
    expect(await claims(named, claimed(other), claimed({ ...other, userId: "u2" }))).toMatchObject({
      // The sandbox takes one claim of a ticket; that it was asked for this one is what matters here.
      rejected: 1,
      alreadySent: 2,
    });
  });
});

describe("an action that is pending in another run", () => {
  test("is waited for also where what it holds is let go", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("a.ndjson", lines(updated(url("a"))));
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
    expect((await field.stream(["a.ndjson"])).exitCode).toBe(6);
    field.setFaults();
    await abandon(field);
    await field.write("tickets.config.yaml", "rules: {depends-on-invalid: off}\n");
    await field.write("b.ndjson", lines(updated(url("a")), updated("no address"), updated(url("c"))));
    const night = await field.stream(["b.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 0, inDoubt: 1, notSent: 1 });
    expect(images(field)).toBe("a");
  });

  test("makes what depends on it wait, and the end says so", { tags: ["long"] }, async () => {
    const field = await openField();
    await field.write("base.ndjson", lines(newEvent("E"), sold("S"), sold("T")));
    await field.stream(["base.ndjson"]);
    await field.write("sales.ndjson", lines(sold("X"), updated(url("a"))));
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "before" });
    expect((await field.stream(["sales.ndjson"])).exitCode).toBe(6);
    field.setFaults();
    await abandon(field);

    const scanned = (ticketId: string): object => ({
      action: "scannedTicket",
      data: { ticketId, orderTime: 1768700000 },
    });
    await field.write("later.ndjson", lines(scanned("X"), scanned("S"), updated(url("a")), updated(url("b"))));
    const night = await field.stream(["later.ndjson"]);
    expect(night.exitCode).toBe(6);
    expect(night.summary?.actions).toMatchObject({ total: 4, accepted: 1, inDoubt: 1, notSent: 2 });
    expect(night.said).toContain("1 waiting in another run, 2 waiting for what another run holds");
    const rows = [
      "1 action is not sent, since another run may have sent or still send it: later.ndjson:3.",
      "2 actions are not sent, since they wait for what another run holds: later.ndjson:1, later.ndjson:4.",
    ].join("\n");
    expect(night.said).toContain(rows);
    const dry = await field.stream(["later.ndjson"], { dryRun: true });
    expect(dry.said).toContain(rows);
    const planned = makeContext(field.folder, field.env);
    await verbs.plan({ files: ["later.ndjson"], flags: {}, json: false, output: "out.ndjson" }, planned.context);
    expect(planned.said()).toContain(rows);
    expect(planned.said()).toContain("1 waiting in another run, 2 waiting for what another run holds");
    const nothingNew = await field.stream(["later.ndjson"], { maxProblems: 1 });
    expect(nothingNew.said).toContain(
      "they wait for what another run holds: later.ndjson:1 and 1 more row (--max-problems shows more).",
    );
    expect(processedBy(field.sandbox)).toBe("E S T S");
    expect(night.said).toContain("of those not sent 2 waiting");
    const asked = makeContext(field.folder, field.env);
    for (const run of [undefined, night.summary?.run ?? ""])
      await verbs.status({ run, chunk: undefined, maxAge: undefined, json: false, flags: {} }, asked.context);
    expect(
      asked.out().match(/4 actions: 1 accepted, 1 in doubt, 2 not sent; of those not sent 2 waiting/g),
    ).toHaveLength(2);

    const only = await field.stream(["later.ndjson"], { limit: 1 });
    expect(only.exitCode).toBe(6);
    expect(only.summary?.actions).toMatchObject({ total: 1, notSent: 1 });
  });

  test("an event that is not known to be registered makes its sales wait, and what follows them", async () => {
    const field = await openField();
    await field.write("event.ndjson", lines(newEvent("E")));
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "before" });
    await field.stream(["event.ndjson"]);
    field.setFaults();
    await abandon(field);
    await field.write("sales.ndjson", lines(sold("T"), checkedIn("T", 1768700000)));
    const night = await field.stream(["sales.ndjson"]);
    expect(night.exitCode).toBe(6);
    expect(night.summary?.actions).toMatchObject({ total: 2, notSent: 2, inDoubt: 0 });
    expect(processedBy(field.sandbox)).toBe("");
  });
});

test("a deed that repeats one of an invalid row is held back with it, and not taken for sent", async () => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  swaps:
    match: "swaps*.csv"
    fields: {eventId: E, ticketId: "{New}"}
    actions:
      - soldTicket:
          fields: {userId: "u-{New}", price: "1.00", orderTime: "1768600000"}
      - invalidatedTicket:
          when: {Old: {empty: false}}
          fields: {ticketId: "{Old}", orderTime: "1768600001"}
`,
  );
  await field.write("events.ndjson", lines(newEvent("E")));
  await field.write("swaps.csv", "New,Old\nA,\nB,\nA,B\nC,B\n");
  const { summary, exitCode } = await field.stream(["events.ndjson", "swaps.csv"], { maxInvalid: { rows: 2 } });
  expect(exitCode).toBe(4);
  // The third row sells A twice; the fourth invalidates B, as the third would have.
  expect(summary?.rows).toMatchObject({ mapped: 3, invalid: 1, held: 1 });
  expect(summary?.actions).toMatchObject({ accepted: 3, alreadySent: 0 });
  expect(processedBy(field.sandbox)).toBe("E A B");
  expect(await field.read("swaps.rejects.csv")).toContain("C,B,");
});

test("a check-in that stands twice in one input is sent once, and said", async () => {
  const field = await openField();
  await field.write(
    "all.ndjson",
    lines(newEvent("E"), sold("T"), checkedIn("T", 1768700000), checkedIn("T", 1768700060)),
  );
  const { summary, said } = await field.stream(["all.ndjson"]);
  expect(summary?.actions).toMatchObject({ accepted: 3, alreadySent: 1 });
  expect(said).toContain("deed-repeated");
});

test("actions in doubt in a closed run are sent by no other run, not even with --again, and the end says so", async () => {
  const field = await openField();
  await field.write("base.ndjson", lines(newEvent("E"), sold("T")));
  field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
  expect((await field.stream(["base.ndjson"])).exitCode).toBe(6);
  field.setFaults();
  await abandon(field);
  for (const again of [false, true]) {
    const next = await field.stream(["base.ndjson"], { again });
    expect(next.exitCode).toBe(6);
    expect(next.summary?.actions).toMatchObject({ accepted: 0, inDoubt: 2 });
  }
  expect(processedBy(field.sandbox)).toBe("E T");
});

describe("rows of one run that tell of one ticket", () => {
  const file = (header: string, ...rows: readonly string[]): string => `${[header, ...rows].join("\n")}\n`;
  const resales = (...rows: readonly string[]): string => file("ticketId,userId,price,orderTime", ...rows);
  const holders = (field: Field): readonly unknown[] => acceptedOf(field, "resoldTicket", "userId");
  const [SECOND, LATER] = [1780311678, 1780318949];

  test("are a problem where a resale stands behind one of a later time, unless their times give the order", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("resales.csv", resales(`T,b,5,${LATER}`, `T,a,5,${SECOND}`));
    const told = await field.stream(["resales.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said).toContain("resales.csv:3 Another resoldTicket of this ticket stands before it, at resales.csv:2");
    expect(told.said).toContain("resales.csv:2 Another resoldTicket of this ticket stands behind it, at resales.csv:3");
    expect(told.said).toContain("[history-unclear]");
    const some = await field.stream(["resales.csv"], { maxInvalid: { rows: 9 } });
    expect(some.summary?.actions.accepted ?? 0, some.said).toBe(0);
    const sent = await field.stream(["resales.csv"], { order: "time" });
    expect(sent.summary?.actions, sent.said).toMatchObject({ accepted: 2 });
    expect(holders(field)).toEqual(["a", "b"]);
  });
});

describe("two inputs of one run that overlap", () => {
  const scans = (...times: readonly number[]): string =>
    `ticketId,orderTime\n${times.map((at) => `T,${at}\n`).join("")}`;
  const times = (field: Field): readonly unknown[] => acceptedOf(field, "scannedTicket", "orderTime");
  const MONDAY = 1768700000;
  const TUESDAY = 1768800000;

  async function openScanned(): Promise<Field> {
    const field = await openSold();
    await field.write("scans-mon.csv", scans(MONDAY));
    await field.write("scans-tue.csv", scans(MONDAY, TUESDAY));
    return field;
  }

  test.each([
    { again: false, order: "input" },
    { again: false, order: "time" },
    { again: true, order: "input" },
  ] as const)("hold a scan whose time stands in both, and name both places: %j", async (options) => {
    const field = await openScanned();
    const both = await field.stream(["scans-mon.csv", "scans-tue.csv"], options);
    expect(both.exitCode, both.said).toBe(3);
    expect(both.said).toContain("scans-mon.csv:2 The same scannedTicket of this ticket");
    expect(both.said).toContain("stands at scans-tue.csv:2 too");
    expect(both.said).toContain("scans-tue.csv:2 The same scannedTicket of this ticket");
    expect(both.said).toContain("stands at scans-mon.csv:2 too");
    expect(both.said).toContain("[history-unclear]");
    expect(both.said).toMatch(/Give one of the two files.+key.+alone with --again/);
    expect(times(field)).toEqual([]);
  });

  test("send nothing of what one of them brought before, and the second of two equal ones is sent with --again alone", {
    tags: ["long"],
  }, async () => {
    const field = await openScanned();
    await field.stream(["scans-mon.csv"]);
    const both = await field.stream(["scans-mon.csv", "scans-tue.csv"]);
    expect(both.summary?.actions, both.said).toMatchObject({ accepted: 1, alreadySent: 2 });
    await field.write("row.csv", scans(MONDAY));
    const row = await field.stream(["row.csv"], { again: true, action: "scannedTicket" });
    expect(row.summary?.actions, row.said).toMatchObject({ accepted: 1 });
    expect(times(field)).toEqual([MONDAY, TUESDAY, MONDAY]);
  });

  test("are one file given twice where one is the other, packed", { tags: ["long"] }, async () => {
    const field = await openSold();
    const updates = `ticketId,imageUrl\nT,${url("a")}\n`;
    await field.write("updates.csv", updates);
    await field.write("updates.csv.gz", gzipSync(updates));
    await field.write("updates.csv.zst", zstdCompressSync(updates));
    for (const files of [
      ["updates.csv", "updates.csv.gz"],
      ["updates.csv.gz", "updates.csv"],
      ["updates.csv.gz", "updates.csv.zst"],
    ]) {
      const refused = await field.stream(files);
      expect(refused.exitCode).toBe(2);
      expect(refused.said).toContain(`${files[1]} has the same content as ${files[0]}`);
    }
    expect(images(field)).toBe("");
    expect((await field.stream(["updates.csv.gz"])).summary?.actions).toMatchObject({ accepted: 1 });
  });
});

const KEYED_CLAIMS = `sources:
  claims:
    match: "claims*"
    key: "{Id}"
    actions: [claimedTicket: {fields: {ticketId: "{ticketId}", userId: "{userId}", orderTime: "{orderTime}"}}]
`;

describe("claims of several recipients", () => {
  const claims = (...rows: readonly string[]): string => `${["ticketId,userId,orderTime", ...rows].join("\n")}\n`;
  const claimants = (field: Field): readonly unknown[] => acceptedOf(field, "claimedTicket", "userId");
  const [EARLY, LATE] = [1780311678, 1780398078];

  test.each([
    ["with times", EARLY, LATE],
    ["without times", "", ""],
  ])(
    "of a source with a key, of which one was rejected: it does not come behind a later one, %s",
    async (_, ...times) => {
      const field = await openSold();
      await field.write("tickets.config.yaml", KEYED_CLAIMS);
      const [a, b] = [`T,a,${times[0]},1`, `T,b,${times[1]},2`];
      await field.write("claims.csv", `ticketId,userId,orderTime,Id\n${a}\n${b}\n`);
      field.setFaults(rejecting(0));
      expect((await field.stream(["claims.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
      field.setFaults();
      for (const name of ["claims.rejects.csv", "claims.csv"]) {
        const next = await field.stream([name], { maxInvalid: { rows: 9 } });
        expect(next.summary?.actions ?? { accepted: 0, rejected: 0 }, next.said).toMatchObject({
          accepted: 0,
          rejected: 0,
        });
        expect(next.said).toMatch(/history-(late|superseded)/);
      }
    },
  );

  test("of which one was rejected and comes alone, without a time, is superseded", async () => {
    const field = await openSold();
    await field.write("claims.csv", claims("T,a,", "T,b,"));
    field.setFaults(rejecting(0));
    await field.stream(["claims.csv"]);
    field.setFaults();
    await field.write("claims-2.csv", claims("T,a,"));
    const alone = await field.stream(["claims-2.csv"]);
    expect(alone.said).toContain("history-superseded");
    expect(alone.summary?.actions, alone.said).toMatchObject({ accepted: 0, rejected: 0, superseded: 1 });
    // A recipient that the service was not asked for comes behind.
    await field.write("claims-3.csv", claims("T,c,"));
    expect((await field.stream(["claims-3.csv"])).summary?.actions).toMatchObject({ rejected: 1, superseded: 0 });
  });

  test("that comes late, by its time or its place, is told and not sent", async () => {
    const field = await openSold();
    await field.write("claims.csv", claims(`T,b,${LATE}`));
    await field.stream(["claims.csv"]);
    for (const rows of [
      [`T,a,${EARLY}`, `T,b,${LATE}`],
      [`T,b,${LATE}`, `T,a,${EARLY}`],
      ["T,a,", `T,b,${LATE}`],
    ]) {
      await field.write("claims.csv", claims(...rows));
      const next = await field.stream(["claims.csv"]);
      expect(next.said).toContain("history-late");
      expect(next.summary?.actions).toMatchObject({ accepted: 0, late: 1 });
    }
    expect(claimants(field)).toEqual(["b"]);
  });
});
