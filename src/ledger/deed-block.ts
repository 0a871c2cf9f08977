/**
 * Deeds as a file holds most of them: blocks of records in the order of identity, run and place in its plan, and behind the
 * records of a block the buyers' ids. Pure.
 *
 * A record has 40 bytes, numbers with the highest byte first: identity (16), content (8), run_no, seq, event_no (0 for none),
 * and at last whether it was taken (the highest bit), whether a buyer's id is known (the next), and where that ends behind
 * the records.
 */

import { crc32 } from "node:zlib";
import { asBuffer } from "../disk/buffers.ts";
import { DEED_BYTES, DEED_WORDS, IDENTITY_BYTES } from "./block.ts";

export const RECORD_BYTES = 40;
const RECORD_WORDS = RECORD_BYTES / 4;
const [RUN, SEQ, EVENT, LAST] = [24, 28, 32, 36] as const;
const [TAKEN, HAS_HOLDER, END_OF_HOLDER] = [0x8000_0000, 0x4000_0000, 0x3fff_ffff] as const;

/** A block is full at so many bytes: what SQLite has room for in a page. More only for ids of buyers that are longer. */
const BLOCK_BYTES = 4040;
/** Records that a block has at the most. */
export const MOST_RECORDS = Math.floor(BLOCK_BYTES / RECORD_BYTES);
/** What a record's numbers are less than. */
export const NUMBERS_END = 2 ** 32;

/** A block as it is stored. */
export interface StoredBlock {
  readonly count: number;
  /** CRC-32 of the bytes. */
  readonly crc: number;
  readonly bytes: Uint8Array;
}

/** A deed that is to be written. */
export interface NewDeed {
  readonly runNo: number;
  readonly seq: number;
  readonly isTaken: boolean;
  /** 0 for none. */
  readonly eventNo: number;
}

/** Makes blocks of deeds that come in order. */
export class BlockBuilder {
  readonly #words = new Uint32Array(MOST_RECORDS * RECORD_WORDS);
  readonly #records = new DataView(this.#words.buffer);
  #holders = Buffer.alloc(BLOCK_BYTES);
  #count = 0;
  #holderBytes = 0;

  get count(): number {
    return this.#count;
  }

