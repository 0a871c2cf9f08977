/** Writes parts of deeds, and puts several into one, in a file. Each function here is part of a transaction. */

import { randomInt } from "node:crypto";
import { damaged } from "./damaged.ts";
import { BlockBuilder, type DeedBlock, type NewDeed } from "./deed-block.ts";
import { BLOCKS_OF_PART, type DeedPart, toBlock } from "./deed-parts.ts";
import type { Ledger, SqlRow } from "./ledger.ts";

const PUT_BLOCK = "INSERT INTO deed_blocks (block, count, crc, bytes) VALUES (?, ?, ?, ?)";
const PUT_PART = "INSERT INTO deed_parts (part, token, deeds, fences) VALUES (?, ?, ?, ?)";

/** What `randomInt` takes. */
const TOKENS_END = 2 ** 48 - 1;

/** A new part, of deeds that come in order. */
export class PartWriter {
  readonly #ledger: Ledger;
  readonly #part: number;
  readonly #builder = new BlockBuilder();
  readonly #fences: number[] = [];
  #deeds = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#part = 1 + Number(ledger.get("SELECT coalesce(max(part), 0) AS part FROM deed_parts")?.part);
  }

  get deeds(): number {
    return this.#deeds;
  }

  /** As `BlockBuilder.add`. */
  add(deed: NewDeed, words: Uint32Array, from: number, holder: Uint8Array | undefined, start = 0, end = 0): void {
    if (this.#builder.isFullFor(end - start)) this.#flush();
    this.#builder.add(deed, words, from, holder, start, end);
    this.#deeds += 1;
  }

  copy(block: DeedBlock, at: number): void {
    if (this.#builder.isFullFor(block.holderEnd(at) - block.holderStart(at))) this.#flush();
    this.#builder.copy(block, at);
    this.#deeds += 1;
  }

  #flush(): void {
    const { fence } = this.#builder;
    const { count, crc, bytes } = this.#builder.take();
    if (fence < (this.#fences.at(-1) ?? 0)) throw new Error("deeds are written in no order");
    this.#ledger.run(PUT_BLOCK, this.#part * BLOCKS_OF_PART + this.#fences.length, count, crc, bytes);
    this.#fences.push(fence);
  }

  /** Where nothing was added, there is no part. */
  end(): void {
    if (this.#builder.count > 0) this.#flush();
    if (this.#deeds === 0) return;
    const fences = Buffer.alloc(this.#fences.length * 4);
    for (const [at, fence] of this.#fences.entries()) fences.writeUInt32BE(fence, at * 4);
    this.#ledger.run(PUT_PART, this.#part, randomInt(TOKENS_END), this.#deeds, fences);
  }
}

/** The deeds of a part, one after the other; their blocks are removed on the way. */
class Head {
  readonly #ledger: Ledger;
  readonly #part: DeedPart;
  #rows: SqlRow[] = [];
  #next = 0;
  #number = 0;
  #isAtEnd = false;
  /** How many deeds were there so far. */
  seen = 0;
  block: DeedBlock | undefined;
  at = 0;
  /** The first 32 bits of where it stands. */
  key = 0;

  constructor(ledger: Ledger, part: DeedPart) {
    this.#ledger = ledger;
    this.#part = part;
    this.#read();
  }

  /** Whether there is another deed. */
  advance(): boolean {
    this.at += 1;
    if (this.block !== undefined && this.at < this.block.count) {
      this.key = this.block.keyAt(this.at);
      return true;
    }
    return this.#read();
  }

  #read(): boolean {
    const { part, deeds, fences } = this.#part;
    if (this.#next === this.#rows.length && !this.#isAtEnd) {
      const from = part * BLOCKS_OF_PART + this.#number;
      const end = part * BLOCKS_OF_PART + Math.min(fences.length, this.#number + READ_AT_ONCE);
      this.#rows = this.#ledger.all(TAKE_BLOCKS, from, end);
      this.#ledger.run(REMOVE_BLOCKS, from, end);
      if (this.#rows.length !== end - from)
        throw damaged(this.#ledger.path, `of part ${part} of its deeds, blocks are missing`);
      this.#next = 0;
      this.#isAtEnd = end === part * BLOCKS_OF_PART + fences.length;
    }
    const row = this.#rows[this.#next];
    if (row === undefined) {
      this.block = undefined;
      if (this.seen !== deeds)
        throw damaged(this.#ledger.path, `part ${part} has ${this.seen} deeds in place of ${deeds}`);
      return false;
    }
    this.block = toBlock(this.#ledger, this.#part, this.#number, row);
    this.#next += 1;
    this.#number += 1;
    this.at = 0;
    this.key = this.block.keyAt(0);
    this.seen += this.block.count;
    return true;
  }
}

const READ_AT_ONCE = 64;
const TAKE_BLOCKS = "SELECT count, crc, bytes FROM deed_blocks WHERE block >= ? AND block < ? ORDER BY block";
const REMOVE_BLOCKS = "DELETE FROM deed_blocks WHERE block >= ? AND block < ?";

/** Several parts become one; of a deed that stands in two of them, only one is left. */
export function joinParts(ledger: Ledger, parts: readonly DeedPart[]): void {
  const writer = new PartWriter(ledger);
  const heads = parts.map((part) => new Head(ledger, part));
  const last = new LastDeed();
  while (heads.length > 0) {
    const head = least(heads);
    const { block, at } = head;
    if (block === undefined) throw new Error("a part without a deed");
    const order = last.compare(block, at);
    if (order > 0) throw damaged(ledger.path, "a part of its deeds is in no order");
    if (order < 0) writer.copy(block, at);
    last.set(block, at);
    if (!head.advance()) heads.splice(heads.indexOf(head), 1);
  }
  writer.end();
  for (const { part } of parts) ledger.run("DELETE FROM deed_parts WHERE part = ?", part);
}

function least(heads: readonly Head[]): Head {
  let [first] = heads as readonly [Head, ...Head[]]; // there is one
  for (let each = 1; each < heads.length; each += 1) {
    const head = heads[each] as Head; // within the list
    if (head.key > first.key) continue;
    if (head.key < first.key || isBefore(head, first)) first = head;
  }
  return first;
}

const isBefore = (one: Head, other: Head): boolean =>
  one.block !== undefined && other.block !== undefined && one.block.compare(one.at, other.block, other.at) < 0;

/** The deed that was written last. */
class LastDeed {
  #block: DeedBlock | undefined;
  #at = 0;

  /** Less than 0 where it comes before this one, or is none. */
  compare(block: DeedBlock, at: number): number {
    return this.#block === undefined ? -1 : this.#block.compare(this.#at, block, at);
  }

  set(block: DeedBlock, at: number): void {
    this.#block = block;
    this.#at = at;
  }
}
