/** Runs and their chunks: how they are entered, found and counted, and how chunks get parts. Each step is one transaction or part of the caller's. */

import { EXIT_CODES } from "../failure.ts";
import { type ChunkEventName, changeChunk } from "./chunks.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { fromPlaced, toPlaced } from "./machine.ts";
import { outcomeAt, SUPERSEDED, TAKEN } from "./outcomes.ts";
import { type Mending, noteMendings } from "./rejected-rows.ts";
import { sqlList } from "./sql-list.ts";
import {
  type ChunkState,
  DECIDED_STATES,
  type Outcome,
  PERHAPS_TAKEN_STATES,
  QUESTION_STATES,
  type RunState,
  SETTLED_STATES,
  UNDECIDED_STATES,
} from "./states.ts";

export interface RunRecord {
  readonly runNo: number;
  readonly run: string;
  readonly createdAt: string;
  readonly endedAt: string | undefined;
  readonly state: RunState;
  readonly stoppedByPerson: boolean;
  /** A person is closing it, and that is not done yet. Nothing more of it is sent. */
  readonly isClosing: boolean;
  readonly exitCode: number | undefined;
  /** Absolute path of the promises file; undefined when promises went to standard output. */
  readonly output: string | undefined;
  /** The machine that it is on, where several share the ledger (machine.ts). */
  readonly outputMachine: string | undefined;
  /** The plan's manifest as JSON text, so that `status` needs no plan. */
  readonly manifest: string;
}

export interface ChunkRecord {
  readonly runNo: number;
  readonly chunk: number;
  readonly lane: number;
  /** Sequence number of its first action in the plan, from 1. */
  readonly first: number;
  readonly count: number;
  /** Where its bytes stand in actions.ndjson. */
  readonly offset: number;
  readonly length: number;
  readonly state: ChunkState;
  readonly httpStatus: number | undefined;
  readonly detail: string | undefined;
  readonly rejectsWritten: boolean;
}

/** Of both tables, under the names that the records have. */
const RUN_COLUMNS = `run_no AS runNo, run, created_at AS createdAt, ended_at AS endedAt, state,
  stopped_by_person AS stoppedByPerson, exit_code AS exitCode, output, manifest,
  state = 'open' AND EXISTS (
    SELECT 1 FROM settlements WHERE settlements.run_no = runs.run_no AND chunk IS NULL AND decision = 'abandon'
  ) AS isClosing`;
const CHUNK_COLUMNS = `run_no AS runNo, chunk, lane, first, count, offset, length, state,
  http_status AS httpStatus, detail, rejects_written AS rejectsWritten`;

function toRun(row: SqlRow): RunRecord {
  const run = row as unknown as RunRecord; // the tables are STRICT, and a CHECK holds the state to those there are
  const placed = row.output == null ? undefined : fromPlaced(String(row.output));
  return {
    ...run,
    endedAt: run.endedAt ?? undefined,
    stoppedByPerson: Boolean(run.stoppedByPerson),
    isClosing: Boolean(run.isClosing),
    exitCode: run.exitCode ?? undefined,
    output: placed?.path,
    outputMachine: placed?.machine,
  };
}

function toChunk(row: SqlRow): ChunkRecord {
  const chunk = row as unknown as ChunkRecord; // likewise
  const { httpStatus, detail, rejectsWritten } = chunk;
  return {
    ...chunk,
    httpStatus: httpStatus ?? undefined,
    detail: detail ?? undefined,
    rejectsWritten: Boolean(rejectsWritten),
  };
}

const placedOutput = (ledger: Ledger, output: string | undefined): string | null =>
  output === undefined ? null : toPlaced(ledger, output);

export type PlannedChunk = Pick<ChunkRecord, "lane" | "first" | "count" | "offset" | "length">;

/** Enters a plan into the ledger; from then on it is a run, and survives the process. */
export function enterRun(
  ledger: Ledger,
  run: {
    readonly run: string;
    readonly manifest: string;
    readonly output: string | undefined;
    readonly chunks: readonly PlannedChunk[];
    readonly at: string;
    readonly mendings?: readonly Mending[];
  },
): RunRecord {
  return ledger.transaction(() => {
    const sql = "INSERT INTO runs (run, created_at, state, output, manifest) VALUES (?, ?, 'open', ?, ?)";
    ledger.run(sql, run.run, run.at, placedOutput(ledger, run.output), run.manifest);
    const record = findRun(ledger, run.run);
    if (record === undefined) throw new Error(`run ${run.run} vanished while it was entered`);
    for (const [at, chunk] of run.chunks.entries()) {
      changeChunk(ledger, "plan", { runNo: record.runNo, chunk: at + 1 }, chunk);
    }
    noteMendings(ledger, record.runNo, run.mendings ?? []);
    return record;
  });
}

