/** The deeds that the service was asked for, in the order of what identifies them. */

import { actionsThat } from "../actions/actions.ts";
import { digestOf, identityText } from "../actions/identity.ts";
import { CONTENT_BYTES, DEED_BYTES, IDENTITY_BYTES } from "./block.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import type { Ledger, SqlRow } from "./ledger.ts";
import { outcomeAt, sentAt } from "./outcomes.ts";

/**
 * `event_no` and `holder` are of accepted sales: the event, as `event_numbers` numbers it, and the buyer. All that is known of
 * most tickets stands there.
 */
export const DEED_TABLES = `
CREATE TABLE deeds (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  event_no INTEGER,
  holder TEXT,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_numbers (event_no INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE) STRICT;
`;

/** One accepted deed of the same identity. */
export interface AcceptedDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly content: Buffer;
}

/** A deed that the service was asked for, taken or rejected. */
export interface TriedDeed extends AcceptedDeed {
  readonly isTaken: boolean;
}

/** The deeds of an identity that the service answered, oldest first. */
export function triedDeeds(ledger: Ledger, identity: Buffer): readonly TriedDeed[] {
  return ledger
    .all("SELECT run_no, seq, content, taken FROM deeds WHERE identity = ? ORDER BY run_no, seq", identity)
    .map((row) => ({
      runNo: Number(row.run_no),
      seq: Number(row.seq),
      content: Buffer.from(row.content as Uint8Array), // a BLOB NOT NULL column
      isTaken: Number(row.taken) === 1,
    }));
}

/** Whether a run was an `--again`. */
export function wasAgain(ledger: Ledger, runNo: number): boolean {
  return Number(ledger.get("SELECT manifest ->> '$.again' AS again FROM runs WHERE run_no = ?", runNo)?.again) === 1;
}

/** The accepted deeds of an identity, oldest first. */
export function acceptedDeeds(ledger: Ledger, identity: Buffer): readonly AcceptedDeed[] {
  return triedDeeds(ledger, identity).filter(({ isTaken }) => isTaken);
}

/** Whether a content occurs more than once among what the service has accepted of a history. */
export function hasRepeats(ledger: Ledger, identity: Buffer): boolean {
  const sql = "SELECT count(*) > count(DISTINCT content) AS repeats FROM deeds WHERE identity = ? AND taken = 1";
  return Number(ledger.get(sql, identity)?.repeats) === 1;
}

/** Deeds that are asked for together. */
export interface AskedDeeds {
  /** Identity and content of each. */
  readonly digests: Uint32Array;
  /** Which of them are asked for, best in key order. */
  readonly places: Uint32Array;
}

const DEED_WORDS = DEED_BYTES / 4;

/** Deeds per statement: a call costs as much as a lookup. */
const ASKED = 64;

/** The first row of values says what they all are. */
const DIGEST = "CAST(? AS BLOB)";

/** Likewise of a server, where a call costs as much as some twenty lookups. */
const ASKED_OF_SERVER = 4096;

/** There, the digests of all of them are one value. */
const OF_SERVER = `SELECT substr(digests, CAST(number * ${DEED_BYTES} + 1 AS int), ${IDENTITY_BYTES}) AS column1,
    substr(digests, CAST(number * ${DEED_BYTES} + ${IDENTITY_BYTES + 1} AS int), ${CONTENT_BYTES}) AS column2, number AS column3
  FROM (SELECT CAST(? AS BLOB) AS digests) AS given, generate_series(0, CAST(? AS INTEGER) - 1) AS number`;

interface AskedTogether {
  readonly many: string;
  readonly one: string;
  readonly ofServer: string;
}

/** @param sql asks of `column1`, an identity, and `column2`, a content, after `VALUES`; `column3` is the deed's number. */
function askedTogether(sql: string): AskedTogether {
  const askFor = (deeds: number): string =>
    sql.replace(
      "VALUES",
      `VALUES ${Array.from({ length: deeds }, (_, at) => (at === 0 ? `(${DIGEST}, ${DIGEST}, 0)` : `(?, ?, ${at})`)).join(", ")}`,
    );
  return { many: askFor(ASKED), one: askFor(1), ofServer: sql.replace("VALUES", OF_SERVER) };
}

