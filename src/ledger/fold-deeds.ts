/**
 * Where the deeds of a file stand: few that came together are rows, many are a part; rows that became many become a part too,
 * and parts of like size one. So a deed is written some times more, but never into a page that is as good as full, and what
 * is looked up is looked for in few parts.
 */

import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { crashPoint } from "../disk/crash-points.ts";
import { CONTENT_BYTES, IDENTITY_BYTES } from "./block.ts";
import { outcomeOf } from "./blocks.ts";
import { NUMBERS_END, RECORD_BYTES } from "./deed-block.ts";
import { type DeedPart, LIKE, partsOf, tierOf } from "./deed-parts.ts";
import { joinParts, PartWriter } from "./deed-writer.ts";
import { IMPORTED } from "./known-state.ts";
import { type Ledger, readMeta } from "./ledger.ts";

/** How many deeds stand where. */
export interface DeedBounds {
  /** As many that are merged at a time are a part of their own. */
  readonly leastOfPart: number;
  /** More rows than these become a part. */
  readonly mostLoose: number;
  /** A part has no more. */
  readonly mostOfPart: number;
}

export const DEED_BOUNDS: DeedBounds = { leastOfPart: 20_000, mostLoose: 100_000, mostOfPart: 2 ** 24 };

/** Part of a transaction: has the rows of a file be few, and its parts. Nothing comes to be known by it, nor is forgotten. */
export function foldDeeds(ledger: Ledger, bounds: DeedBounds): void {
  foldLoose(ledger, bounds);
  foldParts(ledger, bounds);
}

/** Part of a transaction: takes rows into a part where they became many, without those that may be forgotten again. */
function foldLoose(ledger: Ledger, { mostLoose, mostOfPart }: DeedBounds): void {
  if (Number(ledger.get("SELECT count(*) AS n FROM loose_deeds")?.n) <= mostLoose) return;
  const foldable = readMeta(ledger, IMPORTED) === undefined ? FITS : `${FITS} AND ${IS_PLACED}`;
  const counted = `SELECT count(*) AS n FROM (SELECT 1 FROM loose_deeds WHERE ${foldable} LIMIT ?)`;
  if (Number(ledger.get(counted, mostLoose + 1)?.n) <= mostLoose) return;
  let writer = new PartWriter(ledger);
  for (let from: DeedKey | undefined = FIRST_KEY; from !== undefined; ) {
    from = takeRows(ledger, foldable, from, writer);
    if (from !== undefined && writer.deeds < mostOfPart) continue;
    writer.end();
    writer = new PartWriter(ledger);
  }
}

type DeedKey = readonly [identity: Uint8Array, runNo: number, seq: number];

/** The empty identity stands at a place in memory: see `column-values.ts`. */
const FIRST_KEY: DeedKey = [new Uint8Array(1).subarray(0, 0), 0, 0];

/** What a record has room for: all that is ever written. */
const FITS = `length(identity) = ${IDENTITY_BYTES} AND length(content) = ${CONTENT_BYTES} AND taken IN (0, 1)
  AND run_no BETWEEN 0 AND ${NUMBERS_END - 1} AND seq BETWEEN 0 AND ${NUMBERS_END - 1}
  AND coalesce(event_no, 1) BETWEEN 1 AND ${NUMBERS_END - 1}`;
/** One that has a place now, but was not merged again with it, is still one that may be forgotten. */
const IS_PLACED = `${outcomeOf("loose_deeds.run_no", "loose_deeds.seq")} IS NOT NULL
  AND run_no NOT IN (SELECT run_no FROM unmerged)`;

/** Rows that are taken at a time, so that what they leave free in the file is used for them. */
const ROWS_AT_ONCE = 8192;

/** @returns the key of the last row that was taken. */
function takeRows(ledger: Ledger, foldable: string, from: DeedKey, writer: PartWriter): DeedKey | undefined {
  const sql = `SELECT identity, content, run_no, seq, taken, event_no, CAST(holder AS BLOB) AS holder FROM loose_deeds
    WHERE (identity, run_no, seq) >= (?, ?, ?) AND ${foldable} ORDER BY identity, run_no, seq LIMIT ${ROWS_AT_ONCE}`;
  const words = new Uint32Array((IDENTITY_BYTES + CONTENT_BYTES) / 4);
  const digests = new Uint8Array(words.buffer);
  let last: DeedKey | undefined;
  for (const row of ledger.all(sql, ...from)) {
    const [identity, content] = [row.identity as Uint8Array, row.content as Uint8Array]; // BLOB NOT NULL columns
    digests.set(identity);
    digests.set(content, IDENTITY_BYTES);
    const [runNo, seq] = [Number(row.run_no), Number(row.seq)];
    const holder = row.holder === null ? undefined : (row.holder as Uint8Array); // cast to one
    const deed = { runNo, seq, isTaken: Number(row.taken) === 1, eventNo: Number(row.event_no ?? 0) };
    writer.add(deed, words, 0, holder, 0, holder?.length ?? 0);
    last = [identity, runNo, seq];
  }
  const remove = `DELETE FROM loose_deeds
    WHERE (identity, run_no, seq) >= (?, ?, ?) AND (identity, run_no, seq) <= (?, ?, ?) AND ${foldable}`;
  if (last !== undefined) ledger.run(remove, ...from, ...last);
  return last;
}

function foldParts(ledger: Ledger, { mostOfPart }: DeedBounds): void {
  for (let few = likeParts(ledger, mostOfPart); few !== undefined; few = likeParts(ledger, mostOfPart)) {
    joinParts(ledger, few);
    crashPoint("folding");
  }
}

/** Parts that are to become one, the smallest ones first. Where the disk has little room, they stay what they are. */
function likeParts(ledger: Ledger, most: number): readonly DeedPart[] | undefined {
  const bySize = partsOf(ledger).toSorted((one, other) => one.deeds - other.deeds);
  for (const ofTier of Map.groupBy(bySize, ({ deeds }) => tierOf(deeds)).values()) {
    const like = ofTier.slice(0, LIKE);
    if (like.length < LIKE) continue;
    while (deedsOf(like) > most) like.pop();
    if (like.length > 1) return hasRoom(ledger.path, deedsOf(like)) ? like : undefined;
  }
  return undefined;
}

const deedsOf = (parts: readonly DeedPart[]): number => parts.reduce((sum, { deeds }) => sum + deeds, 0);

/** A part is written to the log, and from there to the file. */
function hasRoom(path: string, deeds: number): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize > ROOM * RECORD_BYTES * deeds;
}

const ROOM = 4;
