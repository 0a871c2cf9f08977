/** `tickets prune`: gives disk back that nothing needs any more. Neither the ledger nor the list of runs is ever touched. */

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { number } from "../actions/text.ts";
import { formatDuration } from "../config/duration.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { acquireLock } from "../ledger/lock.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { readRunList } from "../ledger/run-list.ts";
import { listRuns } from "../ledger/runs.ts";
import { planFiles } from "../plan/plan.ts";
import { endedPlans } from "../run/ended-plans.ts";
import { lostRunsFailure, lostRunsOf } from "../run/lost-runs.ts";
import { lockPath, runsDirectory } from "../run/places.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { leftTemporaryFolders } from "../run/temporary.ts";
import type { Context } from "./context.ts";
import { bytesIn, describeBytes } from "./disk.ts";
import { runContextOf } from "./run-context.ts";

export interface PruneOptions extends EnvironmentOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly waitLock: number;
}

/** What may go, and why it is there. */
interface Removable {
  readonly path: string;
  readonly what: "plan of an ended run" | "plan that never became a run" | "temporary folder";
  readonly bytes: number;
}

export async function prune(options: PruneOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { olderThan, dryRun } = options;
  const { environment } = await loadSettings(runContextOf(context), options, "any");
  using _lock = await acquireLock({
    what: `the ledger of ${environment.name}`,
    path: lockPath(environment),
    command: "tickets prune",
    waitMs: options.waitLock,
    signal: context.stop,
  });
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = existsSync(environment.ledgerPath)
    ? openLedger({ path: environment.ledgerPath, boundTo: undefined, readOnly: true })
    : undefined;
  // The folders of runs that a ledger lacks may be all that is left of them.
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  if (lost.length > 0) throw lostRunsFailure(lost, environment, cwd);

  const before = Date.now() - olderThan;
  const removable = [
    ...(ledger === undefined ? [] : plansToRemove(environment, ledger, before)),
    ...leftTemporaryFolders(before).map((path) => toRemove(path, "temporary folder")),
  ];
  if (!dryRun) for (const { path } of removable) await rm(path, { recursive: true, force: true });

  const bytes = removable.reduce((sum, each) => sum + each.bytes, 0);
  for (const [what, some] of Map.groupBy(removable, (each) => each.what))
    reporter.info(
      `${some.length === 1 ? `1 ${what}` : `${number(some.length)} ${SEVERAL[what]}`}: ${describeBytes(sumOf(some))}`,
    );
  reporter.info(
    removable.length === 0
      ? `Nothing of ${environment.name} is older than ${formatDuration(olderThan)} and not needed any more.`
      : dryRun
        ? `${describeBytes(bytes)} would be given back; nothing was removed.`
        : `${describeBytes(bytes)} given back.`,
  );
  if (options.json) reporter.out(`${JSON.stringify({ dryRun, bytes, removed: removable })}\n`);
  return EXIT_CODES.ok;
}

const sumOf = (some: readonly Removable[]): number => some.reduce((sum, { bytes }) => sum + bytes, 0);

const SEVERAL: Readonly<Record<Removable["what"], string>> = {
  "plan of an ended run": "plans of ended runs",
  "plan that never became a run": "plans that never became runs",
  "temporary folder": "temporary folders",
};

const toRemove = (path: string, what: Removable["what"]): Removable => ({ path, what, bytes: bytesIn(path) });

/** Whoever asks holds the lock, so a plan without a manifest is not being made. */
function plansToRemove(environment: Environment, ledger: Ledger, before: number): readonly Removable[] {
  const directory = runsDirectory(environment);
  const known = new Set(listRuns(ledger).map(({ run }) => run));
  const strays = (existsSync(directory) ? readdirSync(directory) : [])
    .filter((name) => !known.has(name))
    .map((name) => join(directory, name))
    .filter((path) => {
      const manifest = lstatSync(planFiles(path).manifest, { throwIfNoEntry: false });
      return (manifest ?? lstatSync(path)).mtimeMs < before;
    });
  return [
    ...endedPlans(environment, ledger, before).map((path) => toRemove(path, "plan of an ended run")),
    ...strays.map((path) => toRemove(path, "plan that never became a run")),
  ];
}
