/** What counts as already sent: the table, the sentences, and what a person may say (design §8). */

import { describe, expect, test } from "vitest";
import { acceptedBy, type Field, openField, openSold as openTickets, processedBy } from "../../support/context.ts";
import { LONG } from "../../support/walks.ts";

const newEvent = (eventId: string): object => ({ action: "newEvent", data: { eventId, currency: "EUR" } });
const sold = (ticketId: string, userId = "u"): object => ({
  action: "soldTicket",
  data: { eventId: "E", ticketId, userId, price: "1", orderTime: 100 },
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

/** An event and a ticket that was sold. */
const openSold = (): Promise<Field> => openTickets({ T: "E" });

const rejecting = (...items: readonly number[]): object => ({ on: { request: 1 }, fault: "failure-items", items });

/** What the service has accepted of one kind, by one field of its data, in order. */
function acceptedOf({ sandbox }: Field, kind: string, field: string): readonly unknown[] {
  return acceptedBy(sandbox)
    .filter(({ action }) => action === kind)
    .map(({ data }) => data[field]);
}

const images = (field: Field): string =>
  acceptedOf(field, "updateTicket", "imageUrl")
    .map((text) => String(text).replace(/.*\/|\.png/g, ""))
    .join(" ");

const ANSWER_LOST = { on: { request: 1 }, fault: "drop", when: "after" };

/** Streams one file of these actions. */
async function night(field: Field, name: string, actions: readonly object[], options: object = {}) {
  await field.write(name, actions);
  return field.stream([name], options);
}

const updates = (...names: readonly string[]): readonly object[] => names.map((name) => updated(url(name)));
const claimed = (userId: string, orderTime?: number): object => ({
  action: "claimedTicket",
  data: { ticketId: "T", userId, orderTime },
});
const scanned = (orderTime?: number, ticketId = "T"): object => ({
  action: "scannedTicket",
  data: { ticketId, orderTime },
});
const holders = (field: Field) => acceptedOf(field, "resoldTicket", "userId");

describe("sent", () => {
  test("is what was accepted, in any file and order, and of one input the first of equal ones", async () => {
    const field = await openSold();
    const first = await night(field, "moves.ndjson", [...updates("a", "a", "b"), scanned(9), scanned(9), scanned(8)]);
    expect(first.summary?.actions).toMatchObject({ total: 6, accepted: 4, alreadySent: 2 });
    const turned = await night(field, "other.ndjson", [
      scanned(8),
      ...updates("b"),
      scanned(9),
      sold("T"),
      newEvent("E"),
    ]);
    expect(turned).toMatchObject({ exitCode: 0, summary: { state: "nothing new", actions: { alreadySent: 5 } } });
    expect(images(field)).toBe("a b");
  });

  test("is a key or a recipient that ends like the number of a resent one", async () => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      `sources: {s: {match: "scans*", key: "{id}", actions: [scannedTicket: {fields: {ticketId: T}}]}}\n`,
    );
    await field.write("scans.csv", "id\ngate\ngate#\ngate#1\ngate#2\ngate#-2\n");
    await field.write("claims.ndjson", [claimed("club#2")]);
    const first = await field.stream(["scans.csv", "claims.ndjson"]);
    expect(first.summary?.actions, first.said).toMatchObject({ accepted: 6 });
    const again = await field.stream(["scans.csv", "claims.ndjson"]);
    expect(again, again.said).toMatchObject({ exitCode: 0, summary: { actions: { alreadySent: 6 } } });
    await field.write("scans-1.csv", "id\ngate#1\n");
    expect((await field.stream(["scans-1.csv"], { resend: true })).summary?.actions).toMatchObject({ accepted: 1 });
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ alreadySent: 5 });
  });

  test("is what the ledger knows where rules about it are turned down", async () => {
    const field = await openField();
    await field.write("tickets.config.yaml", "rules: {ticket-sold-twice: warn, event-registered-twice: off}\n");
    const sales = [newEvent("E"), newEvent("E"), sold("T"), sold("T"), sold("T", "u2")];
    const { summary } = await night(field, "sales.ndjson", sales);
    expect(summary?.actions).toMatchObject({ total: 5, accepted: 2, alreadySent: 2, changed: 1 });
    expect(processedBy(field.sandbox)).toBe("E T");
  });
});

