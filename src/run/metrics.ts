/** Numbers about an environment, for those who watch it. They come from its ledger, so a bad night does not lose the good ones. */

import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { lastRunEnd, lastSuccess, type SendingEnd } from "../ledger/invocations.ts";
import { runListPath } from "../ledger/ledger.ts";
import { isThere, readTeam, type Team } from "../ledger/postgres/workers.ts";
import { readRunList } from "../ledger/run-list.ts";
import { openRuns, runsWithDoubts } from "../ledger/runs.ts";
import { diskUseOf } from "./disk-use.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { lostRunsOf } from "./lost-runs.ts";
import { countsOf } from "./status.ts";
import { isShared } from "./worker.ts";

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

/**
 * @param last how the command ended that asks; without it, what the ledger has noted.
 * @throws Failure where the ledger can't be read, unless `last` is given.
 */
export async function readMetrics(environment: Environment, last?: SendingEnd): Promise<Metrics> {
  const { name } = environment;
  try {
    const list = readRunList(runListPath(environment.ledgerPath));
    using ledger = await openLedgerToRead(environment);
    // Where it lacks runs, it can't say that nothing is in doubt.
    if (lostRunsOf({ environment, boundTo: undefined }, list, ledger).length > 0)
      return { environment: name, last: last ?? (ledger && lastRunEnd(ledger)), ledger: undefined };
    if (ledger === undefined)
      return {
        environment: name,
        last,
        ledger: { lastSuccess: undefined, doubts: 0, unfinishedRuns: 0, bytes: 0, team: undefined },
      };
    let doubts = 0;
    for (const run of runsWithDoubts(ledger)) {
      const { inDoubt, inFlight } = await countsOf(ledger, run, environment);
      doubts += inDoubt - inFlight;
    }
    return {
      environment: name,
      last: last ?? lastRunEnd(ledger),
      ledger: {
        lastSuccess: lastSuccess(ledger)?.endedAt,
        doubts,
        unfinishedRuns: openRuns(ledger).length,
        bytes: diskUseOf(environment.ledgerPath, ledger).ledger,
        team: isShared(ledger) ? toNumbers(readTeam(ledger)) : undefined,
      },
    };
  } catch (cause) {
    if (last === undefined || !(cause instanceof Failure)) throw cause;
    return { environment: name, last, ledger: undefined };
  }
}

const toNumbers = ({ workers, lanes, lastMinute }: Team): LedgerMetrics["team"] => ({
  workers: workers.filter(isThere).length,
  backlog: lanes.reduce((sum, { actions }) => sum + actions, 0),
  lastMinute,
});
