/** Compresses the lines of blocks on another thread, one after the other, with memory that is taken once. */

import { constants, createZstdCompress } from "node:zlib";
import { COMPRESSION } from "./block.ts";

export interface BlockCompressor extends Disposable {
  /** As `compressLines` does it. The lines must not change before this resolves. */
  compress(lines: Uint8Array): Promise<Buffer>;
}

export function openBlockCompressor(): BlockCompressor {
  const stream = createZstdCompress({
    params: COMPRESSION,
    // Each write is a frame of its own, and all of it comes out before the write is told to be done.
    flush: constants.ZSTD_e_end,
    finishFlush: constants.ZSTD_e_end,
    chunkSize: OUTPUT_BYTES,
  });
  let frame: Buffer[] = [];
  stream.on("data", (part: Buffer) => frame.push(part));
  stream.on("error", () => undefined); // told to whoever waits for a write
  return {
    compress: (lines) =>
      new Promise((resolve, reject) => {
        stream.write(lines, (error) => {
          const [first, ...others] = frame;
          frame = [];
          if (error || first === undefined) reject(error ?? new Error("nothing came of compressing lines"));
          else resolve(others.length === 0 ? first : Buffer.concat([first, ...others]));
        });
      }),
    [Symbol.dispose]: () => {
      stream.destroy();
    },
  };
}

/** Bytes that are taken at a time for what comes out: a few blocks of the usual kind. */
const OUTPUT_BYTES = 64 * 1024;
