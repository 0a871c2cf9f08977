/** What the ledger knows of very many deeds that are asked for together. */

import { CONTENT_BYTES, DEED_BYTES, DEED_WORDS, IDENTITY_BYTES } from "./block.ts";
import { type AcceptedDeed, acceptedDeeds } from "./deeds.ts";
import type { Ledger, SqlRow } from "./ledger.ts";

/** Deeds that are asked for together. */
export interface AskedDeeds {
  /** Identity and content of each. */
  readonly digests: Uint32Array;
  /** Which of them are asked for, best in key order. */
  readonly places: Uint32Array;
}

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

/** What is told of a deed. */
export const HOW = {
  /** It was not accepted with this content. */
  NOT: 0,
  /** It was. */
  ACCEPTED: 1,
  /** It was, and others of its identity too. */
  BESIDE_OTHERS: 3,
  /** Nothing of its identity was accepted: told only where it is known without being looked up again. */
  UNKNOWN: 4,
} as const;

/** A value, and not EXISTS: of that, a server may make a join that reads the whole table. */
const SAME_DEED = "SELECT 1 FROM deeds WHERE identity = column1 AND content = column2 AND taken = 1 LIMIT 1";
const NOT_ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) AS asked WHERE (${SAME_DEED}) IS NULL`);

/** Which of the deeds the service has accepted with just this content: tells at the place of each. */
export function tellAccepted(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  for (const place of asked.places) how[place] = HOW.ACCEPTED;
  askTogether(ledger, asked, NOT_ACCEPTED, (place) => {
    how[place] = HOW.NOT;
  });
}

/** Counts of accepted deeds of one identity: whether one has the same content, and twice how many they are, up to two. */
const [NONE, SAME, ONE, ALONE, SEVERAL] = [0, 1, 2, 3, 4];

const toldOf = (count: number): number => {
  if (count === NONE) return HOW.UNKNOWN;
  if ((count & SAME) === 0) return HOW.NOT;
  return count >= SEVERAL ? HOW.BESIDE_OTHERS : HOW.ACCEPTED;
};

/** Nothing is told of those that are alone, as most are. */
const NOT_ALONE = askedTogether(`SELECT column3 AS at, how FROM (
  SELECT column3, (
    SELECT coalesce(max(CASE WHEN content = column2 THEN ${SAME} ELSE 0 END), 0)
      + CASE WHEN count(*) > 1 THEN ${SEVERAL} WHEN count(*) = 1 THEN ${ONE} ELSE 0 END
    FROM deeds WHERE identity = column1 AND taken = 1
  ) AS how FROM (VALUES) AS asked) AS told WHERE how <> ${ALONE}`);

/** The same, and of each that has others of its identity beside it that it has. */
export function tellAcceptedBesideOthers(ledger: Ledger, { digests, places }: AskedDeeds, how: Uint8Array): void {
  const { often, rest } = askedOften({ digests, places });
  for (const [identity, ofIt] of often) tellOfHistory(acceptedDeeds(ledger, identity), { digests, places: ofIt }, how);
  for (const place of rest) how[place] = HOW.ACCEPTED;
  askTogether(ledger, { digests, places: rest }, NOT_ALONE, (place, row) => {
    how[place] = toldOf(Number(row.how));
  });
}

/** An identity that is asked for so often has its deeds read once: each question would look through all of them. */
const OFTEN = 64;

/** Identities that are asked for often, with the places of each, and the places of all others. */
function askedOften({ digests, places }: AskedDeeds): {
  readonly often: ReadonlyMap<Buffer, Uint32Array>;
  readonly rest: Uint32Array;
} {
  const view = new DataView(digests.buffer, digests.byteOffset, digests.byteLength);
  const beginningOf = (place: number): number => view.getUint16(place * DEED_BYTES);
  const counts = new Uint32Array(2 ** 16);
  for (const place of places) counts[beginningOf(place)] = (counts[beginningOf(place)] ?? 0) + 1;
  // Of digests that are evenly spread, none comes near to that.
  const many = OFTEN + (places.length / counts.length) * 8;
  if (!counts.some((count) => count >= many)) return { often: new Map(), rest: places };
  const crowded = places.filter((place) => (counts[beginningOf(place)] ?? 0) >= many);
  const nameOf = (place: number): string => identityOf(digests, place).toString("latin1");
  const often = [...Map.groupBy(crowded, nameOf)].filter(([, { length }]) => length >= OFTEN);
  const found = new Set(often.flatMap(([, ofIt]) => ofIt));
  return {
    often: new Map(often.map(([name, ofIt]) => [Buffer.from(name, "latin1"), Uint32Array.from(ofIt)])),
    rest: places.filter((place) => !found.has(place)),
  };
}

const identityOf = ({ buffer, byteOffset }: Uint32Array, place: number): Buffer =>
  Buffer.from(buffer, byteOffset + place * DEED_BYTES, IDENTITY_BYTES);

/** @param accepted all of the identity that is asked for. */
function tellOfHistory(accepted: readonly AcceptedDeed[], { digests, places }: AskedDeeds, how: Uint8Array): void {
  const contents = new Set(accepted.map(({ content }) => content.toString("latin1")));
  const same = accepted.length > 1 ? HOW.BESIDE_OTHERS : HOW.ACCEPTED;
  const other = accepted.length === 0 ? HOW.UNKNOWN : HOW.NOT;
  for (const place of places) {
    const from = digests.byteOffset + place * DEED_BYTES + IDENTITY_BYTES;
    const content = Buffer.from(digests.buffer, from, CONTENT_BYTES).toString("latin1");
    how[place] = contents.has(content) ? same : other;
  }
}
