/**
 * The runs that were sent from this machine, in a file of its own beside the ledger: by it a lost or older ledger is noticed. A
 * line a run, on disk before its first request.
 */

import { existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { makeFolder } from "../../src/disk/folders.ts";
import { syncDirectory } from "../../src/disk/sync.ts";
import { Failure } from "../../src/failure.ts";
import type { Ledger } from "./ledger.ts";
import { storageFailure } from "./sqlite-failures.ts";

const ENTRY = z.object({
  run: z.string(),
  at: z.string(),
  baseUrl: z.string(),
  actions: z.number(),
  /** Undefined for standard output. */
  output: z.string().optional(),
});
export type JournalEntry = z.infer<typeof ENTRY>;

/** After it resolves, the line is on disk. What a power cut left of another line makes way: that run was never begun. */
export async function appendJournal(path: string, entry: JournalEntry): Promise<void> {
  try {
    makeFolder(dirname(path), { mode: 0o700 });
    const isNew = !existsSync(path);
    await using file = await open(path, "a", 0o600);
    if (!isNew) await file.truncate(Buffer.byteLength(wholeLines(readFileSync(path, "utf8"))));
    await file.write(`${JSON.stringify(entry)}\n`);
    await file.sync();
    if (isNew) await syncDirectory(dirname(path));
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf("\n") + 1);

/**
 * All entries, oldest first.
 *
 * @throws Failure `storage` where a line is damaged.
 */
export function readJournal(path: string): readonly JournalEntry[] {
  let text: string;
  try {
    if (!existsSync(path)) return [];
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw storageFailure(path, cause);
  }
  const lines = wholeLines(text).split("\n").slice(0, -1);
  return lines.map((line, at) => {
    try {
      return ENTRY.parse(JSON.parse(line));
    } catch (cause) {
      throw new Failure("storage", `Line ${at + 1} of ${path} is damaged. Nothing was sent.`, {
        hint: "Restore the file from a backup. If the ledger is not lost, move the file away.",
        cause,
      });
    }
  });
}

/** Runs that were sent from here and which the ledger lacks: it is lost, or an older one. */
export async function missingRuns(ledger: Ledger, entries: readonly JournalEntry[]): Promise<readonly JournalEntry[]> {
  const known = new Set((await ledger.runs({ ids: entries.map(({ run }) => run) })).map(({ run }) => run));
  return entries.filter(({ run }) => !known.has(run));
}
