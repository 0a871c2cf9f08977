/** What an environment's ledger says of its runs. Takes no lock. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, type Failure } from "../failure.ts";
import type { Invocation, LockHolder, Team } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, LOCK } from "./ledger-of.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { openRuns, type RunStatus, statusOf } from "./runs.ts";

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
  const open = await openRuns(ledger);
  const newest = await ledger.runs({ last });
  const all = [...new Map([...open, ...newest].map((run) => [run.number, run])).values()];
  const runs: RunStatus[] = [];
  for (const run of all.sort((a, b) => b.number - a.number)) runs.push(await statusOf(ledger, run, environment));
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
