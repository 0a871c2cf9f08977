/** Checks an input, and makes the plan of what would be sent. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { NOTHING_PENDING } from "../ledger/pending.ts";
import { planFiles } from "../plan/files/plan.ts";
import { pendingIdentities } from "../plan/identity/pending-deeds.ts";
import { type CheckOptions, checkInput, type InputOptions } from "./check-input.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";
import { countPlanned, type EventCounts } from "./event-counts.ts";
import { openLedgerToPlan } from "./ledger-to-read.ts";
import type { OnRow } from "./mappers.ts";
import { plansOf } from "./run-plan.ts";
import { tellOpened } from "./session.ts";
import type { SettingsToCheck } from "./settings.ts";
import { makeTemporaryFolder } from "./temporary.ts";

export interface PlanAside extends CheckedInput, AsyncDisposable {
  readonly directory: string;
  /** The file of its actions, in order: NDJSON that is itself valid input. */
  readonly actions: string;
}

interface AsideOptions
  extends Omit<CheckOptions, "directory" | "environment" | "pending" | "copyInputs" | "rereadFlags"> {
  readonly environment: Environment | undefined;
}

export async function planAside(context: RunContext, options: AsideOptions): Promise<PlanAside> {
  const { environment, ledger } = options;
  const directory = await makeTemporaryFolder();
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const plan = join(directory, "plan");
    const checked = await checkInput(context, {
      ...options,
      directory: plan,
      environment: environment && { environment, boundTo: "" },
      pending:
        ledger === undefined || environment === undefined
          ? NOTHING_PENDING
          : await pendingIdentities(ledger, plansOf({ ledger, environment }, context)),
      copyInputs: false,
      rereadFlags: [],
    });
    return { ...checked, directory: plan, actions: planFiles(plan).actions, [Symbol.asyncDispose]: remove };
  } catch (cause) {
    await remove();
    throw cause;
  }
}

export interface PlanSettings extends InputOptions {
  readonly settings: SettingsToCheck;
  /** Called with each row and what the mapping makes of it. */
  readonly onRow?: OnRow | undefined;
}

/**
 * The checked input, and its plan until it is disposed. With an environment, it is also checked against what was sent there,
 * and what was accepted is left out.
 *
 * @throws Failure when the input can't be read at all, or the config can't be carried out.
 */
export async function plan(context: RunContext, options: PlanSettings): Promise<PlanAside> {
  const { settings, ...input } = options;
  const { config, environment } = settings;
  using ledger = environment === undefined ? undefined : await openLedgerToPlan(context, environment);
  if (environment !== undefined) tellOpened(context, { ...settings, ledger }, false);
  const fixed = { run: "validate", again: false, lanes: 1, safeCsv: false };
  return await planAside(context, { ...input, ...fixed, config, environment, ledger });
}

export interface ValidateSettings extends PlanSettings {
  /** Whether actions are counted by event, which reads all of them once more. */
  readonly countsEvents?: boolean;
}

export interface ValidatedInput extends CheckedInput {
  /** Of the actions that would be sent; undefined where that was not asked for, or nothing may be sent. */
  readonly byEvent: EventCounts | undefined;
}

/** The same without the plan: rows and actions counted, and every problem. */
export async function validate(context: RunContext, options: ValidateSettings): Promise<ValidatedInput> {
  await using planned = await plan(context, options);
  const { files, plan: result, problems, directory } = planned;
  const { manifest } = result;
  const byEvent =
    options.countsEvents === true && manifest !== undefined ? await countPlanned(directory, manifest) : undefined;
  return { files, plan: result, problems, byEvent };
}
