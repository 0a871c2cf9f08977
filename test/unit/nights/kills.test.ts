import { expect, test } from "vitest";
import { CRASH_POINTS } from "../../../src/disk/crash-points.ts";
import { EVENT, imageOf, openDesk, sale } from "../../support/desk.ts";
import { forWalks } from "../../support/walks.ts";

const sales = Array.from({ length: 5 }, (_, at) => sale(`t${at}`));
const TAKEN = ["newEvent E", ...sales.map(({ data }) => `soldTicket ${data.ticketId}`)];

/** Moments that this heart does not have. */
const GONE: readonly string[] = ["recorded", "merged"];

const MOMENTS = [...CRASH_POINTS, "rejects placed", "rejects projected"]
  .filter((point) => !GONE.includes(point))
  .flatMap((point) =>
    (["intended", "answered", "settled", "projected"].includes(point) ? [1, 2, 3] : [1]).map(
      (time) => `${point}:${time}`,
    ),
  );

const COMPLETES = "killed at %s, the same call completes, with nothing lost and nothing doubled";
const { short, long } = forWalks(MOMENTS, 3);
test.each(short)(COMPLETES, completes);
test.each(long)(COMPLETES, { tags: ["long"] }, completes);

async function completes(moment: string): Promise<void> {
  const desk = await openDesk();
  const bad = moment.startsWith("rejects") ? [{ action: "soldTicket", data: { eventId: "E", ticketId: "bad" } }] : [];
  desk.write("sales.ndjson", [EVENT, ...sales, ...bad]);
  const maxInvalid = { rows: 1 };
  // Rejects are the first file that is written.
  const point = moment === "rejects projected:1" ? "projected:1" : moment;
  expect(await desk.streamAndDie("sales.ndjson", point, { maxInvalid })).toBe("SIGKILL");

  let { summary } = await desk.stream("sales.ndjson", { maxInvalid });
  if (summary.exitCode === 6) {
    // A person looks at the service's record.
    const decision = desk.taken().length > desk.promises().length ? "sent" : "not-sent";
    await desk.settle({ decision });
    ({ summary } = await desk.stream("sales.ndjson", { maxInvalid }));
  }
  expect(summary.exitCode).toBe(bad.length === 0 ? 0 : 4);
  expect(desk.taken()).toEqual(TAKEN);
  expect(desk.promises().map(({ ticketId = "E" }) => ticketId)).toEqual(["E", "t0", "t1", "t2", "t3", "t4"]);
  if (bad.length > 0) expect(desk.read("sales.rejects.ndjson").trimEnd().split("\n")).toHaveLength(1);
  expect((await desk.stream("sales.ndjson", { maxInvalid })).summary).toMatchObject({ actions: { alreadySent: 6 } });
  expect(desk.taken()).toEqual(TAKEN);
}

test("before its first request a run stands in the journal, by which a lost ledger is noticed", async () => {
  const desk = await openDesk();
  desk.write("sales.ndjson", [EVENT, ...sales]);
  expect(await desk.streamAndDie("sales.ndjson", "listed:1")).toBe("SIGKILL");
  expect(JSON.parse(desk.read("state/playground/journal.ndjson"))).toMatchObject({ actions: 6 });
  desk.loseLedger();
  await expect(desk.stream("sales.ndjson")).rejects.toThrow(/was lost/);
  expect(desk.taken()).toEqual([]);
});

/** Tickets whose updates tell their order; an update of the event stands among them. */
const LANES = 3;
const tickets = Array.from({ length: 6 }, (_, at) => `t${at}`);
const inLanes = [
  EVENT,
  ...tickets.map((id) => sale(id)),
  ...tickets.map((id) => imageOf(id, "one")),
  { action: "updateEvent", data: { eventId: "E", eventName: "Great Fair" } },
  ...tickets.map((id) => imageOf(id, "two")),
];

test.each(["none", "intended:3", "answered:4", "settled:2", "settled:6", "projected:5"])(
  "lanes keep the order of each ticket and of the event, killed at %s",
  { tags: ["long"] },
  async (moment) => {
    const desk = await openDesk();
    desk.write("all.ndjson", inLanes);
    const flags = { chunkSize: 2, lanes: LANES, retries: 0, timeout: "5s" };
    if (moment !== "none") expect(await desk.streamAndDie("all.ndjson", moment, { flags })).toBe("SIGKILL");
    let { summary } = await desk.stream("all.ndjson", { flags });
    for (let doubts = 0; summary.exitCode === 6 && doubts < LANES; doubts += 1) {
      const asked = await desk.settle({});
      if (asked.kind !== "settled") throw new Error("asked about nothing");
      for (const { chunk, actions } of asked.questions ?? []) {
        const isTaken = actions.some(({ action: { action, data } }) => desk.has(action, data));
        await desk.settle({ decision: isTaken ? "sent" : "not-sent", chunk: chunk.chunk });
      }
      ({ summary } = await desk.stream("all.ndjson", { flags }));
    }
    expect(summary.exitCode).toBe(0);
    expect(desk.taken().toSorted()).toEqual(
      inLanes.map(({ action, data }) => `${action} ${data.ticketId ?? data.eventId}`).toSorted(),
    );
    const at = desk.taken().indexOf("updateEvent E");
    for (const id of tickets) {
      const own = desk.taken().flatMap((each, place) => (each.endsWith(` ${id}`) ? [[each, place > at] as const] : []));
      expect(own).toEqual([
        [`soldTicket ${id}`, false],
        [`updateTicket ${id}`, false],
        [`updateTicket ${id}`, true],
      ]);
    }
    expect(desk.promises()).toHaveLength(inLanes.length);
    expect((await desk.stream("all.ndjson")).summary).toMatchObject({ actions: { alreadySent: inLanes.length } });
  },
);

/** The first action of the second request. */
const SECOND = sale("t1");

test.each(["projected:1", "projected:2", "projected:4"])(
  "promises as CSV are whole after a kill at %s",
  { tags: ["long"] },
  async (moment) => {
    const desk = await openDesk();
    desk.write("sales.ndjson", [EVENT, ...sales]);
    const output = "promises.csv";
    expect(await desk.streamAndDie("sales.ndjson", moment, { output })).toBe("SIGKILL");
    const { summary } = await desk.stream("sales.ndjson", { output });
    // The next request leaves while the promises of the last answer are written.
    if (summary.exitCode === 6) {
      await desk.settle({ decision: desk.has(SECOND.action, SECOND.data) ? "sent" : "not-sent" });
      expect((await desk.stream("sales.ndjson", { output })).summary.exitCode).toBe(0);
    } else expect(summary.exitCode).toBe(0);
    const [head, ...lines] = desk.read(output).trimEnd().split("\n");
    expect(head).toMatch(/^source,line,action,/);
    expect(lines.map((line) => line.split(",")[1])).toEqual(["1", "2", "3", "4", "5", "6"]);
  },
);

test.each(["closing", "rejects written", "ended"])("closing a run is finished after a kill at %s", async (moment) => {
  const desk = await openDesk();
  desk.write("sales.ndjson", [EVENT, ...sales]);
  desk.setFaults({ fault: "status", status: 403, on: { request: 2 } });
  expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 5 });
  expect(await desk.settleAndDie({ decision: "abandon", reason: "none" }, moment)).toBe("SIGKILL");
  const run = String(desk.promises()[0]?.run);
  expect(await desk.settle({ decision: "abandon", run })).toMatchObject({ summary: { state: "abandoned" } });
  expect(desk.read("sales.rejects.ndjson").trimEnd().split("\n")).toHaveLength(4);
});
