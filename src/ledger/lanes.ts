/**
 * Who sends what, where several machines share a ledger. A lane belongs to one worker at a time: to the one that claimed it last,
 * whose fence is the highest. Whatever its sender begins, it begins in a transaction that finds its fence still there (attempts.ts).
 */

import { type Claim, mayBeSent } from "./attempts.ts";
import { OPEN_STATES } from "./chunks.ts";
import { first, insertInto, type Reader, type Sql, scalar, select, sql, words } from "./database.ts";
import type { Postgres } from "./postgres.ts";

export interface OpenLane {
  readonly lane: number;
  /** The lowest in which something of the lane is left to send. */
  readonly stage: number;
  /** Actions that are planned or being sent. */
  readonly actions: number;
  /** Of these, those of a request that may be on its way. */
  readonly inFlight: number;
  /** Undefined while nobody has it. */
  readonly worker: number | undefined;
}

export interface Worker {
  readonly worker: number;
  readonly host: string;
  readonly pid: number;
  readonly command: string;
  readonly since: string;
  readonly seenAgoMs: number;
}

/** Who sends what right now, on all machines. */
export interface Team {
  readonly workers: readonly Worker[];
  /** Of open runs, the oldest first. */
  readonly lanes: readonly (OpenLane & { readonly run: string })[];
}

/** How long a worker that has ended is remembered, and one is shown that ended without saying so. */
const [REMEMBERED_MS, SHOWN_MS] = [30 * 24 * 3_600_000, 600_000];

const lockOf = (run: number, lane: number): string => `lane ${run} ${lane}`;

/** What several machines need to share a ledger. */
export type Workers = ReturnType<typeof workersOf>;

export function workersOf(database: Postgres) {
  const { now, session } = database;
  return {
    facts: () => session.facts(),
    /**
     * From now on the server ends this session once it has asked nothing for so long: its process is frozen then.
     *
     * @returns the worker's number.
     */
    async enter(command: string, silentMs: number): Promise<number> {
      await session.endWhenSilent(silentMs);
      return await database.write(async (writer) => {
        await writer.run(sql`DELETE FROM workers WHERE seen_ms < ${now} - ${REMEMBERED_MS}`);
        const who = { host: database.machine, pid: process.pid, command };
        const entered = insertInto("workers", { ...who, startedMs: now, seenMs: now });
        return (await scalar<number>(writer, sql`${entered} RETURNING worker`)) ?? 0;
      });
    },
    /** Shows that the worker is there; `left`: it is going. */
    async seen(worker: number, left?: true): Promise<void> {
      const leaving = left === true ? sql`, left_ms = ${now}` : sql``;
      // Without a transaction: done twice, it is as right.
      await database.all(sql`UPDATE workers SET seen_ms = ${now}${leaving} WHERE worker = ${worker}`);
      if (left === true) await session.endWhenSilent(0);
    },
    team: () => readTeam(database, now),
    /** Lanes in which something is left, the longest first. */
    openLanes: (run: number): Promise<readonly OpenLane[]> => selectLanes(database, sql`chunks.run = ${run}`),
    /** Claims a lane, unless another worker's session holds it, or a request of it may still be on its way. */
    async claim({ run, lane, worker }: Omit<Claim, "fence">): Promise<Claim | undefined> {
      const name = lockOf(run, lane);
      if (!(await session.tryFenced(name))) return undefined;
      const fence = await database.write(async (writer) => {
        const next = { fence: "lanes.fence + 1" };
        const take = insertInto("lanes", { run, lane, fence: 1, worker }, ["run", "lane"], next);
        const taken = await scalar<number>(writer, sql`${take} RETURNING fence`);
        const sending = sql`SELECT 1 AS one FROM chunks WHERE run = ${run} AND lane = ${lane} AND state = 'sending'`;
        return (await first(writer, sending)) === undefined ? taken : undefined;
      });
      if (fence !== undefined) return { run, lane, worker, fence };
      // The request of the one before may still be on its way.
      await session.unlock(name);
      return undefined;
    },
    /** Gives a lane back; if another one has claimed it since, it stays that one's. */
    async release({ run, lane, fence }: Claim): Promise<void> {
      await database.write((writer) =>
        writer.run(sql`UPDATE lanes SET worker = NULL WHERE run = ${run} AND lane = ${lane} AND fence = ${fence}`),
      );
      await session.unlock(lockOf(run, lane));
    },
    /** Whether more of the run may be sent: it waits for a person, for the runs before it, and while it is paused. */
    maySend: async (run: number): Promise<boolean> => (await first(database, mayBeSent(run))) !== undefined,
    /** Nobody sends before so many milliseconds have gone. */
    async putOff(ms: number): Promise<void> {
      await database.write((writer) =>
        writer.run(sql`UPDATE pace SET not_before_ms = greatest(not_before_ms, ${now} + ${ms})`),
      );
    },
    /** Resolves when something was entered, settled or paused, or after so long, or when the signal comes. */
    woken: (waitMs: number, signal: AbortSignal) => session.woken(waitMs, signal),
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
