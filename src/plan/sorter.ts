/** Sorting more than memory holds: full buffers are sorted and put on disk as runs, which are merged when they are read. */

import { type FileHandle, open, rm } from "node:fs/promises";
import { writeAll } from "./files.ts";

/** Byte strings in, the same in ascending order out, compared byte by byte. */
export interface Sorter extends AsyncDisposable {
  /** Takes a record of `size` bytes that `fill` writes into the buffer at the offset it is given. */
  add(size: number, fill: (buffer: Buffer, at: number) => void): Promise<void> | undefined;
  /** All records in order, in arrays; to be called once, after the last `add`. */
  sorted(): AsyncGenerator<readonly Buffer[]>;
}

export interface SorterLimits {
  /** Bytes of one run. */
  readonly runBytes: number;
  /** Most records of one run. */
  readonly runRecords: number;
}

/** With what sorting them takes, some 25 MiB of memory. */
const LIMITS: SorterLimits = { runBytes: 12 * 1024 * 1024, runRecords: 1 << 18 };

/** What the blocks of all runs take together while they are merged; one run reads a block of these sizes at a time. */
const BLOCKS = { all: 16 * 1024 * 1024, least: 16 * 1024, most: 256 * 1024 };
/** Bytes of a run that are written at a time. */
const PIECE = 1024 * 1024;
/** Records given at a time. */
const BATCH = 2000;
/** Before each record stands its length. */
const LENGTH_BYTES = 4;

/** @param path of the file for runs, made when the first is full and removed at the end. */
export function createSorter(path: string, limits: SorterLimits = LIMITS): Sorter {
  let buffer = Buffer.alloc(0);
  let starts = new Uint32Array(0);
  /** The first eight bytes of each record as a number that is never out of order, so that few need a look at all bytes. */
  let prefixes = new Float64Array(0);
  let used = 0;
  let count = 0;
  let file: FileHandle | undefined;
  let written = 0;
  const runs: Run[] = [];

  const recordAt = (number: number): Buffer => {
    const start = starts[number] ?? 0;
    return buffer.subarray(start + LENGTH_BYTES, start + LENGTH_BYTES + buffer.readUInt32LE(start));
  };
  const sortedNumbers = (): Uint32Array => {
    const compare = (a: number, b: number): number =>
      (prefixes[a] ?? 0) - (prefixes[b] ?? 0) || Buffer.compare(recordAt(a), recordAt(b));
    return Uint32Array.from({ length: count }, (_, number) => number).sort(compare);
  };

  const flush = async (): Promise<void> => {
    if (count === 0) return;
    file ??= await open(path, "wx+", 0o600);
    let piece: Buffer[] = [];
    let pieceBytes = 0;
    for (const number of sortedNumbers()) {
      const start = starts[number] ?? 0;
      const record = buffer.subarray(start, start + LENGTH_BYTES + buffer.readUInt32LE(start));
      piece.push(record);
      pieceBytes += record.length;
      if (pieceBytes < PIECE) continue;
      await writeAll(file, Buffer.concat(piece, pieceBytes));
      piece = [];
      pieceBytes = 0;
    }
    await writeAll(file, Buffer.concat(piece, pieceBytes));
    runs.push({ start: written, end: written + used });
    written += used;
    used = 0;
    count = 0;
  };

  const free = (): void => {
    buffer = Buffer.alloc(0);
    starts = new Uint32Array(0);
    prefixes = new Float64Array(0);
  };

  const put = (size: number, fill: (buffer: Buffer, at: number) => void): void => {
    const at = used + LENGTH_BYTES;
    buffer.writeUInt32LE(size, used);
    fill(buffer, at);
    starts[count] = used;
    prefixes[count] = prefixOf(buffer, at, size);
    used = at + size;
    count += 1;
  };

  return {
    add(size, fill) {
      const needed = LENGTH_BYTES + size;
      if (buffer.length === 0) {
        buffer = Buffer.allocUnsafe(Math.max(limits.runBytes, needed));
        starts = new Uint32Array(limits.runRecords);
        prefixes = new Float64Array(limits.runRecords);
      }
      if (used + needed <= buffer.length && count < limits.runRecords) {
        put(size, fill);
        return undefined;
      }
      return flush().then(() => {
        if (needed > buffer.length) buffer = Buffer.allocUnsafe(needed);
        put(size, fill);
      });
    },
    async *sorted() {
      if (runs.length === 0) {
        const numbers = sortedNumbers();
        for (let from = 0; from < numbers.length; from += BATCH)
          yield Array.from(numbers.subarray(from, from + BATCH), recordAt);
        return;
      }
      await flush();
      free();
      if (file !== undefined) yield* merge(file, runs);
    },
    async [Symbol.asyncDispose]() {
      free();
      if (file === undefined) return;
      await file.close();
      await rm(path, { force: true });
    },
  };
}

