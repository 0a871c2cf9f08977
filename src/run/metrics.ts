/** Numbers about an environment, for those who watch it. They come from its ledger, so a bad night does not lose the good ones. */

import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Invocation } from "../ledger/ledger.ts";
import type { Team } from "../ledger/workers.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { lostRunsOf } from "./lost-ledger.ts";
import { NIGHTLY } from "./status.ts";

/** How the last command that sends ended. */
export type SendingEnd = Pick<Invocation, "exitCode" | "durationMs" | "counts"> & { readonly endedAt: string };

export interface Metrics {
  readonly environment: string;
  /** The last `stream` or `resume`; undefined before the first one. */
  readonly last: SendingEnd | undefined;
  /** Undefined where the ledger can't be read, or lacks runs that were sent from here. */
  readonly ledger: LedgerMetrics | undefined;
}

interface LedgerMetrics {
  /** Undefined before the first one. */
  readonly lastSuccess: string | undefined;
  /** Actions in doubt that wait for a person. */
  readonly doubts: number;
  readonly unfinishedRuns: number;
  readonly bytes: number;
  /** What is sent right now; undefined where the ledger is one machine's alone. */
  readonly team: { readonly workers: number; readonly backlog: number; readonly lastMinute: number } | undefined;
}

const NOTHING: LedgerMetrics = { lastSuccess: undefined, doubts: 0, unfinishedRuns: 0, bytes: 0, team: undefined };

/**
 * @param last how the command ended that asks; without it, what the ledger has noted.
 * @throws Failure where the ledger can't be read, unless `last` is given.
 */
export async function readMetrics(
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  last?: SendingEnd,
): Promise<Metrics> {
  const { name } = environment;
  try {
    await using ledger = await findLedgerOf(environment);
    const lost = await lostRunsOf(environment, ledger, cwd);
    if (ledger === undefined) return { environment: name, last, ledger: lost === undefined ? NOTHING : undefined };
    const [noted] = await ledger.invocations({ commands: NIGHTLY, last: 1 });
    const end = last ?? (noted && endOf(noted));
    // Where it lacks runs, it can't say that nothing is in doubt.
    if (lost !== undefined) return { environment: name, last: end, ledger: undefined };
    const [succeeded] = await ledger.invocations({ commands: NIGHTLY, succeeded: true, last: 1 });
    let doubts = 0;
    for (const run of await ledger.runs({ chunks: ["in doubt", "refused"] })) {
      const counts = await ledger.counts(run.number);
      doubts += counts.inDoubt + counts.refused;
    }
    const team = await ledger.workers?.team();
    return {
      environment: name,
      last: end,
      ledger: {
        lastSuccess: succeeded && endOf(succeeded).endedAt,
        doubts,
        unfinishedRuns: (await ledger.runs({ states: ["open", "closing"] })).length,
        bytes: (await ledger.size()).bytes,
        team: team && toNumbers(team),
      },
    };
  } catch (cause) {
    if (last === undefined || !(cause instanceof Failure)) throw cause;
    return { environment: name, last, ledger: undefined };
  }
}

/** When a command that was noted ended. */
export const endOf = ({ startedAt, durationMs, exitCode, counts }: Invocation): SendingEnd => ({
  endedAt: new Date(Date.parse(startedAt) + durationMs).toISOString(),
  ...{ durationMs, exitCode, counts },
});

/** A worker that was not seen for longer is gone. */
const GONE_MS = 10_000;
export const isThere = ({ seenAgoMs }: Team["workers"][number]): boolean => seenAgoMs < GONE_MS;

const toNumbers = ({ workers, lanes, lastMinute }: Team): LedgerMetrics["team"] => ({
  workers: workers.filter(isThere).length,
  backlog: lanes.reduce((sum, { actions }) => sum + actions, 0),
  lastMinute,
});
