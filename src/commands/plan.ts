/** `tickets plan`: check, and write what would be sent. */

import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Plan } from "../plan/plan.ts";
import { exitCodeOfDone } from "../run/summary.ts";
import { count, displayPath, escapeUnseen, number } from "../text.ts";
import { refuseExisting, writeWhole } from "../write/output-file.ts";
import type { Context } from "./context.ts";
import { sayPending } from "./input-words.ts";
import type { Given, InputOptions } from "./options.ts";
import { createPreview, describePreview } from "./preview.ts";
import { reportProblems, reportSkipped } from "./problems.ts";
import { describeBack, describeRows } from "./summary.ts";
import { checkInput } from "./validate.ts";

/** `output`: without it, or `-`, the actions go to standard output. `preview`: then they are written only to a file. */
type PlanOptions = InputOptions & Pick<Given, "output" | "preview">;

/** Rows of each file that a preview shows. */
const PREVIEWED = 5;

/** Writes the actions, in order, as NDJSON that is itself valid input. */
export async function plan(options: PlanOptions, context: Context): Promise<number> {
  const { reporter, verbose, cwd } = context;
  // Elsewhere they go to standard output.
  const target = options.output === undefined || options.output === "-" ? undefined : resolve(cwd, options.output);
  if (target !== undefined) await refuseExisting(target, displayPath(target, cwd));
  if (options.preview !== undefined && options.output === "-")
    throw new Failure("usage", "--preview writes to standard output, and so does -o -.", {
      hint: "Give the actions a file, or leave one of the two out.",
    });
  const shown = options.preview === true ? PREVIEWED : options.preview;
  const preview = shown === undefined ? undefined : createPreview(shown);
  await using checked = await checkInput(options, context, preview?.see);
  const { plan, problems } = checked;
  const seen = preview?.result(problems.kept);
  if (seen !== undefined && !options.json) reporter.out(`${describePreview(seen, checked, verbose)}\n`);
  // Beside actions that a program reads, what was found is for people.
  const isOutputFree = !options.json && (seen !== undefined || target !== undefined);
  const messages = isOutputFree ? reporter.found : reporter;
  reportProblems(messages, checked, { verbose });
  reportSkipped(messages, plan);
  sayPending(messages, plan);
  const sentence = describePlan(plan);
  if (options.json) {
    const { rows, actions, byAction } = plan;
    const { errors, warnings } = problems;
    const document = { rows, actions, byAction, problems: { errors, warnings }, ...(seen && { preview: seen }) };
    reporter.out(`${JSON.stringify(document)}\n`);
  }
  if (plan.isRefused) {
    reporter.error(`${sentence} Nothing was written.`);
    return EXIT_CODES["input-invalid"];
  }
  if (target !== undefined) {
    await writeWhole(target, linesOf(plan), displayPath(target, cwd));
    reporter.info(`${sentence} Written to ${displayPath(target, cwd)}.`);
  } else {
    if (!options.json && seen === undefined) await copyToOutput(plan, context);
    reporter.info(sentence);
  }
  return exitCodeOfDone(plan, { isNews: checked.isNews, doubt: undefined });
}

/** `26 rows: 26 mapped → 20 actions (20 soldTicket); left out: 6 already sent.` */
function describePlan({ rows, actions, newByAction }: Plan): string {
  const kinds = Object.entries(newByAction).map(([action, times]) => `${number(times)} ${action}`);
  const back = describeBack(actions);
  return `${describeRows(rows)} → ${count(actions.new, "action")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}${back === "" ? "" : `; left out: ${back}`}.`;
}

/** The actions as lines of JSON, which are valid input. The plan writes no line end into an action. */
function* linesOf(plan: Plan): Generator<string> {
  for (const bodies of plan.bodies()) yield `${bodies.join("\n")}\n`;
}

/** JSON lines: their very bytes for a program, and for a terminal the same without what would steer it. */
async function copyToOutput(plan: Plan, { stdout }: Pick<Context, "stdout">): Promise<void> {
  const isTerminal = "isTTY" in stdout && stdout.isTTY === true;
  const lines = async function* (): AsyncGenerator<string> {
    for (const line of linesOf(plan)) yield isTerminal ? escapeUnseen(line) : line;
  };
  return pipeline(Readable.from(lines()), stdout, { end: false });
}
