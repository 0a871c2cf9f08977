/** `tickets validate`: check only, and `tickets plan`: also write what would be sent. */

import { createReadStream, createWriteStream } from "node:fs";
import { copyFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { count, number } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import type { PlanResult } from "../plan/planner.ts";
import type { InputOptions } from "../run/check-input.ts";
import type { CheckedInput } from "../run/checked-input.ts";
import { type EnvironmentOptions, loadSettingsToCheck } from "../run/settings.ts";
import { hasUnsentRows } from "../run/summary.ts";
import { plan as planInput, validate as validateInput } from "../run/validate.ts";
import type { Context } from "./context.ts";
import { copyToOutput } from "./json-lines.ts";
import { createPreview, describePreview } from "./preview.ts";
import { tellProblems, tellSkipped } from "./problems.ts";
import { runContextOf } from "./run-context.ts";
import { describeRows, describeSent, tellChanged, tellVanished } from "./summary.ts";

export interface ValidateOptions extends InputOptions, EnvironmentOptions {
  readonly json: boolean;
}

/** Problems shown on a terminal unless `--max-problems` says otherwise; `--json` gives all that were kept. */
const SHOWN = 50;

export async function validate(options: ValidateOptions, context: Context): Promise<number> {
  const { reporter, verbose } = context;
  const core = runContextOf(context);
  context.trace.files = options.files;
  const checked = await validateInput(core, { ...options, settings: await loadSettingsToCheck(core, options) });
  traceChecked(context, checked);
  const { plan, problems } = checked;
  if (options.json) reporter.out(`${JSON.stringify(toDocument(checked, options.maxProblems))}\n`);
  tellProblems(reporter, problems, {
    most: options.maxProblems ?? SHOWN,
    verbose,
    form: "block",
    heldFor: plan.heldFor,
  });
  tellSkipped(reporter, plan);
  const found = `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}; ${count(problems.errors, "error")}, ${count(problems.warnings, "warning")}.`;
  if (problems.errors > 0) {
    reporter.error(found);
    return EXIT_CODES["input-invalid"];
  }
  reporter.info(plan.rows.read === 0 ? `The input has no rows. ${found}` : `Valid. ${found}`);
  return EXIT_CODES.ok;
}

/** The document of `validate --json`. */
function toDocument({ plan, problems }: CheckedInput, most: number | undefined) {
  const shown = problems.kept.slice(0, most ?? problems.kept.length);
  return {
    problems: shown.map(({ source, line, pointer, rule, severity, field, value, message, hint }) => ({
      source,
      line,
      pointer,
      rule,
      severity,
      field,
      value,
      message,
      hint,
    })),
    counts: {
      rows: plan.rows,
      actions: plan.actions.total,
      errors: problems.errors,
      warnings: problems.warnings,
      shown: shown.length,
    },
  };
}

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
  traceChecked(context, checked);
  const { plan, problems } = checked;
  const seen = preview?.result(plan, problems.kept);
  if (seen !== undefined && !options.json) reporter.out(describePreview(seen, plan, verbose));
  tellProblems(reporter, problems, {
    most: options.maxProblems ?? SHOWN,
    verbose,
    form: "line",
    heldFor: plan.heldFor,
  });
  if (seen === undefined) tellSkipped(reporter, plan);
  tellChanged(reporter, plan, verbose, undefined);
  if (plan.vanished !== undefined) tellVanished(reporter, plan.vanished, plan.rows, undefined);
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
    const target = await writeActions(checked.actions, { ...options, output: options.output }, context);
    reporter.info(`${told} Written to ${displayPath(target, context.cwd)}.`);
  } else {
    if (!options.json && seen === undefined) await copyToOutput(checked.actions, context);
    reporter.info(told);
  }
  return hasUnsentRows(plan.rows) ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** `26 rows: 26 mapped → 20 actions (20 soldTicket), 6 already sent left out.` */
function describePlan(plan: PlanResult): string {
  const kinds = Object.entries(plan.byAction).map(([action, times]) => `${number(times)} ${action}`);
  return `${describeRows(plan.rows)} → ${count(plan.actions.planned, "action")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}${plan.actions.alreadySent > 0 ? `, ${describeSent(plan)} left out` : ""}.`;
}

/** Writes the actions to the file that is named, and says which that is. */
async function writeActions(
  actions: string,
  { output, files }: Pick<PlanCommandOptions, "files"> & { readonly output: string },
  { cwd }: Context,
): Promise<string> {
  const target = resolve(cwd, output);
  if (files.some((file) => resolve(cwd, file) === target)) {
    throw new Failure("usage", `${displayPath(target, cwd)} is one of the inputs; it is not overwritten.`, {
      hint: "Name another file with --output.",
    });
  }
  await makeWayFor(target);
  // Copying puts a file in the place of the target, or nothing: a device or a pipe is written to.
  const written = (await isPlainFile(target))
    ? copyFile(actions, target)
    : pipeline(createReadStream(actions), createWriteStream(target));
  await written.catch((cause: unknown) => Promise.reject(storageFailure(target, cause)));
  return target;
}

function traceChecked(
  { trace }: Context,
  { plan: { rows, actions }, problems: { errors, warnings } }: CheckedInput,
): void {
  trace.counts = { rows, actions, problems: { errors, warnings } };
}
