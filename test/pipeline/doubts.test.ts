/** What is in doubt although the service answered: how a person ends it, and what a run remembers of the promises it was given. */

import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Done,
  expectNothingDoubled,
  type Field,
  makeContext,
  type Options,
  openField,
  processedBy,
  verbs,
} from "../support/context.ts";
import { startService } from "../support/service.ts";

const eventOf = (eventId: string): object => ({ action: "newEvent", data: { eventId, currency: "EUR" } });
const sale = (eventId: string, ticketId: string): object => ({
  action: "soldTicket",
  data: { eventId, ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1768600000 },
});
const INPUT = [eventOf("E"), ...["T1", "T2", "T3", "T4", "T5"].map((ticketId) => sale("E", ticketId))];
const ALL = "E T1 T2 T3 T4 T5";

async function begin(input: readonly object[] = INPUT, settings = ""): Promise<Field> {
  const field = await openField(settings);
  await field.write("night.ndjson", input.map((action) => `${JSON.stringify(action)}\n`).join(""));
  return field;
}

const night = (field: Field, more: object = {}): Promise<Done> =>
  field.stream(["night.ndjson"], { flags: { chunkSize: 2, ...more } });

const statePath = (field: Field): string => join(field.folder, "state", "local");
const OPTIONS = { flags: {}, json: false, waitLock: 0 } as const;

async function person(
  field: Field,
  says: Pick<Options<"settle">, "decision"> & {
    readonly chunk?: number;
    readonly first?: number;
    readonly run?: string;
  },
): Promise<{ readonly exitCode: number; readonly said: string }> {
  const { context, said } = makeContext(field.folder, field.env);
  const run = readdirSync(join(statePath(field), "runs"))[0] ?? "";
  const exitCode = await verbs.settle(
    { ...OPTIONS, run, reason: "looked", chunk: undefined, first: undefined, ...says },
    context,
  );
  return { exitCode, said: said() };
}

async function goOn(field: Field): Promise<number> {
  return verbs.resume(
    { ...OPTIONS, run: undefined, maxDuration: undefined },
    makeContext(field.folder, field.env).context,
  );
}

interface Line {
  readonly ticketId?: string;
  readonly status: string;
  readonly actionPromise?: string;
  readonly response?: { readonly status: string; readonly actionPromise?: string };
}

