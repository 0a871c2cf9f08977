import { expect, test } from "vitest";
import { CRASH_POINTS } from "../../../src/disk/crash-points.ts";
import { type Item, openDesk } from "../support/desk.ts";

const event: Item = { action: "newEvent", data: { eventId: "E", eventName: "Fair", currency: "EUR" } };
const sales = Array.from(
  { length: 5 },
  (_, at): Item => ({
    action: "soldTicket",
    data: { eventId: "E", ticketId: `t${at}`, userId: "u", price: "18.00", orderTime: 1_600_000_000 },
  }),
);
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

test.each(MOMENTS)("killed at %s, the same call completes, with nothing lost and nothing doubled", async (moment) => {
  const desk = await openDesk();
  const bad = moment.startsWith("rejects") ? [{ action: "soldTicket", data: { eventId: "E", ticketId: "bad" } }] : [];
  desk.write("sales.ndjson", [event, ...sales, ...bad]);
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
});
