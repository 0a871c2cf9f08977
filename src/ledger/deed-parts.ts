/**
 * Parts of deeds in a file: read by what is asked, never changed. Another process may put several into one meanwhile, and take
 * rows into a new one: whoever reads both asks the rows first, so that no deed is missed, and may see one in both.
 */

import { damaged } from "./damaged.ts";
import { DeedBlock, viewOf } from "./deed-block.ts";
import type { Ledger, SqlRow } from "./ledger.ts";

/** Blocks that a part may have. */
export const BLOCKS_OF_PART = 2 ** 24;

export interface DeedPart {
  readonly part: number;
  readonly token: number;
  readonly deeds: number;
  /** The first 32 bits of each block. */
  readonly fences: Uint32Array;
  /** The block that was read last, which is often asked again. */
  last: { readonly number: number; readonly block: DeedBlock } | undefined;
  /** Rows of blocks that follow each other, where most are asked. */
  ahead: { readonly first: number; readonly rows: readonly SqlRow[] } | undefined;
}

/** So many parts of a tier become one; within a tier, none is so many times as large as another. */
export const LIKE = 4;

/** Of parts of one tier, as many as become one are of a higher one: so a deed is written again once a tier. */
export const tierOf = (deeds: number): number => Math.floor(Math.log2(deeds) / Math.log2(LIKE));

/** A deed in a part. */
export interface PartDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly content: Buffer<ArrayBuffer>;
  readonly isTaken: boolean;
  readonly eventNo: number | undefined;
  readonly holder: string | null;
}

/** By ledger, the parts that were read last. Numbers of parts go up, and every change adds a part. */
const known = new WeakMap<Ledger, readonly DeedPart[]>();

const NO_PARTS: readonly DeedPart[] = [];
/** The part that was written last, which tells whether the parts are those that were read. */
export const NEWEST_PART = "SELECT part, token FROM deed_parts ORDER BY part DESC LIMIT 1";
/** Its row; null where there is none. */
export type NewestPart = Pick<DeedPart, "part" | "token"> | null;

const ALL = "SELECT part, token, deeds, fences FROM deed_parts ORDER BY part";

/**
 * The parts that there are now: the same list, where they are the same.
 *
 * @param newest where a statement has told it just now.
 */
export function partsOf(ledger: Ledger, newest = newestPart(ledger)): readonly DeedPart[] {
  if (newest === null) return NO_PARTS;
  const before = known.get(ledger);
  const last = before?.at(-1);
  if (before !== undefined && last?.part === newest.part && last.token === newest.token) return before;
  const parts = ledger.all(ALL).map((row) => toPart(ledger, row));
  known.set(ledger, parts);
  return parts;
}

function newestPart(ledger: Ledger): NewestPart {
  const row = ledger.kind === "postgres" ? undefined : ledger.get(NEWEST_PART);
  return row === undefined ? null : { part: Number(row.part), token: Number(row.token) };
}

function toPart(ledger: Ledger, row: SqlRow): DeedPart {
  const bytes = viewOf(row.fences as Uint8Array); // a BLOB NOT NULL column
  const [part, deeds] = [Number(row.part), Number(row.deeds)];
  const fences = Uint32Array.from({ length: bytes.byteLength / 4 }, (_, at) => bytes.getUint32(at * 4));
  if (bytes.byteLength % 4 !== 0 || fences.length === 0 || fences.some((fence, at) => fence < (fences[at - 1] ?? 0)))
    throw damaged(ledger.path, `part ${part} of its deeds is in no order`);
  return { part, token: Number(row.token), deeds, fences, last: undefined, ahead: undefined };
}

/** A block that is not there: since its part was put into another one, or since it is lost. */
class BlockGone extends Error {
  override name = "BlockGone";
}

/**
 * Has `look` see whole parts. It is called again when another process changes them meanwhile.
 *
 * @param newest as `partsOf` takes it.
 */
export function lookIntoParts<T>(ledger: Ledger, look: (parts: readonly DeedPart[]) => T, newest?: NewestPart): T {
  for (let told = newest; ; told = undefined) {
    const parts = partsOf(ledger, told);
    try {
      return look(parts);
    } catch (thrown) {
      if (!(thrown instanceof BlockGone)) throw thrown;
      if (partsOf(ledger) === parts) throw damaged(ledger.path, thrown.message);
    }
  }
}

const BLOCK = "SELECT count, crc, bytes FROM deed_blocks WHERE block = ?";

const BLOCKS_AHEAD = "SELECT count, crc, bytes FROM deed_blocks WHERE block >= ? AND block < ? ORDER BY block";

/**
 * @param ahead how many blocks are read with it where it was not read yet: a statement costs as much as a block.
 * @throws Failure `storage` where the block is damaged.
 */
