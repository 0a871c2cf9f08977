/** A set that errs on one side only, with 8 to 16 bytes per item. */
export interface ProbableSet {
  /** Adds the item; false where it was certainly not in the set before. */
  has(digest: Buffer): boolean;
}

const FIRST_SLOTS = 1 << 12;

/** @returns a set of digests, of which it keeps 32 bits: it may take a new one for known, never the reverse. */
export function createProbableSet(): ProbableSet {
  let slots = new Uint32Array(FIRST_SLOTS);
  let used = 0;
  const put = (into: Uint32Array, bits: number): boolean => {
    const mask = into.length - 1;
    for (let at = Math.imul(bits, 0x9e3779b1) >>> 0; ; at += 1) {
      const there = into[at & mask];
      if (there === bits) return true;
      if (there !== 0) continue;
      into[at & mask] = bits;
      return false;
    }
  };
  return {
    has(digest) {
      let bits = 0;
      for (let at = 0; at + 4 <= digest.length; at += 4) bits ^= digest.readInt32LE(at);
      // 0 marks a free slot.
      if (put(slots, bits >>> 0 || 1)) return true;
      used += 1;
      if (used * 2 > slots.length) {
        const larger = new Uint32Array(slots.length * 2);
        for (const each of slots) if (each !== 0) put(larger, each);
        slots = larger;
      }
      return false;
    },
  };
}
