/** `tickets resume` */

import { EXIT_CODES } from "../failure.ts";
import { type ResumeSettings, resume as resumeRun } from "../run/resume.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";
import { traceSummary } from "./trace.ts";

export interface ResumeOptions extends EnvironmentOptions, Omit<ResumeSettings, "settings" | "startedAt"> {
  readonly json: boolean;
}

export async function resume(options: ResumeOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "to send");
  const end = await resumeRun(core, { ...options, settings, startedAt });
  if (end === undefined) {
    reporter.info("No run is unfinished.");
    return EXIT_CODES.ok;
  }
  const { summary, environment } = end;
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  traceSummary(trace, summary);
  if (environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}
