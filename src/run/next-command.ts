/** The commands to type next. */

import { displayPath, fileInShell, inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import type { RunRecord } from "../ledger/runs.ts";
import type { RunContext } from "./context.ts";

/**
 * The flags that name the environment in a command that is shown to people. Such a command comes after a colon and ends its
 * line, so that it can be copied.
 */
export const environmentFlags = ({ named }: Pick<Environment, "named">): string => named.map(inShell).join(" ");

export const settleCommand = (run: string, environment: Environment): string =>
  `tickets settle ${run} ${environmentFlags(environment)}`;

/** The command that finishes closing a run. */
export const closeCommand = ({ run }: RunRecord, environment: Environment): string =>
  `tickets settle ${run} --abandon ${environmentFlags(environment)}`;

/** The command for the doubts of other runs that one waits for, the oldest first. */
export function commandForDoubts(runs: readonly string[], environment: Environment): string {
  const [run] = runs;
  // It may wait for a run that is only planned, or was settled meanwhile.
  return run === undefined ? `tickets status ${environmentFlags(environment)}` : settleCommand(run, environment);
}

/** The command that sends rejects once they are mended. */
export function streamOfRejects(
  paths: readonly string[],
  flags: readonly string[],
  { cwd }: Pick<RunContext, "cwd">,
  env: string,
): string {
  const files = paths.map((path) => fileInShell(displayPath(path, cwd)));
  return `tickets stream ${[...files, ...flagsOfRejects(flags).map(inShell)].join(" ")} ${env}`;
}

/** Rejects are CSV, TSV or NDJSON by their names, whatever the inputs were. */
function flagsOfRejects(flags: readonly string[]): readonly string[] {
  const at = flags.indexOf("--input-format");
  return at === -1 ? flags : flags.toSpliced(at, 2);
}
