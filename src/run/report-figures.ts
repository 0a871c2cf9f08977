/** What a report says of a run beside its summary: all of it from the ledger. */

import type { Environment } from "../config/environment.ts";
import type { Attempt, Invocation, Ledger, Run } from "../ledger/ledger.ts";
import { rejectionText } from "../write/rejection-text.ts";
import { type SendingTimes, sendingTimes, type TimedAttempt } from "../write/report/sending-times.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { actionsOfChunk, detailsOf, type Question, type RunDetails } from "./runs.ts";

export interface RunFigures extends RunDetails {
  /** Undefined where nothing was sent. */
  readonly times: SendingTimes | undefined;
  readonly byAction: readonly { readonly action: string; readonly outcome: string; readonly actions: number }[];
  readonly byEvent: EventCounts;
  readonly rejections: Rejections;
  readonly questions: readonly Question[];
  /** Chunks that wait for a person; the first of them are the questions. */
  readonly questionCount: number;
  readonly commands: readonly Invocation[];
}

/** What the service said of rejected actions, by its words. */
export interface Rejections {
  readonly groups: readonly RejectionGroup[];
  /** Said of them in other words. */
  readonly others: number;
}

interface RejectionGroup {
  readonly words: string;
  actions: number;
  readonly examples: RejectedExample[];
}

interface RejectedExample {
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly id: string;
}

/** How many actions name which event. */
export interface EventCounts {
  /** Those with the most, the largest first. */
  readonly first: readonly { readonly eventId: string; readonly actions: number }[];
  readonly others: { readonly events: number; readonly actions: number };
  /** They name a ticket or an nftId only. */
  readonly unnamed: number;
}

const MOST = { rejectionGroups: 20, examples: 5, questions: 10, actionsOfQuestion: 10, events: 12 } as const;

/** Different words that are told apart; what comes after so many is only counted. */
const WORDS_KNOWN = 2000;

/** Undefined where the ledger does not know the run, or there is none. */
export async function runFigures(environment: Environment, id: string): Promise<RunFigures | undefined> {
  await using ledger = await findLedgerOf(environment);
  const run = await ledger?.run(id);
  if (ledger === undefined || run === undefined) return undefined;
  const details = await detailsOf(ledger, run, environment);
  const open = details.chunks.filter(({ state }) => state === "in doubt" || state === "refused");
  const questions: Question[] = [];
  for (const chunk of open.slice(0, MOST.questions)) {
    const actions = await actionsOfChunk(ledger, run, chunk.chunk);
    questions.push({ chunk, actions: actions.slice(0, MOST.actionsOfQuestion) });
  }
  return {
    ...details,
    ...{ questions, questionCount: open.length, ...(await outcomesOf(ledger, run)) },
    times: sendingTimes(() => details.attempts.map(toTimed)),
    commands: await ledger.invocations({ run: id }),
  };
}

const toTimed = ({ startedAt, endedAt, count, ...attempt }: Attempt): TimedAttempt => ({
  ...attempt,
  actions: count,
  from: Date.parse(startedAt),
  to: endedAt === undefined ? undefined : Date.parse(endedAt),
});

async function outcomesOf(ledger: Ledger, run: Run): Promise<Pick<RunFigures, "byAction" | "byEvent" | "rejections">> {
  const byEvent = new Map<string | undefined, number>();
  const byAction = new Map<string, { readonly action: string; readonly outcome: string; actions: number }>();
  const groups = new Map<string, RejectionGroup>();
  let rejected = 0;
  for (const { chunk } of await ledger.chunks(run.number))
    for (const { origin, outcome, response } of (await ledger.outcomes(run.number, chunk)).items) {
      if (outcome === "moved") continue;
      const event = origin.subject.startsWith("e:") ? origin.subject.slice(2) : origin.event;
      byEvent.set(event, (byEvent.get(event) ?? 0) + 1);
      const name = `${origin.kind} ${outcome}`;
      const count = byAction.get(name) ?? { action: origin.kind, outcome, actions: 0 };
      count.actions += 1;
      byAction.set(name, count);
      if (outcome !== "rejected") continue;
      rejected += 1;
      const words = rejectionText({ response });
      const group = groups.get(words) ?? { words, actions: 0, examples: [] };
      if (!groups.has(words) && groups.size >= WORDS_KNOWN) continue;
      groups.set(words, group);
      group.actions += 1;
      if (group.examples.length >= MOST.examples) continue;
      const source = run.inputs[origin.input]?.name ?? "";
      group.examples.push({ source, line: origin.line, action: origin.kind, id: origin.subject.slice(2) });
    }
  const shown = [...groups.values()].sort((one, other) => other.actions - one.actions).slice(0, MOST.rejectionGroups);
  const rejections = { groups: shown, others: rejected - sumOf(shown) };
  return { byAction: [...byAction.values()], byEvent: eventCounts(byEvent), rejections };
}

const sumOf = (counts: readonly { readonly actions: number }[]): number =>
  counts.reduce((sum, { actions }) => sum + actions, 0);

/** @param counts by event; under undefined, of what names none. */
function eventCounts(counts: ReadonlyMap<string | undefined, number>): EventCounts {
  const named = [...counts]
    .flatMap(([eventId, actions]) => (eventId === undefined ? [] : [{ eventId, actions }]))
    .toSorted((one, other) => other.actions - one.actions || (one.eventId < other.eventId ? -1 : 1));
  const others = named.slice(MOST.events);
  return {
    first: named.slice(0, MOST.events),
    others: { events: others.length, actions: sumOf(others) },
    unnamed: counts.get(undefined) ?? 0,
  };
}
