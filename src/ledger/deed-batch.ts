/** Deeds that are about to be written, in key order: a random insert a row costs six times an append. */

import { CONTENT_BYTES, DEED_BYTES, IDENTITY_BYTES } from "./block.ts";
import type { Ledger } from "./ledger.ts";

/** What is said of an accepted sale. */
interface SaleFacts {
  readonly eventNo: number | undefined;
  readonly holder: string | undefined;
}

/** Deeds per statement: a call costs as much as the work itself. */
const ROWS = 40;
const PUT_ONE = `INSERT OR IGNORE INTO deeds (run_no, taken, seq, event_no, holder, identity, content)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const PUT_MANY = `${PUT_ONE}${", (?, ?, ?, ?, ?, ?, ?)".repeat(ROWS - 1)}`;

/** More than a batch can hold; with 32 bits of an identity a number holds it exactly. */
const PLACES = 2 ** 20;

/** Columns of numbers and one of bytes, since as many objects would keep the garbage collector busy. */
export class DeedBatch {
  readonly #digests: Buffer;
  readonly #seqs: Float64Array;
  readonly #taken: Uint8Array;
  /** 0 for none. */
  readonly #events: Float64Array;
  #holders: (string | undefined)[] = [];

  /** @param capacity in deeds, at most a million. */
  constructor(capacity: number) {
    this.#digests = Buffer.allocUnsafeSlow(capacity * DEED_BYTES);
    this.#seqs = new Float64Array(capacity);
    this.#taken = new Uint8Array(capacity);
    this.#events = new Float64Array(capacity);
  }

  get size(): number {
    return this.#holders.length;
  }

  /** @param digest identity and content. */
  add(seq: number, digest: Uint8Array, isTaken: boolean, sale: SaleFacts | undefined): void {
    const at = this.#holders.length;
    this.#digests.set(digest, at * DEED_BYTES);
    this.#seqs[at] = seq;
    this.#taken[at] = isTaken ? 1 : 0;
    this.#events[at] = sale?.eventNo ?? 0;
    this.#holders.push(sale?.holder);
  }

  /** Part of a transaction. The batch is empty after it. */
  write(ledger: Ledger, runNo: number): void {
    const order = this.#inKeyOrder();
    const many = order.length - (order.length % ROWS);
    for (let from = 0; from < many; from += ROWS)
      ledger.run(PUT_MANY, ...order.subarray(from, from + ROWS).reduce(this.#appendTo(runNo), []));
    for (const at of order.subarray(many)) ledger.run(PUT_ONE, ...this.#appendTo(runNo)([], at));
    this.#holders = [];
  }

  #appendTo(runNo: number): (values: Value[], at: number) => Value[] {
    return (values, at) => {
      const start = at * DEED_BYTES;
      const middle = start + IDENTITY_BYTES;
      values.push(
        runNo,
        this.#taken[at] ?? 0,
        this.#seqs[at] ?? 0,
        this.#events[at] || null,
        this.#holders[at] ?? null,
        this.#digests.subarray(start, middle),
        this.#digests.subarray(middle, middle + CONTENT_BYTES),
      );
      return values;
    };
  }

  /** Places by the first bits of their identities, which is as good for the table's pages as by all of them. */
  #inKeyOrder(): Uint32Array {
    const keys = new Float64Array(this.#holders.length);
    for (let at = 0; at < keys.length; at += 1) keys[at] = this.#digests.readUInt32BE(at * DEED_BYTES) * PLACES + at;
    return Uint32Array.from(keys.sort(), (key) => key % PLACES);
  }
}

type Value = number | string | Uint8Array | null;
