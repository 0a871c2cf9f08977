import type { DatabaseSync } from "node:sqlite";
import { BLOCK_ACTIONS } from "./block.ts";
import { LOOSE_BESIDE, LOOSEN_DEEDS } from "./deed-tables.ts";
import { DEED_BOUNDS, foldLoose } from "./fold-deeds.ts";
import { ID_RULES } from "./id-rules.ts";
import { type Step, take } from "./in-slices.ts";
import { definePlainIdentity, FILL_KEYED_DEEDS, KEYED_DEEDS } from "./keyed-deeds.ts";
import type { Ledger } from "./ledger.ts";
import { FORGET_LISTED_TICKETS, PACKED_TABLES, packActions } from "./pack-actions.ts";
import { definePresentIdentity, RENAME_DEEDS, RENAMED_BESIDE } from "./renamed-deeds.ts";
import { ROW_NUMBERS, ROW_PLACES } from "./row-places.ts";
import { CHUNK_STATES, OUTCOMES, RUN_STATES } from "./states.ts";
import { FILL_ZERO_LENGTHS, ZERO_LENGTHS } from "./zero-ids.ts";

/**
 * Version of the tables below, kept in SQLite's `user_version`. The tables of 5 and 6 are the same, but who knows no later one than
 * 5 would send from a ledger that was moved. Since 7, most deeds stand in parts.
 */
export const LEDGER_VERSION = 7;

const oneOf = (column: string, values: readonly string[]): string =>
  `CHECK (${column} IN (${values.map((value) => `'${value}'`).join(", ")}))`;

/** The tables of version 1; docs/ledger.md describes them for people. */
const TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  run_no INTEGER PRIMARY KEY,
  run TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  ended_at TEXT,
  state TEXT NOT NULL ${oneOf("state", RUN_STATES)},
  stopped_by_person INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  output TEXT,
  manifest TEXT NOT NULL
) STRICT;

