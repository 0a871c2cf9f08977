import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder, which is gone at the end of the test. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
