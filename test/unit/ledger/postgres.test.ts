/** What a ledger in PostgreSQL does where its connection or its server is lost, at any moment: each transaction happens once. */

import { describe, expect, test, vi } from "vitest";
import type { Answer, Ledger } from "../../../src/ledger/ledger.ts";
import { at, ending, enter, newRun, type Place, planned, promise, toPlace } from "../../support/ledgers.ts";
import {
  NEEDS_POSTGRES,
  type PostgresServer,
  startOwnPostgres,
  startPostgres,
  WITHOUT_POSTGRES,
} from "../../support/postgres.ts";
import { type CuttingProxy, startProxy } from "../../support/proxy.ts";

interface Seat extends Place {
  readonly server: PostgresServer;
  readonly schema: string;
}

function seatOn(
  server: PostgresServer,
  ports: readonly number[] = [server.port],
  more: object = {},
  schema = server.newSchema(),
): Seat {
  const url = server.url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(","));
  const place = {
    kind: "postgres",
    url,
    isTls: false,
    schema,
    shown: "postgres://db/tickets",
    application: "test",
  } as const;
  return { server, schema, ...toPlace({ ...place, connectTimeoutMs: 2000, ...more }) };
}

interface Cuttable extends Seat {
  readonly proxy: CuttingProxy;
  readonly ledger: Ledger;
}

async function throughProxy(more: object = {}): Promise<Cuttable> {
  const server = await startPostgres();
  const proxy = await startProxy(server.port);
  const seat = seatOn(server, [proxy.port], more);
  return { ...seat, proxy, ledger: await seat.open() };
}

/** A transaction that would be seen if it happened twice. */
const say = (ledger: Ledger, word: string): Promise<void> =>
  ledger.noteLearnt({ guard: [{ source: "s", kind: "*", made: {}, night: { at: word, rows: 0, recognised: 0 } }] });
const said = async (ledger: Ledger): Promise<readonly string[]> =>
  ((await ledger.guard("s"))[0]?.nights ?? []).map(({ at: word }) => word).toReversed();

const MOMENTS = ["before", "in the request", "in the reply", "half the reply", "after", "late"] as const;
const STATEMENTS: readonly RegExp[] = [/^BEGIN; UPDATE commits SET number/, /^INSERT INTO sources/, /^COMMIT$/];
const QUESTION = /RETURNING number$/;

