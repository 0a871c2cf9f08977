/** The promises file of a new run. */

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { importCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { runListPath } from "../ledger/ledger.ts";
import { adoptMoved, isKnownOutput } from "../ledger/outputs.ts";
import { readRunList } from "../ledger/run-list.ts";
import { stemOf } from "../mapping/rejects-names.ts";
import {
  inspectOutput,
  makeOutputFolder,
  type OutputState,
  readBeginning,
  setOutputAside,
} from "../outputs/output-file.ts";
import { delimiterOf, promiseFormat, promisesHeader } from "../outputs/promise-lines.ts";
import type { RunContext } from "./context.ts";
import { hasLostRuns, isOfResetSandbox, lockOutput, refuseStrangeOutput } from "./promises.ts";
import type { Session } from "./session.ts";

/** Where the promises go; undefined for standard output. Without `output`, the file is named after the first input. */
export function outputPath(
  { output, files }: { readonly output?: string | undefined; readonly files: readonly string[] },
  environment: string,
  cwd: string,
): string | undefined {
  if (output === "-") return undefined;
  if (output !== undefined) return resolve(cwd, output);
  const first = files[0] ?? "-";
  const stem = stemOf(first === "-" ? "" : basename(first)).replace(/[*?[\]{}!]+/g, "_");
  return join(cwd, `${stem}.${environment}.promises.ndjson`);
}

/** @param left what the command did not do. */
export function refuseCompressed(path: string, cwd: string, left: string): void {
  const [, plain, ending] = /^(.*[^/])(\.(?:gz|zst))$/is.exec(path) ?? [];
  if (plain === undefined) return;
  throw new Failure(
    "usage",
    `${displayPath(path, cwd)} ends in ${ending}, and promises are not written compressed. ${left}`,
    { hint: `Name a file without ${ending}, such as ${displayPath(plain, cwd)}, and compress a copy of it.` },
  );
}

/** Makes sure, before anything is sent, that rows that are rejected have a place to go: rejects are written into the working folder. */
export async function refuseReadOnlyFolder(cwd: string, left: string): Promise<void> {
  try {
    await access(cwd, constants.W_OK);
  } catch (cause) {
    throw new Failure(
      "usage",
      `The working folder ${cwd} is not writable, and rejects files are written there. ${left}`,
      { cause, hint: "Run the command in a folder that it may write to; inputs may be named by their paths." },
    );
  }
}

/** What is set aside there, with `--force`, would be the ledger itself, or the lock that keeps two commands apart. */
function refuseOwnFolder(path: string, { ledgerPath }: Pick<Environment, "ledgerPath">, cwd: string): void {
  if (dirname(path) !== dirname(ledgerPath)) return;
  throw new Failure(
    "usage",
    `${displayPath(path, cwd)} would lie in the folder of the ledger, which is kept by tickets alone. Nothing was sent.`,
    { hint: "Name another file with --output." },
  );
}

interface OutputSession extends Pick<Session, "ledger" | "environment"> {}

/** Makes sure, before anything is sent, that the promises have a place to go. */
export async function makeWayForOutput(
  context: RunContext,
  session: OutputSession,
  path: string,
  { force, safeCsv }: { readonly force: boolean; readonly safeCsv: boolean },
): Promise<void> {
  const { ledger, environment } = session;
  refuseCompressed(path, context.cwd, "Nothing was sent.");
  refuseOwnFolder(path, environment, context.cwd);
  const folder = dirname(path);
  makeOutputFolder(path);
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new Failure(
      "usage",
      `${displayPath(path, context.cwd)} can't be written: the folder ${displayPath(folder, context.cwd)} is not writable. Nothing was sent.`,
      { cause, hint: "Name another file with --output." },
    );
  }
  // Another writer of this file is noticed now rather than when the first answer comes.
  using _lock = await lockOutput(context, ledger, path, "tickets stream");
  const found = await inspectOutput(ledger, path, "promises");
  if (found.state === "ours" && found.movedFrom !== undefined) {
    adoptMoved(ledger, path, found.movedFrom);
    context.progress.happened({ kind: "output was moved here", path, from: found.movedFrom });
  }
  const state = found.state === "ours" ? await guardedAs(path, found, safeCsv) : found;
  const isOfReset = isOfResetSandbox(state, environment);
  // Where the file shows runs that the ledger has lost, setting it aside would hide that; they would be sent again.
  if (state.state === "strange" && (force || isOfReset) && !hasLostRuns(state, environment)) {
    const aside = await setOutputAside(path);
    context.progress.happened({ kind: "output set aside", path, aside, isOfReset });
  } else {
    refuseForgottenOutput(path, state, context, session);
    await refuseStrangeOutput(path, state, context, environment);
  }
}

/** Refuses a file that a run has written and the ledger has forgotten, although it knows the runs in the file's end again. */
function refuseForgottenOutput(path: string, state: OutputState, { cwd }: RunContext, session: OutputSession): void {
  const { ledger, environment } = session;
  if (state.state !== "strange" || hasLostRuns(state, environment)) return;
  const isListed = [...readRunList(runListPath(environment.ledgerPath)).values()].some(({ outputs }) =>
    outputs.includes(path),
  );
  if (!isListed || isKnownOutput(ledger, path)) return;
  const name = displayPath(path, cwd);
  throw new Failure(
    "usage",
    `${name} is not appended to: a run wrote it, but the ledger no longer knows it. Nothing was sent.`,
    {
      hint: `If nobody has changed it: ${importCommand(environment, name)}\nOtherwise name another file with --output, or set this one aside with --force (it is renamed, never deleted).`,
    },
  );
}

/** A CSV file is guarded whole or not at all, so that the file alone tells what its cells were. */
async function guardedAs(
  path: string,
  state: Extract<OutputState, { state: "ours" }>,
  safeCsv: boolean,
): Promise<OutputState> {
  const format = promiseFormat(path);
  const header = promisesHeader(format, safeCsv);
  if (delimiterOf(format) === undefined || state.length === 0 || (await readBeginning(path, header.length)) === header)
    return state;
  const why = `it was started ${safeCsv ? "without" : "with"} --safe-csv, or by another version`;
  return { state: "strange", why, lostRun: undefined };
}
