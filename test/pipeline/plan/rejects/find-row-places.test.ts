/** A row that was rejected keeps its place: once it is mended, it is not sent behind what stood behind it. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ActionName } from "../../../../src/actions/actions.ts";
import { type Done, type Field, openField } from "../../../support/context.ts";
import { isLeft, mend } from "../../../support/rejects.ts";
import { forWalks } from "../../../support/walks.ts";

const url = (name: string): string => `https://img.example/${name}`;
const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Tickets T and T2 of the event E, ticket F of the event E2. */
async function openSold(config = ""): Promise<Field> {
  const field = await openField();
  const sales = Object.entries({ T: "E", T2: "E", F: "E2" }).map(([ticketId, eventId]) => ({
    action: "soldTicket",
    data: { eventId, ticketId, userId: "u", price: "1.00", orderTime: 100 },
  }));
  const events = ["E", "E2"].map((eventId) => ({ action: "newEvent", data: { eventId, currency: "EUR" } }));
  await field.write("before.ndjson", ndjson([...events, ...sales]));
  expect((await field.stream(["before.ndjson"])).exitCode).toBe(0);
  if (config !== "") await field.write("tickets.config.yaml", config);
  return field;
}

/** What the service has accepted of a kind, in order: one field of each. */
const acceptedOf = ({ sandbox }: Field, action: ActionName, name = "userId"): string =>
  Array.from(sandbox.engine.processed())
    .filter((each) => each.action === action && each.status === "success")
    .map(({ data }) => String((JSON.parse(data) as Record<string, unknown>)[name]).replace(url(""), "")) // as the engine wrote it
    .join(" ");

const BEARING = { maxInvalid: { rows: 9 } } as const;

const RESALES = "action,ticketId,userId,price,orderTime\n";
const resale = (userId: string, ticketId = "T", orderTime = ""): string =>
  `resoldTicket,${ticketId},${userId},10.00,${orderTime}\n`;

const MAPPED = `sources:
  all:
    match: "all*.csv"
KEY    actions: [{resoldTicket: {fields: {ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}}}]
`;

