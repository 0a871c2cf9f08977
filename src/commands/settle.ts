/** `tickets settle`: a person says what became of a chunk, or closes a run. */

import { actionSpec } from "../actions/actions.ts";
import { decideCommand, settleCommand, statusCommand } from "../actions/next-command.ts";
import { cleanText, count, displayPath, number } from "../actions/text.ts";
import { EXIT_CODES } from "../failure.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import type { RowsOfFile } from "../outputs/rejects.ts";
import { planDirectory } from "../run/places.ts";
import type { PlacedAction, Questions } from "../run/run-details.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type SettledRun, type SettleResult, type SettleSettings, settle as settleRun } from "../run/settle.ts";
import { chunkNumber } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import type { Reporter } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { describeActions, describeNothingOpen } from "./summary.ts";
import { idsOf, type TellingField, tellingFields } from "./telling-fields.ts";

export interface SettleOptions
  extends EnvironmentOptions,
    Omit<SettleSettings, "settings" | "startedAt" | "confirmClose"> {
  /** Don't ask before a run is closed. */
  readonly yes?: boolean;
  readonly json: boolean;
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
  reporter.error(
    `It is not known whether the service has ${count(inDoubt + refused, "action")} of it, nor which they are. Until that is settled, nothing that could be one of them is sent to ${environment.name}.`,
  );
  reporter.info(
    `Restore the folder ${planDirectory(environment, run)} from a backup, then: ${settleCommand(run, environment)}`,
  );
  reporter.info(
    `If it is lost: find out what the service has and leave that out of what you stream from now on; nothing else holds it back. Then: ${decideCommand(run, environment, "--not-sent")}`,
  );
}

/** How many actions of a doubt are shown one by one. */
const SHOWN = 10;

/** What a person has to decide: the doubtful actions, and what would happen if they were sent twice. */
function tellQuestions(questions: Questions, { info }: Reporter, verbose: boolean): void {
  const { run, environment, chunks, superseded, isClosed } = questions;
  if (chunks.length === 0) info(`Run ${run} has nothing to settle.`);
  for (const each of chunks) tellChunk(each, questions, info, verbose);
  if (superseded.actions > 0 && !isClosed) tellSuperseded(superseded, info);
  if (chunks.length === 0) return;
  const isOne = chunks.length === 1 && chunks[0]?.chunk.count === 1;
  const goes = isOne ? "it goes" : "they go";
  const [them, again] = isOne ? ["it", "it is sent again"] : ["them", "they are sent again"];
  const ways: readonly (readonly [string, string])[] = [
    [`If the service has ${them}:`, "--sent"],
    [`If it does not (${isClosed ? `${goes} into rejects` : again}):`, "--not-sent"],
    ...(questions.isOpen ? [["To close the run and leave the doubt:", "--abandon"] as const] : []),
  ];
  const width = Math.max(...ways.map(([words]) => words.length)) + 1;
  for (const [words, flag] of ways) info(`${words.padEnd(width)}${decideCommand(run, environment, flag)}`);
}

function tellSuperseded({ actions, undoing }: Questions["superseded"], info: Reporter["info"]): void {
  const does = undoing === actions ? "undo" : undoing === 0 ? "come after" : "undo or come after";
  const [they, go] = actions === 1 ? ["it is", "goes"] : ["they are", "go"];
  info(
    `${count(actions, "action")} would ${does} a later one of the same history that was accepted meanwhile. With --not-sent ${they} not sent again and ${go} into rejects.`,
  );
}

function tellChunk(
  { chunk, whole, actions }: Questions["chunks"][number],
  { run, environment }: Questions,
  info: Reporter["info"],
  verbose: boolean,
): void {
  info(
    `Chunk ${chunkNumber(chunk, whole)} is ${chunk.state}: ${describeRange(chunk)} of the run. ${cleanText(chunk.detail ?? "", 300)}`,
  );
  // Of all, so that the same number means the same in `status --chunk`.
  const fields = tellingFields(
    actions.map(({ action }) => action),
    verbose,
  );
  for (const [at, action] of actions.slice(0, SHOWN).entries()) info(`  ${describeDoubtful(action, fields[at] ?? [])}`);
  if (actions.length > SHOWN)
    info(
      `  … and ${number(actions.length - SHOWN)} more; all of them: ${statusCommand(environment, run, "--chunk", String(chunk.chunk))}`,
    );
  // A deed that happens once is refused a second time by any service that keeps tickets; the others would be taken again.
  const refusedTwice = actions.filter(({ action }) => actionSpec(action.action).identity !== "history").length;
  if (refusedTwice > 0)
    info(
      `  The service would probably refuse ${ofThem(refusedTwice, actions)} a second time (${kinds(actions, true)}).`,
    );
  if (refusedTwice < actions.length)
    info(
      `  The service would register ${ofThem(actions.length - refusedTwice, actions)} twice (${kinds(actions, false)}).`,
    );
}

/** `action 5`, `4 actions, 5 to 8` */
function describeRange({ first, count: actions }: ChunkRecord): string {
  if (actions === 1) return `action ${number(first)}`;
  return `${count(actions, "action")}, ${number(first)} to ${number(first + actions - 1)}`;
}

/** `it` where it is the only one, else `one of them`, `3 of them` */
function ofThem(some: number, { length }: readonly PlacedAction[]): string {
  return length === 1 ? "it" : `${some === 1 ? "one" : number(some)} of them`;
}

function kinds(actions: readonly PlacedAction[], once: boolean): string {
  return [...new Set(actions.map(({ action }) => action.action))]
    .filter((action) => (actionSpec(action).identity !== "history") === once)
    .join(", ");
}

/** `resales.csv:2 resoldTicket T1, userId gu…74, price 20.00, orderTime 1777658400` */
function describeDoubtful({ source, line, action }: PlacedAction, fields: readonly TellingField[]): string {
  const ids = idsOf(action).map((id) => cleanText(id));
  const told = fields.map(({ name, text }) => `${name} ${text}`);
  return [`${cleanText(source, 200)}:${line} ${[action.action, ...ids].join(" ")}`, ...told].join(", ");
}
