/** Runs as their ledger knows them: which one is meant, where it stands, and whether it waits for a person. Takes no lock. */

import type { Action } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type {
  Attempt,
  Chunk,
  Invocation,
  Ledger,
  LockHolder,
  Run,
  RunCounts,
  Settlement,
  Team,
} from "../ledger/ledger.ts";
import { resumeCommand, settleCommand, statusCommand, streamOfRejects } from "../next-command.ts";
import type { RowCounts } from "../plan/plan.ts";
import { rejectsOf } from "../write/rejects.ts";
import type { RunContext } from "./context.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { findLedgerOf, LOCK, type OpenEnvironment } from "./open.ts";
import { type Summary, summarise } from "./summary.ts";

/**
 * The run that a command is about.
 *
 * @param id undefined: the only one that is open, or has a chunk in doubt.
 */
export async function chosenRun(ledger: Ledger, id: string | undefined, environment: Environment): Promise<Run> {
  if (id !== undefined) return namedRun(ledger, id, environment);
  const open = await openRuns(ledger);
  const [run] = open;
  if (run !== undefined && open.length === 1) return run;
  const what =
    run === undefined
      ? `No run of ${environment.name} is open.`
      : `${open.length} runs of ${environment.name} are open. Name one.`;
  throw new Failure("usage", what, { hint: `See its runs: ${statusCommand(environment)}` });
}

/** The run whose results are asked for. @param id undefined: the only one that is open, else the last. */
export async function runOfResults(ledger: Ledger, id: string | undefined, environment: Environment): Promise<Run> {
  if (id !== undefined || (await openRuns(ledger)).length > 0) return chosenRun(ledger, id, environment);
  const last = (await ledger.runs()).findLast(hasPromises);
  if (last === undefined)
    throw new Failure("usage", `Nothing was sent to ${environment.name} yet, so there are no results.`);
  return last;
}

/** What was adopted was sent by another tool, which has its promises. */
export const hasPromises = ({ kind }: Run): boolean => kind !== "adopted";

/** @throws Failure `usage` where there is no such run. */
export async function namedRun(ledger: Ledger, id: string, environment: Environment): Promise<Run> {
  const run = await ledger.run(id);
  if (run !== undefined) return run;
  throw new Failure("usage", `The ledger of ${environment.name} has no run ${id}.`, {
    hint: `See its runs: ${statusCommand(environment)}`,
  });
}

/** Whether a run was entered from here: its promises and rejects belong to that machine. */
export const isEnteredHere = (ledger: Ledger, { options: { machine } }: Run): boolean => machine === ledger.machine;

/** Runs of which something may be left to send, or to close, the oldest first. */
export const unfinishedRuns = (ledger: Ledger): Promise<readonly Run[]> => ledger.runs({ states: ["open", "closing"] });

/** Runs that wait for somebody, the oldest first: open, being closed, or closed with a doubt. */
async function openRuns(ledger: Ledger): Promise<readonly Run[]> {
  return onceEach(await unfinishedRuns(ledger), await ledger.runs({ asks: true }));
}

const onceEach = (...lists: readonly (readonly Run[])[]): readonly Run[] =>
  [...new Map(lists.flat().map((run) => [run.number, run])).values()].sort((a, b) => a.number - b.number);

/** Chunks that wait for a person. */
export const openQuestions = (ledger: Ledger, run: Run): Promise<readonly Chunk[]> =>
  ledger.chunks(run.number, { states: ["in doubt", "refused"] });

/** Of runs for which an input's actions wait, one with a doubt. */
export async function doubtedOf(ledger: Ledger, heldBy: readonly string[] = []): Promise<string | undefined> {
  if (heldBy.length === 0) return undefined;
  return (await ledger.runs({ ids: heldBy, asks: true }))[0]?.run;
}

