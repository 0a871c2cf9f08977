/**
 * Where rejected rows stood among the deeds of their run and of the runs before it. A mended row keeps its place: what stood
 * behind it is later than it.
 */

import { z } from "zod";
import type { Action, ActionName } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import type { SentAction } from "./block.ts";
import { blockOf, outcomeOf, TAKEN } from "./blocks.ts";
import { type Ledger, upsert } from "./ledger.ts";
import { sentAt, withActions } from "./outcomes.ts";

/** Where the ledger has an action. */
export interface AskedAt {
  readonly runNo: number;
  readonly seq: number;
}

/** By run, which row of its input it was. */
export type RowNumbers = ReadonlyMap<number, number>;

/** Part of a transaction. */
export function noteRowNumber(ledger: Ledger, row: string, runNo: number, number: number): void {
  ledger.run(NOTE_NUMBER, row, runNo, number);
  ledger.run(FORGET_BETWEEN, row, row, row, LAST_RUNS);
}

const NOTE_NUMBER = upsert("row_numbers", ["row", "run_no"], ["number"]);

/** How many of the latest runs are kept: a row may stay bad for a year of nights. */
const LAST_RUNS = 15;
const FORGET_BETWEEN = `DELETE FROM row_numbers WHERE row = ?
  AND run_no > (SELECT min(run_no) FROM row_numbers WHERE row = ?)
  AND run_no NOT IN (SELECT run_no FROM row_numbers WHERE row = ? ORDER BY run_no DESC LIMIT ?)`;

export const rowNumbers = (ledger: Ledger, row: string): RowNumbers =>
  new Map(
    ledger
      .all("SELECT run_no, number FROM row_numbers WHERE row = ? ORDER BY run_no", row)
      .map(({ run_no, number }) => [Number(run_no), Number(number)]),
  );

/** Where a row that was not sent stood in its input. */
export const ROW_PLACE = z.object({
  /** By lane: number of the plan's first action behind the row; empty where the rows were put into another order. */
  firstBehind: z.array(z.number()).readonly(),
  /** Histories in which it was known to have a deed. */
  histories: z
    .array(
      z.object({
        /** Identity (hex) without a key. */
        history: z.string(),
        /** The last deed of the history that was accepted before and stands behind the row. */
        behind: z.object({ runNo: z.number(), seq: z.number() }).optional(),
        /** Which of its deeds were accepted before could not be told, so any of those may stand behind the row. */
        isUndecided: z.boolean().optional(),
        /** A bad row behind it may be an accepted deed. That can't be told until the bad row is mended. */
        isBeforeBad: z.boolean().optional(),
      }),
    )
    .readonly(),
  /** Kinds of action of which something accepted before stands behind the row, or may. */
  kindsBehind: z.array(z.string()).readonly(),
});
export type RowPlace = Readonly<z.infer<typeof ROW_PLACE>>;

/** Part of a transaction. The first run that rejected the row says where it stood. */
export function noteRowPlace(ledger: Ledger, row: string, place: RowPlace, isFirst: boolean): void {
  if (isFirst)
    for (const [lane, seq] of place.firstBehind.entries())
      ledger.run("INSERT OR IGNORE INTO row_places (row, lane, seq) VALUES (?, ?, ?)", row, lane, seq);
  for (const { history, behind, isUndecided, isBeforeBad } of place.histories) {
    const last = [behind?.runNo ?? null, behind?.seq ?? null];
    const undecided = isUndecided === true ? UNDECIDED : isBeforeBad === true ? BEFORE_BAD : 0;
    ledger.run(NOTE_HISTORY, row, Buffer.from(history, "hex"), ...last, undecided);
  }
  for (const action of place.kindsBehind)
    ledger.run("INSERT OR IGNORE INTO kinds_behind (row, action) VALUES (?, ?)", row, action);
}

const UNDECIDED = 1;
/** Undecided as long as bad rows of the history are not mended. */
const BEFORE_BAD = 2;

