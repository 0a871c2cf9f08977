/** The commands that messages give a person to type. Each comes after a colon and ends its line, so that it can be copied. */

import { displayPath, fileInShell, inShell } from "./text.ts";

interface Named {
  /** Flags that say which environment a command is for. */
  readonly named: readonly string[];
}

type Run = string;

const REASON = '--reason "…"';

const commandOf = (verb: string, words: readonly string[], environment: Named): string =>
  ["tickets", verb, ...words, ...environment.named.map(inShell)].join(" ");

/** @param words what else is typed, such as a decision. */
export const settleCommand = (run: Run, environment: Named, ...words: readonly string[]): string =>
  commandOf("settle", [run, ...words], environment);

/** With the person's decision, and place for its reason. */
export const decideChunkCommand = (run: Run, chunk: number, environment: Named, decision: string): string =>
  `${settleCommand(run, environment, "--chunk", String(chunk), decision)} ${REASON}`;

/** The command that closes a run, or finishes closing it. */
export const closeCommand = ({ run }: { readonly run: Run }, environment: Named): string =>
  settleCommand(run, environment, "--abandon");

export const resumeCommand = (run: Run, environment: Named): string => commandOf("resume", [run], environment);

/** @param words a run, and what of it; without them all runs are listed. */
export const statusCommand = (environment: Named, ...words: readonly string[]): string =>
  commandOf("status", words, environment);

/** @param words a run, or which; without one the only open run is meant, else the last. */
export const resultsCommand = (environment: Named, ...words: readonly string[]): string =>
  commandOf("results", words, environment);

/** The command that writes the report of a run; a person names the file. */
export const resultsReportCommand = (run: Run, environment: Named): string =>
  resultsCommand(environment, run, "--report", "FILE.html");

/** The command that sends what is published. */
export const workCommand = (environment: Named): string => commandOf("work", ["--until-idle"], environment);

/** The command that sends an input in another way. */
export const streamCommand = (files: readonly string[], environment: Named): string =>
  commandOf("stream", files.map(fileInShell), environment);

/** @param file as it is typed; without one, a person knows which. */
export const importCommand = (environment: Named, ...files: readonly string[]): string =>
  resultsCommand(environment, "--import", ...(files.length === 0 ? ["FILE"] : files.map(fileInShell)));

/** The command that lists an input's problems. */
export const validateCommand = (files: readonly string[], flags: readonly string[], environment: Named): string =>
  commandOf("validate", [...files.map(fileInShell), ...flags.map(inShell)], environment);

/** The command that sends rejects once they are corrected. */
export function streamOfRejects(
  paths: readonly string[],
  flags: readonly string[],
  { cwd }: { readonly cwd: string },
  environment: Named,
): string {
  const files = paths.map((path) => fileInShell(displayPath(path, cwd)));
  return commandOf("stream", [...files, ...flagsOfRejects(flags).map(inShell)], environment);
}

/** Rejects are CSV, TSV or NDJSON by their names, whatever the inputs were. */
function flagsOfRejects(flags: readonly string[]): readonly string[] {
  const at = flags.indexOf("--format");
  return at === -1 ? flags : flags.toSpliced(at, 2);
}
