import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { addAbortSignal, pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cleanText } from "../../actions/text.ts";
import { Failure } from "../../failure.ts";
import type { Compression, InputFile } from "./inputs.ts";
import { unzstd } from "./zstd.ts";

const BLOCK_BYTES = 256 * 1024;
/** Pipes give a few KiB at a time; parsing such crumbs one by one costs more than gathering them. */
const LEAST_BLOCK_BYTES = 64 * 1024;

export interface BytesOptions {
  /** Most bytes after decompression; more is a usage failure. No limit when absent. */
  readonly maxInputBytes?: number | undefined;
  /** What `-` reads (`process.stdin`). */
  readonly stdin?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Read from here instead of the file's path; messages still name the file as the user did. */
  readonly contentPath?: string | undefined;
}

/** The bytes of an opened input, decompressed, while size and SHA-256 of what is stored are kept. */
export interface ByteSource extends AsyncDisposable {
  /** Blocks of the decompressed content. May be called once. */
  blocks(): AsyncGenerator<Buffer, void>;
  /** Reads what is left, only to count and hash it. */
  drain(): Promise<void>;
  /** Size as stored, before it is read; 0 where that is not known, as for a pipe. */
  readonly storedBytes: number;
  /** Bytes read so far, as stored. */
  readonly bytesRead: number;
  /** Hex SHA-256 of the bytes as stored; undefined until all of them have been read. */
  readonly sha256: string | undefined;
}

/** A file's name as messages show it. */
export function shownName(file: { readonly name: string }): string {
  return file.name === "-" ? "Standard input" : cleanText(file.name, 300);
}

/** A usage failure for an error of the file system, in one sentence. */
export function fileFailure(file: { readonly name: string }, cause: unknown): Failure {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  const name = shownName(file);
  const sentence = new Map([
    ["ENOENT", `There is no file ${name}.`],
    ["ENOTDIR", `There is no file ${name}.`],
    ["EACCES", `${name} can't be read: permission denied.`],
    ["EPERM", `${name} can't be read: permission denied.`],
    ["EISDIR", `${name} is a directory, not a file.`],
  ]).get(code);
  return new Failure("usage", sentence ?? `${name} could not be read (${code}).`, { cause });
}

/** Opens an input. Throws a usage failure when that is not possible. */
export async function openBytes(file: InputFile, options: BytesOptions = {}): Promise<ByteSource> {
  const { signal, maxInputBytes } = options;
  const raw = await openRaw(file, options);
  const hash = createHash("sha256");
  let bytesRead = 0;
  let sha256: string | undefined;

  // One read at a time: a decompressor that is being ended may still wait for its last one when `drain` begins.
  let pending: Promise<unknown> = Promise.resolve();
  function read(): Promise<Buffer | undefined> {
    const block = pending.then(readNext);
    pending = block.catch(() => {});
    return block;
  }

  async function readNext(): Promise<Buffer | undefined> {
    if (sha256 !== undefined) return undefined;
    signal?.throwIfAborted();
    const block = await raw.read();
    signal?.throwIfAborted();
    if (block === undefined) {
      sha256 = hash.digest("hex");
      return undefined;
    }
    bytesRead += block.length;
    hash.update(block);
    return block;
  }

  async function* blocks(): AsyncGenerator<Buffer, void> {
    let total = 0;
    let readError: unknown; // decompressors may wrap it
    const readOnce = async () => {
      try {
        return await read();
      } catch (error) {
        readError = error;
        throw error;
      }
    };
    try {
      for await (const block of DECOMPRESSORS[file.compression](readOnce)) {
        total += block.length;
        if (maxInputBytes !== undefined && total > maxInputBytes) throw tooManyBytes(file, maxInputBytes);
        yield block;
      }
    } catch (cause) {
      throw readError ?? (cause instanceof Failure ? cause : damaged(file, cause));
    }
  }

  return {
    blocks,
    async drain() {
      while ((await read()) !== undefined);
    },
    storedBytes: raw.size,
    get bytesRead() {
      return bytesRead;
    },
    get sha256() {
      return sha256;
    },
    [Symbol.asyncDispose]: () => raw.close(),
  };
}

