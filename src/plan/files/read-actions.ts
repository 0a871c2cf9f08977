/** The lines of a plan, or of candidates, and their records beside them. */

import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { RECORD_BYTES } from "./index-file.ts";

export interface ReadActions {
  /** Each with its newline. */
  readonly lines: readonly Buffer[];
  /** As many, one after the other. */
  readonly records: Buffer;
}

const BLOCK = 1024 * 1024;
const NEWLINE = 0x0a;

/** All of them in order, some at a time. */
export async function* readActions(linesPath: string, indexPath: string): AsyncGenerator<ReadActions> {
  await using index = await open(indexPath, "r");
  let left: Buffer = Buffer.alloc(0);
  for await (const block of createReadStream(linesPath, { highWaterMark: BLOCK })) {
    const bytes = Buffer.concat([left, block as Buffer]); // without an encoding
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(bytes.subarray(start, end + 1));
      start = end + 1;
    }
    left = bytes.subarray(start);
    if (lines.length > 0) yield { lines, records: await readNext(index, lines.length * RECORD_BYTES) };
  }
  if (left.length > 0) throw new Error(`${linesPath} does not end with a newline`);
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

export const recordAt = (records: Buffer, number: number): Buffer =>
  records.subarray(number * RECORD_BYTES, (number + 1) * RECORD_BYTES);
