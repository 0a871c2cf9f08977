/** The table of invocations: which commands were run on this environment, and how each ended. */

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { EXIT_CODES } from "../failure.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { refuseNetworkFileSystem, wrap } from "./open-ledger.ts";
import { IMPORTED_MAPPING } from "./runs.ts";
import { LEDGER_VERSION } from "./schema.ts";

/** An invocation that has ended. Times are UTC in ISO 8601. */
export interface Invocation {
  readonly startedAt: string;
  readonly durationMs: number;
  /** `stream`, `validate`, ... */
  readonly command: string;
  /** As they were typed, without what could be a secret. */
  readonly arguments: readonly string[];
  readonly files: readonly string[];
  readonly exitCode: number;
  /** Why it failed, where it ended in a sentence. */
  readonly error: string | undefined;
  /** The run that it carried out or went on with. */
  readonly run: string | undefined;
  /** Rows and actions, as the summary counts them. */
  readonly counts: Readonly<Record<string, unknown>> | undefined;
  /** Warnings that were told. */
  readonly warnings: number;
  readonly host: string;
  readonly who: string;
  readonly version: string;
}

/** Older ones make way, so that a check in a loop does not fill the disk. */
const KEPT = 10_000;

/** Another process may be in the middle of a commit. */
const LOCKED_MS = 5000;

/**
 * Notes an invocation in the ledger at `path`, if there is one, it is of this version and can be written. Takes no lock:
 * one that ended because another holds it is noted too. Never throws, since no command fails for its trace.
 *
 * @param toldWarnings digests of warnings that the invocation has printed.
 */
