/** All that was ever sent about a ticket, an event or a promise, in the order in which it was read. Takes no lock. */

import { withoutNul } from "../actions/nul.ts";
import type { Environment } from "../config/environment.ts";
import type { Failure } from "../failure.ts";
import type { FoundAction, Ledger } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { lostRunsOf } from "./session.ts";

export interface Found {
  /** Why the ledger does not know everything that was sent. */
  readonly problem: Failure | undefined;
  readonly hasLedger: boolean;
  readonly actions: readonly (FoundAction & { readonly environment: string })[];
  /** Ids that differ from this one only in their form, where nothing was found. */
  readonly similar: readonly string[];
}

/** @throws Failure where the ledger can't be read, or belongs to another service. */
export async function find({ cwd }: RunContext, environment: Environment, id: string): Promise<Found> {
  await using ledger = await findLedgerOf(environment);
  const problem = await lostRunsOf(environment, ledger, cwd);
  if (ledger === undefined) return { problem, hasLedger: false, actions: [], similar: [] };
  const found = await ledger.about(withoutNul(id));
  const runs = new Map(
    (await ledger.runs({ ids: [...new Set(found.map(({ runId }) => runId))] })).map((run) => [run.run, run]),
  );
  const actions = found.map((action) => ({
    ...action,
    environment: runs.get(action.runId)?.environment ?? environment.name,
  }));
  const similar = actions.length > 0 ? [] : await similarIds(ledger, id);
  return { problem, hasLedger: true, actions, similar };
}

/** Ids of the same normal form. */
async function similarIds(ledger: Ledger, id: string): Promise<readonly string[]> {
  const { formOf } = await import("../actions/marks.ts");
  const forms = ["t:", "e:", "n:"].map((kind) => formOf(`${kind}${id}`));
  const known = await ledger.actionsOf(forms.toSorted());
  const near = await ledger.near(forms);
  return [...new Set([...known, ...near].map(({ subject }) => subject.slice(2)))].filter((each) => each !== id);
}