describe("late", () => {
  test("is an update that stands before an accepted one; alone in a file it is new", async () => {
    const field = await openSold();
    field.setFaults(rejecting(1));
    await night(field, "updates.ndjson", updates("a", "b", "c"));
    field.setFaults();
    for (const name of ["updates.ndjson", "updates.rejects.ndjson"]) {
      const late = await field.stream([name]);
      expect(late).toMatchObject({ exitCode: 4, summary: { actions: { accepted: 0, late: 1 } } });
      expect(late.said).toContain("late: ");
      expect(late.said).toContain("A later updateTicket of the same ticket was accepted");
    }
    expect((await night(field, "updates.ndjson", updates("a", "c", "d"))).summary?.actions).toMatchObject({
      accepted: 1,
    });
    expect((await night(field, "delta.ndjson", updates("b"))).summary?.actions).toMatchObject({ accepted: 1 });
    expect(images(field)).toBe("a c d b");
  });

  test.each(["orderTime", "nothing"])("is a rejected claim of a source with a key and %s", async (times) => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      `sources:
  claims:
    match: "claims*"
    key: "{Id}"
    actions: [claimedTicket: {fields: {ticketId: "{ticketId}", userId: "{userId}", orderTime: "{orderTime}"}}]
`,
    );
    const [one, two] = times === "nothing" ? ["", ""] : ["1780311678", "1780398078"];
    await field.write("claims.csv", `ticketId,userId,orderTime,Id\nT,a,${one},1\nT,b,${two},2\n`);
    field.setFaults(rejecting(0));
    expect((await field.stream(["claims.csv"])).summary?.actions).toMatchObject({ accepted: 1, rejected: 1 });
    field.setFaults();
    for (const name of ["claims.rejects.csv", "claims.csv"])
      expect((await field.stream([name])).summary?.actions).toMatchObject({ accepted: 0, rejected: 0, late: 1 });
  });
});