CREATE TABLE chunks (
  run_no INTEGER NOT NULL REFERENCES runs (run_no),
  chunk INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  state TEXT NOT NULL ${oneOf("state", CHUNK_STATES)},
  parent INTEGER,
  http_status INTEGER,
  answer BLOB,
  answered_at TEXT,
  detail TEXT,
  projected INTEGER NOT NULL DEFAULT 0,
  rejects_written INTEGER NOT NULL DEFAULT 0,
  merged INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_no, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  run_no INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  class TEXT,
  http_status INTEGER,
  detail TEXT,
  PRIMARY KEY (run_no, chunk, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE actions (
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  source TEXT NOT NULL,
  line INTEGER NOT NULL,
  action TEXT NOT NULL,
  data TEXT NOT NULL,
  outcome TEXT NOT NULL ${oneOf("outcome", OUTCOMES)},
  status TEXT,
  action_promise TEXT,
  response TEXT,
  at TEXT NOT NULL,
  identity BLOB NOT NULL,
  content BLOB NOT NULL,
  event_id TEXT GENERATED ALWAYS AS (data ->> 'eventId') VIRTUAL,
  ticket_id TEXT GENERATED ALWAYS AS (data ->> 'ticketId') VIRTUAL,
  nft_id TEXT GENERATED ALWAYS AS (data ->> 'nftId') VIRTUAL,
  user_id TEXT GENERATED ALWAYS AS (data ->> 'userId') VIRTUAL,
  PRIMARY KEY (run_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (event_id TEXT PRIMARY KEY, currency TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
  ticket TEXT PRIMARY KEY,
  event_id TEXT,
  holder TEXT,
  state TEXT NOT NULL CHECK (state IN ('sold', 'checked-in', 'invalidated'))
) STRICT, WITHOUT ROWID;

CREATE TABLE outputs (
  path TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('promises', 'rejects')),
  length INTEGER NOT NULL,
  mtime_ns TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE output_segments (
  path TEXT NOT NULL REFERENCES outputs (path) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (path, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE rejects_files (
  run_no INTEGER NOT NULL,
  input INTEGER NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (run_no, input, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE settlements (
  id INTEGER PRIMARY KEY,
  run_no INTEGER NOT NULL,
  chunk INTEGER,
  decision TEXT NOT NULL,
  who TEXT NOT NULL,
  at TEXT NOT NULL,
  reason TEXT
) STRICT;
`;

const COUNT_OUTCOMES =
  "SELECT run_no, chunk, action, outcome, count(*) AS actions FROM actions GROUP BY run_no, chunk, action, outcome";

/** How many actions of a chunk had which outcome, so that counting a run does not read its actions. */
const TALLIES = `
CREATE TABLE tallies (
  run_no INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  action TEXT NOT NULL,
  outcome TEXT NOT NULL ${oneOf("outcome", OUTCOMES)},
  actions INTEGER NOT NULL,
  PRIMARY KEY (run_no, chunk, action, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO tallies ${COUNT_OUTCOMES};
`;

/**
 * What the service said of what is in doubt: the answer of an attempt, and the items that a person has to decide about.
 * They may hold promises that came only once.
 */
const DOUBTS = `
CREATE TABLE doubted_answers (
  run_no INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  answer BLOB NOT NULL,
  PRIMARY KEY (run_no, chunk, attempt)
) STRICT;
CREATE TABLE doubted_items (
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  response TEXT NOT NULL,
  PRIMARY KEY (run_no, seq)
) STRICT, WITHOUT ROWID;
`;

/** Which commands were run, and which warnings they told (see invocations.ts). */
const INVOCATIONS = `
CREATE TABLE invocations (
  id INTEGER PRIMARY KEY,
  started_at TEXT NOT NULL,
  duration_ms INTEGER NOT NULL,
  command TEXT NOT NULL,
  arguments TEXT NOT NULL,
  files TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  error TEXT,
  run TEXT,
  counts TEXT,
  warnings INTEGER NOT NULL,
  host TEXT NOT NULL,
  who TEXT NOT NULL,
  version TEXT NOT NULL
) STRICT;
CREATE TABLE told_warnings (digest BLOB PRIMARY KEY, told_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Bad rows whose mended version was taken, what was sent of mended rows, and which run first put a row into a rejects file. */
const MENDED_ROWS = `
CREATE TABLE mended_rows (row TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE mendings (
  run_no INTEGER NOT NULL,
  row TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (row, run_no, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE rejected_rows (
  row TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL,
  seq INTEGER,
  read_as TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** By run, the number of the latest entry about it in the list of runs. It is kept here before it is written there. */
const LISTED_RUNS = `
CREATE TABLE listed_runs (run_no INTEGER PRIMARY KEY, entry INTEGER NOT NULL) STRICT;
`;

/**
 * What rejected rows gave, with where the service was last asked for it, and which actions mended rows are done with, as
 * `tickets:actions` names them.
 */
const ROW_ACTIONS = `
CREATE TABLE row_actions (
  row TEXT NOT NULL,
  action TEXT NOT NULL,
  run_no INTEGER,
  seq INTEGER,
  PRIMARY KEY (row, action)
) STRICT, WITHOUT ROWID;
CREATE TABLE mended_actions (
  row TEXT NOT NULL,
  run_no INTEGER NOT NULL,
  action TEXT NOT NULL,
  seq INTEGER,
  PRIMARY KEY (row, run_no, action)
) STRICT, WITHOUT ROWID;
`;

/** What rejects files named as open of rows, and the actions that the mapping listed then (action-rules.ts), as JSON. */
const ROW_RULES = `
CREATE TABLE row_rules (
  row TEXT NOT NULL,
  open TEXT NOT NULL,
  rules TEXT NOT NULL,
  PRIMARY KEY (row, open, rules)
) STRICT, WITHOUT ROWID;
`;

/**
 * What is about to replace a whole output file. Until `outputs` notes it, the file may be the old or the new one. A row left
 * over is of a replacement that was made, or never came about.
 */
const REPLACED_OUTPUTS = `
CREATE TABLE replaced_outputs (path TEXT PRIMARY KEY, length INTEGER NOT NULL, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Tables that version 3 adds, empty at first. */
const NIGHTS: readonly string[] = [
  DOUBTS,
  INVOCATIONS,
  MENDED_ROWS,
  ROW_ACTIONS,
  ROW_PLACES,
  ROW_RULES,
  ID_RULES,
  LISTED_RUNS,
  REPLACED_OUTPUTS,
];

/** What it makes of what there is. */
const KEYS_AND_LENGTHS: readonly Step[] = [KEYED_DEEDS, FILL_KEYED_DEEDS, ZERO_LENGTHS, FILL_ZERO_LENGTHS];

/** What brings a ledger from version n to n + 1, at place n, up to the version that kept a row for each action. */
const MIGRATIONS: readonly (readonly Step[])[] = [
  [TABLES],
  [TALLIES],
  [...NIGHTS, ...RENAME_DEEDS, ...KEYS_AND_LENGTHS],
  [ROW_NUMBERS],
];

/** Brings a ledger from one of these versions to another. */
export function makeTables(database: DatabaseSync, from: number, to: number): void {
  definePresentIdentity(database);
  definePlainIdentity(database);
  for (const steps of MIGRATIONS.slice(from, to)) take(database, steps);
}

/** The version that first packs actions in blocks. */
const PACKED = 5;

/** What of the present tables stands nowhere in an earlier version, as a statement names it. */
export const STOOD_IN_FOR =
  /\b(?:blocks|exceptions|unmerged|deeds|loose_deeds|deed_parts|deed_blocks|event_numbers|unicode_ids|keyed_deeds|key_sources|zero_lengths|identities)\b/;

/**
 * Makes a ledger of an earlier version readable without changing it.
 *
 * @returns what has to be done before a statement that names one of `STOOD_IN_FOR`: it reads every action, which takes long
 * where there are many. Undefined where nothing has to.
 */
export function standIn(database: DatabaseSync, ledger: Ledger, from: number): (() => void) | undefined {
  definePresentIdentity(database);
  definePlainIdentity(database);
  if (from === 0 || from >= LEDGER_VERSION) return undefined;
  if (from >= PACKED) {
    database.exec(LOOSE_BESIDE);
    return undefined;
  }
  if (from < 4) database.exec(inTemp(ROW_NUMBERS));
  if (from === 1) database.exec(`CREATE TEMP VIEW tallies AS ${COUNT_OUTCOMES}`);
  if (from < 3) for (const tables of NIGHTS) database.exec(inTemp(tables));
  return () => {
    // What is changed in place there stands beside it here.
    if (from < 3) take(database, [...RENAMED_BESIDE, ...KEYS_AND_LENGTHS.map(inTemp)]);
    else database.exec("CREATE TEMP TABLE keyed_deeds AS SELECT * FROM main.keyed_deeds");
    database.exec(inTemp(PACKED_TABLES));
    packActions(ledger);
  };
}

function inTemp<Of extends Step>(tables: Of): Of | string {
  return typeof tables === "string" ? tables.replace(/CREATE (TABLE|VIEW)/g, "CREATE TEMP $1") : tables;
}

/** Brings the tables to the present version, all or nothing. */
export function migrate(
  database: DatabaseSync,
  ledger: Ledger,
  from: number,
  onPacking: (actions: number) => void,
): void {
  definePresentIdentity(database);
  definePlainIdentity(database);
  if (from >= LEDGER_VERSION) return;
  if (from >= PACKED) {
    ledger.transaction(() => {
      // Another command may have done it meanwhile.
      if (Number(database.prepare("PRAGMA user_version").get()?.user_version) >= LEDGER_VERSION) return;
      loosenDeeds(database, ledger, onPacking);
      database.exec(`PRAGMA user_version = ${LEDGER_VERSION}`);
    });
    return;
  }
  ledger.transaction(() => {
    const actions = from === 0 ? 0 : Number(database.prepare("SELECT count(*) AS n FROM actions").get()?.n);
    if (actions > 0) onPacking(actions);
    makeTables(database, from, MIGRATIONS.length);
    database.exec(`${PACKED_TABLES}${PROMISES}`);
    packActions(ledger);
    take(database, [FORGET_LISTED_TICKETS]);
    foldLoose(ledger, DEED_BOUNDS);
    database.exec(`DROP TABLE actions; DROP TABLE identities; PRAGMA user_version = ${LEDGER_VERSION};`);
  });
  if (Number(database.prepare("PRAGMA freelist_count").get()?.freelist_count) > MOST_FREE_PAGES)
    giveBackPages(database);
}

/** @throws Error, and the transaction comes to nothing, where a deed was left behind. */
function loosenDeeds(database: DatabaseSync, ledger: Ledger, onPacking: (actions: number) => void): void {
  const deeds = Number(database.prepare("SELECT count(*) AS n FROM deeds").get()?.n);
  if (deeds > DEED_BOUNDS.mostLoose) onPacking(deeds);
  database.exec(LOOSEN_DEEDS);
  foldLoose(ledger, DEED_BOUNDS);
  const kept = Number(ledger.get(COUNT_DEEDS)?.n);
  if (kept !== deeds) throw new Error(`a ledger of ${deeds} deeds became one of ${kept}`);
}

const COUNT_DEEDS = `SELECT (SELECT count(*) FROM loose_deeds) + (SELECT coalesce(sum(deeds), 0) FROM deed_parts) AS n`;

/** For people, in any SQLite client: every promise as text. */
const PROMISES = `
CREATE VIEW promises AS
WITH RECURSIVE places (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place < ${BLOCK_ACTIONS - 1}),
given AS (
  SELECT run, chunk, first + place AS seq, at, promises, place, lower(hex(substr(promises, 16 * place + 1, 16))) AS digits
  FROM blocks JOIN runs USING (run_no) JOIN places ON place < count WHERE promises IS NOT NULL)
SELECT run, chunk, seq, at, CASE typeof(promises) WHEN 'blob'
  THEN substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-' || substr(digits, 13, 4) || '-' || substr(digits, 17, 4) || '-' || substr(digits, 21)
  ELSE promises ->> place END AS action_promise
FROM given WHERE CASE typeof(promises) WHEN 'blob' THEN digits <> '${"0".repeat(32)}' ELSE promises ->> place IS NOT NULL END;
`;

/** Pages of a small ledger are used again soon. */
const MOST_FREE_PAGES = 1000;

/** What was dropped leaves most of the file empty. Where there is no room to write it anew, that is all. */
function giveBackPages(database: DatabaseSync): void {
  try {
    database.exec("VACUUM");
  } catch (cause) {
    if (!(cause instanceof Error && "errcode" in cause)) throw cause;
  }
}
