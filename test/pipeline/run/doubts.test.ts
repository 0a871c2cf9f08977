/** What is in doubt although the service answered: how a person ends it, and what a run remembers of the promises it was given. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newEvent, sale } from "../../support/actions.ts";
import { type Done, expectNothingDoubled, type Field, openField, processedBy } from "../../support/context.ts";
import { LONG } from "../../support/walks.ts";

const INPUT = [newEvent(), ...["T1", "T2", "T3", "T4", "T5"].map((ticketId) => sale(ticketId))];
const ALL = "E T1 T2 T3 T4 T5";

async function begin(input: readonly object[] = INPUT, settings = ""): Promise<Field> {
  const field = await openField(settings);
  await field.write("night.ndjson", input);
  return field;
}

const night = (field: Field, more: object = {}): Promise<Done> =>
  field.stream(["night.ndjson"], { flags: { chunkSize: 2, ...more } });

const oldestRun = async (field: Field): Promise<string> => (await field.runs()).at(-1)?.run ?? "";

const goOn = async (field: Field): Promise<number> => (await field.ask("resume", {})).exitCode;

interface Line {
  readonly ticketId?: string;
  readonly status: string;
  readonly actionPromise?: string;
  readonly response?: { readonly status: string; readonly actionPromise?: string };
}

const lines = async (field: Field): Promise<readonly Line[]> =>
  (await field.read("promises.local.ndjson"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line); // lines of ours

test("every night after a run was closed with a doubt names the run and the command that decides about it", async () => {
  const field = await begin();
  field.setFaults({ fault: "drop", when: "after", on: { request: 3 } });
  expect((await night(field)).exitCode).toBe(6);
  expect((await field.settle("abandon")).exitCode).toBe(6);
  field.setFaults();
  const run = await oldestRun(field);
  const next = `tickets settle ${run} --env local`;
  const isNamed = (done: Done, exitCode = 6): void => {
    expect([done.exitCode, done.summary?.next]).toEqual([exitCode, next]);
    expect(done.said).toMatch(new RegExp(`[1-4] actions? waits? for run ${run}, which is not finished and contains`));
    if (exitCode === 6) expect(done.said).toContain(`Look, then decide: ${next}`);
  };
  // With nothing else to send, with something new, with what only waits, and where nothing is sent on purpose.
  isNamed(await night(field));
  isNamed(await field.stream(["night.ndjson"], { dryRun: true }), 4);
  await field.write("night.ndjson", [...INPUT, sale("T6")]);
  isNamed(await night(field));
  await field.write("scans.ndjson", `${JSON.stringify({ action: "scannedTicket", data: { ticketId: "T5" } })}\n`);
  isNamed(await field.stream(["scans.ndjson"]));

  const shown = (name: string | undefined, json: boolean) => field.ask("status", { run: name, json });
  expect((await shown(run, false)).said).toContain(`Look, then decide: ${next}`);
  expect((await shown(undefined, false)).out).toMatch(
    new RegExp(
      `^last success .*\\n(?:last failure .*\\n)?to decide {5}run ${run}, in doubt. Look, then decide: ${next}\\n\\n`,
    ),
  );
  expect(JSON.parse((await shown(run, true)).out)).toMatchObject({ next });
  expect(JSON.parse((await shown(undefined, true)).out).runs.map(({ next }: { next: unknown }) => next)).toEqual([
    ...[null, next],
  ]);
  expect((await field.settle("sent", { run })).exitCode).toBe(0);
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
  async function held(
    when: "before" | "after" = "after",
    ...waiting: readonly object[]
  ): Promise<{ field: Field; first: string; second: string }> {
    const field = await begin();
    field.setFaults({ fault: "drop", when, on: { request: 2 } });
    await night(field);
    await field.settle("abandon");
    const first = await oldestRun(field);
    field.setFaults();
    const more = [...INPUT.slice(0, 4), ...["T7", "T8", "T9"].map((ticketId) => sale(ticketId)), ...waiting];
    await field.write("night.ndjson", more);
    field.setFaults({ fault: "drop", when: "after", on: { request: 1 } });
    const stopped = await night(field);
    expect(stopped.exitCode).toBe(6);
    field.setFaults();
    const second = (await field.runs())[0]?.run ?? "";
    expect(stopped.summary?.actions).toMatchObject({ inDoubt: 2, notSent: 3 + waiting.length });
    await field.settle("sent", { run: second });
    return { field, first, second };
  }
  const shown = async (field: Field, run: string): Promise<object> =>
    JSON.parse((await field.ask("status", { run, json: true })).out) as object; // of ours

  test.each(["stream", "resume"])("ends well with %s where both are settled as sent", async (way) => {
    const { field, first, second } = await held();
    await field.settle("sent", { run: first });
    // Its own rows waited as it was planned.
    if (way === "resume") expect(await goOn(field)).toBe(4);
    else expect((await night(field)).exitCode).toBe(4);
    expect(await shown(field, second)).toMatchObject({ exitCode: 4, actions: { inDoubt: 0, notSent: 2 } });
    expect((await night(field)).exitCode).toBe(0);
    expectNothingDoubled(field.sandbox);
  });

  test("ends with 6 while the other one is in doubt, and names it", async () => {
    const { field, first, second } = await held();
    const { exitCode, said } = await field.ask("resume", {});
    expect(exitCode).toBe(6);
    expect(said).toContain(`Look, then decide: tickets settle ${first} --env local`);
    expect(await shown(field, second)).toMatchObject({ exitCode: 6, actions: { inDoubt: 0, notSent: 2 } });
  });

  test("the next night sends what waited, and what the service does not have", LONG, async () => {
    for (const decision of ["sent", "not-sent"] as const) {
      const scan = { action: "scannedTicket", data: { ticketId: "T2" } };
      const { field, first, second } = await held(decision === "sent" ? "after" : "before", scan);
      await field.settle(decision, { run: first });
      expect((await field.ask("resume", { run: second })).exitCode).toBe(4);
      expect(await shown(field, second)).toMatchObject({ exitCode: 4, actions: { inDoubt: 0, notSent: 3 } });
      const next = await night(field);
      expect([next.exitCode, next.summary?.actions]).toMatchObject([0, { accepted: decision === "sent" ? 1 : 3 }]);
      expect((await night(field)).exitCode).toBe(0);
    }
  });
});

test("a promise beside another status: the service has it, a person says, and the promise it gave stands in the output", async () => {
  const field = await begin();
  field.setFaults({ fault: "changed", items: [0, 1], with: { status: "queued" }, on: { request: 2 } });
  expect(await night(field)).toMatchObject({
    exitCode: 6,
    summary: { actions: { accepted: 2, inDoubt: 2, notSent: 2 } },
  });
  const shown = await field.settle(undefined);
  expect(shown.said).toContain('an actionPromise beside a status other than success: {"status":"queued"');
  // In two steps: what the service said of each stays with it.
  expect((await field.settle("sent", { chunk: 4, first: 1 })).exitCode).toBe(6);
  expect((await field.settle("sent")).exitCode).toBe(0);
  expect(await goOn(field)).toBe(0);
  const promised = new Map(
    Array.from(field.sandbox.engine.processed(), ({ ticketId, actionPromise }) => [ticketId, actionPromise]),
  );
  const byHand = (await lines(field)).filter(({ status }) => status === "settled");
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
  expect((await field.settle("not-sent")).exitCode).toBe(0);
  expect(await goOn(field)).toBe(0);
  expect(processedBy(field.sandbox)).toBe("E T1 (T2) T3 T2 T4 T5");
  expectNothingDoubled(field.sandbox);
  expect((await lines(field)).every(({ status, response }) => status === "success" && response === undefined)).toBe(
    true,
  );
});

test("of several doubts each is decided by its own command, and a word without a chunk decides nothing", async () => {
  const field = await begin([newEvent(), ...["T1", "T2", "T3", "T4"].map((ticketId) => sale(ticketId))]);
  field.setFaults({ fault: "latency", ms: 1, on: { from: 2 } }, { fault: "drop", when: "before", on: { from: 2 } });
  expect((await night(field, { chunkSize: 1, lanes: 4 })).exitCode).toBe(6);
  const asked = (await field.settle(undefined)).said;
  const commands = asked.match(/tickets settle \w+ --chunk \d+ --not-sent/g) ?? [];
  expect(commands.length).toBeGreaterThan(1);
  expect(asked).not.toMatch(/tickets settle \w+ --(?:not-)?sent/);
  const { exitCode, said } = await field.settle("not-sent");
  expect([exitCode, said]).toEqual([2, expect.stringMatching(`Nothing was settled[^]*${commands[0]}`)]);
  expect((await field.runs())[0]?.actions.inDoubt).toBe(commands.length);
});

test("closing a run leaves what the service refused to a person: part of it may have been taken", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 400, processed: 1, on: { request: 2 } });
  expect((await night(field)).exitCode).toBe(9);
  field.setFaults();
  const closed = await field.settle("abandon");
  expect([closed.exitCode, closed.said]).toEqual([
    6,
    expect.stringContaining("No other run sends what is in doubt until you settle it."),
  ]);
  const next = await night(field);
  expect([next.exitCode, next.summary?.actions]).toMatchObject([6, { accepted: 2, notSent: 2 }]);
  expect(processedBy(field.sandbox)).toBe("E T1 T2 T4 T5");
  expect((await field.settle("sent", { chunk: 2, first: 1 })).exitCode).toBe(6);
  expect((await field.settle("not-sent")).exitCode).toBe(0);
  expect((await night(field)).exitCode).toBe(0);
  expect(processedBy(field.sandbox)).toBe("E T1 T2 T4 T5 T3");
  expectNothingDoubled(field.sandbox);
});

test("nothing after the half of a chunk that is in doubt was sent", async () => {
  const field = await begin();
  field.setFaults({ fault: "status", status: 413, on: { itemsOver: 3 } }, { fault: "status", status: 500 });
  const { said } = await night(field, { chunkSize: 6 });
  expect(said).toContain("chunk 2 (a part of chunk 1) (3 actions) is in doubt: HTTP 500.");
  expect(said).toContain("Nothing after its request was sent.");
});

test("an interrupted run that goes on remembers the promises it was given", async () => {
  const field = await begin();
  const same = { fault: "changed", items: [1], with: { actionPromise: "the same" } };
  field.setFaults({ ...same, on: { request: 1 } }, { fault: "status", status: 429, on: { request: 2 } });
  expect((await night(field)).exitCode).toBe(7);
  field.setFaults({ ...same, on: { request: 2 } });
  const next = await night(field);
  expect(next).toMatchObject({ exitCode: 6, summary: { actions: { accepted: 4, inDoubt: 2 } } });
  expect(next.said).toContain("of an earlier action of this run");
});

test("a promise that stands in a doubt counts too", async () => {
  const field = await begin();
  const actionPromise = "the same";
  field.setFaults({ fault: "changed", items: [0], with: { status: "error", actionPromise }, on: { request: 1 } });
  expect((await night(field)).exitCode).toBe(6);
  expect((await field.settle("sent")).exitCode).toBe(0);
  field.setFaults({ fault: "changed", items: [0], with: { actionPromise }, on: { request: 1 } });
  expect(await goOn(field)).toBe(6);
});

test("lanes know of each other's promises, and of those of the halves of a chunk", async () => {
  const events = ["A", "B", "C"];
  const input = events.flatMap((event) => [newEvent(event), sale(`${event}1`, event), sale(`${event}2`, event)]);
  const field = await begin(input);
  field.setFaults(
    { fault: "status", status: 413, on: { request: 1 } },
    { fault: "changed", items: [0], with: { actionPromise: "the same" }, on: { eventId: "C" } },
    { fault: "changed", items: [0], with: { actionPromise: "the same" }, on: { eventId: "B" } },
  );
  const first = await night(field, { lanes: 3, chunkSize: 3 });
  expect(first.exitCode).toBe(6);
  expect(first.said).toContain('the answer repeats the actionPromise "the same" of an earlier action of this run');
  expect(first.summary?.actions.inDoubt).toBeGreaterThan(0);
  expectNothingDoubled(field.sandbox);
});

test("a promise of an earlier run is taken: a service may say the same of the same action", async () => {
  const field = await begin();
  const again = { flags: { chunkSize: 6 }, again: true };
  field.setFaults({ fault: "changed", items: [0], with: { actionPromise: "the same" } });
  expect((await field.stream(["night.ndjson"], { flags: { chunkSize: 6 } })).exitCode).toBe(0);
  await field.write("night.ndjson", `${JSON.stringify(newEvent("E2"))}\n`);
  expect(await field.stream(["night.ndjson"], again)).toMatchObject({
    exitCode: 0,
    summary: { actions: { accepted: 1 } },
  });
});

describe("a run that stopped for too many rejections", () => {
  const stopped = async (): Promise<Field> => {
    const field = await begin(
      ["A", "B", "C", "D", "F", "G"].map((eventId) => newEvent(eventId)),
      "maxRejected: 1",
    );
    field.setFaults({ fault: "failure-items", items: [0, 1] });
    expect((await night(field)).exitCode).toBe(9);
    field.setFaults({ fault: "status", status: 400, on: { request: 1 } });
    return field;
  };
  const WAITS = "stopped because the service rejected too many of its actions";

  test("waits for resume, whatever is settled in vain", async () => {
    const field = await stopped();
    expect((await field.settle("not-sent")).said).toContain("has nothing to settle");
    expect((await night(field)).said).toContain(WAITS);
    expect(processedBy(field.sandbox)).toBe("(A) (B)");
  });

  test.each(["sent", "not-sent"] as const)(
    "and later for a refusal that a person settled as %s goes on unasked",
    async (decision) => {
      const field = await stopped();
      expect(await goOn(field)).toBe(9);
      await field.settle(decision);
      const next = await night(field);
      expect([next.exitCode, next.said]).toEqual([4, expect.not.stringContaining(WAITS)]);
      expect(processedBy(field.sandbox)).toBe(decision === "sent" ? "(A) (B) F G" : "(A) (B) C D F G");
    },
  );
});