describe("unclear", () => {
  test.each([
    ["update", (name: string) => updated(url(name)), "updateTicket"],
    ["claim", (name: string) => claimed(name), "claimedTicket"],
  ] as const)("is an %s without a time that comes back, until a person decides", async (_, toAction, kind) => {
    const field = await openSold();
    const back = await night(field, "moves.ndjson", ["a", "b", "a"].map(toAction));
    expect(back).toMatchObject({ exitCode: 4, summary: { actions: { unclear: 1 } } });
    expect(back.said).toContain(`It repeats an earlier row, with another ${kind} in between`);
    const [rejected = ""] = (await field.read("moves.rejects.ndjson"))
      .split("\n")
      .filter((line) => line.includes("unclear:"));
    expect(rejected).toContain('"tickets:row":"?');
    // Left as it was, it is reported again.
    await field.write("left.rejects.ndjson", `${rejected}\n`);
    const left = await field.stream(["left.rejects.ndjson"]);
    expect(left).toMatchObject({ exitCode: 4, summary: { actions: { accepted: 0, alreadySent: 0, unclear: 1 } } });
    expect(left.said).toContain(
      "Give the unclear rows a time or a key, or add --resend (they are new) or --adopt (they are known), then run: tickets stream",
    );
    const adopted = await field.stream(["left.rejects.ndjson"], { adopt: true });
    expect(adopted).toMatchObject({ exitCode: 0, summary: { state: "adopted", actions: { alreadySent: 1 } } });
    const known = await field.stream(["left.rejects.ndjson"]);
    expect(known).toMatchObject({ exitCode: 0, summary: { actions: { alreadySent: 1 } } });
    expect((await field.stream(["moves.ndjson"])).summary?.actions).toMatchObject({ accepted: 0, unclear: 0 });
  });

  test("is also one that comes back alone", async () => {
    const field = await openSold();
    await night(field, "updates.ndjson", updates("a", "b"));
    const back = await night(field, "delta.ndjson", updates("a"));
    expect(back.summary?.actions, back.said).toMatchObject({ unclear: 1 });
    const sent = await field.stream(["delta.ndjson"], { resend: true });
    expect(sent.summary?.actions).toMatchObject({ accepted: 1 });
    expect(images(field)).toBe("a b a");
    expect((await field.stream(["delta.ndjson"])).summary?.actions).toMatchObject({ alreadySent: 1 });
  });

  test("is where times came, or went", async () => {
    const field = await openSold();
    const untimed = { action: "resoldTicket", data: { ticketId: "T", userId: "u2", price: "11.00" } };
    await night(field, "resales.ndjson", [untimed]);
    const timed = await night(field, "resales.ndjson", [resold("u2", 1768600001), resold("u3", 1768600002)]);
    expect(timed.summary?.actions).toMatchObject({ accepted: 0, unclear: 2 });
    expect(timed.said).toContain("is known by its content, this one by its time");
    expect(holders(field)).toEqual(["u2"]);
  });

  test("is what is new where an accepted one is missing: its time was corrected, or its row can't be read", async () => {
    const field = await openSold();
    await field.write("more.ndjson", [sold("S")]);
    await field.stream(["more.ndjson"]);
    const [one, two] = [scanned(1768600010), scanned(1768600020)];
    const others = [scanned(1768600001, "S"), scanned(1768600090, "S")];
    await night(field, "scans.ndjson", [one, two, ...others]);
    const moved = await night(field, "scans.ndjson", [one, scanned(1768600021), ...others]);
    expect(moved.summary?.actions, moved.said).toMatchObject({ accepted: 0, alreadySent: 3, unclear: 1 });
    expect(moved.said).toContain("is missing from this input: this may be the same one with a corrected time");
    const left = await field.stream(["scans.rejects.ndjson"]);
    expect(left.summary?.actions, left.said).toMatchObject({ accepted: 0, unclear: 1 });
    const all = await night(field, "scans.ndjson", [one, two, scanned(1768600021), ...others]);
    expect(all.summary?.actions, all.said).toMatchObject({ accepted: 1, alreadySent: 4 });
    // In rejects that were corrected nothing is missing.
    await field.write("late.rejects.ndjson", (await field.read("scans.rejects.ndjson")).replaceAll("600021", "600015"));
    expect((await field.stream(["late.rejects.ndjson"])).summary?.actions).toMatchObject({ accepted: 1 });
  });

  test("is not where a key tells, whatever became of the times", async () => {
    const field = await openSold();
    await field.write(
      "tickets.config.yaml",
      `sources: {s: {match: "scans*", key: "{id}", actions: [scannedTicket: {fields: {ticketId: T, orderTime: "{at}"}}]}}\n`,
    );
    const scans = (...rows: readonly string[]) => field.write("scans.csv", `id,at\n${rows.join("\n")}\n`);
    await scans("1,1768600010", "2,1768600020");
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    await scans("1,1768600010", "2,1768600021", "3,1768600021");
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({
      accepted: 1,
      alreadySent: 1,
      changed: 1,
    });
  });

  test("is where --limit leaves out what was accepted", async () => {
    const field = await openSold();
    await night(field, "updates.ndjson", updates("b"));
    const canary = await night(field, "updates.ndjson", updates("a", "b"), { limit: 1 });
    expect(canary.summary?.actions, canary.said).toMatchObject({ accepted: 0, unclear: 1 });
    expect(canary.said).toContain("--limit hides which of the two comes later");
    expect((await field.stream(["updates.ndjson"])).summary?.actions).toMatchObject({ accepted: 0, late: 1 });
  });
});

