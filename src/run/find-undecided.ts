/** Actions about an id that have no outcome yet: only the plans of their runs tell of them. */

import { Failure } from "../failure.ts";
import { doubtedItems } from "../ledger/attempts.ts";
import { pastOfChunk } from "../ledger/chunk-past.ts";
import { type ChunkRecord, type RunRecord, undecidedChunks, undecidedRuns } from "../ledger/runs.ts";
import { digestsOf, fieldNaming } from "../ledger/sent-about.ts";
import type { Plan } from "../plan/files/plan.ts";
import { actionsOf } from "../sending/record-answer.ts";
import { type FoundAt, type FoundOutcome, itemOf, placeText, type Searched } from "./found-action.ts";
import { isLockHeld } from "./ledger-of.ts";
import { labelOf } from "./promises.ts";
import { openRunPlan } from "./run-plan.ts";

export interface Undecided {
  readonly actions: readonly FoundAt[];
  /** Runs of which the plan can't be read. */
  readonly unread: readonly { readonly run: string; readonly why: string }[];
}

/**
 * Actions about the id that have no outcome yet.
 *
 * @param promised places of actions in doubt that the id is a promise of.
 */
export async function undecidedAbout(searched: Searched, promised: ReadonlySet<string>): Promise<Undecided> {
  const { ledger } = searched;
  const [actions, unread]: [FoundAt[], Undecided["unread"][number][]] = [[], []];
  const digests = digestsOf(searched.id);
  for (const run of undecidedRuns(ledger)) {
    try {
      await using plan = await openRunPlan(searched, run);
      for (const chunk of undecidedChunks(ledger, run.runNo))
        for (const each of await undecidedOf(searched, { plan, run, chunk, digests, promised })) actions.push(each);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      unread.push({ run: run.run, why: cause.message });
    }
  }
  return { actions, unread };
}

interface UndecidedChunk {
  readonly plan: Plan;
  readonly run: RunRecord;
  readonly chunk: ChunkRecord;
  readonly digests: ReadonlySet<string>;
  readonly promised: ReadonlySet<string>;
}

async function undecidedOf(searched: Searched, of: UndecidedChunk): Promise<readonly FoundAt[]> {
  const { ledger, id } = searched;
  const { plan, run, chunk, digests, promised } = of;
  const { runNo } = run;
  // The digests of a plan say which actions need not be read.
  const records = await plan.records(chunk);
  const mayBe = records.some(
    (record, at) =>
      // Its identity is that of its source's own key.
      record.keyed ||
      digests.has(record.identity.toString("hex")) ||
      promised.has(placeText({ runNo, seq: chunk.first + at })),
  );
  if (!mayBe) return [];
  const said = doubtedItems(ledger, chunk);
  const outcome = await outcomeOfChunk(searched, chunk);
  const past = pastOfChunk(ledger, runNo, chunk.chunk);
  return (await actionsOf(plan, chunk)).flatMap(({ seq, action, record }) => {
    const as = fieldNaming(action, id) ?? (promised.has(placeText({ runNo, seq })) ? "actionPromise" : undefined);
    if (as === undefined) return [];
    const response = said.get(seq);
    return [
      {
        at: { runNo, seq },
        found: {
          ...{ ...labelOf(run), as, seq, chunk: chunk.chunk, outcome, ...past },
          ...{ source: plan.manifest.inputs[record.input]?.name, line: record.line },
          ...{ action: action.action, data: action.data, status: undefined, actionPromise: undefined, at: undefined },
          reason: chunk.detail === "" ? undefined : chunk.detail,
          response: response === undefined ? undefined : itemOf(response),
          sentAt: outcome === "planned" ? undefined : past.sentAt,
        },
      },
    ];
  });
}

async function outcomeOfChunk({ environment, ledger }: Searched, { state }: ChunkRecord): Promise<FoundOutcome> {
  if (state === "planned" || state === "refused") return state;
  return state === "sending" && (await isLockHeld(environment, ledger)) ? "in flight" : "in doubt";
}
