/** Lanes that several processes may send, each a session of its own here. */

import { describe, expect, onTestFinished, test } from "vitest";
import { changeChunk } from "../../../../src/ledger/chunks.ts";
import {
  type Claim,
  claimLane,
  doubtVanished,
  isHeld,
  keepLocks,
  maySend,
  openLanes,
  putOff,
  releaseLane,
  takeTurn,
} from "../../../../src/ledger/postgres/lane-claims.ts";
import { openPostgres, type PostgresLedger } from "../../../../src/ledger/postgres/open-postgres.ts";
import { endWhenSilent, enterWorker, noteLeft, readTeam } from "../../../../src/ledger/postgres/workers.ts";
import { addChunks, chunksOf, enterRun, nextPlannedChunk, noteStop } from "../../../../src/ledger/runs.ts";
import { holdLane, type LaneHold, marginOf } from "../../../../src/sending/lane-hold.ts";
import { MAX_RETRY_AFTER_MS } from "../../../../src/sending/retry.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../../support/postgres.ts";

const AT = "2026-03-01T03:00:00.000Z";
/** Longer than any test, so that nobody counts as silent. */
const LONG_MS = 3_600_000;

/** Shows others that a transaction has come so far. */
const BEING_STORED = 4711;

/** Two sessions with a ledger in which a run has three chunks in each of two lanes. */
async function openTwo() {
  const server = await startPostgres();
  const schema = server.newSchema();
  const open = (): PostgresLedger => {
    const address = { url: server.url, schema, application: schema, connectTimeoutMs: 10_000 };
    const ledger = openPostgres({ address, boundTo: undefined });
    onTestFinished(() => ledger[Symbol.dispose]());
    return ledger;
  };
  const [one, other] = [open(), open()];
  const chunks = [1, 11, 21, 31, 41, 51].map((first, at) => ({
    ...{ lane: Math.floor(at / 3), first, count: 10, offset: 100 * at, length: 100 },
  }));
  const { runNo } = enterRun(one, { run: "7f3a0c11", manifest: "{}", output: undefined, chunks, at: AT });
  return { one, other, server, schema, runNo };
}

type Two = Awaited<ReturnType<typeof openTwo>>;

function claim(ledger: PostgresLedger, { runNo }: Two, lane = 0, silentMs = LONG_MS): Claim {
  const worker = enterWorker(ledger, { host: "web-1", pid: 4711, command: "tickets work" });
  const claimed = claimLane(ledger, { runNo, lane, worker }, silentMs);
  if (claimed === undefined) throw new Error("another one has the lane");
  return claimed;
}

/** Begins the lane's next chunk. */
function begin(ledger: PostgresLedger, hold: LaneHold, { runNo, lane }: Claim) {
  const chunk = nextPlannedChunk(ledger, runNo, lane);
  if (chunk === undefined) throw new Error("nothing is planned");
  return { chunk, intent: ledger.transaction(() => hold.begin(chunk, AT)) };
}

/** What the server does when a machine is gone. */
const endSession = async ({ server }: Two, ledger: PostgresLedger): Promise<void> => {
  const pid = ledger.get("SELECT pg_backend_pid() AS pid")?.pid;
  await server.query("SELECT pg_terminate_backend($1, 10000)", [pid]);
};

