/** Checks an input, and makes the plan of what would be sent. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Opened } from "../disk/closing.ts";
import { type CheckOptions, checkInput, type InputOptions } from "./check-input.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import type { OnRow } from "./mappers.ts";
import { makeTemporaryFolder } from "./places.ts";
import type { CheckedInput } from "./progress.ts";
import { lostRunsOf } from "./session.ts";
import type { SettingsToCheck } from "./settings.ts";

export interface PlanSettings extends InputOptions, Partial<Pick<CheckOptions, "mode" | "lanes">> {
  readonly settings: SettingsToCheck;
  /** Called with each row and what the mapping makes of it. */
  readonly onRow?: OnRow | undefined;
}

export interface PlannedInput extends CheckedInput, AsyncDisposable {
  /** Of these marks of warnings, those that an earlier run told. */
  readonly told: (marks: readonly string[]) => Promise<ReadonlySet<string>>;
}

/**
 * The checked input, and its plan until it is disposed. With an environment, it is also checked against what was sent there,
 * and what was accepted is left out. The ledger is only read.
 *
 * @throws Failure when the input can't be read at all, the config can't be carried out, or the ledger was lost.
 */
export async function plan(context: RunContext, options: PlanSettings): Promise<PlannedInput> {
  const { settings, ...input } = options;
  const { config, environment } = settings;
  await using opened = new Opened();
  const ledger = environment && (await findLedgerOf(environment));
  if (ledger !== undefined) opened.use(ledger);
  if (environment !== undefined) {
    const lost = await lostRunsOf(environment, ledger, context.cwd);
    if (lost !== undefined) throw lost;
    const runs = ledger === undefined ? 0 : (await ledger.runs()).length;
    context.progress.happened({ kind: "ledger opened", environment, runs, isToSend: false });
  }
  const folder = await makeTemporaryFolder();
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const { mode = "judge", lanes = 1 } = options;
  const directory = join(folder, "plan");
  const checked = await checkInput(context, { ...input, mode, lanes, config, environment, ledger, directory });
  opened.use(checked.plan);
  const kept = opened.move();
  return {
    ...checked,
    told: async (digests) => (await ledger?.told(digests)) ?? new Set(),
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}
