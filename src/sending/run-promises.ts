/** The actionPromises that a run was given, so that none counts for two actions. */

import { randomInt } from "node:crypto";
import { hash128, hash128Bytes } from "../actions/hash128.ts";
import { free } from "../disk/buffers.ts";
import { packUuid, UUID_BYTES } from "../ledger/block.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { promisesGiven } from "../ledger/outcomes.ts";

/** Disposing of it gives its memory back, which the collector would not do before what follows needs as much. */
export interface RunPromises extends Disposable {
  has(promise: string): boolean;
  add(promise: string): void;
  /** @param packed 16 bytes each, of which zeros are none. */
  addPacked(packed: Uint8Array): void;
}

/**
 * Remembers 64 bits of each promise, in slots of 8 bytes of which at most three in four are used: 11 to 21 MB for a million.
 * About once in 30 million runs of a million actions, two different promises look equal; then an answer is in doubt that need
 * not be.
 *
 * @param expected how many will be added at most, as far as is known; it grows beyond.
 */
export function createRunPromises(expected = 0): RunPromises {
  // A random seed, so that nobody can make up two that look alike.
  const seed = randomInt(2 ** 32);
  const hash = new Uint32Array(4);
  const uuid = new Uint8Array(UUID_BYTES);
  const table = new Hashes(expected);
  const digestPacked = (packed: Uint8Array, at: number): void => {
    hash128Bytes(packed, at, at + UUID_BYTES, ~seed, hash);
    hash[0] ||= 1;
  };
  /** Leaves the promise's hash in `hash`; its first word is never 0, which marks a free slot. */
  const digest = (promise: string): void => {
    if (packUuid(promise, uuid, 0)) digestPacked(uuid, 0);
    else hash128(promise, seed, hash);
    hash[0] ||= 1;
  };
  return {
    has(promise) {
      digest(promise);
      return table.has(hash[0] ?? 0, hash[1] ?? 0);
    },
    add(promise) {
      table.makeRoom(1);
      digest(promise);
      table.put(hash[0] ?? 0, hash[1] ?? 0);
    },
    addPacked(packed) {
      table.makeRoom(packed.length / UUID_BYTES);
      for (let at = 0; at < packed.length; at += UUID_BYTES) {
        if (isNone(packed, at)) continue;
        digestPacked(packed, at);
        table.put(hash[0] ?? 0, hash[1] ?? 0);
      }
    },
    [Symbol.dispose]() {
      table[Symbol.dispose]();
    },
  };
}

function isNone(packed: Uint8Array, from: number): boolean {
  for (let at = from; at < from + UUID_BYTES; at += 1) if (packed[at] !== 0) return false;
  return true;
}

/** Slots for the smallest run. */
const LEAST = 1024;

function slotsFor(expected: number): number {
  let slots = LEAST;
  while (expected > 0.75 * slots) slots *= 2;
  return slots;
}

/** Hashes of two words, of which the first is not 0. */
class Hashes implements Disposable {
  #slots: Uint32Array<ArrayBuffer>;
  #mask: number;
  #used = 0;

  /** @param expected how many; it grows beyond. */
  constructor(expected: number) {
    this.#mask = slotsFor(expected) - 1;
    this.#slots = new Uint32Array(2 * (this.#mask + 1));
  }

  has(high: number, low: number): boolean {
    return this.#slots[2 * this.#find(high, low)] !== 0;
  }

  /** There is room for it. */
  put(high: number, low: number): void {
    const slot = this.#find(high, low);
    if (this.#slots[2 * slot] === 0) this.#used += 1;
    this.#slots[2 * slot] = high;
    this.#slots[2 * slot + 1] = low;
  }

  /** Room for so many more. */
  makeRoom(more: number): void {
    if (this.#used + more <= 0.75 * (this.#mask + 1)) return;
    const old = this.#slots;
    this.#mask = slotsFor(this.#used + more) - 1;
    this.#slots = new Uint32Array(2 * (this.#mask + 1));
    this.#used = 0;
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.put(old[at] ?? 0, old[at + 1] ?? 0);
    free(old);
  }

  /** The slot where it is, or the free one where it belongs. */
  #find(high: number, low: number): number {
    const slots = this.#slots;
    for (let slot = low & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const [there, rest] = [slots[2 * slot], slots[2 * slot + 1]];
      if ((there === 0 && rest === 0) || (there === high && rest === low)) return slot;
    }
  }

  [Symbol.dispose](): void {
    free(this.#slots);
  }
}

/** What the run has been given so far, by an earlier process. */
export function promisesOfRun(ledger: Ledger, runNo: number, expected: number): RunPromises {
  const promises = createRunPromises(expected);
  for (const given of promisesGiven(ledger, runNo))
    if (typeof given === "string") promises.add(given);
    else promises.addPacked(given);
  return promises;
}
