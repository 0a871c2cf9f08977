/** Frees disk: what was sent of old runs. Identities and promises stay for ever. */

import type { Environment } from "../config/environment.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf, noLedger } from "./ledger-of.ts";
import { openSession } from "./session.ts";

export interface Pruned {
  readonly chunks: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** @param olderThanMs of runs that ended longer ago. */
export async function prune(
  context: RunContext,
  environment: Environment,
  { olderThanMs, waitLock }: { readonly olderThanMs: number; readonly waitLock: number },
): Promise<Pruned> {
  {
    await using found = await findLedgerOf(environment);
    if (found === undefined) throw noLedger(environment, context.cwd);
  }
  await using session = await openSession(context, environment, { command: "tickets prune", waitLockMs: waitLock });
  const { ledger } = session;
  const bytesBefore = await ledger.bytes();
  const chunks = await ledger.prune(new Date(Date.now() - olderThanMs).toISOString());
  return { chunks, bytesBefore, bytesAfter: await ledger.bytes() };
}
