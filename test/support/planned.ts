/** Plans made of files as commands make them, with all that comes of them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-planned-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
