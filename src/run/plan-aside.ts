/** A plan that is made only to be looked at. It is deleted when it is disposed; nothing of it is sent. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { NOTHING_PENDING } from "../ledger/pending.ts";
import { planFiles } from "../plan/files/plan.ts";
import { pendingIdentities } from "../plan/identity/pending-deeds.ts";
import { checkInput, type InputOptions } from "./check-input.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";
import type { OnRow } from "./mappers.ts";
import { planDirectory } from "./places.ts";
import { makeTemporaryFolder } from "./temporary.ts";
export interface PlanAside extends CheckedInput, AsyncDisposable {
  /** The file of its actions, in order: NDJSON that is itself valid input. */
  readonly actions: string;
}

interface AsideOptions extends InputOptions {
  readonly config: Config;
  readonly environment: Environment | undefined;
  readonly ledger: Ledger | undefined;
  /** What the plan calls itself. */
  readonly run: string;
  readonly again: boolean;
  readonly lanes: number;
  readonly safeCsv: boolean;
  readonly onRow?: OnRow | undefined;
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
          : await pendingIdentities(ledger, (id) => planDirectory(environment, id)),
      copyInputs: false,
      rereadFlags: [],
    });
    return { ...checked, actions: planFiles(plan).actions, [Symbol.asyncDispose]: remove };
  } catch (cause) {
    await remove();
    throw cause;
  }
}
