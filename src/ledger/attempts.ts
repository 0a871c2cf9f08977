/**
 * The tries to send a chunk, and what their answers make of it. Where workers send, a step counts only under the fence of the
 * lane's latest claim, and a try that was given up decides nothing any more. Times of limits are the database's clock.
 */

import { EXIT_CODES } from "../failure.ts";
import { cleanText } from "../text.ts";
import { deleteActions } from "./actions.ts";
import {
  type Chunk,
  cut,
  mustPass,
  type Outcome,
  pass,
  readChunk,
  readOutcomes,
  selectChunks,
  storeOutcomes,
} from "./chunk-life.ts";
import { QUESTION_STATES } from "./chunks.ts";
import { assigned, first, type Reader, type Sql, scalar, select, sql, type Writer, words } from "./database.ts";

/** A worker's right to send a lane. The highest fence counts. */
export interface Claim {
  readonly run: number;
  readonly lane: number;
  readonly worker: number;
  readonly fence: number;
}

/** What the service made of one action, in the order of the body. */
export type Answer =
  | { readonly outcome: "accepted"; readonly promise: string }
  /** `response`: its item, JSON, as it came. */
  | { readonly outcome: "rejected"; readonly response: string }
  | { readonly outcome: "in doubt"; readonly response: string; readonly why: string };

/** How an attempt ended. */
export interface Ended {
  readonly chunk: number;
  /** The worker's claim under which it was made, and its number; without them, it is the only one under way. */
  readonly claim?: Claim | undefined;
  readonly attempt?: number | undefined;
  readonly at: string;
  /** What becomes of its chunk. */
  readonly event: "answer" | "giveBack" | "refuse" | "doubt";
  /** Of each action, in the order of the body: of event `answer` alone. */
  readonly answers?: readonly Answer[] | undefined;
  /** What the answer meant, or that none came: for people. */
  readonly class: string;
  readonly httpStatus?: number | undefined;
  readonly detail?: string | undefined;
  /** The answer as it came: it may hold promises. Kept where it leaves a doubt, or the attempt was given up before. */
  readonly raw?: Uint8Array | undefined;
}

export interface Intent {
  readonly chunk: number;
  readonly at: string;
  /** Of a worker. */
  readonly claim?: Claimed | undefined;
}

interface Claimed {
  readonly claim: Claim;
  /** How long the request may take. */
  readonly limitMs: number;
  /** How many actions may be rejected before nobody sends. */
  readonly mostRejected: number;
  /** How long nobody sends after it, so that all keep to the rate: whole milliseconds, 0 without a rate. */
  readonly shareMs: number;
}

export interface Stepped {
  /** Number of the attempt that may leave now, from 1; undefined where none was asked for, or something is in its way. */
  readonly attempt: number | undefined;
  /**
   * `taken`: another worker has the lane; `waits`: the run waits for a person; `rejected`: the service rejected too many actions;
   * `waitMs`: nobody sends before that.
   */
  readonly obstacle: "taken" | "waits" | { readonly rejected: number } | { readonly waitMs: number } | undefined;
  /** False where the attempt had been given up before it ended: its answer was kept for a person and decided nothing. */
  readonly isStored: boolean;
  /** The chunk that holds the actions in doubt, where the answer left some. */
  readonly doubt: Chunk | undefined;
}

/** What else is known of one is for people: in the table, an answer that did not decide stands as it came. */
export interface Attempt {
  readonly chunk: number;
  readonly count: number;
  readonly startedAt: string;
  /** Undefined where no end is known. */
  readonly endedAt: string | undefined;
  readonly class: string | undefined;
}

/** The chunk is about to be sent, unless something is in its way. */
export async function beginAttempt(
  writer: Writer,
  run: number,
  { chunk, at, claim: claimed }: Intent,
): Promise<Pick<Stepped, "attempt" | "obstacle">> {
  const obstacle = claimed && (await obstacleTo(writer, claimed));
  if (obstacle !== undefined) return { attempt: undefined, obstacle };
  const anew = { httpStatus: undefined, detail: undefined };
  // It may have been abandoned just now.
  if (!(await pass(writer, run, chunk, "intend", anew))) return { attempt: undefined, obstacle: "waits" };
  const { worker, fence } = claimed?.claim ?? {};
  const limit = claimed === undefined ? sql`NULL` : sql`${writer.now} + ${claimed.limitMs}`;
  const attempt = await scalar<number>(
    writer,
    sql`INSERT INTO attempts (run, chunk, attempt, started_at, worker, fence, limit_ms)
      SELECT ${run}, ${chunk}, coalesce(max(attempt), 0) + 1, ${at}, ${worker}, ${fence}, ${limit}
      FROM attempts WHERE run = ${run} AND chunk = ${chunk} RETURNING attempt`,
  );
  return { attempt, obstacle: undefined };
}