/** Where a run stands in the file. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** A run being read: its records one after the other. */
interface Reader {
  readonly blockBytes: number;
  /** The next record. */
  head: Buffer;
  block: Buffer;
  /** Where the record after `head` begins in the block. */
  at: number;
  /** Where the file is read next. */
  position: number;
  readonly end: number;
}

async function* merge(file: FileHandle, runs: readonly Run[]): AsyncGenerator<readonly Buffer[]> {
  const heap: Reader[] = [];
  const blockBytes = Math.min(BLOCKS.most, Math.max(BLOCKS.least, Math.floor(BLOCKS.all / runs.length)));
  for (const { start, end } of runs) {
    const reader: Reader = { blockBytes, head: Buffer.alloc(0), block: Buffer.alloc(0), at: 0, position: start, end };
    if (await refill(file, reader)) heap.push(reader);
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at -= 1) sink(heap, at);
  let batch: Buffer[] = [];
  for (let least = heap[0]; least !== undefined; least = heap[0]) {
    batch.push(least.head);
    if (!advance(least) && !(await refill(file, least))) {
      const last = heap.pop();
      if (last !== undefined && last !== least) heap[0] = last;
    }
    sink(heap, 0);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Takes the next record out of the block; false when it is not wholly there. */
function advance(reader: Reader): boolean {
  const { block, at } = reader;
  if (at + LENGTH_BYTES > block.length) return false;
  const end = at + LENGTH_BYTES + block.readUInt32LE(at);
  if (end > block.length) return false;
  reader.head = block.subarray(at + LENGTH_BYTES, end);
  reader.at = end;
  return true;
}

/** Reads on until the next record is there; false at the end of the run. Blocks are not reused: records point into them. */
async function refill(file: FileHandle, reader: Reader): Promise<boolean> {
  let rest = reader.block.subarray(reader.at);
  while (reader.position < reader.end) {
    const needed = rest.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + rest.readUInt32LE(0);
    const more = Math.min(Math.max(reader.blockBytes, needed - rest.length), reader.end - reader.position);
    const block = Buffer.allocUnsafe(rest.length + more);
    rest.copy(block);
    const { bytesRead } = await file.read(block, rest.length, more, reader.position);
    if (bytesRead === 0) throw new Error("the file of sorted runs is shorter than it was written");
    reader.position += bytesRead;
    reader.block = block.subarray(0, rest.length + bytesRead);
    reader.at = 0;
    if (advance(reader)) return true;
    rest = reader.block;
  }
  return false;
}

/** Lets the reader at `at` sink to where its head belongs. */
function sink(heap: Reader[], at: number): void {
  const reader = heap[at];
  if (reader === undefined) return;
  let place = at;
  for (;;) {
    const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
    if (left === undefined) break;
    const isRight = right !== undefined && Buffer.compare(right.head, left.head) < 0;
    const child = isRight ? right : left;
    if (Buffer.compare(reader.head, child.head) <= 0) break;
    heap[place] = child;
    place = 2 * place + (isRight ? 2 : 1);
  }
  heap[place] = reader;
}

/** Rounding to a double keeps the order of the numbers, though not their differences. */
function prefixOf(buffer: Buffer, at: number, size: number): number {
  if (size >= 8) return buffer.readUInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4);
  let prefix = 0;
  for (let byte = 0; byte < 8; byte += 1) prefix = prefix * 256 + (byte < size ? (buffer[at + byte] ?? 0) : 0);
  return prefix;
}
