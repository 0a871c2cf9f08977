/** One bit a row. */

export type Bits = Uint8Array;

export const hasBit = (bits: Bits, at: number): boolean => (((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;

export function setBit(bits: Bits, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
}