/**
 * Ends the attempt under way, or the one that a worker says.
 *
 * @returns false where no such attempt is under way. Else nobody gives it up before the transaction ends.
 */
export async function closeAttempt(writer: Writer, run: number, ended: Omit<Ended, "event">): Promise<boolean> {
  const { chunk, at, class: meant, answers, httpStatus, detail, raw, claim, attempt } = ended;
  const isDecided = answers?.every(({ outcome }) => outcome !== "in doubt") === true;
  const end = assigned({ endedAt: at, class: meant, httpStatus, detail, answer: isDecided ? undefined : raw });
  const which = claim === undefined ? sql`` : sql` AND attempt = ${attempt} AND fence = ${claim.fence}`;
  const where = sql`run = ${run} AND chunk = ${chunk} AND ended_at IS NULL${which}`;
  return (await writer.run(sql`UPDATE attempts SET ${end} WHERE ${where}`)) === 1;
}

/** What becomes of a chunk whose attempt ended. */
export async function endAttempt(
  writer: Writer,
  run: number,
  ended: Ended,
): Promise<Pick<Stepped, "isStored" | "doubt">> {
  const { chunk, event, claim, answers, at, httpStatus, detail } = ended;
  if (!(await closeAttempt(writer, run, ended)) && claim !== undefined) {
    await keepLate(writer, claim, ended);
    return { isStored: false, doubt: undefined };
  }
  if (answers === undefined) {
    await mustPass(writer, run, chunk, event, { httpStatus, detail });
    return { isStored: true, doubt: undefined };
  }
  const doubt = await storeAnswers(writer, run, { chunk, answers, httpStatus, at }, "answer");
  return { isStored: true, doubt };
}

interface Said {
  readonly chunk: number;
  readonly answers: readonly (Outcome & { readonly why?: string })[];
  readonly httpStatus: number | undefined;
  readonly at: string;
}

/**
 * The service's answer. Rejected actions are forgotten; those in doubt get a chunk of their own.
 *
 * @returns that chunk.
 */
export async function storeAnswers(
  writer: Writer,
  run: number,
  { chunk, answers, httpStatus, at }: Said,
  event: "answer" | "import",
): Promise<Chunk | undefined> {
  const count = (wanted: Outcome["outcome"]): number => answers.filter(({ outcome }) => outcome === wanted).length;
  const [accepted, rejected, doubts] = [count("accepted"), count("rejected"), count("in doubt")];
  const decided = { accepted, rejected, count: answers.length - doubts };
  await mustPass(writer, run, chunk, event, { httpStatus, answeredAt: at, detail: undefined, ...decided });
  const kept = answers.map((answer) => (answer.outcome === "in doubt" ? ({ outcome: "moved" } as const) : answer));
  await storeOutcomes(writer, run, chunk, kept);
  if (rejected > 0) {
    const { items } = await readOutcomes(writer, run, chunk);
    const gone = items.flatMap(({ outcome, origin }) => (outcome === "rejected" ? [origin] : []));
    await deleteActions(writer, run, chunk, gone);
  }
  const doubt = answers.find(({ outcome }) => outcome === "in doubt");
  if (doubt === undefined) return undefined;
  const said = { outcomes: answers, detail: `${doubt.why}: ${cleanText(doubt.response ?? "", 200)}` };
  const partOf = (place: number) => (answers[place]?.outcome === "in doubt" ? 0 : undefined);
  const [part = chunk] = await cut(writer, run, chunk, partOf, "in doubt", said);
  return await readChunk(writer, run, part);
}

const VANISHED = "the process ended before the answer came";

/** What nobody can be waiting for any more is in doubt. */
export async function doubtVanished(writer: Writer, run: number, at: string): Promise<number> {
  const over = sql`run = ${run} AND state = 'sending' AND NOT EXISTS (SELECT 1 FROM attempts
    WHERE attempts.run = chunks.run AND attempts.chunk = chunks.chunk AND ended_at IS NULL AND limit_ms >= ${writer.now})`;
  let doubted = 0;
  for (const { chunk } of await selectChunks(writer, over)) {
    // Its answer may be stored just now.
    if (!(await closeAttempt(writer, run, { chunk, at, class: "in doubt", detail: VANISHED }))) continue;
    await mustPass(writer, run, chunk, "doubt", { detail: VANISHED });
    doubted += 1;
  }
  return doubted;
}

/**
 * A run of which more may be sent. It waits whole for a person: one who has to decide about a chunk or look at rejections, or who
 * paused it or is closing it. And it waits for the runs before it: what is planned behind them counts on that.
 */