const NOTE_HISTORY = `INSERT INTO row_histories (row, history, run_no, seq, undecided) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (row, history) DO UPDATE SET
    undecided = CASE WHEN ${UNDECIDED} IN (row_histories.undecided, excluded.undecided) THEN ${UNDECIDED}
      WHEN excluded.undecided > row_histories.undecided THEN excluded.undecided ELSE row_histories.undecided END,
    run_no = coalesce(excluded.run_no, row_histories.run_no), seq = coalesce(excluded.seq, row_histories.seq)`;

/**
 * How an accepted deed stands to a deed of a rejected row:
 * - `before`: it stood before the row.
 * - `stood behind`: it was accepted earlier, and stood behind the row.
 * - `sent behind`: the run that rejected the row sent it behind the row, for another row.
 * - `since`: it was accepted later, and may be the deed itself.
 * - `unknown`: it was accepted earlier, and nobody looked where it stood.
 * - `undecided`: it was accepted earlier, and where it stood could not be told.
 * - `unknown row`: this ledger did not reject the row, so nothing is known about where that stood.
 */
export type Standing = "before" | "stood behind" | "sent behind" | "since" | "unknown" | "undecided" | "unknown row";

/** Nobody can tell whether such a deed is later than the row. */
export const UNPLACED: ReadonlySet<Standing> = new Set(["unknown", "undecided", "unknown row"]);

/** Why a deed of a row can't be placed among the accepted ones. */
export type Unplaced = "unknown" | "undecided" | "unknown row";

export const whyUnplaced = (standings: readonly (Standing | undefined)[]): Unplaced =>
  (["unknown row", "undecided"] as const).find((why) => standings.includes(why)) ?? "unknown";

/** Tells how an accepted deed of the same history stands to a deed of a rejected row. */
export type Standings = (deed: AskedAt) => Standing;

export interface AskedOfRow {
  readonly action: Action;
  readonly name: string;
  readonly lacksOther: (history: string) => boolean;
}

/**
 * @param name of the action, as `tickets:actions` has it.
 * @param lacksOther whether another bad row of a history (hex) may be an accepted deed, and is not mended in the input.
 */
export function standingsOf(ledger: Ledger, row: string, { action, name, lacksOther }: AskedOfRow): Standings {
  const rejected = ledger.get("SELECT run_no, seq FROM rejected_rows WHERE row = ?", row);
  const history = digestOf(identityText(action));
  const asked = withActions(ledger, ledger.all(ASKED, row)).filter((each) => historyOf(each).equals(history));
  const mended = withActions(ledger, ledger.all(MENDED, row, rejected?.run_no ?? 0));
  const read = ledger.get(
    "SELECT run_no, seq, undecided FROM row_histories WHERE row = ? AND history = ?",
    row,
    history,
  );
  const isKnown = asked.length > 0 || read !== undefined || mended.some((deed) => historyOf(deed).equals(history));
  // An action that the service was asked for stands where it stood then; what else the row gives, where the row stood.
  const ownTry = asked.find((each) => each.name === name);
  const own = ownTry ?? (isKnown ? mended.at(-1) : undefined);
  // The ledger was lost since or restored from an older copy, or the rejects are another environment's.
  if (rejected === undefined && own === undefined) return () => "unknown row";
  const [firstRun, firstSeq] = [Number(rejected?.run_no), rejected?.seq ?? null];
  // An action that was sent itself was known to be later than what was accepted.
  const isUndecided =
    ownTry === undefined &&
    (read?.undecided === UNDECIDED || (read?.undecided === BEFORE_BAD && lacksOther(history.toString("hex"))));
  const runNo = own === undefined ? firstRun : Number(own.run_no);
  const at = own === undefined ? firstSeq : own.seq;
  const laneOf = (seq: number): number | undefined => laneOfAction(ledger, runNo, seq);
  const firstBehind = at == null ? placesOf(ledger, row) : new Map([[laneOf(Number(at)), Number(at) + 1]]);
  // Where the run sent something of the row, what it sent behind that may be the row's own.
  const behindInRun: Standing = at == null ? "sent behind" : "since";
  const unlooked = (): Standing => (isKnown ? "before" : "unknown");
  const mayStandBehind = firstSeq !== null || hasKindBehind(ledger, row, action.action);
  return (deed) => {
    if (read?.run_no === deed.runNo && read.seq === deed.seq) return "stood behind";
    if (deed.runNo > runNo) return "since";
    if (deed.runNo < runNo && isUndecided) return "undecided";
    if (deed.runNo < runNo) return mayStandBehind ? unlooked() : "before";
    const behind = firstBehind.get(laneOf(deed.seq));
    if (behind === undefined) return unlooked();
    return deed.seq < behind ? "before" : behindInRun;
  };
}

