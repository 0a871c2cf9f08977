/**
 * What the sender of a lane notes about its chunks, and when. Whenever the process dies, the ledger knows what may have been
 * sent.
 */

import { count, number } from "../actions/text.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { type AttemptEnd, endAnswered, endAttempt, keepDoubtedAnswer, markSending } from "../ledger/attempts.ts";
import { type ChunkRecord, nextPlannedChunk } from "../ledger/runs.ts";
import { countDecided, type DecidedChunk, storeDecided } from "./chunk-outcomes.ts";
import type { Intent, LaneHold } from "./lane-hold.ts";
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
  /** As it came; it is kept only where it decides nothing, since the chunk was given up. */
  readonly body: Uint8Array;
}

/** What happens to the chunks of a lane that the sender does not see itself. */
interface ChunkWatch {
  /** The outcomes and promises of a chunk are on disk. */
  readonly onRecorded: (decided: DecidedChunk) => void;
  /** An answer came after its chunk had been given up, and was kept for a person. */
  readonly onLate: (chunk: ChunkRecord, said: string) => void;
}

/**
 * @param hold on the lane, where others could take it.
 * @param promises of all lanes.
 */
export function openChunkLog(
  { ledger, runNo }: Pick<RecordContext, "ledger" | "runNo">,
  { number: lane, hold }: { readonly number: number; readonly hold?: LaneHold | undefined },
  promises: PromiseLog,
  { onRecorded, onLate }: ChunkWatch,
) {
  let unstored: (DecidingAnswer & { readonly attempt: number }) | undefined;
  /** The latest that was begun. */
  let attempt = 0;
  let unwritten: DecidedChunk[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** Part of a transaction: false where the attempt was given up before its answer came. */
  const counts = (chunk: ChunkRecord, of: number): boolean => hold === undefined || hold.isUnderWay(chunk, of);
  /** Part of a transaction. */
  const storeAnswer = (answer: DecidingAnswer & { readonly attempt: number }): boolean => {
    const { decided, body } = answer;
    if (!counts(decided.chunk, answer.attempt)) {
      const mayBeTaken = countDecided(decided).accepted + decided.doubts.length > 0;
      hold?.keepLate(decided.chunk, answer.attempt, { answer: body, said: saidLate(answer), mayBeTaken });
      return false;
    }
    storeDecided(ledger, decided);
    endAnswered(ledger, decided.chunk, answer);
    return true;
  };
  /** Carries out a change that stores the answer too. */
  const storing = <T>(change: () => T): T => {
    const answer = unstored;
    const { isStored, result } = promises.commit(() => {
      const done = answer === undefined || storeAnswer(answer);
      return { isStored: done, result: change() };
    });
    if (answer !== undefined && isStored) unwritten.push(answer.decided);
    if (answer !== undefined && !isStored) onLate(answer.decided.chunk, saidLate(answer));
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
     * previous one: one commit per chunk on the critical path. Where the lane is held, something may be in its way.
     */
    intend: (chunk: ChunkRecord): Intent => {
      const intent = storing((): Intent => {
        const at = new Date().toISOString();
        return hold?.begin(chunk, at) ?? { kind: "begun", attempt: markSending(ledger, chunk, at) };
      });
      if (intent.kind === "begun") attempt = intent.attempt;
      crashPoint("intended");
      return intent;
    },
    /**
     * Notes what became of the attempt. After this returns it is on disk, except an answer that says what became of every
     * action: the next intent or `record` stores that.
     */
    conclude: (chunk: ChunkRecord, conclusion: Conclusion): void => {
      if (conclusion.event === "answer") {
        unstored = { ...conclusion, attempt };
        return;
      }
      const { doubted = new Uint8Array() } = conclusion;
      const said = `a late answer says: ${conclusion.class}`;
      const isNoted = promises.commit(() => {
        if (!counts(chunk, attempt)) {
          // Where there was no answer, nothing is known now that was not known before.
          hold?.keepLate(chunk, attempt, { answer: doubted, said, mayBeTaken: doubted.length > 0 });
          return false;
        }
        endAttempt(ledger, chunk, conclusion);
        if (doubted.length > 0) keepDoubtedAnswer(ledger, chunk, doubted);
        return true;
      });
      if (!isNoted) onLate(chunk, said);
    },
    /** Part of a transaction: nobody has given the latest attempt up. */
    isUnderWay: (chunk: ChunkRecord): boolean => counts(chunk, attempt),
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

function saidLate({ decided, status, at }: DecidingAnswer): string {
  const { accepted, rejected } = countDecided(decided);
  return `its answer came late, at ${at} (HTTP ${status}): ${count(accepted, "action")} accepted, ${number(rejected)} rejected`;
}
