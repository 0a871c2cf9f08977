/** The chunks that a plan begins with. */

import { type FileHandle, open } from "node:fs/promises";
import { readLines } from "./append-file.ts";
import { RECORD_BYTES } from "./index-file.ts";
import type { Manifest } from "./manifest.ts";
import { type planFiles, sha256 } from "./plan.ts";

/**
 * The initial chunks: as many actions as fit the size and the bytes, in order. One action that is too large stands alone.
 *
 * @param perLane how many actions each lane has; one lane where it is empty.
 */
export async function cutChunks(
  paths: Pick<ReturnType<typeof planFiles>, "actions" | "index">,
  chunkSize: number,
  maxBytes: number,
  perLane: readonly number[],
): Promise<Manifest["chunks"]> {
  await using index = await open(paths.index, "r");
  const chunks: Manifest["chunks"] = [];
  // One buffer for all: chunks are large, and those that are given up stay in memory for a while.
  let bytes = Buffer.allocUnsafe(BLOCK);
  let count = 0;
  let length = 0;
  let first = 1;
  let offset = 0;
  let lane = 0;
  let lastOfLane = perLane[0] ?? Number.POSITIVE_INFINITY;
  const cut = async (): Promise<void> => {
    if (count === 0) return;
    const indexSha256 = await digestOfNext(index, count * RECORD_BYTES);
    chunks.push({ lane, first, count, offset, length, sha256: sha256(bytes.subarray(0, length)), indexSha256 });
    first += count;
    offset += length;
    count = 0;
    length = 0;
    if (first > lastOfLane) {
      lane += 1;
      lastOfLane += perLane[lane] ?? Number.POSITIVE_INFINITY;
    }
  };
  const put = (line: Buffer): void => {
    const end = length + line.length + 1;
    if (end > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, bytes.length * 2));
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    line.copy(bytes, length);
    bytes[end - 1] = NEWLINE;
    length = end;
    count += 1;
  };
  for await (const block of readLines(paths.actions)) {
    for (const line of block) {
      // The request body is one byte longer than the chunk: its opening bracket.
      if (count >= chunkSize || (count > 0 && length + line.length + 2 > maxBytes)) await cut();
      put(line);
      if (first + count > lastOfLane) await cut();
    }
  }
  await cut();
  return chunks;
}

async function digestOfNext(file: FileHandle, length: number): Promise<string> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, null);
    if (bytesRead === 0) throw new Error("the plan's index is shorter than its actions");
    at += bytesRead;
  }
  return sha256(bytes);
}

const BLOCK = 256 * 1024;
const NEWLINE = 0x0a;
