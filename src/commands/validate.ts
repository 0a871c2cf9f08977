/** `tickets validate`: check only, and `tickets plan`: also write what would be sent. */

import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { count, number } from "../actions/text.ts";
import { displayPath, loadConfig } from "../config/config.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { NOTHING_PENDING } from "../ledger/pending.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import { pendingIdentities } from "../plan/pending.ts";
import { planFiles } from "../plan/plan.ts";
import { type CheckedInput, checkInput, type InputOptions } from "../run/check-input.ts";
import { openLedgerToPlan } from "../run/ledger-to-read.ts";
import type { OnRow } from "../run/mappers.ts";
import { planDirectory } from "../run/places.ts";
import { KNOWN_RULES } from "../run/rules.ts";
import { tellOpened } from "../run/session.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { hasUnsentRows } from "../run/summary.ts";
import { makeTemporaryFolder } from "../run/temporary.ts";
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
  return withPlan(options, context, undefined, async ({ plan, problems }) => {
    if (options.json) {
      const shownProblems = problems.kept.slice(0, options.maxProblems ?? problems.kept.length);
      reporter.out(
        `${JSON.stringify({
          problems: shownProblems.map(({ source, line, pointer, rule, severity, field, value, message, hint }) => ({
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
            shown: shownProblems.length,
          },
        })}\n`,
      );
    }
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
  });
}

export interface PlanCommandOptions extends ValidateOptions {
  /** File for the actions; `-` or absent: standard output. */
  readonly output?: string | undefined;
  /** Show this many rows of each file beside their actions; then the actions are written only to a file. */
  readonly preview?: number | undefined;
}

/** Writes the actions, in order, as NDJSON that is itself valid input. */
export async function plan(options: PlanCommandOptions, context: Context): Promise<number> {
  const { reporter, verbose, cwd } = context;
  if (options.preview !== undefined && options.output === "-")
    throw new Failure("usage", "--preview writes to standard output, and so does -o -.", {
      hint: "Give the actions a file, or leave one of the two out.",
    });
  const preview = options.preview === undefined ? undefined : createPreview(options.preview);
  return withPlan(options, context, preview?.see, async ({ plan, problems }, directory) => {
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
    const kinds = Object.entries(plan.byAction).map(([action, times]) => `${number(times)} ${action}`);
    const told = `${describeRows(plan.rows)} → ${count(plan.actions.planned, "action")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}${plan.actions.alreadySent > 0 ? `, ${describeSent(plan)} left out` : ""}.`;
    if (options.json) {
      reporter.out(
        `${JSON.stringify({ rows: plan.rows, actions: plan.actions, byAction: plan.byAction, chunks: plan.manifest?.chunks.length ?? 0, problems: { errors: problems.errors, warnings: problems.warnings }, ...(plan.vanished !== undefined && { vanished: plan.vanished }), ...(seen !== undefined && { preview: seen }) })}\n`,
      );
    }
    if (plan.manifest === undefined) {
      reporter.error(`${told} Nothing was written.`);
      return EXIT_CODES["input-invalid"];
    }
    const actions = planFiles(directory).actions;
    if (options.output !== undefined && options.output !== "-") {
      const target = resolve(cwd, options.output);
      if (options.files.some((file) => resolve(cwd, file) === target)) {
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
      reporter.info(`${told} Written to ${displayPath(target, cwd)}.`);
    } else {
      if (!options.json && seen === undefined) await copyToOutput(actions, context);
      reporter.info(told);
    }
    return hasUnsentRows(plan.rows) ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
  });
}

/** Checks the input against a ledger only when an environment is named, and throws the plan away afterwards. */
async function withPlan(
  options: ValidateOptions,
  context: Context,
  onRow: OnRow | undefined,
  use: (checked: CheckedInput, directory: string) => Promise<number>,
): Promise<number> {
  context.trace.files = options.files;
  const named = options.env !== undefined || context.env.TICKETS_ENV !== undefined;
  const settings = named ? await loadSettings(runContextOf(context), options) : undefined;
  const config =
    settings?.config ??
    (await loadConfig({
      cwd: context.cwd,
      env: context.env,
      configFlag: options.config,
      knownRules: KNOWN_RULES,
      signal: context.stop,
    }));
  using ledger = settings === undefined ? undefined : openLedgerToPlan(context, settings.environment);
  if (settings !== undefined) tellOpened(runContextOf(context), { ...settings, ledger }, false);
  const directory = await makeTemporaryFolder();
  try {
    const plan = join(directory, "plan");
    const checked = await checkInput(runContextOf(context), {
      ...options,
      config,
      directory: plan,
      run: "validate",
      environment: settings && { environment: settings.environment, boundTo: "" },
      ledger,
      pending:
        ledger === undefined || settings === undefined
          ? NOTHING_PENDING
          : await pendingIdentities(ledger, (id) => planDirectory(settings.environment, id)),
      again: false,
      lanes: 1,
      copyInputs: false,
      rereadFlags: [],
      safeCsv: false,
      onRow,
    });
    const { rows, actions } = checked.plan;
    const { errors, warnings } = checked.problems;
    context.trace.counts = { rows, actions, problems: { errors, warnings } };
    return await use(checked, plan);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
