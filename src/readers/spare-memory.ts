/** Memory outside of V8's heap that goes from thread to thread, and is used again. */

/**
 * Memory at which nobody looks any more, for what comes next: new memory costs more than to fill it. It is shared, which costs a
 * thread nothing; memory that is handed over counts there as new, so that V8 looks for garbage again and again.
 */
export class SpareMemory {
  readonly #spare: SharedArrayBuffer[] = [];

  /** Memory of its own, of this size or a larger one, until it is given back. */
  take(size: number): Buffer {
    // One that is too small goes: others of its size would be too.
    const spare = this.#spare.pop();
    return Buffer.from(spare !== undefined && spare.byteLength >= size ? spare : new SharedArrayBuffer(roomFor(size)));
  }

  /** Memory that another one has given away, or that was taken here; any other is left to V8. */
  giveBack(memory: ArrayBufferLike): void {
    if (memory instanceof SharedArrayBuffer) this.#spare.push(memory);
  }

  /** Gives one of them away, if there is any. */
  give(): SharedArrayBuffer | undefined {
    return this.#spare.pop();
  }
}

/** A power of two, so that few become too small. What is not written to takes no memory. */
const roomFor = (size: number): number => 2 ** Math.ceil(Math.log2(Math.max(LEAST, size)));

const LEAST = 64 * 1024;
