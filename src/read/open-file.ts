/** Files, pipes and terminals opened for reading, so that a signal ends every wait for them. */

import { type BigIntStats, close, constants, fstat, open, ReadStream, read } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { isatty, ReadStream as TerminalStream } from "node:tty";
import { promisify } from "node:util";
import { errorCode, Failure } from "../failure.ts";
import { shownName } from "./input-file.ts";

const [openFd, closeFd, fstatFd, readFd] = [promisify(open), promisify(close), promisify(fstat), promisify(read)];

const BLOCK_BYTES = 64 * 1024;
/** Room for what a file may have grown by since it was opened, so that its end is seen without another buffer. */
const GROWN_BYTES = 4 * 1024;
/** Pipes give a few KiB at a time; parsing such crumbs one by one costs more than gathering them. */
const LEAST_BLOCK_BYTES = 32 * 1024;

export interface OpenedFile extends AsyncDisposable {
  /** The next bytes, up to 64 KiB of them; undefined at the end. One call at a time. Ends with the signal's reason or an AbortError. */
  read(): Promise<Buffer | undefined>;
  /** Size as stored; 0 where that is not known, as for a pipe. */
  readonly size: number;
  /** Where it is a file. */
  readonly watched: Watched | undefined;
}

/**
 * Opens `path`. Opening never waits: a pipe that nobody writes to is waited for while it is read, where `signal` ends the
 * wait. (A thread of Node that waits in `open` or `read` would hold the process whatever the signal.)
 */
export async function openFile(path: string, signal?: AbortSignal): Promise<OpenedFile> {
  signal?.throwIfAborted();
  const fd = await openFd(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await fstatFd(fd, { bigint: true });
    if (found.isDirectory()) throw Object.assign(new Error("EISDIR: is a directory"), { code: "EISDIR" });
    if (found.isFIFO()) return openedStream(new Socket({ fd, readable: true, writable: false }), signal, undefined);
    if (isatty(fd)) return openedStream(new TerminalStream(fd), signal, undefined);
    return openedFd(fd, found, path, signal);
  } catch (cause) {
    await closeFd(fd);
    throw cause;
  }
}

/** What comes from an open stream, such as standard input. It may be a file that a shell opened. */
export async function openStream(stream: Readable, signal?: AbortSignal): Promise<OpenedFile> {
  signal?.throwIfAborted();
  const fd = fdOf(stream);
  const found = fd === undefined ? undefined : await fstatFd(fd, { bigint: true });
  const watched =
    fd === undefined || found?.isFile() !== true
      ? undefined
      : { mark: markOf(found), look: async () => markOf(await fstatFd(fd, { bigint: true })) };
  return openedStream(stream, signal, watched);
}

/** Of a file; a socket or a terminal has nothing that could be looked at. */
function fdOf(stream: Readable): number | undefined {
  return stream instanceof ReadStream && "fd" in stream && typeof stream.fd === "number" ? stream.fd : undefined;
}

function openedFd(fd: number, found: BigIntStats, path: string, signal: AbortSignal | undefined): OpenedFile {
  let taken = 0;
  let reading: Promise<unknown> = Promise.resolve();

  async function readBlock(): Promise<Buffer | undefined> {
    const left = found.isFile() ? Math.max(Number(found.size) - taken, 0) + GROWN_BYTES : BLOCK_BYTES;
    const room = Math.min(BLOCK_BYTES, left);
    const buffer = Buffer.allocUnsafeSlow(room);
    let filled = 0;
    while (filled < room / 2) {
      signal?.throwIfAborted();
      // At a place of its own: where the descriptor stands is nothing to rely on.
      const at = found.isFile() ? taken + filled : null;
      const { bytesRead } = await readFd(fd, buffer, filled, room - filled, at);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    taken += filled;
    signal?.throwIfAborted();
    return filled === 0 ? undefined : buffer.subarray(0, filled);
  }

  return {
    size: Number(found.size),
    watched: found.isFile() ? { mark: markOf(found), look: () => markAt(path) } : undefined,
    read() {
      const block = readBlock();
      reading = block.catch(() => undefined); // reported to whom it was read for
      return block;
    },
    async [Symbol.asyncDispose]() {
      // A read that comes after would read of whatever file is opened next and is given the same number.
      await reading;
      await closeFd(fd);
    },
  };
}

function openedStream(stream: Readable, signal: AbortSignal | undefined, watched: Watched | undefined): OpenedFile {
  if (signal !== undefined) addAbortSignal(signal, stream);
  const chunks: AsyncIterator<Buffer | string> = stream[Symbol.asyncIterator]();
  return {
    size: 0,
    watched,
    async read() {
      const gathered: Buffer[] = [];
      for (let size = 0; size < LEAST_BLOCK_BYTES; ) {
        const chunk = await chunks.next().catch((cause: unknown) => {
          signal?.throwIfAborted();
          throw cause;
        });
        if (chunk.done === true) break;
        const bytes = Buffer.from(chunk.value);
        gathered.push(bytes);
        size += bytes.length;
      }
      return gathered.length === 0 ? undefined : Buffer.concat(gathered);
    },
    async [Symbol.asyncDispose]() {
      await chunks.return?.();
      stream.destroy();
    },
  };
}

function markOf({ dev, ino, size, mtimeNs }: BigIntStats): Mark {
  return { dev, ino, size, mtimeNs };
}

async function markAt(path: string): Promise<Mark | undefined> {
  try {
    return markOf(await stat(path, { bigint: true }));
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(cause) ?? "")) return undefined;
    throw cause;
  }
}

/** What a file looks like from outside. When any of it changes, somebody is writing. */
interface Mark {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

/** A file that can be looked at again. Pipes and devices can't. */
export interface Watched {
  /** As it was when it was opened. */
  readonly mark: Mark;
  /** As it is now; undefined when it is gone. */
  readonly look: () => Promise<Mark | undefined>;
}

/**
 * One that others still write to would be read in part, and its last row cut.
 *
 * @throws Failure `usage` when the file is not as it was when it was opened.
 */
export async function refuseUnfinished(file: { readonly name: string }, { mark, look }: Watched): Promise<void> {
  const change = changeOf(mark, await look());
  if (change === undefined) return;
  throw new Failure("usage", `${shownName(file)} is still being written: ${change}. None of it is used.`, {
    hint: "Run the command again when the export is done. To avoid this, write exports under another name and rename them once they are complete.",
  });
}

/**
 * @param size of the file when it was opened; 0 where that is not known.
 * @throws Failure `usage` when fewer bytes came of it, though nobody changed it: a file system may fail to say that it failed.
 */
export function refuseEarlyEnd(file: { readonly name: string }, size: number, bytesRead: number): void {
  if (bytesRead >= size) return;
  throw new Failure("usage", `${shownName(file)} ended after ${bytesRead} of its ${size} bytes. None of it is used.`, {
    hint: "Run the command again. If it says the same, look at the file system that the file is on, or copy the file elsewhere.",
  });
}

function changeOf(before: Mark, now: Mark | undefined): string | undefined {
  if (now === undefined) return "it was removed while it was read";
  if (now.dev !== before.dev || now.ino !== before.ino) return "it was replaced while it was read";
  if (now.size !== before.size)
    return `it ${now.size > before.size ? "grew" : "shrank"} from ${before.size} to ${now.size} bytes while it was read`;
  // A file of a virtual file system has size 0, and the time of the look.
  if (now.mtimeNs !== before.mtimeNs && now.size > 0n) return "it was changed while it was read";
  return undefined;
}