describe("a row whose ticket or event could not be read", () => {
  const SOURCES = forWalks(
    [
      ["", ""],
      ["mapped", MAPPED.replace("KEY", "")],
      ["with a key", MAPPED.replace("KEY", '    key: "{userId}"\n')],
    ],
    3,
  );

  function isUnknown(_: string, config: string): void {
    test.each<[string, string, readonly [string, string]]>([
      ["without its ticketId", resale("bob", ""), ["resoldTicket,,", "resoldTicket,T,"]],
      ["with too few cells", "resoldTicket,T,bob\n", ["\n,,,,,", "\nresoldTicket,T,bob,10.00,,"]],
    ])("%s, is superseded by what its run sent behind it", async (_name, bad, mended) => {
      const field = await openSold(config);
      await field.write("all.csv", `${RESALES}${resale("ann")}${bad}${resale("cid")}`);
      expect((await field.stream(["all.csv"], BEARING)).exitCode).toBe(4);
      await mend(field, "all.rejects.csv", ...mended);
      isLeft(await field.stream(["all.rejects.csv"]), "history-superseded");
      expect(acceptedOf(field, "resoldTicket")).toBe("ann cid");
      const again = await field.stream(["all.rejects.csv"], { again: true });
      expect(again.summary?.actions, again.said).toMatchObject({ accepted: 1 });
      expect((await field.stream(["all.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 0, superseded: 0 });
    });

    test("is sent where its run sent nothing behind it", async () => {
      const field = await openSold(config);
      await field.write("all.csv", `${RESALES}${resale("ann")}${resale("bob", "")}${resale("cid", "T2")}`);
      await field.stream(["all.csv"], BEARING);
      await mend(field, "all.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      expect((await field.stream(["all.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
      expect(acceptedOf(field, "resoldTicket")).toBe("ann cid bob");
    });

    test("is a problem beside what was accepted before, of which some may stand behind it", {
      tags: ["long"],
    }, async () => {
      const field = await openSold(config);
      await field.write("all.csv", `${RESALES}${resale("ann")}${resale("cid")}`);
      await field.stream(["all.csv"]);
      await field.write("all.csv", `${RESALES}${resale("ann")}${resale("bob", "")}${resale("cid")}`);
      await field.stream(["all.csv"], BEARING);
      await mend(field, "all.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      const mended = await field.stream(["all.rejects.csv"]);
      isLeft(mended, "history-unclear");
      expect(mended.said).toContain("stream the whole export");
      // The rejects of its rejects know no more.
      await field.stream(["all.rejects.csv"], BEARING);
      isLeft(await field.stream(["all.rejects.rejects.csv"]), "history-unclear");
      expect(acceptedOf(field, "resoldTicket")).toBe("ann cid");
      await field.write("all.csv", `${RESALES}${resale("ann")}${resale("bob")}${resale("cid")}`);
      isLeft(await field.stream(["all.csv"]), "history-late");
      expect((await field.stream(["all.rejects.csv"], { again: true })).summary?.actions.accepted).toBe(1);
      expect((await field.stream(["all.csv"])).summary?.actions).toMatchObject({ alreadySent: 3 });
    });

    test("is sent beside what was accepted before, where nothing of that stood behind it", async () => {
      const field = await openSold(config);
      await field.write("all.csv", `${RESALES}${resale("ann")}`);
      await field.stream(["all.csv"]);
      await field.write("all.csv", `${RESALES}${resale("ann")}${resale("bob", "")}`);
      await field.stream(["all.csv"], BEARING);
      await mend(field, "all.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
      expect((await field.stream(["all.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
      expect(acceptedOf(field, "resoldTicket")).toBe("ann bob");
    });
  }

  describe.each(SOURCES.short)("%s", isUnknown);
  describe.each(SOURCES.long)("%s", { tags: ["long"] }, isUnknown);

  test.each<[string, number, string, string]>([
    ["before a later one", 200, "history-late", "ann cid"],
    ["behind an earlier one", 400, "", "ann cid bob"],
  ])("goes by its time: %s", async (_, time, rule, accepted) => {
    const field = await openSold();
    const [ann, cid] = [resale("ann", "T", "100"), resale("cid", "T", "300")];
    await field.write("all.csv", `${RESALES}${ann}${cid}`);
    await field.stream(["all.csv"]);
    await field.write("all.csv", `${RESALES}${ann}${resale("bob", "", String(time))}${cid}`);
    await field.stream(["all.csv"], BEARING);
    await mend(field, "all.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    const mended = await field.stream(["all.rejects.csv"]);
    if (rule !== "") isLeft(mended, rule);
    expect(acceptedOf(field, "resoldTicket"), mended.said).toBe(accepted);
  });

  test.each([
    ["in input order", {}, "history-superseded", 0],
    ["in lanes", { flags: { lanes: 2 } }, "history-superseded", 0],
    ["in the order of time, where its place can't be known", { order: "time" }, "history-unclear", 3],
  ] as const)("%s, in the lane of the ticket that it is mended to", async (_, options, rule, exitCode) => {
    const field = await openSold();
    const rows = [resale("ann"), resale("eve", "F"), resale("bob", ""), resale("fay", "F"), resale("cid")];
    await field.write("all.csv", `${RESALES}${rows.join("")}`);
    expect((await field.stream(["all.csv"], { ...BEARING, ...options })).exitCode).toBe(4);
    for (const ticketId of ["T", "F"]) {
      const rejects = await field.read("all.rejects.csv");
      await field.write("mended.csv", rejects.replace("resoldTicket,,", `resoldTicket,${ticketId},`));
      const mended = await field.stream(["mended.csv"]);
      expect(mended.exitCode, mended.said).toBe(exitCode);
      expect(mended.said).toContain(rule);
    }
  });

  test("as lines of {action, data}", async () => {
    const field = await openSold();
    const line = (eventName: string, eventId?: string): object => ({
      action: "updateEvent",
      data: { ...(eventId !== undefined && { eventId }), eventName },
    });
    await field.write("ev.ndjson", ndjson([line("one", "E"), line("two"), line("three", "E")]));
    await field.stream(["ev.ndjson"], BEARING);
    await mend(field, "ev.rejects.ndjson", '"data":{', '"data":{"eventId":"E",');
    isLeft(await field.stream(["ev.rejects.ndjson"]), "history-superseded");
    expect(acceptedOf(field, "updateEvent", "eventName")).toBe("one three");
  });

  test("which says what its run sent behind it is another deed, and too late", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("all.csv", `${RESALES}${resale("ann")}${resale("cid", "")}${resale("cid")}`);
    await field.stream(["all.csv"], BEARING);
    await mend(field, "all.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    isLeft(await field.stream(["all.rejects.csv"]), "history-superseded");
  });

  test("which names another ticket since is as unknown there as one that named none", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("all.csv", `${RESALES}${resale("ann")}${resale("cid")}`);
    await field.stream(["all.csv"]);
    await field.write(
      "all.csv",
      `${RESALES}${resale("bob", "T9").replace("10.00", "ten")}${resale("ann")}${resale("cid")}`,
    );
    await field.stream(["all.csv"], BEARING);
    await mend(field, "all.rejects.csv", "T9,bob,ten", "T,bob,10.00");
    isLeft(await field.stream(["all.rejects.csv"]), "history-unclear");
  });

  test("of scans with times is one of a set", { tags: ["long"] }, async () => {
    const field = await openSold();
    const scan = (time: number, ticketId = "T"): string => `scannedTicket,${ticketId},,,${time}\n`;
    await field.write("all.csv", `${RESALES}${scan(200)}`);
    await field.stream(["all.csv"]);
    await field.write("all.csv", `${RESALES}${scan(150, "")}${scan(200)}${scan(300)}`);
    await field.stream(["all.csv"], BEARING);
    await mend(field, "all.rejects.csv", "scannedTicket,,", "scannedTicket,T,");
    const mended = await field.stream(["all.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ accepted: 1 });
  });
});

const UPDATES = "ticketId,imageUrl\n";
const updates = (...names: readonly string[]): string =>
  UPDATES + names.map((name) => `T,${name.startsWith("!") ? name : url(name)}\n`).join("");
const KEYED = `sources:
  updates:
    match: "updates*.csv"
    key: "{ticketId} {imageUrl}"
    actions: [{updateTicket: {fields: {ticketId: "{ticketId}", imageUrl: "{imageUrl}"}}}]
`;

const HISTORIES = forWalks(
  [
    ["without a key", ""],
    ["with a key", KEYED],
  ],
  2,
);

function isKnownWhereItStood(_: string, config: string): void {
  const accepted = (field: Field): string => acceptedOf(field, "updateTicket", "imageUrl");

  test.each(["input", "time"] as const)("is late once it is mended, in the order of the %s", async (order) => {
    const field = await openSold(config);
    await field.write("updates.csv", updates("one", "three"));
    await field.stream(["updates.csv"], { order });
    await field.write("updates.csv", updates("one", "!two", "three"));
    expect((await field.stream(["updates.csv"], { ...BEARING, order })).exitCode).toBe(4);
    await mend(field, "updates.rejects.csv", "!two", url("two"));
    const mended = await field.stream(["updates.rejects.csv"]);
    isLeft(mended, "history-late");
    expect(mended.said).toContain("updates.csv:3");
    expect(accepted(field)).toBe("one three");
    expect((await field.stream(["updates.rejects.csv"], { again: true })).summary?.actions.accepted).toBe(1);
    await field.write("updates.csv", updates("one", "two", "three"));
    expect((await field.stream(["updates.csv"])).summary?.actions).toMatchObject({ alreadySent: 3 });
  });

  test("is late, and what was held behind it is sent", async () => {
    const field = await openSold(config);
    await field.write("updates.csv", updates("one", "three"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", updates("one", "!two", "three", "four"));
    await field.stream(["updates.csv"], BEARING);
    await mend(field, "updates.rejects.csv", "!two", url("two"));
    const mended = await field.stream(["updates.rejects.csv"]);
    expect(mended.summary?.actions, mended.said).toMatchObject({ late: 1, accepted: 1 });
    expect(accepted(field)).toBe("one three four");
  });

  test("is late where the service rejected it before, and it was superseded", { tags: ["long"] }, async () => {
    const field = await openSold(config);
    await field.write("updates.csv", updates("one", "two"));
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
    expect((await field.stream(["updates.csv"])).exitCode).toBe(4);
    field.setFaults();
    isLeft(await field.stream(["updates.rejects.csv"]), "history-superseded");
    await rm(join(field.folder, "updates.rejects.csv"));
    await field.write("updates.csv", updates("!one", "two"));
    await field.stream(["updates.csv"], BEARING);
    await mend(field, "updates.rejects.csv", "!one", url("one"));
    isLeft(await field.stream(["updates.rejects.csv"]), "history-late");
    expect(accepted(field)).toBe("two");
  });

  test("is late before what became of another bad row", { tags: ["long"] }, async () => {
    const field = await openSold(config);
    await field.write("updates.csv", updates("one", "!three"));
    await field.stream(["updates.csv"], BEARING);
    await mend(field, "updates.rejects.csv", "!three", url("three"));
    await field.stream(["updates.rejects.csv"]);
    await rm(join(field.folder, "updates.rejects.csv"));
    await field.write("updates.csv", updates("one", "!two", "!three"));
    await field.stream(["updates.csv"], BEARING);
    await mend(field, "updates.rejects.csv", "!two", url("two"));
    isLeft(await field.stream(["updates.rejects.csv"]), "history-late");
    expect(accepted(field)).toBe("one three");
  });

  test("is sent where it stands behind all that was accepted", { tags: ["long"] }, async () => {
    const field = await openSold(config);
    await field.write("updates.csv", updates("one", "two"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", updates("one", "two", "!three"));
    await field.stream(["updates.csv"], BEARING);
    await mend(field, "updates.rejects.csv", "!three", url("three"));
    expect((await field.stream(["updates.rejects.csv"])).exitCode).toBe(0);
    expect(accepted(field)).toBe("one two three");
  });
}

describe.each(HISTORIES.short)("a bad row that stands before an accepted one of its history, %s,", isKnownWhereItStood);
describe.each(HISTORIES.long)(
  "a bad row that stands before an accepted one of its history, %s,",
  { tags: ["long"] },
  isKnownWhereItStood,
);

describe("rejects that are streamed a second time", { tags: ["long"] }, () => {
  type Night = {
    readonly action: ActionName;
    readonly header: string;
    readonly row: (name: string, number: number) => string;
    /** The field by which what was accepted is told. */
    readonly by: string;
  };
  const update: Night = {
    action: "updateTicket",
    header: "action,ticketId,imageUrl",
    row: (name) => `updateTicket,T,${url(name)}`,
    by: "imageUrl",
  };
  const noted: Night = {
    ...update,
    header: `${update.header},note`,
    row: (name, number) => `updateTicket,T,${url(name)},${number}`,
  };
  const event: Night = {
    action: "updateEvent",
    header: "action,eventId,eventName",
    row: (name) => `updateEvent,E,${name}`,
    by: "eventName",
  };
  const resold: Night = {
    action: "resoldTicket",
    header: "action,ticketId,userId,price",
    row: (name) => `resoldTicket,T,${name},10.00`,
    by: "userId",
  };

  const tableOf = ({ header, row }: Night, names: string): string =>
    [header, ...names.split(" ").map(row)].map((line) => `${line}\n`).join("");

  /** The service rejects the rows with these numbers. */
  async function rejectedNight(night: Night, names: string, items: readonly number[]): Promise<Field> {
    const field = await openSold();
    await field.write("log.csv", tableOf(night, names));
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [...items] });
    expect((await field.stream(["log.csv"])).exitCode).toBe(4);
    field.setFaults();
    return field;
  }

  test.each<[string, Night, string, readonly number[], string]>([
    ["equal rows", update, "a c a c", [1, 3], "a a c"],
    ["rows with notes", noted, "a c a c", [1, 3], "a a c"],
    ["of events", event, "a c b c", [1, 3], "a b c"],
    ["resales", resold, "a c b c", [1, 3], "a b c"],
    ["resales with another between them", resold, "a c b d c", [1, 3, 4], "a b d c"],
    ["nothing accepted between them", update, "a c c", [1, 2], "a c c"],
  ])("send nothing more, and say the same: %s", async (_, night, names, items, accepted) => {
    const field = await rejectedNight(night, names, items);
    for (const lanes of [1, 2]) {
      await field.stream(["log.rejects.csv"], { flags: { lanes } });
      expect(acceptedOf(field, night.action, night.by)).toBe(accepted);
    }
    const { exitCode, summary, said } = await field.stream(["log.rejects.csv"]);
    const superseded = names.split(" ").length - accepted.split(" ").length;
    const alreadySent = items.length - superseded;
    expect(summary?.actions, said).toMatchObject({ accepted: 0, alreadySent, superseded });
    expect(exitCode, said).toBe(0);
    const whole = await field.stream(["log.csv"]);
    expect(whole.exitCode, whole.said).toBe(0);
    expect(acceptedOf(field, night.action, night.by)).toBe(accepted);
  });

  test.each([
    ["a window", "c"],
    ["a window with what was accepted", "b c"],
  ])("keep their places where %s brings one of two equal rows again, which is rejected again", async (_, window) => {
    const field = await rejectedNight(update, "c b c", [0, 2]);
    await field.write("log.csv", tableOf(update, window));
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
    const night = await field.stream(["log.csv"]);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 0, rejected: 1 });
    field.setFaults();
    const rejects = await field.stream(["log.rejects.csv"]);
    expect(rejects.summary?.actions, rejects.said).toMatchObject({ accepted: 1, superseded: 1 });
    await field.write("log.csv", tableOf(update, "c b c"));
    const whole = await field.stream(["log.csv"]);
    expect(whole.summary?.actions, whole.said).toMatchObject({ accepted: 0, alreadySent: 2, superseded: 1 });
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("b c");
  });

  test("are sent behind nothing that their own run accepted, also where that says the same", async () => {
    const field = await rejectedNight(update, "a b c b", [1, 2]);
    isLeft(await field.stream(["log.rejects.csv"]), "history-superseded");
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("a b");
  });

  test("tell of each row the same once something later was accepted", async () => {
    const field = await rejectedNight(noted, "a c b c", [1, 3]);
    await field.stream(["log.rejects.csv"]);
    await field.write("log.csv", tableOf(noted, "a c b c d"));
    expect((await field.stream(["log.csv"])).summary?.actions).toMatchObject({ accepted: 1, superseded: 1 });
    const second = await field.stream(["log.rejects.csv"]);
    expect(second.summary?.actions, second.said).toMatchObject({ accepted: 0, alreadySent: 1, superseded: 1 });
    expect(second.said).toContain("history-superseded: log.rejects.csv:2");
  });

  test("send nothing more where the rows became something else", { tags: ["long"] }, async () => {
    const field = await rejectedNight(noted, "a c b c", [1, 3]);
    await field.write("log.rejects.csv", (await field.read("log.rejects.csv")).replaceAll(url("c"), url("e")));
    await field.stream(["log.rejects.csv"]);
    const second = await field.stream(["log.rejects.csv"]);
    expect(second.summary?.actions, second.said).toMatchObject({ accepted: 0, alreadySent: 1, superseded: 1 });
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("a b e");
  });

  test("send what was left out of the first time", { tags: ["long"] }, async () => {
    const field = await rejectedNight(update, "a c b c", [1, 2, 3]);
    await field.stream(["log.rejects.csv"], { limit: 1 });
    await field.stream(["log.rejects.csv"]);
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("a c b c");
  });

  test("send nothing more where one was sent with --again", { tags: ["long"] }, async () => {
    const field = await rejectedNight(noted, "a c a c", [1, 3]);
    const [header, first] = (await field.read("log.rejects.csv")).split("\n");
    await field.stream(["log.rejects.csv"]);
    await field.write("first.csv", `${header}\n${first}\n`);
    expect((await field.stream(["first.csv"], { again: true })).summary?.actions).toMatchObject({ accepted: 1 });
    const all = await field.stream(["log.rejects.csv"]);
    expect(all.summary?.actions, all.said).toMatchObject({ accepted: 0, alreadySent: 2 });
  });
});

const NUMBERED = (key: string): string => `sources:
  log:
    match: "log*.csv"
${key === "" ? "" : `    key: "${key}"\n`}    fields: {ticketId: "{Ticket}"}
    actions: [{updateTicket: {fields: {imageUrl: "{Image}"}}}]
`;
const log = (...rows: readonly (readonly [number, string])[]): string =>
  `Row,Ticket,Image\n${rows.map(([row, name]) => `${row},T,${url(name)}\n`).join("")}`;

describe("rows of a history of which nobody can tell what was accepted", { tags: ["long"] }, () => {
  const updated = (field: Field): string => acceptedOf(field, "updateTicket", "imageUrl");

  /** The rejects of a night say no more than the night did: nothing of them is sent, and it is told. */
  async function staysUnclear(field: Field, name: string, told: string): Promise<void> {
    const sent = field.sandbox.engine.processed();
    const count = Array.from(sent).length;
    const borne = await field.stream([name], BEARING);
    expect(borne.exitCode, borne.said).toBe(4);
    expect(borne.said).toContain("No value in these rejects is wrong. Follow the reason beside each row");
    expect(borne.said).not.toContain("Mend the rejects");
    expect(borne.summary?.next).toBeNull();
    expect(borne.said).toContain("When its row was rejected, its place among the accepted");
    expect(borne.said).toContain(told);
    expect(Array.from(field.sandbox.engine.processed())).toHaveLength(count);
    isLeft(await field.stream([name.replace(".rejects.", ".rejects.rejects.")]), "history-unclear");
  }

  test.each([
    [
      "an older row that came late",
      "",
      "",
      [
        [2, "e"],
        [3, "B"],
        [11, "B"],
      ],
    ],
    [
      "an older row that was put right",
      "",
      "",
      [
        [3, "e"],
        [11, "B"],
      ],
    ],
    [
      "a key that the source has since",
      "",
      "{Row}",
      [
        [3, "e"],
        [11, "B"],
      ],
    ],
    [
      "another key",
      "{Row}",
      "{Ticket}-{Row}",
      [
        [3, "e"],
        [11, "B"],
      ],
    ],
  ] as const)("%s", async (_, before, since, rows) => {
    const field = await openSold(NUMBERED(before));
    await field.write("log.csv", log([3, "B"], [11, "B"]));
    expect((await field.stream(["log.csv"])).summary?.actions).toMatchObject({ accepted: 2 });
    await field.write("tickets.config.yaml", NUMBERED(since));
    await field.write("log.csv", log(...rows));
    const night = await field.stream(["log.csv"], BEARING);
    expect(night.summary?.rows, night.said).toMatchObject({ invalid: rows.length });
    await staysUnclear(field, "log.rejects.csv", `imageUrl ${url("B")}; imageUrl ${url("B")}`);
    expect(updated(field)).toBe("B B");
    // A person says that it is the latest.
    const [header = "", e = ""] = (await field.read("log.rejects.csv")).split("\n");
    await field.write("log-alone.csv", `${header}\n${e}\n`);
    expect((await field.stream(["log-alone.csv"], { again: true })).summary?.actions.accepted).toBe(1);
    const known = await field.stream(["log-alone.csv"]);
    expect(known.summary?.actions, known.said).toMatchObject({ accepted: 0, alreadySent: 1 });
    expect(updated(field)).toBe("B B e");
  });

  test("with a row that waits for it, nothing is there to be mended either", async () => {
    const field = await openSold();
    await field.write("updates.csv", updates("one", "two", "one"));
    await field.stream(["updates.csv"]);
    const rows = [
      { action: "updateTicket", data: { ticketId: "T", imageUrl: url("two") } },
      { action: "resoldTicket", data: { ticketId: "T", userId: "u9", price: "1.00" } },
    ];
    await field.write("log.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const night = await field.stream(["log.ndjson"], BEARING);
    expect(night.summary?.rows, night.said).toMatchObject({ invalid: 1, held: 1 });
    expect(night.said).not.toContain("Mend the rejects");
    expect(night.summary?.next, night.said).toBeNull();
  });

  test("beside a row with a wrong value, its rejects are there to be mended", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.csv", updates("one", "two", "one"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", `${updates("two")}T2,!bad\n`);
    const mixed = await field.stream(["updates.csv"], BEARING);
    expect(mixed.said).toContain("history-unclear");
    expect(mixed.said).toContain("Mend the rejects, then: tickets stream updates.rejects.csv");
    expect(mixed.summary?.next).toContain("tickets stream updates.rejects.csv");
  });

  test("resales", { tags: ["long"] }, async () => {
    const field = await openSold();
    const [ann, bob, eve] = [resale("ann"), resale("bob"), resale("eve")];
    await field.write("all.csv", `${RESALES}${ann}${bob}${ann}`);
    await field.stream(["all.csv"]);
    await field.write("all.csv", `${RESALES}${eve}${ann}${bob}${ann}`);
    await field.stream(["all.csv"], BEARING);
    await staysUnclear(field, "all.rejects.csv", "resoldTicket");
    expect(acceptedOf(field, "resoldTicket")).toBe("ann bob ann");
    // Without the row the export is as clear as before.
    await field.write("all.csv", `${RESALES}${ann}${bob}${ann}${resale("cid")}`);
    expect((await field.stream(["all.csv"])).summary?.actions).toMatchObject({ alreadySent: 3, accepted: 1 });
  });

  test("events", { tags: ["long"] }, async () => {
    const field = await openSold();
    const named = (...names: readonly string[]): string =>
      ndjson(names.map((eventName) => ({ action: "updateEvent", data: { eventId: "E", eventName } })));
    await field.write("ev.ndjson", named("B", "B"));
    await field.stream(["ev.ndjson"]);
    await field.write("ev.ndjson", named("e", "B", "B"));
    await field.stream(["ev.ndjson"], BEARING);
    await staysUnclear(field, "ev.rejects.ndjson", "this event");
    expect(acceptedOf(field, "updateEvent", "eventName")).toBe("B B");
  });

  test("also those around one that is taken out", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.csv", updates("C"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", updates("A", "B", "C", "A"));
    await field.stream(["updates.csv"], BEARING);
    const rejects = await field.read("updates.rejects.csv");
    const others = rejects.split("\n").filter((row) => !row.startsWith(`T,${url("C")},`));
    expect(others).toHaveLength(5);
    await field.write("updates.rejects.csv", others.join("\n"));
    isLeft(await field.stream(["updates.rejects.csv"]), "history-unclear");
    expect(updated(field)).toBe("C");
  });

  test("of which the others stand in another file", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates-1.csv", updates("B"));
    await field.write("updates-2.csv", updates("B"));
    const files = ["updates-1.csv", "updates-2.csv"];
    await field.stream(files);
    await field.write("updates-1.csv", updates("e"));
    expect((await field.stream(files, BEARING)).summary?.rows).toMatchObject({ invalid: 2 });
    isLeft(await field.stream(["updates-1.rejects.csv"]), "history-unclear");
    expect(updated(field)).toBe("B B");
  });

  test("since rows behind were left out", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.csv", updates("A", "C"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", updates("A", "B", "!x", "C"));
    expect((await field.stream(["updates.csv"], { ...BEARING, limit: 3 })).summary?.rows).toMatchObject({ read: 3 });
    await mend(field, "updates.rejects.csv", "!x", url("x"));
    isLeft(await field.stream(["updates.rejects.csv"]), "history-unclear");
    expect(updated(field)).toBe("A C");
  });

  test("beside them, a row that named no ticket is as unclear once it names theirs", { tags: ["long"] }, async () => {
    const field = await openSold();
    await field.write("updates.csv", updates("B", "B"));
    await field.stream(["updates.csv"]);
    await field.write("updates.csv", updates("e", "B", "B").replace(UPDATES, `${UPDATES},${url("x")}\n`));
    await field.stream(["updates.csv"], BEARING);
    const [header = "", x = ""] = (await field.read("updates.rejects.csv")).split("\n");
    expect(x).toContain(url("x"));
    await field.write("updates-alone.csv", `${header}\n${x.replace(/,(?=https)/, "T,")}\n`);
    isLeft(await field.stream(["updates-alone.csv"]), "history-unclear");
    expect(updated(field)).toBe("B B");
  });
});

const NIGHTS = forWalks(
  [
    ["without a key", ""],
    ["with a key", NUMBERED("{Row}").replaceAll("log", "all")],
  ],
  2,
);

function isNotGuessed(_: string, config: string): void {
  const updated = (field: Field): string => acceptedOf(field, "updateTicket", "imageUrl");
  const rows = (...names: readonly string[]): string =>
    config === "" ? updates(...names) : `Row,Ticket,Image\n${names.map(keyed).join("")}`;
  const keyed = (name: string): string => `${name.replace("!", "")},T,${name.startsWith("!") ? name : url(name)}\n`;

  /** `accepted`, a night each; then the night with a bad row (`!name`). */
  async function openNight(accepted: readonly (readonly string[])[], night: readonly string[]): Promise<Field> {
    const field = await openSold(config);
    for (const names of accepted) {
      await field.write(`${name}.csv`, rows(...names));
      expect((await field.stream([`${name}.csv`])).exitCode).toBe(0);
    }
    await field.write(`${name}.csv`, rows(...night));
    expect((await field.stream([`${name}.csv`], BEARING)).exitCode).toBe(4);
    return field;
  }
  const name = config === "" ? "updates" : "all";
  const rejects = `${name}.rejects.csv`;

  async function withoutRow(field: Field, bad: string): Promise<Done> {
    const all = (await field.read(rejects)).split("\n");
    const others = all.filter((row) => !row.includes(bad));
    expect(others).toHaveLength(all.length - 1);
    await field.write(rejects, others.join("\n"));
    return await field.stream([rejects]);
  }

  test.each([
    ["alone", [["C"]], ["B", "!C"], "C"],
    ["behind another", [["A"], ["A", "C"]], ["A", "B", "!C"], "A C"],
    ["bad too", [["C"]], ["!B", "!C"], "C"],
  ])("is unclear without the bad row, which may be accepted: %s", async (_name, accepted, night, sent) => {
    const field = await openNight(accepted, night);
    expect(updated(field)).toBe(sent);
    if (night.includes("!B")) await mend(field, rejects, "!B", url("B"));
    isLeft(await withoutRow(field, "!C"), "history-unclear");
    expect(updated(field)).toBe(sent);
    // The export tells it, once the bad row is put right at the source.
    await field.write(`${name}.csv`, rows(...night.map((each) => each.replace("!", ""))));
    isLeft(await field.stream([`${name}.csv`]), "history-late");
    expect((await field.stream([rejects], { again: true })).summary?.actions.accepted).toBe(1);
    expect(updated(field)).toBe(`${sent} B`);
  });

  test("is sent without the bad row where all that was accepted is known", async () => {
    const field = await openNight([["A"]], ["A", "B", "!C"]);
    if (config === "") expect((await withoutRow(field, "!C")).exitCode).toBe(0);
    expect(updated(field)).toBe("A B");
  });

  test("is sent before the bad row that became a new one, also where what was accepted left the window", async () => {
    const field = await openNight([["A"]], ["B", "!C"]);
    await mend(field, rejects, "!C", url("C"));
    expect((await field.stream([rejects])).exitCode).toBe(0);
    expect(updated(field)).toBe("A B C");
  });

  test("is not sent before the bad row that became the accepted one", { tags: ["long"] }, async () => {
    const field = await openNight([["C"]], ["B", "!C"]);
    await mend(field, rejects, "!C", url("C"));
    await field.stream([rejects]);
    expect(updated(field)).toBe("C");
  });

  test("keeps that in the rejects of its rejects", async () => {
    const field = await openNight([["C"]], ["B", "!C"]);
    await field.stream([rejects], BEARING);
    const [header = "", b = ""] = (await field.read(rejects.replace(".csv", ".rejects.csv"))).split("\n");
    expect(b).toContain(url("B"));
    await field.write(`${name}-alone.csv`, `${header}\n${b}\n`);
    isLeft(await field.stream([`${name}-alone.csv`]), "history-unclear");
    expect(updated(field)).toBe("C");
  });
}

describe.each(NIGHTS.short)("a good row before a bad one, which is not sent with it, %s,", isNotGuessed);
describe.each(NIGHTS.long)(
  "a good row before a bad one, which is not sent with it, %s,",
  { tags: ["long"] },
  isNotGuessed,
);

test("a resale before one whose row is bad tonight is unclear without that", { tags: ["long"] }, async () => {
  const field = await openSold();
  await field.write("all.csv", `${RESALES}${resale("cid")}`);
  await field.stream(["all.csv"]);
  await field.write("all.csv", `${RESALES}${resale("bob")}${resale("cid").replace("10.00", "#REF!")}`);
  expect((await field.stream(["all.csv"], BEARING)).summary?.rows).toMatchObject({ invalid: 1, held: 1 });
  const all = (await field.read("all.rejects.csv")).split("\n");
  await field.write("all.rejects.csv", all.filter((row) => !row.includes("cid")).join("\n"));
  isLeft(await field.stream(["all.rejects.csv"]), "history-unclear");
  expect(acceptedOf(field, "resoldTicket")).toBe("cid");
});

test("an event's change before one whose row is bad tonight is unclear without that", { tags: ["long"] }, async () => {
  const field = await openSold();
  const line = (data: object): object => ({ action: "updateEvent", data: { eventId: "E", ...data } });
  await field.write("ev.ndjson", ndjson([line({ eventName: "C" })]));
  await field.stream(["ev.ndjson"]);
  await field.write("ev.ndjson", ndjson([line({ eventName: "B" }), line({ eventName: 7 })]));
  expect((await field.stream(["ev.ndjson"], BEARING)).summary?.rows).toMatchObject({ invalid: 1, held: 1 });
  const [b = ""] = (await field.read("ev.rejects.ndjson")).split("\n");
  await field.write("ev.rejects.ndjson", `${b}\n`);
  isLeft(await field.stream(["ev.rejects.ndjson"]), "history-unclear");
  expect(acceptedOf(field, "updateEvent", "eventName")).toBe("C");
});

test("a good row before a bad one that is mended to what was accepted is unclear with it, and late in the whole export", {
  tags: ["long"],
}, async () => {
  const field = await openSold();
  await field.write("updates.csv", updates("one"));
  await field.stream(["updates.csv"]);
  await field.write("updates.csv", updates("two", "!one"));
  expect((await field.stream(["updates.csv"], BEARING)).exitCode).toBe(4);
  await mend(field, "updates.rejects.csv", "!one", url("one"));
  const rejects = await field.stream(["updates.rejects.csv"], BEARING);
  expect(rejects.summary?.actions, rejects.said).toMatchObject({ accepted: 0 });
  expect(rejects.said.match(/history-unclear: |can't be told/g)?.length, rejects.said).toBeGreaterThanOrEqual(2);
  await field.write("updates.csv", updates("two", "one"));
  const whole = await field.stream(["updates.csv"]);
  expect(whole.summary?.actions, whole.said).toMatchObject({ accepted: 0, alreadySent: 1, late: 1 });
});

const LISTS_OF_UPDATES = `sources:
  tickets:
    match: "tickets*.csv"
    fields: {ticketId: "{ID}"}
    actions:
      - updateTicket: {each: {in: "{Images}", match: "(?<image>[a-z]+)"}, fields: {imageUrl: "${url("{item.image}")}"}}
`;

test("unclear rows stay so behind a row of the same rejects that another night rejected and was accepted since", async () => {
  const field = await openSold(LISTS_OF_UPDATES);
  const tickets = (...lists: readonly string[]): string =>
    `Note,ID,Images\n${lists.map((list, at) => `${at},T,${list}\n`).join("")}`;
  await field.write("tickets.csv", tickets("a"));
  field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
  await field.stream(["tickets.csv"]);
  field.setFaults();
  await field.stream(["tickets.csv"]);
  await field.write("tickets.csv", tickets("b a", "a c"));
  expect((await field.stream(["tickets.csv"], BEARING)).exitCode).toBe(4);
  const rejects = await field.stream(["tickets.rejects.csv"], BEARING);
  expect(rejects.summary?.actions, rejects.said).toMatchObject({ accepted: 0, alreadySent: 1 });
  expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("a");
});

test("a row that is rejected a second time keeps its first place", { tags: ["long"] }, async () => {
  const field = await openSold();
  await field.write("all.csv", `${RESALES}${resale("ann")}${resale("bob", "")}${resale("cid")}`);
  await field.stream(["all.csv"], BEARING);
  await mend(field, "all.rejects.csv", "10.00", "10.50");
  await field.stream(["all.rejects.csv"], BEARING);
  await mend(field, "all.rejects.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
  isLeft(await field.stream(["all.rejects.rejects.csv"]), "history-superseded");
  // What the service does not take of it when it is sent on purpose comes too late as before.
  field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
  const again = await field.stream(["all.rejects.rejects.csv"], { again: true });
  expect(again.summary?.actions, again.said).toMatchObject({ rejected: 1 });
  field.setFaults();
  isLeft(await field.stream(["all.rejects.rejects.rejects.csv"]), "history-superseded");
});

test("a bad row behind which the config lets its history go is superseded by that", { tags: ["long"] }, async () => {
  const field = await openSold("rules: {depends-on-invalid: warn}\n");
  await field.write("updates.csv", updates("one", "!two", "three"));
  expect((await field.stream(["updates.csv"], BEARING)).summary?.actions).toMatchObject({ accepted: 2 });
  await mend(field, "updates.rejects.csv", "!two", url("two"));
  isLeft(await field.stream(["updates.rejects.csv"]), "history-superseded");
});

describe("a row that waits for another's sake", () => {
  test("has no more open what of it was late, and told", { tags: ["long"] }, async () => {
    const field = await openSold(`sources:
  pairs:
    match: "pairs*.csv"
    actions:
      - updateTicket: {fields: {ticketId: "{Ticket}", imageUrl: "{Image}"}}
      - resoldTicket: {when: {Buyer: {empty: false}}, fields: {ticketId: "{Ticket}", userId: "{Buyer}", price: "1.00"}}
`);
    const pairs = (...rows: readonly string[]): string => `Ticket,Image,Buyer\n${rows.join("\n")}\n`;
    await field.write("pairs.csv", pairs(`T,${url("two")},`));
    await field.stream(["pairs.csv"]);
    // The bad row holds the second one's resale, of which the update is late.
    const rows = ["T,!,ann", `T,${url("one")},bob`, `T,${url("two")},`];
    await field.write("pairs.csv", pairs(...rows));
    const night = await field.stream(["pairs.csv"], BEARING);
    expect(night.summary?.rows, night.said).toMatchObject({ invalid: 1, held: 1 });
    expect(night.said).toContain("history-late: pairs.csv:3 ");
    const [header = "", , held = ""] = (await field.read("pairs.rejects.csv")).trimEnd().split("\n");
    expect(held).toContain(",resoldTicket,");
    await field.write("pairs.rejects.csv", `${header}\n${held}\n`);
    const rest = await field.stream(["pairs.rejects.csv"]);
    expect(rest.summary?.actions, rest.said).toMatchObject({ total: 1, accepted: 1 });
    expect(acceptedOf(field, "updateTicket", "imageUrl")).toBe("two");
  });
});

describe("of a row that gives several resales, one that the service rejected", () => {
  const LISTS = (key: string): string => `sources:
  tickets:
    match: "tickets*.csv"
${key}    fields: {ticketId: "{ID}"}
    actions:
      - resoldTicket: {each: {in: "{Resales}", match: '(?<u>[a-z]+):(?<p>\\S+)'}, fields: {userId: "{item.u}", price: "{item.p}"}}
`;
  const rejecting = (...items: readonly number[]): object => ({ on: { request: 1 }, fault: "failure-items", items });

  test("of a mended row is not taken for an accepted one before it that says the same", {
    tags: ["long"],
  }, async () => {
    const field = await openSold(LISTS(""));
    await field.write("tickets.csv", "ID,Resales\nT,anna:#REF! bert:12.00 anna:11.00\n");
    expect((await field.stream(["tickets.csv"], BEARING)).exitCode).toBe(4);
    await mend(field, "tickets.rejects.csv", "#REF!", "11.00");
    field.setFaults(rejecting(2));
    expect((await field.stream(["tickets.rejects.csv"])).summary?.actions).toMatchObject({ accepted: 2, rejected: 1 });
    field.setFaults();
    isLeft(await field.stream(["tickets.rejects.rejects.csv"]), "history-unclear");
    expect((await field.stream(["tickets.rejects.rejects.csv"], { again: true })).summary?.actions.accepted).toBe(1);
    expect(acceptedOf(field, "resoldTicket")).toBe("anna bert anna");
  });

  const KEYS = forWalks(
    [
      ["without a key", ""],
      ["with a key", '    key: "{ID}"\n'],
    ],
    2,
  );

  function keepsItsPlace(_: string, key: string): void {
    test.each([
      ["of a good row", "11.00"],
      ["of a mended row", "#REF!"],
    ])("is superseded by the one behind it: %s", async (_name, price) => {
      const field = await openSold(LISTS(key));
      await field.write("tickets.csv", `ID,Resales\nT,anna:${price} bert:12.00\n`);
      let name = "tickets.rejects.csv";
      if (price === "#REF!") {
        expect((await field.stream(["tickets.csv"], BEARING)).exitCode).toBe(4);
        await mend(field, name, price, "11.00");
        field.setFaults(rejecting(0));
        expect((await field.stream([name])).exitCode).toBe(4);
        name = "tickets.rejects.rejects.csv";
      } else {
        field.setFaults(rejecting(0));
        expect((await field.stream(["tickets.csv"])).exitCode).toBe(4);
      }
      field.setFaults();
      const rest = await field.stream([name]);
      isLeft(rest, "history-superseded");
      expect(acceptedOf(field, "resoldTicket")).toBe("bert");
    });

    test("is sent behind the one before it, whenever that was accepted", { tags: ["long"] }, async () => {
      const field = await openSold(LISTS(key));
      await field.write("tickets.csv", "ID,Resales\nT,anna:11.00 bert:12.00 cora:13.00\n");
      field.setFaults(rejecting(0, 1, 2));
      await field.stream(["tickets.csv"]);
      field.setFaults(rejecting(1, 2));
      await field.stream(["tickets.rejects.csv"]);
      field.setFaults(rejecting(1));
      await field.stream(["tickets.rejects.rejects.csv"]);
      field.setFaults();
      const last = await field.stream(["tickets.rejects.rejects.rejects.csv"]);
      expect(last.exitCode, last.said).toBe(0);
      expect(acceptedOf(field, "resoldTicket")).toBe("anna bert cora");
    });

    test("which follows one that was accepted is not superseded by that", async () => {
      const field = await openSold(LISTS(key));
      await field.write("tickets.csv", "ID,Resales\nT,anna:11.00 bert:12.00 cora:13.00\n");
      field.setFaults(rejecting(0, 2));
      await field.stream(["tickets.csv"]);
      field.setFaults();
      const rest = await field.stream(["tickets.rejects.csv"]);
      expect(rest.summary?.actions, rest.said).toMatchObject({ superseded: 1, accepted: 1 });
      expect(acceptedOf(field, "resoldTicket")).toBe("bert cora");
    });
  }

  describe.each(KEYS.short)("%s", keepsItsPlace);
  describe.each(KEYS.long)("%s", { tags: ["long"] }, keepsItsPlace);
});
