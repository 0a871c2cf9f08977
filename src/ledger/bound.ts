/** What a ledger belongs to: the environment's base URL, or the sandbox's instance id. */

import { Failure } from "../failure.ts";
import { type Ledger, readMeta, writeMeta } from "./ledger.ts";

/** Binds the ledger to another base URL: the same service under a new address. */
export function bindTo(ledger: Ledger, boundTo: string): void {
  ledger.transaction(() => writeMeta(ledger, "bound_to", boundTo));
}

/**
 * Binds a new ledger.
 *
 * @throws Failure `usage` where it belongs to something else.
 */
export function bind(ledger: Ledger, boundTo: string, readOnly: boolean): void {
  if (readOnly && isUnmade(ledger)) return;
  const bound = readMeta(ledger, "bound_to");
  if (bound === undefined) {
    if (readOnly) return;
    ledger.transaction(() => {
      writeMeta(ledger, "bound_to", boundTo);
      writeMeta(ledger, "created_at", new Date().toISOString());
    });
    return;
  }
  if (bound === boundTo) return;
  // As long as nothing can have reached a service, a mistyped address binds nobody.
  if (
    !readOnly &&
    ledger.get("SELECT 1 AS one FROM attempts WHERE class IS NULL OR class <> 'not sent' LIMIT 1") === undefined &&
    // Imported runs have outcomes and no attempts.
    ledger.get("SELECT 1 AS one FROM blocks LIMIT 1") === undefined
  ) {
    bindTo(ledger, boundTo);
    return;
  }
  refuseOtherService(ledger, boundTo);
}

/** @throws Failure `usage` where the ledger belongs to something else. */
function refuseOtherService(ledger: Ledger, boundTo: string): void {
  const bound = readMeta(ledger, "bound_to");
  if (bound === undefined || bound === boundTo) return;
  throw new Failure(
    "usage",
    `The ledger ${ledger.path} belongs to ${bound}, but the environment now names ${boundTo}. Nothing was sent.`,
    {
      hint: boundTo.startsWith("sandbox:")
        ? "The sandbox's state was replaced. Set its ledger aside too: tickets sandbox --reset"
        : "What one service has accepted says nothing about another. If it is the same service under a new address, write its promises, with the old one: tickets results -o FILE\nThen move this ledger away and, with the new one, import them: tickets results --import FILE",
    },
  );
}

/** Whether it has no table yet: its first command is just making it, or died while it did. */
export const isUnmade = (ledger: Ledger): boolean =>
  ledger.kind === "sqlite" && !["meta", "runs", "chunks"].some((table) => ledger.hasTable(table));
