/**
 * SHA-256 (FIPS 180-4) of four messages at once, by 128-bit instructions of WebAssembly. Node's own takes one message a call, and
 * most of what a short one costs is the call: beside it this takes a third.
 */

import { hash } from "node:crypto";
import { compileModule, createWideMemory, instantiate, type WideMemory } from "../wasm.ts";
import { lanesModule } from "./lanes-module.ts";

export const LANES = 4;
/** So many bytes of each digest are given. */
export const GIVEN_BYTES = 16;
/** Where the memory that is the caller's begins. */
export const FIRST_FREE = 256;

const BLOCK_BYTES = 64;

export interface Lanes {
  readonly memory: WideMemory;
  readonly bytes: Buffer;
  /** Of the same memory. */
  readonly view: DataView;
  /**
   * @param at where the four messages stand, each padded to `blocks` blocks (`pad`).
   * @param out where the digests go, one behind the other.
   */
  digest(at: ArrayLike<number>, blocks: number, out: number): void;
}

/** Blocks of a message with its padding. */
export const blocksOf = (length: number): number => ((length + 8) >>> 6) + 1;

/** Bytes of a message with its padding. */
export const paddedBytes = (length: number): number => blocksOf(length) * BLOCK_BYTES;

/** Pads a message that stands at `at`, a multiple of four: a one bit, zeros, and its length in bits at the end. */
export function pad({ bytes, view }: PaddedMemory, at: number, length: number): void {
  const end = at + paddedBytes(length);
  let next = at + length;
  bytes[next] = 0x80;
  for (next += 1; (next & 3) !== 0; next += 1) bytes[next] = 0;
  for (; next < end; next += 4) view.setInt32(next, 0);
  view.setUint32(end - 4, (length * 8) >>> 0);
  bytes[end - 5] = Math.floor(length / 2 ** 29);
}

interface PaddedMemory {
  readonly bytes: Uint8Array;
  /** Of the same memory. */
  readonly view: DataView;
}

/** Compiled once. */
let module: object | undefined;

/** Undefined where this machine or this Node has no such instructions, or they don't give what Node's own gives. */
export function createLanes(bytes: number): Lanes | undefined {
  try {
    module ??= compileModule(lanesModule());
    const memory = createWideMemory(bytes);
    const run = instantiate(module, "digest", memory);
    const lanes: Lanes = {
      memory,
      bytes: Buffer.from(memory.buffer),
      view: new DataView(memory.buffer),
      digest: (at, blocks, out) => run(at[0] ?? 0, at[1] ?? 0, at[2] ?? 0, at[3] ?? 0, blocks, out),
    };
    return isAsNode(lanes) ? lanes : undefined;
  } catch {
    return undefined;
  }
}

function isAsNode(lanes: Lanes): boolean {
  const { bytes, digest } = lanes;
  const texts = ["", "abc", "a".repeat(55), "0123456789-äöü"];
  const out = FIRST_FREE + LANES * BLOCK_BYTES;
  const places = texts.map((text, lane) => {
    const at = FIRST_FREE + lane * BLOCK_BYTES;
    pad(lanes, at, bytes.write(text, at, "utf8"));
    return at;
  });
  digest(places, 1, out);
  const expected = texts.map((text) => hash("sha256", text).slice(0, 2 * GIVEN_BYTES)).join("");
  return bytes.toString("hex", out, out + LANES * GIVEN_BYTES) === expected;
}
