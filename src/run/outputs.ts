/** Where a run's promises and rejects go. */

import { constants } from "node:fs";
import { access, open } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setAside } from "../disk/files.ts";
import { Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { importCommand } from "../next-command.ts";
import { displayPath } from "../text.ts";
import { inspectOutput, isPlainFile, makeOutputFolder, type OutputState } from "../write/output-file.ts";
import type { PromiseWriter, WhyElsewhere } from "../write/promise-file.ts";
import type { RunContext } from "./context.ts";
import type { Session } from "./session.ts";

/** The promises file of the working folder where none is named. */
export const defaultOutput = (environment: string): string => `promises.${environment}.ndjson`;

/** Where the promises go; undefined for standard output. */
export function outputPath(output: string | undefined, environment: string, cwd: string): string | undefined {
  return output === "-" ? undefined : resolve(cwd, output ?? defaultOutput(environment));
}

/** Whether a run was entered from here: its promises and rejects belong to that machine. */
export const isEnteredHere = (ledger: Ledger, { options: { machine } }: Run): boolean =>
  (machine ?? undefined) === ledger.machine;

/** Makes sure, before anything is sent, that rows that are rejected have a place to go. */
export async function refuseReadOnlyFolder(cwd: string): Promise<void> {
  await access(cwd, constants.W_OK).catch((cause: unknown) => {
    throw new Failure("usage", `The working folder ${cwd} is not writable, and rejects files are written there.`, {
      nothingSent: true,
      cause,
      hint: "Run the command in a folder that it may write to; inputs may be named by their paths.",
    });
  });
}

/** Makes sure, before anything is sent, that the promises have a place to go. @param moveAside a file that is in the way. */
export async function makeWayForOutput(
  { cwd, progress }: RunContext,
  { ledger, environment }: Session,
  path: string,
  moveAside: boolean,
): Promise<void> {
  const name = displayPath(path, cwd);
  const refuse = (why: string, hint = "Name another file with --output.", cause?: unknown): Failure =>
    new Failure("usage", `${name} ${why}`, { nothingSent: true, hint, cause });
  if (dirname(path) === dirname(environment.ledgerPath))
    throw refuse("would lie in the folder of the ledger, which is kept by tickets alone.");
  makeOutputFolder(path);
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw refuse(`can't be written: the folder ${displayPath(dirname(path), cwd)} is not writable.`, undefined, cause);
  });
  const state = await inspectOutput(ledger, path, "promises");
  const why = state.state === "strange" ? state.why : await otherColumns(path, state, environment.safeCsv);
  if (why === undefined) return;
  if (!moveAside)
    throw refuse(
      `is not appended to: ${why}.`,
      `If it holds what ${environment.name} was sent, import it first: ${importCommand(environment, name)}\nElse name another file with --output, or set this one aside with --move-aside (it is renamed, never deleted).`,
    );
  // Others need a folder, a pipe or a device where it is.
  if (!(await isPlainFile(path))) throw refuse("is not a file, and is not set aside.");
  progress.happened({ kind: "output set aside", path, aside: setAside(path) });
}

/** Why lines as they are written now don't fit into a table that is there. */
async function otherColumns(path: string, { state }: OutputState, safeCsv: boolean): Promise<string | undefined> {
  if (state !== "ours") return undefined;
  const { promiseFormat, promisesHeader } = await import("../write/promises.ts");
  const header = promisesHeader(promiseFormat(path), safeCsv);
  if (header === "") return undefined;
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length));
  if (bytesRead === 0 || buffer.toString() === header) return undefined;
  return safeCsv ? "it was started without safeCsv" : "it was started with safeCsv, or by another version";
}

/** How long another process may write what is left of a file. */
const OUTPUT_WAIT_MS = 60_000;

/**
 * Opens what the run's promises go to, and writes what earlier commands left unwritten.
 *
 * @param waitMs where another process writes the same file.
 */
export async function openPromises(
  { progress, cwd, promisesTo: stream, stop: signal }: RunContext,
  { ledger, environment }: Pick<Session, "ledger" | "environment">,
  run: Run,
  waitMs = OUTPUT_WAIT_MS,
): Promise<PromiseWriter> {
  const { openPromiseFile, openPromiseStream } = await import("../write/promise-file.ts");
  const { output } = run;
  const elsewhere = (path: string, why: WhyElsewhere): void =>
    progress.happened({ kind: "promises go elsewhere", path, why });
  const of = { ledger, run, cwd, elsewhere };
  if (output !== undefined) {
    // Where workers send, a command may follow a run that another one writes.
    const names = { name: `output ${hostname()} ${output}`, what: displayPath(output, cwd) };
    const command = `promises of run ${run.run}`;
    const lock = ledger.workers && (await ledger.lock({ ...names, command, waitMs, signal }));
    return openPromiseFile({ ...of, lock }, output);
  }
  const toFile = (because: "output taken" | "reader gone"): Promise<PromiseWriter> => {
    const path = join(cwd, `stdout.${environment.name}.${run.run}.ndjson`);
    elsewhere(path, { because });
    return openPromiseFile(of, path);
  };
  if (stream === undefined) return toFile("output taken");
  return openPromiseStream({ ledger, run, stream, overflow: () => toFile("reader gone") });
}
