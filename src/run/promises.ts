/** Where a run's promises go. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { importCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type Ledger, runListPath } from "../ledger/ledger.ts";
import { acquireLock } from "../ledger/lock.ts";
import { isHere, toPlaced } from "../ledger/machine.ts";
import { wasReset } from "../ledger/run-list.ts";
import { noteOutput, type RunRecord, unwrittenRuns } from "../ledger/runs.ts";
import { freeName, inspectOutput, type OutputState } from "../outputs/output-file.ts";
import { delimiterOf, promiseFormat, type RunLabel } from "../outputs/promise-lines.ts";
import {
  hasPromisesIn,
  openPromiseFile,
  openPromiseStream,
  type PromiseSink,
  unrecordedPromises,
} from "../outputs/promise-sink.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import type { RunContext } from "./context.ts";
import type { WhyElsewhere } from "./progress.ts";
import { whyNotImported } from "./promises-file.ts";
import { isPlannedElsewhere } from "./run-plan.ts";
import type { Session } from "./session.ts";
import { sharedTemporaryFolder } from "./temporary.ts";
import { isShared } from "./worker.ts";

/** What promises are written with. */
export interface PromiseWriting extends Pick<Session, "ledger" | "environment"> {
  readonly runList: Pick<Session["runList"], "moved">;
}

/** Whether the promises of a run belong into a file of another machine, which collects them. */
export const arePromisesElsewhere = (ledger: Ledger, run: RunRecord): boolean =>
  run.output === undefined ? isPlannedElsewhere(ledger, run) : !isHere(ledger, run.outputMachine);

/** Undefined where they belong to another machine. */
export async function openPromises(
  context: RunContext,
  writing: PromiseWriting,
  run: RunRecord,
): Promise<PromiseSink | undefined> {
  return arePromisesElsewhere(writing.ledger, run) ? undefined : openHere(context, writing, run);
}

async function openHere(
  context: RunContext,
  { ledger, environment, runList }: PromiseWriting,
  run: RunRecord,
): Promise<PromiseSink> {
  const safeCsv = parseManifest(run.manifest).options.safeCsv;
  const writing: Writing = {
    context,
    ledger,
    environment,
    run,
    safeCsv,
    moveTo: (path, why) => {
      noteOutput(ledger, run.runNo, path);
      runList.moved(run.run, path);
      context.progress.happened({ kind: "promises go elsewhere", path, why });
    },
  };
  if (run.output !== undefined) return openFile(writing, run.output);
  const toFile = (because: "output taken" | "reader gone"): Promise<PromiseSink> => {
    const path = join(context.cwd, `stdout.${environment.name}.${run.run}.ndjson`);
    writing.moveTo(path, { because });
    return openFile(writing, path);
  };
  if (context.promisesTo === undefined) return toFile("output taken");
  return openPromiseStream(context.promisesTo, labelOf(run), () => toFile("reader gone"));
}

interface Writing {
  readonly context: RunContext;
  readonly ledger: Ledger;
  readonly environment: Environment;
  readonly run: RunRecord;
  readonly safeCsv: boolean;
  readonly moveTo: (path: string, why: WhyElsewhere) => void;
}

async function openFile(writing: Writing, path: string): Promise<PromiseSink> {
  const { context, ledger, environment, run, safeCsv, moveTo } = writing;
  const label = labelOf(run);
  const lock = await lockOutput(context, ledger, path, `run ${run.run}`);
  try {
    const state = await inspectOutput(ledger, path, "promises", (length) => unrecordedIn(writing, path, length));
    // The file shows that more was sent than the ledger knows; going on would send it again.
    if (hasLostRuns(state, environment)) await refuseStrangeOutput(path, state, context, environment, run.run);
    const why = whyElsewhere(writing, path, state);
    if (why !== undefined) {
      // The run is under way, so its promises need a place whatever happened to the first one.
      const stem = why.because === "folder gone" ? join(context.cwd, basename(path)) : path;
      const elsewhere = await freeName(ledger, "promises", `${stem}.${run.run}`, promiseFormat(path));
      lock[Symbol.dispose]();
      moveTo(elsewhere, why);
      return await openFile(writing, elsewhere);
    }
    const onMoved = (moved: string): void => moveTo(moved, { because: "changed meanwhile", file: path });
    const sink = await openPromiseFile({ ledger, path, state, label, safeCsv, onMoved });
    return {
      get path() {
        return sink.path;
      },
      write: sink.write,
      style: sink.style,
      [Symbol.asyncDispose]: async () => {
        await sink[Symbol.asyncDispose]();
        lock[Symbol.dispose]();
      },
    };
  } catch (cause) {
    lock[Symbol.dispose]();
    throw cause;
  }
}

/**
 * What may have been on its way into the file. In a shared ledger others settle chunks of the next run while those of one are
 * written.
 */
function* unrecordedIn({ ledger, run, safeCsv }: Writing, path: string, length: number): Generator<string> {
  yield* unrecordedPromises(ledger, run.runNo, path, labelOf(run), length, safeCsv);
  if (ledger.kind === "sqlite") return;
  for (const other of unwrittenRuns(ledger))
    if (other.output === path && other.runNo !== run.runNo)
      yield* unrecordedPromises(ledger, other.runNo, path, labelOf(other), length, safeCsv);
}

/** Why a run's file can't be appended to; undefined where it can. */
function whyElsewhere({ ledger, run }: Writing, file: string, state: OutputState): WhyElsewhere | undefined {
  if (!existsSync(dirname(file))) return { because: "folder gone", file };
  if (state.state === "strange") return { because: "strange", file, strange: state.why };
  if (state.state === "fresh" && hasPromisesIn(ledger, run.runNo, file)) return { because: "content gone", file };
  return undefined;
}

