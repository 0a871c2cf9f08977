/**
 * What the sender of a lane notes about its chunks, and when. Whenever the process dies, the ledger knows what may have been
 * sent.
 */

import { crashPoint } from "../disk/crash-points.ts";
import { type AttemptEnd, endAnswered, endAttempt, keepDoubtedAnswer, markSending } from "../ledger/attempts.ts";
import { type ChunkRecord, nextPlannedChunk } from "../ledger/runs.ts";
import { type DecidedChunk, storeDecided } from "./chunk-outcomes.ts";
import type { PromiseLog } from "./promise-log.ts";
import type { RecordContext } from "./record-answer.ts";

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
 * @param promises of all lanes.
 * @param onRecorded is told of each chunk whose outcomes and promises are on disk.
 */
export function openChunkLog(
  { ledger, runNo }: Pick<RecordContext, "ledger" | "runNo">,
  lane: number,
  promises: PromiseLog,
  onRecorded: (decided: DecidedChunk) => void,
) {
  let unstored: DecidingAnswer | undefined;
  let unwritten: DecidedChunk[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** Carries out a change that stores the answer too. */
  const storing = <T>(change: () => T): T => {
    const answer = unstored;
    const result = promises.commit(() => {
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
      await promises.write(decided);
      onRecorded(decided);
    }
  };
  /** Stores an answer that no intent has stored, at once: whoever is writing now may take long. */
  const store = (): void => {
    if (unstored !== undefined) storing(() => undefined);
  };
  const writeAll = async (): Promise<void> => {
    store();
    writing = write(writing, unwritten);
    unwritten = [];
    await writing;
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
      promises.commit(() => {
        endAttempt(ledger, chunk, conclusion);
        if (doubted !== undefined && doubted.length > 0) keepDoubtedAnswer(ledger, chunk, doubted);
      });
    },
    store,
    /**
     * Stores an answer that no intent has stored, and writes what is not among the promises yet. After this resolves, all of
     * it is on disk; the next commit of any lane notes it.
     */
    write: writeAll,
    /** The same, and notes it at once. */
    record: async (): Promise<void> => {
      await writeAll();
      promises.note();
    },
  };
}