describe.skipIf(WITHOUT_POSTGRES)(`a session with PostgreSQL that is lost${NEEDS_POSTGRES}`, { tags: ["long"] }, () => {
  test.each(STATEMENTS)("leaves a transaction done once, wherever it is cut in %s", async (statement) => {
    const { ledger, proxy } = await throughProxy();
    for (const moment of MOMENTS) {
      proxy.cut({ statement, moment });
      await say(ledger, moment);
      await proxy.deliver();
    }
    await say(ledger, "end");
    expect(await said(ledger)).toEqual([...MOMENTS, "end"]);
  });

  test.each(MOMENTS)(
    "does once what is cut %s in the commit, and at any moment of the question for it",
    async (commit) => {
      const { ledger, proxy } = await throughProxy();
      for (const moment of MOMENTS) {
        proxy.cut({ statement: /^COMMIT$/, moment: commit });
        proxy.cut({ statement: QUESTION, moment });
        await say(ledger, moment);
        await proxy.deliver();
      }
      expect(await said(ledger)).toEqual([...MOMENTS]);
    },
  );

  test.each(MOMENTS)("enters a run once or not at all, and says which, when its commit is cut %s", async (moment) => {
    const { ledger, proxy } = await throughProxy();
    proxy.cut({ statement: /^COMMIT$/, moment });
    const [run, plan] = [newRun(), planned([{ sales: [{ id: "a" }] }])];
    const entered = await enter(ledger, run, plan).then(
      () => true,
      (cause) => {
        expect(cause).toMatchObject({ code: "storage" });
        return false;
      },
    );
    await proxy.deliver();
    expect((await ledger.run(run.run)) !== undefined).toBe(entered);
  });

  test.each(MOMENTS)("makes its tables once when the commit of that is cut %s", async (moment) => {
    const server = await startPostgres();
    const proxy = await startProxy(server.port);
    proxy.cut({ statement: /^COMMIT$/, moment });
    const seat = seatOn(server, [proxy.port]);
    const ledger = await seat.open();
    await proxy.deliver();
    await say(ledger, "one");
    expect(await said(await seat.open())).toEqual(["one"]);
  });

  test("reads again what was lost", async () => {
    const { ledger, proxy } = await throughProxy();
    await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }]));
    for (const moment of MOMENTS) {
      proxy.cut({ statement: /CROSS JOIN actions/, moment });
      expect(await ledger.actionsOf(["t:a"])).toHaveLength(1);
    }
  });

  test("keeps its lock, or ends where another one had it meanwhile", async () => {
    const { ledger, proxy, server, schema } = await throughProxy({ patienceMs: 500 });
    const options = { name: "env", what: "it", command: "one", waitMs: 0, signal: new AbortController().signal };
    await ledger.lock(options);
    proxy.cutAll();
    await say(ledger, "one");
    const other = await seatOn(server, undefined, {}, schema).open();
    await expect(other.lock(options)).rejects.toMatchObject({ code: "busy" });
    proxy.refuse(true);
    proxy.cutAll();
    const lock = await other.lock({ ...options, command: "other", waitMs: 5000 });
    proxy.refuse(false);
    await expect(say(ledger, "two")).rejects.toMatchObject({ code: "busy", message: /another process took/ });
    await lock[Symbol.asyncDispose]();
    await expect(say(ledger, "three")).rejects.toMatchObject({ code: "busy" });
    expect(await said(other)).toEqual(["one"]);
  });

  test.each([/pg_try_advisory_lock/, /^INSERT INTO locks/, /^COMMIT$/])(
    "takes its lock wholly or not at all, wherever it is cut in %s",
    async (statement) => {
      const options = { name: "env", what: "it", command: "one", waitMs: 0, signal: new AbortController().signal };
      for (const moment of MOMENTS) {
        const { ledger, proxy, server, schema } = await throughProxy();
        proxy.cut({ statement, moment });
        const isTaken = await ledger.lock(options).then(
          () => true,
          () => false,
        );
        await proxy.deliver();
        const other = await seatOn(server, undefined, {}, schema).open();
        if (isTaken) {
          await say(ledger, "held again, where its session was lost since");
          await expect(other.lock(options)).rejects.toMatchObject({ code: "busy" });
        } else {
          await ledger[Symbol.asyncDispose]();
          await other.lock({ ...options, waitMs: 5000 });
        }
      }
    },
  );

  test.each(["refuse", "holdBack"] as const)(
    "is said to be away after some seconds, and a stop is heard: %s",
    async (how) => {
      const stop = new AbortController();
      const onAway = vi.fn();
      const { ledger, proxy } = await throughProxy({ signal: stop.signal, onAway, connectTimeoutMs: 500 });
      proxy[how](true);
      if (how === "refuse") proxy.cutAll();
      const saying = expect(say(ledger, "one")).rejects.toMatchObject({ code: "storage" });
      await vi.waitUntil(() => onAway.mock.calls.length > 0, { timeout: 10_000 });
      expect(onAway).toHaveBeenCalledWith(true);
      stop.abort("SIGTERM");
      await saying;
      proxy[how](false);
      await say(ledger, "two");
      expect(await said(ledger)).toContain("two");
      expect(onAway.mock.calls).toEqual([[true], [false]]);
    },
  );

  test("is waited for once, however much is asked of it", async () => {
    const { ledger, proxy } = await throughProxy({ patienceMs: 3000, connectTimeoutMs: 500 });
    proxy.refuse(true);
    proxy.cutAll();
    await Promise.all([
      expect(say(ledger, "one")).rejects.toMatchObject({ code: "storage" }),
      expect(say(ledger, "two")).rejects.toMatchObject({ code: "storage" }),
    ]);
    // Its time is over by now: it is tried once more, and not waited for.
    const closed = ledger[Symbol.asyncDispose]();
    await expect(said(ledger)).rejects.toThrow();
    await closed;
  });

  test.each(["at once", "killed"] as const)("goes on when the server stops %s, and is started again", async (how) => {
    const server = await startOwnPostgres();
    const ledger = await seatOn(server).open();
    await say(ledger, "one");
    const saying = say(ledger, "two");
    server.stop(how);
    server.start();
    await saying;
    await say(ledger, "three");
    expect(await said(ledger)).toEqual(["one", "two", "three"]);
  });

  test("goes on with a standby that had every commit, and with none that may lack one", async () => {
    const primary = await startOwnPostgres();
    const standby = await primary.addStandby();
    const ledger = await seatOn(primary, [primary.port, standby.port]).open();
    await say(ledger, "one");
    primary.stop("killed");
    standby.promote();
    await say(ledger, "two");
    expect(await said(ledger)).toEqual(["one", "two"]);
  });

  test("ends with a server that has forgotten what it confirmed", async () => {
    const { ledger, server, schema, proxy } = await throughProxy();
    await say(ledger, "one");
    await server.query(`DELETE FROM ${schema}.commits`);
    proxy.cutAll();
    await expect(say(ledger, "two")).rejects.toMatchObject({ code: "storage", message: /took over from the one/ });
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`a PostgreSQL that a ledger is not safe with${NEEDS_POSTGRES}`, () => {
  test("is refused when fsync is off, also when that is switched off while it is open", async () => {
    const server = await startOwnPostgres();
    const seat = seatOn(server);
    const ledger = await seat.open();
    await server.query("ALTER SYSTEM SET fsync = off");
    await server.query("SELECT pg_reload_conf()");
    const off = { code: "usage", message: expect.stringContaining("runs with fsync = off") };
    const isOff = async () => (await server.query("SHOW fsync"))[0]?.fsync === "off";
    await vi.waitUntil(isOff);
    await expect(seat.open()).rejects.toMatchObject(off);
    await say(ledger, "within the minute");
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 61_000);
    await expect(say(ledger, "later")).rejects.toMatchObject(off);
    clock.mockRestore();
  });

  test("waits for the disk whatever the server, the database or the role says", async () => {
    const server = await startOwnPostgres({ synchronous_commit: "off" });
    await server.query("ALTER ROLE tickets SET synchronous_commit = off");
    const ledger = await seatOn(server).open();
    await say(ledger, "one");
    expect(await said(ledger)).toEqual(["one"]);
  });

  test("is refused with a sentence that holds no password", async () => {
    const server = await startPostgres();
    const { place } = seatOn(server);
    if (place.kind !== "postgres") throw new Error("it is one");
    const url = place.url.replace(/:[^:@]*@/, ":wrong-secret@");
    const refused = await toPlace({ ...place, url })
      .open()
      .catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ code: "usage", message: /authentication failed/ });
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain("wrong-secret");
  });

  test("whose schema has tables of another version is left as it is", async () => {
    const server = await startPostgres();
    const seat = seatOn(server);
    await (await seat.open())[Symbol.asyncDispose]();
    await server.query(`UPDATE ${seat.schema}.meta SET value = '1' WHERE name = 'schema'`);
    await expect(seat.open()).rejects.toMatchObject({ code: "usage", message: /has version 1/ });
    await server.query(`DROP TABLE ${seat.schema}.meta CASCADE`);
    await expect(seat.find()).rejects.toMatchObject({ code: "usage", message: /the form of an earlier version/ });
  });
});

