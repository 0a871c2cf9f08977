/** What a sender notes about its chunks, and what a person says of them. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import {
  carve,
  cutDoubt,
  forget,
  pass,
  passes,
  planAgain,
  readBody,
  readChunk,
  readOrigins,
  readWhole,
  selectChunks,
  storeAnswers,
  storeSettled,
} from "./chunk-life.ts";
import { type ChunkState, OPEN_STATES } from "./chunks.ts";
import { type Attempted, keepLate, obstacleTo } from "./claims.ts";
import { type Database, first, type Session } from "./database.ts";
import { closeLate } from "./late.ts";
import type { Answered, Attempt, By, Chunk, Given, Intent, Item, Ledger, Outcomes, Stepped } from "./ledger.ts";
import { itemsOf } from "./outcomes.ts";
import { HAS_UNWRITTEN, noteSettlement } from "./runs.ts";
import { type Sql, sql, words } from "./sql.ts";

export type StepMethods = Pick<
  Ledger,
  | "chunks"
  | "nextChunk"
  | "body"
  | "advance"
  | "change"
  | "split"
  | "doubtVanished"
  | "settle"
  | "abandon"
  | "attempts"
  | "outcomes"
>;

/** @param wake workers, after something that they may wait for. */
export function stepMethods(database: Database, wake: (session: Session) => Promise<void>): StepMethods {
  const { place } = database;
  return {
    chunks: (run, { states, unwritten } = {}) =>
      database.read((session) => {
        const ofStates = states === undefined ? sql`` : sql` AND state IN ${words(states)}`;
        const ofUnwritten = unwritten === undefined ? sql`` : sql` AND ${HAS_UNWRITTEN}`;
        return selectChunks(session, sql`run = ${run}${ofStates}${ofUnwritten}`);
      }),
    async nextChunk(run, lane, stage) {
      const where = sql`run = ${run} AND lane = ${lane}${stage === undefined ? sql`` : sql` AND stage = ${stage}`}`;
      const next = sql`SELECT chunk FROM chunks WHERE ${where} AND state = 'planned' ORDER BY stage, whole, first, chunk LIMIT 1`;
      return (await selectChunks(database.plain, sql`${where} AND chunk = (${next})`))[0];
    },
    body: (run, chunk) => readBody(database.plain, run, chunk, place),
    async advance(run, { answered, intent }) {
      const stepped = await database.write(async (session): Promise<Stepped> => {
        const stored =
          answered === undefined ? { isStored: true, doubt: undefined } : await store(session, database, run, answered);
        if (intent === undefined) return { attempt: undefined, obstacle: undefined, ...stored };
        return { ...(await begin(session, database, run, intent)), ...stored };
      });
      if (answered !== undefined) crashPoint("settled");
      if (stepped.attempt !== undefined) crashPoint("intended");
      return stepped;
    },
    change: (run, chunk, event, given) =>
      database.write(async (session) => {
        const { claim, raw } = given;
        if (!(await endAttempt(session, run, chunk, given, claim)) && claim !== undefined) {
          const said = `a late answer says: ${given.class}`;
          await keepLate(session, database, chunk, claim, { answer: raw, said, mayBeTaken: raw !== undefined });
          return false;
        }
        await pass(session, run, chunk, event, sql`, http_status = ${given.httpStatus}, detail = ${given.detail}`);
        return true;
      }),
    split: (run, chunk, most, given) =>
      database.write((session) => split(session, database, { run, chunk, most, given })),
    doubtVanished: (run, at) =>
      database.write(async (session) => await doubtVanished(session, database, run, at, sql``)),
    settle: (run, chunk, decision, by, count) =>
      database.write(async (session) => {
        const given = await readChunk(session, run, chunk);
        const isPart = count !== undefined && count < given.count;
        let [settled, rest]: [number, number | undefined] = [chunk, undefined];
        if (isPart) {
          if (!(await passes(session, run, chunk, "cut"))) return undefined;
          [settled = chunk, rest] = await cutDoubt(session, run, given, count, place);
        }
        if (!(await decide(session, run, settled, decision, by))) return undefined;
        await noteSettlement(session, run, settled, decision, by);
        const late = await closeLate(session, run, await readOrigins(session, run, settled), place);
        await wake(session);
        return { settled, rest, late };
      }),
    abandon: (run, by) =>
      database.write(async (session) => {
        const isFirst = await session.run(
          sql`UPDATE runs SET state = 'closing' WHERE number = ${run} AND state = 'open'`,
        );
        if (isFirst === 1) await noteSettlement(session, run, undefined, "abandon", by);
        const left = await selectChunks(session, sql`run = ${run} AND state IN ${words(OPEN_STATES)}`);
        for (const { chunk, state } of left) if (state !== "sending") await forget(session, run, chunk, "abandon");
        await wake(session);
        return (await selectChunks(session, sql`run = ${run} AND state IN ${words(OPEN_STATES)}`)).length;
      }),
    attempts: (run) => database.read((session) => selectAttempts(session, sql`attempts.run = ${run}`)),
    outcomes: (run, chunk) => selectOutcomes(database.plain, run, chunk),
  };
}