const lines = async (field: Field): Promise<readonly Line[]> =>
  (await field.read("night.local.promises.ndjson"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line); // lines of ours

test("every night after a run was closed with a doubt names the run and the command that decides about it", async () => {
  const field = await begin();
  field.setFaults({ fault: "drop", when: "after", on: { request: 3 } });
  expect((await night(field)).exitCode).toBe(6);
  expect((await person(field, { decision: "abandon" })).exitCode).toBe(6);
  field.setFaults();
  const run = readdirSync(join(statePath(field), "runs"))[0] ?? "";
  const next = `tickets settle ${run} --env local`;
  const isTold = (done: Done, exitCode = 6): void => {
    expect([done.exitCode, done.summary?.next]).toEqual([exitCode, next]);
    expect(done.said).toContain(`Run ${run} has actions in doubt. Until someone decides, no other run sends them`);
    expect(done.said).toContain(`Look, then decide: ${next}`);
  };
  // With nothing else to send, with something new, with what only waits, and where nothing is sent on purpose.
  isTold(await night(field));
  isTold(await field.stream(["night.ndjson"], { dryRun: true }), 0);
  await field.write(
    "night.ndjson",
    [...INPUT, sale("E", "T6")].map((action) => `${JSON.stringify(action)}\n`).join(""),
  );
  isTold(await night(field));
  await field.write("scans.ndjson", `${JSON.stringify({ action: "scannedTicket", data: { ticketId: "T5" } })}\n`);
  isTold(await field.stream(["scans.ndjson"]));

  const shown = async (name: string | undefined, json: boolean): Promise<{ said: string; out: string }> => {
    const { context, said, out } = makeContext(field.folder, field.env);
    expect(await verbs.status({ flags: {}, run: name, chunk: undefined, maxAge: undefined, json }, context)).toBe(0);
    return { said: said(), out: out() };
  };
  expect((await shown(run, false)).said).toContain(`Look, then decide: ${next}`);
  expect((await shown(undefined, false)).out).toMatch(
    new RegExp(
      `^last success .*\\n(?:last failure .*\\n)?\\nTo decide:\\n {2}run ${run}, in doubt, .*:\\n {4}${next}\\n\\n`,
    ),
  );
  expect(JSON.parse((await shown(run, true)).out)).toMatchObject({ next });
  expect(JSON.parse((await shown(undefined, true)).out).runs.map(({ next }: { next: unknown }) => next)).toEqual([
    ...[null, next],
  ]);
  expect((await person(field, { decision: "sent", run })).exitCode).toBe(0);
  expect((await shown(undefined, false)).out).not.toContain("tickets settle");
  expect((await night(field)).exitCode).toBe(0);
  expectNothingDoubled(field.sandbox);
});

describe("a run that held back what another one had in doubt, and stopped with a doubt of its own", () => {
  // Plans have the time of the test's context, and decisions that of the system.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-12-01T00:00:00Z") });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** T2 and T3 are in doubt in a closed run; T7 and T8 in the run of the next night, which has T9 to send. */
  async function held(...waiting: readonly object[]): Promise<{ field: Field; first: string; second: string }> {
    const field = await begin();
    field.setFaults({ fault: "drop", when: "after", on: { request: 2 } });
    await night(field);
    await person(field, { decision: "abandon" });
    const [first = ""] = runsOf(field);
    field.setFaults();
    const more = [...INPUT.slice(0, 4), ...["T7", "T8", "T9"].map((ticketId) => sale("E", ticketId)), ...waiting];
    await field.write("night.ndjson", more.map((action) => `${JSON.stringify(action)}\n`).join(""));
    field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
    const stopped = await night(field);
    expect(stopped.exitCode).toBe(6);
    field.setFaults();
    const second = runsOf(field).find((run) => run !== first) ?? "";
    expect(stopped.summary?.actions).toMatchObject({ inDoubt: 4, notSent: 1 + waiting.length });
    await person(field, { decision: "sent", run: second });
    return { field, first, second };
  }
  const runsOf = (field: Field): readonly string[] => readdirSync(join(statePath(field), "runs"));
  const shown = async (field: Field, run: string): Promise<object> => {
    const { context, out } = makeContext(field.folder, field.env);
    await verbs.status({ flags: {}, run, chunk: undefined, maxAge: undefined, json: true }, context);
    return JSON.parse(out()) as object; // of ours
  };

  test.each(["stream", "resume"])("ends well with %s where both are settled as sent", async (way) => {
    const { field, first, second } = await held();
    await person(field, { decision: "sent", run: first });
    if (way === "resume") expect(await goOn(field)).toBe(0);
    else expect((await night(field)).exitCode).toBe(0);
    expect(await shown(field, second)).toMatchObject({ exitCode: 0, actions: { inDoubt: 0, notSent: 0 } });
    expect((await night(field)).exitCode).toBe(0);
    expectNothingDoubled(field.sandbox);
  });

  test("ends with 6 while the other one is in doubt, and is not shown so once that is settled", async () => {
    const { field, first, second } = await held();
    expect(await goOn(field)).toBe(6);
    expect(await shown(field, second)).toMatchObject({ exitCode: 6, actions: { inDoubt: 2 } });
    await person(field, { decision: "sent", run: first });
    expect(await shown(field, second)).toMatchObject({ actions: { inDoubt: 0, notSent: 0 } });
  });

  test("says what is open where the service does not have all of it, or something waited", {
    tags: ["long"],
  }, async () => {
    for (const decision of ["sent", "not-sent"] as const) {
      const scan = { action: "scannedTicket", data: { ticketId: "T2" } };
      const { field, first, second } = await held(scan);
      await person(field, { decision, run: first });
      const { context, said } = makeContext(field.folder, field.env);
      expect(await verbs.resume({ ...OPTIONS, run: second, maxDuration: undefined }, context)).toBe(4);
      const open = decision === "sent" ? 1 : 3;
      expect(said()).toMatch(new RegExp(`${open} actions? waited for another run`));
      expect(await shown(field, second)).toMatchObject({ exitCode: 4, actions: { inDoubt: 0, notSent: open } });
      expect((await night(field)).summary?.actions.inDoubt).toBe(0);
      expect((await night(field)).summary?.actions).toMatchObject({ inDoubt: 0, notSent: 0 });
    }
  });
});

test("a promise beside another status: the service has it, a person says, and the promise it gave stands in the output", async () => {
  const field = await begin();
  field.setFaults({ fault: "contradiction", items: [0, 1], status: "queued", on: { request: 2 } });
  expect(await night(field)).toMatchObject({
    exitCode: 6,
    summary: { actions: { accepted: 2, inDoubt: 2, notSent: 2 } },
  });
  const shown = await person(field, { decision: undefined });
  expect(shown.said).toContain('an actionPromise beside a status other than success: {"status":"queued"');
  // In two steps: what the service said of each stays with it.
  expect((await person(field, { decision: "sent", chunk: 4, first: 1 })).exitCode).toBe(6);
  expect((await person(field, { decision: "sent" })).exitCode).toBe(0);
  expect(await goOn(field)).toBe(0);
  const promised = new Map(
    Array.from(field.sandbox.engine.processed(), ({ ticketId, actionPromise }) => [ticketId, actionPromise]),
  );
  const byHand = (await lines(field)).filter(({ status }) => status === "settled-by-hand");
  expect(byHand.map(({ ticketId, response }) => [ticketId, response?.status, response?.actionPromise])).toEqual(
    ["T2", "T3"].map((ticketId) => [ticketId, "queued", promised.get(ticketId)]),
  );
  expect(byHand.every(({ actionPromise }) => actionPromise === undefined)).toBe(true);
  expect((await night(field)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
});

test("a promise beside another status: the service does not have it, a person says, and it is sent again", async () => {
  const field = await begin();
  field.setFaults({
    fault: "failure-items",
    items: [0],
    body: { status: "failed", actionPromise: "p" },
    on: { request: 2 },
  });
  expect((await night(field)).exitCode).toBe(6);
  expect(processedBy(field.sandbox)).toBe("E T1 (T2) T3");
  expect((await person(field, { decision: "not-sent" })).exitCode).toBe(0);
  expect(await goOn(field)).toBe(0);
  expect(processedBy(field.sandbox)).toBe("E T1 (T2) T3 T2 T4 T5");
  expectNothingDoubled(field.sandbox);
  expect((await lines(field)).every(({ status, response }) => status === "success" && response === undefined)).toBe(
    true,
  );
});

test("a doubt of a closed run: what the service does not have goes into rejects, and the next command names them", async () => {
  const field = await begin();
  field.setFaults({ fault: "drop", when: "before", on: { request: 2 } });
  expect((await night(field)).exitCode).toBe(6);
  const looked = await person(field, { decision: undefined });
  expect(looked.said).toMatch(/^If it does not \(they are sent again\): tickets settle \w+ --env local --not-sent/m);
  expect(looked.said).toMatch(/^To close the run and leave the doubt: tickets settle \w+ --env local --abandon/m);
  await person(field, { decision: "abandon" });
  const closed = await person(field, { decision: undefined });
  expect(closed.said).toMatch(/^If the service has them: {15}tickets settle \w+ --env local --sent/m);
  expect(closed.said).toMatch(/^If it does not \(they go into rejects\): tickets settle \w+ --env local --not-sent/m);
  expect(closed.said).not.toContain("--abandon");
  const settled = await person(field, { decision: "not-sent" });
  expect(settled.said).toContain("Next: tickets stream night.rejects.ndjson --env local");
});

test("items with different reasons are chunks of their own, each told", async () => {
  const field = await begin();
  field.setFaults({ fault: "missing-promise", items: [1, 2, 4] });
  const first = await field.stream(["night.ndjson"], { flags: { chunkSize: 6 } });
  expect(first.exitCode).toBe(6);
  expect(first.said).toContain(
    "chunk 2 (a part of chunk 1, actions 2 to 3) is in doubt: success without an actionPromise",
  );
  expect(first.said).toContain("chunk 3 (a part of chunk 1, action 5) is in doubt: success without an actionPromise");
});

const AMONG_SENT = "Later actions of chunk 1 were sent; nothing after that chunk was.";
const LAST = "Nothing after it was sent.";
/** What the service says of an action in place of accepting it. */
const SAID: Readonly<Record<string, object>> = {
  rejected: { status: "error" },
  unnamed: { status: "success" },
  unsaid: {},
};
test.each([
  [["unnamed", "accepted", "accepted"], [AMONG_SENT]],
  [["unnamed", "rejected", "rejected"], [AMONG_SENT]],
  [
    ["unnamed", "accepted", "unnamed"],
    [AMONG_SENT, LAST],
  ],
  [
    ["rejected", "unnamed", "unsaid"],
    [AMONG_SENT, LAST],
  ],
  [["accepted", "accepted", "unnamed"], [LAST]],
  [["unnamed", "unnamed", "unnamed"], [LAST]],
])("with items that are %j, what was sent after a doubt is told", async (items, told) => {
  const field = await begin();
  const service = await startService({
    failureOf: ({ action, data }) => {
      const said = SAID[items[Number(String(data.ticketId ?? "T0").slice(1))] ?? ""];
      return said && { action, ...data, ...said };
    },
  });
  const env = { TICKETS_LOCAL_BASE_URL: service.baseUrl, TICKETS_LOCAL_API_KEY: service.key };
  const { exitCode, said } = await field.stream(["night.ndjson"], { flags: { chunkSize: 3 } }, { env });
  expect(exitCode).toBe(6);
  expect(said.match(/(?:Later actions of|Nothing after) .*$/gm)).toEqual(told);
});

test("nothing after the half of a chunk that is in doubt was sent", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 413, on: { itemsOver: 3 } }, { fault: "status", status: 500 });
  const { said } = await night(field, { chunkSize: 6 });
  expect(said).toContain("chunk 2 (a part of chunk 1, actions 1 to 3) is in doubt: HTTP 500.");
  expect(said).toContain("Its answer is not known. Nothing after it was sent.");
});

