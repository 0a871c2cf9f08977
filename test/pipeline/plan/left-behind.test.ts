/** Of one ticket something later was accepted while an action was in doubt: sent now, it would undo that. */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acceptedBy, type Field, openSold } from "../../support/context.ts";

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

/** The service says of the actions with these numbers something that leaves them in doubt. A single one it has not taken. */
async function doubtOf(items: readonly number[], actions: readonly Given[]): Promise<Field> {
  const field = await openSold();
  await field.write("night.ndjson", actions);
  const fault =
    items.length === 1
      ? { fault: "failure-items", items, body: { status: "failed", actionPromise: "p" }, on: { request: 1 } }
      : { fault: "changed", items, without: ["actionPromise"], on: { request: 1 } };
  field.setFaults(fault);
  const { exitCode, said } = await field.stream(["night.ndjson"], { flags: { chunkSize: 10 } });
  expect(exitCode, said).toBe(6);
  field.setFaults();
  return field;
}

const CHANGES: ReadonlySet<unknown> = new Set([
  ...["updateTicket", "updateEvent", "scannedTicket", "resoldTicket", "claimedTicket"],
]);

/** What the service has taken of the night's actions, in order. */
const taken = ({ sandbox }: Field): string =>
  acceptedBy(sandbox)
    .filter(({ action }) => CHANGES.has(action))
    .map(({ ticketId, eventId, data: { imageUrl, coverImageUrl, userId, orderTime } }) => {
      const image = imageUrl ?? coverImageUrl;
      return `${ticketId ?? eventId}${typeof image === "string" ? image.slice(-1) : (userId ?? orderTime ?? "")}`;
    })
    .join(" ");

describe("an action in doubt of which something later was accepted", () => {
  test("is not sent when a person says that the service lacks it, by its rejects and in a full export: only --resend sends it", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "B")]);
    const settled = await field.settle("not-sent");
    expect(settled.said).toContain(
      "1 action will not be sent, but will be in the rejects: it would undo a later action of the same ticket or event",
    );
    const ended = await field.ask("resume", {});
    expect(ended.exitCode).toBe(4);
    expect(ended.said).toContain("2 actions: 1 accepted, 1 not sent");
    expect(await field.read("night.rejects.ndjson")).toContain(
      "updateTicket was not sent: a later one of its ticket or event was accepted.",
    );
    for (const name of ["night.rejects.ndjson", "night.ndjson"])
      expect((await field.stream([name])).summary?.actions, name).toMatchObject({ accepted: 0, late: 1 });
    expect(taken(field)).toBe("T1B");
    expect((await field.stream(["night.rejects.ndjson"], { resend: true })).exitCode).toBe(0);
    expect(taken(field)).toBe("T1B T1A");
  });

  test("holds back nothing of other tickets, of scans, or of other kinds", async () => {
    const field = await doubtOf(
      [0, 1, 2, 3],
      [
        update("T1", "A"),
        update("T2", "A"),
        scan("T1", 100),
        resale("T1", "a", 200),
        update("T1", "B"),
        scan("T1", 300),
      ],
    );
    await field.settle("not-sent");
    expect((await field.ask("resume", {})).exitCode).toBe(4);
    // What lacks a promise was taken all the same; a second resale to the same user the sandbox refuses.
    expect(taken(field)).toBe("T1A T2A T1100 T1a T1B T1300 T2A T1100");
  });

  test("is closed where it concerns an event", async () => {
    const field = await doubtOf([0], [updateOfEvent("A"), updateOfEvent("B")]);
    await field.settle("not-sent");
    expect((await field.ask("resume", {})).exitCode).toBe(4);
    expect(taken(field)).toBe("EB");
  });

  test("is closed also when the later one is settled as sent after it", async () => {
    const field = await doubtOf([0, 1], [update("T1", "A"), update("T1", "B"), update("T2", "A")]);
    expect((await field.settle("not-sent", { chunk: 2, first: 1 })).said).not.toContain("will not be sent");
    expect((await field.settle("sent")).said).toContain("1 action will not be sent");
    expect((await field.ask("resume", {})).exitCode).toBe(4);
    expect(taken(field)).toBe("T1A T1B T2A");
  });

  test("is sent, in its place, where nothing later was accepted", async () => {
    const field = await doubtOf([1], [update("T1", "A"), update("T1", "B")]);
    await field.settle("not-sent");
    expect((await field.ask("resume", {})).exitCode).toBe(0);
    expect(taken(field)).toBe("T1A T1B");
  });
});

test("what a closed run left is late once something later was accepted", async () => {
  const field = await openSold();
  const given = [update("T1", "A"), updateOfEvent("A"), resale("T1", "ann"), scan("T2")];
  await field.write("night.ndjson", given);
  await field.write("night-2.ndjson", [update("T1", "B"), updateOfEvent("B"), resale("T1", "ben")]);
  field.setFaults({ fault: "status", status: 429, on: { request: 1 } });
  expect((await field.stream(["night.ndjson"], { flags: { retries: 0 } })).exitCode).toBe(7);
  field.setFaults();
  await field.settle("abandon");
  expect((await field.stream(["night-2.ndjson"])).summary?.actions).toMatchObject({ accepted: 3 });
  const ofRejects = await field.stream(["night.rejects.ndjson"]);
  expect(ofRejects.summary?.actions, ofRejects.said).toMatchObject({ accepted: 1, late: 3 });
  const whole = await field.stream(["night.ndjson", "night-2.ndjson"]);
  expect(whole.summary?.actions, whole.said).toMatchObject({ accepted: 0, alreadySent: 4, late: 3 });
});

test.each([
  ["a ticket", "updateTicket", "ticketId,imageUrl", "T1,https://img.example/"],
  ["an event", "updateEvent", "eventId,eventName", "E,name of "],
] as const)(
  "an update of %s in another environment's rejects is not sent behind an accepted one",
  async (_, action, columns, text) => {
    const field = await openSold();
    const row = (name: string): string => `${text}${name}\n`;
    const withoutId = row("1").slice(text.indexOf(","));
    await field.write("updates.csv", `${columns}\n${withoutId}${row("2")}`);
    const options = { action, maxInvalid: { rows: 9 }, output: "else.ndjson" };
    const elsewhere = { TICKETS_STATE_DIR: join(field.folder, "elsewhere") };
    expect((await field.stream(["updates.csv"], options, { env: elsewhere })).exitCode).toBe(4);
    await field.write("updates.csv", `${columns}\n${row("2")}`);
    expect((await field.stream(["updates.csv"], { action })).exitCode).toBe(0);
    await field.edit("updates.rejects.csv", `\n${withoutId.trim()}`, `\n${row("1").trim()}`);
    const { exitCode, said, summary } = await field.stream(["updates.rejects.csv"], { action });
    expect([exitCode, summary?.actions], said).toMatchObject([4, { accepted: 0, unclear: 1 }]);
  },
);