export function readDeedBlock(ledger: Ledger, part: DeedPart, number: number, ahead = 1): DeedBlock {
  if (part.last?.number === number) return part.last.block;
  const row = readRow(ledger, part, number, ahead);
  if (row === undefined) throw new BlockGone(`block ${number} of part ${part.part} of its deeds is missing`);
  const block = toBlock(ledger, part, number, row);
  part.last = { number, block };
  return block;
}

function readRow(ledger: Ledger, part: DeedPart, number: number, ahead: number): SqlRow | undefined {
  const first = part.part * BLOCKS_OF_PART + number;
  if (ahead === 1) return ledger.get(BLOCK, first);
  const there = part.ahead?.rows[number - part.ahead.first];
  if (there !== undefined) return there;
  const end = Math.min(number + ahead, part.fences.length);
  const rows = ledger.all(BLOCKS_AHEAD, first, part.part * BLOCKS_OF_PART + end);
  if (rows.length < end - number) return undefined;
  part.ahead = { first: number, rows };
  return rows[0];
}

/** @param row of `deed_blocks`. */
export function toBlock(ledger: Ledger, part: DeedPart, number: number, row: SqlRow): DeedBlock {
  try {
    const bytes = row.bytes as Uint8Array; // a BLOB NOT NULL column
    const block = new DeedBlock({ count: Number(row.count), crc: Number(row.crc), bytes });
    if (block.keyAt(0) !== part.fences[number]) throw new Error("it belongs to another place");
    return block;
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw damaged(ledger.path, `block ${number} of part ${part.part} of its deeds: ${cause.message}`, cause);
  }
}

/**
 * The last block that may begin before a key; the first where none does.
 *
 * @param near where to begin.
 */
export function blockBefore({ fences }: DeedPart, key: number, near: number): number {
  let low = near;
  if ((fences[low] ?? 0) >= key) low = 0;
  let step = 1;
  let high = low + 1;
  while (high < fences.length && (fences[high] ?? 0) < key) {
    low = high;
    high += step;
    step *= 2;
  }
  high = Math.min(high, fences.length);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((fences[middle] ?? 0) < key) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Tells of each deed of an identity in a part, in their order.
 *
 * @param from the byte in `identity` where it begins.
 * @param near the block where the one before it was looked for.
 * @param ahead as `readDeedBlock` takes it.
 * @returns the block where this one was looked for.
 */
export function findInPart(
  ledger: Ledger,
  part: DeedPart,
  identity: DataView,
  from: number,
  near: number,
  take: (block: DeedBlock, at: number) => void,
  ahead = 1,
): number {
  const key = identity.getUint32(from);
  const { fences } = part;
  const before = blockBefore(part, key, near);
  for (let number = before; number < fences.length && (fences[number] ?? 0) <= key; number += 1) {
    const block = readDeedBlock(ledger, part, number, ahead);
    let at = block.find(identity, from, fences[number + 1] ?? KEYS_END);
    for (; at < block.count && block.compareIdentity(at, identity, from) === 0; at += 1) take(block, at);
    if (at < block.count) break;
  }
  return before;
}

const KEYS_END = 2 ** 32;

/**
 * The deeds of an identity that stand in parts, oldest first.
 *
 * @param newest as `partsOf` takes it.
 */
export const deedsInParts = (ledger: Ledger, identity: Uint8Array, newest?: NewestPart): readonly PartDeed[] =>
  manyInParts(ledger, [identity], newest)[0] ?? [];

/**
 * The same of several identities, in their order.
 *
 * @param identities best in key order.
 */
export function manyInParts(
  ledger: Ledger,
  identities: readonly Uint8Array[],
  newest?: NewestPart,
): readonly (readonly PartDeed[])[] {
  const look = (parts: readonly DeedPart[]): readonly (readonly PartDeed[])[] => {
    const found = identities.map((identity) => ({ view: viewOf(identity), deeds: [] as PartDeed[] }));
    for (const part of parts) {
      let near = 0;
      for (const { view, deeds } of found)
        near = findInPart(ledger, part, view, 0, near, (block, at) => {
          deeds.push(deedAt(block, at));
        });
    }
    return found.map(({ deeds }) => (deeds.length > 1 ? deeds.sort(byPlace) : deeds));
  };
  return lookIntoParts(ledger, look, newest);
}

function deedAt(block: DeedBlock, at: number): PartDeed {
  return {
    runNo: block.runNo(at),
    seq: block.seq(at),
    content: block.content(at),
    isTaken: block.isTaken(at),
    eventNo: block.eventNo(at) || undefined,
    holder: block.holder(at),
  };
}

interface Placed {
  readonly runNo: number;
  readonly seq: number;
}

export const byPlace = (one: Placed, other: Placed): number => one.runNo - other.runNo || one.seq - other.seq;
