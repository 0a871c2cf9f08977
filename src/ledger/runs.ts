/** The runs: plans that are being sent, or were. */

import { crashPoint } from "../disk/crash-points.ts";
import { adoptActions, insertActions } from "./actions.ts";
import { insertChunk } from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES, OPEN_STATES } from "./chunks.ts";
import { type Database, first, type Session } from "./database.ts";
import { noteGuards } from "./guard.ts";
import type { By, Ledger, NewRun, Run, RunCounts, RunFacts, RunFilter, RunState } from "./ledger.ts";
import { PENDING } from "./schema.ts";
import { raw, rowsOf, type Sql, sql, words } from "./sql.ts";

interface RunRow {
  readonly number: number;
  readonly id: string;
  readonly kind: Run["kind"];
  readonly state: RunState;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly exit_code: number | null;
  readonly output: string | null;
  readonly paused: string | null;
  readonly most_actions: number | null;
  readonly sends: number;
  readonly facts: string;
}

export async function selectRuns(session: Session, rest: Sql): Promise<readonly Run[]> {
  const rows = await session.all<RunRow>(
    sql`SELECT number, id, kind, state, created_at, ended_at, exit_code, output, paused, most_actions, sends, facts FROM runs ${rest}`,
  );
  return rows.map(({ id, created_at, ended_at, exit_code, output, paused, most_actions, facts, ...row }) => ({
    ...(JSON.parse(facts) as Omit<RunFacts, "run" | "createdAt" | "output">), // by insertRun
    ...row,
    run: id,
    createdAt: created_at,
    endedAt: ended_at ?? undefined,
    exitCode: exit_code ?? undefined,
    output: output ?? undefined,
    paused: paused === null ? undefined : (JSON.parse(paused) as By), // by noteStop
    mostActions: most_actions ?? undefined,
    sends: Number(row.sends),
  }));
}

/** Part of a transaction. One that is not sent from here has ended. @returns its number. */
export async function insertRun(session: Session, run: NewRun, kind: Run["kind"]): Promise<number> {
  const { run: id, createdAt, output, guard, ...facts } = run;
  const last = await first<{ last: number }>(session, sql`SELECT coalesce(max(number), 0) AS last FROM runs`);
  const number = Number(last?.last) + 1;
  const state: RunState = kind === "sent" ? "open" : "finished";
  await session.run(sql`INSERT INTO runs (number, id, kind, state, created_at, output, facts)
    VALUES (${number}, ${id}, ${kind}, ${state}, ${createdAt}, ${output}, ${JSON.stringify(facts)})`);
  if (guard !== undefined) await noteGuards(session, guard);
  return number;
}

const HAS_PENDING = sql`EXISTS (SELECT 1 FROM chunks WHERE run = number AND state IN ${raw(PENDING)})`;
const HAS_UNSENT = sql`EXISTS (SELECT 1 FROM chunks WHERE run = number AND state IN ${words(OPEN_STATES)})`;
export const HAS_UNWRITTEN = sql`state IN ${words(DECIDED_STATES)} AND is_written = 0`;

export type RunMethods = Pick<
  Ledger,
  "enterRun" | "adopt" | "run" | "runs" | "counts" | "noteSending" | "noteStop" | "endRun" | "settlements" | "prune"
>;

