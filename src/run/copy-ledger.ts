/** Moves an environment's ledger from its file into a database, or back. */

import { existsSync } from "node:fs";
import {
  closeCommand,
  collectCommand,
  type LedgerPlace,
  resumeCommand,
  settleCommand,
} from "../actions/next-command.ts";
import { andMore, cleanText, count } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { BESIDE_DATABASE, setAside } from "../disk/aside.ts";
import { Failure } from "../failure.ts";
import { type CopyResult, copyLedger as copyRows, isCopied } from "../ledger/copy.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { copiedTo, type Mark, reopen } from "../ledger/moved.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { isFullyWritten, isUndecided, listRuns, openQuestions, type RunRecord } from "../ledger/runs.ts";
import type { RunContext } from "./context.ts";
import { hasLedger, openBothPlaces, openLocked } from "./ledger-of.ts";
import { lookForLostRuns, lostRunsFailure } from "./lost-runs.ts";
import type { Settings } from "./settings.ts";
import { userName } from "./user-name.ts";

export interface CopySettings {
  readonly settings: Pick<Settings, "environment">;
  readonly from: LedgerPlace;
  readonly to: LedgerPlace;
  readonly waitLock: number;
}

export interface CopiedLedger extends CopyResult {
  readonly from: string;
  readonly to: string;
  /** It had been copied before, and nothing was done. */
  readonly wasDone: boolean;
  /** A ledger of earlier that made way: under its new name. */
  readonly aside: string | undefined;
}

/**
 * After this resolves, the ledger is at the place `to`, and the one at `from` can't be opened to send. Interrupted, the same
 * command goes on with it; until then neither can.
 *
 * @throws Failure `usage` where one of the two places is none to copy from or to; `busy` while another run holds a lock.
 */
export async function copyLedger(
  context: RunContext,
  { settings: { environment }, from, to, waitLock }: CopySettings,
): Promise<CopiedLedger> {
  const { name, ledgerServer: server, ledgerPath } = environment;
  if (from === to) throw new Failure("usage", `--from and --to are both ${from}. Nothing was copied.`);
  if (server === undefined)
    throw new Failure("usage", `${name} names no database for its ledger. Nothing was copied.`, {
      hint: `Name it in the config until the copy is done: environments: {${name}: {ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}}}}}`,
    });
  const missing = (place: string): Failure =>
    new Failure("usage", `There is no ledger of ${name} ${place}, so nothing to copy.`);
  if (from === "sqlite" && !existsSync(ledgerPath)) throw missing(`at ${ledgerPath}`);
  let aside: string | undefined;
  using places = await openBothPlaces(context, environment, server, {
    command: "tickets ledger copy",
    waitMs: waitLock,
    onWait: (holder) => context.progress.happened({ kind: "waiting for the lock", holder }),
    onPacking: (actions) => context.progress.happened({ kind: "ledger brought up to date", actions }),
    beforeFile() {
      if (to === "sqlite") aside = setMovedAside(ledgerPath);
    },
    async beforeCreating() {
      if (from === "postgres") throw missing("in the database");
    },
  });
  const [source, target] = from === "sqlite" ? [places.file, places.database] : [places.database, places.file];
  const shown = { from: source.path, to: target.path, aside };
  if (isCopied(source, target)) return { ...shown, tables: [], isResumed: true, wasDone: true };
  await refuseUnready(context, environment, source);
  const copied = await copyRows(source, target, {
    signal: context.stop,
    at: new Date().toISOString(),
    onProgress: ({ doing, done }) => context.progress.advanced({ doing, done, unit: "row" }),
  });
  context.progress.advanced(undefined);
  return { ...copied, ...shown, wasDone: false };
}

/** A file whose ledger was moved makes way for the one that comes back. */
function setMovedAside(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  {
    using file = openLedger({ path, boundTo: undefined, readOnly: true });
    if (copiedTo(file)?.isWhole !== true) return undefined;
  }
  return setAside(path, new Date(), BESIDE_DATABASE);
}

/**
 * Only a ledger at rest is moved: whoever goes on with a run needs its plan, and files that are on one machine.
 *
 * @throws Failure `busy` while runs are not done, `usage` where the ledger lacks runs that were sent from here: in its new place
 * nobody would notice.
 */
async function refuseUnready({ cwd }: RunContext, environment: Environment, source: Ledger): Promise<void> {
  const lost = await lookForLostRuns(environment, async () => source);
  if (lost.length > 0) throw await lostRunsFailure(lost, environment, cwd, "Nothing was copied.");
  const undone = runsNotDone(source);
  if (undone.length === 0) return;
  const shown = undone.slice(0, SHOWN).map(({ run }) => run);
  throw new Failure(
    "busy",
    `${environment.name} has ${count(undone.length, "run")} that ${undone.length === 1 ? "is" : "are"} not done: ${shown.join(", ")}${andMore(undone.length - shown.length)}. Nothing was copied.`,
    {
      hint: undone
        .slice(0, SHOWN)
        .map((run) => whatToDo(source, run, environment))
        .join("\n"),
    },
  );
}

const SHOWN = 3;

/** Open, or with actions that a person has to decide about, or with results that are in no file yet. */
const runsNotDone = (ledger: Ledger): readonly RunRecord[] =>
  listRuns(ledger)
    .filter(({ runNo, state }) => state === "open" || isUndecided(ledger, runNo) || !isFullyWritten(ledger, runNo))
    .toReversed();

function whatToDo(ledger: Ledger, record: RunRecord, environment: Environment): string {
  const { run, runNo, state } = record;
  if (openQuestions(ledger, runNo).length > 0) return `Say what became of it: ${settleCommand(run, environment)}`;
  if (state === "open")
    return `Finish it: ${resumeCommand(run, environment)}\nOr close it: ${closeCommand(record, environment)}`;
  return ledger.kind === "postgres"
    ? `Write its results, where they belong: ${collectCommand(environment, run)}`
    : `Finish closing it: ${closeCommand(record, environment)}`;
}

export interface ReopenSettings {
  readonly settings: Pick<Settings, "environment">;
  readonly reason?: string | undefined;
  readonly waitLock: number;
}

/**
 * Has the ledger that the config names be used again, although it was moved to another place.
 *
 * @returns where it was moved to; undefined where it was not.
 * @throws Failure `usage` without a reason.
 */
export async function reopenLedger(
  context: RunContext,
  { settings: { environment }, reason, waitLock }: ReopenSettings,
): Promise<Mark | undefined> {
  if (reason === undefined || reason.trim() === "")
    throw new Failure("usage", "tickets ledger reopen needs a reason, which is kept. Nothing was changed.", {
      hint: 'Give one with --reason "…".',
    });
  if (!(await hasLedger(environment)))
    throw new Failure("usage", `There is no ledger of ${environment.name} yet, so nothing to reopen.`);
  const opened = await openLocked(context, environment, {
    ...{ command: "tickets ledger reopen", waitMs: waitLock, boundTo: async () => undefined },
  });
  using _lock = opened.lock;
  using ledger = opened.ledger;
  return reopen(ledger, { who: userName(), reason: cleanText(reason, 500) });
}
