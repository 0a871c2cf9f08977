/** A fast hash of ids, for memory that holds many of them. */

/** A block of eight UTF-16 units as words, two units each. */
const BLOCK = 4;

/** The text in hand, in whole blocks; zeros behind its end. */
let words = new Int32Array(32 * BLOCK);

/**
 * 128 well mixed bits of a text into `out`: the rounds of MurmurHash3 (x86, 128 bits) over UTF-16 units, eight at a
 * time, the last block filled up with zeros (the length, mixed in at the end, tells them from real ones).
 */
export function hash128(text: string, seed: number, out: Uint32Array): void {
  const { length } = text;
  makeRoom(length);
  const even = length & ~1;
  for (let at = 0; at < even; at += 2) words[at >> 1] = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  if (even < length) words[even >> 1] = text.charCodeAt(even);
  hashWords(length, seed, out);
}

/** The same of bytes, two of them a unit; there must be an even number. */
export function hash128Bytes(bytes: Uint8Array, from: number, to: number, seed: number, out: Uint32Array): void {
  const length = (to - from) >> 1;
  makeRoom(length);
  const unit = (at: number): number => (bytes[at] as number) | ((bytes[at + 1] as number) << 8); // within its length
  let word = 0;
  for (let at = from; at < to; at += 4, word += 1)
    words[word] = at + 2 < to ? unit(at) | (unit(at + 2) << 16) : unit(at);
  hashWords(length, seed, out);
}

/** @param length in units. */
function makeRoom(length: number): void {
  if (words.length < (length >> 1) + 2 * BLOCK) words = new Int32Array(length + 2 * BLOCK);
}

function hashWords(length: number, seed: number, out: Uint32Array): void {
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  const end = (length + 1) >> 1;
  for (let at = end; at % BLOCK !== 0; at += 1) words[at] = 0;
  for (let at = 0; at < end; at += BLOCK) {
    h1 ^= Math.imul(rotate(Math.imul(wordAt(at), 0x239b961b), 15), 0xab0e9789);
    h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotate(Math.imul(wordAt(at + 1), 0xab0e9789), 16), 0x38b34ae5);
    h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotate(Math.imul(wordAt(at + 2), 0x38b34ae5), 17), 0xa1e38b93);
    h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotate(Math.imul(wordAt(at + 3), 0xa1e38b93), 18), 0x239b961b);
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

function wordAt(at: number): number {
  return words[at] as number; // within the block
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
