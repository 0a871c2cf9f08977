/** Files of a plan: appended to through a buffer, copied in ranges. */

import { type FileHandle, open } from "node:fs/promises";

const BLOCK = 1024 * 1024;
/** What a file begins with: many of a small plan stay empty, and each large buffer costs a collection. */
const FIRST_BLOCK = 16 * 1024;
/** After so much the disk is told to begin: else all of a large file is waited for at its end. */
const SYNCED_AT_ONCE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Appends to a new file through one reused buffer. Nothing is promised to be on disk before `sync`. */
export interface AppendFile extends AsyncDisposable {
  /** Bytes appended so far. */
  readonly length: number;
  /** Appends text as UTF-8; returns its length in bytes. */
  text(text: string): Promise<number> | number;
  /** Appends bytes and a newline. */
  line(bytes: Buffer): Promise<void> | undefined;
  /** Appends bytes as they are; they must not change before what this returns has ended. */
  bytes(bytes: Uint8Array): Promise<void> | undefined;
  /** Appends `size` bytes that `fill` writes into the buffer at the offset it is given. */
  record(size: number, fill: (buffer: Buffer, at: number) => void): Promise<void> | undefined;
  sync(): Promise<void>;
  /** Hands everything to the system, for who reads it soon; a power cut may lose it. */
  flush(): Promise<void>;
}

/** @param isLasting - false where it is read and removed: then the disk is not told of it before `sync`. */
export async function createFile(path: string, isLasting = true): Promise<AppendFile> {
  const file = await open(path, "wx", 0o600);
  let buffer = Buffer.allocUnsafe(FIRST_BLOCK);
  let used = 0;
  let length = 0;
  const writer = writerOf(file);
  const write = isLasting ? writer.write : (bytes: Uint8Array): Promise<void> => writeAll(file, bytes);
  const flush = async (): Promise<void> => {
    const filled = buffer.subarray(0, used);
    used = 0;
    await write(filled);
  };
  /** Makes room for what does not fit behind what is there. */
  const flushToGrow = async (): Promise<void> => {
    await flush();
    if (buffer.length < BLOCK) buffer = Buffer.allocUnsafe(BLOCK);
  };
  const putText = (text: string): number => {
    const size = buffer.write(text, used, "utf8");
    used += size;
    length += size;
    return size;
  };
  return {
    get length() {
      return length;
    },
    text(text) {
      // A UTF-16 code unit takes three bytes of UTF-8 at the most.
      if (text.length * 3 <= buffer.length - used) return putText(text);
      return (async () => {
        await flushToGrow();
        if (text.length * 3 <= BLOCK) return putText(text);
        const bytes = Buffer.from(text, "utf8");
        await write(bytes);
        length += bytes.length;
        return bytes.length;
      })();
    },
    line(bytes) {
      const put = (): void => {
        used += bytes.copy(buffer, used);
        buffer[used] = NEWLINE;
        used += 1;
      };
      length += bytes.length + 1;
      if (bytes.length < buffer.length - used) {
        put();
        return undefined;
      }
      return (async () => {
        await flushToGrow();
        if (bytes.length < BLOCK) put();
        else await write(Buffer.concat([bytes, Buffer.of(NEWLINE)]));
      })();
    },
    bytes(bytes) {
      const put = (): void => {
        buffer.set(bytes, used);
        used += bytes.length;
      };
      length += bytes.length;
      if (bytes.length <= buffer.length - used) {
        put();
        return undefined;
      }
      return flushToGrow().then(() => (bytes.length > BLOCK ? write(bytes) : put()));
    },
    record(size, fill) {
      const put = (): void => {
        fill(buffer, used);
        used += size;
        length += size;
      };
      if (size <= buffer.length - used) {
        put();
        return undefined;
      }
      return flushToGrow().then(put);
    },
    flush,
    async sync() {
      await flush();
      await writer.sync();
    },
    async [Symbol.asyncDispose]() {
      await writer.begun().catch(() => undefined); // `sync` tells
      await file.close();
    },
  };
}

/** Writes to a file, with which the disk begins meanwhile. */
export function writerOf(file: FileHandle) {
  let sent = 0;
  let syncing: Promise<void> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  /** What the disk has begun with is there; fails where it could not take some of it, which the system tells only once. */
  const begun = async (): Promise<void> => {
    await syncing;
    if (failure !== undefined) throw failure.cause;
  };
  return {
    begun,
    /** @param position - behind what was written before where there is none. */
    async write(bytes: Uint8Array, position?: number): Promise<void> {
      await writeAll(file, bytes, position);
      sent += bytes.length;
      if (sent < SYNCED_AT_ONCE || syncing !== undefined) return;
      sent = 0;
      syncing = file
        .datasync()
        .catch((cause: unknown) => {
          failure ??= { cause };
        })
        .finally(() => {
          syncing = undefined;
        });
    },
    /** All that was written is on the disk. */
    async sync(): Promise<void> {
      await begun();
      await file.sync();
    },
  };
}

/** @param position - behind what was written before where there is none. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const from = position === undefined ? null : position + at;
    at += (await file.write(bytes, at, bytes.length - at, from)).bytesWritten;
  }
}

/** Copies byte ranges of one file to the end of a new one, durably. */
export async function copyRanges(
  from: string,
  to: string,
  ranges: readonly { readonly start: number; readonly end: number }[],
): Promise<void> {
  await using source = await open(from, "r");
  await using target = await open(to, "wx", 0o600);
  const longest = ranges.reduce((most, { start, end }) => Math.max(most, end - start), 0);
  const block = Buffer.allocUnsafe(Math.min(BLOCK, longest));
  for (const { start, end } of ranges) {
    for (let at = start; at < end; ) {
      const { bytesRead } = await source.read(block, 0, Math.min(block.length, end - at), at);
      if (bytesRead === 0) throw new Error(`${from} is shorter than its index says`);
      await writeAll(target, block.subarray(0, bytesRead));
      at += bytesRead;
    }
  }
  await target.sync();
}
