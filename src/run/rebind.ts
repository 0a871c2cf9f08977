/** The same service under a new address. */

import { Failure } from "../failure.ts";
import { rebind as rebindLedger } from "../ledger/bound.ts";
import { readMeta } from "../ledger/ledger.ts";
import type { RunContext } from "./context.ts";
import { hasLedger, openLocked } from "./ledger-of.ts";
import type { Settings } from "./settings.ts";

export interface RebindSettings {
  readonly settings: Pick<Settings, "environment">;
  readonly waitLock: number;
}

/**
 * Binds the environment's ledger to the base URL that is now configured, because a person says that it is the same service.
 *
 * @returns the base URL that it belonged to.
 * @throws Failure `usage` for the sandbox, and where there is no ledger; `busy` while another run holds the lock.
 */
export async function rebind(
  context: RunContext,
  { settings: { environment }, waitLock }: RebindSettings,
): Promise<string | undefined> {
  const { name, kind, baseUrl } = environment;
  if (kind === "sandbox")
    throw new Failure("usage", "The sandbox's ledger belongs to its instance; it has no address to change.", {
      hint: "Name the environment whose address has changed.",
    });
  if (!(await hasLedger(environment)))
    throw new Failure("usage", `There is no ledger of ${name} yet, so nothing to rebind.`, {
      hint: "Send to the new address: the first run binds its ledger to it.",
    });
  const opened = await openLocked(context, environment, {
    ...{ command: "tickets env --rebind", waitMs: waitLock, boundTo: async () => undefined },
  });
  using _lock = opened.lock;
  using ledger = opened.ledger;
  const before = readMeta(ledger, "bound_to");
  rebindLedger(ledger, baseUrl);
  return before;
}