/** What the service was asked for of the row and did not take, by name. */
const ASKED = "SELECT action AS name, run_no, seq FROM row_actions WHERE row = ? AND seq IS NOT NULL";

const MENDED = `
SELECT run_no, seq FROM mendings
WHERE row = ? AND run_no > ? AND ${outcomeOf("mendings.run_no", "mendings.seq")} IN ${TAKEN} ORDER BY run_no, seq`;

/** Identities (hex, without a key) of what the row is known to have given. */
export function historiesOfRow(ledger: Ledger, row: string): ReadonlySet<string> {
  const read = ledger.all("SELECT history FROM row_histories WHERE row = ?", row);
  return new Set([
    ...read.map(({ history }) => Buffer.from(history as Uint8Array).toString("hex")), // a BLOB NOT NULL column
    ...withActions(ledger, ledger.all(ASKED, row)).map((asked) => historyOf(asked).toString("hex")),
  ]);
}

/** Likewise of an action that the service was asked for, or would have been. */
export function historyAsked(ledger: Ledger, { runNo, seq }: AskedAt): string | undefined {
  const asked = sentAt(ledger, runNo, seq);
  return asked && historyOf(asked).toString("hex");
}

/** What would identify an action without a key. */
const historyOf = ({ action, data }: SentAction): Buffer =>
  digestOf(identityText({ action, data: parseJson(data) as Action["data"] })); // written by the planner

/**
 * Histories (hex) in which a row was rejected before a bad one that may be an accepted deed, and of which some row is open
 * and not among those given. Only what that row says once it is mended tells whether it is the accepted deed.
 */
export function historiesThatLack(ledger: Ledger, given: ReadonlySet<string>): ReadonlySet<string> {
  const open = ledger.all(OPEN_OF_UNDECIDED).filter(({ row }) => !given.has(String(row)));
  return new Set(open.map(({ history }) => Buffer.from(history as Uint8Array).toString("hex"))); // a BLOB NOT NULL column
}

const OPEN_OF_UNDECIDED = `
SELECT row, history FROM row_histories
WHERE history IN (SELECT history FROM row_histories WHERE undecided = ${BEFORE_BAD}) AND row NOT IN (SELECT row FROM mended_rows)`;

/** The runs whose rejects hold rows of a history (hex) that are still open and not among those given. */
export function runsOfOthers(ledger: Ledger, history: string, given: ReadonlySet<string>): ReadonlySet<number> {
  const others = ledger.all(OPEN_OF_HISTORY, Buffer.from(history, "hex")).filter(({ row }) => !given.has(String(row)));
  return new Set(others.map(({ run_no }) => Number(run_no)));
}

const OPEN_OF_HISTORY = `
SELECT row, row_numbers.run_no AS run_no FROM row_histories JOIN row_numbers USING (row)
WHERE history = ? AND row NOT IN (SELECT row FROM mended_rows)`;

/** By lane, the number of the first action that its run sent behind the row. */
function placesOf(ledger: Ledger, row: string): ReadonlyMap<number | undefined, number> {
  const places = ledger.all("SELECT lane, seq FROM row_places WHERE row = ?", row);
  return new Map(places.map(({ lane, seq }) => [Number(lane), Number(seq)]));
}

function laneOfAction(ledger: Ledger, runNo: number, seq: number): number | undefined {
  const chunk = blockOf(ledger, runNo, seq)?.chunk;
  if (chunk === undefined) return undefined;
  const lane = ledger.get("SELECT lane FROM chunks WHERE run_no = ? AND chunk = ?", runNo, chunk)?.lane;
  return lane === undefined ? undefined : Number(lane);
}

function hasKindBehind(ledger: Ledger, row: string, action: ActionName): boolean {
  return ledger.get("SELECT 1 AS one FROM kinds_behind WHERE row = ? AND action = ?", row, action) !== undefined;
}
