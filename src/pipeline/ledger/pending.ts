import { openPlan } from "../plan/plan.ts";
import type { Ledger } from "./ledger.ts";
import { chunksOf, UNDECIDED_STATES } from "./runs.ts";

/** An identity (hex) that is pending, and the run that holds it. */
export type Pending = ReadonlyMap<string, string>;

export const NOTHING_PENDING: Pending = new Map();

/**
 * Identities of actions that an earlier run may still bring to the service, or may have brought without an answer: no
 * other run sends them.
 *
 * @param planDirectory where the plan of a run lies.
 */
export async function pendingIdentities(ledger: Ledger, planDirectory: (run: string) => string): Promise<Pending> {
  const pending = new Map<string, string>();
  const states = UNDECIDED_STATES.map((state) => `'${state}'`).join(", ");
  const rows = ledger.all(
    `SELECT DISTINCT run_no, run, manifest FROM chunks JOIN runs USING (run_no) WHERE chunks.state IN (${states}) ORDER BY run_no`,
  );
  for (const { run_no, run, manifest } of rows) {
    await using plan = await openPlan(planDirectory(String(run)), String(manifest));
    for (const chunk of UNDECIDED_STATES.flatMap((state) => chunksOf(ledger, Number(run_no), state))) {
      for (const { identity } of await plan.records(chunk)) pending.set(identity.toString("hex"), String(run));
    }
  }
  return pending;
}
