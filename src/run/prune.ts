/** Frees disk space. Never touches the ledger or the list of runs. */

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { readRunList } from "../ledger/run-list.ts";
import { isFullyWritten, isUndecided, listRuns } from "../ledger/runs.ts";
import { planFiles } from "../plan/files/plan.ts";
import type { RunContext } from "./context.ts";
import { bytesIn } from "./disk-use.ts";
import { findLedgerOf, lockLedger } from "./ledger-of.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import { planDirectory, runsDirectory } from "./places.ts";
import type { Settings } from "./settings.ts";
import { leftTemporaryFolders } from "./temporary.ts";

export interface PruneSettings {
  readonly settings: Pick<Settings, "environment">;
  /** Milliseconds. */
  readonly olderThan: number;
  /** Remove nothing. */
  readonly dryRun: boolean;
  readonly waitLock: number;
}

/** What may be removed, and what it is. */
export interface Removable {
  readonly path: string;
  readonly what: "plan of an ended run" | "plan that never became a run" | "temporary folder";
  readonly bytes: number;
}

/**
 * Removes plans and temporary folders that nothing needs any more.
 *
 * @returns what was removed; with `dryRun`, what would be.
 * @throws Failure `usage` when the ledger lacks runs that were sent from here; `busy` while another run holds the lock.
 */
export async function prune(
  context: RunContext,
  { settings: { environment }, olderThan, dryRun, waitLock }: PruneSettings,
): Promise<readonly Removable[]> {
  using _lock = await lockLedger(context, environment, "tickets prune", waitLock);
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = await findLedgerOf(environment, undefined);
  // The folder of a run that the ledger lacks may be all that is left of it.
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  if (lost.length > 0) throw await lostRunsFailure(lost, environment, context.cwd);

  const before = Date.now() - olderThan;
  const removable = [
    ...(ledger === undefined ? [] : plansToRemove(environment, ledger, before)),
    ...leftTemporaryFolders(before).map((path) => toRemove(path, "temporary folder")),
  ];
  if (!dryRun) for (const { path } of removable) await rm(path, { recursive: true, force: true });
  return removable;
}

const toRemove = (path: string, what: Removable["what"]): Removable => ({ path, what, bytes: bytesIn(path) });

/** The caller holds the lock, so a plan without a manifest is not just being made. */
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

/**
 * Folders of runs that ended before `before` (milliseconds since 1970), with every outcome in the ledger and all outputs and
 * rejects written.
 */
export function endedPlans(environment: Environment, ledger: Ledger, before: number): readonly string[] {
  return listRuns(ledger)
    .filter(({ state, endedAt }) => state !== "open" && endedAt !== undefined && Date.parse(endedAt) < before)
    .filter(({ runNo }) => !isUndecided(ledger, runNo) && isFullyWritten(ledger, runNo))
    .map(({ run }) => planDirectory(environment, run))
    .filter((path) => existsSync(path));
}
