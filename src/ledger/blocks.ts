/**
 * What became of actions, as the ledger stores it: a row of `blocks` for up to 512 that follow each other, and one of
 * `exceptions` for each of which more is to be said.
 */

import {
  actionLine,
  BLOCK_ACTIONS,
  CONTENT_BYTES,
  compressLines,
  decodeOrigins,
  decodePromises,
  decompressLines,
  encodeOrigins,
  encodePromises,
  IDENTITY_BYTES,
  type Origin,
  promisesAsBytes,
  readActionLine,
  type SentAction,
} from "./block.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";
import { OUTCOMES, type Outcome, TAKEN_OUTCOMES } from "./states.ts";

/** Outcomes that mean the service has the action, for SQL. */
export const TAKEN = sqlList(TAKEN_OUTCOMES);

const oneOf = (values: readonly string[]): string => `IN ${sqlList(values)}`;

/**
 * `unmerged` holds identity and content of each action of a block until they are among the deeds. Blocks of a run do not
 * overlap, so that the one of an action is the last that begins at its number or before it.
 */
export const BLOCK_TABLES = `
CREATE TABLE blocks (
  run_no INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome ${oneOf(TAKEN_OUTCOMES)}),
  at TEXT NOT NULL,
  promises ANY,
  origins TEXT NOT NULL,
  actions BLOB NOT NULL,
  PRIMARY KEY (run_no, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE exceptions (
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome ${oneOf(OUTCOMES)}),
  status TEXT NOT NULL,
  response TEXT,
  identity BLOB NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (run_no, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE unmerged (
  run_no INTEGER NOT NULL,
  first INTEGER NOT NULL,
  deeds BLOB NOT NULL,
  PRIMARY KEY (run_no, first)
) STRICT, WITHOUT ROWID;
`;

/** An action of which it is known what became of it. */
export interface OutcomeFacts {
  /** Place in the plan, from 1. */
  readonly seq: number;
  readonly chunk: number;
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly outcome: Outcome;
  /** The service's status of the item; for what a person settled, `settled-by-hand`. */
  readonly status: string;
  readonly actionPromise?: string | undefined;
  /** The service's whole item as JSON text, for everything but an accepted action. */
  readonly response?: string | undefined;
  /** When the answer came, UTC in ISO 8601. */
  readonly at: string;
}

/** An outcome with the digests by which the same deed is recognised. */
export interface NewOutcome extends OutcomeFacts {
  /** The action's data as it was sent: JSON text, or its bytes. */
  readonly data: string | Uint8Array;
  readonly identity: Uint8Array;
  readonly content: Uint8Array;
}

/** What is more than an accepted action with its promise, or one that a person settled as sent. */
export type Exception = Pick<NewOutcome, "seq" | "outcome" | "status" | "response" | "identity" | "content">;

/** Outcomes of one chunk that follow each other and came at one time, as they are stored. */
export interface NewBlock {
  readonly first: number;
  readonly count: number;
  readonly chunk: number;
  /** What became of all of them but the exceptions. */
  readonly outcome: (typeof TAKEN_OUTCOMES)[number];
  readonly at: string;
  /** As `encodePromises` makes them. */
  readonly promises: Buffer | string | null;
  /** As `encodeOrigins` makes them. */
  readonly origins: string;
  /** Compressed lines. */
  readonly actions: Uint8Array;
  /** Identity and content of each. */
  readonly deeds: Uint8Array;
  readonly exceptions: readonly Exception[];
}

/** The status that goes with an outcome of a block. */
const USUAL_STATUS = { accepted: "success", "settled by hand": "settled-by-hand" } as const;

/** Part of a transaction: stores outcomes in the order of their numbers. */
export function insertOutcomes(ledger: Ledger, runNo: number, rows: readonly NewOutcome[]): void {
  for (const block of toBlocks(rows)) insertBlock(ledger, runNo, block);
  insertTallies(ledger, runNo, talliesOf(rows));
}

export function* toBlocks(rows: readonly NewOutcome[]): Generator<NewBlock> {
  for (let from = 0; from < rows.length; ) {
    const end = endOfBlock(rows, from);
    yield toBlock(rows.slice(from, end));
    from = end;
  }
}

/** Where the block ends that begins with a row. */
function endOfBlock(rows: readonly NewOutcome[], from: number): number {
  const first = rows[from];
  let outcome: Outcome | undefined;
  let end = from;
  for (; end < rows.length && end < from + BLOCK_ACTIONS; end += 1) {
    const row = rows[end];
    if (row?.chunk !== first?.chunk || row?.at !== first?.at || row?.seq !== (first?.seq ?? 0) + end - from) break;
    if (row === undefined || !isTaken(row.outcome)) continue;
    if (outcome !== undefined && row.outcome !== outcome) break;
    outcome = row.outcome;
  }
  return end;
}

