import { createHash } from "node:crypto";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cleanText } from "../actions/text.ts";
import { errorCode, Failure } from "../failure.ts";
import { type Clock, refuseEarlyEnd, refuseUnfinished, SYSTEM_CLOCK, watchEnd } from "./finished.ts";
import type { Compression, InputFile } from "./input-file.ts";
import { shownName } from "./input-file.ts";
import { type OpenedFile, openFile, openStream } from "./open-file.ts";
import { unzstd } from "./zstd.ts";

const BLOCK_BYTES = 64 * 1024;

export interface BytesOptions {
  /** Most bytes after decompression; more is a usage failure. No limit when absent. */
  readonly maxInputBytes?: number | undefined;
  /** What `-` reads (`process.stdin`). */
  readonly stdin?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/** The bytes of an opened input, decompressed, while size and SHA-256 of what is stored are kept. */
export type ByteSource = Awaited<ReturnType<typeof openBytes>>;

/** A usage failure for an error of the file system, in one sentence. */
export function fileFailure(file: { readonly name: string }, cause: unknown): Failure {
  const code = errorCode(cause) ?? "unknown error";
  const name = shownName(file);
  const missing = [
    `There is no file ${name}.`,
    "A relative path begins in the folder that the command runs in.",
  ] as const;
  const denied = [`${name} can't be read: permission denied.`, "Check who owns it and who may read it."] as const;
  const [sentence = `${name} could not be read (${code}).`, hint] =
    new Map<string, readonly [string, string]>([
      ["ENOENT", missing],
      ["ENOTDIR", missing],
      ["EACCES", denied],
      ["EPERM", denied],
      ["EISDIR", [`${name} is a directory, not a file.`, "Name the file in it."]],
    ]).get(code) ?? [];
  return new Failure("usage", sentence, { hint, cause });
}

/** Throws what ended the reading of a file: the signal's reason, or a usage failure. */
function failReading(file: InputFile, cause: unknown, signal: AbortSignal | undefined): never {
  signal?.throwIfAborted();
  throw fileFailure(file, cause);
}

/** Opens an input. Throws a usage failure when that is not possible. */
export async function openBytes(file: InputFile, options: BytesOptions = {}) {
  const { signal, maxInputBytes, clock = SYSTEM_CLOCK } = options;
  const raw = await openRaw(file, options);
  const { watched } = raw;
  const hash = createHash("sha256");
  let bytesRead = 0;
  let sha256: string | undefined;
  let contentSha256: string | undefined;
  let isClosed = false;

  // One read at a time: a decompressor that is being ended may still wait for its last one when `drain` begins.
  let pending: Promise<unknown> = Promise.resolve();
  function read(): Promise<Buffer | undefined> {
    const block = pending.then(readNext);
    pending = block.catch(() => {});
    return block;
  }

  async function readNext(): Promise<Buffer | undefined> {
    // A decompressor whose blocks nobody asks for any more may still read on.
    if (sha256 !== undefined || isClosed) return undefined;
    signal?.throwIfAborted();
    const block = await raw.read().catch((cause: unknown) => failReading(file, cause, signal));
    signal?.throwIfAborted();
    if (block === undefined) {
      if (watched !== undefined) await refuseUnfinished(file, watched);
      refuseEarlyEnd(file, raw.size, bytesRead);
      sha256 = hash.digest("hex");
      return undefined;
    }
    bytesRead += block.length;
    hash.update(block);
    return block;
  }

  return {
    /** Blocks of the decompressed content. May be called once. */
    blocks: () =>
      contentOf(file, read, maxInputBytes, (digest) => {
        contentSha256 = digest;
      }),
    /** Reads what is left, only to count and hash it. */
    async drain(): Promise<void> {
      while ((await read()) !== undefined);
    },
    /**
     * Makes sure that the file is complete: one that changed just now is watched for a while. Throws a usage failure when
     * it is still being written.
     */
    async believeEnd(): Promise<void> {
      if (watched !== undefined) await watchEnd(file, watched, clock, signal);
    },
    /** Bytes read so far, as stored. */
    get bytesRead() {
      return bytesRead;
    },
    /** Hex SHA-256 of the bytes as stored; undefined until all of them have been read. */
    get sha256() {
      return sha256;
    },
    /** The same of the decompressed bytes; undefined until all of them have been given. */
    get contentSha256() {
      return file.compression === "none" ? sha256 : contentSha256;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      isClosed = true;
      await raw[Symbol.asyncDispose]();
    },
  };
}

type Read = () => Promise<Buffer | undefined>;

/** @param onEnd is told the SHA-256 of the content, where it is not that of what is stored. */
async function* contentOf(
  file: InputFile,
  read: Read,
  maxInputBytes: number | undefined,
  onEnd: (sha256: string | undefined) => void,
): AsyncGenerator<Buffer, void> {
  let total = 0;
  const unpacked = file.compression === "none" ? undefined : createHash("sha256");
  let readError: unknown; // decompressors may wrap it
  const readOnce = () =>
    read().catch((error: unknown) => {
      readError = error;
      throw error;
    });
  try {
    // An empty compressed file is empty, not damaged.
    const first = await readOnce();
    if (first === undefined) return;
    let next: Buffer | undefined = first;
    const readOn = async (): Promise<Buffer | undefined> => {
      const block = next ?? (await readOnce());
      next = undefined;
      return block;
    };
    for await (const block of DECOMPRESSORS[file.compression](readOn)) {
      total += block.length;
      if (maxInputBytes !== undefined && total > maxInputBytes) throw tooManyBytes(file, maxInputBytes);
      unpacked?.update(block);
      yield block;
    }
    onEnd(unpacked?.digest("hex"));
  } catch (cause) {
    throw readError ?? (cause instanceof Failure ? cause : damaged(file, cause));
  }
}

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
  // Zeros may pad the end, as on tapes. After the first zero, Node silently ignores whatever else follows.
  if (lastNonZero >= unpacker.bytesWritten) throw new Error("other data after its end");
}

async function openRaw(file: InputFile, { signal, stdin }: BytesOptions): Promise<OpenedFile> {
  const { path } = file;
  if (path === "-" && stdin === undefined)
    throw new Failure("internal", "Standard input was asked for, but not given to the reader.");
  try {
    return await (path === "-" && stdin !== undefined ? openStream(stdin, signal) : openFile(path, signal));
  } catch (cause) {
    return failReading(file, cause, signal);
  }
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
    { hint: "Make or copy it again. None of it is used.", cause },
  );
}
