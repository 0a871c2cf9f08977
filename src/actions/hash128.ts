/** A fast hash of ids, for memory that holds many of them. */

const BLOCK = 8;

/** The text in hand, as UTF-16 units in whole blocks; zeros behind its end. */
let units = new Uint16Array(32 * BLOCK);

/**
 * 128 well mixed bits of a text into `out`: the rounds of MurmurHash3 (x86, 128 bits) over UTF-16 units, eight at a
 * time, the last block filled up with zeros (the length, mixed in at the end, tells them from real ones).
 */
export function hash128(text: string, seed: number, out: Uint32Array): void {
  const { length } = text;
  makeRoom(length);
  for (let at = 0; at < length; at += 1) units[at] = text.charCodeAt(at);
  hashUnits(length, seed, out);
}

/** The same of a text of ASCII that stands in bytes. */
export function hash128Ascii(bytes: Uint8Array, from: number, to: number, seed: number, out: Uint32Array): void {
  const length = to - from;
  makeRoom(length);
  for (let at = 0; at < length; at += 1) units[at] = bytes[from + at] as number; // within its length
  hashUnits(length, seed, out);
}

/** The same of bytes, two of them a unit; there must be an even number. */
export function hash128Bytes(bytes: Uint8Array, from: number, to: number, seed: number, out: Uint32Array): void {
  const length = (to - from) >> 1;
  makeRoom(length);
  for (let at = 0, byte = from; byte < to; at += 1, byte += 2)
    units[at] = (bytes[byte] as number) | ((bytes[byte + 1] as number) << 8); // within its length
  hashUnits(length, seed, out);
}

function makeRoom(length: number): void {
  if (units.length < length + BLOCK) units = new Uint16Array(2 * length + BLOCK);
}

function hashUnits(length: number, seed: number, out: Uint32Array): void {
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  for (let at = length; at % BLOCK !== 0; at += 1) units[at] = 0;
  for (let at = 0; at < length; at += BLOCK) {
    h1 ^= Math.imul(rotate(Math.imul(pair(at), 0x239b961b), 15), 0xab0e9789);
    h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotate(Math.imul(pair(at + 2), 0xab0e9789), 16), 0x38b34ae5);
    h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotate(Math.imul(pair(at + 4), 0x38b34ae5), 17), 0xa1e38b93);
    h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotate(Math.imul(pair(at + 6), 0xa1e38b93), 18), 0x239b961b);
    h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finish(h1);
  h2 = finish(h2);
  h3 = finish(h3);
  h4 = finish(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  out[0] = h1;
  out[1] = h2 + h1;
  out[2] = h3 + h1;
  out[3] = h4 + h1;
}

/** Two units from `at`. */
function pair(at: number): number {
  return (units[at] as number) | ((units[at + 1] as number) << 16); // within the block
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
