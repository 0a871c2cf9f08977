/**
 * What the sender of a lane notes about its chunks, and when. Whenever the process dies, the ledger knows what may have been
 * sent.
 */

import { free } from "../disk/buffers.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { type AttemptEnd, endAttempt, keepDoubtedAnswer, markSending, storeAnswer } from "../ledger/attempts.ts";
import { type ChunkRecord, nextPlannedChunk } from "../ledger/runs.ts";
import type { ItemOutcome } from "./answer.ts";
import type { ChunkFacts } from "./chunk-outcomes.ts";
import { type RecordContext, recordAnswer } from "./record-answer.ts";

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
  readonly facts: ChunkFacts;
  readonly status: number;
  readonly body: Buffer;
  readonly items: readonly ItemOutcome[];
  /** When it came, UTC in ISO 8601. */
  readonly at: string;
}

/**
 * @param inTurn does one thing after the other, across all lanes.
 * @param onRecorded is told of each answer whose outcomes are on disk.
 */
export function openChunkLog(
  context: RecordContext,
  lane: number,
  inTurn: (work: () => Promise<void>) => Promise<void>,
  onRecorded: (answer: DecidingAnswer) => void,
) {
  const { ledger, runNo } = context;
  let unstored: DecidingAnswer | undefined;
  const unrecorded: DecidingAnswer[] = [];
  /** Carries out a change that stores the answer too. */
  const storing = <T>(change: () => T): T => {
    const answer = unstored;
    const result = ledger.transaction(() => {
      if (answer !== undefined) storeAnswer(ledger, answer.facts.chunk, answer);
      return change();
    });
    if (answer !== undefined) unrecorded.push(answer);
    unstored = undefined;
    return result;
  };
  return {
    /** The lane's next planned chunk; undefined when nothing of it is left to send. */
    next: (): ChunkRecord | undefined => nextPlannedChunk(ledger, runNo, lane),
    /**
     * A request with the chunk is about to leave. After this returns, that is on disk together with the previous answer: one
     * commit per chunk on the critical path.
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
    /**
     * Turns answers that are not recorded yet into outcomes, and first stores one that no intent has stored. After this
     * resolves, the outcomes and their lines of the promises file are on disk.
     */
    record: async (): Promise<void> => {
      if (unstored !== undefined) {
        storing(() => undefined);
        crashPoint("stored");
      }
      for (let answer = unrecorded.shift(); answer !== undefined; answer = unrecorded.shift()) {
        const { facts, items, at, body } = answer;
        await inTurn(() => recordAnswer(context, facts, items, at));
        free(body);
        onRecorded(answer);
      }
    },
  };
}
