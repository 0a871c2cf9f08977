/** What a report says of a run beside its summary: all of it from the ledger, and of doubts from the plan, where it is still there. */

import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { attemptsOf } from "../ledger/attempts.ts";
import { type CommandOnRun, commandsOnRun } from "../ledger/invocations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { countByEvent, outcomeAt, outcomesByAction, rejectionsOf } from "../ledger/outcomes.ts";
import { type ChunkRecord, chunksOf, openQuestions, type RunRecord, wholeOf } from "../ledger/runs.ts";
import { type NotedSettlement, settlementsOf } from "../ledger/settlements.ts";
import type { Outcome } from "../ledger/states.ts";
import { rejectionText } from "../outputs/rejection-text.ts";
import { type SendingTimes, sendingTimes } from "../outputs/report/sending-times.ts";
import type { Plan } from "../plan/files/plan.ts";
import { type EventCounts, eventCounts } from "./event-counts.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { type PlacedAction, placedActions } from "./run-details.ts";
import { openRunPlan } from "./run-plan.ts";
import { type RunStatus, runStatus } from "./status.ts";

export interface RunFigures extends RunStatus {
  /** Undefined where nothing was sent. */
  readonly times: SendingTimes | undefined;
  readonly byAction: readonly { readonly action: string; readonly outcome: Outcome; readonly actions: number }[];
  readonly byEvent: EventCounts;
  readonly rejections: Rejections;
  readonly questions: readonly Question[];
  /** Chunks that wait for a person; the first of them are the questions. */
  readonly questionCount: number;
  readonly settlements: readonly NotedSettlement[];
  readonly commands: readonly CommandOnRun[];
}

/** What the service said of rejected actions, by its words. */
export interface Rejections {
  readonly groups: readonly RejectionGroup[];
  /** Said of them in other words. */
  readonly others: number;
}

interface RejectionGroup {
  readonly words: string;
  readonly actions: number;
  readonly examples: readonly RejectedExample[];
}

interface RejectedExample {
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly id: string;
}

/** A chunk about which a person must decide. */
export interface Question {
  readonly chunk: ChunkRecord;
  /** The planned chunk that it is a part of. */
  readonly whole: number | undefined;
  /** The first of its actions; none where the plan can't be read. */
  readonly first: readonly PlacedAction[];
}

const MOST = { rejectionGroups: 20, examples: 5, questions: 10, actionsOfQuestion: 10 } as const;

/** Different words that are told apart; what comes after so many is only counted. */
const WORDS_KNOWN = 2000;

/** Undefined where the ledger does not know the run, or there is none. */
export async function runFigures(environment: Environment, run: string): Promise<RunFigures | undefined> {
  using ledger = await openLedgerToRead(environment);
  const status = ledger && (await runStatus(ledger, run, environment));
  if (ledger === undefined || status === undefined) return undefined;
  const { runNo } = status.run;
  // What a process was sending that is not there any more will be in doubt.
  const lost = status.counts.inFlight === 0 ? chunksOf(ledger, runNo, "sending") : [];
  const questions = [...openQuestions(ledger, runNo), ...lost].toSorted((one, other) => one.first - other.first);
  return {
    ...status,
    times: sendingTimes(() => attemptsOf(ledger, runNo)),
    byAction: outcomesByAction(ledger, runNo),
    byEvent: eventCounts(countByEvent(ledger, runNo)),
    rejections: rejectionsByWords(ledger, runNo),
    questions: await firstQuestions(ledger, environment, status.run, questions.slice(0, MOST.questions)),
    questionCount: questions.length,
    settlements: settlementsOf(ledger, runNo),
    commands: commandsOnRun(ledger, run),
  };
}

function rejectionsByWords(ledger: Ledger, runNo: number): Rejections {
  const groups = new Map<string, { actions: number; readonly seqs: number[] }>();
  let total = 0;
  for (const rejection of rejectionsOf(ledger, runNo)) {
    total += 1;
    const words = rejectionText(rejection);
    let group = groups.get(words);
    if (group === undefined && groups.size < WORDS_KNOWN) {
      group = { actions: 0, seqs: [] };
      groups.set(words, group);
    }
    if (group === undefined) continue;
    group.actions += 1;
    if (group.seqs.length < MOST.examples) group.seqs.push(rejection.seq);
  }
  const shown = [...groups]
    .toSorted(([, one], [, other]) => other.actions - one.actions)
    .slice(0, MOST.rejectionGroups);
  return {
    groups: shown.map(([words, { actions, seqs }]) => ({
      words,
      actions,
      examples: seqs.flatMap((seq) => exampleOf(ledger, runNo, seq) ?? []),
    })),
    others: total - shown.reduce((sum, [, { actions }]) => sum + actions, 0),
  };
}

function exampleOf(ledger: Ledger, runNo: number, seq: number): RejectedExample | undefined {
  const found = outcomeAt(ledger, runNo, seq);
  if (found === undefined) return undefined;
  const { source, line, action, ticketId, nftId, eventId } = found;
  return { source, line, action, id: ticketId ?? nftId ?? eventId ?? "" };
}

async function firstQuestions(
  ledger: Ledger,
  environment: Environment,
  run: RunRecord,
  chunks: readonly ChunkRecord[],
): Promise<readonly Question[]> {
  if (chunks.length === 0) return [];
  await using plan = await planOf(ledger, environment, run);
  const questions: Question[] = [];
  for (const chunk of chunks) {
    const actions = plan === undefined ? [] : await placedActions(plan, chunk);
    questions.push({ chunk, whole: wholeOf(ledger, chunk), first: actions.slice(0, MOST.actionsOfQuestion) });
  }
  return questions;
}

/** Without its plan, a report says of a doubt how many actions it holds, as other commands do. */
async function planOf(ledger: Ledger, environment: Environment, run: RunRecord): Promise<Plan | undefined> {
  try {
    return await openRunPlan({ ledger, environment }, run);
  } catch (cause) {
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}
