/** `tickets plan`: check, and write what would be sent. */

import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Plan } from "../plan/plan.ts";
import type { CheckedInput } from "../run/context.ts";
import { exitCodeOfDone } from "../run/summary.ts";
import { count, displayPath, escapeUnseen, number } from "../text.ts";
import { refuseExisting, writeWhole } from "../write/output-file.ts";
import type { AllOptions, Context, InputOptions } from "./context.ts";
import { describeBack, describeRows } from "./describe.ts";
import { sayFindings } from "./input-words.ts";
import { columnsOf } from "./layout.ts";
import { createPreview, describePreview, type PreviewDocument } from "./preview.ts";
import { checkInput } from "./validate.ts";

/** `output`: without it, or `-`, the actions go to standard output. `preview`: then they are written only to a file. */
type PlanOptions = InputOptions & Pick<AllOptions, "output" | "preview">;

/** Rows of each file that a preview shows. */
const PREVIEWED = 5;

/** Writes the actions, in order, as NDJSON that is itself valid input. */
export async function plan(options: PlanOptions, context: Context): Promise<number> {
  const { reporter, verbose, cwd, stdout } = context;
  const { output, json, preview } = options;
  if (preview !== undefined && output === "-")
    throw new Failure("usage", "--preview writes to standard output, and so does -o -.", {
      hint: "Give the actions a file, or leave one of the two out.",
    });
  const target = output === undefined || output === "-" ? undefined : resolve(cwd, output);
  const shown = target === undefined ? "" : displayPath(target, cwd);
  if (target !== undefined) await refuseExisting(target, shown);
  const watch = preview === undefined ? undefined : createPreview(preview === true ? PREVIEWED : preview);
  using checked = await checkInput(options, context, watch?.see);
  const { plan, problems } = checked;
  const previewed = watch?.result(problems.kept);
  if (json) reporter.document(toDocument(checked, previewed));
  else if (previewed !== undefined)
    reporter.show(`${describePreview(previewed, checked, { verbose, columns: columnsOf(stdout) })}\n`);
  // Programs read either the actions or the document from standard output.
  const writesActions = !json && previewed === undefined && target === undefined;
  const messages = json || writesActions ? reporter : reporter.found;
  sayFindings(messages, checked, { verbose });
  if (plan.isRefused) {
    reporter.error(`${describePlan(plan)} Nothing was written.`);
    return EXIT_CODES["input-invalid"];
  }
  if (target !== undefined) await writeWhole(target, linesOf(plan), shown);
  else if (writesActions) await copyToOutput(plan, context);
  reporter.info(`${describePlan(plan)}${target === undefined ? "" : ` Written to ${shown}.`}`);
  return exitCodeOfDone(plan, { isNews: checked.isNews, doubt: undefined });
}

/** The document of `plan --json`. */
function toDocument({ plan, problems: { errors, warnings } }: CheckedInput, preview: PreviewDocument | undefined) {
  const { rows, actions, byAction } = plan;
  return { rows, actions, byAction, problems: { errors, warnings }, ...(preview && { preview }) };
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

/** JSON lines, byte by byte; for a terminal, without what would steer it. */
async function copyToOutput(plan: Plan, { stdout }: Pick<Context, "stdout">): Promise<void> {
  const isTerminal = "isTTY" in stdout && stdout.isTTY === true;
  const lines = async function* (): AsyncGenerator<string> {
    for (const line of linesOf(plan)) yield isTerminal ? escapeUnseen(line) : line;
  };
  return pipeline(Readable.from(lines()), stdout, { end: false });
}
