/** `tickets resume` */

import { EXIT_CODES } from "../failure.ts";
import { type ResumeSettings, resume as resumeRun } from "../run/resume.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { reported } from "./reported.ts";
import { openSettings } from "./run-context.ts";
import { traceSummary } from "./trace.ts";

export interface ResumeOptions extends EnvironmentOptions, Omit<ResumeSettings, "environment" | "startedAt"> {
  readonly json: boolean;
  /** File for a page about the run. */
  readonly report?: string | undefined;
}

export function resume(options: ResumeOptions, context: Context): Promise<number> {
  const asked = { report: options.report, verb: "resume", taken: [], isToSend: true };
  return reported(asked, context, () => resumeAndReport(options, context));
}

async function resumeAndReport(options: ResumeOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  const { core, environment } = await openSettings(context, options);
  const end = await resumeRun(core, { ...options, environment, startedAt });
  if (end === undefined) {
    // It says nothing about how the last night went.
    trace.isKept = false;
    if (options.json) reporter.out("null\n");
    reporter.info(
      options.run === undefined ? "No run is unfinished." : `Nothing of run ${options.run} is left to send.`,
    );
    return EXIT_CODES.ok;
  }
  const { summary } = end;
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  traceSummary(trace, summary);
  if (environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}
