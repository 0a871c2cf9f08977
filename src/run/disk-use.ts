/** How much disk an environment takes. */

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Ledger } from "../ledger/ledger.ts";

/** Bytes of a file, or of all files below a folder; 0 where there is nothing. Links are not followed. */
function bytesIn(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

export interface DiskUse {
  readonly ledger: number;
  readonly ballast: number;
  readonly sandbox: number;
  /** Ledgers, lists and sandboxes that were set aside. */
  readonly setAside: number;
}

/** @param ledger counts too, where it is no file in the folder. */
export async function diskUseOf(ledgerPath: string, ledger: Ledger): Promise<DiskUse> {
  const inDatabase = ledger.kind === "postgres" ? (await ledger.size()).bytes : 0;
  const use = { ledger: inDatabase, ballast: 0, sandbox: 0, setAside: 0 };
  const folder = dirname(ledgerPath);
  // With a ledger in PostgreSQL there may be none yet.
  if (!existsSync(folder)) return use;
  for (const name of readdirSync(folder)) use[partOf(name)] += bytesIn(join(folder, name));
  return use;
}

function partOf(name: string): keyof DiskUse {
  if (name.includes(".aside")) return "setAside";
  if (name === "ballast") return "ballast";
  return name.startsWith("service.") ? "sandbox" : "ledger";
}
