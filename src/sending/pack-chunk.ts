/** What a chunk sends, made ready for the ledger while its request is on its way. */

import { free } from "../disk/buffers.ts";
import { BLOCK_ACTIONS, DEED_BYTES, encodeOrigins } from "../ledger/block.ts";
import type { BlockCompressor } from "../ledger/block-compressor.ts";
import type { NewBlock } from "../ledger/blocks.ts";
import type { ChunkActions } from "../plan/files/chunk-actions.ts";
import { inputAt, lineAt, RECORD_BYTES } from "../plan/files/index-file.ts";

/** All of a block but what the answer says. */
export type PackedPart = Pick<NewBlock, "first" | "count" | "origins" | "actions" | "deeds">;

/** A chunk's actions, and where they came from. */
interface Sent {
  readonly chunk: { readonly first: number };
  readonly actions: ChunkActions;
  /** The chunk's part of the plan's index. */
  readonly index: Buffer;
  /** The names of the plan's inputs, by number. */
  readonly inputs: readonly string[];
}

/** In the order of the chunk's actions. The body must not change before this resolves. */
export async function packChunk(
  { chunk, actions, index, inputs }: Sent,
  compressor: BlockCompressor,
): Promise<readonly PackedPart[]> {
  const parts: Promise<PackedPart>[] = [];
  for (let from = 0; from < actions.count; from += BLOCK_ACTIONS) {
    const count = Math.min(BLOCK_ACTIONS, actions.count - from);
    const records = index.subarray(from * RECORD_BYTES, (from + count) * RECORD_BYTES);
    const origins = encodeOrigins(
      count,
      (at) => inputs[inputAt(records, at * RECORD_BYTES)] ?? "",
      (at) => lineAt(records, at * RECORD_BYTES),
    );
    const rest = { first: chunk.first + from, count, origins, deeds: deedsIn(records, count) };
    const part = compressed(actions.lines(from, from + count), compressor).then((actions) => ({ ...rest, actions }));
    // Told to whoever waits for all of them.
    part.catch(() => undefined);
    parts.push(part);
  }
  return Promise.all(parts);
}

async function compressed(lines: Buffer, compressor: BlockCompressor): Promise<Buffer> {
  const bytes = await compressor.compress(lines);
  free(lines);
  return bytes;
}

/** Identity and content stand side by side at the end of a record, too. */
function deedsIn(records: Buffer, count: number): Buffer {
  const deeds = Buffer.allocUnsafe(count * DEED_BYTES);
  for (let at = 0, end = RECORD_BYTES; at < deeds.length; at += DEED_BYTES, end += RECORD_BYTES)
    records.copy(deeds, at, end - DEED_BYTES, end);
  return deeds;
}
