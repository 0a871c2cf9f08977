/**
 * Deeds identified by the `key` of their source, stored a second time under the identity they would have without it. So they
 * are recognised when the source loses its key or gets another one.
 */

import type { Action, ActionName } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import type { Ledger } from "./ledger.ts";

/** What identifies the deeds of an input: the key of a source, as its config says it. */
export interface SourceKey {
  readonly source: string;
  readonly key: string;
}

export interface KeyedDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly content: Buffer;
  readonly isTaken: boolean;
  readonly by: SourceKey;
}

/** By input, the key that identifies the deeds of a run; empty for a run whose inputs have none. */
export function keysOfRun(ledger: Ledger, runNo: number): ReadonlyMap<string, SourceKey> {
  const inputs = ledger.all(
    `SELECT DISTINCT input.value ->> 'name' AS name, input.value ->> 'readAs' AS source, input.value ->> 'key' AS key
     FROM runs, json_each(manifest, '$.inputs') AS input WHERE run_no = ? AND input.value ->> 'key' IS NOT NULL`,
    runNo,
  );
  return new Map(
    inputs.map(({ name, source, key }) => [String(name), { source: String(source ?? ""), key: String(key) }]),
  );
}

/** A deed as it is merged. */
interface MergedDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly identity: Uint8Array;
  readonly content: Uint8Array;
  readonly isTaken: boolean;
  readonly eventId: string | undefined;
  readonly holder: string | undefined;
}

/** Part of a transaction: notes a deed that a key identifies; nothing where the key is not told apart from what it would have without one. */
export function noteKeyedDeed(
  ledger: Ledger,
  deed: MergedDeed,
  action: Pick<Action, "action" | "data">,
  by: SourceKey,
): void {
  const { runNo, seq, identity, content, isTaken, eventId, holder } = deed;
  const plain = digestOf(identityText(action));
  // Imported deeds, of which only the ids are known, have an identity of their own too, but no key.
  if (plain.equals(identity) || content.every((byte) => byte === 0)) return;
  const values = [plain, runNo, seq, content, isTaken ? 1 : 0, by.source, by.key, eventId ?? null, holder ?? null];
  ledger.run(NOTE_DEED, ...values);
}

const NOTE_DEED = `INSERT OR IGNORE INTO keyed_deeds
  (identity, run_no, seq, content, taken, source, key, event_id, holder) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Part of a transaction: notes that a source with a key gave deeds of a kind. */
export function noteKeySource(ledger: Ledger, action: ActionName, { source }: SourceKey): void {
  ledger.run("INSERT OR IGNORE INTO key_sources (action, source) VALUES (?, ?)", action, source);
}

/** The sources with a key of their own that gave deeds of a kind. */
export function keySources(ledger: Ledger, action: ActionName): readonly string[] {
  return ledger.all("SELECT source FROM key_sources WHERE action = ?", action).map(({ source }) => String(source));
}

/** Whether there is any; if not, nothing need be looked up. */
export function hasKeyedDeeds(ledger: Ledger): boolean {
  return ledger.get("SELECT 1 AS one FROM keyed_deeds LIMIT 1") !== undefined;
}

/**
 * The deeds with a key that the service answered, oldest first.
 *
 * @param identity what would identify them without their key.
 */
export function keyedDeeds(ledger: Ledger, identity: Buffer): readonly KeyedDeed[] {
  const sql =
    "SELECT run_no, seq, content, taken, source, key FROM keyed_deeds WHERE identity = ? ORDER BY run_no, seq";
  return ledger.all(sql, identity).map(({ run_no, seq, content, taken, source, key }) => ({
    runNo: Number(run_no),
    seq: Number(seq),
    content: Buffer.from(content as Uint8Array), // a BLOB NOT NULL column
    isTaken: Number(taken) === 1,
    by: { source: String(source), key: String(key) },
  }));
}
