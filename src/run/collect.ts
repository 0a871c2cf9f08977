/** Brings what other machines sent of a run into its promises and rejects files. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { collectCommand, resultsCommand } from "../actions/next-command.ts";
import { displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure, SIGNAL_CODES, type StopSignal } from "../failure.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { hostOf, isHere, shownPlace } from "../ledger/machine.ts";
import { linesOfChunk, unprojectedChunks } from "../ledger/outcomes.ts";
import { rejectsFilesOf } from "../ledger/outputs.ts";
import {
  chunksOf,
  countRun,
  findRun,
  isFullyWritten,
  noteOutput,
  openQuestions,
  openRuns,
  outputHeld,
  type RunCounts,
  type RunRecord,
  runOf,
  unwrittenRuns,
} from "../ledger/runs.ts";
import { SETTLED_STATES } from "../ledger/states.ts";
import type { PromiseSink } from "../outputs/promise-sink.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import { pause } from "../sending/pause.ts";
import { projectStored } from "../sending/record-answer.ts";
import type { RunContext } from "./context.ts";
import { noLedger, openLedgerToRead } from "./ledger-to-read.ts";
import { writeRejectsOfEnded } from "./left-unwritten.ts";
import { makeWayForOutput } from "./output-place.ts";
import { arePromisesElsewhere, openPromises, type PromiseWriting } from "./promises.ts";
import { unknownRun } from "./resume.ts";
import { isPlannedElsewhere } from "./run-plan.ts";
import { openSession } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface CollectSettings {
  readonly settings: Settings;
  /** Without it, all runs whose promises belong to this machine. */
  readonly run?: string | undefined;
  /** The run's promises, all of them, go into this file from now on, and it is on this machine. */
  readonly output?: string | undefined;
  /** Set aside a file that is in the way of `output`. */
  readonly force: boolean;
  /** Until the runs have ended. */
  readonly follow: boolean;
  /** Milliseconds after which it ends all the same. */
  readonly maxDuration?: number | undefined;
  /** Milliseconds to wait while another run holds the ledger, or a file. */
  readonly waitLock: number;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
}

/** What was collected of a run. */
export interface CollectedRun {
  readonly run: string;
  readonly state: RunRecord["state"];
  /** How the run ended, as its exit code says. */
  readonly exitCode: number | undefined;
  readonly counts: RunCounts;
  /** Actions whose lines were written now. */
  readonly collected: number;
  /** Where its promises are; undefined as long as it has none. */
  readonly output: string | undefined;
  readonly rejects: readonly string[];
  /** Host on which its rejects are written, where that is another one and there may be some. */
  readonly rejectsOn: string | undefined;
  /** What its rejects are made of is gone. */
  readonly areRejectsLost: boolean;
  /** A person has to decide about it. */
  readonly waits: boolean;
}

export interface Collected {
  readonly environment: Environment;
  readonly runs: readonly CollectedRun[];
  readonly exitCode: number;
}

/** How often the ledger is asked what is new, milliseconds. */
const LOOK_MS = 1000;
/** A file is given back to whoever waits for it after so long, milliseconds. */
const MOST_HELD_MS = 2000;

/**
 * Writes what is not written yet. Whenever it is interrupted, the same command goes on where it stopped, and no line stands in a
 * file twice.
 *
 * @throws Failure `usage` where there is nothing to collect, or the files are on another machine.
 */
export async function collect(context: RunContext, options: CollectSettings): Promise<Collected> {
  const { settings, run: name, output, startedAt, maxDuration } = options;
  const { environment } = settings;
  refuseAlone(environment);
  using ledger = await openLedgerToRead(environment);
  if (ledger === undefined) throw noLedger(environment, context.cwd);
  if (name !== undefined && findRun(ledger, name) === undefined) throw unknownRun(name, environment);
  if (name !== undefined && output !== undefined) await moveOutput(context, options, name, output);
  const collector = new Collector(context, options, ledger);
  const deadline = startedAt + (maxDuration ?? Number.POSITIVE_INFINITY);
  while (!(await collector.round())) {
    if (context.stop.aborted || performance.now() > deadline) break;
    await pause(Math.min(LOOK_MS, Math.max(1, deadline - performance.now())), context.stop);
  }
  context.progress.advanced(undefined);
  const runs = collector.runs();
  return { environment, runs, exitCode: cutShort(context, options, runs) ?? exitCodeOf(runs) };
}

/** The exit code where something ended it before the runs have ended. */
function cutShort(
  { stop }: Pick<RunContext, "stop">,
  { follow }: CollectSettings,
  runs: readonly CollectedRun[],
): number | undefined {
  if (stop.aborted) return SIGNAL_CODES[stop.reason as StopSignal]; // see RunContext.stop; only stream has a max-duration there
  return follow && runs.some(({ state, waits }) => state === "open" && !waits)
    ? EXIT_CODES["stopped-early"]
    : undefined;
}