export function noteInvocation(path: string, invocation: Invocation, toldWarnings: readonly string[] = []): void {
  try {
    if (!existsSync(path)) return;
    refuseNetworkFileSystem(path);
    // A damaged ledger is left as it is, for the person who will look at it.
    if (invocation.exitCode === EXIT_CODES.storage && !isSound(path)) return;
    // Not created if it is gone by now: an empty ledger would be taken for a damaged one.
    const url = pathToFileURL(path);
    url.searchParams.set("mode", "rw");
    const database = new DatabaseSync(url, { timeout: LOCKED_MS });
    try {
      if (Number(database.prepare("PRAGMA user_version").get()?.user_version) !== LEDGER_VERSION) return;
      database.exec("PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
      enterInvocation(wrap(database, path), invocation, toldWarnings);
      database.exec("COMMIT");
    } finally {
      database.close();
    }
  } catch {
    // The command itself has reported a ledger that can't be written.
  }
}

function isSound(path: string): boolean {
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare("PRAGMA quick_check(1)").get()?.quick_check === "ok";
}

/** Part of a transaction: notes an invocation and the warnings that it has printed. */
export function enterInvocation(ledger: Ledger, invocation: Invocation, toldWarnings: readonly string[]): void {
  const { startedAt, durationMs, command, arguments: typed, files, exitCode, error, run, counts } = invocation;
  const { warnings, host, who, version } = invocation;
  ledger.run(
    `INSERT INTO invocations (started_at, duration_ms, command, arguments, files, exit_code, error, run, counts, warnings, host, who, version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[startedAt, Math.round(durationMs), command, JSON.stringify(typed), JSON.stringify(files), exitCode],
    ...[error ?? null, run ?? null, counts === undefined ? null : JSON.stringify(counts)],
    ...[warnings, host, who, version],
  );
  ledger.run("DELETE FROM invocations WHERE id <= (SELECT max(id) FROM invocations) - ?", KEPT);
  const note = "INSERT OR IGNORE INTO told_warnings (digest, told_at) VALUES (?, ?)";
  for (const digest of toldWarnings) ledger.run(note, Buffer.from(digest, "hex"), startedAt);
}

/** Whether an earlier invocation has told a warning with this digest (hex). */
export function wasTold(ledger: Ledger, digest: string): boolean {
  return ledger.get("SELECT 1 AS one FROM told_warnings WHERE digest = ?", Buffer.from(digest, "hex")) !== undefined;
}

/** How a command ended. */
export interface NotedEnd {
  readonly endedAt: string;
  readonly command: string;
  readonly files: readonly string[];
  readonly exitCode: number;
  readonly error: string | null;
  readonly run: string | null;
  readonly durationMs: number | null;
}

const END_COLUMNS = "started_at, duration_ms, command, files, exit_code, error, run";

/** A success is a `stream` that ended with 0, whether or not there was something new to send, or a `resume` that finished a run. */
export function lastSuccess(ledger: Ledger): NotedEnd | undefined {
  const noted = ledger.get(
    `SELECT ${END_COLUMNS} FROM invocations WHERE exit_code = 0 AND (command = 'stream' OR (command = 'resume' AND run IS NOT NULL)) ORDER BY id DESC LIMIT 1`,
  );
  const end = noted && toEnd(noted);
  // A run from before invocations were noted, or of a process that died before it noted itself.
  const run = ledger.get(
    `SELECT ended_at, run, created_at FROM runs WHERE state = 'finished' AND exit_code = 0 AND manifest ->> '$.mapping' <> '${IMPORTED_MAPPING}'
     ORDER BY run_no DESC LIMIT 1`,
  );
  if (run === undefined) return end;
  const endedAt = String(run.ended_at);
  if (end !== undefined && (end.run === run.run || end.endedAt >= endedAt)) return end;
  // Whatever that command ended with, it is the noted one that says it.
  if (wasNotedAt(ledger, endedAt)) return end;
  return {
    endedAt,
    command: "stream",
    files: [],
    exitCode: 0,
    error: null,
    run: String(run.run),
    durationMs: Date.parse(endedAt) - Date.parse(String(run.created_at)),
  };
}

/** Whether a command was at work then that noted how it ended. */
function wasNotedAt(ledger: Ledger, at: string): boolean {
  const sql = `SELECT ${END_COLUMNS} FROM invocations WHERE command IN ('stream', 'resume') AND started_at <= ?`;
  // One end by two clocks, which may differ by a millisecond.
  return ledger.all(sql, at).some((row) => Date.parse(toEnd(row).endedAt) + 1 >= Date.parse(at));
}

/** The newest command that sends, checks or imports and did not end with 0. */
export function lastFailure(ledger: Ledger): NotedEnd | undefined {
  const row = ledger.get(
    `SELECT ${END_COLUMNS} FROM invocations WHERE exit_code <> 0 AND command <> 'settle' ORDER BY id DESC LIMIT 1`,
  );
  return row && toEnd(row);
}

/** How a command that sends ended. */
export interface SendingEnd extends Pick<NotedEnd, "endedAt" | "exitCode"> {
  readonly durationMs: number;
  /** Actions by outcome; undefined where it ended before they were counted. */
  readonly actions: ActionCounts | undefined;
}

type ActionCounts = Readonly<
  Record<"accepted" | "rejected" | "refused" | "inDoubt" | "settledByHand" | "notSent" | "alreadySent", number>
>;

/** The newest `stream` or `resume`, however it ended. */
export function lastRunEnd(ledger: Ledger): SendingEnd | undefined {
  const row = ledger.get(
    `SELECT ${END_COLUMNS}, counts FROM invocations WHERE command IN ('stream', 'resume') ORDER BY id DESC LIMIT 1`,
  );
  if (row === undefined) return undefined;
  const { endedAt, exitCode } = toEnd(row);
  const counts = row.counts == null ? undefined : (JSON.parse(String(row.counts)) as { actions: ActionCounts }); // of a summary
  return { endedAt, exitCode, durationMs: Number(row.duration_ms), actions: counts?.actions };
}

function toEnd({ started_at, duration_ms, command, files, exit_code, error, run }: SqlRow): NotedEnd {
  return {
    endedAt: new Date(Date.parse(String(started_at)) + Number(duration_ms)).toISOString(),
    command: String(command),
    files: JSON.parse(String(files)) as string[], // an array of them was written
    exitCode: Number(exit_code),
    error: error == null ? null : String(error),
    run: run == null ? null : String(run),
    durationMs: Number(duration_ms),
  };
}

/** How a command on a run went: when it began, how it ended, and which version it was. */
export interface CommandOnRun {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly command: string;
  readonly exitCode: number;
  readonly version: string;
}

/** The commands that are known to have carried a run out or gone on with it, oldest first. */
export const commandsOnRun = (ledger: Ledger, run: string): readonly CommandOnRun[] =>
  ledger
    .all("SELECT started_at, duration_ms, command, exit_code, version FROM invocations WHERE run = ? ORDER BY id", run)
    .map(({ started_at, duration_ms, command, exit_code, version }) => ({
      startedAt: String(started_at),
      durationMs: Number(duration_ms),
      command: String(command),
      exitCode: Number(exit_code),
      version: String(version),
    }));