test("an interrupted run that goes on remembers the promises it was given", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 429, on: { request: 2 } });
  expect((await night(field)).exitCode).toBe(7);
  field.setFaults({ fault: "duplicate-promise", items: [1], of: "earlier-request", on: { request: 2 } });
  const next = await night(field);
  expect(next).toMatchObject({ exitCode: 6, summary: { actions: { accepted: 4, inDoubt: 2 } } });
  expect(next.said).toContain("of an earlier action of this run");
});

test("a promise that stands in a doubt counts too", async () => {
  const field = await begin();
  field.setFaults({ fault: "contradiction", items: [0], on: { request: 1 } });
  expect((await night(field)).exitCode).toBe(6);
  expect((await person(field, { decision: "sent" })).exitCode).toBe(0);
  field.setFaults({ fault: "duplicate-promise", items: [0], of: "earlier-request", on: { request: 1 } });
  expect(await goOn(field)).toBe(6);
});

test("lanes know of each other's promises, and of those of the halves of a chunk", async () => {
  const events = ["A", "B", "C"];
  const input = events.flatMap((event) => [eventOf(event), sale(event, `${event}1`), sale(event, `${event}2`)]);
  const field = await begin(input);
  field.setFaults(
    { fault: "status", status: 413, on: { request: 1 } },
    { fault: "promise-value", items: [0], value: "the same", on: { eventId: "C" } },
    { fault: "promise-value", items: [0], value: "the same", on: { eventId: "B" } },
  );
  const first = await night(field, { lanes: 3, chunkSize: 3 });
  expect(first.exitCode).toBe(6);
  expect(first.said).toContain('item 1 repeats the actionPromise "the same" of an earlier action of this run');
  expect(first.summary?.actions.inDoubt).toBeGreaterThan(0);
  expectNothingDoubled(field.sandbox);
});

