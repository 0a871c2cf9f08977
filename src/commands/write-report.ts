/** The page that `--report` of a stream asks for, written once it is known how the command ended. */

import { Failure } from "../failure.ts";
import { resultsCommand } from "../next-command.ts";
import { displayPath } from "../text.ts";
import { writeWhole } from "../write/output-file.ts";
import { reportPage } from "../write/report/page.ts";
import type { Context } from "./context.ts";
import { type Ended, streamReport } from "./report.ts";

/** Where the page can't be written, that is a warning: the exit code is the command's. */
export async function writeReport(path: string, ended: Ended, context: Context): Promise<void> {
  const { reporter, cwd, trace } = context;
  try {
    await writeWhole(path, reportPage(await streamReport(ended, context)));
    reporter.info(`Report: ${displayPath(path, cwd)}`);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    reporter.warn(`The report was not written. ${cause.message} The command's result is not affected.`);
    const { summary, environment } = trace;
    if (summary?.run != null && environment !== undefined)
      reporter.info(`To write it: ${resultsCommand(environment, summary.run, "--report", "FILE.html")}`);
  }
}
