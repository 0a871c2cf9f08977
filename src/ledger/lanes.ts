/**
 * Who sends what, where several machines share a ledger. A lane belongs to one worker at a time: to the one that claimed it last,
 * whose fence is the highest. Whatever its sender begins, it begins in a transaction that finds its fence still there (attempts.ts).
 */

import { mayBeSent } from "./attempts.ts";
import { OPEN_STATES } from "./chunks.ts";
import { first, type Reader, scalar, select } from "./database.ts";
import type { Postgres } from "./postgres.ts";
import { insertInto, type Sql, sql, words } from "./sql.ts";
import type { OpenLane, Team, Worker, Workers } from "./workers.ts";

/** How long a worker that has ended is remembered, and one is shown that ended without saying so. */
const [REMEMBERED_MS, SHOWN_MS] = [30 * 24 * 3_600_000, 600_000];

const lockOf = (run: number, lane: number): string => `lane ${run} ${lane}`;

export function workersOf(database: Postgres): Workers {
  const { now } = database;
  return {
    facts: () => database.facts(),
    async enter(command, silentMs) {
      await database.endWhenSilent(silentMs);
      return await database.write(async (writer) => {
        await writer.run(sql`DELETE FROM workers WHERE seen_ms < ${now} - ${REMEMBERED_MS}`);
        const who = { host: database.machine, pid: process.pid, command };
        const entered = insertInto("workers", { ...who, startedMs: now, seenMs: now });
        return (await scalar<number>(writer, sql`${entered} RETURNING worker`)) ?? 0;
      });
    },
    async seen(worker, left) {
      const leaving = left === true ? sql`, left_ms = ${now}` : sql``;
      // Without a transaction: done twice, it is as right.
      await database.all(sql`UPDATE workers SET seen_ms = ${now}${leaving} WHERE worker = ${worker}`);
      if (left === true) await database.endWhenSilent(0);
    },
    team: () => readTeam(database, now),
    openLanes: (run) => selectLanes(database, sql`chunks.run = ${run}`),
    async claim({ run, lane, worker }) {
      const name = lockOf(run, lane);
      if (!(await database.tryFenced(name))) return undefined;
      const fence = await database.write(async (writer) => {
        const next = { fence: "lanes.fence + 1" };
        const take = insertInto("lanes", { run, lane, fence: 1, worker }, ["run", "lane"], next);
        const taken = await scalar<number>(writer, sql`${take} RETURNING fence`);
        const sending = sql`SELECT 1 AS one FROM chunks WHERE run = ${run} AND lane = ${lane} AND state = 'sending'`;
        return (await first(writer, sending)) === undefined ? taken : undefined;
      });
      if (fence !== undefined) return { run, lane, worker, fence };
      // The request of the one before may still be on its way.
      await database.unlock(name);
      return undefined;
    },
    async release({ run, lane, fence }) {
      await database.write((writer) =>
        writer.run(sql`UPDATE lanes SET worker = NULL WHERE run = ${run} AND lane = ${lane} AND fence = ${fence}`),
      );
      await database.unlock(lockOf(run, lane));
    },
    maySend: async (run) => (await first(database, mayBeSent(run))) !== undefined,
    async putOff(ms) {
      await database.write((writer) =>
        writer.run(sql`UPDATE pace SET not_before_ms = greatest(not_before_ms, ${now} + ${ms})`),
      );
    },
    woken: (waitMs, signal) => database.woken(waitMs, signal),
  };
}

/** The longest first, so that no long one is left in the end. */
const selectLanes = (reader: Reader, where: Sql): Promise<readonly (OpenLane & { run: string })[]> =>
  select(
    reader,
    sql`SELECT runs.id AS run, chunks.lane, min(stage) AS stage, sum(count) AS actions,
        sum(CASE chunks.state WHEN 'sending' THEN count ELSE 0 END) AS in_flight,
        max(lanes.worker) AS worker
      FROM chunks JOIN runs ON runs.number = chunks.run
        LEFT JOIN lanes ON lanes.run = chunks.run AND lanes.lane = chunks.lane
      WHERE chunks.state IN ${words(OPEN_STATES)} AND ${where}
      GROUP BY runs.number, runs.id, chunks.lane ORDER BY runs.number, count(*) DESC, chunks.lane`,
  );

async function readTeam(reader: Reader, now: Sql): Promise<Team> {
  const workers = await select<Worker>(
    reader,
    sql`SELECT worker, host, pid, command, to_char(to_timestamp(started_ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since,
        greatest(0, ${now} - seen_ms) AS seen_ago_ms
      FROM workers WHERE left_ms IS NULL AND seen_ms > ${now} - ${SHOWN_MS} ORDER BY worker`,
  );
  const lanes = await selectLanes(reader, sql`runs.state = 'open'`);
  return { workers, lanes };
}
