/** Deeds that are about to be written, in buckets by how their identities begin: so each is put in order within the processor's caches. */

import { endianness } from "node:os";
import { DeedBucket, type DeedFacts } from "./deed-bucket.ts";
import { PartWriter } from "./deed-writer.ts";
import type { Ledger } from "./ledger.ts";

/** Of many deeds, by so many of the first bits; fewer than these stand in one bucket. */
const [BUCKET_BITS, MANY] = [6, 2 ** 15] as const;
/** Digests are evenly spread, but for so much. */
const SPREAD = 1.06;

/** By how many bits a word is moved so that its first byte is the last. */
const TO_FIRST_BYTE = endianness() === "LE" ? 0 : 24;

export class DeedBatch {
  /** Each deed of one comes before all of the next. */
  readonly #buckets: readonly DeedBucket[];
  readonly #bits: number;
  #size = 0;

  /** @param capacity in deeds. There is more room when they need it. */
  constructor(capacity: number) {
    this.#bits = capacity < MANY ? 0 : BUCKET_BITS;
    const each = this.#bits === 0 ? capacity : Math.ceil((capacity / 2 ** this.#bits) * SPREAD);
    this.#buckets = Array.from({ length: 2 ** this.#bits }, () => new DeedBucket(each, this.#bits));
  }

  get size(): number {
    return this.#size;
  }

  /** As `DeedBucket.add`. */
  add(
    facts: DeedFacts,
    digests: Uint32Array,
    digestsFrom: number,
    holder: Uint8Array | undefined,
    from = 0,
    to = 0,
  ): void {
    const firstByte = ((digests[digestsFrom] ?? 0) >>> TO_FIRST_BYTE) & 0xff;
    const bucket = this.#buckets[firstByte >>> (8 - this.#bits)] as DeedBucket; // one of them
    bucket.add(facts, digests, digestsFrom, holder, from, to);
    this.#size += 1;
  }

  /** Part of a transaction: writes them as a part of a file's deeds. The batch is empty after it. */
  writePart(ledger: Ledger, runNo: number): void {
    const part = new PartWriter(ledger);
    for (const bucket of this.#buckets) bucket.writeTo(part, runNo);
    part.end();
    this.#size = 0;
  }

  /** Part of a transaction: writes each as a row. The batch is empty after it. */
  write(ledger: Ledger, runNo: number): void {
    for (const bucket of this.#buckets) bucket.writeRows(ledger, runNo);
    this.#size = 0;
  }
}
