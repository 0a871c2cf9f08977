import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder, which is gone at the end of the test. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const A_WHILE_AGO = new Date(Date.now() - 3_600_000);

/** Writes a file that is no export which is being written just now, whose end would be watched. */
export function writeOld(path: string, content: string | Buffer): void {
  writeFileSync(path, content);
  utimesSync(path, A_WHILE_AGO, A_WHILE_AGO);
}

const BALLAST_BYTES = 32 * 1024 * 1024;

/** As large as the ledger's own, and empty: to write that out takes longer than most tests. Full disks are tested elsewhere. */
export function makeBallast(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, "ballast"), "", { mode: 0o600 });
  truncateSync(join(directory, "ballast"), BALLAST_BYTES);
}
