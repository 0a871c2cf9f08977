/** Memory outside of V8's heap that is handed between threads, and used again. */

/** Memory at which nobody looks any more, for what comes next: new memory costs more than to fill it. */
export class SpareMemory {
  readonly #spare: ArrayBuffer[] = [];

  /** Memory of its own, of this size or a larger one, so that it can be handed to another thread. */
  take(size: number): Buffer {
    const spare = this.#spare.pop();
    if (spare !== undefined && spare.byteLength >= size) return Buffer.from(spare);
    spare?.transfer(0);
    return Buffer.allocUnsafeSlow(size);
  }

  giveBack(memory: ArrayBuffer): void {
    this.#spare.push(memory);
  }

  /** Gives one of them away, if there is any. */
  give(): ArrayBuffer | undefined {
    return this.#spare.pop();
  }
}
