/** The chunks that a plan begins with. */

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
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
  await using actions = await open(paths.actions, "r");
  const chunks: Manifest["chunks"] = [];
  let digest = createHash("sha256");
  let count = 0;
  let length = 0;
  let first = 1;
  let offset = 0;
  let lane = 0;
  let lastOfLane = perLane[0] ?? Number.POSITIVE_INFINITY;
  const cut = async (): Promise<void> => {
    if (count === 0) return;
    const indexSha256 = await digestOfNext(index, count * RECORD_BYTES);
    chunks.push({ lane, first, count, offset, length, sha256: digest.digest("hex"), indexSha256 });
    digest = createHash("sha256");
    first += count;
    offset += length;
    count = 0;
    length = 0;
    if (first > lastOfLane) {
      lane += 1;
      lastOfLane += perLane[lane] ?? Number.POSITIVE_INFINITY;
    }
  };
  let bytes = Buffer.allocUnsafe(Math.min(BLOCK, (await actions.stat()).size + 1));
  let filled = 0;
  for (;;) {
    const { bytesRead } = await actions.read(bytes, filled, bytes.length - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
    /** Up to here all belongs to earlier chunks, or to the digest of this one. */
    let taken = 0;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1 && end < filled; end = bytes.indexOf(NEWLINE, start)) {
      const line = end + 1 - start;
      // The request body is one byte longer than the chunk: its opening bracket.
      if (count >= chunkSize || (count > 0 && length + line + 1 > maxBytes)) {
        digest.update(bytes.subarray(taken, start));
        taken = start;
        await cut();
      }
      count += 1;
      length += line;
      start = end + 1;
      if (first + count > lastOfLane) {
        digest.update(bytes.subarray(taken, start));
        taken = start;
        await cut();
      }
    }
    digest.update(bytes.subarray(taken, start));
    bytes.copyWithin(0, start, filled);
    filled -= start;
    if (filled === bytes.length) bytes = Buffer.concat([bytes], 2 * bytes.length);
  }
  if (filled > 0) throw new Error(`${paths.actions} does not end with a newline`);
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

const BLOCK = 1024 * 1024;
const NEWLINE = 0x0a;
