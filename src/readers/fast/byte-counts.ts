/**
 * How many quotes and line feeds stand in bytes, sixteen at a time by 128-bit instructions of WebAssembly: where a large file is
 * cut between rows, every byte of it is looked at in one thread.
 */

import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";

/** Looks at bytes; what it found in them is told until it looks at others. */
export interface ByteCounts {
  readonly quotes: number;
  readonly lineFeeds: number;
  count(bytes: Uint8Array): void;
}

/** @param quote a byte; -1 where there is none. */
export function createByteCounts(quote: number, isWide = IS_FAST_PATH_ON): ByteCounts {
  return (isWide ? wideCounts(quote) : undefined) ?? new SingleCounts(quote);
}

const LF = 0x0a;

class SingleCounts implements ByteCounts {
  readonly #quote: number;
  quotes = 0;
  lineFeeds = 0;

  constructor(quote: number) {
    this.#quote = quote;
  }

  count(bytes: Uint8Array): void {
    let [quotes, lineFeeds] = [0, 0];
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === this.#quote) quotes += 1;
      else if (byte === LF) lineFeeds += 1;
    }
    this.quotes = quotes;
    this.lineFeeds = lineFeeds;
  }
}

/** What is used of it; the language's own types don't have it. */
declare const WebAssembly: {
  readonly Memory: new (size: {
    readonly initial: number;
    readonly maximum: number;
  }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

const WIDTH = 16;
const PAGE_BYTES = 64 * 1024;
/** Bytes are counted where they were copied to, behind what is found; so few stay in the nearest cache. */
const FIRST_BYTE = WIDTH;
const MOST_BYTES = PAGE_BYTES - FIRST_BYTE;

/** No byte of UTF-8. */
const NO_BYTE = 0xff;

/** Undefined where this machine or this Node has no such instructions. */
function wideCounts(quote: number): ByteCounts | undefined {
  try {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    const module = new WebAssembly.Module(countsModule());
    const { exports } = new WebAssembly.Instance(module, { own: { memory } });
    const run = exports.count as (blocks: number, quote: number) => void; // as its module has it
    return new WideCounts(memory.buffer, (blocks) => run(blocks, quote === -1 ? NO_BYTE : quote));
  } catch {
    return undefined;
  }
}

class WideCounts implements ByteCounts {
  readonly #found: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #run: (blocks: number) => void;
  quotes = 0;
  lineFeeds = 0;

  constructor(memory: ArrayBuffer, run: (blocks: number) => void) {
    this.#found = new Uint32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, FIRST_BYTE);
    this.#run = run;
  }

  count(bytes: Uint8Array): void {
    let [quotes, lineFeeds] = [0, 0];
    for (let at = 0; at < bytes.length; at += MOST_BYTES) {
      const part = bytes.subarray(at, at + MOST_BYTES);
      const blocks = Math.ceil(part.length / WIDTH);
      this.#bytes.set(part);
      this.#bytes.fill(0, part.length, blocks * WIDTH);
      this.#run(blocks);
      quotes += this.#found[0] as number; // two of them
      lineFeeds += this.#found[1] as number;
    }
    this.quotes = quotes;
    this.lineFeeds = lineFeeds;
  }
}

type Code = readonly number[];

const I32 = 0x7f;
const V128 = 0x7b;
const END = 0x0b;
const LOOP: Code = [0x03, 0x40];
const AGAIN_IF: Code = [0x0d, 0];
const ADD = 0x6a;
const SUBTRACT = 0x6b;
const COUNT_BITS = 0x69;
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const tee = (local: number): Code => [0x22, local];
/** Below 64. */
const constant = (value: number): Code => [0x41, value];
const LOAD: Code = [0xfd, 0x00, 0, 0];
const IN_ALL_PLACES: Code = [0xfd, 0x0f];
const IS_EQUAL: Code = [0xfd, 0x23];
const TO_BITS: Code = [0xfd, 0x64];

/** Everything in it is shorter than 128 bytes, so that each length is a byte. */
const section = (id: number, body: Code): Code => [id, body.length, ...body];
const list = (items: readonly Code[]): Code => [items.length, ...items.flat()];
const name = (text: string): Code => [text.length, ...Buffer.from(text)];

const [BLOCKS, QUOTE, AT, QUOTES, LINE_FEEDS, BLOCK, ALL_QUOTES, ALL_LINE_FEEDS] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** Adds how many bytes of the block are those of `all`. */
const addTo = (sum: number, all: number): Code => [
  ...[...get(sum), ...get(BLOCK), ...get(all), ...IS_EQUAL, ...TO_BITS, COUNT_BITS, ADD],
  ...set(sum),
];

const storeAt = (place: number, local: number): Code => [...constant(place), ...get(local), 0x36, 2, 0];

/** `count(blocks, quote)`: the two sums come to stand at the beginning of its memory. */
function countsModule(): Uint8Array {
  const body = [
    ...list([
      [3, I32],
      [3, V128],
    ]),
    ...[...get(QUOTE), ...IN_ALL_PLACES, ...set(ALL_QUOTES)],
    ...[...constant(LF), ...IN_ALL_PLACES, ...set(ALL_LINE_FEEDS)],
    ...[...constant(FIRST_BYTE), ...set(AT)],
    ...LOOP,
    ...[...get(AT), ...LOAD, ...set(BLOCK)],
    ...addTo(QUOTES, ALL_QUOTES),
    ...addTo(LINE_FEEDS, ALL_LINE_FEEDS),
    ...[...get(AT), ...constant(WIDTH), ADD, ...set(AT)],
    ...[...get(BLOCKS), ...constant(1), SUBTRACT, ...tee(BLOCKS), ...AGAIN_IF, END],
    ...storeAt(0, QUOTES),
    ...storeAt(4, LINE_FEEDS),
    END,
  ];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list([[I32], [I32]]), 0]])),
    ...section(2, list([[...name("own"), ...name("memory"), 0x02, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name("count"), 0, 0]])),
    ...section(10, list([[body.length, ...body]])),
  ]);
}
