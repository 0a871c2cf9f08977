/** Opening a ledger read-only. */

import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { lookForLostRuns, lostRunsFailure } from "./lost-runs.ts";

/** The ledger, read-only; undefined where there is none yet. */
export const openLedgerToRead = (environment: Environment): Promise<Ledger | undefined> =>
  findLedgerOf(environment, boundToRead(environment));

/** What the ledger must belong to. Of a sandbox that is not running it is not known. */
const boundToRead = ({ kind, baseUrl }: Environment): string | undefined => (kind === "sandbox" ? undefined : baseUrl);

/**
 * The same for a command that decides by the ledger what was sent before.
 *
 * @throws Failure `usage` when it lacks runs that were sent from here.
 */
export async function openLedgerToPlan(
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
): Promise<Ledger | undefined> {
  let ledger: Ledger | undefined;
  const lost = await lookForLostRuns(environment, async () => {
    ledger = await openLedgerToRead(environment);
    return ledger;
  });
  if (lost.length === 0) return ledger;
  ledger?.[Symbol.dispose]();
  throw await lostRunsFailure(lost, environment, cwd);
}

/** @param cwd that a path is shown from. */
export const noLedger = (environment: Environment, cwd: string): Failure =>
  new Failure("usage", `There is no ledger of ${environment.name} at ${ledgerPlace(environment, cwd)}.`, {
    hint: "Nothing was sent from here yet, or the ledger is elsewhere: name its folder with --state-dir.",
  });
