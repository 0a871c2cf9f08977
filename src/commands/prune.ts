/** `tickets prune`: frees disk space that nothing needs any more. */

import { number } from "../actions/text.ts";
import { formatDuration } from "../config/duration.ts";
import { EXIT_CODES } from "../failure.ts";
import { type PruneSettings, prune as pruneEnvironment, type Removable } from "../run/prune.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";
import { describeBytes } from "./words.ts";

export interface PruneOptions extends EnvironmentOptions, Omit<PruneSettings, "settings"> {
  readonly json: boolean;
}

export async function prune(options: PruneOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { olderThan, dryRun } = options;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "any");
  const removed = await pruneEnvironment(core, { ...options, settings });
  const bytes = sumOf(removed);
  for (const [what, some] of Map.groupBy(removed, (each) => each.what))
    reporter.info(
      `${some.length === 1 ? `1 ${what}` : `${number(some.length)} ${SEVERAL[what]}`}: ${describeBytes(sumOf(some))}`,
    );
  reporter.info(
    removed.length === 0
      ? `${settings.environment.name} has nothing to remove that is older than ${formatDuration(olderThan)}.`
      : dryRun
        ? `${describeBytes(bytes)} would be freed; nothing was removed.`
        : `${describeBytes(bytes)} freed.`,
  );
  if (options.json) reporter.out(`${JSON.stringify({ dryRun, bytes, removed })}\n`);
  return EXIT_CODES.ok;
}

const sumOf = (some: readonly Removable[]): number => some.reduce((sum, { bytes }) => sum + bytes, 0);

const SEVERAL: Readonly<Record<Removable["what"], string>> = {
  "plan of an ended run": "plans of ended runs",
  "plan of an ended run in the ledger": "plans of ended runs in the ledger",
  "plan that never became a run": "plans that never became runs",
  "temporary folder": "temporary folders",
};
