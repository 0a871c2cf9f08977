/** A person says what became of a chunk, closes a run, or pauses it. */

import type { Environment } from "../config/environment.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { Chunk, Ledger, Run } from "../ledger/ledger.ts";
import { decideChunkCommand, settleCommand } from "../next-command.ts";
import { count } from "../text.ts";
import type { RunContext } from "./context.ts";
import { noteClosedInJournal } from "./lost-ledger.ts";
import { openPromises } from "./outputs.ts";
import { writeRejectsOf } from "./rejects.ts";
import { actionsOfChunk, chosenRun, openQuestions, type Question, statusAfter } from "./runs.ts";
import { byUser, openSession, type Patience, type Session, type Timing } from "./session.ts";
import type { Summary } from "./summary.ts";

export type SettleDecision = "sent" | "not-sent" | "abandon" | "pause";

export interface SettleSettings extends Pick<Timing, "startedAt">, Patience {
  readonly environment: Environment;
  /** Its id; undefined: the only open one. */
  readonly run: string | undefined;
  /** Without one, only what has to be decided is shown. */
  readonly decision: SettleDecision | undefined;
  /** Only this chunk. */
  readonly chunk?: number | undefined;
  /** Only this many actions, from the chunk's first. */
  readonly first?: number | undefined;
  /** Kept with the decision. */
  readonly reason?: string | undefined;
  /** Asked before a run is closed; without it, the run is closed unasked. */
  readonly confirmClose?: (() => Promise<boolean>) | undefined;
}

export type SettleResult =
  /** The person who was asked did not want to close the run. */
  | { readonly kind: "stays open" }
  | {
      readonly kind: "settled";
      readonly run: Run;
      readonly summary: Summary;
      /** What has to be decided; undefined where something was. */
      readonly questions: readonly Question[] | undefined;
    };

/** After it resolves, the decision is in the ledger, and promises and rejects are written. */
export async function settle(context: RunContext, options: SettleSettings): Promise<SettleResult> {
  const { environment, decision, chunk: only, reason, waitLock } = options;
  if (options.first !== undefined && (only === undefined || (decision !== "sent" && decision !== "not-sent")))
    throw new Failure("usage", "--first counts the actions of one chunk that you decide about. Nothing was settled.", {
      hint: "Add --chunk N, and --sent or --not-sent.",
    });
  await using session = await openSession(context, environment, {
    command: "tickets settle",
    waitLockMs: waitLock,
    // It sends nothing, and may be what a person has to do before an import.
    mayLackRuns: true,
  });
  const { ledger } = session;
  const run = await chosenRun(ledger, options.run, environment);
  const vanished = await ledger.doubtVanished(run.number, new Date().toISOString());
  const open = await openQuestions(ledger, run);
  const chosen = open.filter(({ chunk }) => only === undefined || chunk === only);
  switch (decision) {
    case undefined:
      break;
    case "pause": {
      const exitCode = run.exitCode ?? EXIT_CODES["stopped-early"];
      await ledger.noteStop(run.number, { exitCode, paused: byUser(reason) });
      break;
    }
    case "abandon":
      if (!(await close(context, session, run, options))) return { kind: "stays open" };
      break;
    default: {
      const isUnseen = open.length > 1 || vanished > 0 || (await isInFlight(ledger, run));
      if (only === undefined && isUnseen) throw unseen(run, open, decision, environment);
      await decide(context, session, run, { ...options, decision }, chosen);
    }
  }
  const questions = decision === undefined ? await questionsOf(ledger, run, chosen) : undefined;
  const { counts, ...after } = await statusAfter(session, run, context);
  const exitCode = counts.inDoubt + counts.refused > 0 ? EXIT_CODES["in-doubt"] : EXIT_CODES.ok;
  const durationMs = Math.round(performance.now() - options.startedAt);
  return { kind: "settled", questions, run: after.run, summary: { ...after.summary, exitCode, durationMs } };
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
  session: Session,
  run: Run,
  options: Decided,
  chosen: readonly Chunk[],
): Promise<void> {
  const { progress } = context;
  const { ledger } = session;
  const { decision, first, reason } = options;
  const [asked] = chosen;
  if (asked === undefined) progress.happened(await whyNothing(session, run, options));
  else if (first !== undefined && (first < 1 || first > asked.count))
    throw new Failure(
      "usage",
      `Chunk ${asked.chunk} has ${asked.count} actions, so --first ${first} is out of range. Nothing was settled.`,
      { hint: `Give 1 to ${asked.count}, or leave --first out.` },
    );
  for (const chunk of chosen) {
    const settled = await ledger.settle(run.number, chunk.chunk, decision, byUser(reason), first);
    crashPoint("settled");
    if (settled === undefined) continue;
    const { rest, late } = settled;
    progress.happened({ kind: "chunk settled", chunk, decision, first: first ?? chunk.count, rest, late });
  }
  await using _ = await openPromises(context, session, run);
  // What the service does not have of a closed run goes into rejects, as if it were closed only now.
  if ((await ledger.run(run.run))?.state === "closing") await endClosing(context, session, run);
  // A run that a person has settled may go on unasked.
  if (run.state === "open" && chosen.length > 0)
    await ledger.noteStop(run.number, { exitCode: EXIT_CODES["stopped-early"], paused: null });
}

/** What was decided before. @throws Failure `usage` where there is no such chunk. */
async function whyNothing({ ledger, environment }: Session, run: Run, { decision, chunk: only }: Decided) {
  // What was decided about the first of its actions only is noted of a part of it.
  const parts = (await ledger.chunks(run.number)).filter(({ chunk, whole }) => chunk === only || whole === only);
  if (only !== undefined && parts.length === 0)
    throw new Failure("usage", `Run ${run.run} has no chunk ${only}. Nothing was settled.`, {
      hint: `See what is open: ${settleCommand(run.run, environment)}`,
    });
  const before = (await ledger.settlements(run.number)).findLast(
    ({ chunk }) => only === undefined || chunk === undefined || parts.some((part) => part.chunk === chunk),
  );
  return { kind: "nothing to settle", run: run.run, chunk: only, before, decision } as const;
}

/** @returns false where the person who was asked did not want to close the run. */
async function close(context: RunContext, session: Session, run: Run, options: SettleSettings): Promise<boolean> {
  const { progress } = context;
  const { ledger, environment } = session;
  if (run.state !== "open" && run.state !== "closing") return true;
  if (run.state === "open") {
    progress.happened({ kind: "closing run", run: run.run, counts: await ledger.counts(run.number) });
    if (options.confirmClose !== undefined && !(await options.confirmClose())) return false;
  }
  const flying = await ledger.abandon(run.number, byUser(options.reason));
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
    await using _ = await openPromises(context, session, run);
  }
  await endClosing(context, session, run);
  progress.happened({ kind: "run closed", run: run.run });
  return true;
}

/** What is left unsent goes into rejects before the run has ended. */
async function endClosing(context: RunContext, { ledger, environment }: Session, run: Run): Promise<void> {
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
