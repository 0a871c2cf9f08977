/** `tickets validate`: check only. */

import { EXIT_CODES } from "../failure.ts";
import type { OnRow } from "../plan/reading.ts";
import type { CheckedInput } from "../run/context.ts";
import { loadSettingsToCheck } from "../run/settings.ts";
import { plan as planInput } from "../run/validate.ts";
import { count } from "../text.ts";
import type { Context, InputOptions } from "./context.ts";
import { runContextOf } from "./core.ts";
import { describeRows } from "./describe.ts";
import { sayFindings } from "./input-words.ts";

export async function validate(options: InputOptions, context: Context): Promise<number> {
  const { reporter, verbose } = context;
  using checked = await checkInput(options, context);
  const { plan, problems } = checked;
  if (options.json) reporter.document(toDocument(checked));
  const messages = options.json ? reporter : reporter.found;
  sayFindings(messages, checked, { verbose });
  const found = `${describeRows(plan.rows)} → ${count(plan.actions.total, "action")}; ${count(problems.errors, "error")}, ${count(problems.warnings, "warning")}.`;
  if (problems.errors > 0) {
    reporter.error(found);
    return EXIT_CODES["input-invalid"];
  }
  reporter.info(plan.rows.read === 0 ? `The input has no rows. ${found}` : `Valid. ${found}`);
  return EXIT_CODES.ok;
}

/** Checks the input; against an environment only if one is named. */
export async function checkInput(options: InputOptions, context: Context, onRow?: OnRow): ReturnType<typeof planInput> {
  const core = runContextOf(context);
  const settings = await loadSettingsToCheck(core, options);
  return planInput(core, { ...options, settings, onRow });
}

/** What `--json` has of a problem. */
const OF_PROBLEM = ["source", "line", "pointer", "rule", "severity", "field", "value", "message", "hint"] as const;

/** The document of `validate --json`. */
function toDocument({ plan, problems }: CheckedInput) {
  const shown = problems.kept;
  return {
    problems: shown.map((problem) => Object.fromEntries(OF_PROBLEM.map((name) => [name, problem[name]]))),
    counts: {
      rows: plan.rows,
      actions: plan.actions.total,
      errors: problems.errors,
      warnings: problems.warnings,
      shown: shown.length,
    },
  };
}
