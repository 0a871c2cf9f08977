/** One bit a row. */

const FIRST_BYTES = 1024;

/** Rows by their numbers. It grows as they do. */
export class Bits {
  #bytes = new Uint8Array(FIRST_BYTES);

  has(at: number): boolean {
    return (((this.#bytes[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  }

  set(at: number): void {
    const byte = at >> 3;
    if (byte >= this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, byte + 1));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) | (1 << (at & 7));
  }
}
