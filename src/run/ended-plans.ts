/** Plans that nothing needs any more. */

import { existsSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isFullyWritten, isUndecided, listRuns } from "../ledger/runs.ts";
import { planDirectory } from "./places.ts";
/** Folders of runs that ended before, whose every outcome is in the ledger and whose outputs and rejects are written. */
export function endedPlans(environment: Environment, ledger: Ledger, before: number): readonly string[] {
  return listRuns(ledger)
    .filter(({ state, endedAt }) => state !== "open" && endedAt !== undefined && Date.parse(endedAt) < before)
    .filter(({ runNo }) => !isUndecided(ledger, runNo) && isFullyWritten(ledger, runNo))
    .map(({ run }) => planDirectory(environment, run))
    .filter((path) => existsSync(path));
}
