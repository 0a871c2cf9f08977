/** What a sender notes about its chunks, and what becomes of their actions. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import { cleanText } from "../text.ts";
import { deleteActions } from "./actions.ts";
import { beginAttempt, doubtVanished, endAttempt, holdsLane, keepLate, selectAttempts } from "./attempts.ts";
import {
  cut,
  HAS_UNWRITTEN,
  mustPass,
  type Outcome,
  pass,
  readBody,
  readChunk,
  readOutcomes,
  readRequest,
  selectChunks,
  storeOutcomes,
} from "./chunk-life.ts";
import type { Database, Writer } from "./database.ts";
import type { Chunks, Ended, Stepped } from "./ledger.ts";
import { every, sql, words } from "./sql.ts";

export const stepMethods = (database: Database): Chunks => ({
  chunks: (run, { states, unwritten } = {}) => {
    const ofStates = states && sql`state IN ${words(states)}`;
    return selectChunks(database, every(sql`run = ${run}`, ofStates, unwritten && HAS_UNWRITTEN));
  },
  async nextChunk(run, lane, stage) {
    const ofStage = stage === undefined ? undefined : sql`stage = ${stage}`;
    const planned = every(sql`run = ${run} AND lane = ${lane} AND state = 'planned'`, ofStage);
    const [chunk] = await selectChunks(database, planned, sql`LIMIT 1`);
    return chunk && { chunk, body: await readRequest(database, run, chunk.chunk) };
  },
  body: (run, chunk) => readBody(database, run, chunk),
  async advance(run, { ended, intent }) {
    const stepped = await database.write(async (writer): Promise<Stepped> => {
      const stored = ended && (await storeEnd(writer, run, ended));
      const begun = intent && (await beginAttempt(writer, run, intent));
      return { attempt: undefined, obstacle: undefined, isStored: true, doubt: undefined, ...begun, ...stored };
    });
    if (ended?.event === "answer") crashPoint("settled");
    if (stepped.attempt !== undefined) crashPoint("intended");
    return stepped;
  },
  split: (run, chunk, most, claim) =>
    database.write(async (writer) => {
      if (claim !== undefined && !(await holdsLane(writer, claim))) return false;
      // It may have been closed just now.
      if (!(await pass(writer, run, chunk, "split"))) return false;
      await cut(writer, run, chunk, (place) => Math.floor(place / most), "planned");
      await writer.run(
        sql`UPDATE runs SET most_actions = ${most} WHERE number = ${run} AND coalesce(most_actions, ${most}) >= ${most}`,
      );
      return true;
    }),
  doubtVanished: (run, at) => database.write((writer) => doubtVanished(writer, run, at)),
  attempts: (run) => selectAttempts(database, sql`attempts.run = ${run}`),
  outcomes: (run, chunk) => readOutcomes(database, run, chunk),
});

/** What becomes of a chunk whose attempt ended. */
async function storeEnd(writer: Writer, run: number, ended: Ended): Promise<Pick<Stepped, "isStored" | "doubt">> {
  const { chunk, event, claim, answers, at, httpStatus, detail } = ended;
  if (!(await endAttempt(writer, run, ended)) && claim !== undefined) {
    await keepLate(writer, claim, ended);
    return { isStored: false, doubt: undefined };
  }
  if (answers === undefined) {
    await mustPass(writer, run, chunk, event, { httpStatus, detail });
    return { isStored: true, doubt: undefined };
  }
  const part = await storeAnswers(writer, run, { chunk, answers, httpStatus, at }, "answer");
  return { isStored: true, doubt: part === undefined ? undefined : await readChunk(writer, run, part) };
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
 * @returns the number of that chunk.
 */
export async function storeAnswers(
  writer: Writer,
  run: number,
  { chunk, answers, httpStatus, at }: Said,
  event: "answer" | "import",
): Promise<number | undefined> {
  const count = (wanted: Outcome["outcome"]): number => answers.filter(({ outcome }) => outcome === wanted).length;
  const [accepted, rejected, doubts] = [count("accepted"), count("rejected"), count("in doubt")];
  const decided = { accepted, rejected, count: answers.length - doubts };
  await mustPass(writer, run, chunk, event, { httpStatus, answeredAt: at, detail: undefined, ...decided });
  const kept = answers.map((answer) => (answer.outcome === "in doubt" ? ({ outcome: "moved" } as const) : answer));
  await storeOutcomes(writer, run, chunk, kept);
  if (rejected > 0) {
    const { items } = await readOutcomes(writer, run, chunk);
    const gone = items.filter(({ outcome }) => outcome === "rejected");
    await deleteActions(writer, run, chunk, gone);
  }
  const doubt = answers.find(({ outcome }) => outcome === "in doubt");
  if (doubt === undefined) return undefined;
  const said = { outcomes: answers, detail: `${doubt.why}: ${cleanText(doubt.response ?? "", 200)}` };
  const partOf = (place: number) => (answers[place]?.outcome === "in doubt" ? 0 : undefined);
  const [part] = await cut(writer, run, chunk, partOf, "in doubt", said);
  return part;
}
