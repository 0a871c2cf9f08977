/** What was accepted is not sent again, whatever happened around it. */

import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Field, makeContext, openField, processedBy, verbs } from "../support/context.ts";
import type { Summary } from "../support/counts.ts";
import { forWalks } from "../support/walks.ts";

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

  describe("of which one was rejected, and whose contents come back", () => {
    const history = (names: string): string => lines(...names.split(" ").map((name) => updated(url(name))));

    async function openRejected(names: string, rejected: number) {
      const field = await openSold();
      const night = async (given: string, how: { readonly again?: boolean; readonly file?: string } = {}) => {
        const file = how.file ?? "updates.ndjson";
        await field.write(file, history(given));
        const done = await field.stream([file], how.again === true ? { again: true } : {});
        return { ...done, actions: done.summary?.actions };
      };
      field.setFaults(rejecting(rejected));
      await night(names);
      field.setFaults();
      return { field, night };
    }

    test("is no question to a full export, and not once a person has sent the rejected one", async () => {
      const { field, night } = await openRejected("a b a", 1);
      const more = await night("a b a c");
      expect(more.actions, more.said).toMatchObject({ accepted: 1, alreadySent: 2, superseded: 1 });
      expect((await night("a b a c")).actions).toMatchObject({ accepted: 0, alreadySent: 3, superseded: 1 });
      expect((await night("b", { again: true, file: "alone.ndjson" })).actions).toMatchObject({ accepted: 1 });
      const known = await night("a b a c");
      expect(known.actions, known.said).toMatchObject({ accepted: 0, alreadySent: 4 });
      // One of two that say the same was sent: which of them, only the person knows. The other is told.
      expect((await night("a b a c b")).actions).toMatchObject({ accepted: 0, alreadySent: 4, superseded: 1 });
      expect((await night("a b a c b a")).actions).toMatchObject({ accepted: 1, alreadySent: 4, superseded: 1 });
      expect(images(field)).toBe("a a c b a");
    });

    test("is no question where another one says the same, and was accepted", { tags: ["long"] }, async () => {
      const { field, night } = await openRejected("a b a", 0);
      const more = await night("a b a c");
      expect(more.actions, more.said).toMatchObject({ accepted: 1, alreadySent: 2, superseded: 1 });
      expect((await night("a b a c a")).actions).toMatchObject({ accepted: 1, alreadySent: 3, superseded: 1 });
      expect(images(field)).toBe("b a c a");
    });

    test("lets go what follows it, of resales too", { tags: ["long"] }, async () => {
      const field = await openSold();
      const resale = (userId: string): object => ({
        action: "resoldTicket",
        data: { ticketId: "T", userId, price: "11.00" },
      });
      const rows = [resale("u2"), resale("u3"), resale("u2")];
      await field.write("resales.ndjson", lines(...rows));
      field.setFaults(rejecting(0));
      expect((await field.stream(["resales.ndjson"])).summary?.actions).toMatchObject({ accepted: 2, rejected: 1 });
      field.setFaults();
      await field.write("resales.ndjson", lines(...rows, resale("u4")));
      const night = await field.stream(["resales.ndjson"]);
      expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, alreadySent: 2, superseded: 1 });
      expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["u3", "u2", "u4"]);
    });
  });

  test("what follows on a row of which that can't be told is held with it", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), updated(url("a"))));
    await field.stream(["updates.ndjson"]);
    await field.write("piece.ndjson", lines(updated(url("b")), checkedIn("T", 1768600009)));
    const night = await field.stream(["piece.ndjson"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.rows, night.said).toMatchObject({ invalid: 1, held: 1 });
    expect(acceptedOf(field, "checkedInTicket", "ticketId")).toEqual([]);
    await field.stream(["piece.ndjson"], { again: true });
    expect(acceptedOf(field, "checkedInTicket", "ticketId")).toEqual(["T"]);
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

  test("that becomes what was accepted before it is a problem, not what was sent before", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b"))));
    await field.stream(["updates.ndjson"]);
    await field.write("updates.ndjson", lines(updated(url("a")), updated(url("b")), bad("no address")));
    await field.stream(["updates.ndjson"], { maxInvalid: { rows: 5 } });
    const rejects = await field.read("updates.rejects.ndjson");
    await field.write("updates.rejects.ndjson", rejects.replaceAll("no address", url("a")));
    const mended = await field.stream(["updates.rejects.ndjson"], { maxInvalid: { rows: 0 } });
    expect(mended.exitCode).toBe(3);
    expect(mended.said).toContain("can't be told");
  });

  test("that became a deed which another row had brought is not done with", { tags: ["long"] }, async () => {
    const field = await openSold();
    const scanned = (orderTime?: unknown): object => ({ action: "scannedTicket", data: { ticketId: "T", orderTime } });
    await field.write("scans.ndjson", lines(scanned()));
    await field.stream(["scans.ndjson"]);
    await field.write("scans.ndjson", lines(scanned(), scanned("soon")));
    await field.stream(["scans.ndjson"], { maxInvalid: { rows: 5 } });
    await field.write(
      "scans.rejects.ndjson",
      (await field.read("scans.rejects.ndjson")).replace('"soon"', "1768600009"),
    );
    expect((await field.stream(["scans.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 0, changed: 1 });
    const night = await field.stream(["scans.ndjson"]);
    expect(night.summary?.rows).toMatchObject({ invalid: 1, mended: 0 });
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

describe("resales whose prices are written otherwise", () => {
  /** Streams a file of resales, by default the one that is exported every night. */
  async function openResales(config = "") {
    const field = await openSold();
    await field.write("tickets.config.yaml", config);
    const night = async (rows: readonly string[], name = "resales.csv", columns = "ticketId,userId,price") => {
      await field.write(name, [columns, ...rows, ""].join("\n"));
      const { exitCode, said, summary } = await field.stream([name]);
      return { exitCode, said, actions: summary?.actions };
    };
    return { field, night };
  }

  test("are changed where their holders tell them, and what comes behind them is sent", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openResales();
    expect((await night(["T,ben,18.00", "T,carla,21.00"])).actions).toMatchObject({ accepted: 2 });
    const saved = await night(["T,ben,18", "T,carla,21"]);
    expect(saved.exitCode, saved.said).toBe(0);
    expect(saved.actions).toMatchObject({ accepted: 0, alreadySent: 2, changed: 2 });
    expect(saved.said).toContain("price 18.00 → 18");
    const back = await night(["T,ben,18", "T,carla,21.00", "T,dave,23.00", "T,ben,25.00"]);
    expect(back.actions, back.said).toMatchObject({ accepted: 2, alreadySent: 2, changed: 1 });
    const last = await night(["T,ben,18.00", "T,carla,21.00", "T,dave,23", "T,ben,25"]);
    expect(last.actions, last.said).toMatchObject({ accepted: 0, alreadySent: 4, changed: 2 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["ben", "carla", "dave", "ben"]);
  });

  test("are a problem where a ticket may have gone back to someone, and are sent by nobody but a person", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openResales();
    await night(["T,ben,18.00", "T,carla,21.00"]);
    const delta = await night(["T,ben,25.00"], "resales-delta.csv");
    expect(delta.exitCode, delta.said).toBe(3);
    expect(delta.said).toContain("[history-unclear]");
    expect(delta.said).toContain("one to the same user was accepted that says something else, such as another price");
    await field.write("tickets.config.yaml", "rules: {history-unclear: warn}\n");
    expect((await night(["T,ben,25.00"], "resales-delta.csv")).actions).toMatchObject({ accepted: 0, notSent: 1 });
    expect((await field.stream(["resales-delta.csv"], { again: true })).summary?.actions).toMatchObject({
      accepted: 1,
    });
    const full = await night(["T,ben,18.00", "T,carla,21.00", "T,ben,25.00", "T,dave,30.00"]);
    expect(full.actions, full.said).toMatchObject({ accepted: 1, alreadySent: 3 });
  });

  test("of which only the users differ are shown by their rows where contents repeat; the words name what sends the others", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openResales();
    await night(["E,T2,ada,10.00"], "sales.csv", "eventId,ticketId,userId,price");
    const repeated = ["T,ben,18.00", "T,eve,18.00", "T,ben,18.00"];
    await night(repeated);
    const rows = ["T,ben,18.00", "T,dan,18.00", ...repeated.slice(1), "T,eve,18.00", "T2,ben,18.00"];
    const full = await night(rows);
    expect(full.exitCode, full.said).toBe(3);
    expect(full.said).toContain("This input: … price 18.00 (resales.csv:3); price 18.00 (resales.csv:4); price 18.00");
    expect(full.said).toContain(
      "To send the rows that are new and later than all that was accepted, stream them in a file of their own with --again. In the export, let the other rows through with rules: {history-unclear: warn}.",
    );
    const alone = await night(["T,dan,18.00", "T,eve,18.00"], "resales-new.csv");
    expect(alone.exitCode, alone.said).toBe(3);
    expect((await field.stream(["resales-new.csv"], { again: true })).summary?.actions).toMatchObject({ accepted: 2 });
    expect((await night(rows)).exitCode).toBe(3);
    await field.write("tickets.config.yaml", "rules: {history-unclear: warn}\n");
    const others = await night(rows);
    expect(others.actions, others.said).toMatchObject({ accepted: 1, notSent: 5 });
  });

  test("are found though their seconds are cut off too, and the letters of a name in another Unicode form", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openResales();
    const columns = "ticketId,userId,price,orderTime";
    const rows = ["T,ben,18.00,2026-02-01T10:00:11Z", "T,jörg,21.00,2026-02-02T10:00:12Z"];
    expect((await night(rows, "resales.csv", columns)).actions).toMatchObject({ accepted: 2 });
    // Moved by an hour, none of them is earlier than one of then.
    const saved = rows.map((row) => row.replace(".00", "").replace(/T10:00:..Z/, "T11:00:00Z"));
    const told = await night(saved, "resales.csv", columns);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said).toContain("price 21.00 → 21.");
    const untimed = await night(["T,ben,18", `T,${"jörg".normalize("NFD")},21`]);
    expect(untimed.actions, untimed.said).toMatchObject({ accepted: 0, alreadySent: 2, changed: 2 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["ben", "jörg"]);
  });

  test("are one deed in rejects of two nights", { tags: ["long"] }, async () => {
    const { field, night } = await openResales();
    field.setFaults(rejecting(0, 1));
    await night(["T,ben,18.00", "T,carla,21.00"]);
    field.setFaults(rejecting(0, 1));
    await night(["T,ben,18", "T,carla,21"]);
    field.setFaults();
    const rejects = await field.stream(["resales.rejects.csv"]);
    expect(rejects.exitCode, rejects.said).toBe(3);
    expect(rejects.said.match(/\[history-unclear\]/g)).toHaveLength(2);
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual([]);
  });
});

test("a claim is known by its user, in whichever Unicode form its letters are written", {
  tags: ["long"],
}, async () => {
  const field = await openSold();
  const claimed = (userId: string): object => ({ action: "claimedTicket", data: { ticketId: "T", userId } });
  await field.write("claims.ndjson", lines(claimed("jörg")));
  expect((await field.stream(["claims.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
  await field.write("claims.ndjson", lines(claimed("jörg".normalize("NFD"))));
  expect((await field.stream(["claims.ndjson"])).summary?.actions).toMatchObject({ accepted: 0, changed: 1 });
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

  describe("that only some of its resales have", () => {
    const header = "Id,ticketId,userId,price,orderTime\n";
    const carla = "2,T,carla,21.00,1768600009\n";
    const [ben, dora, erin] = ["1,T,ben,18.00,\n", "3,T,dora,25.00,\n", "4,T,erin,26.00,1768600001\n"];

    /** An event, a ticket that was sold, and a source of resales. */
    async function openResales(key: string): Promise<Field> {
      const field = await openSold();
      const fields = ["ticketId", "userId", "price", "orderTime"]
        .map((column) => `${column}: "{${column}}"`)
        .join(", ");
      const actions = `actions: [{resoldTicket: {fields: {${fields}}}}]`;
      await field.write(
        "tickets.config.yaml",
        `sources:\n  resales:\n    match: "resales*.csv"\n${key}    ${actions}\n`,
      );
      return field;
    }

    const holders = (field: Field): readonly unknown[] => acceptedOf(field, "resoldTicket", "userId");

    const WAYS = forWalks(
      ["", '    key: "{Id}"\n'].flatMap((key) => (["input", "time"] as const).map((order) => ({ key, order }))),
      4,
    );
    const areLate = async ({ key, order }: (typeof WAYS.short)[number]): Promise<void> => {
      const field = await openResales(key);
      const resales = async (rows: string, how: { readonly limit?: number } = {}) => {
        await field.write("resales.csv", `${header}${rows}`);
        const { said, summary, exitCode } = await field.stream(["base.ndjson", "resales.csv"], { order, ...how });
        return { said, exitCode, actions: summary?.actions };
      };
      expect((await resales(ben + dora)).actions).toMatchObject({ accepted: 2 });
      const late = await resales(ben + carla + dora);
      expect(late.actions, late.said).toMatchObject({ accepted: 0, late: 1, notSent: 1 });
      expect(late.said).toContain("history-late: resales.csv:3");
      expect(late.said).toContain("of the same ticket were, up to resales.csv:4");
      if (order === "input") {
        const cut = await resales(ben + carla + dora, { limit: 4 });
        expect(cut.said).toContain("can't be told, since --limit leaves rows out");
      }
      // What stands behind all without a time is new, whatever its time says of theirs.
      const night = await resales(ben + dora + erin);
      expect(night.actions, night.said).toMatchObject({ accepted: 1, late: 0 });
      expect((await resales(ben + dora + erin)).actions).toMatchObject({ accepted: 0, late: 0, notSent: 0 });
      expect(holders(field)).toEqual(["ben", "dora", "erin"]);
    };
    const LATE = "come too late before an accepted one without, with the key '$key' and by $order";
    test.each(WAYS.short)(LATE, areLate);
    test.each(WAYS.long)(LATE, { tags: ["long"] }, areLate);

    test.each(["", '    key: "{Id}"\n'])("are told by times that came later, with the key '%s'", async (key) => {
      const field = await openResales(key);
      await field.write("resales.csv", header + ben + dora);
      await field.stream(["resales.csv"]);
      const timed = (row: string, time: number): string => row.replace(",\n", `,${time}\n`);
      await field.write("resales.csv", header + timed(ben, 1768600001) + timed(dora, 1768600010) + carla);
      const late = await field.stream(["resales.csv"]);
      expect(late.summary?.actions, late.said).toMatchObject({ accepted: 0, changed: 2, late: 1 });
      expect(late.said).toContain("with a later orderTime");
      // Though the export gives the newest first.
      await field.write("resales.csv", header + carla + timed(dora, 1768600008) + timed(ben, 1768600001));
      const night = await field.stream(["resales.csv"]);
      expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, changed: 2 });
      expect(holders(field)).toEqual(["ben", "dora", "carla"]);
    });

    test.each(["", '    key: "{Id}"\n'])(
      "come too late once what waited for it was sent, with the key '%s'",
      { tags: ["long"] },
      async (key) => {
        const field = await openResales(key);
        await field.write("resales.csv", header + carla.replace("21.00", "#REF!") + dora);
        await field.stream(["resales.csv"], { maxInvalid: { rows: 5 } });
        const rejects = await field.read("resales.rejects.csv");
        const rows = rejects.split("\n");
        await field.write("resales.rejects.csv", rows.filter((row) => !row.includes("carla")).join("\n"));
        expect((await field.stream(["resales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
        await field.write("resales.csv", header + carla + dora);
        const mended = await field.stream(["resales.csv"]);
        expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 0, alreadySent: 1, late: 1 });
        // Nor do its rejects bring it.
        const alone = rows
          .filter((row) => !row.includes("dora"))
          .join("\n")
          .replace("#REF!", "21.00");
        await field.write("resales.rejects.csv", alone);
        expect((await field.stream(["resales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 0, total: 1 });
        expect(holders(field)).toEqual(["dora"]);
      },
    );

    test.each(["", '    key: "{Id}"\n'])(
      "stood before what was accepted earlier, with the key '%s'",
      { tags: ["long"] },
      async (key) => {
        const field = await openResales(key);
        await field.write("resales.csv", header + ben + dora);
        await field.stream(["resales.csv"]);
        await field.write("resales.csv", header + ben + carla.replace("21.00", "#REF!") + dora);
        await field.stream(["resales.csv"], { maxInvalid: { rows: 5 } });
        const rejects = await field.read("resales.rejects.csv");
        await field.write("resales.rejects.csv", rejects.replace("#REF!", "21.00"));
        const mended = await field.stream(["resales.rejects.csv"]);
        expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 0, late: 1 });
        expect(mended.said).toContain("which came after its row when that was rejected");
        expect(holders(field)).toEqual(["ben", "dora"]);
      },
    );

    test.each(["", '    key: "{Id}"\n'])(
      "are superseded with another price too, with the key '%s'",
      { tags: ["long"] },
      async (key) => {
        const field = await openResales(key);
        await field.write("resales.csv", header + carla + dora);
        field.setFaults(rejecting(0));
        expect((await field.stream(["resales.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
        field.setFaults();
        for (const rows of [carla.replace("21.00", "21") + dora, carla.replace("21.00", "21")]) {
          await field.write("resales.csv", header + rows);
          const night = await field.stream(["resales.csv"]);
          expect(night.summary?.actions, night.said).toMatchObject({ accepted: 0, superseded: 1 });
        }
        expect(holders(field)).toEqual(["dora"]);
      },
    );
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
  const [ONE, TWO, MINUTE] = [1768700011, 1768700022, 1768700040];

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

  test("of two that a person sends again sends both", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("scans.csv", scans(ONE, ONE));
    const both = await field.stream(["scans.csv"], { again: true });
    expect(both.summary?.actions, both.said).toMatchObject({ accepted: 2 });
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ alreadySent: 2 });
  });

  test("sends those by the minute as several, and says so in one line", async () => {
    const field = await openSold();
    await field.write("scans.csv", scans(MINUTE, MINUTE + 60, MINUTE, MINUTE + 60));
    const night = await field.stream(["scans.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 4 });
    expect(night.said.match(/same-minute/g)).toHaveLength(1);
    expect(night.said).toContain("scans.csv:4");
    const known = await field.stream(["scans.csv"]);
    expect(known.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 4 });
    expect(known.said).not.toContain("same-minute");
  });

  test("does not make one of what a row gives several times", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      'sources: {doors: {match: "doors*.csv", actions: [{scannedTicket: {each: {count: "{Persons}"}, fields: {ticketId: T, orderTime: "{At}"}}}]}}\n',
    );
    await field.write("doors.csv", `Persons,At\n3,${ONE}\n`);
    const night = await field.stream(["doors.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 3 });
    await field.write("doors.csv", `Persons,At\n3,${ONE}\n3,${ONE}\n`);
    expect((await field.stream(["doors.csv"])).exitCode).toBe(3);
    expect(times(field)).toHaveLength(3);
  });
});

describe("a deed whose time is told otherwise", () => {
  const SCANS = `sources:
  scans:
    match: "scans*.csv"
    zone: ZONE
    actions: [{scannedTicket: {fields: {ticketId: "{Ticket}", orderTime: {from: "{Time}", format: "FORMAT"}}}}]
`;
  const RESALES = `sources:
  resales:
    match: "resales*.csv"
    zone: ZONE
    actions: [{resoldTicket: {fields: {ticketId: "{Ticket}", userId: "{To}", price: "{Price}", orderTime: {from: "{Time}", format: "FORMAT"}}}}]
`;
  const withKey = (key: string): string => RESALES.replace("zone: ZONE", `zone: ZONE\n    key: "${key}"`);
  const SECONDS = "yyyy-MM-dd HH:mm:ss";
  const MINUTES = "yyyy-MM-dd HH:mm";

  async function openLog(source: string) {
    const field = await openSold();
    await field.write("more.ndjson", lines(sold("T2"), sold("T3")));
    await field.stream(["more.ndjson"]);
    const night = async (zone: string, format: string, file: string, rows: readonly string[], flags: object = {}) => {
      await field.write("tickets.config.yaml", source.replace("ZONE", zone).replace("FORMAT", format));
      await field.write(file, [source === SCANS ? "Ticket,Time" : "Ticket,To,Price,Time", ...rows, ""].join("\n"));
      const done = await field.stream([file], flags);
      return { ...done, actions: done.summary?.actions };
    };
    return { field, night };
  }

  const LOG = ["T,2026-02-10 20:01:11", "T2,2026-02-10 20:02:12", "T,2026-02-10 22:40:13"];
  const withoutSeconds = (row: string): string => row.slice(0, -3);

  test.each<[string, string, string, readonly string[], string]>([
    ["in another zone", "Europe/Berlin", SECONDS, LOG, "2026-02-10 20:01:11 UTC) (scans.csv:2), read in another zone"],
    ["in a zone of India", "Asia/Kolkata", SECONDS, LOG, "(2026-02-10 14:31:11 UTC)"],
    ["without its seconds", "UTC", MINUTES, LOG.map(withoutSeconds), "(scans.csv:2), with or without its seconds"],
    ["both ways", "Europe/Berlin", MINUTES, LOG.map(withoutSeconds), "(2026-02-10 19:01:00 UTC)"],
  ])("is a problem, not a new one: %s", async (_, zone, format, rows, said) => {
    const { field, night } = await openLog(SCANS);
    expect((await night("UTC", SECONDS, "scans.csv", LOG)).actions).toMatchObject({ accepted: 3 });
    const told = await night(zone, format, "scans.csv", rows);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.summary?.rows).toMatchObject({ invalid: 3 });
    expect(told.said).toContain("[history-unclear]");
    expect(told.said).toContain(said);
    // Its rejects say nothing else.
    expect((await night(zone, format, "scans.csv", rows, { maxInvalid: { rows: 5 } })).actions?.accepted).toBe(0);
    expect((await field.stream(["scans.rejects.csv"])).exitCode).toBe(3);
    // As it was, all is known.
    expect((await night("UTC", SECONDS, "scans.csv", LOG)).actions).toMatchObject({ accepted: 0, alreadySent: 3 });
    expect(acceptedOf(field, "scannedTicket", "ticketId")).toEqual(["T", "T2", "T"]);
  });

  test("goes unsent where the rule is a warning, and what is new goes", async () => {
    const { field, night } = await openLog(SCANS);
    await night("UTC", SECONDS, "scans.csv", LOG);
    const warn = SCANS.concat("rules: {history-unclear: warn}\n");
    await field.write("scans.csv", ["Ticket,Time", ...LOG, "T3,2026-02-10 23:00:05", ""].join("\n"));
    await field.write("tickets.config.yaml", warn.replace("ZONE", "Europe/Berlin").replace("FORMAT", SECONDS));
    const done = await field.stream(["scans.csv"]);
    expect(done.summary?.actions, done.said).toMatchObject({ accepted: 1, notSent: 3 });
    expect(acceptedOf(field, "scannedTicket", "ticketId")).toEqual(["T", "T2", "T", "T3"]);
  });

  test("is a problem in chains of resales too, by the minute, and with what would let the others go", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openLog(RESALES);
    const rows = ["T,b,5,2026-02-01 10:00", "T,c,6,2026-02-02 10:00", "T2,d,7,2026-02-02 10:00"];
    expect((await night("Europe/Berlin", MINUTES, "resales.csv", rows)).actions).toMatchObject({ accepted: 3 });
    for (const zone of ["UTC", "Asia/Tokyo"]) {
      const told = await night(zone, MINUTES, "resales.csv", rows);
      expect(told.exitCode, told.said).toBe(3);
      expect(told.said.match(/\[history-unclear\]/g)).toHaveLength(3);
      await night(zone, MINUTES, "resales.csv", rows, { maxInvalid: { rows: 3 } });
    }
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["b", "c", "d"]);
  });

  test.each<[string, (rows: readonly string[]) => readonly string[], string]>([
    ["beside it", (rows) => rows, "T"],
    ["that the export does not have any more", (rows) => rows.filter((row) => !row.startsWith("T,c")), "T"],
    ["of a source whose rows have keys", (rows) => rows, "T key"],
    [
      "with a key that the export does not have any more",
      (rows) => rows.filter((row) => !row.startsWith("T,c")),
      "T key",
    ],
  ])("lets no resale pass that was rejected before one %s", async (_, shown, key) => {
    const { field, night } = await openLog(key === "T" ? RESALES : withKey("{Ticket} {To}"));
    const rows = ["T,b,5,2026-02-01 10:00:07", "T,c,6,2026-02-01 10:30:08", "T2,d,7,2026-02-02 10:00:09"];
    field.setFaults({ fault: "failure-items", items: [0] });
    expect((await night("Europe/Berlin", SECONDS, "resales.csv", rows)).actions).toMatchObject({ accepted: 2 });
    field.setFaults();
    const told = await night("UTC", SECONDS, "resales.csv", shown(rows), { maxInvalid: { rows: 3 } });
    expect(told.actions?.accepted, told.said).toBe(0);
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["c", "d"]);
  });

  test.each<[string, readonly string[], key?: string]>([
    ["whose time is gone", ["T,c,6,"]],
    ["that the export does not have any more", []],
    ["whose time is gone, with keys", ["T,c,6,"], "{Ticket} {To}"],
    ["that the export does not have any more, with keys", [], "{Ticket} {To}"],
  ])(
    "lets no resale pass that was rejected before one of the same minute %s",
    { tags: ["long"] },
    async (_, others, key) => {
      const { field, night } = await openLog(key === undefined ? RESALES : withKey(key));
      field.setFaults({ fault: "failure-items", items: [0] });
      const first = await night("UTC", MINUTES, "resales.csv", ["T,b,5,2026-02-01 10:00", "T,c,6,2026-02-01 10:00"]);
      expect(first.actions, first.said).toMatchObject({ accepted: 1, rejected: 1 });
      field.setFaults();
      const told = await night("UTC", SECONDS, "resales.csv", ["T,b,5,2026-02-01 10:00:10", ...others], {
        maxInvalid: { rows: 3 },
      });
      expect(told.actions?.accepted, told.said).toBe(0);
      expect(told.said).toMatch(/history-(late|superseded|unclear)/);
      expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["c"]);
    },
  );

  test("is not seen where the input has the accepted one, nor in times that no zone explains", {
    tags: ["long"],
  }, async () => {
    const { field, night } = await openLog(SCANS);
    await night("UTC", SECONDS, "scans.csv", LOG);
    const full = await night("UTC", SECONDS, "scans.csv", [...LOG, "T,2026-02-10 23:40:13"]);
    expect(full.actions, full.said).toMatchObject({ accepted: 1, alreadySent: 3 });
    const delta = ["T,2026-02-10 23:55:13", "T2,2026-02-10 21:02:13", "T2,2026-02-12 20:02:12"];
    const done = await night("UTC", SECONDS, "scans-2.csv", delta);
    expect(done.actions, done.said).toMatchObject({ accepted: 3 });
    // One that is an hour later to the second, alone: who knows that it is another one says so.
    const hour = ["T,2026-02-11 00:55:13"];
    expect((await night("UTC", SECONDS, "scans-3.csv", hour)).exitCode).toBe(3);
    expect((await night("UTC", SECONDS, "scans-3.csv", hour, { again: true })).actions).toMatchObject({ accepted: 1 });
    expect(acceptedOf(field, "scannedTicket", "ticketId")).toHaveLength(8);
  });

  test.each<[what: string, time: string, accepted: number]>([
    ["lies nearer to its accepted one", "2026-05-01 21:13", 1],
    // It is taken for that one: told as already sent.
    ["has the time of its accepted one", "2026-05-01 20:13", 0],
  ])("is a problem beside one that %s", { tags: ["long"] }, async (_, time, accepted) => {
    const { field, night } = await openLog(SCANS);
    const rows = ["T,2026-05-01 18:11", "T2,2026-05-01 18:12", "T3,2026-05-01 18:13"];
    await night("UTC", MINUTES, "scans.csv", rows);
    const all = [...rows, `T3,${time}`];
    expect((await night("Europe/Berlin", MINUTES, "scans.csv", all)).summary?.rows).toMatchObject({ invalid: 3 });
    const warn = SCANS.concat("rules: {history-unclear: warn}\n");
    await field.write("tickets.config.yaml", warn.replace("ZONE", "Europe/Berlin").replace("FORMAT", MINUTES));
    const done = await field.stream(["scans.csv"]);
    expect(done.summary?.actions, done.said).toMatchObject({ accepted, notSent: 3 });
    expect(acceptedOf(field, "scannedTicket", "orderTime")).not.toContain(Date.UTC(2026, 4, 1, 16, 13) / 1000);
  });

  test("is none where the file's times are dates, and a pass is scanned on the next day too", {
    tags: ["long"],
  }, async () => {
    const { night } = await openLog(SCANS);
    for (const day of [1, 2, 3]) {
      const rows = ["T", "T2", "T3"].map((ticket) => `${ticket},2026-05-0${day}`);
      const done = await night("Europe/Berlin", "yyyy-MM-dd", "scans.csv", rows);
      expect(done.actions, done.said).toMatchObject({ accepted: 3 });
    }
    // Dates that another zone moved are those that were accepted.
    const moved = await night("UTC", "yyyy-MM-dd", "scans.csv", ["T,2026-05-03", "T2,2026-05-03"]);
    expect(moved.exitCode, moved.said).toBe(3);
  });

  test("is not what the service rejected, which is tried again", { tags: ["long"] }, async () => {
    const { field, night } = await openLog(SCANS);
    field.setFaults(rejecting(1));
    const first = await night("UTC", SECONDS, "scans.csv", ["T,2026-02-10 20:01:11", "T,2026-02-10 21:01:11"]);
    expect(first.actions, first.said).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    const rest = await field.stream(["scans.rejects.csv"]);
    expect(rest.summary?.actions, rest.said).toMatchObject({ accepted: 1 });
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

describe("a key of the source", { tags: ["long"] }, () => {
  const KEYED = `sources:
  orders:
    match: "orders*.csv"
    fields: {eventId: E, ticketId: "{Ticket}"}
    key: "{Order}"
    actions:
      - soldTicket:
          fields: {userId: u1, price: "1.00", orderTime: "1768600000"}
`;

  test("that two tickets share is a problem: within an input, and with what was accepted under it", {
    tags: ["long"],
  }, async () => {
    const field = await openField();
    await field.write("tickets.config.yaml", KEYED);
    await field.write("events.ndjson", lines(newEvent("E")));
    await field.write("orders.csv", "Order,Ticket\n1,A\n2,B\n2,C\n");
    const first = await field.stream(["events.ndjson", "orders.csv"], { maxInvalid: { rows: 1 } });
    expect(first.exitCode, first.said).toBe(4);
    expect(first.said).toContain("orders.csv:4 The key of this row is that of another ticket, at orders.csv:3.");
    expect(processedBy(field.sandbox)).toBe("E A B");

    await field.write("orders.csv", "Order,Ticket\n1,A\n2,B\n1,D\n");
    const second = await field.stream(["orders.csv"]);
    expect(second.exitCode).toBe(3);
    expect(second.said).toContain('that of another ticket, "A", which was accepted under it (orders.csv:2).');
    expect(processedBy(field.sandbox)).toBe("E A B");

    // What happens to a ticket whose sale is not sent is not sent either.
    await field.write("scans.ndjson", lines(checkedIn("D", 1768600009)));
    const third = await field.stream(["orders.csv", "scans.ndjson"], { maxInvalid: { rows: 1 } });
    expect(third.summary?.rows, third.said).toMatchObject({ invalid: 1, held: 1 });
    expect(processedBy(field.sandbox)).toBe("E A B");
  });

  test("of a row that gives several deeds of a kind names each of them", async () => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      `sources:
  seats:
    match: "seats*.csv"
    fields: {ticketId: T}
    key: "{Id}"
    actions:
      - updateTicket: {fields: {imageUrl: "https://img.example.com/{One}.png"}}
      - updateTicket: {when: {Two: {empty: false}}, fields: {imageUrl: "https://img.example.com/{Two}.png"}}
      - scannedTicket: {each: {in: "{Scans}", match: "(?<at>[0-9]+)"}, fields: {orderTime: "{item.at}"}}
`,
    );
    const seats = async (row: string) => {
      await field.write("seats.csv", `Id,One,Two,Scans\n${row}\n`);
      const { summary, said } = await field.stream(["seats.csv"]);
      return { actions: summary?.actions, said };
    };
    expect((await seats("1,a,,1768600001")).actions).toMatchObject({ total: 2, accepted: 2 });
    const more = "1,a,b,1768600001;1768600002;1768600003";
    expect((await seats(more)).actions).toMatchObject({ total: 5, accepted: 3, alreadySent: 2 });
    expect((await seats(more)).actions).toMatchObject({ accepted: 0, alreadySent: 5, changed: 0 });
    const other = await seats("1,a,c,1768600001;1768600002;1768600003");
    expect(other.actions, other.said).toMatchObject({ accepted: 0, alreadySent: 5, changed: 1 });
    expect(images(field)).toBe("a b");
    expect(acceptedOf(field, "scannedTicket", "orderTime")).toEqual([1768600001, 1768600002, 1768600003]);
  });

  test.each([
    ["in files that overlap", { "up-2.csv": ["k1,A", "k2,B", "k3,C"], "up-3.csv": ["k2,B", "k3,C", "k4,D"] }],
    ["in one file", { "up-2.csv": ["k1,A", "k2,B", "k3,C", "k4,D", "k1,A", "k2,B", "k3,C", "k4,D"] }],
  ])(
    "under which rows stand twice %s calls nothing late for the copy of an old one",
    { tags: ["long"] },
    async (_, files) => {
      const field = await openSold();
      const config = `sources:
  up:
    match: "up-*.csv"
    key: "{K}"
    actions: [updateTicket: {fields: {ticketId: T, imageUrl: "https://img.example.com/{C}.png"}}]
`;
      await field.write("tickets.config.yaml", config);
      const write = (name: string, rows: readonly string[]) => field.write(name, `K,C\n${rows.join("\n")}\n`);
      await write("up-1.csv", ["k1,A", "k2,B"]);
      expect((await field.stream(["up-1.csv"])).exitCode).toBe(0);
      for (const [name, rows] of Object.entries(files)) await write(name, rows);
      const { summary, said } = await field.stream(Object.keys(files));
      expect(summary?.actions, said).toMatchObject({ accepted: 2, notSent: 0 });
      expect(images(field)).toBe("A B C D");
    },
  );

  describe("of a row that gives several deeds of a kind", () => {
    const LISTS = `sources:
  lists:
    match: "lists*"
    fields: {ticketId: T}
    key: "{Id}"
    actions:
      - scannedTicket: {each: {in: "{Scans}", match: "(?<at>[0-9]+)"}, fields: {orderTime: "{item.at}"}}
      - updateTicket: {each: {in: "{Images}", match: "(?<name>[a-z]+)"}, fields: {imageUrl: "https://img.example.com/{item.name}.png"}}
      - claimedTicket: {each: {in: "{Claims}", match: "(?<by>[a-z]+)"}, fields: {userId: "{item.by}", orderTime: "1768600009"}}
`;
    /** What each kind's list says, in the column that gives it. */
    const SAID = {
      Scans: (field: Field) => acceptedOf(field, "scannedTicket", "orderTime"),
      Images: (field: Field) => images(field).split(" "),
      Claims: (field: Field) => acceptedOf(field, "claimedTicket", "userId"),
    } as const;
    type Column = keyof typeof SAID;

    async function openLists(column: Column) {
      const field = await openSold();
      await field.write("tickets.config.yaml", LISTS);
      const night = async (...lists: readonly string[]) => {
        const rows = lists.map((list) =>
          ["1", ...Object.keys(SAID).map((each) => (each === column ? list : ""))].join(","),
        );
        await field.write("lists.csv", `${["Id", ...Object.keys(SAID)].join(",")}\n${rows.join("\n")}\n`);
        const done = await field.stream(["lists.csv"], { maxInvalid: { rows: 5 } });
        return { ...done, actions: done.summary?.actions };
      };
      return { field, night, accepted: () => SAID[column](field).join(" ") };
    }

    test.each<[string, Column, string, string, object, string]>([
      ["grows at the front", "Scans", "10", "11 10", { accepted: 1, alreadySent: 1, changed: 0 }, "10 11"],
      ["grows at the end", "Scans", "10", "10 11", { accepted: 1, alreadySent: 1, changed: 0 }, "10 11"],
      ["grows within", "Scans", "10 12", "10 11 12", { accepted: 1, alreadySent: 2, changed: 0 }, "10 12 11"],
      ["shrinks at the front", "Scans", "10 11", "11", { accepted: 0, alreadySent: 1, changed: 0 }, "10 11"],
      ["shrinks at the end", "Scans", "10 11", "10", { accepted: 0, alreadySent: 1, changed: 0 }, "10 11"],
      ["comes in another order", "Scans", "10 11", "11 10", { accepted: 0, alreadySent: 2, changed: 0 }, "10 11"],
      ["has one that changed", "Scans", "10 11", "10 15", { accepted: 0, alreadySent: 2, changed: 1 }, "10 11"],
      ["says one once more", "Scans", "10", "10 10", { accepted: 1, alreadySent: 1, changed: 0 }, "10 10"],
      ["says two alike again", "Scans", "10 10", "10 10", { accepted: 0, alreadySent: 2, changed: 0 }, "10 10"],
      ["says two alike, and one of them no more", "Scans", "10 10", "10", { accepted: 0, alreadySent: 1 }, "10 10"],
      // Sent now, it would undo what was accepted.
      ["grows at the front, without times", "Images", "a", "b a", { accepted: 0, alreadySent: 1, late: 1 }, "a"],
      ["grows at the end, without times", "Images", "a", "a b", { accepted: 1, alreadySent: 1, changed: 0 }, "a b"],
      ["shrinks, without times", "Images", "a b", "b", { accepted: 0, alreadySent: 1, changed: 0 }, "a b"],
      [
        "has one that changed, without times",
        "Images",
        "a b",
        "c b",
        { accepted: 0, alreadySent: 2, changed: 1 },
        "a b",
      ],
      ["says one once more, without times", "Images", "a b", "a b a", { accepted: 1, alreadySent: 2 }, "a b a"],
    ])("that %s", { tags: ["long"] }, async (_, column, before, now, actions, accepted) => {
      const lists = await openLists(column);
      const first = await lists.night(before);
      expect(first.actions, first.said).toMatchObject({ accepted: before.split(" ").length, alreadySent: 0 });
      const second = await lists.night(now);
      expect(second.actions, second.said).toMatchObject(actions);
      expect(lists.accepted()).toBe(accepted);
      // What changed is told every night, and nothing is sent again.
      const again = await lists.night(now);
      expect(again.actions, again.said).toMatchObject({ accepted: 0, changed: second.actions?.changed });
      expect(lists.accepted()).toBe(accepted);
    });

    test.each<[string, Column, string, string]>([
      ["with times", "Scans", "10 11", "10 15 16"],
      ["without times", "Images", "a b", "a c d"],
    ])(
      "of which some changed and some are new is a problem, not a guess, %s",
      { tags: ["long"] },
      async (_, column, before, now) => {
        const { field, night, accepted } = await openLists(column);
        await night(before);
        const told = await night(now);
        expect(told.exitCode, told.said).toBe(4);
        expect(told.summary).toMatchObject({ rows: { invalid: 1 }, actions: { total: 0 } });
        expect(told.said).toContain("[history-unclear]");
        expect(told.said).toContain(
          column === "Scans" ? "no more in the row: orderTime 11." : "no more in the row: imageUrl",
        );
        expect(accepted()).toBe(before);

        // A person who knows which is new says so, and then the list is known.
        const kind = column === "Scans" ? "scannedTicket" : "updateTicket";
        expect(told.said).toContain(`this one is 2:${kind}.`);
        await field.write(
          "lists-new.csv",
          `Id,Scans,Images,Claims,tickets:actions\n1,${column === "Scans" ? now : ""},${column === "Images" ? now : ""},,3:${kind}\n`,
        );
        const done = await field.stream(["lists-new.csv"], { again: true });
        expect(done.summary?.actions, done.said).toMatchObject({ total: 1, accepted: 1 });
        const after = await night(now);
        expect(after.actions, after.said).toMatchObject({ total: 3, accepted: 0, alreadySent: 3, changed: 1 });
        expect(accepted()).toBe(`${before} ${now.split(" ").at(-1)}`);
      },
    );

    test.each(["Scans", "Images"] as const)(
      "of which the service rejected one, in %s: that one is sent again",
      async (column) => {
        const values = column === "Scans" ? ["10", "11", "12"] : ["a", "b", "c"];
        const { field, night, accepted } = await openLists(column);
        field.setFaults(rejecting(2));
        expect((await night(values.join(" "))).actions).toMatchObject({ accepted: 2, rejected: 1 });
        field.setFaults();
        const again = await night(values.join(" "));
        expect(again.actions, again.said).toMatchObject({ accepted: 1, alreadySent: 2, changed: 0 });
        expect(accepted()).toBe(values.join(" "));
      },
    );

    test.each<[string, (rejects: string) => string, string]>([
      ["as it is", (rejects) => rejects, "10 11"],
      ["mended", (rejects) => rejects.replace("10 11", "10 15"), "10 15"],
      ["mended to what the other says", (rejects) => rejects.replace("10 11", "10 10"), "10 10"],
    ])(
      "of which the service rejected one, which comes from the rejects %s",
      { tags: ["long"] },
      async (_, mend, accepted) => {
        const lists = await openLists("Scans");
        lists.field.setFaults(rejecting(1));
        await lists.night("10 11");
        lists.field.setFaults();
        const rejects = await lists.field.read("lists.rejects.csv");
        expect(rejects).toContain("2:scannedTicket");
        await lists.field.write("lists.rejects.csv", mend(rejects));
        const done = await lists.field.stream(["lists.rejects.csv"]);
        expect(done.summary?.actions, done.said).toMatchObject({ total: 1, accepted: 1 });
        expect(lists.accepted()).toBe(accepted);
        const again = await lists.field.stream(["lists.rejects.csv"]);
        expect(again.summary?.actions, again.said).toMatchObject({ accepted: 0 });
      },
    );

    test("gives those whose conditions come true later, wherever their rules stand", { tags: ["long"] }, async () => {
      const field = await openSold();
      const scan = (column: string): string =>
        `      - scannedTicket: {when: {${column}: {empty: false}}, fields: {ticketId: T, orderTime: "{${column}}"}}\n`;
      await field.write(
        "tickets.config.yaml",
        `sources:\n  doors:\n    match: "doors*.csv"\n    key: "{Id}"\n    actions:\n${scan("Early")}${scan("Door")}`,
      );
      const night = async (row: string) => {
        await field.write("doors.csv", `Id,Early,Door\n${row}\n`);
        return (await field.stream(["doors.csv"])).summary?.actions;
      };
      expect(await night("1,,10")).toMatchObject({ accepted: 1 });
      expect(await night("1,9,10")).toMatchObject({ accepted: 1, alreadySent: 1, changed: 0 });
      expect(await night("1,9,10")).toMatchObject({ accepted: 0, alreadySent: 2, changed: 0 });
      expect(acceptedOf(field, "scannedTicket", "orderTime")).toEqual([10, 9]);
    });

    test("and stands in one input as it grew is sent once; one that says something else is a problem", {
      tags: ["long"],
    }, async () => {
      const { night, accepted } = await openLists("Scans");
      const grown = await night("10", "11 10", "11 10");
      expect(grown.actions, grown.said).toMatchObject({ total: 5, accepted: 2, alreadySent: 3 });
      expect(accepted()).toBe("10 11");

      const { field, night: other, accepted: sent } = await openLists("Scans");
      const told = await other("10 11", "10 15 16");
      expect(told.summary, told.said).toMatchObject({ rows: { invalid: 1 }, actions: { accepted: 2 } });
      expect(told.said).toContain(
        "The key of this row is that of another scannedTicket of this ticket, at lists.csv:2",
      );
      expect(sent()).toBe("10 11");
      expect(field.sandbox).toBeDefined();
    });

    test("of which one is in doubt waits with it, and is sent once once that is settled", {
      tags: ["long"],
    }, async () => {
      const { field, night, accepted } = await openLists("Scans");
      await night("10");
      field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
      expect((await night("11 10")).exitCode).toBe(6);
      field.setFaults();
      await abandon(field);
      const waiting = await night("12 11 10");
      expect(waiting.exitCode, waiting.said).toBe(6);
      expect(waiting.actions).toMatchObject({ total: 3, accepted: 0, inDoubt: 1, alreadySent: 1, notSent: 1 });
      const changed = await night("15 10");
      expect(changed.actions, changed.said).toMatchObject({ accepted: 0, inDoubt: 1, alreadySent: 1 });
      await settleLast(field, "sent");
      expect((await night("12 11 10")).actions).toMatchObject({ accepted: 1, alreadySent: 2, changed: 0 });
      expect(accepted()).toBe("10 11 12");
    });

    test("asks the service for each of its claims", { tags: ["long"] }, async () => {
      const { night, accepted } = await openLists("Claims");
      const first = await night("ann bob ann");
      // The sandbox takes one claim of a ticket.
      expect(first.actions, first.said).toMatchObject({ total: 3, accepted: 1, rejected: 1, alreadySent: 1 });
      expect(accepted()).toBe("ann");
      expect((await night("ann")).actions).toMatchObject({ accepted: 0, alreadySent: 1, changed: 0 });
    });

    test("is known when the key is given later, also where the list grew or shrank since", {
      tags: ["long"],
    }, async () => {
      const { field, night, accepted } = await openLists("Scans");
      await field.write("tickets.config.yaml", LISTS.replace(/ {4}key.*\n/, ""));
      expect((await night("11 10")).actions).toMatchObject({ accepted: 2 });
      await field.write("tickets.config.yaml", LISTS);
      expect((await night("12 11 10")).actions).toMatchObject({ accepted: 1, alreadySent: 2, changed: 0 });
      const shrunk = await night("11 10");
      expect(shrunk.actions, shrunk.said).toMatchObject({ accepted: 0, alreadySent: 2, changed: 0 });
      expect((await night("13 11 12")).actions).toMatchObject({ accepted: 1, alreadySent: 2, changed: 0 });
      expect(accepted()).toBe("11 10 12 13");
    });

    test("does not let one undo another that was accepted since", { tags: ["long"] }, async () => {
      const { field, night } = await openLists("Images");
      field.setFaults(rejecting(1));
      expect((await night("a b c")).actions).toMatchObject({ accepted: 2, rejected: 1 });
      field.setFaults();
      const late = await night("a b c");
      expect(late.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, superseded: 1 });
      // Also where the list names the later one no more.
      const shrunk = await night("a b");
      expect(shrunk.actions, shrunk.said).toMatchObject({ accepted: 0, alreadySent: 1, superseded: 1 });
      expect(images(field)).toBe("a c");
    });

    test("does not let one undo another where it says what a later one says, which was accepted", {
      tags: ["long"],
    }, async () => {
      const { field, night } = await openLists("Images");
      field.setFaults(rejecting(0));
      expect((await night("a b a")).actions).toMatchObject({ accepted: 2, rejected: 1 });
      field.setFaults();
      const late = await night("a b a");
      expect(late.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, superseded: 1 });
      expect(late.said).toContain("history-superseded: lists.csv:2");
      expect(late.said).toContain(
        "stream its row alone with --again. With --again, add a column tickets:actions that says 1:updateTicket: else",
      );
      const more = await night("a b a c");
      expect(more.actions, more.said).toMatchObject({ accepted: 1, alreadySent: 2, superseded: 1 });
      expect(images(field)).toBe("b a c");

      // A person who wants it names it, and then all is known.
      await field.write("lists-new.csv", "Id,Scans,Images,Claims,tickets:actions\n1,,a b a c,,1:updateTicket\n");
      const alone = await field.stream(["lists-new.csv"], { again: true });
      expect(alone.summary?.actions, alone.said).toMatchObject({ total: 1, accepted: 1 });
      const known = await night("a b a c");
      expect(known.actions, known.said).toMatchObject({ accepted: 0, alreadySent: 4 });
    });

    test("lets go what follows a rejected resale, though a later one that was accepted says the same", {
      tags: ["long"],
    }, async () => {
      const field = await openSold();
      await field.write(
        "tickets.config.yaml",
        `sources:
  resales:
    match: "resales*"
    fields: {ticketId: T}
    key: "{Id}"
    actions:
      - resoldTicket: {each: {in: "{To}", match: "(?<to>[a-z]+)"}, fields: {userId: "{item.to}", price: "10"}}
`,
      );
      await field.write("resales.csv", "Id,To\n1,ann bob ann\n");
      field.setFaults(rejecting(0));
      expect((await field.stream(["resales.csv"])).summary?.actions).toMatchObject({ accepted: 2, rejected: 1 });
      field.setFaults();
      await field.write("resales.csv", "Id,To\n1,ann bob ann cid\n");
      const night = await field.stream(["resales.csv"]);
      expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, alreadySent: 2, superseded: 1 });
      expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["bob", "ann", "cid"]);
    });

    test.each<[string, Column, string, string, string]>([
      ["scan", "Scans", "10", "10 11", "11 10"],
      ["claim", "Claims", "ann", "ann bob", "bob ann"],
    ])(
      "of which a %s was rejected is no other one that was accepted, in either of its rejects",
      { tags: ["long"] },
      async (_, column, one, two, accepted) => {
        for (const isWhole of [true, false]) {
          const lists = await openLists(column);
          // The sandbox takes one claim of a ticket.
          lists.field.setFaults(rejecting(0));
          expect((await lists.night(one)).actions).toMatchObject({ rejected: 1 });
          lists.field.setFaults(rejecting(0));
          const second = await lists.night(two);
          expect(second.actions, second.said).toMatchObject({ accepted: 1, rejected: 1 });
          lists.field.setFaults();
          const [header, first, last] = (await lists.field.read("lists.rejects.csv")).trimEnd().split("\n");
          await lists.field.write("lists.rejects.csv", [header, first, ...(isWhole ? [last] : []), ""].join("\n"));
          const done = await lists.field.stream(["lists.rejects.csv"]);
          const rows = isWhole ? 2 : 1;
          // The other claim was accepted since, and the last one counts.
          const asked =
            column === "Scans"
              ? { accepted: 1, alreadySent: rows - 1 }
              : { accepted: 0, rejected: 0, superseded: rows };
          expect(done.summary?.actions, done.said).toMatchObject({ ...asked, changed: 0 });
          if (column === "Scans") expect(lists.accepted()).toBe(accepted);
        }
      },
    );
  });

  test("does not let a deed undo what came after it", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      `sources:
  moves:
    match: "moves*.csv"
    key: "{Id}"
    fields: {ticketId: T}
    actions: [{updateTicket: {fields: {imageUrl: "https://img.example.com/{Image}.png"}}}]
`,
    );
    const moves = async (...rows: readonly string[]) => {
      await field.write("moves.csv", ["Id,Image", ...rows, ""].join("\n"));
      const night = await field.stream(["moves.csv"], { maxInvalid: { rows: 5 } });
      return { actions: night.summary?.actions, said: night.said };
    };
    expect((await moves("1,a", "3,c")).actions).toMatchObject({ accepted: 2 });
    const late = await moves("1,a", "2,b", "3,c");
    expect(late.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, late: 1 });
    expect(late.said).toContain("history-late: moves.csv:3");

    field.setFaults(rejecting(0));
    expect((await moves("4,d", "5,e")).actions).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    expect((await moves("4,d", "5,e", "6,f")).actions).toMatchObject({ accepted: 1, alreadySent: 1, superseded: 1 });
    expect(images(field)).toBe("a c e f");

    // Twice it is as late as once.
    const twice = await moves("2,b", "2,b", "3,c");
    expect(twice.actions, twice.said).toMatchObject({ accepted: 0, alreadySent: 1, late: 2 });

    // Alone it goes all the same.
    expect((await moves("2,b")).actions).toMatchObject({ accepted: 1 });
  });

  const source = (name: string, action: string, fields: string, key?: string): string => `  ${name}:
    match: "${name}*.csv"
${key === undefined ? "" : `    key: "${key}"\n`}    actions: [{${action}: {fields: {${fields}}}}]
`;

  test.each<[string, string, string]>([
    ["of the same times", "1,u2,1768600001\n2,u3,1768600003\n", "1,u2,1768600001\n2,u3,1768600003\n"],
    ["of times that came", "1,u2,\n2,u3,\n", "1,u2,1768600001\n2,u3,1768600003\n"],
  ])("does not let a rejected resale undo a later one, %s", { tags: ["long"] }, async (_, first, second) => {
    const field = await openSold();
    const resales = source(
      "resales",
      "resoldTicket",
      'ticketId: T, userId: "{To}", price: "10", orderTime: "{At}"',
      "{Id}",
    );
    await field.write("tickets.config.yaml", `sources:\n${resales}`);
    await field.write("resales.csv", `Id,To,At\n${first}`);
    field.setFaults(rejecting(0));
    expect((await field.stream(["resales.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    await field.write("resales.csv", `Id,To,At\n${second}3,u4,1768600004\n`);
    const night = await field.stream(["resales.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, alreadySent: 1, superseded: 1 });
    // A new one of an earlier time is late, as it is without a key.
    await field.write("resales.csv", `Id,To,At\n${second}3,u4,1768600004\n4,u5,1768600002\n`);
    const late = await field.stream(["resales.csv"]);
    expect(late.summary?.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 2, superseded: 1, late: 1 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["u3", "u4"]);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ["both", "{Id}", "{Id}"],
    ["the earlier", "{Id}", undefined],
    ["the later", undefined, "{Id}"],
    ["neither", undefined, undefined],
  ])(
    "does not let an update come late that another source gives, where %s has one",
    { tags: ["long"] },
    async (_, one, other) => {
      const field = await openSold();
      const fields = 'ticketId: T, imageUrl: "https://img.example.com/{Image}.png"';
      const [a, b] = [source("a", "updateTicket", fields, one), source("b", "updateTicket", fields, other)];
      await field.write("tickets.config.yaml", `sources:\n${a}${b}`);
      await field.write("b.csv", "Id,Image\n2,b\n");
      expect((await field.stream(["b.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
      await field.write("a.csv", "Id,Image\n1,a\n");
      const late = await field.stream(["a.csv", "b.csv"]);
      expect(late.summary?.actions, late.said).toMatchObject({ accepted: 0, alreadySent: 1, late: 1 });
      expect(images(field)).toBe("b");
    },
  );

  test.each<[string, string | undefined]>([
    ["a key", "{Id}"],
    ["no key", undefined],
  ])("holds an event's update behind a bad one, with %s", async (_, key) => {
    const field = await openSold();
    const updates = source("updates", "updateEvent", 'eventId: E, eventName: "{Name}", shopUrl: "{Url}"', key);
    await field.write("tickets.config.yaml", `sources:\n${updates}`);
    const rows = (first: string): string => `Id,Name,Url\n1,First,${first}\n2,Second,https://shop.example.com/2\n`;
    await field.write("updates.csv", rows("no address"));
    const held = await field.stream(["updates.csv"], { maxInvalid: { rows: 5 } });
    expect(held.summary, held.said).toMatchObject({ rows: { invalid: 1, held: 1 }, actions: { accepted: 0 } });
    await field.write("updates.csv", rows("https://shop.example.com/1"));
    expect((await field.stream(["updates.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    expect(acceptedOf(field, "updateEvent", "eventName")).toEqual(["First", "Second"]);
  });

  test("that two sources share is a problem where their deeds may be others, and none where one was renamed", async () => {
    const field = await openSold();
    const source = (name: string): string => `  ${name}:
    match: "${name}*.csv"
    key: "{No}"
    actions: [{scannedTicket: {fields: {ticketId: T, orderTime: "{Time}"}}}]
`;
    const scans = async (...names: readonly string[]) => {
      const { summary, exitCode, said } = await field.stream(names.map((name) => `${name}.csv`));
      return { exitCode, said, actions: summary?.actions };
    };
    for (const name of ["north", "south"]) await field.write(`${name}.csv`, "No,Time\n1,\n2,1768600002\n");
    await field.write("tickets.config.yaml", `sources:\n${source("north")}${source("south")}`);
    const both = await scans("north", "south");
    expect(both.exitCode).toBe(3);
    expect(both.said).toContain(
      "south.csv:2 The key of this row is that of a scannedTicket of the same ticket from source north",
    );
    expect((await scans("north")).actions).toMatchObject({ accepted: 2 });
    expect((await scans("south")).exitCode).toBe(3);
    expect((await scans("north")).actions).toMatchObject({ alreadySent: 2 });

    await field.write("tickets.config.yaml", `sources:\n${source("south")}`);
    expect((await scans("south")).actions).toMatchObject({ accepted: 0, alreadySent: 2 });
  });

  test.each<[string, string | undefined, string | undefined, string]>([
    ["both have one", "{Id}", "{Id}-app", "1768600001"],
    ["one has one", "{Id}", undefined, "1768600001"],
    ["one has one, without times", undefined, "{Id}", ""],
  ])(
    "does not say whether another source means the same deed, in one run or in two: %s",
    { tags: ["long"] },
    async (_, one, other, at) => {
      const config = ["gate", "app"].map((name, number) =>
        source(name, "scannedTicket", 'ticketId: T, orderTime: "{At}"', number === 0 ? one : other),
      );
      const open = async (): Promise<Field> => {
        const field = await openSold();
        await field.write("tickets.config.yaml", `sources:\n${config.join("")}`);
        for (const name of ["gate", "app"]) await field.write(`${name}.csv`, `Id,At\n${name}7,${at}\n`);
        return field;
      };
      const together = await open();
      const night = await together.stream(["gate.csv", "app.csv"]);
      expect(night.exitCode, night.said).toBe(3);
      expect(night.said).toContain(
        "gate.csv:2 Another source says the same scannedTicket of this ticket, at app.csv:2:",
      );
      expect(acceptedOf(together, "scannedTicket", "ticketId")).toEqual([]);

      const apart = await open();
      expect((await apart.stream(["gate.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
      const second = await apart.stream(["app.csv"]);
      expect(acceptedOf(apart, "scannedTicket", "ticketId"), second.said).toEqual(["T"]);
    },
  );

  test.each<[string, string | undefined, string | undefined]>([
    ["in two rows of one source", "{Id}", undefined],
    ["in two sources with keys", "{Id}", "{Id}-app"],
    ["in two sources, of which the later has none", "{Id}", undefined],
    ["in two sources, of which the earlier has none", undefined, "{Id}"],
  ])("does not make two of what happens to a ticket once, %s", { tags: ["long"] }, async (name, one, other) => {
    const field = await openSold();
    const isOneFile = name.includes("one source");
    const config = ["gate", "app"].map((file, number) =>
      source(file, "checkedInTicket", 'ticketId: T, orderTime: "{At}"', number === 0 ? one : other),
    );
    await field.write("tickets.config.yaml", `sources:\n${config.join("")}`);
    const second = "8,1768600009\n";
    await field.write("gate.csv", `Id,At\n7,1768600001\n${isOneFile ? second : ""}`);
    await field.write("app.csv", `Id,At\n${second}`);
    const night = await field.stream(isOneFile ? ["gate.csv"] : ["gate.csv", "app.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, alreadySent: 1 });
    expect(night.said).toContain("deed-repeated");
    expect(acceptedOf(field, "checkedInTicket", "orderTime")).toEqual([1768600001]);
  });

  test("that two rows of one ticket share is a problem where they say something else", { tags: ["long"] }, async () => {
    const field = await openSold();
    const config = KEYED.replace("soldTicket", "updateTicket").replace(
      /fields: \{userId.*/,
      'fields: {imageUrl: "{Image}"}',
    );
    await field.write("tickets.config.yaml", config.replace('"{Ticket}"', "T"));
    await field.write("orders.csv", `Order,Image\n1,${url("a")}\n1,${url("a")}\n1,${url("b")}\n`);
    const night = await field.stream(["orders.csv"], { maxInvalid: { rows: 1 } });
    expect(night.summary, night.said).toMatchObject({ rows: { mapped: 2, invalid: 1 }, actions: { accepted: 1 } });
    expect(night.said).toContain(
      "orders.csv:4 The key of this row is that of another updateTicket of this ticket, at orders.csv:2, which says something else.",
    );
    expect(images(field)).toBe("a");
  });

  describe("that it is given later, or loses, or another one, sends nothing again", () => {
    const withKey = (key: string): string => `sources:
  moves:
    match: "moves*.csv"
${key === "" ? "" : `    key: "${key}"\n`}    fields: {eventId: E, ticketId: "{Ticket}"}
    actions:
      - soldTicket: {when: {Kind: sale}, fields: {userId: "{Value}", price: "1.00", orderTime: "1768600000"}}
      - updateTicket: {when: {Kind: image}, fields: {imageUrl: "https://img.example.com/{Value}.png"}}
      - scannedTicket: {when: {Kind: scan}, fields: {orderTime: "{Value}"}}
      - claimedTicket: {when: {Kind: claim}, fields: {userId: "{Value}", orderTime: "1768600009"}}
`;
    const HEADER = "Id,Ticket,Kind,Value\n";
    const ROWS = "1,A,sale,u1\n2,B,sale,u2\n3,A,image,a\n4,A,image,b\n5,A,scan,1768600001\n6,A,claim,u1\n";
    const changes: readonly (readonly [string, string, string])[] = [
      ["one", "", "{Id}"],
      ["none", "{Id}", ""],
      ["another one", "{Id}", "{Id}-{Ticket}"],
    ];

    test.each(changes)("%s", async (_, before, after) => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E")));
      await field.stream(["base.ndjson"]);
      await field.write("tickets.config.yaml", withKey(before));
      await field.write("moves.csv", `${HEADER}${ROWS}`);
      expect((await field.stream(["moves.csv"])).summary?.actions).toMatchObject({ total: 6, accepted: 6 });

      await field.write("tickets.config.yaml", withKey(after));
      const accepted = processedBy(field.sandbox);
      for (const files of [["moves.csv"], ["moves.csv"]]) {
        const night = await field.stream(files);
        expect(night.summary?.actions, night.said).toMatchObject({ accepted: 0, alreadySent: 6 });
      }
      // What is new is sent, and known from then on under what it is known by now.
      const more = `${HEADER}${ROWS}7,A,image,c\n8,A,scan,1768600002\n9,C,sale,u3\n`;
      await field.write("moves.csv", more);
      expect((await field.stream(["moves.csv"])).summary?.actions).toMatchObject({ accepted: 3, alreadySent: 6 });
      expect((await field.stream(["moves.csv"])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 9 });
      expect(images(field)).toBe("a b c");
      expect(processedBy(field.sandbox).startsWith(accepted)).toBe(true);

      // A sale with another buyer is the same sale, and changed.
      await field.write("moves.csv", more.replace("1,A,sale,u1", "1,A,sale,u9"));
      const changed = await field.stream(["moves.csv"]);
      expect(changed.summary?.actions).toMatchObject({ accepted: 0, alreadySent: 9, changed: 1 });
    });

    test.each([
      ["one", "", "{Id}"],
      ["another one", "{Id}", "{Id}-{Ticket}"],
    ])("%s, also where the next input holds rows twice", { tags: ["long"] }, async (_, before, after) => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E")));
      await field.stream(["base.ndjson"]);
      await field.write("tickets.config.yaml", withKey(before));
      await field.write("moves-1.csv", `${HEADER}${ROWS}`);
      await field.stream(["moves-1.csv"]);
      const accepted = processedBy(field.sandbox);

      await field.write("tickets.config.yaml", withKey(after));
      await field.write("moves-2.csv", `${HEADER}${ROWS}${ROWS}`);
      for (const [files, total] of [
        [["moves-2.csv"], 12],
        [["moves-1.csv", "moves-2.csv"], 18],
      ] as const) {
        const night = await field.stream(files);
        expect(night.summary?.actions, night.said).toMatchObject({ total, accepted: 0, alreadySent: total });
      }
      // A copy of a sale that says something else can't be right beside the one that was accepted.
      await field.write("moves-2.csv", `${HEADER}${ROWS}${ROWS}`.replace(/1,A,sale,u1(?!.*1,A,sale)/s, "1,A,sale,u9"));
      const changed = await field.stream(["moves-2.csv"], { maxInvalid: { rows: 1 } });
      expect(changed.summary?.actions, changed.said).toMatchObject({ accepted: 0, alreadySent: 11, changed: 0 });
      expect(changed.said).toContain("moves-2.csv:8 ");
      expect(changed.said).toContain("[ticket-sold-twice]");
      await field.write("moves-2.csv", `${HEADER}${ROWS}6,A,claim,u7\n`);
      const other = await field.stream(["moves-2.csv"]);
      expect(other.summary?.actions, other.said).toMatchObject({ accepted: 0, alreadySent: 7, changed: 1 });
      expect(processedBy(field.sandbox)).toBe(accepted);
    });

    test("and what happens once is sent once, though one of its keys stands in the input twice", async () => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E"), sold("A")));
      await field.stream(["base.ndjson"]);
      await field.write("tickets.config.yaml", withKey("{Id}").replace("scannedTicket", "checkedInTicket"));
      await field.write("moves.csv", `${HEADER}1,A,scan,1768600001\n2,A,scan,1768600001\n2,A,scan,1768600001\n`);
      const night = await field.stream(["moves.csv"]);
      expect(night.summary?.actions, night.said).toMatchObject({ total: 3, accepted: 1, alreadySent: 2 });
    });

    test("nor is a copy of what can't be told", { tags: ["long"] }, async () => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E"), sold("A")));
      await field.stream(["base.ndjson"]);
      const other = withKey("{Id} of the shop").replaceAll("moves", "shop").replace("sources:\n", "");
      await field.write("tickets.config.yaml", `${withKey("{Id}")}${other}`);
      const scan = "1,A,scan,1768600001\n";
      await field.write("moves.csv", `${HEADER}${scan}${scan}`);
      await field.write("shop.csv", `${HEADER}${scan}`);
      const night = await field.stream(["moves.csv", "shop.csv"], { maxInvalid: { rows: 3 } });
      expect(night.summary, night.said).toMatchObject({ rows: { invalid: 3 }, actions: { accepted: 0 } });
    });

    test("a piece of a history whose contents come back is a problem, not a guess", { tags: ["long"] }, async () => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E"), sold("A")));
      await field.stream(["base.ndjson"]);
      await field.write("tickets.config.yaml", withKey(""));
      await field.write("moves.csv", `${HEADER}1,A,image,a\n2,A,image,b\n3,A,image,a\n`);
      await field.stream(["moves.csv"]);
      await field.write("tickets.config.yaml", withKey("{Id}"));
      await field.write("moves.csv", `${HEADER}2,A,image,b\n`);
      const piece = await field.stream(["moves.csv"]);
      expect(piece.exitCode).toBe(3);
      expect(piece.said).toContain("[history-unclear]");
      await field.write("moves.csv", `${HEADER}1,A,image,a\n2,A,image,b\n3,A,image,a\n4,A,image,c\n`);
      expect((await field.stream(["moves.csv"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 3 });
      // Under one and the same key another key is another deed, whatever it says.
      await field.write("moves.csv", `${HEADER}5,A,image,c\n`);
      expect((await field.stream(["moves.csv"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 0 });
      expect(images(field)).toBe("a b a c c");
    });

    test("what the key of another source brought is not guessed to be the same, and not to be another", {
      tags: ["long"],
    }, async () => {
      const field = await openField();
      await field.write("base.ndjson", lines(newEvent("E"), sold("A")));
      await field.stream(["base.ndjson"]);
      const other = withKey("{Id} of the shop").replaceAll("moves", "shop").replace("sources:\n", "");
      await field.write("tickets.config.yaml", `${withKey("{Id}")}${other}`);
      await field.write("moves.csv", `${HEADER}1,A,image,a\n`);
      await field.stream(["moves.csv"]);
      await field.write("shop.csv", `${HEADER}1,A,image,a\n2,A,image,b\n`);
      const shop = await field.stream(["shop.csv"]);
      expect(shop.exitCode).toBe(3);
      expect(shop.said).toContain("[history-unclear]");
      expect((await field.stream(["shop.csv"], { again: true })).summary?.actions).toMatchObject({ accepted: 2 });
      expect((await field.stream(["shop.csv"])).summary?.actions).toMatchObject({ accepted: 0, alreadySent: 2 });
    });

    test.each([
      ["a key was given", "", '    key: "{Id}"\n'],
      ["the key was lost", '    key: "{Id}"\n', ""],
    ])(
      "while a deed is pending in another run and %s: nobody sends it",
      { tags: ["long"] },
      async (_, before, after) => {
        const field = await openField();
        const config = (key: string): string => `sources:
  moves:
    match: "moves*.csv"
${key}    actions:
      - updateEvent: {fields: {eventId: E, eventName: "{Name}"}}
`;
        await field.write("base.ndjson", lines(newEvent("E")));
        await field.stream(["base.ndjson"]);
        await field.write("moves.csv", "Id,Name\n1,One\n");
        await field.write("tickets.config.yaml", config(before));
        field.setFaults({ on: { request: 1 }, fault: "drop", when: "after" });
        expect((await field.stream(["moves.csv"])).exitCode).toBe(6);
        field.setFaults();
        await abandon(field);
        await field.write("tickets.config.yaml", config(after));
        const night = await field.stream(["moves.csv"]);
        expect(night.exitCode).toBe(6);
        expect(night.summary?.actions).toMatchObject({ total: 1, accepted: 0 });
        expect(acceptedOf(field, "updateEvent", "eventName")).toEqual(["One"]);
      },
    );
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
  const scans = (...rows: readonly string[]): string => file("ticketId,orderTime", ...rows);
  const resales = (...rows: readonly string[]): string => file("ticketId,userId,price,orderTime", ...rows);
  const holders = (field: Field): readonly unknown[] => acceptedOf(field, "resoldTicket", "userId");
  // 11:01:18 and 11:01 of one day.
  const [SECOND, MINUTE, LATER] = [1780311678, 1780311660, 1780318949];

  /** Rows of another ticket by which an export is seen to begin with the newest. */
  const FALLING = [5, 4, 3, 2, 1];
  const laterThan = (hours: number): string => `S,x${hours},5,${LATER + hours * 3600}`;
  async function openBothSold(): Promise<Field> {
    const field = await openSold();
    await field.write("sale.ndjson", lines(sold("S")));
    await field.stream(["sale.ndjson"]);
    return field;
  }

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

  test.each([
    ["input", `T,b,5,${SECOND}`, `T,a,5,${MINUTE}`],
    ["time", `T,b,5,${SECOND}`, `T,a,5,${MINUTE}`],
  ] as const)(
    "are a problem within a minute of which one does not give the seconds, in the order of %s",
    async (order, ...rows) => {
      const field = await openSold();
      await field.write("resales.csv", resales(...rows));
      const told = await field.stream(["resales.csv"], { order });
      expect(told.exitCode, told.said).toBe(3);
      expect(told.said.match(/\[history-unclear\]/g), told.said).toHaveLength(2);
      // The remedy of its hint: a person knows which one is the earlier.
      for (const row of rows.toReversed()) {
        await field.write("alone.csv", resales(row));
        const alone = await field.stream(["alone.csv"], { again: true, action: "resoldTicket" });
        expect(alone.summary?.actions, alone.said).toMatchObject({ accepted: 1 });
      }
      const all = await field.stream(["resales.csv"], { order });
      expect(all.summary?.actions, all.said).toMatchObject({ accepted: 0, alreadySent: 2 });
      expect(holders(field)).toEqual(["a", "b"]);
    },
  );

  test.each([
    ["time", [`T,c,5,${LATER}`, `T,b,5,${SECOND}`, `T,a,5,${SECOND}`]],
    ["time", [`T,b,5,${MINUTE}`, `T,a,5,${MINUTE}`]],
    ["input", [`T,b,5,${SECOND}`, `T,a,5,${SECOND}`]],
    ["input", [`T,b,5,${SECOND}`, "T,a,5,"]],
    ["time", [`T,b,5,${SECOND}`, "T,a,5,"]],
    ["input", ["T,b,5,", "T,a,5,"]],
  ] as const)(
    "are a problem where no times tell them in an export that goes from the latest to the earliest, in the order of %s: %j",
    async (order, ofTicket) => {
      const field = await openBothSold();
      const rows = [...FALLING.map(laterThan), ...ofTicket, `S,y,5,${SECOND - 3600}`];
      await field.write("resales.csv", resales(...rows));
      const told = await field.stream(["resales.csv"], { order, maxInvalid: { rows: 9 } });
      expect(told.said.match(/\[history-unclear\]/g)?.length ?? 0, told.said).toBeGreaterThanOrEqual(2);
      expect(holders(field)).not.toContain("a");
      expect(holders(field)).not.toContain("b");
      // The other way round they go as read.
      await field.write("resales.csv", resales(...rows.toReversed()));
      const sent = await field.stream(["resales.csv"], { order: "input" });
      expect(sent.exitCode, sent.said).toBe(0);
      expect(holders(field).filter((user) => user === "a" || user === "b")).toEqual(["a", "b"]);
    },
  );

  const INVALID = forWalks([1, 3, 6], 3);
  const areUnclear = async (bad: number): Promise<void> => {
    const field = await openBothSold();
    const falling = [6, 5, 4, 3, 2, 1].map((hours, at) =>
      at < bad ? laterThan(hours).replace(",5,", ",free,") : laterThan(hours),
    );
    await field.write("resales.csv", resales(...falling, "T,b,5,", "T,a,5,"));
    const told = await field.stream(["resales.csv"], { maxInvalid: { rows: 9 } });
    expect(told.said.match(/\[history-unclear\]/g), told.said).toHaveLength(2);
    expect(holders(field)).not.toContain("b");
    // Times of invalid rows that do not fall tell that it does not.
    const mixed = await openBothSold();
    await mixed.write("resales.csv", resales(...falling.toReversed(), "T,b,5,", "T,a,5,"));
    expect((await mixed.stream(["resales.csv"], { maxInvalid: { rows: 9 } })).said).not.toContain("history-unclear");
  };
  const UNCLEAR =
    "are a problem where no times tell them in an export that goes from the latest to the earliest, %i of whose rows are invalid";
  test.each(INVALID.short)(UNCLEAR, areUnclear);
  test.each(INVALID.long)(UNCLEAR, { tags: ["long"] }, areUnclear);

  test.each([
    ["input", `T,b,5,${SECOND}`],
    ["time", `T,b,5,${SECOND}`],
    ["time", "T,b,5,"],
  ] as const)(
    "are not sent behind an accepted one below which they turn up in an export that begins with the newest, in the order of %s: %s",
    async (order, late) => {
      const field = await openBothSold();
      const [before, behind] = [[...FALLING.map(laterThan), `T,a,5,${SECOND}`], [`S,y,5,${SECOND - 3600}`]];
      await field.write("resales.csv", resales(...before, ...behind));
      await field.stream(["resales.csv"], { order: "time" });
      await field.write("resales.csv", resales(...before, late, ...behind));
      const told = await field.stream(["resales.csv"], { order, maxInvalid: { rows: 9 } });
      expect(told.said).toMatch(/history-(unclear|late)/);
      expect(holders(field)).not.toContain("b");
    },
  );

  /** Resales of other tickets by which an export is seen to begin with the newest. */
  const falling = (hours: readonly number[]): readonly string[] =>
    hours.map((hour) => `S${hour},x,5,${SECOND + hour * 3600}`);
  const sales = (): string => lines(...[5, 4, 3, 2, 1, 0, -1].map((hour) => sold(`S${hour}`)));

  test.each<[order: "input" | "time", ofTicket: readonly [string, string]]>([
    ["input", [`T,b,5,${SECOND}`, `T,a,5,${SECOND}`]],
    ["time", [`T,b,5,${SECOND}`, `T,a,5,${SECOND}`]],
    ["input", [`T,b,5,${SECOND}`, "T,a,5,"]],
    ["input", ["T,b,5,", "T,a,5,"]],
    ["time", ["T,b,5,", "T,a,5,"]],
    ["input", [`T,b,bad,${SECOND}`, `T,a,bad,${SECOND}`]],
  ])(
    "stay a problem in the rejects of an export that begins with the newest, in the order of %s: %j",
    { tags: ["long"] },
    async (order, ofTicket) => {
      const field = await openSold();
      await field.write("sales.ndjson", sales());
      await field.stream(["sales.ndjson"]);
      await field.write("other.csv", resales("S0,x,5,"));
      await field.write("resales.csv", resales(...falling([5, 4, 3, 2, 1]), ...ofTicket, ...falling([-1])));
      // Which of the inputs of a run it is does not matter.
      const night = await field.stream(["other.csv", "resales.csv"], {
        order,
        action: "resoldTicket",
        maxInvalid: { rows: 9 },
      });
      expect(night.exitCode, night.said).toBe(4);
      expect(holders(field)).not.toContain("b");
      const rejects = (await field.read("resales.rejects.csv")).replaceAll(",bad,", ",5,");
      expect(rejects.trimEnd().split("\n")).toHaveLength(3);
      await field.write("resales.rejects.csv", rejects);
      const told = await field.stream(["resales.rejects.csv"], { order, action: "resoldTicket" });
      expect(told.exitCode, told.said).toBe(3);
      expect(told.said.match(/go from the latest to the earliest.*\[history-unclear\]/g), told.said).toHaveLength(2);
      for (const row of ofTicket.toReversed()) {
        await field.write("alone.csv", resales(row.replace("bad", "5")));
        await field.stream(["alone.csv"], { again: true, action: "resoldTicket" });
      }
      expect(holders(field).filter((user) => user !== "x")).toEqual(["a", "b"]);
    },
  );

  test("are sent from the rejects of an export that begins with the earliest, in their order", async () => {
    const field = await openSold();
    await field.write("sales.ndjson", sales());
    await field.stream(["sales.ndjson"]);
    const ofTicket = [`T,a,bad,${SECOND}`, `T,b,bad,${SECOND}`];
    await field.write("resales.csv", resales(...falling([-1]), ...ofTicket, ...falling([1, 2, 3, 4, 5])));
    expect((await field.stream(["resales.csv"], { maxInvalid: { rows: 9 } })).exitCode).toBe(4);
    await field.write("resales.rejects.csv", (await field.read("resales.rejects.csv")).replaceAll(",bad,", ",5,"));
    expect((await field.stream(["resales.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    expect(holders(field).filter((user) => user !== "x")).toEqual(["a", "b"]);
  });

  test.each([
    ["of the same moment", `T,b,5,${SECOND}`],
    ["without a time", "T,b,5,"],
  ])(
    "are told as what they are above an accepted one, in an export that begins with the newest: %s",
    { tags: ["long"] },
    async (_, row) => {
      const field = await openSold();
      await field.write("sales.ndjson", sales());
      await field.stream(["sales.ndjson"]);
      const [above, below] = [falling([5, 4, 3, 2, 1]), [`T,a,5,${SECOND}`, ...falling([-1])]];
      await field.write("resales.csv", resales(...above, ...below));
      await field.stream(["resales.csv"]);
      await field.write("resales.csv", resales(...above, row, ...below));
      const told = await field.stream(["resales.csv"], { maxInvalid: { rows: 9 } });
      expect(told.said).not.toContain("history-late");
      expect(told.said).toMatch(/resales.csv:7 .*go from the latest to the earliest.*The other one was accepted/);
      expect(holders(field)).not.toContain("b");
      // Exported from the earliest on, it comes too late by its place.
      await field.write("resales.csv", resales(...below.slice(1).toReversed(), row, ...below.slice(0, 1), ...above));
      expect((await field.stream(["resales.csv"])).said).toContain("history-late");
    },
  );

  test.each([SECOND, MINUTE])(
    "are a problem beside an accepted one of the same minute of which only one gives the seconds, in the order of time: %s",
    async (accepted) => {
      const field = await openSold();
      await field.write("resales.csv", resales(`T,b,5,${accepted}`));
      await field.stream(["resales.csv"], { order: "time" });
      await field.write("resales.csv", resales(`T,a,5,${accepted === SECOND ? MINUTE : SECOND}`, `T,b,5,${accepted}`));
      const told = await field.stream(["resales.csv"], { order: "time", maxInvalid: { rows: 9 } });
      expect(told.said).toMatch(/history-(unclear|late)/);
      expect(holders(field)).toEqual(["b"]);
    },
  );

  test("stand twice in a whole minute: a problem where other times of the file have seconds", async () => {
    const field = await openSold();
    const twice = [`T,${MINUTE}`, `T,${MINUTE}`];
    await field.write("scans.csv", scans(...twice, `T,${LATER}`));
    const told = await field.stream(["scans.csv"], { maxInvalid: { rows: 9 } });
    expect(told.said.match(/\[history-unclear\]/g), told.said).toHaveLength(1);
    expect(told.summary?.actions).toMatchObject({ accepted: 1 });
    await field.write("scans.csv", scans(...twice));
    const sent = await field.stream(["scans.csv"]);
    expect(sent.said).toContain("same-minute");
    expect(sent.summary?.actions).toMatchObject({ accepted: 1, alreadySent: 1 });
  });

  test("are a problem again where the rejects of both files of a run tell the same scan with two times", async () => {
    const field = await openSold();
    await field.write("scans-gate.csv", scans(`T,${SECOND}`));
    await field.write("scans-box.csv", scans(`T,${SECOND + 7200}`));
    expect((await field.stream(["scans-gate.csv", "scans-box.csv"], { maxInvalid: { rows: 9 } })).exitCode).toBe(4);
    const told = await field.stream(["scans-gate.rejects.csv", "scans-box.rejects.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said).toContain("[history-unclear]");
    const chosen = await field.stream(["scans-gate.rejects.csv"]);
    expect(chosen.summary?.actions, chosen.said).toMatchObject({ accepted: 1 });
  });

  test.each<[string, readonly string[], key?: string]>([
    ["of the same second", [`T,a,5,${SECOND}`, `T,b,5,${SECOND}`]],
    ["of the same minute, to the minute", [`T,a,5,${MINUTE}`, `T,b,5,${MINUTE}`]],
    ["of the same minute, without its seconds", [`T,a,5,${SECOND}`, `T,b,5,${MINUTE}`]],
    ["of the same second, with keys", [`T,a,5,${SECOND}`, `T,b,5,${SECOND}`], "{ticketId} {userId}"],
    ["of the same minute, with keys", [`T,a,5,${SECOND}`, `T,b,5,${MINUTE}`], "{ticketId} {userId}"],
  ])("are late or superseded before an accepted resale %s", { tags: ["long"] }, async (_, rows, key) => {
    // Both in one run are a problem where one of them has no seconds.
    const areEqual = rows[0]?.split(",").at(-1) === rows[1]?.split(",").at(-1);
    for (const wasRejected of areEqual ? [true, false] : [false]) {
      const field = await openSold();
      if (key !== undefined)
        await field.write(
          "tickets.config.yaml",
          `sources:\n  resales: {match: "resales*.csv", key: "${key}", actions: [{resoldTicket: {fields: {ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}}}]}\n`,
        );
      await field.write("resales.csv", resales(...(wasRejected ? rows : rows.slice(1))));
      field.setFaults(...(wasRejected ? [{ fault: "failure-items", items: [0] } as const] : []));
      expect((await field.stream(["resales.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
      field.setFaults();
      await field.write("resales.csv", resales(...rows));
      const next = await field.stream(["resales.csv"], { maxInvalid: { rows: 9 } });
      expect(next.summary?.actions.accepted ?? 0, next.said).toBe(0);
      expect(next.said).toMatch(/history-(late|superseded|unclear)/);
      expect(holders(field)).toEqual(["b"]);
      // Behind them the next one goes.
      await field.write("resales.csv", resales(...rows.slice(1), `T,c,5,${LATER}`));
      const last = await field.stream(["resales.csv"]);
      expect(last.summary?.actions, last.said).toMatchObject({ accepted: 1 });
    }
  });

  test.each<[string, first: string, second: string]>([
    ["without its seconds", `T,${SECOND}`, `T,${MINUTE}`],
    ["without its time", `T,${SECOND}`, "T,"],
    ["in another zone", `T,${SECOND}`, `T,${SECOND + 7200}`],
  ])("are a problem where a second file may tell the same scan %s, whatever was accepted", async (_, first, second) => {
    const field = await openSold();
    await field.write("scans-gate.csv", scans(first));
    await field.write("scans-box.csv", scans(second));
    const told = await field.stream(["scans-gate.csv", "scans-box.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said).toContain("scans-box.csv:2");
    expect(told.said).toContain("[history-unclear]");
    await field.stream(["scans-gate.csv"]);
    const next = await field.stream(["scans-gate.csv", "scans-box.csv"], { maxInvalid: { rows: 1 } });
    expect(next.summary?.actions.accepted, next.said).toBe(0);
    expect(acceptedOf(field, "scannedTicket", "ticketId")).toHaveLength(1);
  });

  test("are a problem where a source with a key tells the same scan without its seconds", async () => {
    const field = await openSold();
    const actions = "actions: [{scannedTicket: {fields: {ticketId: '{ticketId}', orderTime: '{orderTime}'}}}]";
    await field.write(
      "tickets.config.yaml",
      `sources:\n  gate: {match: gate.csv, key: "{id}", ${actions}}\n  box: {match: box.csv, ${actions}}\n`,
    );
    await field.write("gate.csv", file("id,ticketId,orderTime", `1,T,${SECOND}`, `2,T,${LATER}`));
    await field.write("box.csv", file("id,ticketId,orderTime", `b,T,${MINUTE}`));
    const told = await field.stream(["gate.csv", "box.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.summary?.rows, told.said).toMatchObject({ invalid: 2 });
  });

  test("are sent where no file tells what another one may tell", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("scans-gate.csv", scans(`T,${SECOND}`));
    await field.write("scans-box.csv", scans(`T,${SECOND + 1234}`, `T,${LATER}`));
    const sent = await field.stream(["scans-gate.csv", "scans-box.csv"]);
    expect(sent.summary?.actions, sent.said).toMatchObject({ accepted: 3 });
  });

  test.each([
    ["without times", "", ""],
    ["of which the earlier has a time", SECOND, ""],
    ["of which the later has a time", "", SECOND],
    ["of one minute, of which one gives no seconds", SECOND, MINUTE],
  ])(
    "are a problem where the rejects of a later run stand before those of an earlier one: %s",
    { tags: ["long"] },
    async (_, ...times) => {
      const field = await openSold();
      field.setFaults({ fault: "failure-items", items: [0] });
      for (const [name, user, time] of [
        ["resales-1.csv", "a", times[0]],
        ["resales-2.csv", "b", times[1]],
      ] as const) {
        await field.write(name, resales(`T,${user},5,${time}`));
        expect((await field.stream([name])).summary?.actions).toMatchObject({ rejected: 1 });
      }
      field.setFaults();
      const told = await field.stream(["resales-2.rejects.csv", "resales-1.rejects.csv"]);
      expect(told.exitCode, told.said).toBe(3);
      expect(told.said.match(/\[history-unclear\]/g), told.said).toHaveLength(2);
      // Where their times do not say that it is backwards.
      if (times.includes(SECOND) && times.includes(MINUTE)) return;
      const sent = await field.stream(["resales-1.rejects.csv", "resales-2.rejects.csv"]);
      expect(sent.summary?.actions, sent.said).toMatchObject({ accepted: 2 });
      expect(holders(field)).toEqual(["a", "b"]);
    },
  );
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

  test("hold it again as rejects, and send it from the rejects of one of them", { tags: ["long"] }, async () => {
    const field = await openScanned();
    const night = await field.stream(["scans-mon.csv", "scans-tue.csv"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.rows, night.said).toMatchObject({ invalid: 2, held: 1 });
    const rejects = await field.stream(["scans-mon.rejects.csv", "scans-tue.rejects.csv"]);
    expect(rejects.exitCode, rejects.said).toBe(3);
    expect(rejects.said).toContain("[history-unclear]");
    expect((await field.stream(["scans-tue.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    // Now it is known, whichever of the files brings it.
    const after = await field.stream(["scans-mon.csv", "scans-tue.csv"]);
    expect(after.summary?.actions, after.said).toMatchObject({ accepted: 0, alreadySent: 3 });
    const rest = await field.stream(["scans-mon.rejects.csv"]);
    expect(rest.summary?.actions, rest.said).toMatchObject({ accepted: 0, alreadySent: 1 });
    expect(times(field)).toEqual([MONDAY, TUESDAY]);
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

  test("send nothing of what a row brought that was mended, and stands right in the other", {
    tags: ["long"],
  }, async () => {
    const field = await openScanned();
    await field.write("scans-mon.csv", "ticketId,orderTime\nT,never\n");
    await field.stream(["scans-mon.csv"], { maxInvalid: { rows: 1 } });
    const rejects = await field.read("scans-mon.rejects.csv");
    await field.write("scans-mon.rejects.csv", rejects.replace("never", String(MONDAY)));
    expect((await field.stream(["scans-mon.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    const both = await field.stream(["scans-mon.csv", "scans-tue.csv"]);
    expect(both.summary?.rows, both.said).toMatchObject({ mended: 1 });
    expect(times(field)).toEqual([MONDAY, TUESDAY]);
  });

  test("take equal ones by the minute within one file for several deeds, as many as the largest file has", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    const MINUTE = MONDAY - (MONDAY % 60);
    await field.write("scans-1.csv", scans(MINUTE, MINUTE));
    await field.write("scans-2.csv", scans(MINUTE, MINUTE, TUESDAY));
    expect((await field.stream(["scans-1.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    expect((await field.stream(["scans-1.csv", "scans-2.csv"])).summary?.actions).toMatchObject({
      accepted: 1,
      alreadySent: 4,
    });
    await field.write("scans-3.csv", scans(MINUTE, MINUTE, MINUTE));
    const more = await field.stream(["scans-2.csv", "scans-3.csv"]);
    expect(more.exitCode, more.said).toBe(3);
    expect((await field.stream(["scans-3.csv"])).summary?.actions).toMatchObject({ accepted: 1, alreadySent: 2 });
  });

  test("hold a resale of one time that says something else in each, which is changed once one was accepted", {
    tags: ["long"],
  }, async () => {
    const field = await openSold();
    await field.write("one.ndjson", lines(resold("b", MONDAY)));
    await field.write("other.ndjson", lines(resold("c", MONDAY)));
    const both = await field.stream(["one.ndjson", "other.ndjson"]);
    expect(both.exitCode, both.said).toBe(3);
    expect(both.said).toContain("stands at other.ndjson:1 and says something else");
    await field.stream(["one.ndjson"]);
    const after = await field.stream(["one.ndjson", "other.ndjson"]);
    expect(after.summary?.actions, after.said).toMatchObject({ accepted: 0, alreadySent: 2, changed: 1 });
    expect(acceptedOf(field, "resoldTicket", "userId")).toEqual(["b"]);
  });

  test("send a row with a key once, and several updates without times as they stand", { tags: ["long"] }, async () => {
    const field = await openScanned();
    const config = `sources:
  scans:
    match: "scans*.csv"
    key: "{ticketId}-{orderTime}"
    actions: [scannedTicket: {fields: {ticketId: "{ticketId}", orderTime: "{orderTime}"}}]
`;
    await field.write("tickets.config.yaml", config);
    const keyed = await field.stream(["scans-mon.csv", "scans-tue.csv"]);
    expect(keyed.summary?.actions, keyed.said).toMatchObject({ accepted: 2, alreadySent: 1 });
    await field.write("one.ndjson", lines(updated(url("a"))));
    await field.write("two.ndjson", lines(updated(url("b"))));
    await field.write("three.ndjson", lines(updated(url("a")), newEvent("F")));
    await field.stream(["one.ndjson", "two.ndjson", "three.ndjson"]);
    expect(images(field)).toBe("a b a");
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

  test("and hold the same are a copy, or two nights on which the same happened: that is told", async () => {
    const field = await openSold();
    const updates = `ticketId,imageUrl\nT,${url("a")}\n`;
    for (const name of ["updates-8.csv", "updates-10.csv"]) await field.write(name, updates);
    await field.write("updates-9.csv", updates.replace("a.png", "b.png"));
    const nights = await field.stream(["updates-8.csv", "updates-9.csv", "updates-10.csv"]);
    expect(nights.said).toContain(
      "input-twice: updates-10.csv:1 The input is the same as updates-8.csv, byte for byte. If it is a copy,",
    );
    expect(images(field)).toBe("a b a");

    const input = { action: "updateTicket" } as const;
    const piped = await field.stream(["-", "updates-8.csv"], input, {
      asked: ({ context }) => Object.assign(context, { stdin: Readable.from([updates]) }),
    });
    expect(piped.said).toContain("updates-8.csv:1 The input is the same as standard input");
  });

  test("may hold the same where it means something else in each, or nothing", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("scans.csv", scans(MONDAY));
    await field.write("checkins.csv", scans(MONDAY));
    await field.write("invalidations-1.csv", scans());
    await field.write("invalidations-2.csv", scans());
    const done = await field.stream(["invalidations-1.csv", "invalidations-2.csv", "scans.csv", "checkins.csv"]);
    expect(done.summary?.actions, done.said).toMatchObject({ accepted: 2 });
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
    ["of which one has a time", EARLY, ""],
  ])("of which one was rejected: it does not come behind a later one, %s", async (_, ...times) => {
    const field = await openSold();
    await field.write("claims.csv", claims(`T,a,${times[0]}`, `T,b,${times[1]}`));
    field.setFaults(rejecting(0));
    expect((await field.stream(["claims.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    for (const name of ["claims.csv", "claims.rejects.csv"]) {
      const next = await field.stream([name], { maxInvalid: { rows: 9 } });
      expect(next.summary?.actions.accepted ?? 0, next.said).toBe(0);
      expect(next.said).toMatch(/history-(late|superseded)/);
    }
    expect(claimants(field)).toEqual(["b"]);
    // A later one goes, and the service says whether it takes it.
    await field.write("claims.csv", claims(`T,b,${times[1]}`, `T,c,${times[1] === "" ? "" : LATE + 1}`));
    const last = await field.stream(["claims.csv"]);
    expect(last.summary?.actions, last.said).toMatchObject({ rejected: 1, alreadySent: 1 });
  });

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

  test("that go backwards in time, or whose rejects were turned round, are a problem", async () => {
    const field = await openSold();
    await field.write("claims.csv", claims(`T,b,${LATE}`, `T,a,${EARLY}`));
    const told = await field.stream(["claims.csv"]);
    expect(told.exitCode, told.said).toBe(3);
    expect(told.said.match(/\[history-unclear\]/g), told.said).toHaveLength(2);
    await field.write("claims.csv", claims("T,a,", "T,b,"));
    field.setFaults(rejecting(0, 1));
    await field.stream(["claims.csv"]);
    field.setFaults();
    const [header, one, other] = (await field.read("claims.rejects.csv")).trimEnd().split("\n");
    await field.write("claims.rejects.csv", `${[header, other, one].join("\n")}\n`);
    const turned = await field.stream(["claims.rejects.csv"]);
    expect(turned.exitCode, turned.said).toBe(3);
    expect(turned.said).toContain("[history-unclear]");
  });

  describe("of which a row was bad, and has no time once it is mended", () => {
    const BAD = "T,a,soon";
    const GOOD = "T,a,";

    async function night(field: Field, ...rows: readonly string[]) {
      await field.write("claims.csv", claims(...rows));
      return field.stream(["claims.csv"], { maxInvalid: { rows: 1 } });
    }

    async function mend(field: Field) {
      await field.write("claims.rejects.csv", (await field.read("claims.rejects.csv")).replace(BAD, GOOD));
      return field.stream(["claims.rejects.csv"]);
    }

    const asked = ({ summary }: { readonly summary?: Summary | undefined }): number =>
      (summary?.actions.accepted ?? 0) + (summary?.actions.rejected ?? 0);

    test("another one behind it waits for it", async () => {
      const field = await openSold();
      const first = await night(field, BAD, "T,b,");
      expect(first.summary?.rows, first.said).toMatchObject({ invalid: 1, held: 1 });
      const mended = await mend(field);
      // The sandbox takes one claim of a ticket.
      expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 1, rejected: 1 });
      expect(claimants(field)).toEqual(["a"]);
    });

    test("it does not come behind one that was sent alone meanwhile", async () => {
      const field = await openSold();
      await night(field, BAD, "T,b,");
      await field.write("other.csv", claims("T,b,"));
      expect((await field.stream(["other.csv"], { action: "claimedTicket" })).summary?.actions.accepted).toBe(1);
      const mended = await mend(field);
      expect(mended.said).toMatch(/history-(late|superseded)/);
      expect(asked(mended), mended.said).toBe(0);
    });

    test("it does not come behind one that was accepted a night before and stood behind it", async () => {
      const field = await openSold();
      await night(field, "T,b,");
      await night(field, BAD, "T,b,");
      const mended = await mend(field);
      expect(mended.said).toContain("history-late");
      expect(mended.said).toContain("which came after its row when that was rejected");
      expect(asked(mended), mended.said).toBe(0);
    });

    test("it comes behind one that stood before it", async () => {
      const field = await openSold();
      await night(field, "T,b,");
      await night(field, "T,b,", BAD);
      const mended = await mend(field);
      expect(mended.said).not.toContain("history-");
      expect(asked(mended), mended.said).toBe(1);
    });

    test("it comes behind one that its own run sent before it", async () => {
      const field = await openSold();
      expect((await night(field, "T,b,", BAD)).summary?.actions.accepted).toBe(1);
      const mended = await mend(field);
      expect(mended.said).not.toContain("history-");
      expect(asked(mended), mended.said).toBe(1);
    });

    test("one that stands before what --limit leaves out is unclear beside an accepted one", async () => {
      const field = await openSold();
      await night(field, "T,b,");
      await field.write("claims.csv", claims("T,c,", "T,b,"));
      const cut = await field.stream(["claims.csv"], { limit: 1 });
      expect(cut.exitCode, cut.said).toBe(3);
      expect(cut.said).toContain("since --limit leaves rows out");
      expect(asked(cut), cut.said).toBe(0);
    });

    test("one with a key waits before a bad row that may be the accepted one", async () => {
      const field = await openSold();
      await field.write("tickets.config.yaml", KEYED_CLAIMS);
      const send = async (...rows: readonly string[]) => {
        await field.write("claims.csv", `${["ticketId,userId,orderTime,Id", ...rows].join("\n")}\n`);
        return field.stream(["claims.csv"], { maxInvalid: { rows: 1 } });
      };
      expect(asked(await send("T,b,,2"))).toBe(1);
      const next = await send("T,c,,3", "T,b,soon,2");
      expect(next.summary?.rows, next.said).toMatchObject({ invalid: 1, held: 1 });
      expect(asked(next), next.said).toBe(0);
      // Without the bad row it goes, and so it does behind it.
      expect(asked(await send("T,b,,2", "T,c,,3"))).toBe(1);
    });

    test.each([
      ["without a key", "", ["T,c,", BAD]],
      ["with a key", KEYED_CLAIMS, ["T,c,,3", `${BAD},2`]],
    ])("mended to what was accepted before, it stands for that: %s", async (_, config, [between, bad]) => {
      const field = await openSold();
      await field.write("tickets.config.yaml", config);
      const header = config === "" ? "ticketId,userId,orderTime" : "ticketId,userId,orderTime,Id";
      const send = async (...rows: readonly (string | undefined)[]) => {
        await field.write("claims.csv", `${[header, ...rows].join("\n")}\n`);
        return field.stream(["claims.csv"], { maxInvalid: { rows: 1 } });
      };
      const good = String(bad).replace("soon", "");
      expect(asked(await send(good))).toBe(1);
      await send(bad);
      await field.write("claims.rejects.csv", (await field.read("claims.rejects.csv")).replace("soon", ""));
      const mended = await field.stream(["claims.rejects.csv"]);
      expect(mended.summary?.actions, mended.said).toMatchObject({ alreadySent: 1 });
      const next = await send(between, bad);
      expect(next.said).toContain("history-late");
      expect(asked(next), next.said).toBe(0);
    });

    test("its ledger being another one, it is not sent beside an accepted one", async () => {
      const field = await openSold();
      await night(field, BAD);
      const rejects = await field.read("claims.rejects.csv");
      const other = await openSold();
      await night(other, "T,b,");
      await other.write("claims.rejects.csv", rejects);
      const mended = await mend(other);
      expect(mended.exitCode, mended.said).toBe(3);
      expect(mended.said).toContain("does not know the rejects file");
      expect(asked(mended), mended.said).toBe(0);
    });

    test("one that stands before it is late once it was accepted", async () => {
      const field = await openSold();
      await night(field, BAD);
      expect(asked(await mend(field))).toBe(1);
      const next = await night(field, "T,c,", BAD);
      expect(next.said).toContain("history-late");
      expect(asked(next), next.said).toBe(0);
      // Behind it, it is a new one.
      expect(asked(await night(field, BAD, "T,c,"))).toBe(1);
    });

    test("one that stands before a bad row waits where that may be the accepted one", async () => {
      const field = await openSold();
      await night(field, GOOD);
      const next = await night(field, "T,c,", BAD);
      expect(next.summary?.rows, next.said).toMatchObject({ invalid: 1, held: 1 });
      expect(asked(next), next.said).toBe(0);
      // Mended, it turns out to be that one: what stands before it is late.
      const mended = await night(field, "T,c,", GOOD);
      expect(mended.said).toContain("history-late");
      expect(asked(mended), mended.said).toBe(0);
    });
  });
});
