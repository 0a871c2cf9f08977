/** How each source of the config made the ids of what it sent (see mapping/id-rules.ts). */

import { z } from "zod";
import { type ActionName, registersEvent } from "../actions/actions.ts";
import { FIELD_NAMES } from "../actions/fields.ts";
import { type ChangeOfWays, changeOfWays, type IdRule, type IdWay, uncovered } from "../mapping/id-rules.ts";
import { TAKEN } from "./blocks.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";
import { UNDECIDED_STATES } from "./states.ts";

/** How a source makes the ids of one kind of action. */
export interface SourceIds extends IdRule {
  readonly source: string;
  /** The `key` of the config, which tells its deeds apart instead. */
  readonly key: string | undefined;
}

/** How an input makes the ids of one kind of action; whether any of these is sent now, and whether any was known. */
export interface GivenIds extends SourceIds {
  readonly isSent: boolean;
  readonly isKnown: boolean;
}

/** Ids that were made in another way when they were sent, or may have been. */
export interface MadeOtherwise extends ChangeOfWays {
  /** As `readAs` names it: `source doors`. */
  readonly source: string;
  readonly action: ActionName;
  /** The run since which they were made that way. */
  readonly since: { readonly run: string; readonly createdAt: string } | undefined;
}

/** Kinds whose ids are made in another way now, so that deeds sent before would look new. */
export function findMadeOtherwise(ledger: Ledger, kinds: readonly SourceIds[]): readonly MadeOtherwise[] {
  return kinds.flatMap((kind) => {
    const then = lastKnown(ledger, kind);
    const change = then && changeSince(then, kind);
    if (then === undefined || change === undefined) return [];
    const run = ledger.get("SELECT run, created_at FROM runs WHERE run_no = ?", then.runNo);
    const since = run && { run: String(run.run), createdAt: String(run.created_at) };
    return [{ source: kind.source, action: kind.action, ...change, since }];
  });
}

/**
 * Part of a transaction: notes what the ids are made of from now on.
 *
 * @param runNo the run that sends them, or the last one where nothing is sent.
 */
export function noteIdRules(ledger: Ledger, runNo: number, kinds: readonly GivenIds[]): void {
  for (const kind of kinds) {
    const then = lastKnown(ledger, kind);
    if (then === undefined ? !kind.isSent && !kind.isKnown : saysNoMore(then, kind)) continue;
    const isSure = then !== undefined || kind.isKnown;
    const ways = JSON.stringify(waysFromNowOn(then, kind));
    const sql = "INSERT INTO id_rules (source, action, ways, key, run_no, sure) VALUES (?, ?, ?, ?, ?, ?)";
    ledger.run(sql, kind.source, kind.action, ways, kind.key ?? null, runNo, isSure ? 1 : 0);
  }
}

/** The same, durably, where no run is entered. */
export function noteKnownIdRules(ledger: Ledger, kinds: readonly GivenIds[]): void {
  if (kinds.length === 0) return;
  const last = Number(ledger.get("SELECT coalesce(max(run_no), 0) AS last FROM runs")?.last);
  ledger.transaction(() => noteIdRules(ledger, last, kinds));
}

interface KnownIds extends Pick<SourceIds, "ways" | "key"> {
  readonly runNo: number;
}

const WAYS = z.array(
  z.object({
    field: z.enum(FIELD_NAMES),
    rule: z.unknown(),
    more: z.array(z.string()),
    when: z.array(z.record(z.string(), z.unknown())),
  }),
);

/** Skips a run of which the service took nothing of the kind: nothing of it can look new. */
const LAST_KNOWN = `
SELECT ways, key, run_no FROM id_rules WHERE source = ? AND action = ? AND (
  sure = 1
  OR EXISTS (
    SELECT 1 FROM tallies WHERE tallies.run_no = id_rules.run_no AND tallies.action = id_rules.action
    AND outcome IN ${TAKEN})
  OR EXISTS (
    SELECT 1 FROM chunks WHERE chunks.run_no = id_rules.run_no
    AND state IN ${sqlList(UNDECIDED_STATES)}))
ORDER BY id DESC LIMIT 1`;

function lastKnown(ledger: Ledger, { source, action }: SourceIds): KnownIds | undefined {
  const row: SqlRow | undefined = ledger.get(LAST_KNOWN, source, action);
  return (
    row && {
      ways: WAYS.parse(JSON.parse(String(row.ways))),
      key: row.key === null ? undefined : String(row.key),
      runNo: Number(row.run_no),
    }
  );
}

/** An unchanged key still tells deeds apart. Another id under the same key is a problem of its own (`key-shared`). */
function changeSince(then: KnownIds, now: SourceIds): ChangeOfWays | undefined {
  const isByKey = now.key !== undefined && now.key === then.key && !registersEvent(now.action);
  return isByKey ? undefined : changeOfWays(then.ways, now.ways);
}

/** Where no id changes, ways that the config no longer has stay known: their rows may come back made in another way. */
function waysFromNowOn(then: KnownIds | undefined, now: SourceIds): readonly IdWay[] {
  if (then === undefined || changeOfWays(then.ways, now.ways) !== undefined) return now.ways;
  return [...now.ways, ...uncovered(then.ways, now.ways)];
}

const saysNoMore = (then: KnownIds, now: SourceIds): boolean =>
  then.key === now.key && uncovered(now.ways, then.ways).length === 0;
