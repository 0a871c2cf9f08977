/** A person says what became of a chunk, closes a run, or pauses it. */

import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Chunk, Ledger, Run, RunCounts } from "../ledger/ledger.ts";
import { decideChunkCommand, settleCommand } from "../next-command.ts";
import { count } from "../text.ts";
import { openPromises } from "../write/promise-file.ts";
import { writeRejectsOf } from "../write/rejects.ts";
import type { RunContext } from "./context.ts";
import { noteClosedInJournal } from "./lost-ledger.ts";
import { byUser, type Limits, type OpenEnvironment, openEnvironment } from "./open.ts";
import { actionsOfChunk, chosenRun, openQuestions, type Question, statusAfter } from "./runs.ts";
import type { Summary } from "./summary.ts";

export type SettleDecision = "sent" | "not-sent" | "abandon" | "pause";

export interface SettleSettings extends Limits {
  readonly environment: Environment;
  /** Its id; without one, the only open one. */
  readonly run?: string | undefined;
  /** Without one, only what has to be decided is shown. */
  readonly decision?: SettleDecision | undefined;
  /** Only this chunk. */
  readonly chunk?: number | undefined;
  /** Only this many actions, from the chunk's first. */
  readonly first?: number | undefined;
  /** Kept with the decision. */
  readonly reason?: string | undefined;
  /** Asked before an open run is closed; without it, the run is closed unasked. */
  readonly confirmClose?: ((run: Run, counts: RunCounts) => Promise<boolean>) | undefined;
}

export interface SettleResult {
  readonly run: Run;
  readonly summary: Summary;
  /** What has to be decided; undefined where something was. */
  readonly questions: readonly Question[] | undefined;
  /** The chunks that were decided about. */
  readonly chunks: readonly SettledChunk[];
}

export interface SettledChunk {
  readonly chunk: Chunk;
  /** How many of its actions, from the first, were decided about. */
  readonly first: number;
  /** Number of the chunk in which the others wait. */
  readonly rest: number | undefined;
  /** How many are closed, since a later one of their ticket was accepted. */
  readonly late: number;
}

/**
 * After it resolves, the decision is in the ledger, and promises and rejects are written.
 *
 * @returns undefined where the person who was asked did not want to close the run.
 */
export async function settle(context: RunContext, options: SettleSettings): Promise<SettleResult | undefined> {
  const { environment, decision, chunk: only } = options;
  const isAbout = decision === "sent" || decision === "not-sent";
  if (options.first !== undefined && (only === undefined || !isAbout))
    throw new Failure("usage", "--first counts the actions of one chunk that you decide about. Nothing was settled.", {
      hint: "Add --chunk N, and --sent or --not-sent.",
    });
  await using opened = await openEnvironment(context, environment, {
    ...options,
    command: "tickets settle",
    // It sends nothing, and may be what a person has to do before an import.
    mayLackRuns: true,
  });
  const { ledger } = opened;
  const run = await chosenRun(ledger, options.run, environment);
  const vanished = await ledger.doubtVanished(run.number, new Date().toISOString());
  const open = await openQuestions(ledger, run);
  const asked = open.filter(({ chunk }) => only === undefined || chunk === only);
  if (only !== undefined && !(await ledger.chunks(run.number)).some(({ chunk }) => chunk === only))
    throw new Failure("usage", `Run ${run.run} has no chunk ${only}. Nothing was settled.`, {
      hint: `See what is open: ${settleCommand(run.run, environment)}`,
    });
  let chunks: readonly SettledChunk[] = [];
  switch (decision) {
    case undefined:
      break;
    case "pause": {
      const exitCode = run.exitCode ?? EXIT_CODES["stopped-early"];
      await ledger.noteStop(run.number, { exitCode, paused: byUser(options.reason) });
      break;
    }
    case "abandon":
      if (!(await close(context, opened, run, options))) return undefined;
      break;
    default: {
      const isUnseen = open.length > 1 || vanished > 0 || (await isInFlight(ledger, run));
      if (only === undefined && isUnseen) throw unseen(run, open, decision, environment);
      chunks = await decide(context, opened, run, { ...options, decision }, asked);
    }
  }
  const questions = decision === undefined ? await questionsOf(ledger, run, asked) : undefined;
  const { counts, run: after, summary } = await statusAfter(opened, run, context);
  const exitCode = counts.inDoubt + counts.refused > 0 ? EXIT_CODES["in-doubt"] : EXIT_CODES.ok;
  const durationMs = Math.round(performance.now() - opened.startedAt);
  return { run: after, summary: { ...summary, exitCode, durationMs }, questions, chunks };
}