/** Into planned ones of at most so many actions. */
async function split(
  session: Session,
  database: Database,
  { run, chunk, most, given }: { run: number; chunk: number; most: number; given: Given },
): Promise<readonly Chunk[]> {
  const { claim } = given;
  const { count, state } = await readChunk(session, run, chunk);
  const isEnded = state === "sending" && (await endAttempt(session, run, chunk, given, claim));
  if (claim !== undefined && !isEnded) {
    const late = { answer: undefined, said: `a late answer says: ${given.class}`, mayBeTaken: false };
    await keepLate(session, database, chunk, claim, late);
    return [];
  }
  const places = Array.from({ length: count }, (_, at) => at);
  const parts = Array.from({ length: Math.ceil(count / most) }, (_, at) => places.slice(at * most, (at + 1) * most));
  const numbers = await carve(session, run, chunk, parts, "planned", database.place);
  await pass(session, run, chunk, "split", sql`, http_status = ${given.httpStatus}, detail = ${given.detail}`);
  await session.run(
    sql`UPDATE runs SET most_actions = ${most} WHERE number = ${run} AND coalesce(most_actions, ${most}) >= ${most}`,
  );
  const [from = 0, to = 0] = [numbers[0], numbers.at(-1)];
  return await selectChunks(session, sql`run = ${run} AND chunk BETWEEN ${from} AND ${to}`);
}

/** What became of a chunk whose answer says it; a late one is kept for a person. */
async function store(
  session: Session,
  database: Database,
  run: number,
  answered: Answered,
): Promise<Pick<Stepped, "isStored" | "doubt">> {
  const { chunk, attempt, claim, answers, httpStatus, at, raw } = answered;
  const given = { at, class: "answered", httpStatus, raw: answers.some(isInDoubt) ? raw : undefined };
  const attempted = claim && { claim, attempt };
  if (!(await endAttempt(session, run, chunk, given, attempted)) && attempted !== undefined) {
    const accepted = answers.filter(({ outcome }) => outcome === "accepted").length;
    const doubts = answers.filter(isInDoubt).length;
    const said = `its answer came late, at ${at} (HTTP ${httpStatus}): ${accepted} of ${answers.length} accepted`;
    await keepLate(session, database, chunk, attempted, { answer: raw, said, mayBeTaken: accepted + doubts > 0 });
    return { isStored: false, doubt: undefined };
  }
  return { isStored: true, doubt: await storeAnswers(session, run, answered, "answer", database.place) };
}

const isInDoubt = ({ outcome }: Answered["answers"][number]): boolean => outcome === "in doubt";

/** The chunk is about to be sent, unless something is in its way. */
async function begin(
  session: Session,
  database: Database,
  run: number,
  { chunk, at, claim }: Intent,
): Promise<Pick<Stepped, "attempt" | "obstacle">> {
  if (claim !== undefined) {
    const obstacle = await obstacleTo(session, database, claim);
    if (obstacle !== undefined) return { attempt: undefined, obstacle };
  }
  const anew = sql`, http_status = NULL, detail = NULL`;
  // It may have been abandoned just now.
  if (claim !== undefined && !(await passes(session, run, chunk, "intend", anew)))
    return { attempt: undefined, obstacle: "waits" };
  if (claim === undefined) await pass(session, run, chunk, "intend", anew);
  const limit = claim === undefined ? sql`NULL` : sql`${database.dialect.now} + ${claim.limitMs}`;
  const row = await first<{ attempt: number }>(
    session,
    sql`INSERT INTO attempts (run, chunk, attempt, started_at, worker, fence, limit_ms)
      SELECT ${run}, ${chunk}, coalesce(max(attempt), 0) + 1, ${at}, ${claim?.claim.worker}, ${claim?.claim.fence}, ${limit}
      FROM attempts WHERE run = ${run} AND chunk = ${chunk} RETURNING attempt`,
  );
  return { attempt: Number(row?.attempt), obstacle: undefined };
}

