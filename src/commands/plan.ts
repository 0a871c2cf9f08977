/** `tickets plan`: check, and write what would be sent. */

import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { count, displayPath, escapeUnseen, number } from "../actions/text.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { PlanResult } from "../plan/make-plan.ts";
import { createPreview } from "../run/preview.ts";
import { loadSettingsToCheck } from "../run/settings.ts";
import { hasUnsentRows } from "../run/summary.ts";
import { plan as planInput } from "../run/validate.ts";
import { writeActions } from "../run/write-actions.ts";
import type { Context } from "./context.ts";
import { describePreview } from "./preview.ts";
import { PROBLEMS_SHOWN, tellProblems, tellSkipped } from "./problems.ts";
import { runContextOf } from "./run-context.ts";
import { describeRows, describeSent, tellChanged, tellVanished } from "./summary.ts";
import { traceChecked } from "./trace.ts";
import type { ValidateOptions } from "./validate.ts";
import { describeWaiting, tellWaiting } from "./waiting-words.ts";

export interface PlanCommandOptions extends ValidateOptions {
  /** File for the actions; `-` or absent: standard output. */
  readonly output?: string | undefined;
  /** Show this many rows of each file beside their actions; then the actions are written only to a file. */
  readonly preview?: number | undefined;
}

/** Writes the actions, in order, as NDJSON that is itself valid input. */
export async function plan(options: PlanCommandOptions, context: Context): Promise<number> {
  const { reporter, verbose } = context;
  if (options.preview !== undefined && options.output === "-")
    throw new Failure("usage", "--preview writes to standard output, and so does -o -.", {
      hint: "Give the actions a file, or leave one of the two out.",
    });
  const preview = options.preview === undefined ? undefined : createPreview(options.preview);
  const core = runContextOf(context);
  context.trace.files = options.files;
  const settings = await loadSettingsToCheck(core, options);
  await using checked = await planInput(core, { ...options, settings, onRow: preview?.see });
  traceChecked(context.trace, checked);
  const { plan, problems } = checked;
  const seen = preview?.result(plan, problems.kept);
  if (seen !== undefined && !options.json) reporter.out(describePreview(seen, plan, verbose));
  tellProblems(reporter, problems, {
    most: options.maxProblems ?? PROBLEMS_SHOWN,
    verbose,
    form: "line",
    heldFor: plan.heldFor,
  });
  if (seen === undefined) tellSkipped(reporter, plan);
  tellChanged(reporter, plan, verbose, undefined);
  if (plan.vanished !== undefined) tellVanished(reporter, plan.vanished, plan.rows, undefined);
  tellWaiting(reporter, plan, { most: options.maxProblems, verbose });
  const told = describePlan(plan);
  if (options.json) {
    reporter.out(
      `${JSON.stringify({ rows: plan.rows, actions: plan.actions, byAction: plan.byAction, chunks: plan.manifest?.chunks.length ?? 0, problems: { errors: problems.errors, warnings: problems.warnings }, ...(plan.vanished !== undefined && { vanished: plan.vanished }), ...(seen !== undefined && { preview: seen }) })}\n`,
    );
  }
  if (plan.manifest === undefined) {
    reporter.error(`${told} Nothing was written.`);
    return EXIT_CODES["input-invalid"];
  }
  if (options.output !== undefined && options.output !== "-") {
    const target = await writeActions(
      context,
      checked.actions,
      options.output,
      checked.files.map(({ path }) => path),
    );
    reporter.info(`${told} Written to ${displayPath(target, context.cwd)}.`);
  } else {
    if (!options.json && seen === undefined) await copyToOutput(checked.actions, context);
    reporter.info(told);
  }
  return hasUnsentRows(plan.rows) ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** `26 rows: 26 mapped → 20 actions (20 soldTicket), 6 already sent left out.` */
function describePlan(plan: PlanResult): string {
  const kinds = Object.entries(plan.plannedByAction).map(([action, times]) => `${number(times)} ${action}`);
  const waiting = describeWaiting(plan);
  return `${describeRows(plan.rows)} → ${count(plan.actions.planned, "action")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}${plan.actions.alreadySent > 0 ? `, ${describeSent(plan)} left out` : ""}${waiting === "" ? "" : `, ${waiting}`}.`;
}

/** JSON lines: their very bytes for a program, and for a terminal the same without what would steer it. */
async function copyToOutput(path: string, { stdout }: Pick<Context, "stdout">): Promise<void> {
  if (!("isTTY" in stdout) || stdout.isTTY !== true) return pipeline(createReadStream(path), stdout, { end: false });
  const escaped = async function* (parts: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const part of parts) yield escapeUnseen(part);
  };
  return pipeline(createReadStream(path, "utf8"), escaped, stdout, { end: false });
}
