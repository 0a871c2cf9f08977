/** The commands that messages give a person to type. Each comes after a colon and ends its line, so that it can be copied. */

import { displayPath, fileInShell, inShell } from "./text.ts";

interface Named {
  /** Flags that say which environment a command is for. */
  readonly named: readonly string[];
}

const REASON = '--reason "…"';

const commandOf = (verb: string, words: readonly string[], environment: Named): string =>
  ["tickets", verb, ...words, ...environment.named.map(inShell)].join(" ");

export const settleCommand = (run: string, environment: Named, ...words: readonly string[]): string =>
  commandOf("settle", [run, ...words], environment);

/** With the person's decision, and place for its reason. */
export const decideChunkCommand = (run: string, chunk: number, environment: Named, decision: string): string =>
  `${settleCommand(run, environment, "--chunk", String(chunk), decision)} ${REASON}`;

export const resumeCommand = (run: string, environment: Named): string => commandOf("resume", [run], environment);

/** @param words a run, and what of it; without them all runs are listed. */
export const statusCommand = (environment: Named, ...words: readonly string[]): string =>
  commandOf("status", words, environment);

/** @param words a run, or which; without one the only open run is meant, else the last. */
export const resultsCommand = (environment: Named, ...words: readonly string[]): string =>
  commandOf("results", words, environment);

/** The command that sends what is published. */
export const workCommand = (environment: Named): string => commandOf("work", ["--until-idle"], environment);

/** @param file as it is typed; without one, a person knows which. */
export const importCommand = (environment: Named, ...files: readonly string[]): string =>
  resultsCommand(environment, "--import", ...(files.length === 0 ? ["FILE"] : files.map(fileInShell)));

/** The command that lists an input's problems. */
export const validateCommand = (files: readonly string[], flags: readonly string[], environment: Named): string =>
  commandOf("validate", [...files.map(fileInShell), ...flags.map(inShell)], environment);

/** The command that sends an input, in another way or once it is corrected. */
export const streamCommand = (files: readonly string[], flags: readonly string[], environment: Named): string =>
  commandOf("stream", [...files.map(fileInShell), ...flags.map(inShell)], environment);

/** The same for rejects: they are CSV, TSV or NDJSON by their names, whatever the inputs were. */
export function streamOfRejects(
  paths: readonly string[],
  flags: readonly string[],
  { cwd }: { readonly cwd: string },
  environment: Named,
): string {
  const at = flags.indexOf("--format");
  const others = at === -1 ? flags : flags.toSpliced(at, 2);
  const files = paths.map((path) => displayPath(path, cwd));
  return streamCommand(files, others, environment);
}

/** The command that records rows as already sent, in place of the one that sends them again. @param stream that command. */
export const adoptCommand = (stream: string): string => `${stream} --adopt ${REASON}`;
