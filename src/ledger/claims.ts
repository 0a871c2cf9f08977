/** What keeps workers from sending what another sends, each as part of a transaction. Times are the database's clock. */

import { EXIT_CODES } from "../failure.ts";
import { passes } from "./chunk-life.ts";
import { QUESTION_STATES } from "./chunks.ts";
import { type Database, type Dialect, first, type Session } from "./database.ts";
import type { Intent, Stepped } from "./ledger.ts";
import { type Sql, sql, words } from "./sql.ts";
import type { Claim, Pace } from "./workers.ts";

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

/** What is in the way of a request. While there is nothing, nobody else claims the lane before the transaction ends. */
export async function obstacleTo(
  session: Session,
  { dialect }: Database,
  { claim: { run, lane, fence }, pace }: NonNullable<Intent["claim"]>,
): Promise<Stepped["obstacle"]> {
  const held = await first<{ may: number | boolean; rejected: number; ms: number }>(
    session,
    sql`SELECT EXISTS (${mayBeSent(run)}) AS may, (SELECT coalesce(sum(rejected), 0) FROM chunks WHERE run = ${run}) AS rejected,
        (SELECT not_before_ms - ${dialect.now} FROM pace) AS ms
      FROM lanes WHERE run = ${run} AND lane = ${lane} AND fence = ${fence} ${dialect.forUpdate}`,
  );
  if (held === undefined) return "taken";
  if (!held.may) return "waits";
  const rejected = Number(held.rejected);
  if (pace !== undefined && rejected > pace.mostRejected) return { rejected };
  const waitMs = pace === undefined ? 0 : await takeTurn(session, dialect, pace, Number(held.ms));
  return waitMs > 0 ? waitMs : undefined;
}

/** Actions a request holds at most (spec.md). */
const MOST_ACTIONS = 5000;

/**
 * Milliseconds before which nobody sends; 0 where so many actions may leave now, which puts off the next by their share. What is
 * put off for longer than anybody may ask comes of a clock that was set back, as when another server takes the place of the first.
 */
async function takeTurn(
  session: Session,
  { now }: Dialect,
  { actions, rate, longestMs }: Pace,
  waitMs: number,
): Promise<number> {
  const mostMs = Math.ceil(Math.max(longestMs, rate === undefined ? 0 : (MOST_ACTIONS / rate) * 1000));
  if (waitMs > mostMs) await session.run(sql`UPDATE pace SET not_before_ms = ${now} + ${mostMs}`);
  if (waitMs > 0) return Math.min(waitMs, mostMs);
  if (rate === undefined) return 0;
  const share = Math.ceil((actions / rate) * 1000);
  const taken = sql`UPDATE pace SET not_before_ms = ${now} + ${share} WHERE not_before_ms <= ${now}`;
  // Another one may take its turn just now.
  return (await session.run(taken)) === 1 ? 0 : 1;
}

export interface Attempted {
  readonly claim: Claim;
  readonly attempt: number;
}

/**
 * Keeps an answer that came after its attempt had been given up: it decides nothing any more. Whoever decides about the chunk's
 * actions is told of it. Those that are planned again, by somebody's word or in a database that came back without the attempt,
 * are in doubt once more if the service may have them.
 */
export async function keepLate(
  session: Session,
  { dialect }: Database,
  chunk: number,
  { claim: { run, lane }, attempt }: Attempted,
  late: { readonly answer: Uint8Array | undefined; readonly said: string; readonly mayBeTaken: boolean },
): Promise<void> {
  if (late.answer !== undefined)
    await session.run(sql`UPDATE attempts SET answer = ${late.answer}
      WHERE run = ${run} AND chunk = ${chunk} AND attempt = ${attempt} AND answer IS NULL`);
  // Whoever has claimed the lane since begins nothing of it until this is known.
  await session.all(sql`SELECT 1 AS one FROM lanes WHERE run = ${run} AND lane = ${lane} ${dialect.forUpdate}`);
  // The chunk may have become several.
  const parts = await session.all<{ chunk: number; state: string; detail: string | null }>(
    sql`SELECT chunk, state, detail FROM chunks WHERE run = ${run} AND (state = 'planned' OR state = 'in doubt')
      AND (chunk = ${chunk} OR whole = (SELECT whole FROM chunks WHERE run = ${run} AND chunk = ${chunk})) ${dialect.forUpdate}`,
  );
  for (const { chunk: part, state, detail } of parts) {
    const all = sql`${`${detail === null ? "" : `${detail}; `}${late.said}`}`;
    if (state === "in doubt")
      await session.run(sql`UPDATE chunks SET detail = ${all} WHERE run = ${run} AND chunk = ${part}`);
    else if (late.mayBeTaken) await passes(session, run, part, "doubtLate", sql`, detail = ${all}`);
  }
}
