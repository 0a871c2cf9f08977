/**
 * The tables, as SQLite and PostgreSQL take them. Times are UTC in ISO 8601. A statement names what it writes, so that a column
 * more would change none of them; any other change makes another version, and another version is refused.
 */

import { Failure } from "../failure.ts";
import { PENDING_STATES } from "./chunks.ts";

export const SCHEMA_VERSION = 2;

export interface Types {
  readonly int: string;
  readonly text: string;
  /** Text of a key: compared byte by byte. */
  readonly key: string;
  readonly bytes: string;
  /** A number that the database gives. */
  readonly id: string;
  /** What stands behind a table, and behind one whose rows lie in the order of their key. */
  readonly table: string;
  readonly keyed: string;
  /** Text that is read as JSON. */
  readonly json: (text: string) => string;
}

export const tables = ({ int, text, key, bytes, id, table, keyed, json }: Types): string => `
CREATE TABLE meta (name ${key} PRIMARY KEY, value ${text} NOT NULL)${keyed};

-- facts: JSON of what the plan knew (inputs, counts, options). paused: JSON of who stopped it, and why. sends: how often
-- a command noted that it sends it, or has; the journal beside the ledger has the same.
CREATE TABLE runs (number ${int} PRIMARY KEY, id ${key} NOT NULL UNIQUE, kind ${text} NOT NULL, state ${text} NOT NULL,
  created_at ${text} NOT NULL, ended_at ${text}, exit_code ${int}, output ${text}, paused ${text}, most_actions ${int}, sends ${int} NOT NULL DEFAULT 0,
  facts ${text} NOT NULL)${table};

-- whole: the chunk that was entered with the run and holds these actions, first: the place there of the first of them.
-- is_written: the promises file has its lines.
CREATE TABLE chunks (run ${int} NOT NULL REFERENCES runs, chunk ${int} NOT NULL, lane ${int} NOT NULL, stage ${int} NOT NULL,
  whole ${int} NOT NULL, first ${int} NOT NULL, count ${int} NOT NULL, state ${text} NOT NULL,
  accepted ${int} NOT NULL DEFAULT 0, rejected ${int} NOT NULL DEFAULT 0, http_status ${int}, detail ${text}, answered_at ${text},
  is_written ${int} NOT NULL DEFAULT 0, PRIMARY KEY (run, chunk))${keyed};
CREATE INDEX chunks_pending ON chunks (run, chunk) WHERE state IN (${PENDING_STATES.map((state) => `'${state}'`).join(", ")});
CREATE INDEX chunks_unwritten ON chunks (run, chunk) WHERE is_written = 0;

-- What is large of a chunk, what is looked through first. outcomes: JSON, one an action: a promise, or what else came of it and what the
-- service said; NULL while nothing is known. sha256: of the body. origins: of its actions, JSON, zstd. texts: of the rows, JSON, zstd,
-- until all of it is accepted. body: the request, zstd.
CREATE TABLE bodies (run ${int} NOT NULL, chunk ${int} NOT NULL, outcomes ${text}, sha256 ${text}, origins ${bytes} NOT NULL,
  texts ${bytes}, body ${bytes}, PRIMARY KEY (run, chunk))${table};

CREATE TABLE attempts (run ${int} NOT NULL, chunk ${int} NOT NULL, attempt ${int} NOT NULL, started_at ${text} NOT NULL, ended_at ${text},
  class ${text}, http_status ${int}, detail ${text}, answer ${bytes}, worker ${int}, fence ${int}, limit_ms ${int},
  PRIMARY KEY (run, chunk, attempt))${table};

-- What was entered, and neither rejected nor abandoned since. time: orderTime. place: in the chunk, from 0; no chunk: adopted.
CREATE TABLE actions (subject ${key} NOT NULL, kind ${key} NOT NULL, mark ${key} NOT NULL, content ${text} NOT NULL, time ${int},
  event ${text}, owner ${text}, run ${int} NOT NULL, chunk ${int}, place ${int}, position_run ${int} NOT NULL, position_seq ${int} NOT NULL,
  PRIMARY KEY (subject, kind, mark))${keyed};

-- Subjects whose id is not its own normal form.
CREATE TABLE spellings (normal ${key} NOT NULL, subject ${key} NOT NULL, PRIMARY KEY (normal, subject))${keyed};

CREATE TABLE sources (source ${key} NOT NULL, kind ${key} NOT NULL, made ${text} NOT NULL, nights ${text} NOT NULL, PRIMARY KEY (source, kind))${keyed};
-- What the corrected version of a bad row gives: it counts once all of that was accepted.
CREATE TABLE corrected (digest ${key} NOT NULL, subject ${key} NOT NULL, kind ${key} NOT NULL, mark ${key} NOT NULL,
  PRIMARY KEY (digest, subject, kind, mark))${keyed};
CREATE TABLE settlements (id ${id}, run ${int} NOT NULL, chunk ${int}, decision ${text} NOT NULL, who ${text} NOT NULL, at ${text} NOT NULL, reason ${text})${table};

CREATE TABLE outputs (machine ${key} NOT NULL, path ${key} NOT NULL, kind ${text} NOT NULL, length ${int} NOT NULL, mtime_ns ${text} NOT NULL,
  digest ${text} NOT NULL, run ${int}, input ${int}, PRIMARY KEY (machine, path))${keyed};

CREATE TABLE invocations (id ${id}, started_at ${text} NOT NULL, duration_ms ${int} NOT NULL, command ${text} NOT NULL,
  files ${text} NOT NULL, exit_code ${int} NOT NULL, error ${text}, run ${text}, counts ${text},
  host ${text} NOT NULL, who ${text} NOT NULL, version ${text} NOT NULL)${table};
CREATE TABLE warnings (digest ${key} PRIMARY KEY, reported_at ${text} NOT NULL)${keyed};
CREATE TABLE statuses (run ${int} NOT NULL, chunk ${int} NOT NULL, place ${int} NOT NULL, status ${text} NOT NULL, since ${text} NOT NULL,
  PRIMARY KEY (run, chunk, place))${keyed};

-- Of workers. Times are milliseconds since 1970 by the database's clock.
CREATE TABLE workers (worker ${id}, host ${text} NOT NULL, pid ${int} NOT NULL, command ${text} NOT NULL, started_ms ${int} NOT NULL,
  seen_ms ${int} NOT NULL, left_ms ${int})${table};
CREATE TABLE lanes (run ${int} NOT NULL, lane ${int} NOT NULL, fence ${int} NOT NULL, worker ${int}, PRIMARY KEY (run, lane))${table};
-- One row: nobody sends before that.
CREATE TABLE pace (not_before_ms ${int} NOT NULL)${table};
INSERT INTO pace (not_before_ms) VALUES (0);
CREATE TABLE locks (name ${key} PRIMARY KEY, fence ${int} NOT NULL, host ${text} NOT NULL, pid ${int} NOT NULL, since ${text} NOT NULL, command ${text} NOT NULL)${table};
-- The last transaction of each program that had the ledger open: by it a program that lost its connection learns what became of a commit.
CREATE TABLE commits (session ${key} PRIMARY KEY, number ${int} NOT NULL, at_ms ${int} NOT NULL)${table};

-- For people: every action with its run, its state and its promise.
CREATE VIEW known AS SELECT subject, actions.kind, mark, content, time, event, owner, runs.id AS run, actions.chunk, actions.place,
    coalesce(chunks.state, 'adopted') AS state, chunks.answered_at,
    ${json("outcomes")} -> CAST(place AS INTEGER) ->> 'promise' AS promise
  FROM actions JOIN runs ON runs.number = actions.run
    LEFT JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
    LEFT JOIN bodies ON bodies.run = actions.run AND bodies.chunk = actions.chunk;
`;

/** @param version as `meta` has it; undefined where there are other tables. */
export function refuseVersion(place: string, version: string | undefined): void {
  if (version === String(SCHEMA_VERSION)) return;
  throw new Failure(
    "usage",
    `The ledger ${place} has ${version === undefined ? "the form of an earlier version" : `version ${version}`}, and this version of tickets takes only version ${SCHEMA_VERSION}.`,
    {
      nothingSent: true,
      hint: "Finish its runs with the tickets that wrote it. Then move it aside, and fill a new one from the promises files: tickets results --import FILES",
    },
  );
}
