/** What the ledger knows of very many deeds that are asked for together. */

import { CONTENT_BYTES, DEED_BYTES, IDENTITY_BYTES } from "./block.ts";
import { type DeedBlock, RECORD_BYTES } from "./deed-block.ts";
import { type DeedPart, findInPart, lookIntoParts, partsOf } from "./deed-parts.ts";
import type { Ledger, SqlRow } from "./ledger.ts";

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
const SAME_DEED = "SELECT 1 FROM loose_deeds WHERE identity = column1 AND content = column2 AND taken = 1 LIMIT 1";
const NOT_ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) AS asked WHERE (${SAME_DEED}) IS NULL`);
const ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) AS asked WHERE (${SAME_DEED}) IS NOT NULL`);

/** Which of the deeds the service has accepted with just this content: `how` is 1 at the place of each that it has, else 0. */
export function tellAccepted(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  if (partsOf(ledger).length === 0) {
    for (const place of asked.places) how[place] = 1;
    askTogether(ledger, asked, NOT_ACCEPTED, (place) => {
      how[place] = 0;
    });
    // They may have become a part meanwhile.
    if (partsOf(ledger).length === 0) return;
  } else {
    for (const place of asked.places) how[place] = 0;
    if (hasLoose(ledger))
      askTogether(ledger, asked, ACCEPTED, (place) => {
        how[place] = 1;
      });
  }
  askParts(ledger, asked, {
    isAsked: (place) => how[place] === 0,
    take: (place, isSame) => {
      if (isSame) how[place] = 1;
    },
  });
}

/** 1 for one that is accepted, and 2 for each of its identity that is, up to two: what is told of most, or of most rows, is left out. */
const howAccepted = (usual: number): AskedTogether =>
  askedTogether(`SELECT column3 AS at, how FROM (
  SELECT column3, (
    SELECT coalesce(max(CASE WHEN content = column2 THEN 1 ELSE 0 END), 0)
      + CASE WHEN count(*) > 1 THEN 4 WHEN count(*) = 1 THEN 2 ELSE 0 END
    FROM loose_deeds WHERE identity = column1 AND taken = 1
  ) AS how FROM (VALUES) AS asked) AS told WHERE how <> ${usual}`);
const [NONE, ALONE, ONE, SEVERAL] = [0, 3, 2, 4];
const NOT_ALONE = howAccepted(ALONE);
const SOME = howAccepted(NONE);

/** The same, and 3 for each that has others of its identity beside it. */
export function tellAcceptedBesideOthers(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  for (let parts: readonly DeedPart[] | undefined; parts !== partsOf(ledger); ) {
    // Were rows to become a part meanwhile, they would count twice.
    parts = partsOf(ledger);
    const [usual, statement] = parts.length === 0 ? [ALONE, NOT_ALONE] : [NONE, SOME];
    for (const place of asked.places) how[place] = usual;
    if (parts.length === 0 || hasLoose(ledger))
      askTogether(ledger, asked, statement, (place, row) => {
        how[place] = Number(row.how);
      });
    askParts(ledger, asked, {
      isAsked: () => true,
      take: (place, isSame) => {
        const told = how[place] ?? NONE;
        how[place] = Math.min(SEVERAL, (told & ~1) + ONE) | (told & 1) | (isSame ? 1 : 0);
      },
    });
  }
  for (const place of asked.places) {
    const told = how[place] ?? NONE;
    how[place] = (told & 1) === 0 ? 0 : told >= SEVERAL ? 3 : 1;
  }
}

const hasLoose = (ledger: Ledger): boolean => ledger.get("SELECT 1 AS one FROM loose_deeds LIMIT 1") !== undefined;

interface Answers {
  /** Whether anything is left to be said of the deed at a place. */
  readonly isAsked: (place: number) => boolean;
  /** Told of each accepted deed of its identity whether its content is the same. */
  readonly take: (place: number, isSame: boolean) => void;
}

/** Blocks that are read at a time where most of them are asked. */
const MOST_AHEAD = 32;

/** Looks through the parts, each from its beginning to its end. */
function askParts(ledger: Ledger, { digests, places }: AskedDeeds, { isAsked, take }: Answers): void {
  const view = new DataView(digests.buffer, digests.byteOffset, digests.byteLength);
  lookIntoParts(ledger, (parts) => {
    for (const part of parts) {
      let [near, place] = [0, 0];
      const tell = (block: DeedBlock, record: number): void => {
        if (block.isTaken(record)) take(place, isSameContent(block, record, digests, place * DEED_WORDS));
      };
      const ahead = places.length > part.fences.length / 2 ? MOST_AHEAD : 1;
      for (place of places)
        if (isAsked(place)) near = findInPart(ledger, part, view, place * DEED_BYTES, near, tell, ahead);
      part.ahead = undefined;
    }
  });
}

const RECORD_WORDS = RECORD_BYTES / 4;
const CONTENT_WORD = IDENTITY_BYTES / 4;

function isSameContent({ words }: DeedBlock, record: number, digests: Uint32Array, from: number): boolean {
  const at = record * RECORD_WORDS + CONTENT_WORD;
  return words[at] === digests[from + CONTENT_WORD] && words[at + 1] === digests[from + CONTENT_WORD + 1];
}
