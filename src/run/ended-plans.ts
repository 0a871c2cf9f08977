/** Plans that nothing needs any more. */

import { existsSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isFullyWritten, isUndecided, listRuns } from "../ledger/runs.ts";
import { planDirectory } from "./places.ts";
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
