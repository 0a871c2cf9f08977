/** The promises as the lanes of a run write them: chunk after chunk, each of them noted in the ledger with what is committed next. */

import { crashPoint } from "../disk/crash-points.ts";
import { turn } from "../disk/turns.ts";
import type { NewBlock } from "../ledger/blocks.ts";
import type { Checkpointer } from "../ledger/checkpointer.ts";
import type { DecidedChunk } from "./chunk-outcomes.ts";
import { appendLines, type RecordContext } from "./record-answer.ts";

export interface PromiseLog {
  /**
   * Does one thing after the other, across all lanes: no two chunks become outcomes, or are written to the promises, at a
   * time. All that was written is noted before.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Writes the promises of a chunk that is settled, in turn. After it resolves every line is on disk. If the process dies
   * before that is noted, the ledger knows that the lines are missing (`projectUnwritten`). Where another process writes
   * them, it finds them in the same way.
   */
  write(decided: DecidedChunk): Promise<void>;
  /** Commits a change of the ledger, and with it what was written. */
  commit<T>(change: () => T): T;
  /** Notes what was written, unless a commit has done that. */
  note(): void;
}

/** @param checkpointer is told of what was stored, once its lines are on disk too. */
export function openPromiseLog(context: Omit<RecordContext, "plan">, checkpointer: Checkpointer): PromiseLog {
  const { ledger, promises } = context;
  let last: Promise<unknown> = Promise.resolve();
  /** Part of a transaction. Never of more than one append: a torn file is told by the lines of one. */
  let unnoted: (() => void) | undefined;
  const commit = <T>(change: () => T): T => {
    const written = unnoted;
    const result = ledger.transaction(() => {
      written?.();
      return change();
    });
    unnoted = undefined;
    if (written !== undefined) crashPoint("recorded");
    return result;
  };
  const note = (): void => {
    if (unnoted !== undefined) commit(() => undefined);
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(() => {
      note();
      return work();
    });
    last = done.catch(() => undefined);
    return done;
  };
  return {
    inTurn,
    write: (decided) =>
      inTurn(async () => {
        await turn();
        if (promises !== undefined) {
          unnoted = await appendLines(context, decided.chunk.chunk, decided.lines(promises.style));
        }
        checkpointer.grew(bytesOf(decided.blocks));
      }),
    commit,
    note,
  };
}

/** What a commit of them writes at least. */
const bytesOf = (blocks: readonly NewBlock[]): number =>
  blocks.reduce((sum, { promises, origins, actions, deeds }) => {
    return sum + (promises?.length ?? 0) + origins.length + actions.length + deeds.length;
  }, 0);