/** Why nothing more of a run is sent before a person has done something. Undefined of one in doubt, too: that is said where its chunks are. */
export async function failureIfBlocked(
  ledger: Ledger,
  run: Run,
  environment: Environment,
): Promise<Failure | undefined> {
  const { run: id } = run;
  const close = settleCommand(run.run, environment, "--abandon");
  const resume = resumeCommand(id, environment);
  if (run.state === "closing")
    return new Failure("busy", `The closing of run ${id} was interrupted, and comes first.`, {
      nothingSent: true,
      hint: `Finish closing it: ${close}`,
    });
  if ((await openQuestions(ledger, run)).length > 0) return undefined;
  if (run.paused !== undefined)
    return new Failure("busy", `Run ${id} was stopped by a person and comes first.`, {
      nothingSent: true,
      hint: `Resume it: ${resume}\nOr close it: ${close}`,
    });
  const { rejected } = await ledger.counts(run.number);
  if (run.exitCode !== EXIT_CODES.refused || rejected <= environment.maxRejected) return undefined;
  return new Failure(
    "refused",
    `Run ${id} stopped because the service rejected too many of its actions, and comes first.`,
    { nothingSent: true, hint: `Look at its rejects, then go on: ${resume}` },
  );
}

/** What a plan noted in its run, as it entered it. */
const NO_ROWS: RowCounts = { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0 };
const NO_ACTIONS = { new: 0, alreadySent: 0, changed: 0, late: 0, unclear: 0, held: 0 };

/** What its plan counted. Of a run that was imported, it is only known what was sent. */
export const countsOf = (run: Run, { total }: Pick<RunCounts, "total">) => ({
  rows: { ...NO_ROWS, ...run.rows },
  actions: { ...NO_ACTIONS, total, ...run.actions },
  byAction: run.byAction,
  problems: { errors: 0, warnings: 0, ...run.problems },
});

export interface RunStatus {
  readonly run: Run;
  readonly counts: RunCounts;
  readonly summary: Summary;
}

export async function statusOf(ledger: Ledger, run: Run, environment: Environment): Promise<RunStatus> {
  const counted = await ledger.counts(run.number);
  // Where nobody holds the lock any more, nobody waits for an answer. Of workers, what they vanished from is in doubt once its time is over.
  const isSentByNobody = ledger.workers === undefined && (await ledger.holder(LOCK)) === undefined;
  const inDoubt = counted.inDoubt + counted.inFlight;
  const counts = isSentByNobody ? { ...counted, inDoubt, inFlight: 0 } : counted;
  const isAdopted = run.kind === "adopted";
  const summary = summarise({
    run: run.run,
    environment: run.environment,
    state: isAdopted ? "adopted" : run.state === "finished" || run.state === "abandoned" ? run.state : "stopped",
    exitCode: run.exitCode ?? 0,
    of: countsOf(run, counts),
    ...(!isAdopted && { counts }),
    output: run.output ?? null,
    rejects: await rejectsOf(ledger, run),
    durationMs: run.endedAt === undefined ? 0 : Date.parse(run.endedAt) - Date.parse(run.createdAt),
    next: nextOf(run, counts, environment),
  });
  return { run, counts, summary };
}

/** What a person does next about a run; null where nothing of it is open, or somebody is sending it. */
function nextOf({ run, state }: Run, counts: RunCounts, environment: Environment): string | null {
  if (state === "closing") return settleCommand(run, environment, "--abandon");
  if (counts.inDoubt + counts.refused > 0) return settleCommand(run, environment);
  return state === "open" && counts.inFlight === 0 ? resumeCommand(run, environment) : null;
}

/** Where a run stands as a command leaves it, and what comes next: also beside workers that are at it, and for its rejects. */
export async function statusAfter(
  { ledger, environment }: Pick<OpenEnvironment, "ledger" | "environment">,
  { run: id }: Run,
  { cwd }: { readonly cwd: string },
): Promise<RunStatus> {
  const found = await statusOf(ledger, await namedRun(ledger, id, environment), environment);
  const { run, counts, summary } = found;
  const { rejects } = summary;
  const ofRejects =
    rejects.length === 0 ? null : streamOfRejects(rejects, run.options.flags ?? [], { cwd }, environment);
  const next = nextOf(run, { ...counts, inFlight: 0 }, environment) ?? ofRejects;
  return { ...found, summary: { ...summary, next } };
}

export interface RunDetails extends RunStatus {
  readonly chunks: readonly Chunk[];
  readonly attempts: readonly Attempt[];
  readonly settlements: readonly Settlement[];
}

