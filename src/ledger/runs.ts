/** The runs: plans that are being sent, or were. */

import { crashPoint } from "../disk/crash-points.ts";
import { adoptActions, insertActions } from "./actions.ts";
import { HAS_UNWRITTEN, insertChunk } from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES, OPEN_STATES, PENDING_STATES } from "./chunks.ts";
import { type Database, first, type Reader, scalar, select, type Writer } from "./database.ts";
import type { NewRun, Run, RunCounts, RunFilter, RunState, Runs } from "./ledger.ts";
import { noteLearnt } from "./notes.ts";
import { noteSettlement } from "./settle.ts";
import { assigned, type Columns, every, insertInto, listOf, raw, type Sql, sql, words } from "./sql.ts";

export async function selectRuns(reader: Reader, rest: Sql): Promise<readonly Run[]> {
  const rows = await select<Run & { readonly facts: object }>(
    reader,
    sql`SELECT number, id AS run, kind, state, created_at, ended_at, exit_code, output, paused, most_actions, sends, facts FROM runs ${rest}`,
    ["facts", "paused"],
  );
  return rows.map(({ facts, ...row }) => ({ ...facts, ...row }));
}

/** @param ended of one that is not sent from here. @returns its number. */
export async function insertRun(writer: Writer, run: NewRun, kind: Run["kind"], ended?: string): Promise<number> {
  const { run: id, createdAt, output, guard, corrected, ...facts } = run;
  const last = await scalar<number>(writer, sql`SELECT max(number) FROM runs`);
  const number = (last ?? 0) + 1;
  const state: RunState = ended === undefined ? "open" : "finished";
  const end = ended === undefined ? {} : { endedAt: ended, exitCode: 0 };
  const row = { number, id, kind, state, createdAt, output, facts: JSON.stringify(facts), ...end };
  await writer.run(insertInto("runs", row));
  await noteLearnt(writer, { guard, corrected });
  return number;
}

/** The next one is made while a server works on the one before. */
async function meanwhile<T>(items: AsyncIterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  let working = Promise.resolve();
  for await (const item of items) {
    await working;
    working = work(item);
    // It is heard with the next one. Unheard it would end the process.
    working.catch(() => undefined);
  }
  await working;
}

const HAS_PENDING = sql`EXISTS (SELECT 1 FROM chunks WHERE run = number AND state IN ${words(PENDING_STATES)})`;
const HAS_UNSENT = sql`EXISTS (SELECT 1 FROM chunks WHERE run = number AND state IN ${words(OPEN_STATES)})`;

export const runMethods = (database: Database): Runs => ({
  async enterRun(run, chunks, actions) {
    const entered = await database.write(async (writer) => {
      const number = await insertRun(writer, run, "sent");
      for await (const { chunk, lane, stage, ...content } of chunks) {
        const place = { run: number, chunk, lane, stage, whole: chunk, first: 0, state: "planned" } as const;
        await insertChunk(writer, place, content);
      }
      await meanwhile(actions, (some) => insertActions(writer, number, some));
      await database.wake(writer);
      return number;
    }, "once");
    crashPoint("entered");
    return entered;
  },
  adopt: (run, actions, by) =>
    database.write(async (writer) => {
      const number = await insertRun(writer, run, "adopted", by.at);
      await noteSettlement(writer, number, undefined, "sent", by);
      for await (const some of actions) await adoptActions(writer, number, some);
      return number;
    }, "once"),
  run: async (id) => (await selectRuns(database, sql`WHERE id = ${id}`))[0],
  runs: (filter = {}) => selectFiltered(database, filter),
  counts: (run) => countRun(database, run),
  noteSending: (run) =>
    database.write(async (writer) => {
      const noted = sql`UPDATE runs SET sends = sends + 1 WHERE number = ${run} RETURNING sends`;
      return (await scalar<number>(writer, noted)) ?? 0;
    }),
  noteStop: (run, { exitCode, paused }) =>
    database.write(async (writer) => {
      const word: Columns = paused === undefined ? {} : { paused: paused === null ? null : JSON.stringify(paused) };
      await writer.run(sql`UPDATE runs SET ${assigned({ exitCode, ...word })} WHERE number = ${run}`);
      if (paused === undefined) return;
      if (paused !== null) await noteSettlement(writer, run, undefined, "pause", paused);
      await database.wake(writer);
    }),
  async endRun(run, { exitCode, at }) {
    const ended = await database.write(async (writer) => {
      const changes = await writer.run(sql`UPDATE runs SET ended_at = ${at}, exit_code = ${exitCode}, paused = NULL,
            state = CASE state WHEN 'open' THEN 'finished' ELSE 'abandoned' END
          WHERE number = ${run} AND ((state = 'open' AND NOT ${HAS_PENDING}) OR (state = 'closing' AND NOT ${HAS_UNSENT}))`);
      await database.wake(writer);
      return changes === 1;
    });
    crashPoint("ended");
    return ended;
  },
  async prune(before) {
    const pruned = await database.write(async (writer) => {
      const over = sql`run IN (SELECT number FROM runs WHERE ended_at < ${before} AND NOT ${HAS_PENDING})`;
      return await writer.run(sql`UPDATE bodies SET body = NULL, texts = NULL WHERE body IS NOT NULL AND ${over}`);
    });
    await database.giveBack();
    return pruned;
  },
});

async function selectFiltered(reader: Reader, filter: RunFilter): Promise<readonly Run[]> {
  const { ids, states, chunks, unwritten, last } = filter;
  const having = (is: Sql): Sql => sql`number IN (SELECT run FROM chunks WHERE ${is})`;
  const where = every(
    ids && sql`id IN (SELECT id FROM ${listOf("id", "text", ids)} AS wanted)`,
    states && sql`state IN ${words(states)}`,
    chunks && having(sql`state IN ${words(chunks)}`),
    unwritten && having(HAS_UNWRITTEN),
  );
  const limit = last === undefined ? sql`` : sql` LIMIT ${last}`;
  return (await selectRuns(reader, sql`WHERE ${where} ORDER BY number DESC${limit}`)).toReversed();
}

async function countRun(reader: Reader, run: number): Promise<RunCounts> {
  const those = (states: readonly ChunkState[], what = raw("count")): Sql =>
    sql`coalesce(sum(CASE WHEN state IN ${words(states)} THEN ${what} ELSE 0 END), 0)`;
  const counts = await first<Omit<RunCounts, "settled"> & { known: number }>(
    reader,
    sql`SELECT coalesce(sum(accepted), 0) AS accepted, coalesce(sum(rejected), 0) AS rejected, ${those(["in doubt"])} AS in_doubt,
        ${those(["sending"])} AS in_flight, ${those(["refused"])} AS refused, ${those(["planned", "abandoned"])} AS not_sent,
        ${those(DECIDED_STATES)} AS known, coalesce(sum(count), 0) AS total, count(*) AS chunks, ${those(DECIDED_STATES, raw("1"))} AS decided_chunks
      FROM chunks WHERE run = ${run} AND state <> 'split'`,
  );
  if (counts === undefined) throw new Error("a sum has one row");
  const { known, ...others } = counts;
  return { ...others, settled: known - counts.accepted - counts.rejected };
}
