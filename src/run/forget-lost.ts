/** A person says that a ledger may do without runs that were sent from here. The list of runs keeps who, when and why. */

import { existsSync } from "node:fs";
import { cleanText } from "../actions/text.ts";
import { setAside } from "../disk/aside.ts";
import { Failure } from "../failure.ts";
import { runListPath } from "../ledger/ledger.ts";
import { thisMachine } from "../ledger/machine.ts";
import { openRunList, type RunListContent, readRunList } from "../ledger/run-list.ts";
import { openRuns } from "../ledger/runs.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import type { RunContext } from "./context.ts";
import { lockLedger } from "./ledger-of.ts";
import { openLedgerToRead } from "./ledger-to-read.ts";
import { lostRunsOf, strayPlans } from "./lost-runs.ts";
import type { Settings } from "./settings.ts";
import { userName } from "./user-name.ts";

export interface ForgetSettings {
  readonly settings: Pick<Settings, "environment">;
  /** It can't do without. */
  readonly reason?: string | undefined;
  readonly waitLock: number;
}

export interface Forgotten {
  /** Path of the list of runs. */
  readonly path: string;
  /** Undefined where there was nothing to forget; without runs where the list was only rebuilt. */
  readonly lost: ForgottenRuns | undefined;
}

interface ForgottenRuns {
  readonly runs: readonly string[];
  /** Those that are open in the ledger: the next command sends what the ledger has as not sent. */
  readonly open: readonly string[];
  /** Files with promises of these runs that the ledger does not know. */
  readonly unread: readonly string[];
}

/**
 * After this resolves, the ledger is used without the runs it lacks.
 *
 * @throws Failure `usage` without a reason; `busy` while another run holds the lock.
 */
export async function forgetLostRuns(context: RunContext, options: ForgetSettings): Promise<Forgotten> {
  const { environment } = options.settings;
  if (options.reason === undefined || options.reason.trim() === "")
    throw new Failure("usage", "--forget-lost needs a reason, which is kept. Nothing was forgotten.", {
      hint: 'Give one with --reason "…".',
    });
  const reason = cleanText(options.reason, 500);
  using _lock = await lockLedger(context, environment, "tickets env --forget-lost", options.waitLock);
  const path = runListPath(environment.ledgerPath);
  const list = readOrSetAside(path, context);
  using ledger = await openLedgerToRead(environment);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger);
  if (lost.length === 0 && existsSync(path)) return { path, lost: undefined };
  const runList = openRunList(path, thisMachine());
  if (ledger !== undefined) runList.complete(ledger, ({ manifest }) => parseManifest(manifest));
  if (list.head === undefined) runList.addStrays(strayPlans(environment, ledger, () => true));
  const runs = lost.map(({ run }) => run);
  const open = ledger === undefined ? [] : openRuns(ledger).flatMap(({ run }) => (runs.includes(run) ? [run] : []));
  runList.forget(runs, userName(), reason);
  const unread = lost.flatMap((each) => each.unread);
  return { path, lost: { runs, open, unread: [...new Set(unread)].filter((file) => existsSync(file)) } };
}

/** The list; where it is missing or damaged, what the runs' folders tell. A damaged list is renamed, never deleted. */
function readOrSetAside(path: string, { progress }: RunContext): RunListContent {
  try {
    return readRunList(path);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    progress.happened({ kind: "list of runs set aside", aside: setAside(path) });
    return readRunList(path);
  }
}
