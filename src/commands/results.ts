/** `tickets results`: the promises of a run, written again. */

import { count } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { EXIT_CODES } from "../failure.ts";
import { writeResults } from "../run/results.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

export interface ResultsOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly output: string | undefined;
  readonly force: boolean;
  readonly safeCsv: boolean;
}

/** Writes the promises of a run again, from the ledger, in any format. Without a run: of all, oldest first. */
export async function results(options: ResultsOptions, context: Context): Promise<number> {
  const { reporter, cwd, stdout } = context;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const to = options.output === undefined || options.output === "-" ? stdout : options.output;
  const { lines, path } = await writeResults(core, { ...options, settings, to });
  if (path !== undefined) reporter.info(`${count(lines, "line")} written to ${displayPath(path, cwd)}.`);
  return EXIT_CODES.ok;
}