/** @param wake workers, after something that they may wait for. */
export function runMethods(database: Database, wake: (session: Session) => Promise<void>): RunMethods {
  return {
    async enterRun(run, chunks, actions) {
      const entered = await database.write(async (session) => {
        const number = await insertRun(session, run, "sent");
        for await (const { chunk, lane, stage, body, origins, rows } of chunks) {
          const place = { run: number, chunk, lane, stage, whole: chunk, first: 0, state: "planned" } as const;
          await insertChunk(session, place, { body, origins, rows });
        }
        for await (const some of actions) await insertActions(session, number, some);
        await wake(session);
        return number;
      }, "once");
      crashPoint("entered");
      return entered;
    },
    adopt: (run, actions, by) =>
      database.write(async (session) => {
        const number = await insertRun(session, run, "adopted");
        await session.run(sql`UPDATE runs SET ended_at = ${by.at}, exit_code = 0 WHERE number = ${number}`);
        await noteSettlement(session, number, undefined, "sent", by);
        for await (const some of actions) await adoptActions(session, number, some);
        return number;
      }, "once"),
    run: (id) => database.read(async (session) => (await selectRuns(session, sql`WHERE id = ${id}`))[0]),
    runs: (filter = {}) => database.read((session) => selectFiltered(session, filter)),
    counts: (run) => database.read((session) => countRun(session, run)),
    noteSending: (run) =>
      database.write(async (session) => {
        const noted = sql`UPDATE runs SET sends = sends + 1 WHERE number = ${run} RETURNING sends`;
        return Number((await first<{ sends: number }>(session, noted))?.sends);
      }),
    async noteStop(run, { exitCode, paused }) {
      await database.write(async (session) => {
        await session.run(sql`UPDATE runs SET exit_code = ${exitCode} WHERE number = ${run}`);
        if (paused === undefined) return;
        const text = paused === null ? null : JSON.stringify(paused);
        await session.run(sql`UPDATE runs SET paused = ${text} WHERE number = ${run}`);
        if (paused !== null) await noteSettlement(session, run, undefined, "pause", paused);
        await wake(session);
      });
    },
    async endRun(run, { exitCode, at }) {
      const ended = await database.write(async (session) => {
        const changes = await session.run(sql`UPDATE runs SET ended_at = ${at}, exit_code = ${exitCode}, paused = NULL,
            state = CASE state WHEN 'open' THEN 'finished' ELSE 'abandoned' END
          WHERE number = ${run} AND ((state = 'open' AND NOT ${HAS_PENDING}) OR (state = 'closing' AND NOT ${HAS_UNSENT}))`);
        await wake(session);
        return changes === 1;
      });
      crashPoint("ended");
      return ended;
    },
    settlements: (run) =>
      database.read(async (session) =>
        (
          await session.all<Awaited<ReturnType<Ledger["settlements"]>>[number]>(
            sql`SELECT chunk, decision, who, at, reason FROM settlements WHERE run = ${run} ORDER BY id`,
          )
        ).map((row) => ({ ...row, chunk: row.chunk ?? undefined, reason: row.reason ?? undefined })),
      ),
    async prune(before) {
      const pruned = await database.write(async (session) => {
        const over = sql`run IN (SELECT number FROM runs WHERE ended_at < ${before} AND NOT ${HAS_PENDING})`;
        await session.run(sql`DELETE FROM row_texts WHERE ${over}`);
        return await session.run(sql`UPDATE bodies SET body = NULL WHERE body IS NOT NULL AND ${over}`);
      });
      await database.giveBack();
      return pruned;
    },
  };
}

async function selectFiltered(session: Session, filter: RunFilter): Promise<readonly Run[]> {
  const { ids, states, chunks, unwritten, last } = filter;
  const ofIds =
    ids === undefined
      ? sql``
      : sql` AND id IN (SELECT id FROM ${rowsOf(
          { id: "text" },
          ids.map((id) => [id]),
        )} AS wanted)`;
  const ofStates = states === undefined ? sql`` : sql` AND state IN ${words(states)}`;
  const having = (is: Sql): Sql => sql` AND number IN (SELECT run FROM chunks WHERE ${is})`;
  const ofChunks = chunks === undefined ? sql`` : having(sql`state IN ${words(chunks)}`);
  const ofUnwritten = unwritten === undefined ? sql`` : having(HAS_UNWRITTEN);
  const limit = last === undefined ? sql`` : sql` LIMIT ${last}`;
  const where = sql`WHERE 1 = 1${ofIds}${ofStates}${ofChunks}${ofUnwritten} ORDER BY number DESC${limit}`;
  return (await selectRuns(session, where)).toReversed();
}

async function countRun(session: Session, run: number): Promise<RunCounts> {
  const rows = await session.all<{ state: ChunkState; n: number; actions: number; accepted: number; rejected: number }>(
    sql`SELECT state, count(*) AS n, sum(count) AS actions, sum(accepted) AS accepted, sum(rejected) AS rejected
      FROM chunks WHERE run = ${run} AND state <> 'split' GROUP BY state`,
  );
  const by = (states: readonly ChunkState[], what: "n" | "actions" | "accepted" | "rejected"): number =>
    rows.reduce((sum, row) => sum + (states.includes(row.state) ? Number(row[what]) : 0), 0);
  const all = rows.map(({ state }) => state);
  const isAnswered = ["answered"] as const;
  // Of a chunk that was imported, a person may have settled a part.
  const imported = by(isAnswered, "actions") - by(isAnswered, "accepted") - by(isAnswered, "rejected");
  return {
    accepted: by(all, "accepted"),
    rejected: by(all, "rejected"),
    inDoubt: by(["in doubt"], "actions"),
    inFlight: by(["sending"], "actions"),
    refused: by(["refused"], "actions"),
    notSent: by(["planned", "abandoned"], "actions"),
    settled: by(["settled"], "actions") + imported,
    total: by(all, "actions"),
    chunks: by(all, "n"),
    decidedChunks: by(DECIDED_STATES, "n"),
  };
}

/** Part of a transaction. */
export async function noteSettlement(
  session: Session,
  run: number,
  chunk: number | undefined,
  decision: string,
  { who, at, reason }: By,
): Promise<void> {
  await session.run(sql`INSERT INTO settlements (run, chunk, decision, who, at, reason)
    VALUES (${run}, ${chunk}, ${decision}, ${who}, ${at}, ${reason})`);
}
