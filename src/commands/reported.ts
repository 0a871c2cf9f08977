/** `--report` of a stream: a page about what it did. */

import { EXIT_CODES, Failure, firstThrown } from "../failure.ts";
import { resultsCommand } from "../next-command.ts";
import { displayPath } from "../text.ts";
import { writeWhole } from "../write/output-file.ts";
import type { Context } from "./context.ts";
import type { Given } from "./options.ts";
import type { Ended } from "./report.ts";

/**
 * Calls the command, and writes the page where one is asked for, also where it fails. The exit code is the command's, whatever
 * becomes of the page.
 *
 * @throws Failure `usage` before anything else is done where the page has no place.
 */
export async function reported(
  { report, output }: Pick<Given, "report" | "output">,
  context: Context,
  command: () => Promise<number>,
): Promise<number> {
  if (report === undefined) return command();
  // Loaded only here: few commands are asked for a report.
  const { reportPath } = await import("../run/report.ts");
  const path = await reportPath(context, report, { output, isToSend: true });
  const startedAt = new Date();
  try {
    const exitCode = await command();
    await write(path, { startedAt, exitCode, failure: undefined }, context);
    return exitCode;
  } catch (thrown) {
    const failure = firstThrown(thrown);
    if (failure instanceof Failure)
      await write(path, { startedAt, exitCode: EXIT_CODES[failure.code], failure }, context);
    throw thrown;
  }
}

async function write(path: string, ended: Ended, context: Context): Promise<void> {
  const { reporter, cwd, trace } = context;
  const { streamReport } = await import("./report.ts");
  const { reportPage } = await import("../write/report/page.ts");
  const page = reportPage(await streamReport(ended, context));
  try {
    await writeWhole(path, page);
    reporter.info(`Report: ${displayPath(path, cwd)}`);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    reporter.warn(`The report was not written. ${cause.message} The command's result is not affected.`);
    const { summary, environment } = trace;
    if (summary?.run != null && environment !== undefined)
      reporter.info(`To write it: ${resultsCommand(environment, summary.run, "--report", "FILE.html")}`);
  }
}
