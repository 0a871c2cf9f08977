/** What a sender notes about its chunks, and what becomes of their actions. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import { cleanText } from "../text.ts";
import { deleteActions } from "./actions.ts";
import {
  beginAttempt,
  type Claim,
  doubtVanished,
  type Ended,
  endAttempt,
  holdsLane,
  type Intent,
  keepLate,
  type Stepped,
  selectAttempts,
} from "./attempts.ts";
import {
  type Chunk,
  cut,
  HAS_UNWRITTEN,
  mustPass,
  type Outcome,
  pass,
  readBody,
  readChunk,
  readOutcomes,
  readPromises,
  readRequest,
  selectChunks,
  storeOutcomes,
} from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES } from "./chunks.ts";
import { type Database, every, sql, type Writer, words } from "./database.ts";

/** What ended, and what is about to leave. */
interface Step {
  readonly ended?: Ended | undefined;
  readonly intent?: Intent | undefined;
}

/** What is to leave next. */
export interface Request {
  readonly chunk: Chunk;
  readonly body: Uint8Array;
}

export const stepMethods = (database: Database) => ({
  /** In the order in which they are sent. */
  chunks: (
    run: number,
    { states, unwritten }: { readonly states?: readonly ChunkState[]; readonly unwritten?: true } = {},
  ) => {
    const ofStates = states && sql`state IN ${words(states)}`;
    return selectChunks(database, every(sql`run = ${run}`, ofStates, unwritten && HAS_UNWRITTEN));
  },
  /**
   * The lane's next planned chunk with its request; of this stage only, where one is given.
   *
   * @throws Failure as `body` does.
   */
  async nextChunk(run: number, lane: number, stage?: number): Promise<Request | undefined> {
    const ofStage = stage === undefined ? undefined : sql`stage = ${stage}`;
    const planned = every(sql`run = ${run} AND lane = ${lane} AND state = 'planned'`, ofStage);
    const [chunk] = await selectChunks(database, planned, sql`LIMIT 1`);
    return chunk && { chunk, body: await readRequest(database, run, chunk.chunk) };
  },
  body: (run: number, chunk: number) => readBody(database, run, chunk),
  /**
   * How the request of a chunk ended, and that the next is about to leave: one commit. Rejected actions are forgotten, row texts
   * dropped where all was accepted. Actions that an answer leaves in doubt become a chunk of their own, in doubt.
   */
  async advance(run: number, { ended, intent }: Step): Promise<Stepped> {
    const stepped = await database.write(async (writer): Promise<Stepped> => {
      const stored = ended && (await storeEnd(writer, run, ended));
      const begun = intent && (await beginAttempt(writer, run, intent));
      return { attempt: undefined, obstacle: undefined, isStored: true, doubt: undefined, ...begun, ...stored };
    });
    if (ended?.event === "answer") crashPoint("settled");
    if (stepped.attempt !== undefined) crashPoint("intended");
    return stepped;
  },
  /**
   * Cuts a planned chunk into planned ones of at most so many actions; the whole run keeps to that from now on.
   *
   * @returns false where it is not planned any more, or the claim on its lane counts no more.
   * @throws Failure `storage` where its body is damaged.
   */
  split: (run: number, chunk: number, most: number, claim?: Claim) =>
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
  /**
   * What was being sent when its process died is in doubt from now on; where workers send, only once its time is over.
   *
   * @returns how many chunks.
   */
  doubtVanished: (run: number, at: string) => database.write((writer) => doubtVanished(writer, run, at)),
  attempts: (run: number) => selectAttempts(database, sql`attempts.run = ${run}`),
  /** Of one chunk, whatever its state. */
  outcomes: (run: number, chunk: number) => readOutcomes(database, run, chunk),
  /** All that the service gave for a run, chunk by chunk. Some may be empty, or the same, where a person settled a doubt. */
  async *promises(run: number): AsyncGenerator<readonly string[]> {
    const decided = sql`run = ${run} AND state IN ${words(DECIDED_STATES)}`;
    for (const { chunk } of await selectChunks(database, decided)) yield await readPromises(database, run, chunk);
  },
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
    const actions = gone.map(({ origin }) => origin);
    await deleteActions(writer, run, chunk, actions);
  }
  const doubt = answers.find(({ outcome }) => outcome === "in doubt");
  if (doubt === undefined) return undefined;
  const said = { outcomes: answers, detail: `${doubt.why}: ${cleanText(doubt.response ?? "", 200)}` };
  const partOf = (place: number) => (answers[place]?.outcome === "in doubt" ? 0 : undefined);
  const [part] = await cut(writer, run, chunk, partOf, "in doubt", said);
  return part;
}