describe.skipIf(WITHOUT_POSTGRES)(`a lane${NEEDS_POSTGRES}`, () => {
  test("belongs to one session at a time, and each claim has a higher fence", async () => {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const first = claim(one, two);
    expect(first).toMatchObject({ runNo, lane: 0, fence: 1 });
    expect(claimLane(other, { runNo, lane: 0, worker: 99 }, LONG_MS)).toBeUndefined();
    expect(claim(other, two, 1).fence).toBe(1);
    releaseLane(one, first);
    const second = claim(other, two);
    expect(second.fence).toBe(2);
    expect([first, second].map((each) => one.transaction(() => isHeld(one, each)))).toEqual([false, true]);
    releaseLane(one, first);
    expect(
      one.transaction(() => isHeld(one, second)),
      "what was given back twice",
    ).toBe(true);
    expect(claimLane(one, { runNo, lane: 0, worker: 99 }, LONG_MS)).toBeUndefined();
  });

  test("stays one's own when the session was lost, as long as nobody has claimed it", async () => {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const mine = claim(one, two);
    await endSession(two, one);
    expect(one.transaction(() => isHeld(one, mine))).toBe(true);
    keepLocks(one, [mine]);
    expect(claimLane(other, { runNo, lane: 0, worker: 99 }, LONG_MS)).toBeUndefined();
  });

  test("that was claimed while the session was lost: nothing more is begun, and the answer still counts until the chunk is given up", async () => {
    const two = await openTwo();
    const { one, other } = two;
    const mine = claim(one, two);
    const hold = holdLane(one, mine, { timeoutMs: LONG_MS });
    const { chunk, intent } = begin(one, hold, mine);
    expect(intent).toMatchObject({ kind: "begun", attempt: 1 });
    await endSession(two, one);
    const theirs = claim(other, two);
    expect(begin(one, hold, mine).intent).toEqual({ kind: "taken over" });
    expect(doubtVanished(other, theirs), "its time is not over").toBe(false);
    expect(one.transaction(() => hold.isUnderWay(chunk, 1))).toBe(true);
    other.run("UPDATE attempts SET limit_at = clock_timestamp() - interval '1 second'");
    expect(doubtVanished(other, theirs)).toBe(true);
    expect(chunksOf(one, chunk.runNo, "in doubt")).toMatchObject([
      { chunk: chunk.chunk, detail: "its sender vanished, and its time is over" },
    ]);
    expect(one.transaction(() => hold.isUnderWay(chunk, 1))).toBe(false);
    const answer = Buffer.from("{}");
    one.transaction(() => hold.keepLate(chunk, 1, { answer, said: "its answer says so", mayBeTaken: true }));
    one.transaction(() => hold.keepLate(chunk, 1, { answer, said: "and again", mayBeTaken: true }));
    const [{ detail } = { detail: "" }] = chunksOf(one, chunk.runNo, "in doubt");
    expect(detail).toBe("its sender vanished, and its time is over; its answer says so; and again");
    expect(one.all("SELECT chunk, attempt FROM doubted_answers")).toEqual([{ chunk: chunk.chunk, attempt: 1 }]);
  });

  /** An attempt at the first chunk was given up, and a person said that the service does not have it. */
  async function plannedAgain() {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const mine = claim(one, two);
    const hold = holdLane(one, mine, { timeoutMs: LONG_MS });
    const { chunk } = begin(one, hold, mine);
    await endSession(two, one);
    const theirs = claim(other, two);
    other.run("UPDATE attempts SET limit_at = clock_timestamp() - interval '1 second'");
    expect(doubtVanished(other, theirs)).toBe(true);
    other.transaction(() => changeChunk(other, "settleNotSent", chunk));
    expect(maySend(other, runNo)).toBe(true);
    const hear = (mayBeTaken: boolean): void =>
      one.transaction(() => hold.keepLate(chunk, 1, { answer: Buffer.from("{}"), said: "it has them", mayBeTaken }));
    const doubts = () => chunksOf(other, runNo, "in doubt").map(({ first, count, detail }) => [first, count, detail]);
    return { one, other, runNo, chunk, theirs, hear, doubts };
  }

  test("is not sent further once a late answer says that the service has what is planned again", async () => {
    const { one, other, runNo, theirs, hear, doubts } = await plannedAgain();
    hear(true);
    expect(doubts()).toEqual([[1, 10, "it has them"]]);
    expect(one.all("SELECT chunk, attempt FROM doubted_answers")).toEqual([{ chunk: 1, attempt: 1 }]);
    expect(maySend(other, runNo)).toBe(false);
    expect(begin(other, holdLane(other, theirs, { timeoutMs: LONG_MS }), theirs).intent).toEqual({ kind: "halted" });
  });

  test("is sent further where a late answer says nothing of the kind", async () => {
    const { one, other, runNo, hear, doubts } = await plannedAgain();
    hear(false);
    expect(doubts()).toEqual([]);
    expect(one.all("SELECT chunk, attempt FROM doubted_answers")).toEqual([{ chunk: 1, attempt: 1 }]);
    expect(maySend(other, runNo)).toBe(true);
  });

  test("has in doubt all that a chunk became of which a late answer says that the service has it", async () => {
    const { other, chunk, hear, doubts } = await plannedAgain();
    other.transaction(() => {
      changeChunk(other, "split", chunk);
      const halves = [
        { first: 1, count: 5, offset: 0, length: 50 },
        { first: 6, count: 5, offset: 50, length: 50 },
      ];
      addChunks(other, chunk, halves, "planned");
    });
    hear(true);
    expect(doubts()).toEqual([
      [1, 5, "it has them"],
      [6, 5, "it has them"],
    ]);
  });

  test("only the claimant gives up what was being sent in it", async () => {
    const two = await openTwo();
    const { one, other } = two;
    const mine = claim(one, two);
    begin(one, holdLane(one, mine, { timeoutMs: LONG_MS }), mine);
    one.run("UPDATE attempts SET limit_at = clock_timestamp() - interval '1 second'");
    await endSession(two, one);
    const theirs = claim(other, two);
    expect(doubtVanished(one, mine)).toBe(false);
    expect(chunksOf(one, mine.runNo, "in doubt")).toEqual([]);
    expect(doubtVanished(other, theirs)).toBe(true);
    expect(chunksOf(one, mine.runNo, "in doubt")).toHaveLength(1);
  });

  test("of a sender that vanished: an answer that is just being stored comes before the doubt", async () => {
    const two = await openTwo();
    const { one, other, server, schema, runNo } = two;
    const mine = claim(one, two);
    begin(one, holdLane(one, mine, { timeoutMs: LONG_MS }), mine);
    await endSession(two, one);
    const theirs = claim(other, two);
    other.run("UPDATE attempts SET limit_at = clock_timestamp() - interval '1 second'");
    const storing = server.meanwhile(
      "BEGIN",
      `UPDATE ${schema}.attempts SET ended_at = '', class = 'settled'`,
      `UPDATE ${schema}.chunks SET state = 'settled' WHERE state = 'sending'`,
      `SELECT pg_advisory_xact_lock(${BEING_STORED})`,
      "DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$",
      "COMMIT",
    );
    while (other.get("SELECT 1 AS one FROM pg_locks WHERE objid = ? AND granted", BEING_STORED) === undefined);
    expect(doubtVanished(other, theirs)).toBe(true);
    await storing;
    expect(chunksOf(other, runNo, "in doubt")).toEqual([]);
    expect(chunksOf(other, runNo, "settled")).toHaveLength(1);
  });

  test("of a session that is silent: it is ended, and the lane is free; one that speaks keeps it", async () => {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const mine = claim(one, two);
    expect(other.endSilentHolder(`lane ${runNo} 0`, LONG_MS)).toBe(false);
    expect(other.endSilentHolder(`lane ${runNo} 1`, -1)).toBe(false);
    expect(other.endSilentHolder(`lane ${runNo} 0`, -1)).toBe(true);
    let theirs: Claim | undefined;
    while (theirs === undefined) theirs = claimLane(other, { runNo, lane: 0, worker: 99 }, LONG_MS);
    expect(theirs.fence).toBe(2);
    expect(one.transaction(() => isHeld(one, mine))).toBe(false);
    expect(other.endSilentHolder(`lane ${runNo} 0`, -1), "one's own").toBe(false);
  });

  test.each(["idle", "within a transaction"])(
    "of a session that is silent, %s, is free once the server has ended it by itself",
    async (how) => {
      const two = await openTwo();
      const { one, other, runNo } = two;
      const mine = claim(one, two);
      endWhenSilent(one, 100);
      const takeOver = (): Claim => {
        for (;;) {
          const theirs = claimLane(other, { runNo, lane: 0, worker: 99 }, LONG_MS);
          if (theirs !== undefined) return theirs;
        }
      };
      let tries = 0;
      if (how === "idle") expect(takeOver().fence).toBe(2);
      else
        one.transaction(() => {
          tries += 1;
          one.run("UPDATE workers SET seen_at = clock_timestamp()");
          if (tries === 1) expect(takeOver().fence).toBe(2);
          one.run("UPDATE workers SET seen_at = clock_timestamp()");
        });
      expect(one.transaction(() => isHeld(one, mine))).toBe(false);
      expect(tries).toBe(how === "idle" ? 0 : 2);
    },
  );

  test("is open as long as something is planned or being sent in it; the longest comes first", async () => {
    const two = await openTwo();
    const { one, runNo } = two;
    const mine = claim(one, two);
    const { chunk } = begin(one, holdLane(one, mine, { timeoutMs: 60_000 }), mine);
    const [, other] = openLanes(one, runNo).toSorted((a, b) => b.overInMs - a.overInMs);
    expect(other).toEqual({ lane: 1, overInMs: 0 });
    const over = openLanes(one, runNo).find(({ lane }) => lane === 0)?.overInMs ?? 0;
    expect(over).toBeGreaterThan(0);
    expect(over).toBeLessThanOrEqual(60_000 + marginOf(60_000));
    one.run("UPDATE chunks SET state = 'settled' WHERE lane = 0 AND chunk <> ?", chunk.chunk);
    expect(openLanes(one, runNo).map(({ lane }) => lane)).toEqual([1, 0]);
    one.run("UPDATE chunks SET state = 'settled' WHERE lane = 0");
    expect(openLanes(one, runNo)).toEqual([{ lane: 1, overInMs: 0 }]);
  });

  test("gives its parts numbers that no other session gives", async () => {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const [first] = chunksOf(one, runNo);
    if (first === undefined) throw new Error("the run has no chunks");
    const part = [{ first: 1, count: 5, offset: 0, length: 50 }];
    for (const ledger of [one, other, one]) ledger.transaction(() => addChunks(ledger, first, part, "planned"));
    expect(
      chunksOf(one, runNo)
        .map(({ chunk }) => chunk)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`what stops a run stops it for all${NEEDS_POSTGRES}`, () => {
  test.each([
    ["a doubt", "UPDATE chunks SET state = 'in doubt' WHERE chunk = 6"],
    ["a refused chunk", "UPDATE chunks SET state = 'refused' WHERE chunk = 6"],
    ["its end", "UPDATE runs SET state = 'finished'"],
    ["a person", "UPDATE runs SET stopped_by_person = 1"],
    ["too many rejections", "UPDATE runs SET exit_code = 9"],
    ["its closing", "INSERT INTO settlements (run_no, decision, who, at) SELECT run_no, 'abandon', 'me', '' FROM runs"],
  ])("%s", async (_, change) => {
    const two = await openTwo();
    const { one, other, runNo } = two;
    const mine = claim(one, two);
    const hold = holdLane(one, mine, { timeoutMs: LONG_MS });
    expect(maySend(one, runNo)).toBe(true);
    other.run(change);
    expect(maySend(one, runNo)).toBe(false);
    expect(begin(one, hold, mine).intent).toEqual({ kind: "halted" });
    expect(chunksOf(one, runNo, "sending")).toEqual([]);
  });

  test("but what stopped one command alone does not", async () => {
    const { one, runNo } = await openTwo();
    noteStop(one, runNo, 7, false);
    expect(maySend(one, runNo)).toBe(true);
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`the pace${NEEDS_POSTGRES}`, () => {
  test("is kept by all together: what one sends puts off the others", async () => {
    const two = await openTwo();
    const { one, other } = two;
    expect(takeTurn(one, 10, undefined, MAX_RETRY_AFTER_MS)).toBe(0);
    expect(one.transaction(() => takeTurn(one, 10, 0.01, MAX_RETRY_AFTER_MS))).toBe(0);
    const waitMs = other.transaction(() => takeTurn(other, 10, 0.01, MAX_RETRY_AFTER_MS));
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(1_000_000);
    expect(takeTurn(other, 10, undefined, MAX_RETRY_AFTER_MS), "without a rate of its own").toBeGreaterThan(0);
    const theirs = claim(other, two);
    expect(begin(other, holdLane(other, theirs, { timeoutMs: LONG_MS }), theirs).intent).toMatchObject({
      kind: "early",
    });
  });

  test("a wait that the service asks one for holds for all, and none makes it shorter", async () => {
    const { one, other } = await openTwo();
    putOff(one, 3_600_000);
    putOff(one, 1);
    expect(takeTurn(other, 10, undefined, MAX_RETRY_AFTER_MS)).toBeGreaterThan(1000);
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`a clock that was set back${NEEDS_POSTGRES}`, () => {
  test.each([
    ["a Retry-After may ask for", undefined, 600_000],
    ["a Retry-After may ask for, beside a rate that asks for less", 100, 600_000],
    ["a whole request asks for at the rate", 5, 1_000_000],
  ])("holds nobody up for longer than %s", async (_, rate, mostMs) => {
    const { one, other } = await openTwo();
    one.run("UPDATE paces SET not_before = clock_timestamp() + interval '1 day'");
    expect(one.transaction(() => takeTurn(one, 10, rate, MAX_RETRY_AFTER_MS))).toBe(mostMs);
    const left = "SELECT extract(epoch FROM not_before - clock_timestamp()) * 1000 AS ms FROM paces";
    expect(Number(other.get(left)?.ms)).toBeLessThanOrEqual(mostMs);
    expect(other.transaction(() => takeTurn(other, 10, rate, MAX_RETRY_AFTER_MS))).toBeGreaterThan(0);
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`the time of a request${NEEDS_POSTGRES}`, () => {
  test("is over here before it is over for others, and is too late for a first byte long before", async () => {
    const two = await openTwo();
    const { one } = two;
    const mine = claim(one, two);
    const timeoutMs = 600_000;
    const { intent, chunk } = begin(one, holdLane(one, mine, { timeoutMs }), mine);
    if (intent.kind !== "begun") throw new Error("it was not begun");
    const left = intent.leftMs?.() ?? 0;
    expect(left).toBeGreaterThan(timeoutMs - marginOf(timeoutMs));
    expect(intent.isTooLate?.()).toBe(false);
    const over = openLanes(one, chunk.runNo).find(({ lane }) => lane === 0)?.overInMs ?? 0;
    expect(intent.leftMs?.() ?? 0).toBeLessThan(over);
  });

  test.each([
    [1000, 2000],
    [10_000, 5000],
    [120_000, 10_000],
  ])("with a timeout of %i ms has a margin of %i ms", (timeoutMs, marginMs) => {
    expect(marginOf(timeoutMs)).toBe(marginMs);
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`workers${NEEDS_POSTGRES}`, () => {
  test("are shown with their lanes until they leave", async () => {
    const two = await openTwo();
    const { one, other } = two;
    const mine = claim(one, two);
    begin(one, holdLane(one, mine, { timeoutMs: LONG_MS }), mine);
    const { workers, lanes, lastMinute } = readTeam(other);
    expect(workers).toMatchObject([{ worker: mine.worker, host: "web-1", process: 4711, command: "tickets work" }]);
    expect(lanes).toEqual([
      { run: "7f3a0c11", lane: 0, actions: 30, beingSent: 10, worker: mine.worker },
      { run: "7f3a0c11", lane: 1, actions: 30, beingSent: 0, worker: undefined },
    ]);
    expect(lastMinute).toBe(0);
    noteLeft(one, mine.worker);
    expect(readTeam(other).workers).toEqual([]);
  });
});
