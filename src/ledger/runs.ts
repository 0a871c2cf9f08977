/** The runs: plans that are being sent, or were. */

import { crashPoint } from "../disk/crash-points.ts";
import { adoptActions, insertActions, type NewAction } from "./actions.ts";
import { HAS_UNWRITTEN, insertChunk, type NewChunk } from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES, OPEN_STATES, PENDING_STATES, QUESTION_STATES } from "./chunks.ts";
import {
  assigned,
  type Columns,
  type Database,
  every,
  first,
  insertInto,
  listOf,
  type Reader,
  raw,
  type Sql,
  scalar,
  select,
  sql,
  type Writer,
  words,
} from "./database.ts";
import { type Learnt, noteLearnt } from "./notes.ts";
import { type By, noteSettlement } from "./settle.ts";

export interface RunInput {
  readonly name: string;
  readonly source: string;
  readonly format: string;
  readonly sha256: string;
  readonly rows: number;
  /** Of a table: what its rejects are written with. */
  readonly header?: readonly string[] | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
}

/** How a run was entered, for the commands that go on with it; nothing of one that was imported. */
interface RunOptions {
  /** The folder that rejects go to. */
  readonly directory?: string;
  /** As `Ledger.machine`. */
  readonly machine?: string | undefined;
  readonly safeCsv?: boolean;
  /** By which its input is read again. */
  readonly flags?: readonly string[];
  /** Something changed that no earlier command had shown. */
  readonly reportsChange?: boolean;
  /** Runs for which some of its input waits. */
  readonly heldBy?: readonly string[];
  /** Files with rows that were not sent. */
  readonly rejects?: readonly string[];
}

/** What the plan knows of a run. All but the first four fields is kept as it is given. */
interface RunFacts {
  /** 8 hex digits. */
  readonly run: string;
  /** UTC in ISO 8601, as all times here. */
  readonly createdAt: string;
  readonly environment: string;
  /** The promises file; undefined for standard output. */
  readonly output: string | undefined;
  readonly inputs: readonly RunInput[];
  /** Counts, as the summary shows them. */
  readonly rows: Readonly<Record<string, number>>;
  readonly actions: Readonly<Record<string, number>>;
  readonly byAction: Readonly<Record<string, number>>;
  readonly problems: Readonly<Record<string, number>>;
  readonly options: RunOptions;
}

export interface NewRun extends RunFacts, Learnt {}

/** `closing`: a person abandoned it, and its rejects are not written yet. */
type RunState = "open" | "closing" | "finished" | "abandoned";

export interface Run extends RunFacts {
  readonly number: number;
  readonly kind: "sent" | "adopted" | "imported";
  readonly state: RunState;
  readonly endedAt: string | undefined;
  /** What the last command on it ended with; undefined where that was killed, or is still at it. */
  readonly exitCode: number | undefined;
  /** A person stopped it: it is sent again only when one says so. */
  readonly paused: By | undefined;
  /** Actions a request may hold, where the service found more too large (413). */
  readonly mostActions: number | undefined;
  /** How often a command noted that it sends it, or has sent some of it. */
  readonly sends: number;
}

export interface RunFilter {
  readonly ids?: readonly string[];
  readonly states?: readonly RunState[];
  /** Those with chunks that a person has to decide about. */
  readonly asks?: true;
  /** Those whose promises are not all in the promises file. */
  readonly unwritten?: true;
  /** So many of the newest. */
  readonly last?: number;
}

/** Actions of a run by outcome. */
export interface RunCounts {
  readonly accepted: number;
  readonly rejected: number;
  /** In doubt, without what is in flight. */
  readonly inDoubt: number;
  /** A request is on its way, or its process died meanwhile and nobody has looked since. */
  readonly inFlight: number;
  /** The service refused their chunk. */
  readonly refused: number;
  /** Planned, or abandoned. */
  readonly notSent: number;
  /** A person said that the service has them: no promise. */
  readonly settled: number;
  readonly total: number;
  /** Chunks, and those of which every outcome is known. */
  readonly chunks: number;
  readonly decidedChunks: number;
}

export async function selectRuns(reader: Reader, rest: Sql): Promise<readonly Run[]> {
  const rows = await select<Run & { readonly facts: object }>(
    reader,
    sql`SELECT number, id AS run, kind, state, created_at, ended_at, exit_code, output, paused, most_actions, sends, facts FROM runs ${rest}`,
    ["facts", "paused"],
  );
  return rows.map(({ facts, ...row }) => ({ ...facts, ...row }));
}

