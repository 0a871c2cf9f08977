import { describe, expect, test } from "vitest";
import { find } from "../../../src/run/find.ts";
import { prune } from "../../../src/run/prune.ts";
import { followResults, writeResults } from "../../../src/run/results.ts";
import { work } from "../../../src/run/work.ts";
import { type Desk, EVENT, imageOf, openDesk, sale } from "../../support/desk.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../../support/postgres.ts";

const ALL = [EVENT, sale("a"), sale("b"), sale("c"), imageOf("a", "one"), imageOf("a", "two")];

async function afterNight(kind?: "postgres", more = {}): Promise<Desk> {
  const desk = await openDesk(kind);
  desk.write("sales.ndjson", ALL);
  await desk.stream("sales.ndjson", more);
  return desk;
}

test("find tells all that was sent about a ticket, in order, and ids that differ only in form", async () => {
  const desk = await afterNight();
  const { context, environment } = await desk.inside();
  const { actions } = await find(context, environment, "a");
  expect(actions.map(({ kind, runId }) => [kind, runId])).toEqual(
    ["soldTicket", "updateTicket", "updateTicket"].map((kind) => [kind, desk.promises()[0]?.run]),
  );
  const promise = String(desk.promises()[1]?.actionPromise);
  expect((await find(context, environment, promise)).actions).toMatchObject([{ kind: "soldTicket", promise }]);
  expect(await find(context, environment, "a ")).toMatchObject({ actions: [], similar: ["a"] });
});

test("results are written again, the same lines as before", async () => {
  const desk = await afterNight();
  const { context, environment } = await desk.inside();
  const written = await writeResults(context, { environment, to: "again.ndjson", force: false, safeCsv: false });
  expect(written).toMatchObject({ lines: 6, undecided: [], problem: undefined });
  expect(desk.read("again.ndjson")).toBe(desk.read("promises.ndjson"));
});

test("prune drops what was sent of old runs, and all is known as before", async () => {
  const desk = await afterNight();
  const { context, environment } = await desk.inside();
  expect(await prune(context, environment, { olderThanMs: -1000, waitLock: 0 })).toMatchObject({ chunks: 3 });
  expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
    state: "nothing new",
    actions: { alreadySent: 6 },
  });
  expect((await find(context, environment, "a")).actions).toHaveLength(3);
});

describe.skipIf(WITHOUT_POSTGRES)(`what is published${NEEDS_POSTGRES}`, () => {
  test("is sent by workers in order, once, and its promises are written by whoever follows", async () => {
    const desk = await afterNight("postgres", { publishes: true, flags: { chunkSize: 2, lanes: 3 } });
    expect(desk.taken()).toEqual([]);
    // The sales wait for the event, whoever sends it.
    desk.setFaults({ fault: "latency", ms: 300, on: { action: "newEvent" } });
    const { context, environment } = await desk.inside();
    const working = { environment, untilIdle: true, startedAt: performance.now(), onRunEnd: async () => undefined };
    const ended = await Promise.all([1, 2, 3].map(() => work(context, working)));
    expect(ended.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(ALL.length);
    expect(desk.taken().filter((each) => each.endsWith(" a"))).toEqual([
      ...["soldTicket a", "updateTicket a", "updateTicket a"],
    ]);
    expect(await followResults(context, { environment })).toMatchObject([{ run: { state: "finished", exitCode: 0 } }]);
    expect(desk.promises()).toHaveLength(ALL.length);
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ actions: { alreadySent: ALL.length } });
  });
});
