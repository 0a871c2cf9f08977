/** What a person says of chunks in doubt, and of a whole run. */

import { overwrites } from "../actions/marks.ts";
import { EXIT_CODES } from "../failure.ts";
import { cutOut, mustPass, pass, readChunk, readOutcomes, selectChunks, storeOutcomes } from "./chunk-life.ts";
import { DECIDED_STATES, OPEN_STATES, QUESTION_STATES } from "./chunks.ts";
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
   * A person's word about a chunk that is in doubt or refused: the run may go on unasked. Of one that is closed, what was not sent
   * never will be.
   *
   * @param most only so many of its actions, from its beginning: the rest becomes a chunk of its own.
   * @returns the chunk that was settled, that of the rest, and how many actions are closed, since a later one of their ticket was
   * accepted; undefined where nothing is to be decided about it any more.
   */
  settle: (run: number, chunk: number, decision: "sent" | "not-sent", by: By, most?: number) =>
    database.write(async (writer) => {
      const { count, state } = await readChunk(writer, run, chunk);
      if (!QUESTION_STATES.some((each) => each === state)) return undefined;
      const first = Array.from({ length: Math.min(count, most ?? count) }, (_, place) => place);
      const [settled, rest] = await cutOut(writer, run, chunk, new Set(first));
      await decide(writer, run, settled, decision, by);
      await noteSettlement(writer, run, settled, decision, by);
      const late = await closeLate(writer, run, settled);
      const goesOn = sql`exit_code = ${EXIT_CODES["stopped-early"]}, paused = NULL`;
      await writer.run(sql`UPDATE runs SET ${goesOn} WHERE number = ${run} AND state = 'open'`);
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
        if (state === "sending" || !(await pass(writer, run, chunk, "abandon"))) flying += 1;
      await writer.wake();
      return flying;
    }),
  settlements: (run: number) => selectSettlements(database, sql`run = ${run}`),
});

async function decide(writer: Writer, run: number, chunk: number, decision: "sent" | "not-sent", { at }: By) {
  if (decision === "sent") {
    await mustPass(writer, run, chunk, "settleSent", { answeredAt: at, isWritten: 0 });
    const { items } = await readOutcomes(writer, run, chunk);
    const settled = items.map(({ response }) => ({ outcome: "settled", response }) as const);
    return await storeOutcomes(writer, run, chunk, settled);
  }
  const state = await scalar<string>(writer, sql`SELECT state FROM runs WHERE number = ${run}`);
  await mustPass(writer, run, chunk, state === "open" ? "settleNotSent" : "dropDoubt");
  // It is closed once more, until its rejects are written.
  await writer.run(sql`UPDATE runs SET state = 'closing' WHERE number = ${run} AND state = 'abandoned'`);
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

const WHY = "a later one of its ticket or event was accepted.";

/**
 * What the service does not have is not sent behind a later action of its kind and ticket that was accepted: it would undo that
 * one. Closes what is planned of the run and stands before such; the others of a chunk stay planned, in one of their own.
 *
 * @param decided what a person has just decided about. @returns how many actions are closed.
 */
async function closeLate(writer: Writer, run: number, decided: number): Promise<number> {
  const { items } = await readOutcomes(writer, run, decided);
  const rows = items.flatMap(({ origin: { subject, kind } }) => (overwrites(kind) ? [[subject, kind]] : []));
  if (rows.length === 0) return 0;
  const overwriting = { columns: { subject: "text", kind: "text" }, rows } as const;
  const late = await select<{ chunk: number; place: number }>(
    writer,
    sql`SELECT DISTINCT actions.chunk, actions.place FROM ${overwriting} AS wanted CROSS JOIN actions
        JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
      WHERE actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.run = ${run}
        AND chunks.state = 'planned' AND EXISTS (
          SELECT 1 FROM actions AS later JOIN chunks AS decided ON decided.run = later.run AND decided.chunk = later.chunk
          WHERE later.subject = actions.subject AND later.kind = actions.kind AND later.run = actions.run
            AND later.position_seq > actions.position_seq AND decided.state IN ${words(DECIDED_STATES)})`,
  );
  for (const [chunk, actions] of Map.groupBy(late, (each) => each.chunk)) {
    const [closed] = await cutOut(writer, run, chunk, new Set(actions.map(({ place }) => place)));
    await mustPass(writer, run, closed, "abandon", { detail: WHY });
  }
  return late.length;
}
