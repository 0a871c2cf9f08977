/** Values by bytes, as a map has them by text: no text is made of bytes that are looked up. */

/** Bounded: when it is full, all of it is forgotten. */
export class ByteMap<Value> {
  readonly #bytes: Uint8Array;
  readonly #most: number;
  /** Number of an entry and one, at a place that its hash tells or behind; 0 where there is none. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  #keys: Uint8Array[] = [];
  #values: Value[] = [];

  /** @param bytes - in which what is looked up stands. */
  constructor(bytes: Uint8Array, most: number) {
    this.#bytes = bytes;
    this.#most = most;
    const size = 2 ** Math.ceil(Math.log2(most * 2));
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
  }

  get isFull(): boolean {
    return this.#keys.length >= this.#most;
  }

  get(from: number, to: number): Value | undefined {
    for (let slot = this.#slotOf(from, to); ; slot = (slot + 1) & this.#mask) {
      const entry = (this.#slots[slot] as number) - 1; // within its length
      if (entry === -1) return undefined;
      if (isSame(this.#keys[entry] as Uint8Array, this.#bytes, from, to)) return this.#values[entry];
    }
  }

  /** Keeps the value of bytes that are not there yet. */
  set(from: number, to: number, value: Value): void {
    if (this.isFull) {
      this.#slots.fill(0);
      this.#keys = [];
      this.#values = [];
    }
    let slot = this.#slotOf(from, to);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = this.#keys.push(Buffer.from(this.#bytes.subarray(from, to)));
    this.#values.push(value);
  }

  #slotOf(from: number, to: number): number {
    const bytes = this.#bytes;
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193); // within its length
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

function isSame(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (key.length !== to - from) return false;
  for (let at = 0; at < key.length; at += 1) if (key[at] !== bytes[from + at]) return false;
  return true;
}