function askTogether(
  ledger: Ledger,
  { digests, places }: AskedDeeds,
  { many, one, ofServer }: AskedTogether,
  take: (place: number, row: SqlRow) => void,
): void {
  const isServer = ledger.kind === "postgres";
  const most = isServer ? ASKED_OF_SERVER : ASKED;
  // What the statement's values look at.
  const words = new Uint32Array(Math.min(most, isServer ? places.length : ASKED) * DEED_WORDS);
  const values = isServer ? [] : valuesOf(words);
  const ask = (asked: number): SqlRow[] => {
    if (isServer) return ledger.all(ofServer, new Uint8Array(words.buffer, 0, asked * DEED_BYTES), asked);
    return asked === 1 ? ledger.all(one, ...values.slice(0, 2)) : ledger.all(many, ...values);
  };
  for (let from = 0; from < places.length; ) {
    const left = places.length - from;
    const asked = left >= most ? most : isServer ? left : 1;
    for (let at = 0; at < asked; at += 1) {
      const deed = (places[from + at] ?? 0) * DEED_WORDS;
      for (let word = 0; word < DEED_WORDS; word += 1) words[at * DEED_WORDS + word] = digests[deed + word] ?? 0;
    }
    for (const row of ask(asked)) take(places[from + Number(row.at)] ?? 0, row);
    from += asked;
  }
}

/** Identity and content of each deed. */
const valuesOf = ({ buffer }: Uint32Array<ArrayBuffer>): Uint8Array[] =>
  Array.from({ length: ASKED }, (_, at) => [
    new Uint8Array(buffer, at * DEED_BYTES, IDENTITY_BYTES),
    new Uint8Array(buffer, at * DEED_BYTES + IDENTITY_BYTES, CONTENT_BYTES),
  ]).flat();

/** A value, and not EXISTS: of that, a server may make a join that reads the whole table. */
const SAME_DEED = "SELECT 1 FROM deeds WHERE identity = column1 AND content = column2 AND taken = 1 LIMIT 1";
const NOT_ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) AS asked WHERE (${SAME_DEED}) IS NULL`);

/** Which of the deeds the service has accepted with just this content: `how` is 1 at the place of each that it has, else 0. */
export function tellAccepted(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  for (const place of asked.places) how[place] = 1;
  askTogether(ledger, asked, NOT_ACCEPTED, (place) => {
    how[place] = 0;
  });
}

/** 1 for one that is accepted, 2 more for one whose identity has several accepted ones; nothing for one accepted alone. */
const HOW_ACCEPTED = askedTogether(`SELECT column3 AS at, how FROM (
  SELECT column3, (
    SELECT coalesce(max(CASE WHEN content = column2 THEN 1 ELSE 0 END), 0) + CASE WHEN count(*) > 1 THEN 2 ELSE 0 END
    FROM deeds WHERE identity = column1 AND taken = 1
  ) AS how FROM (VALUES) AS asked) AS told WHERE how <> 1`);

/** The same, and 3 for each that has others of its identity beside it. */
export function tellAcceptedBesideOthers(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  for (const place of asked.places) how[place] = 1;
  askTogether(ledger, asked, HOW_ACCEPTED, (place, row) => {
    how[place] = Number(row.how) === 3 ? 3 : 0;
  });
}

/** Whether this ledger has any deed at all; if not, nothing need be looked up. */
export function hasDeeds(ledger: Ledger): boolean {
  return ledger.get("SELECT 1 AS one FROM deeds LIMIT 1") !== undefined;
}

/** The data of an accepted action as it was sent, as JSON text. */
export const acceptedData = (ledger: Ledger, { runNo, seq }: AcceptedDeed): string | undefined =>
  sentAt(ledger, runNo, seq)?.data;

/** Where the accepted sale of a ticket came from, and when. */
export function acceptedSale(
  ledger: Ledger,
  ticketId: string,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  for (const action of actionsThat("sell-ticket")) {
    const identity = digestOf(identityText({ action, data: { ticketId } }));
    const deed =
      acceptedDeeds(ledger, identity).at(-1) ?? keyedDeeds(ledger, identity).findLast(({ isTaken }) => isTaken);
    if (deed !== undefined) return acceptedAt(ledger, deed);
  }
  return undefined;
}

/** Where an accepted action came from, and when. */
export function acceptedAt(
  ledger: Ledger,
  deed: AcceptedDeed,
): { readonly source: string; readonly line: number; readonly at: string } | undefined {
  const outcome = outcomeAt(ledger, deed.runNo, deed.seq);
  return outcome && { source: outcome.source, line: outcome.line, at: outcome.at };
}
