/** The figures of a run: when its requests were sent, what became of which event, and what the service said. All from the ledger. */

import type { Attempt, Ledger, Run } from "../../ledger/ledger.ts";
import { answerText } from "../rejection-text.ts";
import { type SendingTimes, sendingTimes } from "./sending-times.ts";

export interface Figures {
  /** Undefined where nothing was sent. */
  readonly times: SendingTimes | undefined;
  /** How many actions name which event, those with the most problems first; under undefined, those that name none. */
  readonly byEvent: readonly EventCount[];
  /** What the service said of rejected actions, the most frequent words first. */
  readonly rejections: readonly Rejection[];
}

export interface EventCount {
  readonly eventId: string | undefined;
  actions: number;
  problems: number;
}

interface Rejection {
  readonly words: string;
  actions: number;
  /** The first row of which it was said. */
  readonly first: { readonly source: string; readonly line: number };
}

/** Different words that are counted each; what comes after so many is counted together. */
const WORDS_KNOWN = 2000;
const OTHER_WORDS = "other words; the promises file has each answer";

export async function figuresOf(ledger: Ledger, run: Run, attempts: readonly Attempt[]): Promise<Figures> {
  const times = sendingTimes(
    attempts.map(({ startedAt, endedAt, count: actions, class: kind }) => ({
      ...{ actions, class: kind, from: Date.parse(startedAt) },
      to: endedAt === undefined ? undefined : Date.parse(endedAt),
    })),
  );
  const byEvent = new Map<string | undefined, EventCount>();
  const byWords = new Map<string, Rejection>();
  for (const { chunk } of await ledger.chunks(run.number))
    for (const { origin, outcome, response } of (await ledger.outcomes(run.number, chunk)).items) {
      if (outcome === "moved") continue;
      const eventId = origin.subject.startsWith("e:") ? origin.subject.slice(2) : origin.event;
      const ofEvent = byEvent.get(eventId) ?? { eventId, actions: 0, problems: 0 };
      byEvent.set(eventId, ofEvent);
      ofEvent.actions += 1;
      if (outcome !== "accepted" && outcome !== "settled") ofEvent.problems += 1;
      if (outcome !== "rejected") continue;
      const said = answerText({ response });
      const words = byWords.has(said) || byWords.size < WORDS_KNOWN ? said : OTHER_WORDS;
      const first = { source: run.inputs[origin.input]?.name ?? "", line: origin.line };
      const rejection = byWords.get(words) ?? { words, actions: 0, first };
      byWords.set(words, rejection);
      rejection.actions += 1;
    }
  const idOf = ({ eventId = "" }: EventCount): string => eventId;
  return {
    times,
    byEvent: [...byEvent.values()].sort(
      (one, other) =>
        other.problems - one.problems || other.actions - one.actions || (idOf(one) < idOf(other) ? -1 : 1),
    ),
    rejections: [...byWords.values()].sort((one, other) => other.actions - one.actions),
  };
}