type Read = () => Promise<Buffer | undefined>;

const DECOMPRESSORS = { none: plain, gz: gunzip, zst: unzstd } satisfies Record<
  Compression,
  (read: Read) => AsyncGenerator<Buffer, void>
>;

async function* plain(read: Read): AsyncGenerator<Buffer, void> {
  for (let block = await read(); block !== undefined; block = await read()) yield block;
}

async function* gunzip(read: Read): AsyncGenerator<Buffer, void> {
  let given = 0;
  let lastNonZero = -1;
  const watchedRead = async () => {
    const block = await read();
    if (block === undefined) return undefined;
    const nonZero = block.findLastIndex((byte) => byte !== 0);
    if (nonZero !== -1) lastNonZero = given + nonZero;
    given += block.length;
    return block;
  };
  const unpacker = createGunzip({ chunkSize: BLOCK_BYTES });
  // The callback's error also ends the iteration.
  yield* pipeline(plain(watchedRead), unpacker, () => {});
  while ((await watchedRead()) !== undefined);
  // Zeros may pad the end, as on tapes; after a first zero Node passes over anything else without a word.
  if (lastNonZero >= unpacker.bytesWritten) throw new Error("other data after its end");
}

interface RawSource {
  readonly read: Read;
  readonly size: number;
  readonly close: () => Promise<void>;
}

async function openRaw(file: InputFile, options: BytesOptions): Promise<RawSource> {
  options.signal?.throwIfAborted();
  const path = options.contentPath ?? file.path;
  return path === "-" ? openStdin(options) : openFile(file, path);
}

async function openFile(file: InputFile, path: string): Promise<RawSource> {
  try {
    const handle = await open(path);
    const readSome = async () => {
      const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      let filled = 0;
      while (filled < LEAST_BLOCK_BYTES) {
        const { bytesRead } = await handle.read(buffer, filled, BLOCK_BYTES - filled, null);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled === 0 ? undefined : buffer.subarray(0, filled);
    };
    return {
      size: (await handle.stat()).size,
      read: () => readSome().catch((cause: unknown) => Promise.reject(fileFailure(file, cause))),
      close: () => handle.close(),
    };
  } catch (cause) {
    throw fileFailure(file, cause);
  }
}

function openStdin({ stdin, signal }: BytesOptions): RawSource {
  if (stdin === undefined) throw new Failure("internal", "Standard input was asked for, but not given to the reader.");
  if (signal !== undefined) addAbortSignal(signal, stdin);
  const chunks: AsyncIterator<Buffer | string> = stdin[Symbol.asyncIterator]();
  return {
    size: 0,
    async read() {
      const gathered: Buffer[] = [];
      for (let size = 0; size < LEAST_BLOCK_BYTES; ) {
        const chunk = await chunks.next().catch((cause: unknown) => {
          signal?.throwIfAborted();
          throw fileFailure({ name: "-" }, cause);
        });
        if (chunk.done === true) break;
        const bytes = Buffer.from(chunk.value);
        gathered.push(bytes);
        size += bytes.length;
      }
      return gathered.length === 0 ? undefined : Buffer.concat(gathered);
    },
    async close() {
      await chunks.return?.();
    },
  };
}

function tooManyBytes(file: InputFile, maxInputBytes: number): Failure {
  return new Failure("usage", `${shownName(file)} holds more than ${maxInputBytes} bytes (--max-input-bytes).`, {
    hint: "If it is what you meant to send, raise --max-input-bytes.",
  });
}

function damaged(file: InputFile, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : "unknown error";
  const kind = file.compression === "gz" ? "gzip" : "Zstandard";
  return new Failure(
    "usage",
    `${shownName(file)} is damaged, cut off or not ${kind}-compressed (${cleanText(reason)}).`,
    {
      hint: "Make or copy it again; nothing of it is used.",
      cause,
    },
  );
}