export async function detailsOf(ledger: Ledger, run: Run, environment: Environment): Promise<RunDetails> {
  const status = await statusOf(ledger, run, environment);
  const isInFlight = status.counts.inFlight > 0;
  const chunks = await ledger.chunks(run.number);
  return {
    ...status,
    chunks: chunks.map((chunk) => (chunk.state === "sending" && !isInFlight ? { ...chunk, state: "in doubt" } : chunk)),
    attempts: await ledger.attempts(run.number),
    settlements: await ledger.settlements(run.number),
  };
}

/** What a person has to decide about. */
export interface Question {
  readonly chunk: Chunk;
  readonly actions: readonly AskedAction[];
  /** When its last request left; undefined where an answer shows that the service is done with it. */
  readonly requestedAt?: string | undefined;
}

export interface AskedAction {
  readonly source: string;
  readonly line: number;
  readonly action: Action;
}

/** Every action of a chunk, with where it came from. */
export async function actionsOfChunk(ledger: Ledger, run: Run, chunk: number): Promise<readonly AskedAction[]> {
  const { items } = await ledger.outcomes(run.number, chunk);
  const bytes = await ledger.body(run.number, chunk);
  if (bytes === undefined)
    throw new Failure(
      "usage",
      `The request of chunk ${chunk} is not in the ledger ${ledger.place} any more: it was pruned.`,
      {
        hint: "The ledger still knows what was sent, and the promises: tickets find ID",
      },
    );
  const body = parseJson(Buffer.from(bytes).toString("utf8")) as readonly Action[]; // as the plan wrote it
  return items.flatMap(({ origin, place, outcome }) => {
    const action = body[place];
    if (action === undefined || outcome === "moved") return [];
    return [{ source: run.inputs[origin.input]?.name ?? "", line: origin.line, action }];
  });
}

/** What an environment's ledger says of its runs. */
export interface Status {
  readonly hasLedger: boolean;
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
  /** Newest first. */
  readonly runs: readonly RunStatus[];
  readonly holder: LockHolder | undefined;
  /** The last stream or resume that succeeded, and the last that did any work, where that one did not. */
  readonly succeeded: Invocation | undefined;
  readonly failed: Invocation | undefined;
  /** The last of all, where it did none: it was mistyped, or a file was missing. */
  readonly unstarted: Invocation | undefined;
  /** Where several machines send. */
  readonly team: Team | undefined;
}

const NOTHING: Omit<Status, "problem"> = {
  ...{ hasLedger: false, runs: [], holder: undefined, succeeded: undefined },
  ...{ failed: undefined, unstarted: undefined, team: undefined },
};

/** Commands whose end says whether a night went well. */
const NIGHTLY = ["stream", "resume"];

/** @param last how many runs, besides those that are open. */
export async function status(
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  last: number,
): Promise<Status> {
  await using ledger = await findLedgerOf(environment);
  const problem = await lostRunsOf(environment, ledger, cwd);
  if (ledger === undefined) return { ...NOTHING, problem };
  const runs: RunStatus[] = [];
  for (const run of onceEach(await openRuns(ledger), await ledger.runs({ last })).toReversed())
    runs.push(await statusOf(ledger, run, environment));
  const succeeded = await ledger.lastInvocation(NIGHTLY, "succeeded");
  const worked = await ledger.lastInvocation(NIGHTLY, "worked");
  const latest = await ledger.lastInvocation(NIGHTLY);
  return {
    ...{ hasLedger: true, problem, runs, succeeded },
    holder: await ledger.holder(LOCK),
    failed: worked?.exitCode === EXIT_CODES.ok ? undefined : worked,
    unstarted: latest?.startedAt === worked?.startedAt ? undefined : latest,
    team: await ledger.workers?.team(),
  };
}

/** When a command that was noted ended. */
export const endedAt = ({ startedAt, durationMs }: Pick<Invocation, "startedAt" | "durationMs">): string =>
  new Date(Date.parse(startedAt) + durationMs).toISOString();

/** A worker that was not seen for longer is gone. */
const GONE_MS = 10_000;
export const isThere = ({ seenAgoMs }: Team["workers"][number]): boolean => seenAgoMs < GONE_MS;

export const isUnfinished = ({ run: { state } }: RunStatus): boolean => state === "open" || state === "closing";

export const waitsForPerson = ({ run, counts }: RunStatus): boolean =>
  run.state === "closing" || counts.inDoubt + counts.refused > 0;