/** What the manifest of an imported run says in place of the mapping's digest. */
export const IMPORTED_MAPPING = "imported";

/** Of such a run the ledger knows only what a promises file said; it has no plan. */
export const isImportedRun = ({ manifest }: Pick<RunRecord, "manifest">): boolean =>
  (JSON.parse(manifest) as { readonly mapping?: string }).mapping === IMPORTED_MAPPING; // as `manifestOf` made it

export function findRun(ledger: Ledger, run: string): RunRecord | undefined {
  const row = ledger.get(`SELECT ${RUN_COLUMNS} FROM runs WHERE run = ?`, run);
  return row && toRun(row);
}

/** A run by its number. */
export function runOf(ledger: Ledger, runNo: number): RunRecord {
  const row = ledger.get(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_no = ?`, runNo);
  if (row === undefined) throw new Error(`the ledger lacks its run ${runNo}`);
  return toRun(row);
}

/** The numbers of all runs, the newest first. */
export const runNumbers = (ledger: Ledger): readonly number[] =>
  ledger.all("SELECT run_no FROM runs ORDER BY run_no DESC").map(({ run_no }) => Number(run_no));

/** The id of a run, by its number. */
export const runIdOf = (ledger: Ledger, runNo: number): string =>
  String(ledger.get("SELECT run FROM runs WHERE run_no = ?", runNo)?.run);

/** How many actions the service has, or may have. */
export function actionsOutside(ledger: Ledger): number {
  const row = ledger.get(
    `SELECT (SELECT coalesce(sum(actions), 0) FROM tallies WHERE outcome IN ${TAKEN})
       + (SELECT coalesce(sum(count), 0) FROM chunks WHERE state IN ${sqlList(PERHAPS_TAKEN_STATES)}) AS n`,
  );
  return Number(row?.n);
}

export const countRuns = (ledger: Ledger): number => Number(ledger.get("SELECT count(*) AS n FROM runs")?.n ?? 0);

/** Runs newest first; all of them unless a limit is given. */
export function listRuns(ledger: Ledger, limit = Number.MAX_SAFE_INTEGER): readonly RunRecord[] {
  return ledger.all(`SELECT ${RUN_COLUMNS} FROM runs ORDER BY run_no DESC LIMIT ?`, limit).map(toRun);
}

/** How many actions of a run the service has rejected. */
export const rejectedIn = (ledger: Ledger, runNo: number): number => Number(ledger.get(REJECTED, runNo)?.n);

const REJECTED = "SELECT coalesce(sum(actions), 0) AS n FROM tallies WHERE run_no = ? AND outcome = 'rejected'";

/** Whether a run has undecided chunks, for which its plan is still needed. */
export const isUndecided = (ledger: Ledger, runNo: number): boolean => undecidedChunks(ledger, runNo).length > 0;

/** Of a chunk: its outcomes are not in the output and the ledger's tables yet, or the rows it left open not in the rejects. */
const UNWRITTEN = `(
    (state IN ${sqlList(SETTLED_STATES)} AND (projected = 0 OR merged = 0))
    OR (state IN ${sqlList(DECIDED_STATES)} AND rejects_written = 0))`;

/** Whether all outcomes of the run are in the output, and the rows it left open in the rejects. */
export function isFullyWritten(ledger: Ledger, runNo: number): boolean {
  return ledger.get(`SELECT 1 AS one FROM chunks WHERE run_no = ? AND ${UNWRITTEN} LIMIT 1`, runNo) === undefined;
}

/**
 * Open and abandoned runs that are not fully written, oldest first. A finished run ended when all was written. In a shared ledger
 * it ended wherever its last chunk was sent, so finished ones are among them; but none whose promises go to another machine.
 */
export function unwrittenRuns(ledger: Ledger): readonly RunRecord[] {
  if (ledger.kind === "postgres") {
    const here = toPlaced(ledger, "");
    return ledger.all(UNWRITTEN_HERE, here.length, here).map(toRun);
  }
  return ledger
    .all(`SELECT ${RUN_COLUMNS} FROM runs WHERE state IN ('open', 'abandoned') ORDER BY run_no`)
    .map(toRun)
    .filter(({ runNo }) => !isFullyWritten(ledger, runNo));
}

const UNWRITTEN_HERE = `SELECT ${RUN_COLUMNS} FROM runs WHERE (output IS NULL OR substr(output, 1, ?) = ?)
  AND EXISTS (SELECT 1 FROM chunks WHERE chunks.run_no = runs.run_no AND ${UNWRITTEN}) ORDER BY run_no`;

/** Runs that are not finished, oldest first. */
export function openRuns(ledger: Ledger): readonly RunRecord[] {
  return ledger.all(`SELECT ${RUN_COLUMNS} FROM runs WHERE state = 'open' ORDER BY run_no`).map(toRun);
}

/** Runs with chunks that a person has to decide about, closed runs too; oldest first. */
export function runsWithDoubts(ledger: Ledger): readonly RunRecord[] {
  const sql = `SELECT ${RUN_COLUMNS} FROM runs
    WHERE run_no IN (SELECT run_no FROM chunks WHERE state IN ${sqlList(QUESTION_STATES)}) ORDER BY run_no`;
  return ledger.all(sql).map(toRun);
}

/** Runs of which actions may still reach the service, or may have reached it, also closed ones: oldest first. */
export function undecidedRuns(ledger: Ledger): readonly RunRecord[] {
  const sql = `SELECT ${RUN_COLUMNS} FROM runs
    WHERE run_no IN (SELECT run_no FROM chunks WHERE state IN ${sqlList(UNDECIDED_STATES)}) ORDER BY run_no`;
  return ledger.all(sql).map(toRun);
}

/**
 * Runs with chunks of which the tables of deeds do not have the outcome, oldest first: what may be sent, or has been, and what
 * was settled since the last merge by other machines, or by a process that was killed or is at it.
 */
export function unmergedRuns(ledger: Ledger): readonly RunRecord[] {
  const sql = `SELECT ${RUN_COLUMNS} FROM runs WHERE run_no IN (SELECT run_no FROM chunks WHERE ${UNMERGED}) ORDER BY run_no`;
  return ledger.all(sql).map(toRun);
}

/**
 * The chunks of a run of which its plan says what they may have sent, in order. A file's ledger has what was settled itself
 * (`takenUnmerged`).
 */
export function unmergedChunks(ledger: Ledger, runNo: number): readonly ChunkRecord[] {
  if (ledger.kind === "sqlite") return undecidedChunks(ledger, runNo);
  const sql = `SELECT ${CHUNK_COLUMNS} FROM chunks WHERE run_no = ? AND ${UNMERGED} ORDER BY first, chunk`;
  return ledger.all(sql, runNo).map(toChunk);
}

const UNMERGED = `merged = 0 AND state IN ${sqlList([...UNDECIDED_STATES, ...SETTLED_STATES])}`;

/** The last run that was given an input of this name, with what its bytes were then. */
export function lastGiven(
  ledger: Ledger,
  name: string,
): { readonly runNo: number; readonly sha256: string } | undefined {
  const sql = `SELECT run_no, input.value ->> 'sha256' AS sha256 FROM runs, json_each(manifest, '$.inputs') AS input
    WHERE input.value ->> 'name' = ? ORDER BY run_no DESC LIMIT 1`;
  const row = ledger.get(sql, name);
  return row && { runNo: Number(row.run_no), sha256: String(row.sha256) };
}

/** What the input that gave an action was read as: the source, or the action. */
export function wasReadAs(ledger: Ledger, runNo: number, seq: number): string | undefined {
  const source = outcomeAt(ledger, runNo, seq)?.source;
  if (source === undefined) return undefined;
  const sql = `SELECT input.value ->> 'readAs' AS read_as FROM runs, json_each(manifest, '$.inputs') AS input
    WHERE run_no = ? AND input.value ->> 'name' = ?`;
  const readAs = ledger.get(sql, runNo, source)?.read_as;
  return readAs == null ? undefined : String(readAs);
}

/** The newest run, finished or not. */
export function lastRun(ledger: Ledger): RunRecord | undefined {
  return listRuns(ledger, 1)[0];
}

export function chunksOf(ledger: Ledger, runNo: number, state?: ChunkState): readonly ChunkRecord[] {
  const sql = `SELECT ${CHUNK_COLUMNS} FROM chunks
    WHERE run_no = ?${state === undefined ? "" : " AND state = ?"} ORDER BY first, chunk`;
  return ledger.all(sql, runNo, ...(state === undefined ? [] : [state])).map(toChunk);
}

/** What is left to send of a run, or of one of its lanes. */
export const plannedChunks = (ledger: Ledger, runNo: number, lane?: number): readonly ChunkRecord[] =>
  chunksOf(ledger, runNo, "planned").filter((chunk) => lane === undefined || chunk.lane === lane);

const chunksIn = (ledger: Ledger, runNo: number, states: readonly ChunkState[]): readonly ChunkRecord[] =>
  states.flatMap((state) => chunksOf(ledger, runNo, state));

/** Chunks whose actions may still reach the service, or may have reached it; state by state. */
export const undecidedChunks = (ledger: Ledger, runNo: number): readonly ChunkRecord[] =>
  chunksIn(ledger, runNo, UNDECIDED_STATES);

/** Chunks of which all actions have an outcome, state by state. */
export const decidedChunks = (ledger: Ledger, runNo: number): readonly ChunkRecord[] =>
  chunksIn(ledger, runNo, DECIDED_STATES);

/** Chunks whose fate only a person can say, in the order of the plan. */
export const openQuestions = (ledger: Ledger, runNo: number): readonly ChunkRecord[] =>
  chunksIn(ledger, runNo, QUESTION_STATES).toSorted((a, b) => a.first - b.first);

/** The lanes in which something is left to send. */
export function plannedLanes(ledger: Ledger, runNo: number): readonly number[] {
  const sql = "SELECT DISTINCT lane FROM chunks WHERE run_no = ? AND state = 'planned' ORDER BY lane";
  return ledger.all(sql, runNo).map(({ lane }) => Number(lane));
}

/** The lane's next chunk. */
export function nextPlannedChunk(ledger: Ledger, runNo: number, lane: number): ChunkRecord | undefined {
  const sql = `SELECT ${CHUNK_COLUMNS} FROM chunks
    WHERE run_no = ? AND lane = ? AND state = 'planned' ORDER BY first, chunk LIMIT 1`;
  const row = ledger.get(sql, runNo, lane);
  return row && toChunk(row);
}

/** Part of a transaction: whether a chunk is still what it was when it was read, which nobody changes before the end. */
export function isUnchanged(ledger: Ledger, { runNo, chunk, state, first, count }: ChunkRecord): boolean {
  const sql = "SELECT 1 AS one FROM chunks WHERE run_no = ? AND chunk = ? AND state = ? AND first = ? AND count = ?";
  const locked = ledger.kind === "postgres" ? `${sql} FOR UPDATE` : sql;
  return ledger.get(locked, runNo, chunk, state, first, count) !== undefined;
}

/** The number that the run's next chunk will have. Within a transaction, nobody else gives a chunk of the run a number before its end. */
export function nextChunkNumber(ledger: Ledger, runNo: number): number {
  if (ledger.kind === "postgres") ledger.get("SELECT run_no FROM runs WHERE run_no = ? FOR NO KEY UPDATE", runNo);
  return Number(ledger.get("SELECT max(chunk) AS last FROM chunks WHERE run_no = ?", runNo)?.last) + 1;
}

/** By the state in which a part begins. */
const PART_EVENTS: Partial<Record<ChunkState, ChunkEventName & `add${string}`>> = {
  planned: "addPlanned",
  "in doubt": "addDoubt",
  refused: "addRefused",
  abandoned: "addAbandoned",
};

/** Part of a transaction: parts of a chunk, or of the plan, become chunks of their own. */
export function addChunks(
  ledger: Ledger,
  parent: Pick<ChunkRecord, "runNo" | "lane" | "httpStatus"> & { readonly chunk: number | undefined },
  parts: readonly (Pick<ChunkRecord, "first" | "count" | "offset" | "length"> & {
    readonly detail?: string | undefined;
  })[],
  state: ChunkState,
): void {
  const { runNo, chunk, lane, httpStatus } = parent;
  const event = PART_EVENTS[state];
  if (event === undefined) throw new Error(`a part of chunk ${chunk} can't begin as ${state}`);
  const next = nextChunkNumber(ledger, runNo);
  for (const [at, part] of parts.entries()) {
    if (part.count < 1) throw new Error(`a part of chunk ${chunk} would hold no action`);
    const status = state === "planned" ? undefined : httpStatus;
    const given = { ...part, lane, parent: chunk, http_status: status, detail: part.detail };
    changeChunk(ledger, event, { runNo, chunk: next + at }, given);
  }
}

/** The planned chunk that a chunk is a part of; undefined for one that was planned itself. */
export function wholeOf(ledger: Ledger, { runNo, chunk }: Pick<ChunkRecord, "runNo" | "chunk">): number | undefined {
  const sql = `WITH RECURSIVE above(chunk, parent) AS (
      SELECT chunk, parent FROM chunks WHERE run_no = ? AND chunk = ?
      UNION ALL
      SELECT chunks.chunk, chunks.parent FROM chunks JOIN above ON chunks.chunk = above.parent WHERE run_no = ?
    ) SELECT chunk FROM above WHERE parent IS NULL`;
  const whole = Number(ledger.get(sql, runNo, chunk, runNo)?.chunk ?? chunk);
  return whole === chunk ? undefined : whole;
}

/** Has refused chunks sent again, since the environment says that a refusal takes nothing. */
export function reopenRefused(ledger: Ledger, runNo: number): void {
  const refused = chunksOf(ledger, runNo, "refused");
  if (refused.length === 0) return;
  ledger.transaction(() => {
    for (const chunk of refused) changeChunk(ledger, "reopen", chunk);
  });
}

/** Bytes of the shortest chunk of a run that was split. */
export function shortestSplit(ledger: Ledger, runNo: number): number | undefined {
  const row = ledger.get("SELECT min(length) AS length FROM chunks WHERE run_no = ? AND state = 'split'", runNo);
  return row?.length == null ? undefined : Number(row.length);
}

/** Whether promises of the run stand in its output. */
export const hasProjected = (ledger: Ledger, runNo: number): boolean =>
  ledger.get(
    "SELECT 1 AS one FROM chunks JOIN tallies USING (run_no, chunk) WHERE run_no = ? AND projected = 1 AND outcome <> 'not sent' LIMIT 1",
    runNo,
  ) !== undefined;

/** Whether what some chunk of the run leaves to do is in its rejects. */
export const hasRejectsWritten = (ledger: Ledger, runNo: number): boolean =>
  ledger.get("SELECT 1 AS one FROM chunks WHERE run_no = ? AND rejects_written = 1 LIMIT 1", runNo) !== undefined;

/** Part of a transaction with a shared ledger: where the promises of a run go, which nobody changes before its end. */
export function outputHeld(ledger: Ledger, runNo: number): Pick<RunRecord, "output" | "outputMachine"> {
  ledger.get("SELECT run_no FROM runs WHERE run_no = ? FOR SHARE", runNo);
  return runOf(ledger, runNo);
}

/** Part of a transaction with a shared ledger: a run that nobody changes before its end. */
export function runHeld(ledger: Ledger, runNo: number): RunRecord {
  ledger.get("SELECT run_no FROM runs WHERE run_no = ? FOR NO KEY UPDATE", runNo);
  return runOf(ledger, runNo);
}

/** Notes where the promises of a run go from now on. */
export function noteOutput(ledger: Ledger, runNo: number, path: string): void {
  ledger.run("UPDATE runs SET output = ? WHERE run_no = ?", placedOutput(ledger, path), runNo);
}

/**
 * Part of a transaction: enters a run of which only promises are known. `from` and `to` are the first and last time known of
 * it.
 */
export function enterImportedRun(ledger: Ledger, run: string, from: string, to: string): RunRecord {
  const sql = `INSERT INTO runs (run, created_at, ended_at, state, exit_code, manifest) VALUES (?, ?, ?, 'finished', 0, '')
    ON CONFLICT (run) DO UPDATE SET 
      created_at = CASE WHEN excluded.created_at < runs.created_at THEN excluded.created_at ELSE runs.created_at END,
      ended_at = CASE WHEN excluded.ended_at > runs.ended_at THEN excluded.ended_at ELSE runs.ended_at END`;
  ledger.run(sql, run, from, to);
  const record = findRun(ledger, run);
  if (record === undefined) throw new Error(`run ${run} vanished while it was imported`);
  return record;
}

export function noteManifest(ledger: Ledger, runNo: number, manifest: string): void {
  ledger.run("UPDATE runs SET manifest = ? WHERE run_no = ?", manifest, runNo);
}

export function endRun(ledger: Ledger, runNo: number, state: RunState, exitCode: number, at: string): void {
  ledger.run("UPDATE runs SET state = ?, exit_code = ?, ended_at = ? WHERE run_no = ?", state, exitCode, at, runNo);
}

/** Notes how the latest command on an unfinished run ended. */
export function noteStop(ledger: Ledger, runNo: number, exitCode: number, byPerson: boolean): void {
  const sql = "UPDATE runs SET exit_code = ?, stopped_by_person = ? WHERE run_no = ?";
  ledger.run(sql, exitCode, byPerson ? 1 : 0, runNo);
}

/** A worker found what a person has to look at. Whether a person has stopped the run as well is not its to say. */
export function noteRefused(ledger: Ledger, runNo: number): void {
  ledger.run(`UPDATE runs SET exit_code = ${EXIT_CODES.refused} WHERE run_no = ? AND state = 'open'`, runNo);
}

/** A command sends the run again, whatever stopped it before: so may the workers of other machines. */
export function noteGoesOn(ledger: Ledger, runNo: number): void {
  ledger.run("UPDATE runs SET exit_code = NULL, stopped_by_person = 0 WHERE run_no = ? AND state = 'open'", runNo);
}

/** Actions of a run by outcome, and what has no outcome yet by its chunk's state. */
export interface RunCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly refused: number;
  readonly inDoubt: number;
  /** Of those in doubt: being sent or settled by a process right now. */
  readonly inFlight: number;
  readonly settledByHand: number;
  readonly notSent: number;
  /** Of those not sent: closed because a later action of their history was taken. */
  readonly superseded: number;
  readonly chunks: { readonly total: number; readonly settled: number };
  readonly byAction: Readonly<Record<string, number>>;
}