/** The first run that a person has to look at decides, as it would with `stream`. */
function exitCodeOf(runs: readonly CollectedRun[]): number {
  const codes = runs.map(({ state, exitCode, waits, counts }) => {
    if (waits) return counts.inDoubt > counts.inFlight ? EXIT_CODES["in-doubt"] : EXIT_CODES.refused;
    return state === "open" ? EXIT_CODES.ok : (exitCode ?? EXIT_CODES.ok);
  });
  return codes.find((code) => code !== EXIT_CODES.ok) ?? EXIT_CODES.ok;
}

function refuseAlone({ name, ledgerServer }: Environment): void {
  if (ledgerServer !== undefined) return;
  throw new Failure(
    "usage",
    `There is nothing to collect: the ledger of ${name} is a file of this machine, and whoever sends from here writes promises and rejects at once.`,
    { hint: "To write promises again: tickets results" },
  );
}

/** What of the runs is written, round by round. */
class Collector {
  readonly #context: RunContext;
  readonly #options: CollectSettings;
  readonly #ledger: Ledger;
  readonly #collected = new Map<number, number>();
  readonly #planned = new Map<number, number>();
  /** Runs that were looked at, in their order. */
  readonly #seen = new Set<number>();
  /** Runs that waited for a person in the last round, with nothing of them under way. */
  #waiting: ReadonlySet<number> = new Set();
  /** Files that promises had to go to instead. The list of runs is told when its lock is held. */
  readonly #moved: [string, string][] = [];

  constructor(context: RunContext, options: CollectSettings, ledger: Ledger) {
    this.#context = context;
    this.#options = options;
    this.#ledger = ledger;
  }

