/** What the ledger knows of very many deeds that are asked for together. */

import { CONTENT_BYTES, DEED_BYTES, DEED_WORDS, IDENTITY_BYTES } from "./block.ts";
import { type DeedBlock, RECORD_BYTES, viewOf } from "./deed-block.ts";
import { type DeedPart, findInPart, lookIntoParts, partsOf, tierOf } from "./deed-parts.ts";
import { type AcceptedDeed, acceptedDeeds } from "./deeds.ts";
import { filterPlaces } from "./key-order.ts";
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
const SAME_DEED = "SELECT 1 FROM loose_deeds WHERE identity = column1 AND content = column2 AND taken = 1 LIMIT 1";
const NOT_ACCEPTED = askedTogether(`SELECT column3 AS at FROM (VALUES) AS asked WHERE (${SAME_DEED}) IS NULL`);

/** Which of the deeds the service has accepted with just this content: tells at the place of each. */
export function tellAccepted(ledger: Ledger, asked: AskedDeeds, how: Uint8Array): void {
  if (partsOf(ledger).length === 0) {
    for (const place of asked.places) how[place] = HOW.ACCEPTED;
    askTogether(ledger, asked, NOT_ACCEPTED, (place) => {
      how[place] = HOW.NOT;
    });
    // They may have become a part meanwhile.
    if (partsOf(ledger).length === 0) return;
  }
  countBesideParts(ledger, asked, how, (told) => (told & SAME) === 0);
  for (const place of asked.places) {
    const told = toldOf(how[place] ?? NONE);
    how[place] = told === HOW.BESIDE_OTHERS ? HOW.ACCEPTED : told;
  }
}

/** Counts of accepted deeds of one identity: whether one has the same content, and twice how many they are, up to two. */
const [NONE, SAME, ONE, ALONE, SEVERAL] = [0, 1, 2, 3, 4];

const toldOf = (count: number): number => {
  if (count === NONE) return HOW.UNKNOWN;
  if ((count & SAME) === 0) return HOW.NOT;
  return count >= SEVERAL ? HOW.BESIDE_OTHERS : HOW.ACCEPTED;
};

/** @param usual what most counts are: nothing is told of them. */
const howAccepted = (usual: number): AskedTogether =>
  askedTogether(`SELECT column3 AS at, how FROM (
  SELECT column3, (
    SELECT coalesce(max(CASE WHEN content = column2 THEN ${SAME} ELSE 0 END), 0)
      + CASE WHEN count(*) > 1 THEN ${SEVERAL} WHEN count(*) = 1 THEN ${ONE} ELSE 0 END
    FROM loose_deeds WHERE identity = column1 AND taken = 1
  ) AS how FROM (VALUES) AS asked) AS told WHERE how <> ${usual}`);
const NOT_ALONE = howAccepted(ALONE);
const SOME = howAccepted(NONE);

/** The same, and of each that has others of its identity beside it that it has. */
export function tellAcceptedBesideOthers(ledger: Ledger, { digests, places }: AskedDeeds, how: Uint8Array): void {
  const { often, rest } = askedOften({ digests, places });
  for (const [identity, ofIt] of often) tellOfHistory(acceptedDeeds(ledger, identity), { digests, places: ofIt }, how);
  const asked = { digests, places: rest };
  for (let parts: readonly DeedPart[] | undefined; parts !== partsOf(ledger); ) {
    // Were rows to become a part meanwhile, they would count twice.
    parts = partsOf(ledger);
    if (parts.length > 0) countBesideParts(ledger, asked, how, () => true);
    else {
      for (const place of asked.places) how[place] = ALONE;
      askTogether(ledger, asked, NOT_ALONE, (place, row) => {
        how[place] = Number(row.how);
      });
    }
  }
  for (const place of asked.places) how[place] = toldOf(how[place] ?? NONE);
}

/** An identity that is asked for so often has its deeds read once: each question would look through all of them. */
const OFTEN = 64;

