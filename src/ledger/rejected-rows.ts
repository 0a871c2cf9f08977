/**
 * Rows of rejects files: when each was rejected, which are done with (everything sent of the mended row was taken), and which
 * of their actions are.
 */

import { z } from "zod";
import { type Action, type ActionData, actionSpec } from "../actions/actions.ts";
import { contentText, digestOf, identityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { digestOfKey } from "../mapping/row-digest.ts";
import { CONTENT_BYTES, type SentAction } from "./block.ts";
import { outcomeOf, TAKEN } from "./blocks.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { newestFirstInputs } from "./newest-first.ts";
import { withActions } from "./outcomes.ts";
import {
  type AskedAt,
  historiesThatLack,
  noteRowNumber,
  noteRowPlace,
  type RowNumbers,
  type RowPlace,
  rowNumbers,
  runsOfOthers,
  type Standings,
  standingsOf,
} from "./row-places.ts";

/** What is known of rows of rejects files, by their keys (`tickets:row`). */
export interface RejectedRows {
  /** Rows whose mended version was taken. */
  readonly mended: ReadonlySet<string>;
  /** What was sent of a mended row and taken, oldest first. */
  deedsOf(key: string): readonly MendedDeed[];
  /**
   * The actions that a mended row is done with, as `tickets:actions` names them: those that it gave when it was mended and
   * taken, and those that a person left out of it by mending.
   */
  closedOf(key: string): readonly string[];
  /** What the service took of a row when it rejected others of the same kinds; not what a mended row gave. */
  takenBeside(key: string): readonly TakenBeside[];
  /** When the service was last asked for an action of a row, as `tickets:actions` names it, and did not take it. */
  askedOf(key: string, name: string): AskedAt | undefined;
  /** Whether the service has taken the deed, whatever row brought it. In a history: one of the same content. */
  isTaken(action: Action): boolean;
  /**
   * The actions that the mapping listed whenever `open` was written into the row's `tickets:actions`. If `open` never was:
   * whenever anything was.
   */
  rulesOf(key: string, open: string): readonly (readonly string[])[];
  /**
   * Since when the row is open, and what it was first rejected as; undefined if this ledger did not reject it. What a mended
   * row gives beside its mended actions is open since the last of those was taken.
   */
  openSince(key: string): (OpenSince & FirstRejected) | undefined;
  /** The inputs that had it and went from the latest time to the earliest, each as a text of its own. */
  newestFirstIn(key: string): ReadonlySet<string>;
  /**
   * Tells how accepted deeds of the same history stand to a deed of the row, whether or not this ledger rejected the row.
   *
   * @param name as `tickets:actions` has it.
   * @param given the keys of all rows of rejects files in the input; the same in every call.
   */
  standingsOf(key: string, action: Action, name: string, given: ReadonlySet<string>): Standings;
  /** The runs whose rejects hold rows of a history (hex) that are still open and not among those given. */
  runsOfOthers(history: string, given: ReadonlySet<string>): ReadonlySet<number>;
}

/** An action of a mended row that the service took. */
export interface MendedDeed extends Action {
  readonly accepted: AskedAt;
  /** As `tickets:actions` names it; undefined where that is not known. */
  readonly name: string | undefined;
}

export interface TakenBeside extends MendedDeed {
  readonly name: string;
}

export interface FirstRejected {
  /** Number of the run that first put it into a rejects file. */
  readonly firstIn: number;
  /** By run that rejected it, which row of its input it was. */
  readonly numbers: RowNumbers;
}

export interface OpenSince {
  readonly runNo: number;
  /** Place in the plan of the action that the service rejected; undefined where nothing of the row was sent. */
  readonly seq: number | undefined;
  /** What its input was read as. */
  readonly readAs: string;
}

export const NO_REJECTED_ROWS: RejectedRows = {
  mended: new Set(),
  deedsOf: () => [],
  closedOf: () => [],
  takenBeside: () => [],
  askedOf: () => undefined,
  isTaken: () => false,
  rulesOf: () => [],
  openSince: () => undefined,
  newestFirstIn: () => new Set(),
  standingsOf: () => () => "unknown row",
  runsOfOthers: () => new Set(),
};

export function rejectedRows(ledger: Ledger): RejectedRows {
  let lacking: ReadonlySet<string> | undefined;
  const newestFirst = newestFirstInputs(ledger);
  return {
    mended: new Set(ledger.all("SELECT row FROM mended_rows").map(({ row }) => String(row))),
    deedsOf: (key) =>
      withActions(ledger, ledger.all(DEEDS_OF_ROW, key)).map((deed) => ({
        ...takenDeedOf(deed),
        name: deed.name === null ? undefined : String(deed.name),
      })),
    closedOf: (key) => ledger.all(CLOSED, key).map(({ action }) => String(action)),
    takenBeside: (key) =>
      withActions(ledger, ledger.all(TAKEN_BESIDE, key)).map((deed) => ({
        ...takenDeedOf(deed),
        name: String(deed.name),
      })),
    askedOf(key, name) {
      const asked = ledger.get("SELECT run_no, seq FROM row_actions WHERE row = ? AND action = ?", key, name);
      return asked?.seq == null ? undefined : { runNo: Number(asked.run_no), seq: Number(asked.seq) };
    },
    isTaken(action) {
      const identity = digestOf(identityText(action));
      if (actionSpec(action.action).identity === "once") return isTakenDeed(ledger, identity);
      const content = digestOf(contentText(action)).subarray(0, CONTENT_BYTES);
      return isTakenDeed(ledger, identity, content);
    },
    rulesOf: (key, open) => rulesWritten(ledger, key, open),
    openSince: (key) => {
      const row = ledger.get("SELECT run_no, seq, read_as FROM rejected_rows WHERE row = ?", key);
      if (row === undefined) return undefined;
      const known = { readAs: String(row.read_as), firstIn: Number(row.run_no), numbers: rowNumbers(ledger, key) };
      const mended = ledger.get(LAST_MENDED, key, row.run_no ?? 0);
      if (mended !== undefined) return { runNo: Number(mended.run_no), seq: Number(mended.seq), ...known };
      return { runNo: known.firstIn, seq: row.seq === null ? undefined : Number(row.seq), ...known };
    },
    newestFirstIn: (key) => newestFirst(rowNumbers(ledger, key)),
    standingsOf(key, action, name, given) {
      const lacksOther = (history: string): boolean => {
        lacking ??= historiesThatLack(ledger, given);
        return lacking.has(history);
      };
      return standingsOf(ledger, key, { action, name, lacksOther });
    },
    runsOfOthers: (history, given) => runsOfOthers(ledger, history, given),
  };
}

const IS_TAKEN_MENDING = `${outcomeOf("mendings.run_no", "mendings.seq")} IN ${TAKEN}`;

const DEEDS_OF_ROW = `
SELECT run_no, seq, mended.action AS name
FROM mendings LEFT JOIN mended_actions AS mended USING (row, run_no, seq)
WHERE row = ? AND ${IS_TAKEN_MENDING} ORDER BY run_no, seq`;

const LAST_MENDED = `
SELECT run_no, seq FROM mendings
WHERE row = ? AND run_no > ? AND ${IS_TAKEN_MENDING} ORDER BY run_no DESC, seq DESC LIMIT 1`;

const RULES = z.array(z.string());

const takenDeedOf = ({ run_no, seq, action, data }: SqlRow & SentAction): Omit<MendedDeed, "name"> => ({
  action,
  data: parseJson(data) as ActionData, // written by the planner
  accepted: { runNo: Number(run_no), seq: Number(seq) },
});

const IS_TAKEN = `${outcomeOf("closed.run_no", "closed.seq")} IN ${TAKEN}`;
const IS_OF_MEND = `EXISTS (
    SELECT 1 FROM mendings
    WHERE mendings.row = closed.row AND mendings.run_no = closed.run_no AND mendings.seq = closed.seq)`;

/** What has a place in a plan that is none of a mended row's was sent of the row itself. */
const TAKEN_BESIDE = `
SELECT run_no, seq, closed.action AS name FROM mended_actions AS closed
WHERE row = ? AND ${IS_TAKEN} AND NOT ${IS_OF_MEND} ORDER BY run_no, seq`;

/** Of a mend that the service has not taken whole, only the taken actions are known to be done with. */
const CLOSED = `
SELECT DISTINCT action FROM mended_actions AS closed WHERE row = ? AND (
  (${IS_TAKEN} AND ${IS_OF_MEND})
  OR closed.seq IS NULL AND NOT EXISTS (
    SELECT 1 FROM mendings WHERE mendings.row = closed.row AND mendings.run_no = closed.run_no
    AND ${IS_TAKEN_MENDING} IS NOT TRUE))`;

/** Looks among deeds with a key of their source and without one. */
const takenDeed = (more: string): string =>
  ["deeds", "keyed_deeds"]
    .map((table) => `SELECT 1 AS one FROM ${table} WHERE identity = ?${more} AND taken = 1`)
    .join(" UNION ALL ");
const TAKEN_DEED = takenDeed("");
const TAKEN_AS_IT_IS = takenDeed(" AND content = ?");
const TAKEN_LATER = takenDeed(" AND content = ? AND run_no > ?");

/**
 * Whether the service has taken a deed of this identity.
 *
 * @param content that it has, where that counts.
 * @param behind in a later run than this one.
 */
function isTakenDeed(ledger: Ledger, identity: Uint8Array, content?: Uint8Array, behind?: number): boolean {
  const values = [identity, ...(content === undefined ? [] : [content]), ...(behind === undefined ? [] : [behind])];
  const sql = content === undefined ? TAKEN_DEED : behind === undefined ? TAKEN_AS_IT_IS : TAKEN_LATER;
  return ledger.get(sql, ...values, ...values) !== undefined;
}

/** What a mended row gives. */
export interface Mend {
  /** Key of the bad row. */
  readonly row: string;
  /** Its actions, as `tickets:actions` names them. */
  readonly actions: readonly string[];
  /** Those of its actions that were accepted before. */
  readonly known: readonly AskedAt[];
  /** It names none of its actions, so what the bad row gave and it does not is left out for good. */
  readonly isWhole: boolean;
}

/** A mended row of a plan. */
export interface Mending extends Mend {
  /** Places in the plan of those of its actions that are sent; the others were taken before. */
  readonly seqs: readonly number[];
  /** The same, by their names in `tickets:actions`. */
  readonly seqOf: ReadonlyMap<string, number>;
}

/**
 * Part of the transaction that enters the run: from then on the outcomes of its actions say whether a row is done with. So no
 * crash can come between their acceptance and its note.
 */
export function noteMendings(ledger: Ledger, runNo: number, mendings: readonly Mending[]): void {
  for (const { row, seqs, seqOf, actions, isWhole, known } of mendings) {
    for (const deed of known) ledger.run(NOTE_MENDING, deed.runNo, row, deed.seq);
    for (const action of actions) ledger.run(NOTE_CLOSED, row, runNo, action, seqOf.get(action) ?? null);
    if (isWhole) ledger.run(NOTE_LEFT_OUT, runNo, row);
    if (seqs.length === 0) ledger.run("INSERT OR IGNORE INTO mended_rows (row) VALUES (?)", row);
    for (const seq of seqs) ledger.run(NOTE_MENDING, runNo, row, seq);
  }
}

const NOTE_MENDING = "INSERT OR IGNORE INTO mendings (run_no, row, seq) VALUES (?, ?, ?)";

const NOTE_CLOSED = "INSERT OR IGNORE INTO mended_actions (row, run_no, action, seq) VALUES (?, ?, ?, ?)";
const NOTE_LEFT_OUT = `INSERT OR IGNORE INTO mended_actions (row, run_no, action)
  SELECT row, CAST(? AS INTEGER), action FROM row_actions WHERE row = ?`;

/** Notes, durably, rows of which nothing is left to send, so that there is no run. */
export function noteMended(ledger: Ledger, mendings: readonly Mending[]): void {
  const done = mendings.filter(({ seqs }) => seqs.length === 0);
  if (done.length > 0) ledger.transaction(() => noteMendings(ledger, 0, done));
}

/**
 * Part of a transaction: marks those of the run's mended rows as done of which every action was taken. What was sent of them
 * stays: it stands for them in their histories.
 */
export function mergeMended(ledger: Ledger, runNo: number): void {
  ledger.run(
    `INSERT OR IGNORE INTO mended_rows (row)
     SELECT row FROM mendings WHERE run_no = ? GROUP BY row HAVING min(CASE WHEN ${IS_TAKEN_MENDING} THEN 1 ELSE 0 END) = 1`,
    runNo,
  );
}

/** A row as a run puts it into a rejects file. */
export interface RejectedRow extends OpenSince {
  /** Which row of the run's inputs it is, from 1. */
  readonly number: number;
  /** It may be any of some equal rows that were rejected before: each keeps its place. */
  readonly isOneOfSeveral: boolean;
  /** Its open actions, as `tickets:actions` names them; empty where they are not known. */
  readonly gives: readonly string[];
  /** Places in the plan of those that the service was asked for, or would have been. */
  readonly seqOf: ReadonlyMap<string, number>;
  /** Likewise of all that the run sends of it, where it gives several of a kind; empty otherwise. */
  readonly sent: ReadonlyMap<string, number>;
  /** Where it stood; for a row of which nothing was sent. */
  readonly place: RowPlace | undefined;
  /** It comes from a rejects file itself, so its neighbours there say nothing about its place. */
  readonly isFromRejects: boolean;
  /** The run sends again on purpose what would come too late. */
  readonly isAgain: boolean;
}

/**
 * Part of a transaction: the row stands in a rejects file of the run. The first run that rejected it counts. Where another ledger
 * rejected it first, its place stays unknown here until something of it was sent.
 */
export function noteRejected(ledger: Ledger, key: string, row: RejectedRow): void {
  const { runNo, seq, readAs, gives, seqOf, sent, place, isFromRejects, isAgain, isOneOfSeveral, number } = row;
  const isFirst = ledger.get("SELECT 1 AS one FROM rejected_rows WHERE row = ?", key) === undefined;
  for (const action of gives) ledger.run("INSERT OR IGNORE INTO row_actions (row, action) VALUES (?, ?)", key, action);
  if (isFirst && isFromRejects && (seq === undefined || isAgain)) return;
  if (!isFirst && isOneOfSeveral) return;
  if (isFirst || !isAgain) for (const [action, at] of seqOf) ledger.run(NOTE_ASKED, runNo, at, key, action);
  if (!isFromRejects) noteRowNumber(ledger, key, runNo, number);
  // With those of them that are taken, the row is done whatever becomes of its mended one.
  if (!isFromRejects) for (const [action, at] of sent) ledger.run(NOTE_CLOSED, key, runNo, action, at);
  if (place !== undefined && (isFirst || !isFromRejects)) noteRowPlace(ledger, key, place, isFirst);
  const sql = "INSERT OR IGNORE INTO rejected_rows (row, run_no, seq, read_as) VALUES (?, ?, ?, ?)";
  ledger.run(sql, key, runNo, seq ?? null, readAs);
}

const NOTE_ASKED = "UPDATE row_actions SET run_no = ?, seq = ? WHERE row = ? AND action = ?";

/**
 * Part of a transaction: notes that `open` was written into the row's `tickets:actions`, which numbers the actions that the
 * mapping lists.
 */
export function noteRules(ledger: Ledger, key: string, open: string, rules: readonly string[]): void {
  const sql = "INSERT OR IGNORE INTO row_rules (row, open, rules) VALUES (?, ?, ?)";
  ledger.run(sql, key, open, JSON.stringify(rules));
}

/**
 * Actions of a row, as `tickets:actions` names them, that the service did not take when it was asked for them and has taken
 * since. Not those that nothing tells from their like: what was taken may be another one.
 */
export function takenSinceRejected(ledger: Ledger, key: string): ReadonlySet<string> {
  const taken = withActions(ledger, ledger.all(ASKED_OF_ROW, key)).filter((asked) => {
    const { action, data, identity, content, run_no } = asked;
    const spec = actionSpec(action);
    const deed = identity as Uint8Array; // a BLOB NOT NULL column
    if (spec.identity === "once") return isTakenDeed(ledger, deed);
    const isTold = spec.effect === "change-ticket" || spec.effect === "change-event";
    if (!isTold && (parseJson(data) as ActionData).orderTime == null) return false;
    return isTakenDeed(ledger, deed, content as Uint8Array, Number(run_no)); // likewise
  });
  return new Set(taken.map(({ name }) => String(name)));
}

/** What the service did not take is an exception of its block. */
const ASKED_OF_ROW = `SELECT row_actions.action AS name, run_no, seq, identity, content
FROM row_actions JOIN exceptions USING (run_no, seq) WHERE row = ?`;

/** As `RejectedRows.rulesOf`. */
export function rulesWritten(ledger: Ledger, key: string, open: string): readonly (readonly string[])[] {
  const known = ledger.all("SELECT open, rules FROM row_rules WHERE row = ?", key);
  const same = known.filter((each) => each.open === open);
  return (same.length > 0 ? same : known).map(({ rules }) => RULES.parse(JSON.parse(String(rules))));
}

/** The keys of all rows that were ever rejected. */
export function rejectedKeys(ledger: Ledger): ReadonlySet<string> {
  return new Set(ledger.all("SELECT row FROM rejected_rows").map(({ row }) => String(row)));
}

/** The keys of the rows equal to it, itself among them, that were ever rejected. */
export function copiesOf(ledger: Ledger, key: string): readonly string[] {
  const digest = digestOfKey(key);
  const sql = "SELECT row FROM rejected_rows WHERE row = ? OR (row > ? AND row < ?)";
  return ledger.all(sql, digest, `${digest}#`, `${digest}$`).map(({ row }) => String(row));
}

/** The run that first put the row into a rejects file; undefined for rows that this ledger does not know. */
export function firstRejectedIn(ledger: Ledger, key: string): number | undefined {
  const row = ledger.get("SELECT run_no FROM rejected_rows WHERE row = ?", key);
  return row === undefined ? undefined : Number(row.run_no);
}
