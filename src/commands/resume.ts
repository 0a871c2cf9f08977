/** `tickets resume` */

import { EXIT_CODES } from "../failure.ts";
import { resume as resumeRun } from "../run/carry-out.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { endSending } from "./run-end.ts";

type ResumeOptions = Options<"run" | "maxDuration" | "waitLock" | "json">;

export async function resume(options: ResumeOptions, context: Context): Promise<number> {
  const { reporter, trace } = context;
  trace.isKept = true;
  const { core, environment } = await openSettings(context, options);
  const end = await resumeRun(core, { ...options, environment });
  if (end === undefined) {
    // It says nothing about how the last night went.
    trace.isKept = false;
    if (options.json) reporter.document(null);
    reporter.info(
      options.run === undefined
        ? "Nothing to resume: no run is open."
        : `Nothing of run ${options.run} is left to send.`,
    );
    return EXIT_CODES.ok;
  }
  return endSending(end.summary, environment, options, context);
}
