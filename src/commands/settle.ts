/** `tickets settle`: a person says what became of a chunk, closes a run, or pauses it. */

import { isOnce } from "../actions/marks.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Run, RunCounts } from "../ledger/ledger.ts";
import { decideChunkCommand, settleCommand, statusCommand } from "../next-command.ts";
import { placeText } from "../read/file-names.ts";
import type { AskedAction, Question } from "../run/runs.ts";
import { type SettledChunk, type SettleSettings, settle as settleRun } from "../run/settle.ts";
import { cleanText, count, number } from "../text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { chunkNumber, describeActions, fieldsText, idsOf, listOf, localTimes, shownFields } from "./describe.ts";
import type { Reporter } from "./reporter.ts";
import { sayNext, sayRejects } from "./run-end.ts";

type SettleOptions = Options<"run" | "chunk" | "first" | "reason" | "yes" | "waitLock" | "json"> &
  Pick<SettleSettings, "decision">;

/** Without a decision it only shows what has to be decided. */
export async function settle(options: SettleOptions, context: Context): Promise<number> {
  const { reporter, trace, stop } = context;
  const { ask, info } = reporter;
  trace.isKept = true;
  trace.run = options.run;
  const { core, environment } = await openSettings(context, options, "any");
  const confirmClose = async ({ run }: Run, counts: RunCounts): Promise<boolean> => {
    info(describeClosing(run, counts));
    return options.yes || ask === undefined || ask("Close it?", stop);
  };
  const result = await settleRun(core, { ...options, environment, confirmClose });
  if (result === undefined) {
    info("The run stays open.");
    return EXIT_CODES.ok;
  }
  const { run, summary, questions } = result;
  const { decision, chunk } = options;
  for (const settled of result.chunks) saySettled(settled, decision, reporter);
  if (result.chunks.length === 0 && (decision === "sent" || decision === "not-sent"))
    reporter.warn(
      `${chunk === undefined ? "Run" : `Chunk ${chunk} of run`} ${run.run} has nothing to settle, so nothing was changed. See what was decided: ${statusCommand(environment, run.run)}`,
    );
  if (decision === "abandon") info(`Run ${run.run} is closed.`);
  if (decision === "pause") info(`Run ${run.run} is paused. Nothing more of it is sent until you resume it.`);
  if (questions !== undefined) sayQuestions(run, questions, environment, context);
  info(`${describeActions(summary.actions)}.`);
  if (decision !== undefined) sayRejects(summary, run.inputs, context);
  if (decision !== undefined || questions?.length === 0) sayNext(summary, context);
  if (options.json) reporter.document(summary);
  return summary.exitCode;
}

/** What closing a run means for its actions. */
function describeClosing(run: string, counts: RunCounts): string {
  const { accepted, rejected, settled, notSent, refused, inDoubt, inFlight } = counts;
  const answered = accepted + rejected + settled;
  const open = inDoubt + inFlight + refused;
  const parts = listOf({ answered, "not sent, which go into rejects": notSent, "in doubt": open });
  const doubts = open === 0 ? "" : " No other run sends what is in doubt until you settle it.";
  return `Closing run ${run}; it can't be resumed afterwards: ${parts}.${doubts}`;
}

function saySettled(
  { chunk, first, rest, late }: SettledChunk,
  decision: SettleOptions["decision"],
  { info, warn }: Reporter,
): void {
  const others = chunk.count - first;
  const part = first === 1 ? "the first" : `the first ${number(first)}`;
  info(
    `Chunk ${chunk.chunk}: ${others > 0 ? `${part} of ` : ""}${count(chunk.count, "action")} settled as ${decision}.`,
  );
  if (others > 0)
    info(`The other ${others === 1 ? "one still waits" : `${number(others)} still wait`}, as chunk ${rest}.`);
  if (late > 0)
    warn(
      `${count(late, "action")} will not be sent, but will be in the rejects: ${late === 1 ? "it" : "they"} would undo a later action of the same ticket or event that was accepted.`,
    );
}

