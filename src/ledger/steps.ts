/** What a sender notes about its chunks, and what becomes of their actions. Whenever the process dies, the ledger knows what may have been sent. */

import { crashPoint } from "../disk/crash-points.ts";
import {
  beginAttempt,
  type Claim,
  doubtVanished,
  type Ended,
  endAttempt,
  holdsLane,
  type Intent,
  type Stepped,
  selectAttempts,
} from "./attempts.ts";
import {
  type Chunk,
  cut,
  HAS_UNWRITTEN,
  pass,
  readBody,
  readOutcomes,
  readPromises,
  readRequest,
  selectChunks,
} from "./chunk-life.ts";
import { type ChunkState, DECIDED_STATES } from "./chunks.ts";
import { type Database, every, sql, words } from "./database.ts";

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
      const stored = ended && (await endAttempt(writer, run, ended));
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