test("a promise of an earlier run is taken: a service may say the same of the same action", async () => {
  const field = await begin();
  const again = { flags: { chunkSize: 6 }, again: true };
  field.setFaults({ fault: "promise-value", items: [0], value: "the same" });
  expect((await field.stream(["night.ndjson"], { flags: { chunkSize: 6 } })).exitCode).toBe(0);
  await field.write("night.ndjson", `${JSON.stringify(eventOf("E2"))}\n`);
  expect(await field.stream(["night.ndjson"], again)).toMatchObject({
    exitCode: 0,
    summary: { actions: { accepted: 1 } },
  });
});

test("a doubt whose plan is lost: each command names the next step, and none leads back to itself", async () => {
  const field = await begin();
  field.setFaults({ fault: "drop", when: "after", on: { request: 2 } });
  expect((await night(field)).exitCode).toBe(6);
  field.setFaults();
  const runs = join(statePath(field), "runs");
  const [run = ""] = readdirSync(runs);
  const settleRun = async (decision: "abandon" | "not-sent", chunk?: number): Promise<number> =>
    verbs.settle(
      { ...OPTIONS, run, decision, reason: "lost", chunk, first: undefined, yes: true },
      makeContext(field.folder, field.env).context,
    );
  renameSync(join(runs, run), join(field.folder, "lost"));
  const open = await night(field);
  expect(open.exitCode).toBe(10);
  expect(open.said).toContain(`tickets settle ${run} --abandon --env local`);
  expect(await settleRun("abandon")).toBe(6);
  const closed = await night(field);
  expect(closed.exitCode).toBe(10);
  expect(closed.said).toContain(`Then: tickets settle ${run} --env local --not-sent --reason "…"`);
  expect(closed.said).not.toContain("--abandon");
  await expect(settleRun("not-sent", 99)).rejects.toThrow(`Chunk 99 of run ${run} is not waiting to be settled.`);
  expect(await settleRun("not-sent")).toBe(0);
  await field.write(
    "night.ndjson",
    INPUT.slice(4)
      .map((action) => `${JSON.stringify(action)}\n`)
      .join(""),
  );
  expect((await night(field)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe(ALL);
});

describe("a run that stopped for too many rejections", () => {
  const stopped = async (): Promise<Field> => {
    const field = await begin(["A", "B", "C", "D", "F", "G"].map(eventOf), "maxRejected: 1");
    field.setFaults({ fault: "failure-items", items: [0, 1] });
    expect((await night(field)).exitCode).toBe(9);
    field.setFaults({ fault: "status", status: 400, on: { request: 1 } });
    return field;
  };
  const WAITS = "stopped because the service rejected too many of its actions";

  test("waits for resume, whatever is settled in vain", async () => {
    const field = await stopped();
    expect((await person(field, { decision: "not-sent" })).said).toContain("has nothing to settle");
    expect((await night(field)).said).toContain(WAITS);
    expect(processedBy(field.sandbox)).toBe("(A) (B)");
  });

  test.each(["sent", "not-sent"] as const)(
    "and later for a refusal that a person settled as %s goes on unasked",
    async (decision) => {
      const field = await stopped();
      expect(await goOn(field)).toBe(9);
      await person(field, { decision });
      const next = await night(field);
      expect([next.exitCode, next.said]).toEqual([4, expect.not.stringContaining(WAITS)]);
      expect(processedBy(field.sandbox)).toBe(decision === "sent" ? "(A) (B) F G" : "(A) (B) C D F G");
    },
  );
});