  /** @returns whether there is nothing left to wait for. */
  async round(): Promise<boolean> {
    const { stop } = this.#context;
    const { follow } = this.#options;
    const runs = this.#toCollect();
    let isWhole = true;
    for (const run of runs) {
      this.#seen.add(run.runNo);
      if (stop.aborted) return true;
      isWhole = (await this.#promisesOf(run)) && isWhole;
      // Asked before: what is settled after the promises were written comes with the next round.
      if (run.state !== "open") await this.#rejectsOf(run);
    }
    this.#tellProgress();
    const now = runs.filter(({ runNo }) => this.#isStuck(runNo)).map(({ runNo }) => runNo);
    const stuck = now.filter((runNo) => this.#waiting.has(runNo));
    this.#waiting = new Set(now);
    if (!follow) return isWhole;
    return isWhole && runs.every(({ runNo, state }) => state !== "open" || stuck.includes(runNo));
  }

  runs(): readonly CollectedRun[] {
    return [...this.#seen].map((runNo) => this.#resultOf(runOf(this.#ledger, runNo)));
  }

  /** Before its chunks are looked at, so that a run that has ended has all of them settled. */
  #toCollect(): readonly RunRecord[] {
    const { run: name, follow } = this.#options;
    const ledger = this.#ledger;
    if (name !== undefined) {
      const run = findRun(ledger, name);
      if (run === undefined) throw unknownRun(name, this.#options.settings.environment);
      refuseElsewhere(this.#context, this.#options.settings.environment, ledger, run);
      return [run];
    }
    const open = follow ? openRuns(ledger) : [];
    const runs = new Map([...open, ...unwrittenRuns(ledger)].map((run) => [run.runNo, run]));
    return [...runs.values()]
      .filter((run) => !arePromisesElsewhere(ledger, run))
      .toSorted((one, other) => one.runNo - other.runNo);
  }

  /** @returns whether all that was settled is written. */
  async #promisesOf(run: RunRecord): Promise<boolean> {
    const ledger = this.#ledger;
    const { runNo } = run;
    if (arePromisesElsewhere(ledger, run) || unprojectedChunks(ledger, runNo).length === 0) return true;
    let promises: PromiseSink | undefined;
    try {
      promises = await openPromises({ ...this.#context, promisesTo: undefined }, this.#writing(), run);
    } catch (cause) {
      // Whoever sends from here writes them.
      if (this.#options.follow && cause instanceof Failure && cause.code === "busy") return false;
      throw cause;
    }
    if (promises === undefined) return true;
    await using sink = promises;
    const since = performance.now();
    // Nobody else writes the file from here on.
    for (const chunk of unprojectedChunks(ledger, runNo)) {
      if (this.#context.stop.aborted || performance.now() - since > MOST_HELD_MS) return false;
      await projectStored({ ledger, runNo, promises: onlyThere(sink, runNo) }, chunk);
      this.#collected.set(runNo, (this.#collected.get(runNo) ?? 0) + linesOfChunk(ledger, runNo, chunk));
      this.#tellProgress();
    }
    return true;
  }

  #writing(): PromiseWriting {
    const { environment } = this.#options.settings;
    const runList = { moved: (run: string, path: string) => void this.#moved.push([run, path]) };
    return { ledger: this.#ledger, environment, runList };
  }

  async #rejectsOf({ runNo }: RunRecord): Promise<void> {
    const ledger = this.#ledger;
    const run = runOf(ledger, runNo);
    const isToProject = !arePromisesElsewhere(ledger, run) && unprojectedChunks(ledger, runNo).length > 0;
    if (isToProject || (!lacksRejectsHere(ledger, run) && this.#moved.length === 0)) return;
    const { settings, follow, waitLock } = this.#options;
    await using session = await openSession(this.#context, settings, {
      command: collectCommand(settings.environment, run.run),
      waitLockMs: follow ? Number.POSITIVE_INFINITY : waitLock,
    });
    for (const [moved, path] of this.#moved.splice(0)) session.runList.moved(moved, path);
    await writeRejectsOfEnded(this.#context, session, run);
  }

  /** A person has to decide about it, and nothing of it is under way. */
  #isStuck(runNo: number): boolean {
    const ledger = this.#ledger;
    return openQuestions(ledger, runNo).length > 0 && chunksOf(ledger, runNo, "sending").length === 0;
  }

  #tellProgress(): void {
    if (!this.#options.follow) return;
    let [done, total] = [0, 0];
    for (const runNo of this.#seen) {
      const planned = this.#planned.get(runNo) ?? parseManifest(runOf(this.#ledger, runNo).manifest).actions.planned;
      this.#planned.set(runNo, planned);
      const { accepted, rejected, settledByHand } = countRun(this.#ledger, runNo);
      total += planned;
      done += accepted + rejected + settledByHand;
    }
    this.#context.progress.advanced({ doing: "collecting", unit: "action", done, total });
  }

  #resultOf(run: RunRecord): CollectedRun {
    const ledger = this.#ledger;
    const { runNo, state, exitCode, output } = run;
    const isElsewhere = isPlannedElsewhere(ledger, run);
    const machine = isElsewhere ? parseManifest(run.manifest).options.machine : undefined;
    const lacksRejects = state !== "open" && !isFullyWritten(ledger, runNo);
    return {
      ...{ run: run.run, state, exitCode, counts: countRun(ledger, runNo) },
      collected: this.#collected.get(runNo) ?? 0,
      output: isHere(ledger, run.outputMachine) ? output : undefined,
      rejects: rejectsFilesOf(ledger, runNo).filter((path) => existsSync(path)),
      rejectsOn: lacksRejects && machine !== undefined ? hostOf(machine) : undefined,
      areRejectsLost: lacksRejects && machine === undefined && unprojectedChunks(ledger, runNo).length === 0,
      waits: openQuestions(ledger, runNo).length > 0,
    };
  }
}

/** The promises may be on another machine, and what rejects are made of here. */
const lacksRejectsHere = (ledger: Ledger, run: RunRecord): boolean =>
  run.state !== "open" && !isPlannedElsewhere(ledger, run) && !isFullyWritten(ledger, run.runNo);

function refuseElsewhere(
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  ledger: Ledger,
  run: RunRecord,
): void {
  if (!arePromisesElsewhere(ledger, run) || lacksRejectsHere(ledger, run)) return;
  const machine = run.output === undefined ? parseManifest(run.manifest).options.machine : run.outputMachine;
  const there = run.output === undefined ? "" : ` (${shownPlace({ path: run.output, machine: run.outputMachine })})`;
  throw new Failure(
    "usage",
    `The promises of run ${run.run} belong to ${machine === undefined ? "another machine" : hostOf(machine)}${there}. Nothing was written here.`,
    {
      hint: `Collect them there; or have all of them go into a file here from now on: ${collectCommand(environment, run.run, "-o", displayPath(resolve(cwd, `${run.run}.ndjson`), cwd))}\nOr only write them here once: ${resultsCommand(environment, run.run)}`,
    },
  );
}

/** From now on the run's promises go into this file: those too that stand in another one. */
async function moveOutput(
  context: RunContext,
  { settings, waitLock, force }: CollectSettings,
  name: string,
  output: string,
): Promise<void> {
  const path = resolve(context.cwd, output);
  const { environment } = settings;
  await using session = await openSession(context, settings, {
    command: collectCommand(environment, name, "-o", output),
    waitLockMs: waitLock,
  });
  const { ledger } = session;
  const run = findRun(ledger, name);
  if (run === undefined) throw unknownRun(name, environment);
  if (run.output === path && isHere(ledger, run.outputMachine)) return;
  const { safeCsv } = parseManifest(run.manifest).options;
  await makeWayForOutput(context, { ledger, environment }, path, { force, safeCsv });
  ledger.transaction(() => {
    noteOutput(ledger, run.runNo, path);
    for (const chunk of SETTLED_STATES.flatMap((state) => chunksOf(ledger, run.runNo, state)))
      changeChunk(ledger, "collectAnew", chunk);
  });
  session.runList.moved(name, path);
}

/** Another machine may have taken the run's promises over meanwhile: then nothing counts as written here. */
function onlyThere(sink: PromiseSink, runNo: number): PromiseSink {
  return {
    get path() {
      return sink.path;
    },
    style: sink.style,
    async write(lines) {
      const record = await sink.write(lines);
      const { path } = sink;
      return (ledger) => {
        const { output, outputMachine } = outputHeld(ledger, runNo);
        if (output !== path || !isHere(ledger, outputMachine))
          throw new Failure(
            "busy",
            `The promises of a run that went into ${path} were just taken over by another command.`,
            {
              hint: "Run the command again: it says where they are.",
            },
          );
        record(ledger);
      };
    },
    [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
  };
}