/** @param endedAt of one that is not sent from here. */
export async function insertRun(writer: Writer, run: NewRun, kind: Run["kind"], endedAt?: string): Promise<Run> {
  const { run: id, createdAt, output, guard, corrected, ...facts } = run;
  const last = await scalar<number>(writer, sql`SELECT max(number) FROM runs`);
  const number = (last ?? 0) + 1;
  const [state, exitCode] = endedAt === undefined ? (["open", undefined] as const) : (["finished", 0] as const);
  const row = { number, kind, state, createdAt, output, endedAt, exitCode };
  await writer.run(insertInto("runs", { id, ...row, facts: JSON.stringify(facts) }));
  await noteLearnt(writer, { guard, corrected });
  return { ...facts, ...row, run: id, paused: undefined, mostActions: undefined, sends: 0 };
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

export const runMethods = (database: Database) => ({
  /**
   * Puts a run, its chunks and its actions into the ledger, or nothing. After this resolves, the input may vanish: what is
   * sent is what the ledger holds. The iterables must not call this ledger: its transaction is open while they run.
   *
   * @param actions each once, in the order of (subject, kind, mark) compared by code points.
   * @throws Failure `busy` where another run has entered one of the actions since they were judged.
   */
  async enterRun(given: NewRun, chunks: AsyncIterable<NewChunk>, actions: AsyncIterable<readonly NewAction[]>) {
    const entered = await database.write(async (writer) => {
      const run = await insertRun(writer, given, "sent");
      for await (const { chunk, lane, stage, ...content } of chunks) {
        const place = { run: run.number, chunk, lane, stage, whole: chunk, first: 0, state: "planned" } as const;
        await insertChunk(writer, place, content);
      }
      await meanwhile(actions, (some) => insertActions(writer, run.number, some));
      await writer.wake();
      return run;
    }, "once");
    crashPoint("entered");
    return entered;
  },
  /**
   * Enters actions as known, without a chunk: nothing is sent. One that is known with other content gets this one.
   *
   * @param actions in the order of `enterRun`. Of one that comes several times, the last counts.
   * @returns the run that stands for it.
   */
  adopt: (given: NewRun, actions: AsyncIterable<readonly NewAction[]>, by: By) =>
    database.write(async (writer) => {
      const run = await insertRun(writer, given, "adopted", by.at);
      await noteSettlement(writer, run.number, undefined, "sent", by);
      for await (const some of actions) await adoptActions(writer, run.number, some);
      return run;
    }, "once"),
  run: async (id: string): Promise<Run | undefined> => (await selectRuns(database, sql`WHERE id = ${id}`))[0],
  /** The oldest first. */
  runs: (filter: RunFilter = {}) => selectFiltered(database, filter),
  counts: (run: number) => countRun(database, run),
  /** A command begins to send the run, or has sent some of it. @returns how often that was noted, with this time. */
  noteSending: (run: number) =>
    database.write(async (writer) => {
      const noted = sql`UPDATE runs SET sends = sends + 1 WHERE number = ${run} RETURNING sends`;
      return (await scalar<number>(writer, noted)) ?? 0;
    }),
  /** The command on a run ended before the run did. `paused` says that a person stopped it, or (null) that one lets it go on. */
  noteStop: (
    run: number,
    { exitCode, paused }: { readonly exitCode: number; readonly paused?: By | null | undefined },
  ) =>
    database.write(async (writer) => {
      const word: Columns = paused === undefined ? {} : { paused: paused === null ? null : JSON.stringify(paused) };
      await writer.run(sql`UPDATE runs SET ${assigned({ exitCode, ...word })} WHERE number = ${run}`);
      if (paused === undefined) return;
      if (paused !== null) await noteSettlement(writer, run, undefined, "pause", paused);
      await writer.wake();
    }),
  /**
   * Nothing of it is left to send: it is finished, or abandoned once its rejects are written. Takes no lock.
   *
   * @returns false where something is left, or another command has ended it.
   */
  async endRun(run: number, { exitCode, at }: { readonly exitCode: number; readonly at: string }) {
    const ended = await database.write(async (writer) => {
      const changes = await writer.run(sql`UPDATE runs SET ended_at = ${at}, exit_code = ${exitCode}, paused = NULL,
            state = CASE state WHEN 'open' THEN 'finished' ELSE 'abandoned' END
          WHERE number = ${run} AND ((state = 'open' AND NOT ${HAS_PENDING}) OR (state = 'closing' AND NOT ${HAS_UNSENT}))`);
      await writer.wake();
      return changes === 1;
    });
    crashPoint("ended");
    return ended;
  },
  /**
   * Drops bodies and row texts of runs that ended before `before`.
   *
   * @returns the number of chunks, and the bytes on disk before and after it.
   */
  async prune(before: string) {
    const bytesBefore = await database.bytes();
    const chunks = await database.write(async (writer) => {
      const over = sql`run IN (SELECT number FROM runs WHERE ended_at < ${before} AND NOT ${HAS_PENDING})`;
      return await writer.run(sql`UPDATE bodies SET body = NULL, texts = NULL WHERE body IS NOT NULL AND ${over}`);
    });
    await database.giveBack();
    return { chunks, bytesBefore, bytesAfter: await database.bytes() };
  },
});

async function selectFiltered(reader: Reader, filter: RunFilter): Promise<readonly Run[]> {
  const { ids, states, asks, unwritten, last } = filter;
  const having = (is: Sql): Sql => sql`number IN (SELECT run FROM chunks WHERE ${is})`;
  const where = every(
    ids && sql`id IN (SELECT id FROM ${listOf("id", "text", ids)} AS wanted)`,
    states && sql`state IN ${words(states)}`,
    asks && having(sql`state IN ${words(QUESTION_STATES)}`),
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
