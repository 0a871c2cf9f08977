/** What keeps workers from sending what another sends, each as part of a transaction. Times are the database's clock. */

import { EXIT_CODES } from "../failure.ts";
import { passes } from "./chunk-life.ts";
import { type Database, first, type Session } from "./database.ts";
import type { Intent, Stepped } from "./ledger.ts";
import { sql } from "./sql.ts";
import type { Claim, Pace } from "./workers.ts";

/** Nobody has claimed the lane since, and nobody does before the transaction ends. */
async function isHeld(session: Session, { dialect }: Database, { run, lane, fence }: Claim): Promise<boolean> {
  const held = sql`SELECT 1 AS one FROM lanes WHERE run = ${run} AND lane = ${lane} AND fence = ${fence} ${dialect.forUpdate}`;
  return (await first(session, held)) !== undefined;
}

/**
 * Whether more of the run may be sent. It waits whole for a person: one who has to decide about a chunk or look at rejections,
 * or who paused it or is closing it. And it waits for the runs before it: what is planned behind them counts on that.
 */
export async function maySend(session: Pick<Session, "all">, run: number): Promise<boolean> {
  const row = await first(
    session,
    sql`SELECT 1 AS one FROM runs WHERE number = ${run} AND state = 'open' AND paused IS NULL
      AND coalesce(exit_code, 0) <> ${EXIT_CODES.refused}
      AND NOT EXISTS (SELECT 1 FROM runs AS earlier WHERE earlier.number < runs.number AND earlier.state = 'open')
      AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.run = runs.number AND state IN ('in doubt', 'refused'))`,
  );
  return row !== undefined;
}

/** What is in the way of a chunk of so many actions. */
export async function obstacleTo(
  session: Session,
  database: Database,
  { claim, pace }: NonNullable<Intent["claim"]>,
  actions: number,
): Promise<Stepped["obstacle"]> {
  if (!(await isHeld(session, database, claim))) return "taken";
  if (!(await maySend(session, claim.run))) return "waits";
  const waitMs = pace === undefined ? 0 : await takeTurn(session, database, pace, actions);
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
  { dialect }: Database,
  { rate, longestMs }: Pace,
  actions: number,
): Promise<number> {
  const mostMs = Math.max(longestMs, rate === undefined ? 0 : (MOST_ACTIONS / rate) * 1000);
  const row = await first<{ ms: number }>(
    session,
    sql`SELECT not_before_ms - ${dialect.now} AS ms FROM pace ${rate === undefined ? sql`` : dialect.forUpdate}`,
  );
  const waitMs = Number(row?.ms);
  if (waitMs > mostMs) await session.run(sql`UPDATE pace SET not_before_ms = ${dialect.now} + ${Math.ceil(mostMs)}`);
  if (waitMs > 0) return Math.min(waitMs, mostMs);
  if (rate !== undefined)
    await session.run(sql`UPDATE pace SET not_before_ms = ${dialect.now} + ${Math.ceil((actions / rate) * 1000)}`);
  return 0;
}

export interface Attempted {
  readonly claim: Claim;
  readonly attempt: number;
}

/** The attempt goes on, and nobody else says what became of it before the transaction ends. */
export async function isUnderWay(
  session: Session,
  { dialect }: Database,
  chunk: number,
  { claim, attempt }: Attempted,
): Promise<boolean> {
  const { run, fence } = claim;
  const lock = sql`SELECT 1 AS one FROM chunks WHERE run = ${run} AND chunk = ${chunk} AND state = 'sending' ${dialect.forUpdate}`;
  if ((await first(session, lock)) === undefined) return false;
  // Only now: what another one changed while this one waited is seen by the next statement.
  const attempted = sql`SELECT 1 AS one FROM attempts WHERE run = ${run} AND chunk = ${chunk} AND attempt = ${attempt}
    AND fence = ${fence} AND ended_at IS NULL`;
  return (await first(session, attempted)) !== undefined;
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
    sql`SELECT chunk, state, detail FROM chunks WHERE run = ${run} AND state IN ('planned', 'in doubt')
      AND (chunk = ${chunk} OR whole = (SELECT whole FROM chunks WHERE run = ${run} AND chunk = ${chunk})) ${dialect.forUpdate}`,
  );
  for (const { chunk: part, state, detail } of parts) {
    const all = sql`${`${detail === null ? "" : `${detail}; `}${late.said}`}`;
    if (state === "in doubt")
      await session.run(sql`UPDATE chunks SET detail = ${all} WHERE run = ${run} AND chunk = ${part}`);
    else if (late.mayBeTaken) await passes(session, run, part, "doubtLate", sql`, detail = ${all}`);
  }
}
