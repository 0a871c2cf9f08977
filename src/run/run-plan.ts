/** The plan of a run, wherever it was made. */

import { existsSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isHere } from "../ledger/machine.ts";
import type { RunRecord } from "../ledger/runs.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { openPlan, type Plan, planFiles } from "../plan/files/plan.ts";
import type { Plans } from "../plan/identity/pending-deeds.ts";
import type { RunContext } from "./context.ts";
import { planDirectory } from "./places.ts";

interface Opened {
  readonly environment: Environment;
  readonly ledger: Ledger;
}

/** Without one, nothing is reported. */
type Asking = Pick<RunContext, "progress" | "stop">;

/**
 * Opens the plan of a run. Where its folder is missing here and the ledger is shared with other machines, the folder is made
 * first.
 *
 * @throws Failure `storage` as `openPlan` does, and when the ledger does not have the plan either.
 */
export async function openRunPlan(opened: Opened, run: RunRecord, asking?: Asking): Promise<Plan> {
  return openPlan(await planFolder(opened, run, asking), run.manifest);
}

/**
 * Opens the plan of a run that is to be sent here, wherever it is: chunks are read from the ledger where this machine has no
 * folder of it, and nothing is kept.
 *
 * @throws Failure `storage` as `openRunPlan` does.
 */
export async function openPlanToSend({ environment, ledger }: Opened, run: RunRecord): Promise<Plan> {
  const folder = planDirectory(environment, run.run);
  if (ledger.kind === "sqlite" || existsSync(planFiles(folder).manifest)) return openPlan(folder, run.manifest);
  const { openStoredPlan } = await import("../plan/files/stored-plan.ts");
  return openStoredPlan(ledger, run, folder);
}

/** The folder of a run's plan, made first where it is missing and the ledger has it. */
async function planFolder({ environment, ledger }: Opened, run: RunRecord, asking?: Asking): Promise<string> {
  const folder = planDirectory(environment, run.run);
  if (ledger.kind === "sqlite" || existsSync(planFiles(folder).manifest)) return folder;
  const { fetchPlan } = await import("../plan/files/stored-plan.ts");
  const total = parseManifest(run.manifest).actions.planned;
  await fetchPlan(ledger, run, folder, {
    onShare: (share) => asking?.progress.advanced(storing("fetching", share, total)),
    signal: asking?.stop ?? new AbortController().signal,
  });
  asking?.progress.advanced(undefined);
  return folder;
}

/** The plans of an environment's runs, for who looks through several. */
export const plansOf = (opened: Opened, asking?: Asking): Plans => ({
  folder: (run) => planDirectory(opened.environment, run),
  open: (run) => openRunPlan(opened, run, asking),
});

/** After it resolves, other machines can have the plan; with a ledger of this machine alone it does nothing. */
export async function sharePlan(
  { progress }: Pick<RunContext, "progress">,
  { environment, ledger }: Opened,
  run: string,
  total: number,
): Promise<void> {
  if (ledger.kind === "sqlite") return;
  const { storePlan } = await import("../plan/files/stored-plan.ts");
  await storePlan(ledger, run, planDirectory(environment, run), (share) =>
    progress.advanced(storing("storing", share, total)),
  );
  progress.advanced(undefined);
}

/** Whether a run's inputs are on another machine, where its rejects are written. */
export function isPlannedElsewhere(ledger: Ledger, { manifest }: Pick<RunRecord, "manifest">): boolean {
  return ledger.kind === "postgres" && !isHere(ledger, parseManifest(manifest).options.machine);
}

/** Likewise, or in another folder of this machine: the plan's own folder lacks what they are made of. */
export const areRejectsElsewhere = (ledger: Ledger, run: Pick<RunRecord, "manifest">, plan: Plan): boolean =>
  isPlannedElsewhere(ledger, run) || existsSync(planFiles(plan.directory).fetched);

const storing = (doing: "storing" | "fetching", share: number, total: number) =>
  ({ doing, done: Math.floor(share * total), total, unit: "action" }) as const;