describe("held", () => {
  const bad = updated("no address");
  const some = { maxInvalid: { rows: 5 } };

  test("is all that is new of the ticket of a bad row, before it and behind, until that is corrected", async () => {
    const field = await openSold();
    const first = await night(field, "updates.ndjson", [...updates("a"), bad, ...updates("c"), scanned(5)], some);
    expect(first).toMatchObject({ exitCode: 4, summary: { rows: { invalid: 1, held: 3 }, actions: { accepted: 0 } } });
    await field.edit("updates.rejects.ndjson", "no address", url("b"));
    const corrected = await field.stream(["updates.rejects.ndjson"]);
    expect(corrected.summary?.actions, corrected.said).toMatchObject({ total: 4, accepted: 4 });
    expect(images(field)).toBe("a b c");
    // The bad row counts as sent from now on, and holds nothing.
    const second = await night(field, "updates.ndjson", [...updates("a"), bad, ...updates("c", "d"), scanned(5)]);
    expect(second).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 1, alreadySent: 4 } } });
    // Another one of the same text is another row.
    const third = await night(field, "updates.ndjson", [...updates("a"), bad, bad, ...updates("c", "d", "e")], some);
    expect(third.summary).toMatchObject({ rows: { invalid: 1, held: 1 }, actions: { accepted: 0 } });
  });

  test.each(["known", "adopted"])("is not held any more by a bad row whose corrected version is %s", async (how) => {
    const field = await openSold();
    if (how === "known") await night(field, "updates.ndjson", updates("a"));
    await night(field, "updates.ndjson", [bad, ...updates("b")], some);
    const [row = ""] = (await field.read("updates.rejects.ndjson")).split("\n");
    await field.write("fixed.rejects.ndjson", `${row.replace("no address", url("a"))}\n`);
    expect((await field.stream(["fixed.rejects.ndjson"], { adopt: how === "adopted" })).exitCode).toBe(0);
    const next = await field.stream(["updates.ndjson"]);
    expect(next.summary?.actions, next.said).toMatchObject({ total: 2, alreadySent: 1, accepted: 1 });
    expect(images(field)).toBe(how === "known" ? "a b" : "b");
  });

  test("comes too late once a later one was accepted, and so does the corrected row", async () => {
    const field = await openSold();
    await night(field, "updates.ndjson", [...updates("a"), bad, ...updates("c")], some);
    expect((await night(field, "more.ndjson", updates("d"))).summary?.actions).toMatchObject({ accepted: 1 });
    await field.edit("updates.rejects.ndjson", "no address", url("b"));
    const corrected = await field.stream(["updates.rejects.ndjson"]);
    expect(corrected.summary?.actions, corrected.said).toMatchObject({ accepted: 0, late: 3 });
    expect(images(field)).toBe("d");
  });

  test("are the updates of the event of a bad row", async () => {
    const field = await openSold();
    const renamed = (eventName: unknown): object => ({ action: "updateEvent", data: { eventId: "E", eventName } });
    const events = await night(field, "events.ndjson", [renamed("One"), renamed(2), renamed("Three")], some);
    expect(events.summary).toMatchObject({ rows: { invalid: 1, held: 2 }, actions: { accepted: 0 } });
  });

  test("is a row that repeats what a bad row would have done, and it is not taken for sent", async () => {
    const field = await openField();
    await field.write(
      "tickets.config.yaml",
      `sources:
  swaps:
    match: [swaps.csv, swaps.rejects.csv]
    fields: {eventId: E, ticketId: "{New}"}
    actions:
      - soldTicket:
          fields: {userId: "u-{New}", price: "1.00", orderTime: "1768600000"}
      - invalidatedTicket:
          when: {Old: {empty: false}}
          fields: {ticketId: "{Old}", orderTime: "1768600001"}
`,
    );
    await field.write("events.ndjson", [newEvent("E")]);
    await field.write("swaps.csv", "New,Old\nA,\nB,\nA,B\nC,B\n");
    const { summary, exitCode } = await field.stream(["events.ndjson", "swaps.csv"], { maxInvalid: { rows: 2 } });
    expect(exitCode).toBe(4);
    // The third row sells A twice; the fourth invalidates B, as the third would have.
    expect(summary?.rows).toMatchObject({ mapped: 3, invalid: 1, held: 1 });
    expect(processedBy(field.sandbox)).toBe("E A B");
    expect(await field.read("swaps.rejects.csv")).toContain("C,B,");
  });

  test("is what another run may have sent, also with --resend, and all that is new of its ticket", async () => {
    const field = await openSold();
    await field.write("more.ndjson", [sold("S")]);
    await field.stream(["more.ndjson"]);
    field.setFaults(ANSWER_LOST);
    expect((await night(field, "updates.ndjson", updates("a"))).exitCode).toBe(6);
    field.setFaults();
    await field.settle("abandon");
    const later = [...updates("a", "b"), scanned(5), scanned(5, "S")];
    const next = await night(field, "later.ndjson", later);
    expect(next).toMatchObject({ exitCode: 6, summary: { actions: { accepted: 1, notSent: 3 } } });
    const resent = await night(field, "later.ndjson", updates("a"), { resend: true });
    expect(resent.summary?.actions, resent.said).toMatchObject({ accepted: 0, notSent: 1 });
    expect(resent.said).toContain("Look, then decide: tickets settle");
    expect(images(field)).toBe("a");
  });

  test("are sales of an event whose newEvent another run may have sent, and what depends on them", async () => {
    const field = await openField();
    field.setFaults({ on: { request: 1 }, fault: "drop", when: "before" });
    expect((await night(field, "event.ndjson", [newEvent("E")])).exitCode).toBe(6);
    field.setFaults();
    await field.settle("abandon");
    const next = await night(field, "sales.ndjson", [sold("T"), checkedIn("T", 1768700000)]);
    expect(next.summary?.actions, next.said).toMatchObject({ total: 2, notSent: 2 });
    expect(processedBy(field.sandbox)).toBe("");
  });
});

