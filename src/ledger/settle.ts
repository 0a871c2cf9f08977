/** What a person says of chunks in doubt, and of a whole run. */

import { overwrites } from "../actions/marks.ts";
import { deleteActions } from "./actions.ts";
import { cut, cutOut, type Item, pass, readChunk, readOutcomes, selectChunks, storeOutcomes } from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES, OPEN_STATES } from "./chunks.ts";
import {
  type Database,
  insertInto,
  type Reader,
  type Sql,
  scalar,
  select,
  sql,
  type Writer,
  words,
} from "./database.ts";

/** A person's word, or a command's. */
export interface By {
  readonly who: string;
  readonly at: string;
  readonly reason: string | undefined;
}

export interface Settlement extends By {
  /** Undefined: the whole run. */
  readonly chunk: number | undefined;
  readonly decision: "sent" | "not-sent" | "abandon" | "pause";
}

export const settleMethods = (database: Database) => ({
  /**
   * A person's word about a chunk that is in doubt or refused; of a run that is closed, what was not sent never will be.
   *
   * @param most only so many of its actions, from its beginning: the rest becomes a chunk of its own.
   * @returns the chunk that was settled, that of the rest, and how many actions are closed, since a later one of their ticket was
   * accepted; undefined where nothing is to be decided about it any more.
   */
  settle: (run: number, chunk: number, decision: "sent" | "not-sent", by: By, most?: number) =>
    database.write(async (writer) => {
      const { count, state } = await readChunk(writer, run, chunk);
      let [settled, rest]: [number, number | undefined] = [chunk, undefined];
      if (most !== undefined && most < count) {
        if (!(await pass(writer, run, chunk, "cut"))) return undefined;
        [settled = chunk, rest] = await cut(writer, run, chunk, (place) => (place < most ? 0 : 1), state);
      }
      if (!(await decide(writer, run, settled, decision, by))) return undefined;
      await noteSettlement(writer, run, settled, decision, by);
      const { items } = await readOutcomes(writer, run, settled);
      const late = await closeLate(writer, run, items);
      await writer.wake();
      return { settled, rest, late };
    }),
  /**
   * Closes a run: what is planned or refused is not sent, and forgotten. Its doubts stay pending.
   *
   * @returns how many chunks are still being sent: asked again once they are answered, it closes what became of them.
   */
  abandon: (run: number, by: By) =>
    database.write(async (writer) => {
      const closing = sql`UPDATE runs SET state = 'closing' WHERE number = ${run} AND state = 'open'`;
      if ((await writer.run(closing)) === 1) await noteSettlement(writer, run, undefined, "abandon", by);
      const left = await selectChunks(writer, sql`run = ${run} AND state IN ${words(OPEN_STATES)}`);
      let flying = 0;
      // What was planned may be on its way by now.
      for (const { chunk, state } of left)
        if (state === "sending" || !(await forget(writer, run, chunk, "abandon"))) flying += 1;
      await writer.wake();
      return flying;
    }),
  settlements: (run: number) => selectSettlements(database, sql`run = ${run}`),
});

/** @returns false if it waits for no decision any more. */
async function decide(
  writer: Writer,
  run: number,
  chunk: number,
  decision: "sent" | "not-sent",
  { at }: By,
): Promise<boolean> {
  if (decision === "sent") return await storeSettled(writer, run, chunk, at);
  const state = await scalar<string>(writer, sql`SELECT state FROM runs WHERE number = ${run}`);
  if (state === "open") return await emptied(writer, run, chunk, "settleNotSent");
  // It is closed once more, until its rejects are written.
  await writer.run(sql`UPDATE runs SET state = 'closing' WHERE number = ${run} AND state = 'abandoned'`);
  return await forget(writer, run, chunk, "dropDoubt");
}

/** The service has all of it. */
async function storeSettled(writer: Writer, run: number, chunk: number, at: string): Promise<boolean> {
  if (!(await pass(writer, run, chunk, "settleSent", { answeredAt: at, isWritten: 0 }))) return false;
  const { items } = await readOutcomes(writer, run, chunk);
  const settled = items.map(({ response }) => ({ outcome: "settled", response }) as const);
  await storeOutcomes(writer, run, chunk, settled);
  return true;
}

/** Its actions will not be sent, and may be sent by another run. */
async function forget(
  writer: Writer,
  run: number,
  chunk: number,
  event: "abandon" | "dropDoubt",
  why?: string,
): Promise<boolean> {
  if (!(await emptied(writer, run, chunk, event, why === undefined ? {} : { detail: why }))) return false;
  const { items } = await readOutcomes(writer, run, chunk);
  const actions = items.map(({ origin }) => origin);
  await deleteActions(writer, run, chunk, actions);
  return true;
}

/** What the service said of its actions counts no more. */
async function emptied(...[writer, run, chunk, ...step]: Parameters<typeof pass>): Promise<boolean> {
  if (!(await pass(writer, run, chunk, ...step))) return false;
  await writer.run(sql`UPDATE bodies SET outcomes = NULL WHERE run = ${run} AND chunk = ${chunk}`);
  return true;
}

export async function noteSettlement(
  writer: Writer,
  run: number,
  chunk: number | undefined,
  decision: Settlement["decision"],
  { who, at, reason }: By,
): Promise<void> {
  await writer.run(insertInto("settlements", { run, chunk, decision, who, at, reason }));
}

export const selectSettlements = (reader: Reader, where: Sql): Promise<readonly Settlement[]> =>
  select(reader, sql`SELECT chunk, decision, who, at, reason FROM settlements WHERE ${where} ORDER BY id`);

interface Found {
  readonly subject: string;
  readonly kind: string;
  readonly chunk: number;
  readonly place: number;
  readonly seq: number;
  readonly state: ChunkState;
}

const WHY = "a later one of its ticket or event was accepted.";

/**
 * What the service does not have is not sent behind a later action of its kind and ticket that was accepted: it would undo that
 * one. Closes what is planned of the run and stands before such; the others of a chunk stay planned, in one of their own.
 *
 * @param items what a person has just decided about. @returns how many actions are closed.
 */
async function closeLate(writer: Writer, run: number, items: readonly Item[]): Promise<number> {
  const overwriting = items.map(({ origin }) => origin).filter(({ kind }) => overwrites(kind));
  const keys = new Map(overwriting.map((origin) => [keyOf(origin), [origin.subject, origin.kind]]));
  if (keys.size === 0) return 0;
  const wanted = { columns: { subject: "text", kind: "text" }, rows: [...keys.values()] } as const;
  const found = await select<Found>(
    writer,
    sql`SELECT actions.subject, actions.kind, actions.chunk, actions.place, actions.position_seq AS seq, chunks.state
      FROM ${wanted} AS wanted CROSS JOIN actions
      JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
      WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.run = ${run}`,
  );
  const newest = new Map<string, number>();
  for (const each of found)
    if (DECIDED_STATES.some((state) => state === each.state))
      newest.set(keyOf(each), Math.max(each.seq, newest.get(keyOf(each)) ?? 0));
  const late = found.filter((each) => each.state === "planned" && each.seq < (newest.get(keyOf(each)) ?? 0));
  for (const [chunk, ofChunk] of Map.groupBy(late, (each) => each.chunk)) {
    const closed = await cutOut(writer, run, chunk, new Set(ofChunk.map((each) => each.place)));
    await forget(writer, run, closed, "abandon", WHY);
  }
  return late.length;
}

const keyOf = ({ subject, kind }: Pick<Found, "subject" | "kind">): string => `${kind} ${subject}`;
