/** The output files that a ledger knows. */

import type { Ledger } from "./ledger.ts";

export const knownOutputs = (ledger: Ledger): ReadonlySet<string> =>
  new Set(ledger.all("SELECT path FROM outputs").map(({ path }) => String(path)));

export const isKnownOutput = (ledger: Ledger, path: string): boolean =>
  ledger.get("SELECT 1 AS one FROM outputs WHERE path = ?", path) !== undefined;

/** One transaction: the promises file, as it is now, counts as written by this ledger's runs. */
export function adoptOutput(
  ledger: Ledger,
  {
    path,
    length,
    mtimeNs,
    sha256,
  }: Readonly<Record<"path" | "mtimeNs" | "sha256", string>> & { readonly length: number },
): void {
  ledger.transaction(() => {
    ledger.run("DELETE FROM output_segments WHERE path = ?", path);
    ledger.run(
      "INSERT OR REPLACE INTO outputs (path, kind, length, mtime_ns) VALUES (?, 'promises', ?, ?)",
      path,
      length,
      mtimeNs,
    );
    ledger.run("INSERT INTO output_segments (path, start, length, sha256) VALUES (?, 0, ?, ?)", path, length, sha256);
  });
}
