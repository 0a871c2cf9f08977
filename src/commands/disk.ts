/** What an environment takes on the disk. */

import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Bytes of a file, or of all files below a folder; 0 where there is nothing. Links are not followed. */
export function bytesIn(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

export interface DiskUse {
  readonly ledger: number;
  readonly plans: number;
  readonly ballast: number;
  readonly sandbox: number;
  /** Ledgers, lists and sandboxes that were set aside. */
  readonly setAside: number;
}

export function diskUseOf(ledgerPath: string): DiskUse {
  const use = { ledger: 0, plans: 0, ballast: 0, sandbox: 0, setAside: 0 };
  const folder = dirname(ledgerPath);
  for (const name of readdirSync(folder)) {
    const part = name.includes(".aside")
      ? "setAside"
      : name === "runs"
        ? "plans"
        : name === "ballast"
          ? "ballast"
          : name.startsWith("service.")
            ? "sandbox"
            : "ledger";
    use[part] += bytesIn(join(folder, name));
  }
  return use;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** `1.2 MB` */
export function describeBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
