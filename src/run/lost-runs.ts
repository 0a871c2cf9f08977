/** How a ledger that was lost or restored from an older copy is noticed: it lacks runs that were sent from here. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { forgetLostCommand, importCommand, settleCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type Ledger, readMeta, runListPath } from "../ledger/ledger.ts";
import { findLostRuns, type LostRun, type RunListContent, readRunList } from "../ledger/run-list.ts";
import { findRun } from "../ledger/runs.ts";
import { type Manifest, parseManifest } from "../plan/files/manifest.ts";
import { planFiles } from "../plan/files/plan.ts";
import { whyNotImported } from "./promises-file.ts";

/** Whose runs are looked for: those sent to the service, or the sandbox instance, that the ledger belongs to. */
interface Whose {
  readonly environment: Environment;
  /** Undefined where it is not known yet, as for a sandbox that is not running. */
  readonly boundTo: string | undefined;
}

/**
 * The runs that the list and the runs' folders tell of and that the ledger does not know, or not fully.
 *
 * @param list what `readRunList` gave before the ledger was opened.
 * @param ledger undefined where there is none.
 */
export function lostRunsOf(whose: Whose, list: RunListContent, ledger: Ledger | undefined): readonly LostRun[] {
  const isOf = ofLedger(whose, list, ledger);
  const lost = findLostRuns(list, ledger, isOf);
  if (list.head !== undefined) return lost;
  const strays = strayPlans(whose.environment, ledger, isOf).filter(({ run }) => !list.runs.has(run));
  return [...lost, ...strays.map(toLost)];
}

/** A run of which there is only a plan. */
function toLost({ run, createdAt, actions }: Manifest): LostRun {
  return {
    run,
    number: 0,
    createdAt,
    actions: actions.planned,
    attempts: 0,
    outputs: [],
    unread: [],
    how: "unknown",
    known: 0,
    undecided: undefined,
    planned: [],
    unsent: [],
    state: undefined,
    rejected: undefined,
    isDecided: false,
  };
}

/**
 * For commands that only read. They hold no lock, so a run may begin meanwhile: the list is read first, since a run enters
 * the ledger before the list.
 */
export async function lookForLostRuns(
  environment: Environment,
  ledger: () => Promise<Ledger | undefined>,
): Promise<readonly LostRun[]> {
  const list = readRunList(runListPath(environment.ledgerPath));
  return lostRunsOf({ environment, boundTo: undefined }, list, await ledger());
}

function ofLedger(
  { environment, boundTo }: Whose,
  list: RunListContent,
  ledger: Ledger | undefined,
): (boundTo: string) => boolean {
  // A service that moved is still the same one; only a sandbox begins anew.
  if (environment.kind !== "sandbox") return () => true;
  if (!existsSync(join(environment.ledgerPath, "..", "service.db"))) return () => false;
  const instance =
    boundTo ??
    (ledger === undefined ? undefined : readMeta(ledger, "bound_to")) ??
    [...list.runs.values()].at(-1)?.boundTo;
  return (each) => each === instance;
}

/**
 * Plans that are older than the ledger, which therefore does not know their runs. Whether a younger plan ever became a run
 * can't be told.
 */
export function strayPlans(
  { ledgerPath }: Environment,
  ledger: Ledger | undefined,
  isOf: (boundTo: string) => boolean,
): readonly Manifest[] {
  const madeAt = ledger === undefined ? undefined : readMeta(ledger, "created_at");
  return plansIn(join(ledgerPath, "..", "runs")).filter(
    ({ run, createdAt, boundTo, actions }) =>
      (madeAt === undefined || createdAt < madeAt) &&
      actions.planned > 0 &&
      isOf(boundTo) &&
      (ledger === undefined || findRun(ledger, run) === undefined),
  );
}

