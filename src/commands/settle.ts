/** `tickets settle`: a person says what became of a chunk, or closes a run. */

import { count, number } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { EXIT_CODES } from "../failure.ts";
import type { RowsOfFile } from "../outputs/rejects.ts";
import { settleCommand } from "../run/next-command.ts";
import { planDirectory } from "../run/places.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type SettledRun, type SettleResult, type SettleSettings, settle as settleRun } from "../run/settle.ts";
import type { Decision } from "../sending/by-hand.ts";
import type { Context } from "./context.ts";
import { tellQuestions } from "./questions.ts";
import type { Reporter } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { describeActions, describeNothingOpen } from "./summary.ts";

export interface SettleOptions extends EnvironmentOptions {
  readonly run: string;
  readonly decision: Decision | undefined;
  readonly chunk: number | undefined;
  /** Only so many actions, from the chunk's beginning. */
  readonly first: number | undefined;
  readonly reason: string | undefined;
  /** Don't ask before a run is closed. */
  readonly yes?: boolean;
  readonly json: boolean;
  readonly waitLock: number;
}

/** Without a decision it only shows what has to be decided. */
export async function settle(options: SettleOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  trace.run = options.run;
  const result = await settleRun(core, { ...options, settings, startedAt, confirmClose: confirmBy(options, context) });
  if (result.kind === "stays open") {
    reporter.info("The run stays open.");
    return EXIT_CODES.ok;
  }
  if (result.kind === "without plan") tellWithoutPlan(result, reporter);
  else tellSettled(result, options, context);
  const { summary } = result;
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  return summary.exitCode;
}

/** Asks on a terminal, unless it was answered before. */
function confirmBy({ yes }: SettleOptions, { reporter, stop }: Context): SettleSettings["confirmClose"] {
  const { ask } = reporter;
  return yes || ask === undefined ? undefined : () => ask("Close it?", stop);
}

function tellSettled(
  { summary, manifest, questions, rejects }: SettledRun,
  { decision }: SettleOptions,
  { reporter, cwd, verbose }: Context,
): void {
  if (questions !== undefined) tellQuestions(questions, reporter, verbose);
  reporter.info(`${describeActions(summary.actions, { repeated: manifest.repeated })}.`);
  for (const path of rejects?.paths ?? []) {
    const rows = rejects?.written.get(path);
    // What stands there since an earlier command is named again when the run is closed.
    if (rows === undefined && decision !== "abandon") continue;
    reporter.info(`Rejects: ${displayPath(path, cwd)}${rows === undefined ? "" : describeRejects(rows)}.`);
  }
  if (rejects !== undefined && rejects.accepted > 0) reporter.info(describeNothingOpen(rejects.accepted));
  if (summary.next !== null && decision !== undefined) reporter.info(`Next: ${summary.next}`);
}

/** ` holds 3 rows that are still open`, ` holds 4 rows, of which 2 were added` or, where all stood there, ` holds 4 rows` */
function describeRejects({ added, held }: RowsOfFile): string {
  if (added === 0) return ` holds ${count(held, "row")}`;
  if (added < held)
    return ` holds ${count(held, "row")}, of which ${number(added)} ${added === 1 ? "was" : "were"} added`;
  return ` holds ${count(held, "row")} that ${held === 1 ? "is" : "are"} still open`;
}

function tellWithoutPlan(
  { environment, summary, manifest }: Extract<SettleResult, { kind: "without plan" }>,
  reporter: Reporter,
): void {
  reporter.info(`${describeActions(summary.actions, { repeated: manifest.repeated })}.`);
  const { inDoubt, refused } = summary.actions;
  const { run, next } = summary;
  if (run === null || next === null) return;
  const command = settleCommand(run, environment);
  reporter.error(
    `Whether the service has ${count(inDoubt + refused, "action")} of it is not known, nor which they are. Until that is settled nothing that could be one of them is sent to ${environment.name}.`,
  );
  reporter.info(`Restore the folder ${planDirectory(environment, run)} from a backup, then: ${command}`);
  reporter.info(
    `If it is lost: find out what the service has, and take that out of what you stream from now on, since nothing else holds it back. Then: ${command} --not-sent --reason "…"`,
  );
}
