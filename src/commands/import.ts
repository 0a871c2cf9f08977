/** `tickets results --import`: gives a lost or restored ledger its memory back from promises files. */

import { count } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { EXIT_CODES } from "../failure.ts";
import { importResults as importFile } from "../run/import.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

export interface ImportOptions extends EnvironmentOptions {
  readonly file: string;
  readonly waitLock: number;
}

export async function importResults(options: ImportOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  context.trace.files = [options.file];
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const { path, imported, runs, known, stillLost, onlyPromised } = await importFile(core, { ...options, settings });
  reporter.info(
    `${count(imported, "action")} of ${count(runs, "run")} imported from ${displayPath(path, cwd)}${known === 0 ? "" : `; ${count(known, "action")} ${known === 1 ? "was" : "were"} known already`}.`,
  );
  // What is missing after an import stops the next command, so it is told now.
  if (stillLost !== undefined) reporter.warn(stillLost.message);
  if (stillLost?.hint !== undefined) reporter.info(stillLost.hint);
  for (const run of onlyPromised)
    reporter.warn(
      `Of run ${run} only these promises are known. What of it was in doubt stands in no promises file, and would be sent again: if it was not all answered, look at what the service has first.`,
    );
  return EXIT_CODES.ok;
}