describe.skipIf(WITHOUT_POSTGRES)(`workers that share a ledger${NEEDS_POSTGRES}`, () => {
  const LONG_MS = 60_000;
  const accepted = { outcome: "accepted", promise: promise(1) } as const;

  /** Two of them. The first has lane 1: what it begins and answers is under that claim. */
  async function twoWorkers(...parts: Parameters<typeof planned>[0]) {
    const server = await startPostgres();
    const seat = seatOn(server);
    const [one, other] = [await seat.open(), await seat.open()];
    const run = await enter(one, newRun(), planned(parts));
    const join = async ({ workers }: Ledger) => {
      if (workers === undefined) throw new Error("a shared ledger has workers");
      const worker = await workers.enter("tickets work", 0);
      return { ...workers, worker, take: (lane: number) => workers.claim({ run, lane, worker }) };
    };
    const [first, second] = [await join(one), await join(other)];
    const claim = (await first.take(1)) ?? expect.fail("it is free");
    const begin = (chunk: number, of = claim) =>
      one.advance(run, {
        intent: { chunk, at: at(1), claim: { claim: of, limitMs: LONG_MS, mostRejected: 1, shareMs: 0 } },
      });
    const answer = (answers: readonly Answer[], raw?: Buffer) =>
      one.advance(run, { ended: ending("answer", { attempt: 1, httpStatus: 200, answers, raw, claim }) });
    const states = async () => (await other.chunks(run)).map(({ state }) => state);
    return { server, schema: seat.schema, one, other, first, second, run, claim, begin, answer, states };
  }

  test("take a lane over when its worker is gone: its chunk is in doubt once its time is over, and its answer decides nothing", async () => {
    const { other, second, run, begin, answer, states, server, schema } = await twoWorkers(
      { sales: [{ id: "a" }] },
      { sales: [{ id: "b" }] },
    );
    expect(await begin(1)).toMatchObject({ attempt: 1 });
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()`;
    await server.query(ended);
    expect(await second.take(1)).toBeUndefined();
    await server.query(`UPDATE ${schema}.attempts SET limit_ms = 1`);
    await server.query(ended);
    expect(await other.doubtVanished(run, at(2))).toBe(1);
    await vi.waitUntil(async () => (await second.take(1)) !== undefined);
    expect(await states()).toEqual(["in doubt", "planned"]);
    const raw = Buffer.from("the answer");
    expect(await answer([accepted], raw)).toMatchObject({ isStored: false });
    const late = { state: "in doubt", detail: expect.stringContaining("its answer came late") };
    expect((await other.chunks(run))[0]).toMatchObject(late);
    expect(await server.query(`SELECT answer FROM ${schema}.attempts`)).toEqual([{ answer: raw }]);
    expect(await begin(2)).toMatchObject({ attempt: undefined, obstacle: "taken" });
  });

  test("put what was planned again in doubt when a late answer says that the service may have it", async () => {
    const { other, second, run, begin, answer, states } = await twoWorkers(
      { sales: [{ id: "a" }] },
      { sales: [{ id: "b" }] },
    );
    await begin(1);
    await other.advance(run, { ended: ending("doubt") });
    await other.settle(run, 1, "not-sent", { who: "ops", at: at(3), reason: undefined });
    await answer([accepted]);
    expect(await states()).toEqual(["in doubt", "planned"]);
    expect(await second.maySend(run)).toBe(false);
    expect(await begin(2)).toMatchObject({ attempt: undefined, obstacle: "waits" });
  });

  test("give nothing back by an answer that comes late", async () => {
    const { one, other, run, claim, begin } = await twoWorkers({ sales: [{ id: "a" }, { id: "b" }] });
    await begin(1);
    await other.advance(run, { ended: ending("doubt") });
    const late = ending("giveBack", { at: at(3), class: "too large", httpStatus: 413, claim, attempt: 1 });
    expect(await one.advance(run, { ended: late })).toMatchObject({ isStored: false });
    expect(await other.chunks(run)).toMatchObject([{ state: "in doubt", detail: "a late answer says: too large" }]);
  });

  test("cut what is planned only under the claim that counts", async () => {
    const { one, first, second, run, claim } = await twoWorkers({ sales: [{ id: "a" }, { id: "b" }, { id: "c" }] });
    await first.release(claim);
    const theirs = (await second.take(1)) ?? expect.fail("it is free");
    expect(await one.split(run, 1, 2, claim)).toBe(false);
    expect(await one.split(run, 1, 2, theirs)).toBe(true);
    expect(await one.split(run, 1, 2, theirs)).toBe(false);
    const counts = (await one.chunks(run)).map(({ state, count }) => `${state} ${count}`);
    expect(counts).toEqual(["split 3", "planned 2", "planned 1"]);
  });

  test("keep the rate together, and a pause that one of them was asked for", async () => {
    const SHARE_MS = 600_000;
    const { server, schema, one, other, first, second, run, claim, states } = await twoWorkers(
      { sales: [{ id: "a" }], lane: 1 },
      { sales: [{ id: "b" }], lane: 2 },
    );
    const theirs = (await second.take(2)) ?? expect.fail("it is free");
    const limits = { limitMs: LONG_MS, mostRejected: 1 };
    const begin = (shareMs: number) =>
      Promise.all([
        one.advance(run, { intent: { chunk: 1, at: at(1), claim: { ...limits, claim, shareMs } } }),
        other.advance(run, { intent: { chunk: 2, at: at(1), claim: { ...limits, claim: theirs, shareMs } } }),
      ]);
    await first.putOff(SHARE_MS);
    for (const { obstacle } of await begin(0)) expect(obstacle).toEqual({ waitMs: expect.any(Number) });
    expect(await states()).toEqual(["planned", "planned"]);
    await server.query(`UPDATE ${schema}.pace SET not_before_ms = 0`);
    expect((await begin(SHARE_MS)).flatMap(({ attempt }) => attempt ?? [])).toEqual([1]);
    expect((await states()).toSorted()).toEqual(["planned", "sending"]);
  });

  test("are woken by what is entered, and by a signal", async () => {
    const { one, second } = await twoWorkers({ sales: [{ id: "a" }] });
    const stop = new AbortController();
    await second.woken(1, stop.signal);
    const woken = second.woken(LONG_MS, stop.signal);
    await enter(one, newRun(), planned([{ sales: [{ id: "z" }] }]));
    await woken;
    const stopped = second.woken(LONG_MS, stop.signal);
    stop.abort();
    await stopped;
  });

  test("ask at most 15 statements a chunk, from the look at it to its promises", async () => {
    const server = await startPostgres();
    const proxy = await startProxy(server.port);
    const ledger = await seatOn(server, [proxy.port]).open();
    const run = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }, { sales: [{ id: "b" }] }]));
    const worker = (await ledger.workers?.enter("tickets work", 0)) ?? 0;
    const claim = (await ledger.workers?.claim({ run, lane: 1, worker })) ?? expect.fail("it is free");
    const intent = (chunk: number) => ({
      chunk,
      at: at(1),
      claim: { claim, limitMs: 1000, mostRejected: 1, shareMs: 0 },
    });
    await ledger.advance(run, { intent: intent(1) });
    proxy.statements();
    await ledger.nextChunk(run, 1);
    const ended = ending("answer", { attempt: 1, httpStatus: 200, answers: [accepted], claim });
    await ledger.advance(run, { ended, intent: intent(2) });
    await ledger.outcomes(run, 1);
    const file = { path: "/out", kind: "promises", length: 1, mtimeNs: "1", digest: "ab" } as const;
    await ledger.noteOutput(file, { run, chunk: 1, isNew: false });
    const asked = proxy.statements();
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(15);
  });
});
