/**
 * How many quotes and line feeds stand in bytes, sixteen at a time by 128-bit instructions of WebAssembly: where a large file is
 * cut between rows, every byte of it is looked at in one thread.
 */

import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";
import {
  AGAIN_IF,
  type Code,
  compileModule,
  constant,
  createWideMemory,
  END,
  get,
  I32,
  I32_ADD,
  I32_SUB,
  instantiate,
  LOOP,
  list,
  load,
  moduleOf,
  set,
  tee,
  V128,
  wide,
} from "../../actions/wasm.ts";

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

const WIDTH = 16;
const MEMORY_BYTES = 64 * 1024;
/** Bytes are counted where they were copied to, behind what is found; so few stay in the nearest cache. */
const FIRST_BYTE = WIDTH;
const MOST_BYTES = MEMORY_BYTES - FIRST_BYTE;

/** No byte of UTF-8. */
const NO_BYTE = 0xff;

/** Undefined where this machine or this Node has no such instructions. */
function wideCounts(quote: number): ByteCounts | undefined {
  try {
    const memory = createWideMemory(MEMORY_BYTES);
    const run = instantiate(compileModule(countsModule()), "count", memory);
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

const COUNT_BITS = 0x69;
const IN_ALL_PLACES = wide(0x0f);
const IS_EQUAL = wide(0x23);
const TO_BITS = wide(0x64);

const [BLOCKS, QUOTE, AT, QUOTES, LINE_FEEDS, BLOCK, ALL_QUOTES, ALL_LINE_FEEDS] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** Adds how many bytes of the block are those of `all`. */
const addTo = (sum: number, all: number): Code => [
  ...[...get(sum), ...get(BLOCK), ...get(all), ...IS_EQUAL, ...TO_BITS, COUNT_BITS, ...I32_ADD],
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
    ...[...get(AT), ...load(0), ...set(BLOCK)],
    ...addTo(QUOTES, ALL_QUOTES),
    ...addTo(LINE_FEEDS, ALL_LINE_FEEDS),
    ...[...get(AT), ...constant(WIDTH), ...I32_ADD, ...set(AT)],
    ...[...get(BLOCKS), ...constant(1), ...I32_SUB, ...tee(BLOCKS), ...AGAIN_IF, END],
    ...storeAt(0, QUOTES),
    ...storeAt(4, LINE_FEEDS),
    END,
  ];
  return moduleOf("count", 2, body);
}