  /** Whether a deed with so many bytes of a buyer's id belongs into the next block. */
  isFullFor(holderBytes: number): boolean {
    return (
      this.#count === MOST_RECORDS ||
      (this.#count > 0 && (this.#count + 1) * RECORD_BYTES + this.#holderBytes + holderBytes > BLOCK_BYTES)
    );
  }

  /**
   * @param words has identity and content, from a place on.
   * @param holder has the buyer's id, from a byte to before another; undefined where none is known.
   */
  add(deed: NewDeed, words: Uint32Array, from: number, holder: Uint8Array | undefined, start = 0, end = 0): void {
    const word = this.#count * RECORD_WORDS;
    for (let at = 0; at < DEED_WORDS; at += 1) this.#words[word + at] = words[from + at] ?? 0;
    const byte = word * 4;
    this.#records.setUint32(byte + RUN, deed.runNo);
    this.#records.setUint32(byte + SEQ, deed.seq);
    this.#records.setUint32(byte + EVENT, deed.eventNo);
    this.#end(byte, deed.isTaken, holder, start, end);
  }

  /** A record of another block. */
  copy(block: DeedBlock, at: number): void {
    const [word, from] = [this.#count * RECORD_WORDS, at * RECORD_WORDS];
    for (let each = 0; each < RECORD_WORDS - 1; each += 1) this.#words[word + each] = block.words[from + each] ?? 0;
    const holder = block.hasHolder(at) ? block.bytes : undefined;
    this.#end(word * 4, block.isTaken(at), holder, block.holderStart(at), block.holderEnd(at));
  }

  #end(record: number, isTaken: boolean, holder: Uint8Array | undefined, start: number, end: number): void {
    if (holder !== undefined) {
      this.#makeRoom(end - start);
      for (let at = start; at < end; at += 1) this.#holders[this.#holderBytes++] = holder[at] ?? 0;
    }
    const last = (isTaken ? TAKEN : 0) + (holder === undefined ? 0 : HAS_HOLDER) + this.#holderBytes;
    this.#records.setUint32(record + LAST, last);
    this.#count += 1;
  }

  #makeRoom(more: number): void {
    if (this.#holderBytes + more <= this.#holders.length) return;
    if (this.#holderBytes + more > END_OF_HOLDER) throw new Error(`a buyer's id of ${more} bytes`);
    const larger = Buffer.alloc(2 * (this.#holderBytes + more));
    this.#holders.copy(larger, 0, 0, this.#holderBytes);
    this.#holders = larger;
  }

  /** The first 32 bits of the block's first deed. */
  get fence(): number {
    return this.#records.getUint32(0);
  }

  /** What was added since the last time; there is something. */
  take(): StoredBlock {
    const records = Buffer.from(this.#words.buffer, 0, this.#count * RECORD_BYTES);
    const bytes = Buffer.concat([records, this.#holders.subarray(0, this.#holderBytes)]);
    const block = { count: this.#count, crc: crc32(bytes), bytes };
    this.#count = 0;
    this.#holderBytes = 0;
    return block;
  }
}

/** A block that was read. Places are those of its records, from 0. */
export class DeedBlock {
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Of the records, in the order of this machine: to be copied and compared for being equal. */
  readonly words: Uint32Array;
  readonly #view: DataView;

  /** @throws Error that says how it is damaged. */
  constructor({ count, crc, bytes }: StoredBlock) {
    this.count = count;
    // Words begin at a multiple of four.
    this.bytes = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const recordBytes = count * RECORD_BYTES;
    if (count < 1 || bytes.length < recordBytes) throw new Error(`${bytes.length} bytes for ${count} deeds`);
    if (crc32(bytes) !== crc) throw new Error("its checksum is another");
    this.words = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, recordBytes / 4);
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    if (this.holderEnd(count - 1) !== bytes.length) throw new Error("it has another length");
  }

  /** The first 32 bits of the identity. */
  keyAt(at: number): number {
    return this.#view.getUint32(at * RECORD_BYTES);
  }

  runNo(at: number): number {
    return this.#view.getUint32(at * RECORD_BYTES + RUN);
  }

  seq(at: number): number {
    return this.#view.getUint32(at * RECORD_BYTES + SEQ);
  }

  /** 0 for none. */
  eventNo(at: number): number {
    return this.#view.getUint32(at * RECORD_BYTES + EVENT);
  }

  isTaken(at: number): boolean {
    return this.#last(at) >= TAKEN;
  }

  hasHolder(at: number): boolean {
    return (this.#last(at) & HAS_HOLDER) !== 0;
  }

  holderStart(at: number): number {
    return at === 0 ? this.count * RECORD_BYTES : this.holderEnd(at - 1);
  }

  holderEnd(at: number): number {
    return this.count * RECORD_BYTES + (this.#last(at) & END_OF_HOLDER);
  }

  holder(at: number): string | null {
    if (!this.hasHolder(at)) return null;
    return asBuffer(this.bytes).toString("utf8", this.holderStart(at), this.holderEnd(at));
  }

  identity(at: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.bytes.subarray(at * RECORD_BYTES, at * RECORD_BYTES + IDENTITY_BYTES));
  }

  content(at: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.bytes.subarray(at * RECORD_BYTES + IDENTITY_BYTES, at * RECORD_BYTES + DEED_BYTES));
  }

  /** Order of a record's identity and one that stands elsewhere: less than 0 where it comes before that. */
  compareIdentity(at: number, other: DataView, from: number): number {
    return compareWords(this.#view, at * RECORD_BYTES, other, from, 0, IDENTITY_BYTES);
  }

  /** Order of two records. */
  compare(at: number, other: DeedBlock, from: number): number {
    const [one, two] = [at * RECORD_BYTES, from * RECORD_BYTES];
    const order = compareWords(this.#view, one, other.#view, two, 0, IDENTITY_BYTES);
    return order === 0 ? compareWords(this.#view, one, other.#view, two, RUN, EVENT) : order;
  }

  #last(at: number): number {
    return this.#view.getUint32(at * RECORD_BYTES + LAST);
  }

  /**
   * The first record whose identity is not before one that stands elsewhere; as many as there are records for none.
   *
   * @param end what the keys behind the block begin with, or more.
   */
  find(identity: DataView, from: number, end: number): number {
    const [key, first] = [identity.getUint32(from), this.keyAt(0)];
    // Digests are evenly spread.
    const guess = end > first ? Math.floor(((key - first) / (end - first)) * this.count) : 0;
    let at = Math.max(0, Math.min(this.count - 1, guess));
    const isBefore = (record: number): boolean => {
      const there = this.keyAt(record);
      return there === key ? this.compareIdentity(record, identity, from) < 0 : there < key;
    };
    if (isBefore(at)) {
      do at += 1;
      while (at < this.count && isBefore(at));
    } else while (at > 0 && !isBefore(at - 1)) at -= 1;
    return at;
  }
}

function compareWords(
  one: DataView,
  from: number,
  other: DataView,
  otherFrom: number,
  first: number,
  end: number,
): number {
  for (let at = first; at < end; at += 4) {
    const difference = one.getUint32(from + at) - other.getUint32(otherFrom + at);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A view of bytes that can be compared with those of blocks. */
export const viewOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): DataView =>
  new DataView(buffer, byteOffset, byteLength);
