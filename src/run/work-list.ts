/** The list of what a machine has sent for others, so that it notices a shared ledger that lacks some of it. */

import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { acquireLock } from "../ledger/lock.ts";
import { thisMachine } from "../ledger/machine.ts";
import { findLostRuns, openRunList, type RunListContent, readRunList } from "../ledger/run-list.ts";
import type { RunRecord } from "../ledger/runs.ts";
import type { Manifest } from "../plan/files/manifest.ts";
import type { RunContext } from "./context.ts";

const listOf = ({ ledgerPath }: Environment): string => join(dirname(ledgerPath), "work", "run-list.ndjson");

/**
 * This machine remembers what it is about to send. Workers on one machine take turns with the list.
 *
 * @throws Failure `usage` where the ledger knows less than it once did.
 */
export async function noteWork(
  { stop }: RunContext,
  { ledger, environment }: { readonly ledger: Ledger; readonly environment: Environment },
  run: RunRecord,
  manifest: Manifest,
): Promise<void> {
  const path = listOf(environment);
  const what = `the list of what ${hostname()} has sent`;
  const lock = { what, path: join(dirname(path), "lock.db"), command: "tickets work", waitMs: WAIT_MS, signal: stop };
  using _ = await acquireLock(lock);
  const list = openRunList(path, thisMachine());
  refuseLess(environment, list.content, ledger);
  list.sending(ledger, run, manifest);
}

const WAIT_MS = 60_000;

/**
 * For what plans on this machine: what it has sent for others counts as sent from here.
 *
 * @param ledger undefined where there is none.
 * @throws Failure `usage` where the ledger knows less than it once did.
 */
export function refuseLostWork(environment: Environment, ledger: Ledger | undefined): void {
  const path = listOf(environment);
  if (existsSync(path)) refuseLess(environment, readRunList(path), ledger);
}

function refuseLess(environment: Environment, content: RunListContent, ledger: Ledger | undefined): void {
  const lost = findLostRuns(content, ledger, () => true);
  if (lost.length === 0) return;
  throw new Failure(
    "usage",
    `The ledger of ${environment.name} was lost, or restored from an older copy: it does not know all that this machine has sent of ${lost.map((each) => each.run).join(", ")}. Nothing more was sent.`,
    {
      hint: `Have the server that knows it take its place, or settle what is missing where the run was published. If nothing will be sent twice, remove ${listOf(environment)}`,
    },
  );
}