const isInFlight = async (ledger: Ledger, run: Run): Promise<boolean> =>
  (await ledger.chunks(run.number, { states: ["sending"] })).length > 0;

/** A decision without a chunk is about what was shown: one chunk, in doubt before, and nothing that may become another one. */
function unseen(
  { run }: Run,
  open: readonly Chunk[],
  decision: "sent" | "not-sent",
  environment: Environment,
): Failure {
  const commands = open.map(({ chunk }) => decideChunkCommand(run, chunk, environment, `--${decision}`));
  return new Failure(
    "usage",
    `Run ${run} has chunks to decide about that you may not have seen, so name one. Nothing was settled.`,
    { hint: [`See what is open: ${settleCommand(run, environment)}`, ...commands].join("\n") },
  );
}

type Decided = SettleSettings & { readonly decision: "sent" | "not-sent" };

async function decide(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  { decision, first, reason }: Decided,
  asked: readonly Chunk[],
): Promise<readonly SettledChunk[]> {
  const { ledger } = opened;
  for (const { chunk, count: actions } of asked)
    if (first !== undefined && (first < 1 || first > actions))
      throw new Failure(
        "usage",
        `Chunk ${chunk} has ${actions} actions, so --first ${first} is out of range. Nothing was settled.`,
        { hint: `Give 1 to ${actions}, or leave --first out.` },
      );
  const done: SettledChunk[] = [];
  for (const chunk of asked) {
    const settled = await ledger.settle(run.number, chunk.chunk, decision, byUser(reason), first);
    crashPoint("settled");
    if (settled !== undefined) done.push({ chunk, first: first ?? chunk.count, ...settled });
  }
  await using _ = await openPromises(context, ledger, run);
  // What the service does not have of a closed run goes into rejects, as if it were closed only now.
  if ((await ledger.run(run.run))?.state === "closing") await endClosing(context, opened, run);
  return done;
}

/** @returns false where the person who was asked did not want to close the run. */
async function close(
  context: RunContext,
  opened: OpenEnvironment,
  run: Run,
  options: SettleSettings,
): Promise<boolean> {
  const { ledger, environment } = opened;
  const { confirmClose, reason } = options;
  if (run.state !== "open" && run.state !== "closing") return true;
  if (run.state === "open" && (await confirmClose?.(run, await ledger.counts(run.number))) === false) return false;
  const flying = await ledger.abandon(run.number, byUser(reason));
  crashPoint("closing");
  if (flying > 0)
    throw new Failure(
      "busy",
      `Workers are still sending ${count(flying, "chunk")} of run ${run.run}; they start no new ones.`,
      {
        hint: `Once they are answered, finish closing it: ${settleCommand(run.run, environment, "--abandon")}`,
      },
    );
  {
    await using _ = await openPromises(context, ledger, run);
  }
  await endClosing(context, opened, run);
  return true;
}

/** What is left unsent goes into rejects before the run has ended. */
async function endClosing(context: RunContext, { ledger, environment }: OpenEnvironment, run: Run): Promise<void> {
  await writeRejectsOf(context, ledger, run);
  crashPoint("rejects written");
  await ledger.endRun(run.number, { exitCode: EXIT_CODES["finished-with-rejects"], at: new Date().toISOString() });
  const { accepted, rejected, settled, inDoubt, refused } = await ledger.counts(run.number);
  await noteClosedInJournal(environment, run, accepted + rejected + settled + inDoubt + refused);
}

/** The doubtful actions, each with its place in the input. */
async function questionsOf(ledger: Ledger, run: Run, chunks: readonly Chunk[]): Promise<readonly Question[]> {
  const questions: Question[] = [];
  const attempts = await ledger.attempts(run.number);
  for (const chunk of chunks) {
    const last = attempts.findLast((attempt) => attempt.chunk === chunk.chunk);
    const { httpStatus = 0 } = chunk;
    const isDone = chunk.state === "refused" || (httpStatus >= 200 && httpStatus < 300);
    const actions = await actionsOfChunk(ledger, run, chunk.chunk);
    questions.push({ chunk, actions, requestedAt: isDone ? undefined : last?.startedAt });
  }
  return questions;
}
