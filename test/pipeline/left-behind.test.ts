/** Of one history something later was accepted while an action was in doubt: sent now, it would undo that. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resume, settle } from "../../src/commands/settle.ts";
import { type Field, makeContext, openField } from "../support/context.ts";

const update = (ticketId: string, image: string): object => ({
  action: "updateTicket",
  data: { ticketId, imageUrl: `https://img.example/${image}` },
});
const scan = (ticketId: string, orderTime: number): object => ({
  action: "scannedTicket",
  data: { ticketId, orderTime },
});
const text = (actions: readonly object[]): string => actions.map((action) => `${JSON.stringify(action)}\n`).join("");

/** The service says of the actions with these numbers something that leaves them in doubt. A single one it has not taken. */
async function doubtOf(items: readonly number[], actions: readonly object[], chunkSize = 10): Promise<Field> {
  const field = await openField();
  const tickets = ["T1", "T2"].map((ticketId) => ({
    action: "soldTicket",
    data: { eventId: "E", ticketId, userId: "u", price: "1", orderTime: 1768600000 },
  }));
  await field.write(
    "sales.ndjson",
    text([{ action: "newEvent", data: { eventId: "E", currency: "EUR" } }, ...tickets]),
  );
  expect((await field.stream(["sales.ndjson"])).exitCode).toBe(0);
  await field.write("night.ndjson", text(actions));
  field.setFaults(
    items.length === 1
      ? { fault: "failure-items", items, body: { status: "failed", actionPromise: "p" }, on: { request: 1 } }
      : { fault: "missing-promise", items, on: { request: 1 } },
  );
  expect((await field.stream(["night.ndjson"], { flags: { chunkSize } })).exitCode).toBe(6);
  field.setFaults();
  return field;
}

const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;

function openRun(field: Field): string {
  return field.withLedger((ledger) => String(ledger.get("SELECT run FROM runs ORDER BY run_no DESC LIMIT 1")?.run));
}

async function person(
  field: Field,
  says: Partial<Pick<Parameters<typeof settle>[0], "decision" | "chunk" | "first">> = {},
) {
  const { context, said } = makeContext(field.folder, field.env);
  const exitCode = await settle(
    { ...OPTIONS, run: openRun(field), reason: "looked", yes: true, ...NOTHING, ...says },
    context,
  );
  return { exitCode, said: said() };
}
const NOTHING = { decision: undefined, chunk: undefined, first: undefined };

async function goOn(field: Field) {
  const { context, said } = makeContext(field.folder, field.env);
  const exitCode = await resume({ ...OPTIONS, run: undefined, maxDuration: undefined }, context);
  return { exitCode, said: said() };
}

/** What the service has taken of updates and scans, in order. */
const taken = ({ sandbox }: Field): string =>
  Array.from(sandbox.engine.processed())
    .filter(({ action, status }) => status === "success" && (action === "updateTicket" || action === "scannedTicket"))
    .map(({ ticketId, data }) => {
      const { imageUrl, orderTime } = JSON.parse(data) as { readonly imageUrl?: string; readonly orderTime?: number };
      return `${ticketId}${imageUrl?.slice(-1) ?? orderTime}`;
    })
    .join(" ");

const rejects = (field: Field) => field.read("night.rejects.ndjson");

describe("an action in doubt of which something later was accepted", () => {
  test("is shown as such, and when a person says that it was not sent it is closed, told and counted", async () => {
    const field = await doubtOf([0, 2], [update("T1", "A"), update("T1", "B"), update("T2", "A")]);
    const shown = await person(field);
    expect(shown.said).toContain("Of 1 action something later of the same history was accepted");
    const settled = await person(field, { decision: "not-sent" });
    expect(settled.said).toContain("stream the rows in the rejects with --again");
    expect(settled.said).toContain("3 actions: 1 accepted, 2 not sent; of those not sent 1 superseded");
    const resumed = await goOn(field);
    expect(resumed.exitCode).toBe(4);
    expect(resumed.said).toContain("3 actions: 2 accepted, 1 not sent; of those not sent 1 superseded");
    expect(taken(field)).toBe("T1A T1B T2A T2A");
    expect(await rejects(field)).toContain("something later of its history was accepted");
  });

  test("is not sent by its rejects, nor by a full export, which say so; only with --again", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "B")]);
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
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "A"), update("T2", "B")]);
    expect((await person(field)).said).not.toContain("something later");
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(0);
    expect(taken(field)).toBe("T1A T2B T1A");
  });

  test("is judged by the times where both have one", async () => {
    const field = await doubtOf(
      [0, 1],
      [scan("T1", 1768700200), scan("T2", 1768700000), scan("T1", 1768700100), scan("T2", 1768700100)],
    );
    expect((await person(field)).said).toContain("Of 1 action something later");
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toMatch(/ T11768700200$/);
  });

  test("is closed also when the later one is settled as sent after it", async () => {
    const field = await doubtOf([0, 1], [update("T1", "A"), update("T1", "B"), update("T2", "A")]);
    expect((await person(field, { decision: "not-sent", chunk: 2, first: 1 })).said).not.toContain("superseded");
    const settled = await person(field, { decision: "sent" });
    expect(settled.said).toContain("1 accepted, 1 settled by hand, 1 not sent; of those not sent 1 superseded");
    expect((await goOn(field)).exitCode).toBe(4);
    expect(taken(field)).toBe("T1A T1B T2A");
  });

  test("of a run that was closed is not sent by its rejects either", async () => {
    const field = await doubtOf([0], [update("T1", "A"), update("T1", "B")]);
    await person(field, { decision: "abandon" });
    expect((await person(field, { decision: "not-sent" })).said).toContain("1 superseded");
    expect((await field.stream(["night.rejects.ndjson"])).summary?.actions).toMatchObject({ superseded: 1 });
    expect(taken(field)).toBe("T1B");
  });

  test("keeps its place where nothing later was accepted", async () => {
    const field = await doubtOf([1], [update("T1", "A"), update("T1", "B"), update("T1", "C")], 2);
    await person(field, { decision: "not-sent" });
    expect((await goOn(field)).exitCode).toBe(0);
    expect(taken(field)).toBe("T1A T1B T1C");
    expect(existsSync(join(field.folder, "night.rejects.ndjson"))).toBe(false);
    expect(readdirSync(field.folder)).toContain("night.local.promises.ndjson");
  });
});
