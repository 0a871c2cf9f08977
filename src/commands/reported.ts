/** `--report`: has a command leave a page about what it did. */

import { resultsReportCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import { EXIT_CODES, Failure, firstThrown } from "../failure.ts";
import { writeWhole } from "../write/output-file.ts";
import type { Context } from "./context.ts";

interface Asked {
  /** Where the page goes; without it, the command does what it does anyway. */
  readonly report: string | undefined;
  readonly verb: string;
  /** Files of the command that the page must not replace. */
  readonly taken: readonly (string | undefined)[];
  readonly isToSend: boolean;
}

/**
 * Carries a command out, and writes its report, also where it fails. The exit code is the command's: one whose report can't be
 * written says so.
 *
 * @throws Failure `usage` before anything else is done where the page has no place.
 */
export async function reported(
  { report, verb, ...asked }: Asked,
  context: Context,
  command: () => Promise<number>,
): Promise<number> {
  if (report === undefined) return command();
  // Loaded only here: few commands are asked for a report.
  const { reportPath } = await import("../run/report.ts");
  const path = await reportPath(context, report, asked);
  const startedAt = new Date();
  const write = async (exitCode: number, failure?: Failure): Promise<void> => {
    const { commandReport } = await import("./report.ts");
    const { reportPage } = await import("../write/report/page.ts");
    const page = reportPage(await commandReport({ verb, startedAt, exitCode, failure }, context));
    try {
      await writeWhole(path, page);
      context.reporter.info(`Report: ${displayPath(path, context.cwd)}`);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      sayUnwritten(cause, context);
    }
  };
  try {
    const exitCode = await command();
    await write(exitCode);
    return exitCode;
  } catch (thrown) {
    const failure = firstThrown(thrown);
    if (failure instanceof Failure) await write(EXIT_CODES[failure.code], failure);
    throw thrown;
  }
}

function sayUnwritten({ message }: Failure, { reporter, trace: { summary, environment } }: Context): void {
  reporter.warn(`The report was not written. ${message} The command's result is not affected.`);
  if (summary?.run != null && environment !== undefined)
    reporter.info(`To write it: ${resultsReportCommand(summary.run, environment)}`);
}
