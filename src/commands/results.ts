/** `tickets results`: writes the promises of a run again; with `--import`, refills a ledger from them. */

import { statusCommand } from "../actions/next-command.ts";
import { cleanText, count, displayPath, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { type ImportSettings, importResults as importFile } from "../run/import.ts";
import { hasLedger } from "../run/ledger-of.ts";
import { noLedger } from "../run/ledger-to-read.ts";
import { reportPath, writeReport } from "../run/report-file.ts";
import { type ResultsSettings, type UndecidedRun, writeResults } from "../run/results.ts";
import { unknownRun } from "../run/resume.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

export interface ResultsOptions extends EnvironmentOptions, Omit<ResultsSettings, "settings" | "to"> {
  readonly output?: string | undefined;
  /** File for a page about the run; promises are written then only to a file that is named. */
  readonly report?: string | undefined;
}

/** Writes the promises of a run again, from the ledger, in any format. Without a run: of all, oldest first. */
export async function results(options: ResultsOptions, context: Context): Promise<number> {
  if (options.report === undefined) return writePromises(options, context);
  const { report: file, run, output } = options;
  const path = await reportPath(context, file, { taken: [output], isToSend: false });
  await reportRun(run ?? "", path, options, context);
  return output === undefined ? EXIT_CODES.ok : writePromises(options, context);
}

/** Writes a page about one run, as the ledger knows it. */
async function reportRun(run: string, path: string, options: ResultsOptions, context: Context): Promise<void> {
  const { cwd, reporter } = context;
  const { environment } = await loadSettings(runContextOf(context), options, "any");
  const { runFigures } = await import("../run/report-figures.ts");
  const { runReport } = await import("./report.ts");
  const { reportPage } = await import("../outputs/report/page.ts");
  if (!(await hasLedger(environment))) throw noLedger(environment, cwd);
  const figures = await runFigures(environment, run);
  if (figures === undefined) throw unknownRun(run, environment);
  const problem = await writeReport(path, reportPage(runReport(figures, environment, context)));
  if (problem !== undefined) throw problem;
  reporter.info(`Report: ${displayPath(path, cwd)}`);
}

async function writePromises(options: ResultsOptions, context: Context): Promise<number> {
  const { reporter, cwd, stdout } = context;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const to = options.output === undefined || options.output === "-" ? stdout : options.output;
  const { lines, path, undecided, problem } = await writeResults(core, { ...options, settings, to });
  if (path !== undefined) reporter.info(`${count(lines, "line")} written to ${displayPath(path, cwd)}.`);
  for (const run of undecided) reporter.warn(describeUndecided(run, settings.environment));
  if (problem === undefined) return EXIT_CODES.ok;
  reporter.error(problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`);
  return EXIT_CODES.usage;
}

/** `Run 4ba62e61 is not finished, and what is open of it has no line: 10 in doubt, 20 not sent. …` */
function describeUndecided({ run, inDoubt, refused, notSent }: UndecidedRun, environment: Environment): string {
  const parts = [
    [inDoubt, "in doubt"],
    [refused, "refused"],
    [notSent, "not sent"],
  ] as const;
  const told = parts.filter(([n]) => n > 0).map(([n, what]) => `${number(n)} ${what}`);
  return `Run ${run} is not finished, and what is open of it has no line: ${told.join(", ")}. Look: ${statusCommand(environment, run)}`;
}

export interface ImportOptions extends EnvironmentOptions, Omit<ImportSettings, "settings"> {
  readonly run?: string | undefined;
}

/** Refills a lost or restored ledger from a promises file. */
export async function importResults(options: ImportOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { run: name } = options;
  if (name !== undefined)
    throw new Failure("usage", `--import reads all promises of a file, not those of the run ${cleanText(name, 64)}.`, {
      hint: "Leave the run out.",
    });
  context.trace.files = [options.file];
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const { path, imported, runs, known, stillLost, onlyPromised } = await importFile(core, { ...options, settings });
  const alreadyKnown = known === 0 ? "" : `; ${count(known, "action")} ${known === 1 ? "was" : "were"} known already`;
  reporter.info(
    `${imported === 0 ? "Nothing" : `${count(imported, "action")} of ${count(runs, "run")}`} imported from ${displayPath(path, cwd)}${alreadyKnown}.`,
  );
  // What is missing after an import stops the next command, so it is reported now.
  if (stillLost !== undefined) reporter.warn(stillLost.message);
  if (stillLost?.hint !== undefined) reporter.info(stillLost.hint);
  for (const run of onlyPromised)
    reporter.warn(
      `Only these promises of run ${run} are known. No promises file holds what was in doubt, so that would be sent again: unless the whole run was answered, look first at what the service has.`,
    );
  return EXIT_CODES.ok;
}
