/** What a chunk sends, made ready for the ledger while its request is on its way. */

import { BLOCK_ACTIONS, compressLinesSoon, DEED_BYTES, encodeOrigins } from "../ledger/block.ts";
import type { NewBlock } from "../ledger/blocks.ts";
import type { ChunkActions } from "../plan/files/chunk-actions.ts";
import { identityAt, inputAt, lineAt, RECORD_BYTES } from "../plan/files/index-file.ts";

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
export function packChunk({ chunk, actions, index, inputs }: Sent): Promise<readonly PackedPart[]> {
  const parts: Promise<PackedPart>[] = [];
  for (let from = 0; from < actions.count; from += BLOCK_ACTIONS) {
    const count = Math.min(BLOCK_ACTIONS, actions.count - from);
    const records = index.subarray(from * RECORD_BYTES, (from + count) * RECORD_BYTES);
    const origins = encodeOrigins(count, (at) => ({
      source: inputs[inputAt(records, at * RECORD_BYTES)] ?? "",
      line: lineAt(records, at * RECORD_BYTES),
    }));
    const rest = { first: chunk.first + from, count, origins, deeds: deedsIn(records, count) };
    parts.push(
      compressLinesSoon(actions.lines(from, from + count)).then((compressed) => ({ ...rest, actions: compressed })),
    );
  }
  return Promise.all(parts);
}

/** Identity and content stand side by side in a record, too. */
function deedsIn(records: Buffer, count: number): Buffer {
  const deeds = Buffer.allocUnsafe(count * DEED_BYTES);
  for (let at = 0; at < count; at += 1) {
    const { byteOffset } = identityAt(records, at * RECORD_BYTES);
    const start = byteOffset - records.byteOffset;
    records.copy(deeds, at * DEED_BYTES, start, start + DEED_BYTES);
  }
  return deeds;
}
