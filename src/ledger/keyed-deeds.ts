/**
 * Deeds identified by the `key` of their source, stored a second time under the identity they would have without it. So they
 * are recognised when the source loses its key or gets another one.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Action, ActionName } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { TAKEN } from "./blocks.ts";
import { OF_SLICE, overActions } from "./in-slices.ts";
import type { Ledger } from "./ledger.ts";
import { SENT_ELSEWHERE } from "./outcomes.ts";
import { PRESENT_IDENTITY } from "./renamed-deeds.ts";

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
  /** Undefined where an earlier version did not keep it. */
  readonly by: SourceKey | undefined;
}

export const KEYED_DEEDS = `
CREATE TABLE keyed_deeds (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  source TEXT,
  key TEXT,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE key_sources (
  action TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (action, source)
) STRICT, WITHOUT ROWID;
`;

/** Fills the table of a ledger that had none: one look at all that was merged. Imported deeds, of which only the ids are known, have no key. */
export const FILL_KEYED_DEEDS = overActions(`
INSERT OR IGNORE INTO keyed_deeds (identity, run_no, seq, content, taken)
SELECT plain, run_no, seq, content, taken FROM (
  SELECT plain_identity(action, data) AS plain, ${PRESENT_IDENTITY} AS identity, run_no, seq, content,
    outcome IN ${TAKEN} AS taken
  FROM actions WHERE ${OF_SLICE} AND status <> '${SENT_ELSEWHERE}' AND content <> zeroblob(8) AND EXISTS (
    SELECT 1 FROM chunks WHERE chunks.run_no = actions.run_no AND chunks.chunk = actions.chunk AND merged = 1))
WHERE plain <> identity ORDER BY plain, seq`);

/** Lets SQL say `plain_identity(action, data)` on this connection: the identity of an action without a key. */
export function definePlainIdentity(database: DatabaseSync): void {
  database.function("plain_identity", { deterministic: true }, (action, data) => {
    const said = { action: action as Action["action"], data: parseJson(String(data)) as Action["data"] }; // written by the planner
    return digestOf(identityText(said));
  });
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
  readonly identity: Buffer;
  readonly content: Buffer;
  readonly isTaken: boolean;
  readonly eventNo: number | undefined;
  readonly holder: string | undefined;
}

/** Part of a transaction: notes a deed that a key identifies; nothing where the key is not told apart from what it would have without one. */
export function noteKeyedDeed(
  ledger: Ledger,
  deed: MergedDeed,
  action: Pick<Action, "action" | "data">,
  by: SourceKey | undefined,
): void {
  const { runNo, seq, identity, content, isTaken, eventNo, holder } = deed;
  const plain = digestOf(identityText(action));
  // Imported deeds, of which only the ids are known, have an identity of their own too, but no key.
  if (plain.equals(identity) || content.every((byte) => byte === 0)) return;
  const values = [
    plain,
    runNo,
    seq,
    content,
    isTaken ? 1 : 0,
    by?.source ?? null,
    by?.key ?? null,
    eventNo ?? null,
    holder ?? null,
  ];
  ledger.run(NOTE_DEED, ...values);
}

const NOTE_DEED = `INSERT OR IGNORE INTO keyed_deeds
  (identity, run_no, seq, content, taken, source, key, event_no, holder) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

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
    by: source === null || key === null ? undefined : { source: String(source), key: String(key) },
  }));
}
