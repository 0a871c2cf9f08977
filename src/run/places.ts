/** Where the state of an environment is kept. */

import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";

type Placed = Pick<Environment, "ledgerPath">;

const inFolder = ({ ledgerPath }: Placed, name: string): string => join(dirname(ledgerPath), name);

export const sandboxStatePath = (environment: Placed): string => inFolder(environment, "service.db");

/** The runs that were sent from this machine. */
export const JOURNAL = "journal.ndjson";
export const journalPath = (environment: Placed): string => inFolder(environment, JOURNAL);

export const PLANS = "plan-";

/** Where a plan lies while it is made: on the disk of the ledger, which has to take it anyway. */
export const planFolder = (environment: Placed, run: string): string => inFolder(environment, `${PLANS}${run}`);
