/** Words for what the core reports while a command works. */

import { displayOrigin } from "../config/declared.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { resultsCommand } from "../next-command.ts";
import type { Progress, RunEvent } from "../run/context.ts";
import { proxyOf } from "../send/proxy.ts";
import { cleanText, count, displayPath, durationText, number } from "../text.ts";
import type { WhyElsewhere } from "../write/promise-file.ts";
import type { Context } from "./context.ts";
import { describeHolding, listOf, localTime } from "./describe.ts";
import { sayChecked, sayPlanned, sayUnderstood } from "./input-words.ts";
import { sayRunEnd, sayStops } from "./run-end.ts";

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

type Words = {
  readonly [Kind in RunEvent["kind"]]: (event: Extract<RunEvent, { kind: Kind }>, context: Context) => void;
};

const WORDS: Words = {
  "environment chosen": ({ environment }, { trace }) => {
    trace.environment = environment;
  },
  warning: ({ message }, { reporter }) => reporter.warn(message),
  "waiting for the lock": ({ holder }, { reporter }) =>
    reporter.info(
      `Waiting for another run to end${holder === undefined ? "" : ` (${describeHolding(holder, localTime)})`} …`,
      { event: "lock.waiting" },
    ),
  "ledger opened": (opened, context) => {
    // A NEW ledger is announced even with --quiet: it knows of nothing that was sent before.
    const say = opened.isToSend && opened.runs === 0 ? context.reporter.notice : context.reporter.info;
    say(describeOpened(opened, context), { event: "ledger.opened" });
  },
  "ordered by time": (_, { reporter }) =>
    reporter.info("Order: by orderTime, each event and sale before what depends on it."),
  "inputs understood": sayUnderstood,
  "input checked": sayChecked,
  "sending planned": sayPlanned,
  "earlier run comes first": ({ run }, { reporter, trace }) => {
    trace.run = run;
    reporter.info(`Finishing interrupted run ${run} first.`, { event: "run.first" });
  },
  "left written": ({ run, files }, { reporter, cwd }) =>
    reporter.info(
      `Wrote the missing promises of run ${run} to ${files.map((path) => displayPath(path, cwd)).join(", ") || "standard output"}.`,
    ),
  "output set aside": ({ path, aside }, { reporter, cwd }) =>
    reporter.warn(`${displayPath(path, cwd)} was set aside as ${displayPath(aside, cwd)}.`),
  "promises go elsewhere": ({ path, why }, { reporter, cwd }) =>
    reporter.warn(`${describeElsewhere(why, cwd)} The rest goes to ${displayPath(path, cwd)}.`),
  "run started": ({ run, actions, chunks, isResumed }, { reporter, trace }) => {
    trace.run = run;
    reporter.log(
      `run ${run}${isResumed ? " goes on" : ""}: ${count(actions, "action")} to send in ${count(chunks, "chunk")}`,
      { event: "run.started", resumed: isResumed, actions, chunks },
    );
  },
  "chunk sent": ({ chunk: { chunk, lane, count: actions }, attempt }, { reporter }) =>
    reporter.log(`chunk ${chunk}: ${count(actions, "action")}, attempt ${attempt}`, {
      ...{ event: "chunk.sent", chunk, lane, attempt, actions },
    }),
  "chunk answered": ({ chunk: { chunk, lane }, accepted, rejected }, { reporter }) =>
    reporter.detail(`chunk ${chunk}: ${number(accepted)} accepted, ${number(rejected)} rejected`, {
      ...{ event: "chunk.settled", chunk, lane, counts: { accepted, rejected } },
    }),
  "chunk waits": ({ chunk: { chunk, lane }, detail, waitMs }, { reporter }) => {
    const why = cleanText(detail, 200);
    reporter.detail(`chunk ${chunk}: ${why}; trying again in ${durationText(waitMs)}`, {
      ...{ event: "wait", chunk, lane, waitMs: Math.round(waitMs), detail: why },
    });
  },
  "answer came late": ({ chunk: { chunk, lane, count: actions }, said }, { reporter }) =>
    reporter.error(
      `The answer about chunk ${chunk} came too late: another machine had given up on it. It changes nothing, and is kept in the ledger (attempts): ${said}.`,
      { event: "doubt", chunk, lane, actions, detail: said },
    ),
  "run ended": ({ end }, context) => {
    context.trace.end = end;
    sayRunEnd(end, context);
    context.trace.run = undefined;
  },
  "nothing to work on": ({ isFirst, holder }, { reporter }) => {
    const by = holder && `; the ledger is locked by ${describeHolding(holder, localTime)}`;
    reporter.info(
      `${isFirst ? "Nothing was published yet. Waiting for a first run" : "No run is open. Waiting for one"}${by ?? ""} …`,
    );
  },
  "database away": ({ isAway }, { reporter }) => {
    if (isAway) reporter.warn("The database that holds the ledger does not answer. Waiting for it, up to a minute …");
    else reporter.info("The database is back.");
  },
  "run waits for a person": ({ waits: { code, message, hint } }, { reporter }) => {
    reporter.error(message, code === "in-doubt" ? { event: "doubt" } : { event: "run.stopped", reason: code });
    if (hint !== undefined) reporter.info(hint);
  },
  "worker stopped": (stopped, context) => sayStops(stopped, context),
  "run done": ({ run, environment, exitCode, counts }, { reporter, trace }) => {
    trace.run = undefined;
    const { accepted, rejected, settled, notSent } = counts;
    const others = listOf({ rejected, "settled as sent": settled, "not sent": notSent });
    reporter.info(`Run ${run} is done: ${number(accepted)} accepted${others === "" ? "" : `, ${others}`}.`, {
      ...{ event: "run.ended", counts: { accepted, rejected, settled, notSent }, exitCode },
    });
    reporter.info(`To write its promises, where it was published: ${resultsCommand(environment, run, "--follow")}`);
  },
};

/** The environment and its ledger. */
function describeOpened(
  { environment, runs }: Extract<RunEvent, { kind: "ledger opened" }>,
  { cwd, env }: Pick<Context, "cwd" | "env">,
): string {
  const { name, ledgerOwner } = environment;
  const where = environment.kind === "sandbox" ? "built in" : environment.baseUrl;
  const known = runs === 0 ? "NEW" : `with ${count(runs, "earlier run")}`;
  const proxy = proxyOf(environment, env);
  return [
    `${name} (${where}${proxy === undefined ? "" : `, through the proxy ${proxy.shown}`})`,
    `ledger ${ledgerOwner === name ? "" : `of ${ledgerOwner} `}${ledgerPlace(environment, cwd)} ${known}`,
    // Before a key goes to an address for the first time, a person should see who named it.
    ...(known === "NEW" && environment.kind === "service"
      ? [`address from ${displayOrigin(environment.origins.baseUrl, cwd)}`]
      : []),
  ].join(" · ");
}

function describeElsewhere(why: WhyElsewhere, cwd: string): string {
  switch (why.because) {
    case "output taken":
      return "Standard output carries the JSON document of this command.";
    case "reader gone":
      return "The reader of standard output closed it.";
    case "changed meanwhile":
      return `${displayPath(why.file, cwd)} was changed by someone else while the run was writing it.`;
    case "folder gone":
      return `${displayPath(why.file, cwd)} is not appended to: its folder is gone.`;
    case "content gone":
      return `${displayPath(why.file, cwd)} is not appended to: what the run wrote into it is gone.`;
    case "strange":
      return `${displayPath(why.file, cwd)} is not appended to: ${why.strange}.`;
  }
}
