/** `--report`: has a command leave a page about what it did. */

import { resultsReportCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import { Failure, firstThrown } from "../failure.ts";
import type { Context } from "./context.ts";
import type { Noted } from "./report-notes.ts";

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
  command: (context: Context) => Promise<number>,
): Promise<number> {
  if (report === undefined) return command(context);
  // Loaded only here: few commands are asked for a report.
  const { reportPath, writeReport } = await import("../run/report.ts");
  const { takeNotes } = await import("./report-notes.ts");
  const path = await reportPath(context, report, asked);
  const { notes, noted, reporter } = takeNotes(context.reporter);
  const startedAt = new Date();
  const write = async (ended: { readonly exitCode: number } | { readonly failure: Failure }): Promise<void> => {
    const { commandReport } = await import("./report.ts");
    const { reportPage } = await import("../write/report/page.ts");
    const page = reportPage(await commandReport({ verb, startedAt, noted: noted(), ...ended }, context));
    const problem = await writeReport(path, page);
    if (problem === undefined) context.reporter.info(`Report: ${displayPath(path, context.cwd)}`);
    else tellUnwritten(problem, noted(), context);
  };
  try {
    const exitCode = await command({ ...context, reporter, notes });
    await write({ exitCode });
    return exitCode;
  } catch (thrown) {
    const failure = firstThrown(thrown);
    if (failure instanceof Failure) await write({ failure });
    throw thrown;
  }
}

function tellUnwritten({ message }: Failure, { summary, opened }: Noted, { reporter }: Context): void {
  reporter.warn(`The report was not written. ${message} What the command came to is not changed by that.`);
  if (summary?.run != null && opened !== undefined)
    reporter.info(`To write it: ${resultsReportCommand(summary.run, opened.environment)}`);
}
