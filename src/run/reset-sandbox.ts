/** A new instance of the sandbox. */

import { existsSync } from "node:fs";
import { BESIDE_DATABASE, setAside } from "../disk/aside.ts";
import { runListPath } from "../ledger/ledger.ts";
import { setRunListAside } from "../ledger/run-list.ts";

/**
 * A new instance has accepted nothing, so the old one's ledger and list of runs, which would be wrong about it, are set aside.
 *
 * @returns the ledger's new name; undefined where there was none.
 */
export function setLedgerAside(path: string): string | undefined {
  const now = new Date();
  setRunListAside(runListPath(path), now);
  return existsSync(path) ? setAside(path, now, BESIDE_DATABASE) : undefined;
}
