/** Frees disk space. Never touches the ledger or the list of runs. */

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { readRunList } from "../ledger/run-list.ts";
import { findRun, isFullyWritten, isUndecided, listRuns, type RunRecord } from "../ledger/runs.ts";
import { planFiles } from "../plan/files/plan.ts";
import type { RunContext } from "./context.ts";
import { bytesIn } from "./disk-use.ts";
import { findLedgerOf, lockLedger } from "./ledger-of.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import { planDirectory, runsDirectory } from "./places.ts";
import { isPlannedElsewhere } from "./run-plan.ts";
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
  /** Of what is in the ledger: the run. */
  readonly path: string;
  readonly what:
    | "plan of an ended run"
    | "plan of an ended run in the ledger"
    | "plan that never became a run"
    | "temporary folder";
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
  const stored = ledger === undefined ? [] : await endedStoredPlans(ledger, before);
  if (!dryRun) {
    for (const { path } of removable) await removeFolder(path);
    if (ledger !== undefined) await removeStored(ledger, stored);
  }
  const inLedger = stored.map(
    ({ run, bytes }) => ({ path: run, what: "plan of an ended run in the ledger", bytes }) as const,
  );
  return [...removable, ...inLedger];
}

/** The manifest first: without it a folder is no plan, if the process dies before all of it is gone. */
async function removeFolder(path: string): Promise<void> {
  await rm(planFiles(path).manifest, { force: true });
  await rm(path, { recursive: true, force: true });
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

/** Removes the plans of runs that ended before `before` (milliseconds since 1970). Nothing needs them any more. */
export async function prunePlans(environment: Environment, ledger: Ledger, before: number): Promise<void> {
  for (const path of endedPlans(environment, ledger, before)) await removeFolder(path);
  await removeStored(ledger, await endedStoredPlans(ledger, before));
}

/**
 * Folders of runs that ended before `before`, with every outcome in the ledger and all outputs and rejects written. What was
 * fetched of a run of another machine can go as soon as it has ended.
 */
function endedPlans(environment: Environment, ledger: Ledger, before: number): readonly string[] {
  return listRuns(ledger)
    .map((run) => ({ ...run, path: planDirectory(environment, run.run) }))
    .filter((run) => run.state !== "open" && existsSync(run.path) && !isUndecided(ledger, run.runNo))
    .filter((run) => isPlannedElsewhere(ledger, run) || (endedBefore(run, before) && isFullyWritten(ledger, run.runNo)))
    .map(({ path }) => path);
}

/** Rejects are made of the folder that the run was planned in, so nothing else needs the ledger's plan once all is decided. */
async function endedStoredPlans(ledger: Ledger, before: number) {
  if (ledger.kind === "sqlite") return [];
  const { storedPlans } = await import("../ledger/postgres/plan-store.ts");
  return storedPlans(ledger).filter((plan) => {
    const run = findRun(ledger, plan.run);
    return run !== undefined && run.state !== "open" && endedBefore(run, before) && !isUndecided(ledger, run.runNo);
  });
}

async function removeStored(ledger: Ledger, plans: readonly { readonly run: string }[]): Promise<void> {
  if (plans.length === 0) return;
  const { removeStoredPlan } = await import("../ledger/postgres/plan-store.ts");
  for (const { run } of plans) removeStoredPlan(ledger, run);
}

const endedBefore = ({ endedAt }: RunRecord, before: number): boolean =>
  endedAt !== undefined && Date.parse(endedAt) < before;
