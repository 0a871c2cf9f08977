/** The words of what happens in the core: one entry for each kind of event, and of what is under way. */

import { cleanText, count } from "../actions/text.ts";
import type { Progress, RunEvent } from "../run/progress.ts";
import type { Context } from "./context.ts";
import { describeOpened } from "./first-line.ts";
import { describeUnderstanding } from "./understanding.ts";

type Words = {
  readonly [Kind in RunEvent["kind"]]: (event: Extract<RunEvent, { kind: Kind }>, context: Context) => void;
};

const WORDS: Words = {
  "environment chosen": ({ environment }, { trace }) => {
    trace.ledgerPath = environment.ledgerPath;
  },
  "ledgers in conflict": ({ problem }, { reporter }) => reporter.warn(problem.message),
  "key doubtful": ({ warning }, { reporter }) => reporter.warn(warning),
  "waiting for the lock": ({ holder }, { reporter }) =>
    reporter.info(
      `Waiting for another run to end${holder === undefined ? "" : ` (process ${holder.pid}, since ${holder.since})`} …`,
    ),
  "list of runs made again": ({ path, runs }, { reporter }) =>
    reporter.warn(
      `The list of runs ${path} was missing. It was made again from the ledger, with ${count(runs, "run")}.`,
    ),
  // Whoever copied a ledger to a second machine, and goes on with both, sends everything twice: neither knows the other.
  "state came from another machine": ({ environment, from }, { reporter }) =>
    reporter.warn(
      `The state of ${environment.name} came here from another machine (${cleanText(from.host, 100)}, which had it since ${from.at}). Use it on one machine only: a second copy does not learn what this one sends, and sends it again.`,
    ),
  "ledger opened": (opened, context) => {
    // A ledger that is NEW is told always: nothing is known to have been sent before.
    const say = opened.isToSend && opened.runs === 0 ? context.reporter.notice : context.reporter.info;
    say(describeOpened(opened, context));
  },
  "ordered by time": (_, { reporter }) =>
    reporter.info("Order: by orderTime, each event and sale before what depends on it."),
  "files passed over": ({ message }, { reporter }) => reporter.warn(message),
  "input understood": (understood, { reporter }) => {
    for (const line of describeUnderstanding(understood)) reporter.info(line);
  },
};

/** What the core tells, in the words of a command. */
export function progressOf(context: Context): Progress {
  return {
    happened: (event) => {
      // Each entry takes the event of its own kind, which the compiler can't follow through the table.
      const say = WORDS[event.kind] as (event: RunEvent, context: Context) => void;
      say(event, context);
    },
    advanced: context.reporter.progress,
  };
}
