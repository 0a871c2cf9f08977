/** Files, pipes and terminals opened for reading, so that a signal ends every wait for them. */

import { type BigIntStats, close, constants, createReadStream, fstat, open, ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { isatty, ReadStream as TerminalStream } from "node:tty";
import { promisify } from "node:util";
import { errorCode } from "../failure.ts";

const [openFd, closeFd, fstatFd] = [promisify(open), promisify(close), promisify(fstat)];

/** Pipes give a few KiB at a time; parsing such crumbs one by one costs more than gathering them. */
const LEAST_BLOCK_BYTES = 32 * 1024;

export interface OpenedFile extends AsyncDisposable {
  /** Blocks of 32 KiB or more, but for the last. They end with the signal's reason. */
  readonly blocks: AsyncGenerator<Buffer, void>;
  /** Size as stored; 0 where that is not known, as for a pipe. */
  readonly size: number;
  /** How it differs from what was opened; undefined where it does not, or is no file that can be looked at again. */
  readonly change: () => Promise<string | undefined>;
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
    const change = changeOf(found, () => statAt(path));
    return opened(streamOf(fd, found, path), signal, change, Number(found.size));
  } catch (cause) {
    await closeFd(fd);
    throw cause;
  }
}

function streamOf(fd: number, found: BigIntStats, path: string): Readable {
  if (found.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new TerminalStream(fd);
  // From a place of its own: where the descriptor stands is nothing to rely on.
  return createReadStream(path, { fd, ...(found.isFile() && { start: 0 }) });
}

/** What comes from an open stream, such as standard input. */
export async function openStream(stream: Readable, signal?: AbortSignal): Promise<OpenedFile> {
  signal?.throwIfAborted();
  // A shell opened the file of standard input.
  if (!(stream instanceof ReadStream) || !("fd" in stream) || typeof stream.fd !== "number")
    return opened(stream, signal);
  const { fd } = stream;
  const look = () => fstatFd(fd, { bigint: true });
  return opened(stream, signal, changeOf(await look(), look));
}

function opened(
  stream: Readable,
  signal: AbortSignal | undefined,
  change: OpenedFile["change"] = async () => undefined,
  size = 0,
): OpenedFile {
  if (signal !== undefined) addAbortSignal(signal, stream);
  stream.on("error", () => {}); // whoever reads the blocks gets it
  const blocks = blocksOf(stream, signal);
  return {
    blocks,
    size,
    change,
    async [Symbol.asyncDispose]() {
      // Behind a read in flight, which would be one of whatever file is opened next and is given the same number.
      await blocks.return();
      stream.destroy();
    },
  };
}

async function* blocksOf(stream: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void> {
  let gathered: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      gathered = gathered.length === 0 ? bytes : Buffer.concat([gathered, bytes]);
      if (gathered.length < LEAST_BLOCK_BYTES) continue;
      yield gathered;
      gathered = Buffer.alloc(0);
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause;
  }
  if (gathered.length > 0) yield gathered;
}

async function statAt(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(cause) ?? "")) return undefined;
    throw cause;
  }
}

/** @param look gives a file as it is now; undefined when it is gone. */
function changeOf(before: BigIntStats, look: () => Promise<BigIntStats | undefined>): OpenedFile["change"] {
  return async () => {
    if (!before.isFile()) return undefined;
    const now = await look();
    if (now === undefined) return "it was removed while it was read";
    if (now.dev !== before.dev || now.ino !== before.ino) return "it was replaced while it was read";
    if (now.size !== before.size)
      return `it ${now.size > before.size ? "grew" : "shrank"} from ${before.size} to ${now.size} bytes while it was read`;
    // A file of a virtual file system has size 0, and the time of the look.
    if (now.mtimeNs !== before.mtimeNs && now.size > 0n) return "it was changed while it was read";
    return undefined;
  };
}
