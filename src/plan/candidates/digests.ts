/** Digests of plain candidates: as bytes into their records, several at once where the machine can. */

import { hash } from "node:crypto";
import { blocksOf, GIVEN_BYTES, LANES, type Lanes, pad, paddedBytes } from "../../actions/sha256/lanes.ts";
import type { RowMemory } from "./row-memory.ts";

/** Takes messages of a memory whose digests go into it. */
export interface Digests {
  /** Where the next messages may be written, with room for `size` bytes; at most `MOST_MESSAGE_BYTES`. */
  room(size: number): number;
  /** The first `size` bytes of the digest of the message at `from` go to `target`, now or by `flush`. */
  add(from: number, to: number, target: number, size: number): void;
  flush(): void;
}

/** What is written between `room` and the last `add` that follows. */
export const MOST_MESSAGE_BYTES = 512 * 1024;

/** Messages of so many blocks are hashed beside each other; of longer ones the call is a small part. */
const MOST_BLOCKS = 24;
const WAITING_BYTES = MOST_MESSAGE_BYTES + 256 * 1024;

/** What `createDigests` allots. */
export const DIGESTS_BYTES = WAITING_BYTES + LANES * GIVEN_BYTES;

export function createDigests(memory: RowMemory): Digests {
  return memory.lanes === undefined ? new OneByOne(memory) : new Gathered(memory, memory.lanes);
}

class OneByOne implements Digests {
  readonly #memory: RowMemory;
  readonly #messages: number;

  constructor(memory: RowMemory) {
    this.#memory = memory;
    this.#messages = memory.allot(MOST_MESSAGE_BYTES);
  }

  room(_size: number): number {
    return this.#messages;
  }

  add(from: number, to: number, target: number, size: number): void {
    writeDigest(this.#memory.bytes, from, to, target, size);
  }

  flush(): void {}
}

function writeDigest(bytes: Buffer, from: number, to: number, target: number, size: number): void {
  bytes.write(hash("sha256", bytes.subarray(from, to), "latin1"), target, size, "latin1");
}

/** Messages of as many blocks that wait for others. */
interface Waiting {
  count: number;
  readonly at: Int32Array;
  readonly target: Int32Array;
  readonly size: Int32Array;
}

class Gathered implements Digests {
  readonly #memory: RowMemory;
  readonly #lanes: Lanes;
  readonly #byBlocks: readonly Waiting[];
  readonly #given: number;
  readonly #messages: number;
  #next: number;

  constructor(memory: RowMemory, lanes: Lanes) {
    this.#memory = memory;
    this.#lanes = lanes;
    this.#given = memory.allot(LANES * GIVEN_BYTES);
    this.#messages = memory.allot(WAITING_BYTES);
    this.#next = this.#messages;
    this.#byBlocks = Array.from({ length: MOST_BLOCKS + 1 }, () => ({
      count: 0,
      at: new Int32Array(LANES),
      target: new Int32Array(LANES),
      size: new Int32Array(LANES),
    }));
  }

  room(size: number): number {
    if (this.#next + size > this.#messages + WAITING_BYTES) this.flush();
    return this.#next;
  }

  add(from: number, to: number, target: number, size: number): void {
    const length = to - from;
    const blocks = blocksOf(length);
    if (blocks > MOST_BLOCKS) {
      writeDigest(this.#memory.bytes, from, to, target, size);
      return;
    }
    const waiting = this.#byBlocks[blocks] as Waiting; // within its length
    pad(this.#memory, from, length);
    this.#next = Math.max(this.#next, from + paddedBytes(length));
    const { count } = waiting;
    waiting.at[count] = from;
    waiting.target[count] = target;
    waiting.size[count] = size;
    waiting.count = count + 1;
    if (waiting.count === LANES) this.#digest(waiting, blocks);
  }

  flush(): void {
    for (let blocks = 1; blocks <= MOST_BLOCKS; blocks += 1) {
      const waiting = this.#byBlocks[blocks] as Waiting; // within its length
      if (waiting.count === 0) continue;
      // The other lanes say the same, and nobody looks.
      waiting.at.fill(waiting.at[0] as number, waiting.count);
      this.#digest(waiting, blocks);
    }
    this.#next = this.#messages;
  }

  #digest(waiting: Waiting, blocks: number): void {
    const { at, target, size, count } = waiting;
    const memory = this.#memory;
    this.#lanes.digest(at, blocks, this.#given);
    for (let lane = 0; lane < count; lane += 1)
      memory.copy(target[lane] as number, this.#given + lane * GIVEN_BYTES, size[lane] as number); // as many lanes
    waiting.count = 0;
  }
}