/** As `openPromises`, but opened when the first line is written. */
export function openPromisesLate(context: RunContext, session: Session, run: RunRecord): PromiseSink | undefined {
  if (arePromisesElsewhere(session.ledger, run)) return undefined;
  const safeCsv = parseManifest(run.manifest).options.safeCsv;
  const format = run.output === undefined ? "ndjson" : promiseFormat(run.output);
  let sink: PromiseSink | undefined;
  return {
    get path() {
      return sink === undefined ? run.output : sink.path;
    },
    style: { label: labelOf(run), format, safeCsv: delimiterOf(format) !== undefined && safeCsv },
    async write(lines) {
      sink ??= await openHere(context, session, run);
      return sink.write(lines);
    },
    [Symbol.asyncDispose]: async () => sink?.[Symbol.asyncDispose](),
  };
}

/** Who collects holds a file only as long as it appends a few chunks. */
const outputWaitMs = ({ kind }: Ledger): number => (kind === "sqlite" ? 0 : 60_000);

/**
 * Two processes may have other folders for temporary files, as a service with a private one has: those that share a ledger
 * look there too.
 *
 * @throws Failure `busy` while another run writes the file, after `outputWaitMs`.
 */
export async function lockOutput(
  context: Pick<RunContext, "cwd" | "abort">,
  ledger: Ledger,
  path: string,
  command: string,
): Promise<Disposable> {
  const locking = {
    what: displayPath(path, context.cwd),
    command,
    waitMs: outputWaitMs(ledger),
    signal: context.abort,
  };
  const lock = await acquireLock({ ...locking, path: outputLockPath(path) });
  if (!isShared(ledger)) return lock;
  try {
    const { acquireServerLock } = await import("../ledger/postgres/lock.ts");
    const shared = await acquireServerLock({ ...locking, ledger, name: `output ${toPlaced(ledger, path)}` });
    return {
      [Symbol.dispose]() {
        try {
          shared[Symbol.dispose]();
        } finally {
          lock[Symbol.dispose]();
        }
      },
    };
  } catch (cause) {
    lock[Symbol.dispose]();
    throw cause;
  }
}

/** Two ledgers may be told to write to the same file, so its lock is where both look. */
function outputLockPath(path: string): string {
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
  return join(sharedTemporaryFolder(), `${name}.lock`);
}

/** How a run's promises name it: by its own environment, although another one that shares the ledger may finish it. */
export function labelOf({ run, manifest }: RunRecord): RunLabel {
  return { environment: parseManifest(manifest).environment, run };
}

/** Whether the file shows that the environment's ledger was lost, or restored from an older backup. */
export const hasLostRuns = (state: OutputState, environment: Environment): boolean =>
  hasUnknownRuns(state, environment) && !isOfResetSandbox(state, environment);

/** Whether the file belongs to a sandbox that was reset since, so that nothing in it is lost. */
export const isOfResetSandbox = (state: OutputState, environment: Environment): boolean =>
  hasUnknownRuns(state, environment) && wasReset(runListPath(environment.ledgerPath), state.lostRun.run);

type WithUnknownRuns = Extract<OutputState, { state: "strange" }> & { readonly lostRun: RunLabel };

const hasUnknownRuns = (state: OutputState, { ledgerNames }: Environment): state is WithUnknownRuns =>
  state.state === "strange" && state.lostRun !== undefined && ledgerNames.includes(state.lostRun.environment);

const otherwise = (ofRun: string | undefined): string =>
  ofRun === undefined
    ? "If the file belongs to another ledger, name another file with --output."
    : `If the end of it belongs to another ledger, move it away: the rest of run ${ofRun} then goes into a file beside it.`;

/** The same for a file that is damaged. */
const otherwiseWithout = (ofRun: string | undefined): string =>
  ofRun === undefined
    ? "If it can't be restored, find out what the service has, leave that out of what you stream from now on, and name another file with --output."
    : `If it can't be restored, move it away: the rest of run ${ofRun} then goes into a new file.`;

/**
 * @param ofRun the run that writes into the file already, so that no flag can name another file.
 * @throws Failure `usage` for a file that must not be written into.
 */
export async function refuseStrangeOutput(
  path: string,
  state: OutputState,
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  ofRun?: string,
): Promise<void> {
  if (state.state !== "strange") return;
  if (hasLostRuns(state, environment)) {
    const command = importCommand(environment, displayPath(path, cwd));
    if (ofRun !== undefined && state.lostRun?.run === ofRun)
      throw new Failure(
        "usage",
        `${displayPath(path, cwd)} tells more of run ${ofRun} than its ledger knows: the ledger is an older copy. Nothing was sent.`,
        {
          hint: `Put back the ledger that knows more. If it is gone, move this one away, then import all promises into a new one: ${command}`,
        },
      );
    const isDamaged = (await whyNotImported(path)) !== undefined;
    const first = isDamaged
      ? `Restore it first: as it is, it can't be read as promises. Then import what the ledger lacks: ${command}`
      : `Import what it lacks: ${command}`;
    const second = isDamaged ? otherwiseWithout(ofRun) : otherwise(ofRun);
    throw new Failure(
      "usage",
      `${displayPath(path, cwd)} holds runs of this environment that its ledger does not know: the ledger was lost or restored from an older copy, or a copy of its folder is used elsewhere. Nothing was sent.`,
      {
        hint: `${first}\n${second}`,
      },
    );
  }
  throw new Failure("usage", `${displayPath(path, cwd)} is not appended to: ${state.why}. Nothing was sent.`, {
    hint: "Name another file with --output, or set this one aside with --force (it is renamed, never deleted).",
  });
}
