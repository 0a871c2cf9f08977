/** Check and plan, for workers on any machine to send. */

import { closeCommand, collectCommand, settleCommand, streamCommand, workCommand } from "../actions/next-command.ts";
import { count, inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { mergeOutcomes } from "../ledger/merge.ts";
import { countRun, openQuestions, openRuns, type RunRecord, runsWithDoubts } from "../ledger/runs.ts";
import {
  hasSameInput,
  isLeftToPerson,
  type Manifest,
  parseManifest,
  waitsForAnotherRun,
} from "../plan/files/manifest.ts";
import { carryOut } from "./carry-out.ts";
import type { RunContext } from "./context.ts";
import { refuseClosing, refuseStoppedByPerson, refuseTooManyRejections } from "./earlier-runs.ts";
import { writeLeft } from "./left-unwritten.ts";
import type { RunEnd } from "./run-end.ts";
import { openSession, type Session, tellOpened } from "./session.ts";
import { enterPlanned, type PlanEnding, type PlannedInput, planInput, type StreamSettings } from "./stream.ts";
import { hasUnsentRows, type Summary, summarise } from "./summary.ts";

export type PublishSettings = Omit<StreamSettings, "maxDuration">;

export interface PublishResult {
  readonly summary: Summary;
  readonly ending: PublishEnding;
}

type PublishEnding =
  /** Nothing is entered: the input is invalid, or workers have all that is new in it, or nothing is new. */
  | (PlanEnding & {
      /** Runs that workers are sending, where the input waits for them; the oldest first. */
      readonly sending: readonly string[];
      /** The run that has just this input: the same command entered it before. */
      readonly same: string | undefined;
    })
  | { readonly kind: "not confirmed" }
  | {
      readonly kind: "published";
      readonly run: string;
      readonly environment: Environment;
      readonly manifest: Manifest;
      readonly output: string | undefined;
      /** How many open runs are sent before it. */
      readonly ahead: number;
      /** Actions that are not in it, since they depend on what someone has to decide about. */
      readonly waiting: number;
      /** Runs with doubts, where some of the input waits for a person to decide about them; the oldest first. */
      readonly doubts: readonly string[];
    }
  /** Nothing of it is to be sent, so there is nothing for workers to do. */
  | { readonly kind: "ended"; readonly end: RunEnd };

/** After it resolves, the run is in the ledger with its plan, and workers send it behind the runs that are open by then. */
export async function publish(context: RunContext, options: PublishSettings): Promise<PublishResult> {
  const { files, settings } = options;
  refuseAlone(settings.environment, files);
  if (options.output === "-")
    throw new Failure("usage", "publish sends nothing, so it has no promises to write to standard output.", {
      hint: "Name a file with --output, into which tickets collect writes them.",
    });
  await using session = await openSession(context, settings, {
    command: `tickets publish ${files.map(inShell).join(" ")}`,
    waitLockMs: options.waitLock,
  });
  tellOpened(context, session, true);
  await writeLeft(context, session);
  const ahead = openRuns(session.ledger);
  for (const run of ahead) refuseUndecided(session, run);
  // Workers settle chunks all the while. What is not merged by now counts as pending.
  mergeOutcomes(session.ledger);
  const planned = await planInput(context, options, { session, resumed: null });
  if ("ending" in planned) return nothingEntered(session, planned);
  const entered = await enterPlanned(context, options, planned, () => Promise.resolve());
  if ("ending" in entered) return nothingEntered(session, entered);
  session.runList.sending(session.ledger, entered, planned.manifest);
  if (planned.manifest.actions.planned === 0) return await endEmpty(context, options, session, entered);
  return published(options, planned, entered, ahead.length);
}

function refuseAlone(environment: Environment, files: readonly string[]): void {
  const { ledgerServer, ledgerPath, name } = environment;
  if (ledgerServer !== undefined) return;
  throw new Failure(
    "usage",
    `The ledger of ${name} is a file of this machine (${ledgerPath}), which workers elsewhere can't reach. Nothing was published.`,
    {
      hint: `Send it from here: ${streamCommand(files, environment)}\nOr move the ledger into PostgreSQL: ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}}} in the environment`,
    },
  );
}

/** A run that a person has to decide about comes first, as with `stream`. One that workers are sending does not. */
function refuseUndecided(session: Session, run: RunRecord): void {
  refuseClosing(session, run);
  refuseStoppedByPerson(session, run);
  refuseTooManyRejections(session, run);
  const { environment, ledger } = session;
  const questions = openQuestions(ledger, run.runNo);
  const waiting = questions.filter(({ state }) => state === "in doubt" || !environment.refusalsAreWhole);
  const [first] = waiting;
  if (first === undefined) return;
  const { inDoubt, inFlight, refused } = countRun(ledger, run.runNo);
  const isDoubt = waiting.some(({ state }) => state === "in doubt");
  const what = isDoubt ? `${count(inDoubt - inFlight, "action")} in doubt` : `${count(refused, "action")} refused`;
  throw new Failure(
    isDoubt ? "in-doubt" : "refused",
    `Run ${run.run} of ${run.createdAt} has ${what}, and comes first. Nothing was published.`,
    {
      hint: `Look, then decide: ${settleCommand(run.run, environment)}\nOr close it: ${closeCommand(run, environment)}`,
    },
  );
}

type NotEntered = Exclude<Awaited<ReturnType<typeof planInput>>, PlannedInput>;

function nothingEntered({ ledger, environment }: Session, { summary, ending }: NotEntered): PublishResult {
  if (ending.kind === "not confirmed") return { summary, ending };
  if (ending.kind !== "nothing sent") throw new Error(`publish can't end with "${ending.kind}"`);
  const { plan } = ending;
  const open = openRuns(ledger);
  const waits = waitsForAnotherRun(plan.actions);
  const sending = waits ? open.map(({ run }) => run) : [];
  const same = sending.length === 0 ? undefined : open.find((run) => hasSameInput(parseManifest(run.manifest), plan));
  const told = { ...ending, sending, same: same?.run };
  // Where nobody has to decide anything, what waits is sent by workers.
  if (!waits || runsWithDoubts(ledger).length > 0) return { summary, ending: told };
  return {
    summary: { ...summary, exitCode: exitCodeOf({ actions: plan.actions }, plan.rows), next: workCommand(environment) },
    ending: told,
  };
}

/** Where nobody has to decide anything, what is pending is sent before it. */
const waitsForPerson = (manifest: Pick<Manifest, "actions" | "behind">): boolean =>
  manifest.actions.waiting > 0 || isLeftToPerson(manifest);

function exitCodeOf(manifest: Pick<Manifest, "actions" | "behind">, rows: Manifest["rows"]): number {
  if (waitsForPerson(manifest)) return EXIT_CODES["in-doubt"];
  return hasUnsentRows(rows) ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** All rows that are new are invalid: the run has nothing to send, and its rejects are written now. */
async function endEmpty(
  context: RunContext,
  { startedAt }: PublishSettings,
  session: Session,
  run: RunRecord,
): Promise<PublishResult> {
  const deadline = Number.POSITIVE_INFINITY;
  const end = await carryOut(context, { session, run, isResumed: false, deadline, startedAt });
  return { summary: end.summary, ending: { kind: "ended", end } };
}

function published(
  { startedAt }: PublishSettings,
  { session: { environment, ledger }, manifest, checked: { plan, problems }, output }: PlannedInput,
  { run, runNo }: RunRecord,
  ahead: number,
): PublishResult {
  const { waiting } = plan.actions;
  const summary = summarise({
    run,
    environment: environment.name,
    state: "published",
    exitCode: exitCodeOf(manifest, plan.rows),
    plan,
    problems,
    counts: countRun(ledger, runNo),
    durationMs: performance.now() - startedAt,
    output: output ?? null,
    next: collectCommand(environment, run, "--follow"),
    vanished: plan.vanished,
  });
  const doubts = waitsForPerson(manifest) ? runsWithDoubts(ledger).map((each) => each.run) : [];
  return { summary, ending: { kind: "published", run, environment, manifest, output, ahead, waiting, doubts } };
}
