/**
 * What the sender of a lane notes about its chunks, and when. Whenever the process dies, the ledger knows what may have been
 * sent.
 */

import { crashPoint } from "../disk/crash-points.ts";
import { type AttemptEnd, endAnswered, endAttempt, keepDoubtedAnswer, markSending } from "../ledger/attempts.ts";
import { type ChunkRecord, nextPlannedChunk } from "../ledger/runs.ts";
import { type DecidedChunk, storeDecided } from "./chunk-outcomes.ts";
import { projectDecided, type RecordContext } from "./record-answer.ts";

export type ChunkLog = ReturnType<typeof openChunkLog>;

type Conclusion =
  | DecidingAnswer
  | (AttemptEnd & {
      /** An answer that does not say what became of each action; it may hold promises that are given only once. */
      readonly doubted?: Uint8Array;
    });

/** An answer that says what became of each action. */
interface DecidingAnswer {
  readonly event: "answer";
  readonly decided: DecidedChunk;
  readonly status: number;
  /** When it came, UTC in ISO 8601. */
  readonly at: string;
}

/**
 * @param inTurn does one thing after the other, across all lanes.
 * @param onRecorded is told of each chunk whose outcomes and promises are on disk.
 */
export function openChunkLog(
  context: RecordContext,
  lane: number,
  inTurn: (work: () => Promise<void>) => Promise<void>,
  onRecorded: (decided: DecidedChunk) => void,
) {
  const { ledger, runNo } = context;
  let unstored: DecidingAnswer | undefined;
  let unwritten: DecidedChunk[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** Carries out a change that stores the answer too. */
  const storing = <T>(change: () => T): T => {
    const answer = unstored;
    const result = ledger.transaction(() => {
      if (answer !== undefined) {
        storeDecided(ledger, answer.decided);
        endAnswered(ledger, answer.decided.chunk, answer);
      }
      return change();
    });
    if (answer !== undefined) unwritten.push(answer.decided);
    unstored = undefined;
    if (answer !== undefined) crashPoint("settled");
    return result;
  };
  const write = async (before: Promise<void>, chunks: readonly DecidedChunk[]): Promise<void> => {
    await before.catch(() => undefined); // told to whom it was recorded for
    for (const decided of chunks) {
      await inTurn(() => projectDecided(context, decided));
      onRecorded(decided);
    }
  };
  return {
    /** The lane's next planned chunk; undefined when nothing of it is left to send. */
    next: (): ChunkRecord | undefined => nextPlannedChunk(ledger, runNo, lane),
    /**
     * A request with the chunk is about to leave. After this returns, that is on disk together with what became of the
     * previous one: one commit per chunk on the critical path.
     *
     * @returns the attempt's number, from 1.
     */
    intend: (chunk: ChunkRecord): number => {
      const attempt = storing(() => markSending(ledger, chunk, new Date().toISOString()));
      crashPoint("intended");
      return attempt;
    },
    /**
     * Notes what became of the attempt. After this returns it is on disk, except an answer that says what became of every
     * action: the next intent or `record` stores that.
     */
    conclude: (chunk: ChunkRecord, conclusion: Conclusion): void => {
      if (conclusion.event === "answer") {
        unstored = conclusion;
        return;
      }
      const { doubted } = conclusion;
      ledger.transaction(() => {
        endAttempt(ledger, chunk, conclusion);
        if (doubted !== undefined && doubted.length > 0) keepDoubtedAnswer(ledger, chunk, doubted);
      });
    },
    /** Stores an answer that no intent has stored, at once: whoever is writing now may take long. */
    store: (): void => {
      if (unstored !== undefined) storing(() => undefined);
    },
    /**
     * Stores an answer that no intent has stored, and writes what is not among the promises yet. After this resolves, all of
     * it is on disk.
     */
    record: async (): Promise<void> => {
      if (unstored !== undefined) storing(() => undefined);
      writing = write(writing, unwritten);
      unwritten = [];
      await writing;
    },
  };
}