/** What a person has to decide: the doubtful actions, and what would happen if they were sent twice. */
function sayQuestions(
  run: Run,
  questions: readonly Question[],
  environment: Environment,
  { reporter: { info }, verbose }: Context,
): void {
  if (questions.length === 0) info(`Run ${run.run} has nothing to settle.`);
  const time = localTimes();
  for (const question of questions) {
    const { chunk, requestedAt } = question;
    const why = chunk.detail === undefined ? "." : `: ${cleanText(chunk.detail, 300)}`;
    info(`Chunk ${chunkNumber(chunk)}, ${count(chunk.count, "action")}, is ${chunk.state}${why}`);
    const left =
      requestedAt &&
      `The request left at ${time(requestedAt)}. A slow service may still be working on it: wait before you look, especially before --not-sent.`;
    for (const line of [
      ...describeDoubtful(run, question, environment, verbose),
      ...describeTwice(question),
      ...(left ? [left] : []),
      ...waysOut(run, question, environment),
    ])
      info(`  ${line}`);
  }
  if (questions.length > 0 && run.state === "open")
    info(`To close the run without settling its doubts: ${settleCommand(run.run, environment, "--abandon")}`);
}

/** The first action and the last; the last one decides. */
function describeDoubtful(
  { run }: Run,
  { chunk, actions }: Question,
  environment: Environment,
  verbose: boolean,
): readonly string[] {
  const [first, last] = [actions[0], actions.at(-1)];
  const all = statusCommand(environment, run, "--chunk", String(chunk.chunk));
  return [
    ...(first === undefined ? [] : [describeAction(first, verbose)]),
    ...(actions.length > 2 ? [`… ${number(actions.length - 2)} more; all of them: ${all}`] : []),
    ...(last === undefined || last === first
      ? []
      : [
          describeAction(last, verbose),
          "The service works in order: if it has the last one, it has processed them all.",
        ]),
  ];
}

/** A service refuses a second sale, but would take a second scan, resale or update. */
function describeTwice({ actions }: Question): readonly string[] {
  const once = actions.filter(({ action }) => isOnce(action.action));
  const again = actions.filter(({ action }) => !isOnce(action.action));
  return [
    ...(once.length === 0
      ? []
      : [`The service would probably refuse ${ofThem(once, actions)} a second time (${kinds(once)}).`]),
    ...(again.length === 0 ? [] : [`The service would register ${ofThem(again, actions)} twice (${kinds(again)}).`]),
  ];
}

/** The commands that decide. */
function waysOut({ run, state }: Run, { chunk, actions }: Question, environment: Environment): readonly string[] {
  const [them, are] = actions.length === 1 ? ["it", "it is"] : ["them", "they are"];
  const unsent = state === "open" ? `${are} sent again` : `${are} listed in the rejects`;
  const ways = [
    [`If the service has ${them}:`, "--sent"],
    [`If it does not (${unsent}):`, "--not-sent"],
  ] as const;
  const width = Math.max(...ways.map(([words]) => words.length));
  return ways.map(
    ([words, flag]) => `${words.padEnd(width)} ${decideChunkCommand(run, chunk.chunk, environment, flag)}`,
  );
}

/** `it` where it is the only one, else `one of them`, `3 of them` */
function ofThem(some: readonly AskedAction[], { length }: readonly AskedAction[]): string {
  return length === 1 ? "it" : `${some.length === 1 ? "one" : number(some.length)} of them`;
}

const kinds = (actions: readonly AskedAction[]): string =>
  [...new Set(actions.map(({ action }) => action.action))].join(", ");

/** `resales.csv:2 resoldTicket T1, userId gu…74, price 20.00, orderTime 1777658400` */
function describeAction({ source, line, action }: AskedAction, verbose: boolean): string {
  const ids = idsOf(action).map((id) => cleanText(id));
  const shown = fieldsText(shownFields(action, verbose));
  return `${placeText({ source, line })} ${[action.action, ...ids].join(" ")}${shown === "" ? "" : `, ${shown}`}`;
}