/**
 * Of the attempt under way; where it is given, of this one alone.
 *
 * @returns false where there is none: somebody has given it up. Else nobody does before the transaction ends.
 */
async function endAttempt(
  session: Session,
  run: number,
  chunk: number,
  given: Given,
  attempted?: Attempted,
): Promise<boolean> {
  const which =
    attempted === undefined ? sql`` : sql` AND attempt = ${attempted.attempt} AND fence = ${attempted.claim.fence}`;
  const changes = await session.run(sql`UPDATE attempts SET ended_at = ${given.at}, class = ${given.class},
    http_status = ${given.httpStatus}, detail = ${given.detail}, answer = ${given.raw}
    WHERE run = ${run} AND chunk = ${chunk} AND ended_at IS NULL${which}`);
  return changes === 1;
}

const VANISHED = "the process ended before the answer came";

/** Part of a transaction: what nobody can be waiting for any more is in doubt. @param also which chunks. */
export async function doubtVanished(
  session: Session,
  { dialect }: Database,
  run: number,
  at: string,
  also: Sql,
): Promise<readonly Chunk[]> {
  const over = sql`run = ${run} AND state = 'sending'${also} AND NOT EXISTS (SELECT 1 FROM attempts
    WHERE attempts.run = chunks.run AND attempts.chunk = chunks.chunk AND ended_at IS NULL AND limit_ms >= ${dialect.now})`;
  const chunks = await selectChunks(session, over);
  const doubted: Chunk[] = [];
  for (const each of chunks) {
    // Its answer may be stored just now.
    if (!(await endAttempt(session, run, each.chunk, { at, class: "in doubt", detail: VANISHED }))) continue;
    await pass(session, run, each.chunk, "doubt", sql`, detail = ${VANISHED}`);
    doubted.push(await readChunk(session, run, each.chunk));
  }
  return doubted;
}

async function decide(
  session: Session,
  run: number,
  chunk: number,
  decision: "sent" | "not-sent",
  { at }: By,
): Promise<boolean> {
  if (decision === "sent") return await storeSettled(session, run, chunk, at);
  const row = await first<{ state: string }>(session, sql`SELECT state FROM runs WHERE number = ${run}`);
  if (row?.state === "open") return await planAgain(session, run, chunk);
  // It is closed once more, until its rejects are written.
  await session.run(sql`UPDATE runs SET state = 'closing' WHERE number = ${run} AND state = 'abandoned'`);
  return await forget(session, run, chunk, "dropDoubt");
}

export async function selectAttempts(session: Session, where: Sql): Promise<readonly Attempt[]> {
  const rows = await session.all<{
    chunk: number;
    attempt: number;
    count: number;
    started_at: string;
    ended_at: string | null;
    class: string | null;
    http_status: number | null;
    detail: string | null;
    answer: Uint8Array | null;
  }>(sql`SELECT attempts.chunk, attempt, count, started_at, ended_at, class, attempts.http_status, attempts.detail, answer
    FROM attempts JOIN chunks ON chunks.run = attempts.run AND chunks.chunk = attempts.chunk
    WHERE ${where} ORDER BY started_at, attempts.chunk, attempt`);
  return rows.map(({ started_at, ended_at, http_status, answer, ...row }) => ({
    ...row,
    startedAt: started_at,
    endedAt: ended_at ?? undefined,
    class: row.class ?? undefined,
    httpStatus: http_status ?? undefined,
    detail: row.detail ?? undefined,
    raw: answer ?? undefined,
  }));
}

/** Of all its actions, where nothing else is stored. */
const OTHERWISE: Readonly<Record<ChunkState, Item["outcome"]>> = {
  planned: "not sent",
  sending: "in doubt",
  answered: "accepted",
  split: "moved",
  refused: "in doubt",
  "in doubt": "in doubt",
  settled: "settled",
  abandoned: "not sent",
};

export async function selectOutcomes(session: Pick<Session, "all">, run: number, chunk: number): Promise<Outcomes> {
  const { chunk: found, origins, stored, rows } = await readWhole(session, run, chunk);
  return { chunk: found, items: itemsOf(origins, stored, OTHERWISE[found.state]), rows };
}
