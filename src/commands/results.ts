/** `tickets results`: writes the promises of a run again; with `--follow`, as they come; with `--import`, refills a ledger from them. */

import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { statusCommand } from "../next-command.ts";
import { lostRunsOf } from "../run/lost-ledger.ts";
import { knownLedgerOf } from "../run/open.ts";
import { followResults, importResults as importFiles } from "../run/results.ts";
import { hasPromises, runOfResults } from "../run/runs.ts";
import { cleanText, count, displayPath } from "../text.ts";
import { refuseExisting, writeWhole } from "../write/output-file.ts";
import { styleOf } from "../write/promise-file.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../write/promises.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { describeActions, listOf } from "./describe.ts";
import { failureText, sayFailure } from "./reporter.ts";

/** With `report`, promises are written only to a file that is named. */
type ResultsOptions = Options<"run" | "all" | "output" | "report">;

/** Writes the promises of a run again, from the ledger, in any format. */
export async function results(options: ResultsOptions, context: Context): Promise<number> {
  const { report, output, run } = options;
  const { environment } = await openSettings(context, options, "any");
  if (report !== undefined) {
    const { reportPath } = await import("../write/report/page.ts");
    const { writeRunReport } = await import("./report.ts");
    const path = await reportPath(context, report, { output, isToSend: false });
    await writeRunReport(path, run, environment, context);
    if (output === undefined) return EXIT_CODES.ok;
  }
  return writePromises(environment, options, context);
}

async function writePromises(environment: Environment, options: ResultsOptions, context: Context): Promise<number> {
  const { all, run: id, output } = options;
  const { reporter, cwd, stdout } = context;
  const { safeCsv } = environment;
  await using ledger = await knownLedgerOf(environment, cwd);
  const problem = await lostRunsOf(environment, ledger, cwd);
  const runs = all ? (await ledger.runs()).filter(hasPromises) : [await runOfResults(ledger, id, environment)];
  // Looked up before the lines are read: a running command may decide more meanwhile, and that may have no line either.
  const undecided = await undecidedOf(ledger, runs, environment);
  if (output === undefined || output === "-")
    await pipeline(Readable.from(linesOf(ledger, runs, undefined, safeCsv)), stdout, { end: false });
  else {
    const path = resolve(cwd, output);
    const shown = displayPath(path, cwd);
    await refuseExisting(path, shown);
    let lines = 0;
    const counted = async function* (): AsyncGenerator<string> {
      yield promisesHeader(promiseFormat(path), safeCsv);
      for await (const text of linesOf(ledger, runs, path, safeCsv)) {
        lines += text.split("\n").length - 1;
        yield text;
      }
    };
    await writeWhole(path, counted(), shown);
    const ofRuns = runs.length !== 1 ? count(runs.length, "run") : `run ${runs[0]?.run}`;
    reporter.info(`${count(lines, "line")} of ${ofRuns} written to ${shown}.`);
  }
  for (const sentence of undecided) reporter.warn(sentence);
  return sayFailure(problem, reporter);
}

/** The lines of the promises, those of a chunk at a time. */
async function* linesOf(
  ledger: Ledger,
  runs: readonly Run[],
  path: string | undefined,
  safeCsv: boolean,
): AsyncGenerator<string> {
  for (const run of runs)
    for (const { chunk } of await ledger.chunks(run.number)) {
      const text = promiseLines(await ledger.outcomes(run.number, chunk), styleOf(run, path, safeCsv));
      if (text !== "") yield text;
    }
}

/** `Run 4ba62e61 is not finished, so some actions have no line yet: 10 in doubt, 20 not sent. …` */
async function undecidedOf(ledger: Ledger, runs: readonly Run[], environment: Environment): Promise<readonly string[]> {
  const undecided = [];
  for (const { number, run, state } of runs) {
    const { inDoubt, inFlight, refused, notSent } = await ledger.counts(number);
    if (inDoubt + inFlight + refused === 0 && state !== "open") continue;
    const open = listOf({ "in doubt": inDoubt, "in flight": inFlight, refused, "not sent": notSent });
    undecided.push(
      `Run ${run} is not finished, so some actions have no line yet: ${open}. Look: ${statusCommand(environment, run)}`,
    );
  }
  return undecided;
}

/** Refills a lost or restored ledger from promises files. */
export async function importResults(options: Options<"files" | "waitLock">, context: Context): Promise<number> {
  const { reporter, trace } = context;
  const { files, waitLock } = options;
  trace.isKept = true;
  trace.files = files;
  const { core, environment } = await openSettings(context, options, "any");
  const imported = await importFiles(core, { environment, files, waitLock });
  for (const { file: name, entered, known, runs, torn } of imported.files) {
    const file = cleanText(name, 300);
    const before = known === 0 ? "" : `; ${count(known, "action")} ${known === 1 ? "was" : "were"} known already`;
    reporter.info(
      `${entered === 0 ? "Nothing" : `${count(entered, "action")} of ${count(runs.length, "run")}`} imported from ${file}${before}.`,
    );
    if (torn !== undefined)
      reporter.warn(
        `${file} ends in the middle of a line, probably after a power cut. The action on that line was sent, but can't be imported, so it would be sent again. Check whether the service has it. The line: ${cleanText(torn, 200)}`,
      );
  }
  const { problem } = imported;
  if (problem !== undefined) reporter.warn(failureText(problem));
  reporter.warn("Promises files do not list doubts. If any of these runs had one, check first what the service has.");
  return EXIT_CODES.ok;
}

/** Writes the promises of published runs into their files while workers send them. */
export async function follow(options: Options<"run" | "json">, context: Context): Promise<number> {
  const { reporter, trace } = context;
  trace.isKept = true;
  const { core, environment } = await openSettings(context, options);
  const ends = await followResults(core, { environment, run: options.run });
  for (const { summary } of ends)
    reporter.info(`Run ${summary.run} is ${summary.state}: ${describeActions(summary.actions)}.`);
  if (ends.length === 0) reporter.info("No run is open, and every promise is written.");
  if (options.json) reporter.document({ runs: ends.map(({ summary }) => summary) });
  return Math.max(EXIT_CODES.ok, ...ends.map(({ summary }) => summary.exitCode));
}
