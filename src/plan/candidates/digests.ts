/** Digests of plain candidates: as bytes into their records, several at once where the machine can. */

import { hash } from "node:crypto";
import {
  blocksOf,
  createLanes,
  FIRST_FREE,
  GIVEN_BYTES,
  LANES,
  type Lanes,
  pad,
  paddedBytes,
} from "../../actions/sha256/lanes.ts";

/** Takes messages; what their digests go into is given with each call, since it may have moved to larger memory. */
export interface Digests {
  /** Memory in which messages are written. */
  readonly memory: Buffer;
  /** Where the next messages may be written, with room for `size` bytes; at most `MOST_MESSAGE_BYTES`. */
  room(size: number, into: Buffer): number;
  /** The first `size` bytes of the digest of the message at `from` go to `target`, now or by `flush`. */
  add(from: number, to: number, target: number, size: number, into: Buffer): void;
  flush(into: Buffer): void;
}

/** What is written between `room` and the last `add` that follows. */
export const MOST_MESSAGE_BYTES = 512 * 1024;

/** @param isMany - so many that several at once are worth their preparation. */
export function createDigests(isMany: boolean): Digests {
  const lanes = isMany ? createLanes(MEMORY_BYTES) : undefined;
  return lanes === undefined ? new OneByOne() : new Gathered(lanes);
}

class OneByOne implements Digests {
  memory = Buffer.allocUnsafe(16 * 1024);
  #next = 0;

  room(size: number): number {
    if (this.memory.length < size) this.memory = Buffer.allocUnsafe(2 * size);
    this.#next = 0;
    return this.#next;
  }

  add(from: number, to: number, target: number, size: number, into: Buffer): void {
    writeDigest(this.memory, from, to, target, size, into);
  }

  flush(): void {}
}

function writeDigest(memory: Buffer, from: number, to: number, target: number, size: number, into: Buffer): void {
  into.write(hash("sha256", memory.subarray(from, to), "latin1"), target, size, "latin1");
}

/** Messages of so many blocks are hashed beside each other; of longer ones the call is a small part. */
const MOST_BLOCKS = 24;
const MEMORY_BYTES = FIRST_FREE + LANES * GIVEN_BYTES + MOST_MESSAGE_BYTES + 256 * 1024;
const FIRST_MESSAGE = FIRST_FREE + LANES * GIVEN_BYTES;

/** Messages of as many blocks that wait for others. */
interface Waiting {
  count: number;
  readonly at: Int32Array;
  readonly target: Int32Array;
  readonly size: Int32Array;
}

class Gathered implements Digests {
  readonly memory: Buffer;
  readonly #lanes: Lanes;
  readonly #byBlocks: readonly Waiting[];
  #next = FIRST_MESSAGE;

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
    this.memory = lanes.memory;
    this.#byBlocks = Array.from({ length: MOST_BLOCKS + 1 }, () => ({
      count: 0,
      at: new Int32Array(LANES),
      target: new Int32Array(LANES),
      size: new Int32Array(LANES),
    }));
  }

  room(size: number, into: Buffer): number {
    if (this.#next + size > this.memory.length) this.flush(into);
    return this.#next;
  }

  add(from: number, to: number, target: number, size: number, into: Buffer): void {
    const length = to - from;
    const waiting = this.#byBlocks[blocksOf(length)];
    if (waiting === undefined) {
      writeDigest(this.memory, from, to, target, size, into);
      return;
    }
    pad(this.memory, from, length);
    this.#next = Math.max(this.#next, from + paddedBytes(length));
    waiting.at[waiting.count] = from;
    waiting.target[waiting.count] = target;
    waiting.size[waiting.count] = size;
    waiting.count += 1;
    if (waiting.count === LANES) this.#digest(waiting, blocksOf(length), into);
  }

  flush(into: Buffer): void {
    for (let blocks = 1; blocks <= MOST_BLOCKS; blocks += 1) {
      const waiting = this.#byBlocks[blocks] as Waiting; // within its length
      if (waiting.count === 0) continue;
      // The other lanes say the same, and nobody looks.
      waiting.at.fill(waiting.at[0] as number, waiting.count);
      this.#digest(waiting, blocks, into);
    }
    this.#next = FIRST_MESSAGE;
  }

  #digest(waiting: Waiting, blocks: number, into: Buffer): void {
    const { memory } = this;
    this.#lanes.digest(waiting.at, blocks, FIRST_FREE);
    for (let lane = 0; lane < waiting.count; lane += 1) {
      const from = FIRST_FREE + lane * GIVEN_BYTES;
      const target = waiting.target[lane] as number; // as many lanes
      const size = waiting.size[lane] as number;
      for (let byte = 0; byte < size; byte += 1) into[target + byte] = memory[from + byte] as number; // within their lengths
    }
    waiting.count = 0;
  }
}
