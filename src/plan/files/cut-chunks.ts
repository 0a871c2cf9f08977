/** The chunks that a plan begins with. */

import { createHash } from "node:crypto";
import type { Manifest } from "./manifest.ts";
import type { planFiles } from "./plan.ts";
import { readActions, recordAt } from "./read-actions.ts";

export interface ChunkLimits {
  /** Actions in a chunk, at the most. */
  readonly size: number;
  /** Bytes of the request that sends it. */
  readonly bytes: number;
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

  /** @param line with its newline. */
  take(line: Buffer, record: Buffer): void {
    const { size, bytes } = this.#limits;
    // The request body is one byte longer than the chunk: its opening bracket.
    if (this.#count >= size || (this.#count > 0 && this.#length + line.length + 1 > bytes)) this.#cut();
    this.#digests.lines.update(line);
    this.#digests.records.update(record);
    this.#count += 1;
    this.#length += line.length;
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
  const cuts = new ChunkCuts(limits);
  for await (const { lines, records } of readActions(paths.actions, paths.index))
    for (const [number, line] of lines.entries()) cuts.take(line, recordAt(records, number));
  return cuts.end();
}
