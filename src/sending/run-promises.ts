/** The actionPromises that a run was given, so that none counts for two actions. */

import { randomInt } from "node:crypto";
import { hash128, hash128Ascii } from "../actions/hash128.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { promisesGiven } from "../ledger/outcomes.ts";

export interface RunPromises {
  has(promise: string): boolean;
  add(promise: string): void;
  /**
   * Adds promises of ASCII that stand in bytes, if none of them was added before and no two are alike; else none.
   *
   * @param starts where each begins.
   */
  addNew(bytes: Uint8Array, starts: Int32Array, length: number): boolean;
}

/** Slots for the smallest run. */
const LEAST = 1024;

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
  let mask = slotsFor(expected) - 1;
  let slots = new Uint32Array(2 * (mask + 1));
  let used = 0;

  /** The slot of the promise whose hash is given, or the free one where it belongs. */
  const find = (high: number, low: number): number => {
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const [there, rest] = [slots[2 * slot], slots[2 * slot + 1]];
      if ((there === 0 && rest === 0) || (there === high && rest === low)) return slot;
    }
  };
  const put = (high: number, low: number): void => {
    const slot = find(high, low);
    if (slots[2 * slot] === 0 && slots[2 * slot + 1] === 0) used += 1;
    slots[2 * slot] = high;
    slots[2 * slot + 1] = low;
  };
  const grow = (): void => {
    const old = slots;
    mask = 2 * mask + 1;
    slots = new Uint32Array(2 * (mask + 1));
    used = 0;
    for (let at = 0; at < old.length; at += 2)
      if (old[at] !== 0 || old[at + 1] !== 0) put(old[at] ?? 0, old[at + 1] ?? 0);
  };
  /** Leaves the promise's hash in `hash`; its first word is never 0, which marks a free slot. */
  const digest = (promise: string): void => {
    hash128(promise, seed, hash);
    hash[0] ||= 1;
  };
  const digestAscii = (bytes: Uint8Array, from: number, to: number): void => {
    hash128Ascii(bytes, from, to, seed, hash);
    hash[0] ||= 1;
  };
  return {
    addNew(bytes, starts, length) {
      const digests = new Uint32Array(2 * starts.length);
      const among = new Map<number, number>();
      for (const [at, start] of starts.entries()) {
        digestAscii(bytes, start, start + length);
        const [high, low] = [hash[0] ?? 0, hash[1] ?? 0];
        const slot = find(high, low);
        // Two that look alike by half of their hash are rare enough to be left to the reference.
        if (slots[2 * slot] !== 0 || among.has(high)) return false;
        among.set(high, at);
        digests[2 * at] = high;
        digests[2 * at + 1] = low;
      }
      for (let at = 0; at < digests.length; at += 2) {
        if (used >= 0.75 * (mask + 1)) grow();
        put(digests[at] ?? 0, digests[at + 1] ?? 0);
      }
      return true;
    },
    has(promise) {
      digest(promise);
      const slot = find(hash[0] ?? 0, hash[1] ?? 0);
      return slots[2 * slot] !== 0;
    },
    add(promise) {
      if (used >= 0.75 * (mask + 1)) grow();
      digest(promise);
      put(hash[0] ?? 0, hash[1] ?? 0);
    },
  };
}

function slotsFor(expected: number): number {
  let slots = LEAST;
  while (expected > 0.75 * slots) slots *= 2;
  return slots;
}

/** What the run has been given so far, by an earlier process. */
export function promisesOfRun(ledger: Ledger, runNo: number, expected: number): RunPromises {
  const promises = createRunPromises(expected);
  for (const promise of promisesGiven(ledger, runNo)) promises.add(promise);
  return promises;
}