export const mayBeSent = (
  run: number,
): Sql => sql`SELECT 1 FROM runs WHERE number = ${run} AND state = 'open' AND paused IS NULL
  AND coalesce(exit_code, 0) <> ${EXIT_CODES.refused}
  AND NOT EXISTS (SELECT 1 FROM runs AS earlier WHERE earlier.number < runs.number AND earlier.state = 'open')
  AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.run = runs.number AND state IN ${words(QUESTION_STATES)})`;

/** Whether the claim counts. If so, nobody else claims the lane before the transaction ends. */
export async function holdsLane(writer: Writer, { run, lane, fence }: Claim): Promise<boolean> {
  const held = sql`SELECT 1 AS one FROM lanes WHERE run = ${run} AND lane = ${lane} AND fence = ${fence} FOR UPDATE`;
  return (await first(writer, held)) !== undefined;
}

/** What is in the way of a request. While there is nothing, nobody else claims the lane before the transaction ends. */
async function obstacleTo(
  writer: Writer,
  { claim: { run, lane, fence }, mostRejected, shareMs }: NonNullable<Intent["claim"]>,
): Promise<Stepped["obstacle"]> {
  const { now } = writer;
  const held = await first<{ may: number | boolean; rejected: number; waitMs: number }>(
    writer,
    sql`SELECT EXISTS (${mayBeSent(run)}) AS may, (SELECT coalesce(sum(rejected), 0) FROM chunks WHERE run = ${run}) AS rejected,
        (SELECT not_before_ms - ${now} FROM pace) AS wait_ms
      FROM lanes WHERE run = ${run} AND lane = ${lane} AND fence = ${fence} FOR UPDATE`,
  );
  if (held === undefined) return "taken";
  if (!held.may) return "waits";
  if (held.rejected > mostRejected) return { rejected: held.rejected };
  if (held.waitMs > 0) return { waitMs: held.waitMs };
  if (shareMs === 0) return undefined;
  const turn = sql`UPDATE pace SET not_before_ms = ${now} + ${shareMs} WHERE not_before_ms <= ${now}`;
  // Another worker may have taken the turn just now.
  return (await writer.run(turn)) === 1 ? undefined : { waitMs: 1 };
}

/**
 * The answer to an attempt that was given up decides nothing; it is kept, and whoever decides about the chunk's actions hears of
 * it. Those that are planned again, by somebody's word or in a database that came back without the attempt, are in doubt once
 * more if the service may have them.
 */
async function keepLate(writer: Writer, { run, lane }: Claim, late: Ended): Promise<void> {
  const { chunk, attempt, at, answers, httpStatus, raw } = late;
  const accepted = answers?.filter(({ outcome }) => outcome === "accepted").length;
  const mayBeTaken = answers?.some(({ outcome }) => outcome !== "rejected") ?? raw !== undefined;
  const said =
    answers === undefined
      ? `a late answer says: ${late.class}`
      : `its answer came late, at ${at} (HTTP ${httpStatus}): ${accepted} of ${answers.length} accepted`;
  if (raw !== undefined)
    await writer.run(sql`UPDATE attempts SET answer = ${raw}
      WHERE run = ${run} AND chunk = ${chunk} AND attempt = ${attempt} AND answer IS NULL`);
  // Whoever has claimed the lane since begins nothing of it until this is known.
  await writer.all(sql`SELECT 1 AS one FROM lanes WHERE run = ${run} AND lane = ${lane} FOR UPDATE`);
  // The chunk may have become several.
  const parts = await select<{ chunk: number; state: string; detail?: string }>(
    writer,
    sql`SELECT chunk, state, detail FROM chunks WHERE run = ${run} AND (state = 'planned' OR state = 'in doubt')
      AND (chunk = ${chunk} OR whole = (SELECT whole FROM chunks WHERE run = ${run} AND chunk = ${chunk})) FOR UPDATE`,
  );
  for (const { chunk: part, state, detail } of parts) {
    const all = detail === undefined ? said : `${detail}; ${said}`;
    if (state === "in doubt")
      await writer.run(sql`UPDATE chunks SET detail = ${all} WHERE run = ${run} AND chunk = ${part}`);
    else if (mayBeTaken) await pass(writer, run, part, "doubtLate", { detail: all });
  }
}

export const selectAttempts = (reader: Reader, where: Sql): Promise<readonly Attempt[]> =>
  select(
    reader,
    sql`SELECT attempts.chunk, count, started_at, ended_at, class
      FROM attempts JOIN chunks ON chunks.run = attempts.run AND chunks.chunk = attempts.chunk
      WHERE ${where} ORDER BY started_at, attempts.chunk, attempt`,
  );
