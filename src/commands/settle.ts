/** `tickets settle`: a person says what became of a chunk, closes a run, or pauses it. */

import { isOnce } from "../actions/marks.ts";
import { decideChunkCommand, settleCommand, statusCommand } from "../actions/next-command.ts";
import { placeText } from "../actions/place.ts";
import { cleanText, displayPath, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Run } from "../ledger/ledger.ts";
import type { AskedAction, Question } from "../run/runs.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import { type SettleResult, type SettleSettings, settle as settleRun } from "../run/settle.ts";
import { chunkText } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import type { Reporter } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { idsOf, shownFields, valueText } from "./shown-fields.ts";
import { describeActions } from "./summary.ts";

export interface SettleOptions
  extends EnvironmentOptions,
    Omit<SettleSettings, "environment" | "startedAt" | "confirmClose"> {
  /** Don't ask before a run is closed. */
  readonly yes?: boolean;
  readonly json: boolean;
}

/** Without a decision it only shows what has to be decided. */
export async function settle(options: SettleOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  const { core, environment } = await openSettings(context, options, "any");
  trace.run = options.run;
  const confirmClose = confirmBy(options, context);
  const result = await settleRun(core, { ...options, environment, startedAt, confirmClose });
  if (result.kind === "stays open") {
    reporter.info("The run stays open.");
    return EXIT_CODES.ok;
  }
  saySettled(result, environment, options, context);
  const { summary } = result;
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  return summary.exitCode;
}

/** Asks on a terminal, unless it was answered before. */
function confirmBy({ yes }: SettleOptions, { reporter, stop }: Context): SettleSettings["confirmClose"] {
  const { ask } = reporter;
  return yes || ask === undefined ? undefined : () => ask("Close it?", stop);
}

function saySettled(
  { run, summary, questions, rejects }: Extract<SettleResult, { kind: "settled" }>,
  environment: Environment,
  { decision }: SettleOptions,
  { reporter, cwd, verbose }: Context,
): void {
  if (questions !== undefined) sayQuestions(run, questions, environment, reporter, verbose);
  if (decision === "pause") reporter.info(`Run ${run.run} is paused. Nothing more of it is sent until you resume it.`);
  reporter.info(`${describeActions(summary.actions)}.`);
  if (decision !== undefined && rejects.length > 0)
    reporter.info(`Rejects: ${rejects.map((path) => displayPath(path, cwd)).join(", ")}`);
  if (summary.next !== null && (decision !== undefined || questions?.length === 0))
    reporter.info(`Next: ${summary.next}`);
}

/** What a person has to decide: the doubtful actions, and what would happen if they were sent twice. */
function sayQuestions(
  run: Run,
  questions: readonly Question[],
  environment: Environment,
  { info }: Reporter,
  verbose: boolean,
): void {
  if (questions.length === 0) info(`Run ${run.run} has nothing to settle.`);
  const said = { info, time: localTimes(), verbose };
  for (const question of questions) sayQuestion(run, question, environment, said);
  if (questions.length > 0 && run.state === "open")
    info(`To close the run and leave its doubts: ${settleCommand(run.run, environment, "--abandon")}`);
}

function sayQuestion(
  { run, state }: Run,
  { chunk, actions, requestedAt }: Question,
  environment: Environment,
  {
    info,
    time,
    verbose,
  }: Pick<Reporter, "info"> & {
    readonly time: ReturnType<typeof localTimes>;
    readonly verbose: boolean;
  },
): void {
  const why = chunk.detail === undefined ? "." : `: ${cleanText(chunk.detail, 300)}`;
  info(`${capital(chunkText(chunk))}, is ${chunk.state}${why}`);
  // Of all, so that the same number means the same in `status --chunk`.
  const fields = shownFields(
    actions.map(({ action }) => action),
    verbose,
  );
  const [first, last] = [actions[0], actions.at(-1)];
  if (first !== undefined) info(`  ${describeDoubtful(first, fields[0])}`);
  if (actions.length > 2)
    info(
      `  … ${number(actions.length - 2)} more; all of them: ${statusCommand(environment, run, "--chunk", String(chunk.chunk))}`,
    );
  if (last !== undefined && last !== first) {
    info(`  ${describeDoubtful(last, fields.at(-1))}`);
    info("  The service works in order: if it has the last one, it has processed them all.");
  }
  // What happens once is refused a second time by any service that keeps tickets; the others would be taken again.
  const once = actions.filter(({ action }) => isOnce(action.action));
  const again = actions.filter(({ action }) => !isOnce(action.action));
  if (once.length > 0)
    info(`  The service would probably refuse ${ofThem(once, actions)} a second time (${kinds(once)}).`);
  if (again.length > 0) info(`  The service would register ${ofThem(again, actions)} twice (${kinds(again)}).`);
  if (requestedAt !== undefined)
    info(
      `  The request left at ${time(requestedAt)}. A slow service may still be working on it: wait longer than that can take before you look, above all before --not-sent.`,
    );
  const [them, is] = actions.length === 1 ? ["it", "it is"] : ["them", "they are"];
  const unsent = state === "open" ? `${is} sent again` : `${is} listed in the rejects`;
  const ways: readonly (readonly [string, string])[] = [
    [`  If the service has ${them}:`, "--sent"],
    [`  If it does not (${unsent}):`, "--not-sent"],
  ];
  const width = Math.max(...ways.map(([words]) => words.length)) + 1;
  for (const [words, flag] of ways)
    info(`${words.padEnd(width)}${decideChunkCommand(run, chunk.chunk, environment, flag)}`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `it` where it is the only one, else `one of them`, `3 of them` */
function ofThem(some: readonly AskedAction[], { length }: readonly AskedAction[]): string {
  return length === 1 ? "it" : `${some.length === 1 ? "one" : number(some.length)} of them`;
}

const kinds = (actions: readonly AskedAction[]): string =>
  [...new Set(actions.map(({ action }) => action.action))].join(", ");

/** `resales.csv:2 resoldTicket T1, userId gu…74, price 20.00, orderTime 1777658400` */
function describeDoubtful(
  { source, line, action }: AskedAction,
  fields: ReturnType<typeof shownFields>[number] = [],
): string {
  const ids = idsOf(action).map((id) => cleanText(id));
  const shown = fields.map(({ name, value }) => `${name} ${valueText(value)}`);
  return [`${placeText({ source, line })} ${[action.action, ...ids].join(" ")}`, ...shown].join(", ");
}
