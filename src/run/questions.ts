/** What a person has to decide about a run. */

import type { Action } from "../actions/actions.ts";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type ChunkRecord, type RunRecord, wholeOf } from "../ledger/runs.ts";
import type { Plan } from "../plan/files/plan.ts";
import { actionsOf } from "../sending/record-answer.ts";
import { findSuperseded } from "../sending/superseded.ts";
export interface Questions {
  readonly run: string;
  readonly environment: Environment;
  readonly isOpen: boolean;
  /** It can't be resumed: what was not sent goes into rejects. */
  readonly isClosed: boolean;
  readonly chunks: readonly OpenChunk[];
  /** How many actions would undo something if they were sent now, since something later of their history was accepted. */
  readonly superseded: number;
}

interface OpenChunk {
  readonly chunk: ChunkRecord;
  /** The planned chunk that it is a part of. */
  readonly whole: number | undefined;
  readonly actions: readonly DoubtfulAction[];
}

export interface DoubtfulAction {
  readonly source: string;
  readonly line: number | undefined;
  readonly action: Action;
}

/** The doubtful actions, each with its place in the input. */
export async function questionsOf(
  ledger: Ledger,
  environment: Environment,
  plan: Plan,
  chunks: readonly ChunkRecord[],
  run: RunRecord,
): Promise<Questions> {
  const open: OpenChunk[] = [];
  for (const chunk of chunks) {
    const [actions, records] = [await actionsOf(plan, chunk), await plan.records(chunk)];
    open.push({
      chunk,
      whole: wholeOf(ledger, chunk),
      actions: actions.map((action, at) => ({
        source: plan.manifest.inputs[records[at]?.input ?? 0]?.name ?? "",
        line: records[at]?.line,
        action,
      })),
    });
  }
  const superseded = await findSuperseded(ledger, plan, chunks);
  const isOpen = run.state === "open";
  return {
    run: run.run,
    environment,
    isOpen,
    isClosed: !isOpen || run.isClosing,
    chunks: open,
    superseded: superseded.size,
  };
}