test("times of one ticket that fall within an input are a problem, which --order time solves", async () => {
  const field = await openSold();
  await field.write("resales.ndjson", [resold("b", 1768600020), resold("a", 1768600010)]);
  const fall = await field.stream(["resales.ndjson"]);
  expect(fall.exitCode).toBe(3);
  expect(fall.said).toContain("times-fall");
  expect((await field.stream(["resales.ndjson"], { order: "time" })).summary?.actions).toMatchObject({ accepted: 2 });
  expect(holders(field)).toEqual(["a", "b"]);
});

test("an id that is a number with an exponent is not sent", LONG, async () => {
  const field = await openSold();
  const scan = (ticketId: string): string => `{"ticketId":${ticketId},"orderTime":1768600005}\n`;
  await field.write("scans.ndjson", scan("1.5e3"));
  const night = await field.stream(["scans.ndjson"]);
  expect(night.exitCode).toBe(3);
  expect(night.said).toContain('ticketId: "1.5e3" ticketId is a number that the next export may write differently');
  await field.write(
    "tickets.config.yaml",
    'sources: {s: {match: "gate*", actions: [scannedTicket: {fields: {ticketId: "{id}", orderTime: "{at}"}}]}}\n',
  );
  await field.write("gate.ndjson", '{"id":1.5e3,"at":1768600005}\n');
  expect((await field.stream(["gate.ndjson"])).said).toContain("id-number-spelling");
  await field.write("items.ndjson", '{"action":"scannedTicket","data":{"ticketId":1.5e3,"orderTime":1768600005}}\n');
  expect((await field.stream(["items.ndjson"])).said).toContain("field-type");
  expect(acceptedOf(field, "scannedTicket", "ticketId")).toEqual([]);
  // Whole numbers and texts are taken by what stands there.
  await field.write("scans.ndjson", `${scan("1500")}${scan('"1.5e3"')}`);
  expect((await field.stream(["scans.ndjson"])).said).not.toContain("id-number-spelling");
});
