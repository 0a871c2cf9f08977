/** Checks an input, and makes the plan of what would be sent. */

import type { InputOptions } from "./check-input.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";
import { openLedgerToPlan } from "./ledger-to-read.ts";
import type { OnRow } from "./mappers.ts";
import { type PlanAside, planAside } from "./plan-aside.ts";
import { tellOpened } from "./session.ts";
import type { SettingsToCheck } from "./settings.ts";
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
  using ledger = environment === undefined ? undefined : openLedgerToPlan(context, environment);
  if (environment !== undefined) tellOpened(context, { ...settings, ledger }, false);
  const run = "validate";
  return await planAside(context, {
    ...input,
    config,
    environment,
    ledger,
    run,
    again: false,
    lanes: 1,
    safeCsv: false,
  });
}

/** The same without the plan: rows and actions counted, and every problem. */
export async function validate(context: RunContext, options: PlanSettings): Promise<CheckedInput> {
  await using planned = await plan(context, options);
  const { files, plan: result, problems } = planned;
  return { files, plan: result, problems };
}
