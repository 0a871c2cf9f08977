/** `--report`: has a command leave a page about what it did. */

import { resultsReportCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import { EXIT_CODES, Failure, firstThrown } from "../failure.ts";
import type { CheckedInput } from "../run/progress.ts";
import { writeWhole } from "../write/output-file.ts";
import type { Context, ReportNotes } from "./context.ts";
import type { Noted } from "./report.ts";

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
  const { reportPath } = await import("../run/report.ts");
  const path = await reportPath(context, report, asked);
  const startedAt = new Date();
  const { notes, noted } = takeNotes();
  const write = async (exitCode: number, failure?: Failure): Promise<void> => {
    const { commandReport } = await import("./report.ts");
    const { reportPage } = await import("../write/report/page.ts");
    const page = reportPage(await commandReport({ verb, startedAt, noted: noted(), exitCode, failure }, context));
    try {
      await writeWhole(path, page);
      context.reporter.info(`Report: ${displayPath(path, context.cwd)}`);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      sayUnwritten(cause, context);
    }
  };
  try {
    const exitCode = await command({ ...context, notes });
    await write(exitCode);
    return exitCode;
  } catch (thrown) {
    const failure = firstThrown(thrown);
    if (failure instanceof Failure) await write(EXIT_CODES[failure.code], failure);
    throw thrown;
  }
}

function takeNotes(): { readonly notes: ReportNotes; readonly noted: () => Noted } {
  let noted: Noted = { inputs: [], checked: undefined, end: undefined };
  const checked = (checked: CheckedInput): void => {
    noted = { ...noted, checked };
  };
  return {
    noted: () => noted,
    notes: {
      checked,
      happened(event) {
        if (event.kind === "inputs understood") noted = { ...noted, inputs: event.inputs };
        if (event.kind === "input checked") checked(event.checked);
        if (event.kind === "run ended") noted = { ...noted, end: event.end };
      },
    },
  };
}

function sayUnwritten({ message }: Failure, { reporter, trace: { summary, environment } }: Context): void {
  reporter.warn(`The report was not written. ${message} The command's result is not affected.`);
  if (summary?.run != null && environment !== undefined)
    reporter.info(`To write it: ${resultsReportCommand(summary.run, environment)}`);
}