export function countRun(ledger: Ledger, runNo: number): RunCounts {
  const rows = ledger.all(COUNTS, runNo, runNo, runNo).map(({ what, name, action, actions, chunks }) => {
    return { what, name, action: String(action), actions: Number(actions), chunks: Number(chunks) };
  });
  const tallies = rows.filter(({ what }) => what === "tally");
  const states = rows.filter(({ what }) => what === "state");
  const came = (to: Outcome): number => sumOf(tallies.filter(({ name }) => name === to));
  // A chunk that is not decided has no action rows: its actions stand in the plan, and the chunk's state is theirs.
  const actionsIn = (state: ChunkState): number => sumOf(states.filter(({ name }) => name === state));
  const inFlight = actionsIn("sending");
  const chunksIn = (which: (state: ChunkState) => boolean): number =>
    states.reduce((sum, { name, chunks }) => sum + (which(name as ChunkState) ? chunks : 0), 0); // a CHECK holds it to these
  const settled: readonly ChunkState[] = SETTLED_STATES;
  return {
    accepted: came("accepted"),
    rejected: came("rejected"),
    refused: actionsIn("refused"),
    inDoubt: actionsIn("in doubt") + inFlight,
    inFlight,
    settledByHand: came("settled by hand"),
    notSent: came("not sent") + actionsIn("planned") + sumOf(rows.filter(({ what }) => what === "unlisted")),
    superseded: came("not sent") > 0 ? Number(ledger.get(SUPERSEDED_ACTIONS, runNo)?.n) : 0,
    chunks: { total: chunksIn((state) => state !== "split"), settled: chunksIn((state) => settled.includes(state)) },
    byAction: Object.fromEntries(
      tallies.filter(({ name }) => name === "accepted").map(({ action, actions }) => [action, actions]),
    ),
  };
}

