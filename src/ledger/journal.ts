/**
 * The runs that were sent from this machine, in a file of its own beside the ledger: by it a lost or older ledger is noticed. A
 * line for each command that sends a run, on disk before its first request, and another at its end.
 */

import { existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { makeFolder, syncFolder } from "../disk/folders.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "./ledger.ts";
import { storageFailure } from "./sqlite-failures.ts";

const ENTRY = z.object({
  run: z.string(),
  at: z.string(),
  baseUrl: z.string(),
  actions: z.number().int().nonnegative(),
  /** How often a command had noted that it sends it, or has, with this time. */
  sends: z.number(),
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
    if (isNew) syncFolder(dirname(path));
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

/** A power cut may leave zeros in a last line, too. */
function wholeLines(text: string): string {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const last = whole.lastIndexOf("\n", whole.length - 2) + 1;
  return whole.includes("\0", last) ? whole.slice(0, last) : whole;
}

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
      throw new Failure("storage", `Line ${at + 1} of ${path} is damaged.`, {
        nothingSent: true,
        hint: "Restore the file from a backup. If the ledger is not lost, move the file away.",
        cause,
      });
    }
  });
}

/** A run of which the ledger does not know all that was sent from here. */
export interface LackingRun {
  readonly entry: JournalEntry;
  /** Of how many of its actions the ledger knows the outcome; undefined where it lacks the run. */
  readonly known: number | undefined;
}

/**
 * What the ledger lacks of what was sent from here: it is lost and was refilled in part, or it is an older one, to which runs
 * are unknown or open that later commands went on with.
 */
export async function lackingRuns(ledger: Ledger, entries: readonly JournalEntry[]): Promise<readonly LackingRun[]> {
  const latest = [...new Map(entries.map((entry) => [entry.run, entry])).values()];
  const runs = await ledger.runs({ ids: latest.map(({ run }) => run) });
  const lacking: LackingRun[] = [];
  for (const entry of latest) {
    const run = runs.find((each) => each.run === entry.run);
    if (run === undefined) {
      // One that was closed before the service had any of it is no loss.
      if (entry.actions > 0) lacking.push({ entry, known: undefined });
    } else if (run.kind === "imported" || run.sends < entry.sends) {
      const { accepted, rejected, settled } = await ledger.counts(run.number);
      const known = accepted + rejected + settled;
      if (known < entry.actions) lacking.push({ entry, known });
    }
  }
  return lacking;
}
