/** Resetting the sandbox. */

import { existsSync } from "node:fs";
import { BESIDE_DATABASE, setAside } from "../disk/aside.ts";
import { runListPath } from "../ledger/ledger.ts";
import { setRunListAside } from "../ledger/run-list.ts";

/**
 * Sets aside the ledger and the list of runs of the old instance. The new one has accepted nothing, so they would be wrong
 * about it.
 *
 * @returns the ledger's new name; undefined where there was none.
 */
export function setLedgerAside(path: string): string | undefined {
  const now = new Date();
  setRunListAside(runListPath(path), now);
  return existsSync(path) ? setAside(path, now, BESIDE_DATABASE) : undefined;
}