const sumOf = (rows: readonly { readonly actions: number }[]): number =>
  rows.reduce((sum, { actions }) => sum + actions, 0);

/**
 * All at once: of a chunk that workers settle meanwhile, two questions could find neither outcomes nor a state. Closed without
 * its plan, a chunk is `unlisted`: the number of its actions is known, but not which they are.
 */
const COUNTS = `SELECT 'tally' AS what, outcome AS name, action, sum(actions) AS actions, 0 AS chunks
    FROM tallies WHERE run_no = ? GROUP BY outcome, action
  UNION ALL SELECT 'state', state, NULL, sum(count), count(*) FROM chunks WHERE run_no = ? GROUP BY state
  UNION ALL SELECT 'unlisted', NULL, NULL, sum(count), 0 FROM chunks WHERE run_no = ? AND state = 'abandoned'
    AND NOT EXISTS (SELECT 1 FROM tallies WHERE tallies.run_no = chunks.run_no AND tallies.chunk = chunks.chunk)
  ORDER BY action`;
const SUPERSEDED_ACTIONS = `SELECT count(*) AS n FROM chunks JOIN actions USING (run_no, chunk)
  WHERE run_no = ? AND state = 'abandoned' AND seq >= first AND seq < first + count AND status = '${SUPERSEDED}'`;
