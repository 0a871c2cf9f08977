/** `tickets collect`: brings what workers elsewhere sent into the publisher's files. */

import { collectCommand, settleCommand, statusCommand, workCommand } from "../actions/next-command.ts";
import { count, displayPath, number } from "../actions/text.ts";
import { type CollectedRun, type CollectSettings, collect as collectRuns } from "../run/collect.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";
import { describeRejectsElsewhere } from "./words.ts";

export interface CollectOptions extends EnvironmentOptions, Omit<CollectSettings, "settings" | "startedAt"> {
  readonly json: boolean;
}

export async function collect(options: CollectOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  trace.run = options.run;
  const { environment, runs, exitCode } = await collectRuns(core, { ...options, settings, startedAt });
  if (runs.length === 0) reporter.info(`Nothing of ${environment.name} waits to be collected here.`);
  for (const run of runs) tellRun(run, environment, context);
  if (options.json)
    reporter.out(`${JSON.stringify({ environment: environment.name, runs: runs.map(toDocument), exitCode })}\n`);
  return exitCode;
}

function tellRun(run: CollectedRun, environment: { readonly named: readonly string[] }, context: Context): void {
  const { reporter, cwd } = context;
  const { accepted, rejected, settledByHand, notSent, inDoubt, inFlight, refused } = run.counts;
  const decided = accepted + rejected + settledByHand;
  const where = run.output === undefined ? "" : ` into ${displayPath(run.output, cwd)}`;
  const written = run.collected === 0 ? "nothing new to write" : `${count(run.collected, "action")} written${where}`;
  const total = decided + notSent + inDoubt + refused;
  const left = run.state === "open" ? `, ${number(decided)} of ${count(total, "action")} sent so far` : "";
  reporter.info(`Run ${run.run} is ${run.state}${left}: ${written}.`);
  if (run.rejects.length > 0) reporter.info(`Rejects: ${run.rejects.map((path) => displayPath(path, cwd)).join(", ")}`);
  if (run.rejectsOn !== undefined) reporter.warn(describeRejectsElsewhere(run.run, run.rejectsOn, environment));
  if (run.areRejectsLost)
    reporter.warn(
      `The rejects of run ${run.run} can't be written: the copies of its inputs are gone. What was rejected stands among its promises.`,
    );
  if (run.waits) {
    const doubts = inDoubt - inFlight;
    reporter.error(
      `Run ${run.run} has ${doubts > 0 ? `${count(doubts, "action")} in doubt` : `${count(refused, "action")} refused`}. Nothing after ${doubts + refused === 1 ? "it" : "them"} in the same lane is sent until someone decides.`,
      { event: "doubt" },
    );
    reporter.info(`Look, then decide: ${settleCommand(run.run, environment)}`);
  } else if (run.state === "open") {
    reporter.info(`Workers send the rest: ${workCommand(environment)}`);
    reporter.info(`Wait for it: ${collectCommand(environment, run.run, "--follow")}`);
  } else if (run.exitCode !== undefined && run.exitCode !== 0)
    reporter.info(`It ended with exit code ${run.exitCode}. Look: ${statusCommand(environment, run.run)}`);
}

const toDocument = ({ counts, output, exitCode, rejectsOn, ...run }: CollectedRun): object => ({
  ...run,
  exitCode: exitCode ?? null,
  output: output ?? null,
  rejectsOn: rejectsOn ?? null,
  actions: {
    accepted: counts.accepted,
    rejected: counts.rejected,
    refused: counts.refused,
    inDoubt: counts.inDoubt,
    settledByHand: counts.settledByHand,
    notSent: counts.notSent,
  },
  byAction: counts.byAction,
  chunks: counts.chunks,
});
