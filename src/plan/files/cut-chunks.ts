/** The chunks that a plan begins with. */

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { RECORD_BYTES } from "./index-file.ts";
import type { Manifest } from "./manifest.ts";
import type { planFiles } from "./plan.ts";

export interface ChunkLimits {
  /** Actions in a chunk, at the most. */
  readonly size: number;
  /** Bytes of the request that sends it. */
  readonly bytes: number;
}

/** Some lines of the plan and their records, one after the other. */
interface PlanLines {
  readonly count: number;
  readonly lines: Buffer;
  readonly records: Buffer;
  /** Bytes of a line with its newline, by its number among these. */
  readonly sizeOf: (number: number) => number;
}

/** Where the actions of a lane begin in the plan. */
interface LaneStart {
  readonly lane: number;
  /** Number of its first action. */
  readonly first: number;
  /** Of its first byte. */
  readonly offset: number;
}

const OF_PLAN: LaneStart = { lane: 0, first: 1, offset: 0 };

/**
 * The initial chunks of a lane while they are cut: as many actions as fit the size and the bytes, in order. One action that is too
 * large stands alone.
 */
export class ChunkCuts {
  readonly #limits: ChunkLimits;
  readonly #lane: number;
  readonly #chunks: Manifest["chunks"] = [];
  #digests = newDigests();
  #count = 0;
  #length = 0;
  #first: number;
  #offset: number;

  constructor(limits: ChunkLimits, { lane, first, offset } = OF_PLAN) {
    this.#limits = limits;
    this.#lane = lane;
    this.#first = first;
    this.#offset = offset;
  }

  take({ count, lines, records, sizeOf }: PlanLines): void {
    const { size, bytes } = this.#limits;
    /** What was not digested yet: from these on. */
    let [line, record] = [0, 0];
    let lineEnd = 0;
    const digestUntil = (lineTo: number, recordTo: number): void => {
      this.#digests.lines.update(lines.subarray(line, lineTo));
      this.#digests.records.update(records.subarray(record, recordTo));
      [line, record] = [lineTo, recordTo];
    };
    for (let number = 0; number < count; number += 1) {
      const lineBytes = sizeOf(number);
      // The request body is one byte longer than the chunk: its opening bracket.
      if (this.#count >= size || (this.#count > 0 && this.#length + lineBytes + 1 > bytes)) {
        digestUntil(lineEnd, number * RECORD_BYTES);
        this.#cut();
      }
      this.#count += 1;
      this.#length += lineBytes;
      lineEnd += lineBytes;
    }
    digestUntil(lineEnd, count * RECORD_BYTES);
  }

  /** All of them, when all lines were taken. */
  end(): Manifest["chunks"] {
    this.#cut();
    return this.#chunks;
  }

  #cut(): void {
    if (this.#count === 0) return;
    this.#chunks.push({
      lane: this.#lane,
      first: this.#first,
      count: this.#count,
      offset: this.#offset,
      length: this.#length,
      sha256: this.#digests.lines.digest("hex"),
      indexSha256: this.#digests.records.digest("hex"),
    });
    this.#digests = newDigests();
    this.#first += this.#count;
    this.#offset += this.#length;
    this.#count = 0;
    this.#length = 0;
  }
}

const newDigests = () => ({ lines: createHash("sha256"), records: createHash("sha256") });

/** The initial chunks of a plan of one lane that is on disk. */
export async function cutChunks(
  paths: Pick<ReturnType<typeof planFiles>, "actions" | "index">,
  limits: ChunkLimits,
): Promise<Manifest["chunks"]> {
  await using index = await open(paths.index, "r");
  await using actions = await open(paths.actions, "r");
  const cuts = new ChunkCuts(limits);
  let bytes = Buffer.allocUnsafe(Math.min(BLOCK, (await actions.stat()).size + 1));
  let filled = 0;
  for (;;) {
    const { bytesRead } = await actions.read(bytes, filled, bytes.length - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
    const sizes: number[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1 && end < filled; end = bytes.indexOf(NEWLINE, start)) {
      sizes.push(end + 1 - start);
      start = end + 1;
    }
    const records = await readNext(index, sizes.length * RECORD_BYTES);
    cuts.take({
      count: sizes.length,
      lines: bytes.subarray(0, start),
      records,
      sizeOf: (number) => sizes[number] as number, // as many
    });
    bytes.copyWithin(0, start, filled);
    filled -= start;
    if (filled === bytes.length) bytes = Buffer.concat([bytes], 2 * bytes.length);
  }
  if (filled > 0) throw new Error(`${paths.actions} does not end with a newline`);
  return cuts.end();
}

async function readNext(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, null);
    if (bytesRead === 0) throw new Error("the plan's index is shorter than its actions");
    at += bytesRead;
  }
  return bytes;
}

const BLOCK = 1024 * 1024;
const NEWLINE = 0x0a;