export const isTaken = (outcome: Outcome): outcome is NewBlock["outcome"] =>
  TAKEN_OUTCOMES.some((taken) => taken === outcome);

function toBlock(rows: readonly NewOutcome[]): NewBlock {
  const [first] = rows;
  if (first === undefined) throw new Error("a block without an action");
  const outcome = rows.map((row) => row.outcome).find(isTaken) ?? "accepted";
  const lines = rows.map(({ action, data }) => `${actionLine(action, textOf(data))}\n`);
  return {
    first: first.seq,
    count: rows.length,
    chunk: first.chunk,
    outcome,
    at: first.at,
    promises: encodePromises(rows.map(({ actionPromise }) => actionPromise)),
    origins: encodeOrigins(
      rows.length,
      (at) => rows[at]?.source ?? "",
      (at) => rows[at]?.line ?? 0,
    ),
    actions: compressLines(Buffer.from(lines.join(""))),
    deeds: Buffer.concat(
      rows.flatMap((row) => [sized(row.identity, IDENTITY_BYTES), sized(row.content, CONTENT_BYTES)]),
    ),
    exceptions: rows.filter((row) => isException(row, outcome)),
  };
}

function sized(digest: Uint8Array, bytes: number): Uint8Array {
  if (digest.length !== bytes) throw new Error(`a digest of ${digest.length} bytes in place of ${bytes}`);
  return digest;
}

const isException = ({ outcome, status, response }: NewOutcome, usual: NewBlock["outcome"]): boolean =>
  outcome !== usual || status !== USUAL_STATUS[usual] || response !== undefined;

const textOf = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8");

/** Part of a transaction. */
export function insertBlock(ledger: Ledger, runNo: number, block: NewBlock): void {
  const { first, count, chunk, outcome, at, promises, origins, actions, deeds, exceptions } = block;
  const given = ledger.kind === "postgres" ? promisesAsBytes(promises, count) : promises;
  ledger.run(INSERT_BLOCK, runNo, first, count, chunk, outcome, at, given, origins, actions);
  ledger.run("INSERT INTO unmerged (run_no, first, deeds) VALUES (?, ?, ?)", runNo, first, deeds);
  for (const { seq, outcome: other, status, response, identity, content } of exceptions)
    ledger.run(INSERT_EXCEPTION, runNo, seq, other, status, response ?? null, identity, content);
}

const INSERT_BLOCK = `INSERT INTO blocks (run_no, first, count, chunk, outcome, at, promises, origins, actions)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_EXCEPTION = `INSERT INTO exceptions (run_no, seq, outcome, status, response, identity, content)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** How many actions of a kind and chunk had an outcome. */
export interface Tally {
  readonly chunk: number;
  readonly action: string;
  readonly outcome: Outcome;
  actions: number;
}

export function talliesOf(rows: readonly Pick<NewOutcome, "chunk" | "action" | "outcome">[]): readonly Tally[] {
  const counts = new Map<string, Tally>();
  let last: Tally | undefined;
  for (const { chunk, action, outcome } of rows) {
    if (last?.chunk !== chunk || last.action !== action || last.outcome !== outcome) {
      const key = `${chunk} ${action} ${outcome}`;
      last = counts.get(key) ?? { chunk, action, outcome, actions: 0 };
      counts.set(key, last);
    }
    last.actions += 1;
  }
  return [...counts.values()];
}

/** Part of a transaction. */
export function insertTallies(ledger: Ledger, runNo: number, counts: Iterable<Tally>): void {
  const sql = `INSERT INTO tallies (run_no, chunk, action, outcome, actions) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_no, chunk, action, outcome) DO UPDATE SET actions = tallies.actions + excluded.actions`;
  for (const { chunk, action, outcome, actions } of counts) ledger.run(sql, runNo, chunk, action, outcome, actions);
}

/** A block that was read. What is costly is made when it is asked for. */
export interface Block extends Pick<NewBlock, "first" | "count" | "chunk" | "outcome" | "at"> {
  readonly runNo: number;
  /** Of all actions, each with a newline behind it, or between them. */
  readonly lines: Buffer;
  /** Where in `lines` the action at a place begins, from 0. */
  startOf(at: number): number;
  sentAt(at: number): SentAction;
  originAt(at: number): Origin;
  promiseAt(at: number): string | undefined;
}

const COLUMNS = "run_no, first, count, chunk, outcome, at, promises, origins, actions";

function toBlockRead(row: SqlRow): Block {
  const count = Number(row.count);
  const lines = lazily(() => decompressLines(row.actions as Uint8Array)); // a BLOB NOT NULL column
  const starts = lazily(() => startsOfLines(lines(), count));
  const lineAt = (at: number): string => lines().toString("utf8", held(starts()[at]), held(starts()[at + 1]) - 1);
  const origins = lazily(() => decodeOrigins(String(row.origins)));
  const promises = lazily(() => decodePromises(row.promises, count));
  return {
    runNo: Number(row.run_no),
    first: Number(row.first),
    count,
    chunk: Number(row.chunk),
    outcome: String(row.outcome) as NewBlock["outcome"], // the table's CHECK holds it to these
    at: String(row.at),
    get lines() {
      return lines();
    },
    startOf: (at) => held(starts()[at]),
    sentAt: (at) => readActionLine(lineAt(at)),
    originAt: (at) => held(origins()[at]),
    promiseAt: (at) => promises()[at],
  };
}

