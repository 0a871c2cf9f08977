/** The lock of an environment whose ledger is in PostgreSQL. */

import { hostname } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import { acquireServerLock, isServerLocked, readServerLockHolder } from "../../../../src/ledger/postgres/lock.ts";
import { openPostgres, type PostgresLedger } from "../../../../src/ledger/postgres/open-postgres.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "../../../support/postgres.ts";

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
  return { one, other, server, schema };
}

const lock = (ledger: PostgresLedger, command: string, waitMs = 0, onWait?: () => void) =>
  acquireServerLock({
    ...{ what: "the ledger of live", ledger, name: "environment", command, waitMs, onWait },
    signal: new AbortController().signal,
  });

/** Ends a session as a server does that is stopped. */
const endSession = async ({ server, one }: Awaited<ReturnType<typeof openTwo>>): Promise<void> => {
  const pid = one.get("SELECT pg_backend_pid() AS pid")?.pid;
  await server.query("SELECT pg_terminate_backend($1, 10000)", [pid]);
};

describe.skipIf(WITHOUT_POSTGRES)(`the lock of an environment${NEEDS_POSTGRES}`, () => {
  test("is held once, and says by whom", async () => {
    const { one, other } = await openTwo();
    using _held = await lock(one, "tickets stream a.csv");
    expect(isServerLocked(other, "environment")).toBe(true);
    expect(readServerLockHolder(other, "environment")).toEqual({
      ...{ host: hostname(), pid: process.pid, command: "tickets stream a.csv" },
      since: expect.stringMatching(/^20\d\d-.*Z$/),
    });
    await expect(lock(other, "tickets stream b.csv")).rejects.toMatchObject({
      code: "busy",
      message: expect.stringMatching(
        /^Another run holds the ledger of live \(process \d+ on \S+, since 20\S+Z: tickets stream a\.csv\)\. Nothing was sent\.$/,
      ),
    });
  });

  test("is free when it is given back, and when its ledger is closed", async () => {
    const { one, other } = await openTwo();
    (await lock(one, "first"))[Symbol.dispose]();
    expect(isServerLocked(other, "environment")).toBe(false);
    await lock(one, "second");
    one[Symbol.dispose]();
    using _held = await lock(other, "third");
    expect(readServerLockHolder(other, "environment")?.command).toBe("third");
  });

  test("whoever waits gets it, and is told once whom it waits for", async () => {
    const { one, other } = await openTwo();
    const held = await lock(one, "first");
    let told = 0;
    const waiting = lock(other, "second", 60_000, () => {
      told += 1;
      held[Symbol.dispose]();
    });
    using _held = await waiting;
    expect([told, readServerLockHolder(one, "environment")?.command]).toEqual([1, "second"]);
  });

  test("a session that is lost and begun again has it again, where nobody had it meanwhile", async () => {
    const two = await openTwo();
    using _held = await lock(two.one, "first");
    await endSession(two);
    expect(two.one.get("SELECT 1 AS one")).toEqual({ one: 1 });
    expect([two.one.sessions(), isServerLocked(two.other, "environment")]).toEqual([2, true]);
  });

  test("what was decided under a lock counts no more once another had it, even if that one is done", async () => {
    const two = await openTwo();
    const { one, other } = two;
    await lock(one, "first");
    await endSession(two);
    (await lock(other, "second"))[Symbol.dispose]();
    expect(() => one.transaction(() => one.run("DELETE FROM events"))).toThrow(
      expect.objectContaining({
        code: "busy",
        message: expect.stringContaining("another process took what this one had locked"),
      }),
    );
  });
});