/** Identities that are asked for often, with the places of each, and the places of all others. */
function askedOften({ digests, places }: AskedDeeds): {
  readonly often: ReadonlyMap<Buffer, Uint32Array>;
  readonly rest: Uint32Array;
} {
  const view = viewOf(digests);
  const beginningOf = (place: number): number => view.getUint16(place * DEED_BYTES);
  const counts = new Uint32Array(2 ** 16);
  for (const place of places) counts[beginningOf(place)] = (counts[beginningOf(place)] ?? 0) + 1;
  // Of digests that are evenly spread, none comes near to that.
  const many = OFTEN + (places.length / counts.length) * 8;
  if (!counts.some((count) => count >= many)) return { often: new Map(), rest: places };
  const crowded = filterPlaces(places, (place) => (counts[beginningOf(place)] ?? 0) >= many);
  const nameOf = (place: number): string => identityOf(digests, place).toString("latin1");
  const often = [...Map.groupBy(crowded, nameOf)].filter(([, { length }]) => length >= OFTEN);
  const found = new Set(often.flatMap(([, ofIt]) => ofIt));
  return {
    often: new Map(often.map(([name, ofIt]) => [Buffer.from(name, "latin1"), Uint32Array.from(ofIt)])),
    rest: filterPlaces(places, (place) => !found.has(place)),
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

/** Counts those that are rows and those in parts. */
function countBesideParts(
  ledger: Ledger,
  asked: AskedDeeds,
  how: Uint8Array,
  isAsked: (count: number) => boolean,
): void {
  for (const place of asked.places) how[place] = NONE;
  askTogether(ledger, { ...asked, places: perhapsLoose(ledger, asked) }, SOME, (place, row) => {
    how[place] = Number(row.how);
  });
  askParts(ledger, asked, {
    isAsked: (place) => isAsked(how[place] ?? NONE),
    take: (place, isSame) => {
      const count = how[place] ?? NONE;
      how[place] = Math.min(SEVERAL, (count & ~SAME) + ONE) | (count & SAME) | (isSame ? SAME : 0);
    },
  });
}

/** Those that rows may be of: where these are fewer, to read them all takes less time than to look for each. */
function perhapsLoose(ledger: Ledger, { digests, places }: AskedDeeds): Uint32Array {
  const most = Math.floor(places.length / 4);
  const rows = Number(ledger.get("SELECT count(*) AS n FROM (SELECT 1 FROM loose_deeds LIMIT ?) AS few", most + 1)?.n);
  if (rows === 0 || rows > most) return rows === 0 ? NO_PLACES : places;
  // By the first bits, so that few of the others are looked for in the set, which takes longer.
  const beginnings = new Uint8Array(2 ** BEGINNING_BITS);
  const keys = new Set<number>();
  for (const { identity } of ledger.iterate("SELECT identity FROM loose_deeds")) {
    const key = viewOf(identity as Uint8Array).getUint32(0); // a BLOB NOT NULL column
    beginnings[key >>> (32 - BEGINNING_BITS)] = 1;
    keys.add(key);
  }
  const view = viewOf(digests);
  return filterPlaces(places, (place) => {
    const key = view.getUint32(place * DEED_BYTES);
    return beginnings[key >>> (32 - BEGINNING_BITS)] === 1 && keys.has(key);
  });
}

const BEGINNING_BITS = 20;

const NO_PLACES = new Uint32Array();

interface Answers {
  /** Whether anything is left to be said of the deed at a place. */
  readonly isAsked: (place: number) => boolean;
  /** Told of each accepted deed of its identity whether its content is the same. */
  readonly take: (place: number, isSame: boolean) => void;
}

/** Blocks that are read at a time where most of them are asked. */
const MOST_AHEAD = 32;

/**
 * Looks through the parts, each from its beginning to its end. What is asked was mostly sent lately, and stands in a small one, of
 * like ones in the newest: of it nothing is left to be said when the others are looked through.
 */
function askParts(ledger: Ledger, { digests, places }: AskedDeeds, { isAsked, take }: Answers): void {
  const view = viewOf(digests);
  lookIntoParts(ledger, (parts) => {
    for (const part of parts.toSorted(bySizeAndAge)) {
      let [near, place] = [0, 0];
      const tell = (block: DeedBlock, record: number): void => {
        if (block.isTaken(record)) take(place, isSameContent(block, record, digests, place * DEED_WORDS));
      };
      const left = filterPlaces(places, isAsked);
      const ahead = left.length > part.fences.length / 2 ? MOST_AHEAD : 1;
      for (place of left) near = findInPart(ledger, part, view, place * DEED_BYTES, near, tell, ahead);
      part.ahead = undefined;
    }
  });
}

const bySizeAndAge = (one: DeedPart, other: DeedPart): number =>
  tierOf(one.deeds) - tierOf(other.deeds) || other.part - one.part;

const RECORD_WORDS = RECORD_BYTES / 4;
const CONTENT_WORD = IDENTITY_BYTES / 4;

function isSameContent({ words }: DeedBlock, record: number, digests: Uint32Array, from: number): boolean {
  const at = record * RECORD_WORDS + CONTENT_WORD;
  return words[at] === digests[from + CONTENT_WORD] && words[at + 1] === digests[from + CONTENT_WORD + 1];
}
