/** The other ledgers of a state folder: one of the same address may be what an environment was called before. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { TAKEN } from "./blocks.ts";
import { type Ledger, readMeta } from "./ledger.ts";
import { openLedger, storageFailure } from "./open-ledger.ts";
import { sqlList } from "./sql-list.ts";
import { PERHAPS_TAKEN_STATES } from "./states.ts";
import { type UsedKeys, usedKeys } from "./used-keys.ts";

/** A ledger of another name that knows of actions which were sent to the same address. */
export interface SiblingLedger {
  /** The environment that it was made for; of one in a database, its schema. */
  readonly name: string;
  /** Undefined for one in a database. */
  readonly folder: string | undefined;
  readonly id: string;
  /** UTC in ISO 8601. */
  readonly createdAt: string;
  /** How many of its actions the service has, or may have. */
  readonly actions: number;
  readonly keys: UsedKeys;
}

/**
 * Names under which the folder holds ledgers.
 *
 * @throws Failure `storage` when it can't be read.
 */
export function ledgersIn(stateDir: string): readonly string[] {
  if (!existsSync(stateDir)) return [];
  return namesIn(stateDir)
    .filter((name) => existsSync(join(stateDir, name, "ledger.db")))
    .sort();
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    throw storageFailure(folder, cause);
  }
}

/**
 * Those of the ledgers that know of actions sent to `boundTo`, the one that knows most first.
 *
 * @throws Failure `storage` when one of them can't be read.
 */
export function siblingLedgers(stateDir: string, names: readonly string[], boundTo: string): readonly SiblingLedger[] {
  return names
    .flatMap((name) => {
      const folder = join(stateDir, name);
      using ledger = openLedger({ path: join(folder, "ledger.db"), boundTo: undefined, readOnly: true });
      return siblingIn(ledger, boundTo, { name, folder }) ?? [];
    })
    .sort((one, other) => other.actions - one.actions);
}

/** What a ledger is as a sibling; undefined where it knows of no action that was sent to `boundTo`. */
export function siblingIn(
  ledger: Ledger,
  boundTo: string,
  place: Pick<SiblingLedger, "name" | "folder">,
): SiblingLedger | undefined {
  if (readMeta(ledger, "bound_to") !== boundTo) return undefined;
  const actions = actionsOutside(ledger);
  if (actions === 0) return undefined;
  const [id, createdAt] = [readMeta(ledger, "ledger_id") ?? "", readMeta(ledger, "created_at") ?? ""];
  return { ...place, id, createdAt, actions, keys: usedKeys(ledger) };
}

/** How many actions the service has of what the ledger sent, or may have. */
export function actionsOutside(ledger: Ledger): number {
  const row = ledger.get(
    `SELECT (SELECT coalesce(sum(actions), 0) FROM tallies WHERE outcome IN ${TAKEN})
       + (SELECT coalesce(sum(count), 0) FROM chunks WHERE state IN ${sqlList(PERHAPS_TAKEN_STATES)}) AS n`,
  );
  return Number(row?.n);
}