/** As a number: a text is looked for in twice the time. */
const NEWLINE = 0x0a;

/** Where each line begins, and where one behind the last would. */
function startsOfLines(lines: Buffer, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  let known = 1;
  for (let from = 0; known <= count && from < lines.length; known += 1) {
    const end = lines.indexOf(NEWLINE, from);
    from = (end === -1 ? lines.length : end) + 1;
    starts[known] = from;
  }
  return starts.subarray(0, known);
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function held<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a block holds fewer actions than it counts");
  return value;
}

/** How many blocks are kept that were asked for by single actions: some 10 MB. */
const KEPT = 64;
const KEPT_BLOCKS = new WeakMap<Ledger, Map<string, Block>>();

/**
 * The block that an action has its outcome in. Blocks never change, but a ledger may take one back with a transaction, so each
 * is looked up before it is taken from those that were read.
 */
export function blockOf(ledger: Ledger, runNo: number, seq: number): Block | undefined {
  const found = ledger.get(LAST_BEFORE, runNo, seq);
  if (found === undefined || seq >= Number(found.first) + Number(found.count)) return undefined;
  const kept = KEPT_BLOCKS.get(ledger) ?? new Map<string, Block>();
  KEPT_BLOCKS.set(ledger, kept);
  const key = `${runNo} ${found.first} ${found.count} ${found.at}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const row = ledger.get(`SELECT ${COLUMNS} FROM blocks WHERE run_no = ? AND first = ?`, runNo, Number(found.first));
  if (row === undefined) throw new Error("a block vanished while it was read");
  const block = toBlockRead(row);
  const oldest = kept.size < KEPT ? undefined : kept.keys().next().value;
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(key, block);
  return block;
}

const LAST_BEFORE = "SELECT first, count, at FROM blocks WHERE run_no = ? AND first <= ? ORDER BY first DESC LIMIT 1";

/** Blocks of a run that begin within a range, in order, one in memory at a time. */
export function* blocksWithin(
  ledger: Ledger,
  runNo: number,
  from = 1,
  end = Number.MAX_SAFE_INTEGER,
): Generator<Block> {
  const firsts = ledger.all(
    "SELECT first FROM blocks WHERE run_no = ? AND first >= ? AND first < ? ORDER BY first",
    runNo,
    from,
    end,
  );
  for (const { first } of firsts) {
    const row = ledger.get(`SELECT ${COLUMNS} FROM blocks WHERE run_no = ? AND first = ?`, runNo, Number(first));
    if (row !== undefined) yield toBlockRead(row);
  }
}

/** What is not merged of a run, in order, a few at a time. They may be removed meanwhile. */
export function* unmergedBlocks(
  ledger: Ledger,
  runNo: number,
): Generator<{ readonly first: number; readonly block: Block | undefined; readonly deeds: Uint8Array }> {
  const sql = `SELECT ${COLUMNS}, deeds FROM unmerged LEFT JOIN blocks USING (run_no, first)
    WHERE run_no = ? AND first > ? ORDER BY first LIMIT ${UNMERGED_AT_ONCE}`;
  for (let rows = ledger.all(sql, runNo, 0); rows.length > 0; rows = ledger.all(sql, runNo, Number(rows.at(-1)?.first)))
    for (const row of rows)
      yield {
        first: Number(row.first),
        block: row.count === null ? undefined : toBlockRead(row),
        deeds: row.deeds as Uint8Array, // a BLOB NOT NULL column
      };
}

const UNMERGED_AT_ONCE = 16;

/** SQL: the block of an action, as a row with `what`; nothing where it has no outcome. */
const ofBlock = (what: string, runNo: string, seq: string): string =>
  `(SELECT CASE WHEN ${seq} < held.first + held.count THEN held.${what} END FROM blocks AS held
    WHERE held.run_no = ${runNo} AND held.first <= ${seq} ORDER BY held.first DESC LIMIT 1)`;

/**
 * SQL: what became of an action; NULL where it has no outcome.
 *
 * @param runNo with `seq` its place: columns with the names of their tables, since this looks into tables that have such too.
 */
export const outcomeOf = (runNo: string, seq: string): string =>
  `coalesce((SELECT other.outcome FROM exceptions AS other WHERE other.run_no = ${runNo} AND other.seq = ${seq}),
    ${ofBlock("outcome", runNo, seq)})`;

/** SQL: when it had that. */
export const decidedAt = (runNo: string, seq: string): string => ofBlock("at", runNo, seq);
