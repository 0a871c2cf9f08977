/** The tables of a ledger in SQLite. docs/ledger.md describes them for people. */

import type { DatabaseSync } from "node:sqlite";
import { Failure } from "../failure.ts";
import { sqlList } from "./sql-list.ts";
import { CHUNK_STATES, OUTCOMES, RUN_STATES } from "./states.ts";

/** The form of the tables, in SQLite's `user_version` and in PostgreSQL's `ledger_version`. Ledgers of other forms are refused. */
export const LEDGER_VERSION = 8;

const oneOf = (column: string, values: readonly string[]): string => `CHECK (${column} IN ${sqlList(values)})`;

const SCHEMA = `
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

-- How many actions of a chunk had which outcome, so that counting a run does not read its actions.
CREATE TABLE tallies (
  run_no INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  action TEXT NOT NULL,
  outcome TEXT NOT NULL ${oneOf("outcome", OUTCOMES)},
  actions INTEGER NOT NULL,
  PRIMARY KEY (run_no, chunk, action, outcome)
) STRICT, WITHOUT ROWID;

-- What the service said of what is in doubt: it may hold promises that are given only once.
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

-- Warnings that were told (see invocations.ts).
CREATE TABLE told_warnings (digest BLOB PRIMARY KEY, told_at TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Bad rows whose mended version was taken.
CREATE TABLE mended_rows (row TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- What was sent of mended rows.
CREATE TABLE mendings (
  run_no INTEGER NOT NULL,
  row TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (row, run_no, seq)
) STRICT, WITHOUT ROWID;

-- Which run first put a row into a rejects file.
CREATE TABLE rejected_rows (
  row TEXT PRIMARY KEY,
  run_no INTEGER NOT NULL,
  seq INTEGER,
  read_as TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- By run, its latest entry in the list of runs. It is kept here before it is written there.

-- What rejected rows gave, with where the service was last asked for it.
CREATE TABLE row_actions (
  row TEXT NOT NULL,
  action TEXT NOT NULL,
  run_no INTEGER,
  seq INTEGER,
  PRIMARY KEY (row, action)
) STRICT, WITHOUT ROWID;

-- Which actions mended rows are done with, as \`tickets:actions\` names them.
CREATE TABLE mended_actions (
  row TEXT NOT NULL,
  run_no INTEGER NOT NULL,
  action TEXT NOT NULL,
  seq INTEGER,
  PRIMARY KEY (row, run_no, action)
) STRICT, WITHOUT ROWID;

-- What rejects files named as open of rows, and the actions that the mapping listed then (action-rules.ts), as JSON.
CREATE TABLE row_rules (
  row TEXT NOT NULL,
  open TEXT NOT NULL,
  rules TEXT NOT NULL,
  PRIMARY KEY (row, open, rules)
) STRICT, WITHOUT ROWID;

-- What is about to replace a whole output file. Until \`outputs\` notes it, the file may be the old or the new one. A row left
-- over is of a replacement that was made, or never came about.
CREATE TABLE replaced_outputs (path TEXT PRIMARY KEY, length INTEGER NOT NULL, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE row_places (
  row TEXT NOT NULL,
  lane INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (row, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE row_histories (
  row TEXT NOT NULL,
  history BLOB NOT NULL,
  run_no INTEGER,
  seq INTEGER,
  undecided INTEGER NOT NULL,
  PRIMARY KEY (row, history)
) STRICT, WITHOUT ROWID;

CREATE TABLE kinds_behind (row TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (row, action)) STRICT, WITHOUT ROWID;

-- Which row of its input a rejected one was, in the first run that had it and in the last ones.
CREATE TABLE row_numbers (
  row TEXT NOT NULL,
  run_no INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (row, run_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE keyed_deeds (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  event_id TEXT,
  holder TEXT,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_sources (
  action TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (action, source)
) STRICT, WITHOUT ROWID;

-- Accepted ids that are not in their normal form, by it.
CREATE TABLE ids_by_normal (
  field TEXT NOT NULL,
  normal TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (field, normal, id)
) STRICT, WITHOUT ROWID;

-- What the service said about promises when it was asked (\`tickets status --remote\`).
CREATE TABLE promise_statuses (
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  status TEXT NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (run_no, seq)
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
  status TEXT NOT NULL,
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

-- \`event_id\` and \`holder\` are of accepted sales: the event and the buyer. All that is known of most tickets stands there.
CREATE TABLE deeds (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  event_id TEXT,
  holder TEXT,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;
`;

/** Part of a transaction. */
export function createTables(database: DatabaseSync): void {
  database.exec(`${SCHEMA} PRAGMA user_version = ${LEDGER_VERSION};`);
}

/**
 * @param version 0 for a ledger that has no tables yet.
 * @throws Failure `usage` for an earlier form, `storage` for a newer one.
 */
export function refuseOtherForm(path: string, version: number): void {
  if (version === LEDGER_VERSION || version === 0) return;
  if (version > LEDGER_VERSION)
    throw new Failure(
      "storage",
      `The ledger ${path} was written by a newer version of tickets (format ${version}; this version knows up to ${LEDGER_VERSION}).`,
      { hint: "Use that version, or a newer one." },
    );
  throw new Failure(
    "usage",
    `The ledger ${path} has an earlier form (format ${version}), which this version of tickets can't read. Nothing was sent.`,
    {
      hint: "Keep it aside (move the file away, or name another schema), and fill a new one from the promises files: tickets results --import <promises file>",
    },
  );
}
