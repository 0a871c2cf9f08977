/** Decompressors that lose nothing in silence: each throws where its data is damaged, cut off, or followed by other data. */

import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** Gives the next bytes; undefined at the end. A decompressor may not close what it reads: there may be more behind its end. */
type Read = () => Promise<Buffer | undefined>;

const BLOCK_BYTES = 64 * 1024;

async function* blocksOf(read: Read): AsyncGenerator<Buffer, void> {
  for (let block = await read(); block !== undefined; block = await read()) yield block;
}

/** Decompresses all members of gzip data (RFC 1952), or throws. */
export async function* gunzip(read: Read): AsyncGenerator<Buffer, void> {
  let given = 0;
  const counted: Read = async () => {
    const block = await read();
    given += block?.length ?? 0;
    return block;
  };
  const unpacker = createGunzip({ chunkSize: BLOCK_BYTES });
  // The callback's error also ends the iteration.
  yield* pipeline(blocksOf(counted), unpacker, () => {});
  while ((await counted()) !== undefined);
  // Node ignores whatever follows a zero byte behind a member.
  if (given > unpacker.bytesWritten) throw new Error("other data after its end");
}

const FRAME_MAGIC = 0xfd2fb528;
/** The last 4 bits are free: 16 magic numbers mark frames that hold no data. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;

/**
 * Decompresses Zstandard data (RFC 8878), all frames of it, or throws.
 *
 * The frames are walked here because Node's decompressor alone loses data without a word: up to Node 24 it stops after
 * the first frame (`cat a.zst b.zst`, pzstd), and Node 22 takes a cut file for a whole one.
 */
export async function* unzstd(read: Read): AsyncGenerator<Buffer, void> {
  let ahead: Buffer = Buffer.alloc(0);

  async function fill(size: number): Promise<boolean> {
    while (ahead.length < size) {
      const more = await read();
      if (more === undefined) return false;
      ahead = ahead.length === 0 ? more : Buffer.concat([ahead, more]);
    }
    return true;
  }

  async function next(size: number): Promise<Buffer> {
    if (!(await fill(size))) throw new Error("unexpected end of file");
    const bytes = ahead.subarray(0, size);
    ahead = ahead.subarray(size);
    return bytes;
  }

  async function* frame(magic: Buffer): AsyncGenerator<Buffer, void> {
    yield magic;
    const descriptor = await next(1);
    yield descriptor;
    const { headerBytes, hasChecksum } = readDescriptor(descriptor[0] ?? 0);
    yield await next(headerBytes);
    for (let last = false; !last; ) {
      const header = await next(3);
      const bits = header.readUIntLE(0, 3);
      last = (bits & 1) === 1;
      const type = (bits >>> 1) & 3;
      if (type === RESERVED_BLOCK) throw new Error("reserved block type");
      yield header;
      yield await next(type === RLE_BLOCK ? 1 : bits >>> 3);
    }
    if (hasChecksum) yield await next(4);
  }

  while (await fill(1)) {
    const magic = await next(4);
    const number = magic.readUInt32LE(0);
    if (number === FRAME_MAGIC) {
      // The callback's error also ends the iteration below.
      yield* pipeline(frame(magic), createZstdDecompress({ chunkSize: BLOCK_BYTES }), () => {});
    } else if ((number & ~0xf) === SKIPPABLE_MAGIC) {
      for (let left = (await next(4)).readUInt32LE(0); left > 0; ) {
        if (!(await fill(1))) throw new Error("unexpected end of file");
        left -= (await next(Math.min(left, ahead.length))).length;
      }
    } else throw new Error("unknown frame");
  }
}

/** The frame header's first byte: how many bytes the rest of the header has, and whether a checksum ends the frame. */
function readDescriptor(descriptor: number): { readonly headerBytes: number; readonly hasChecksum: boolean } {
  const singleSegment = (descriptor & 0x20) !== 0;
  const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0;
  return { headerBytes: (singleSegment ? 0 : 1) + dictionaryId + contentSize, hasChecksum: (descriptor & 4) !== 0 };
}
