/**
 * What another run has sent since this one was planned. No run sends while another is open, so it must be an imported run:
 * the ledger was restored from an older copy in which this run is open, and a person resumed it.
 */

import { type Action, actionSpec } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { unplacedActions } from "../ledger/known-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { SENT_ELSEWHERE, SUPERSEDED, type TakenDeed, takenBeside } from "../ledger/outcomes.ts";
import { type ChunkRecord, hasRunSince, plannedChunks, wasEnteredAgain } from "../ledger/runs.ts";
import { CONTENT_BYTES, type IndexRecord } from "../plan/files/index-file.ts";
import type { Plan } from "../plan/files/plan.ts";
import { closeUnsent } from "./chunk-parts.ts";
import { actionsOf } from "./record-answer.ts";

/**
 * Closes, unsent, planned actions that another run has sent since, and those of whose history it has sent something: a
 * promises file does not tell which.
 *
 * @param lane only of this one, which the caller has claimed.
 * @returns how many actions were closed.
 */
export async function closeSentElsewhere(ledger: Ledger, plan: Plan, runNo: number, lane?: number): Promise<number> {
  // The run has sent these itself, as its promises show; their place in it was not known when they were imported.
  const unplaced = unplacedActions(ledger, runNo);
  const takenOf = takenElsewhere(ledger, plan, runNo);
  if (unplaced.size === 0 && takenOf === undefined) return 0;
  const chunks = plannedChunks(ledger, runNo, lane);
  const statusOf = new Map<number, string>();
  for (const chunk of chunks) {
    for (const { seq, action, record } of await actionsOf(plan, chunk)) {
      if (unplaced.has(seq)) {
        statusOf.set(seq, SENT_ELSEWHERE);
        continue;
      }
      const later = takenOf?.(action, record) ?? [];
      if (later.length === 0) continue;
      const isThis =
        actionSpec(record.action).identity === "once" || later.some(({ content }) => content.equals(record.content));
      statusOf.set(seq, isThis ? SENT_ELSEWHERE : SUPERSEDED);
    }
  }
  await closeUnsent(ledger, plan, chunks, statusOf);
  return statusOf.size;
}

/** A run that has since received a promise for an action, or for one that can't be told from it. */
export interface PromisedElsewhere {
  readonly run: string;
  /** The deed happens once: another run only sends it while it was neither taken nor in doubt here. */
  readonly isOnce: boolean;
  /** Its content is the same. A deed that an import knows only by its ids may be another one of the history. */
  readonly isSame: boolean;
}

/**
 * The actions of a run for which other runs have received promises since it was planned, by their numbers in the plan. A
 * promise counts for one action: where a history has the same deed several times, for the last one, since a run is sent in
 * order.
 */
export async function findPromisedElsewhere(
  ledger: Ledger,
  plan: Plan,
  runNo: number,
  chunks: readonly ChunkRecord[],
): Promise<ReadonlyMap<number, PromisedElsewhere>> {
  const promised = new Map<number, PromisedElsewhere>();
  const takenOf = takenElsewhere(ledger, plan, runNo);
  if (takenOf === undefined) return promised;
  const counted = new Set<string>();
  for (const chunk of chunks.toSorted((one, other) => other.first - one.first)) {
    for (const { seq, action, record } of (await actionsOf(plan, chunk)).toReversed()) {
      const isOnce = actionSpec(record.action).identity === "once";
      const later = takenOf(action, record).filter(({ place }) => !counted.has(place));
      const same = later.find(({ content }) => isOnce || content.equals(record.content));
      const found = same ?? later.find(({ content }) => content.equals(ONLY_IDS));
      if (found === undefined) continue;
      counted.add(found.place);
      promised.set(seq, { run: found.run, isOnce, isSame: same !== undefined });
    }
  }
  return promised;
}

/**
 * Tells what other runs have taken of an action that its run was planned without; undefined where there is no such run. What came
 * into the ledger behind the run nobody knew of who planned it, whatever the clocks said when it was sent. Where the run itself came
 * back after a loss, they are what tells.
 */
function takenElsewhere(
  ledger: Ledger,
  { manifest: { run, createdAt } }: Plan,
  runNo: number,
): ((action: Action, record: IndexRecord) => readonly TakenDeed[]) | undefined {
  if (!hasRunSince(ledger, { runNo, run }, createdAt)) return undefined;
  const among = { wasLost: wasEnteredAgain(ledger, { run }), since: createdAt };
  return (action, record) =>
    identitiesOf(action, record)
      .flatMap((each) => takenBeside(ledger, each, runNo, among))
      .filter(({ isSince }) => isSince || !among.wasLost);
}

/** The content of a deed of which an import gave only the ids. */
const ONLY_IDS = Buffer.alloc(CONTENT_BYTES);

/** The identities under which a deed may be known. An import knows neither keys nor which deed of a history it is. */
function identitiesOf(action: Action, { identity, keyed }: IndexRecord): readonly Buffer[] {
  const imported = importedIdentityText(action);
  return [
    identity,
    ...(keyed ? [digestOf(identityText(action))] : []),
    ...(imported === undefined ? [] : [digestOf(imported)]),
  ];
}
