/** A set that errs on one side only, with 8 to 16 bytes per item. */
export interface ProbableSet {
  /** Adds the item. Whether it was there before; false only where it certainly was not. */
  addAndTell(digest: Buffer): boolean;
}

/** The same with a number beside each item. */
export interface ProbableMap {
  /** Adds the item with its number, unless it has one; the number that it had before, which may be that of another item. */
  first(digest: Buffer, value: number): number | undefined;
}

const FIRST_SLOTS = 1 << 12;

/** @returns a set of digests, of which it keeps 32 bits: it may take a new one for known, never the reverse. */
export function createProbableSet(): ProbableSet {
  const known = createProbableMap();
  return { addAndTell: (digest) => known.first(digest, 0) !== undefined };
}

/** @returns a map by digests, of which it keeps 32 bits. The first of equal ones gives the number, or another digest before it. */
export function createProbableMap(): ProbableMap {
  let slots = new Uint32Array(FIRST_SLOTS);
  let values = new Uint32Array(FIRST_SLOTS);
  let used = 0;
  const slotOf = (bits: number): number => {
    const mask = slots.length - 1;
    let at = (Math.imul(bits, 0x9e3779b1) >>> 0) & mask;
    while (slots[at] !== 0 && slots[at] !== bits) at = (at + 1) & mask;
    return at;
  };
  const grow = (): void => {
    const [smaller, valuesBefore] = [slots, values];
    slots = new Uint32Array(smaller.length * 2);
    values = new Uint32Array(smaller.length * 2);
    for (const [from, bits] of smaller.entries()) {
      if (bits === 0) continue;
      const at = slotOf(bits);
      slots[at] = bits;
      values[at] = valuesBefore[from] ?? 0;
    }
  };
  return {
    first(digest, value) {
      let folded = 0;
      for (let at = 0; at + 4 <= digest.length; at += 4) folded ^= digest.readInt32LE(at);
      // 0 marks a free slot.
      const bits = folded >>> 0 || 1;
      const at = slotOf(bits);
      if (slots[at] !== 0) return values[at];
      slots[at] = bits;
      values[at] = value;
      used += 1;
      if (used * 2 > slots.length) grow();
      return undefined;
    },
  };
}
