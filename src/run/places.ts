/** Where the state of an environment is kept. */

import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";

export const lockPath = (environment: Environment): string => join(dirname(environment.ledgerPath), "lock.db");
export const runsDirectory = (environment: Environment): string => join(dirname(environment.ledgerPath), "runs");
export const planDirectory = (environment: Environment, run: string): string => join(runsDirectory(environment), run);
export const sandboxStatePath = (environment: Environment): string =>
  join(dirname(environment.ledgerPath), "service.db");

/** Finished plans are kept for two weeks, for rejects and questions. The ledger keeps the outcome of each action. */
export const PLAN_KEPT_MS = 14 * 24 * 60 * 60 * 1000;