function plansIn(directory: string): readonly Manifest[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((name) => {
      try {
        return parseManifest(readFileSync(planFiles(join(directory, name)).manifest, "utf8"));
      } catch {
        // Not a whole plan, or one of another version.
        return [];
      }
    })
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

/** How many runs are listed one by one. */
const SHOWN = 5;

/**
 * Says what happened and what to do, for a command that would otherwise send again what those runs have sent.
 *
 * @param left what the command did not do.
 */
export async function lostRunsFailure(
  lost: readonly LostRun[],
  environment: Environment,
  cwd: string,
  left = "Nothing was sent.",
): Promise<Failure> {
  const name = environment.name;
  const isImport = lost.every(({ how }) => how === "incomplete");
  const shown = lost.slice(0, SHOWN).map((run) => describeLost(run, environment));
  const more = andMore(lost.length - shown.length);
  const what = isImport
    ? `The ledger of ${name} still lacks part of ${lost.length === 1 ? "an imported run" : "the imported runs"}`
    : `The ledger of ${name} was lost, or restored from an older copy: it does not know everything that was sent from here`;
  return new Failure("usage", `${what}: ${shown.join(", ")}${more}. ${left}`, {
    hint: `${await waysOut(lost, environment, cwd)}\nIf you are sure that none of it will be sent twice: ${forgetLostCommand(environment)}`,
  });
}

/** How the ledger learns what it lacks of these runs: from their promises, from the list of runs, or from a person. */
export async function waysOut(lost: readonly LostRun[], environment: Environment, cwd: string): Promise<string> {
  const untold = lost.filter(({ isDecided }) => !isDecided);
  const unusable = await unusableOf(lost);
  const hints = [memoryHint(untold, unusable, environment, cwd), ...mendHints(lost, unusable, environment)];
  return hints.filter((hint) => hint !== "").join("\n");
}

/** The promises files of these runs that can't be imported: they are missing, or damaged. */
async function unusableOf(lost: readonly LostRun[]): Promise<ReadonlySet<string>> {
  const unusable = new Set<string>();
  for (const path of new Set(lost.flatMap(({ unread }) => unread)))
    if ((await whyNotImported(path)) !== undefined) unusable.add(path);
  return unusable;
}

/** Which promises to import; empty where the ledger has read them all. */
function memoryHint(
  lost: readonly LostRun[],
  unusable: ReadonlySet<string>,
  environment: Environment,
  cwd: string,
): string {
  const unread = [...new Set(lost.flatMap((run) => run.unread))];
  const commands = unread
    .filter((path) => !unusable.has(path))
    .map((path) => importCommand(environment, displayPath(path, cwd)));
  const shown = (paths: readonly string[]): string =>
    paths.map((path) => cleanText(displayPath(path, cwd), 200)).join(", ");
  const gone = unread.filter((path) => !existsSync(path));
  const damaged = unread.filter((path) => unusable.has(path) && existsSync(path));
  const restore = [
    ...(gone.length === 0 ? [] : [`Restore ${shown(gone)} first.\n`]),
    ...(damaged.length === 0 ? [] : [`Restore ${shown(damaged)} first: as it is, it can't be read as promises.\n`]),
  ];
  const missing = restore.join("");
  if (commands.length > 0) return missing + commands.map((command) => `Import what it lacks: ${command}`).join("\n");
  if (lost.length === 0 || (unread.length === 0 && lost.every(({ outputs }) => outputs.length > 0))) return "";
  const [first] = lost;
  const whose = first !== undefined && lost.length === 1 ? `of run ${first.run}` : "of those runs";
  return `${missing}Import what it lacks from the promises ${whose}: ${importCommand(environment)}`;
}

/** What to do about runs whose promises are imported, gone or damaged: the list of runs tells the rest, or a person decides. */
function mendHints(
  lost: readonly LostRun[],
  unusable: ReadonlySet<string>,
  environment: Environment,
): readonly string[] {
  return lost
    .filter(({ how, unread }) => how !== "unknown" || unread.every((path) => unusable.has(path)))
    .slice(0, SHOWN)
    .map(({ run, isDecided }) => {
      const plan = join(environment.ledgerPath, "..", "runs", run);
      if (!existsSync(planFiles(plan).manifest))
        return `The plan of run ${run} is lost, and nothing else tells more about it. Restore the folder ${plan} from a backup; if it is gone, find out what the service has and leave that out of what you stream from now on.`;
      return isDecided
        ? `Bring run ${run} up to date with the list of runs: ${settleCommand(run, environment)}`
        : `Put what no promises file tells about run ${run} into doubt, to decide about it: ${settleCommand(run, environment)}`;
    });
}

/** `run 7f3a0c11 of 2026-03-01T03:00:00.000Z (20 actions)` */
function describeLost(
  { run, createdAt, actions, how, known, undecided, state }: LostRun,
  { ledgerServer }: Environment,
): string {
  const of = `run ${run} of ${createdAt}`;
  if (how === "unknown") return `${of} (${count(actions, "action")})`;
  const closed = state === "abandoned" ? "; it has been closed since" : "";
  const why =
    undecided === undefined
      ? "; what became of the others is not known, since it was killed"
      : undecided > 0
        ? `; ${undecided} were in doubt or refused${ledgerServer === undefined ? "" : ", or for others to send"}${closed}`
        : closed;
  return `${of} (knows ${known} of ${count(actions, "action")}${why})`;
}
