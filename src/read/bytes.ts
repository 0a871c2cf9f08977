import { createHash } from "node:crypto";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { errorCode, Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { type Compression, type InputFile, shownName } from "./input-file.ts";
import { type OpenedFile, openFile, openStream, refuseEarlyEnd, refuseUnfinished } from "./open-file.ts";
import { unzstd } from "./zstd.ts";

const BLOCK_BYTES = 64 * 1024;

export interface BytesOptions {
  /** Most bytes after decompression; more is a usage failure. No limit when absent. */
  readonly maxInputBytes?: number | undefined;
  /** What `-` reads (`process.stdin`). */
  readonly stdin?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
}

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

/** Opens an input. Throws a usage failure when that is not possible. */
export async function openBytes(file: InputFile, options: BytesOptions = {}): Promise<ByteSource> {
  const { signal, stdin } = options;
  const { path } = file;
  if (path === "-" && stdin === undefined)
    throw new Failure("internal", "Standard input was asked for, but not given to the reader.");
  const opening = path === "-" && stdin !== undefined ? openStream(stdin, signal) : openFile(path, signal);
  return new ByteSource(file, await opening.catch((cause: unknown) => failReading(file, cause, signal)), options);
}

/** Throws what ended the reading of a file: the signal's reason, or a usage failure. */
function failReading(file: InputFile, cause: unknown, signal: AbortSignal | undefined): never {
  signal?.throwIfAborted();
  throw fileFailure(file, cause);
}

/** The bytes of an opened input, decompressed, while size and SHA-256 of what is stored are kept. */
export class ByteSource implements AsyncDisposable {
  readonly #file: InputFile;
  readonly #raw: OpenedFile;
  readonly #options: BytesOptions;
  readonly #hash = createHash("sha256");
  #isClosed = false;
  /** The read in flight. */
  #pending: Promise<unknown> = Promise.resolve();
  /** Bytes read so far, as stored. */
  bytesRead = 0;
  /** Hex SHA-256 of the bytes as stored; undefined until all of them have been read. */
  sha256: string | undefined;

  constructor(file: InputFile, raw: OpenedFile, options: BytesOptions) {
    this.#file = file;
    this.#raw = raw;
    this.#options = options;
  }

  /** One read at a time: a decompressor that is being ended may still wait for its last one when `drain` begins. */
  readonly #read: Read = () => {
    const block = this.#pending.then(() => this.#readNext());
    this.#pending = block.catch(() => {});
    return block;
  };

  async #readNext(): Promise<Buffer | undefined> {
    // A decompressor whose blocks nobody asks for any more may still read on.
    if (this.sha256 !== undefined || this.#isClosed) return undefined;
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const block = await this.#raw.read().catch((cause: unknown) => failReading(this.#file, cause, signal));
    signal?.throwIfAborted();
    if (block === undefined) {
      await this.refuseChanged();
      refuseEarlyEnd(this.#file, this.#raw.size, this.bytesRead);
      this.sha256 = this.#hash.digest("hex");
      return undefined;
    }
    this.bytesRead += block.length;
    this.#hash.update(block);
    return block;
  }

  /** Blocks of the decompressed content. May be called once. */
  async *blocks(): AsyncGenerator<Buffer, void> {
    const file = this.#file;
    const { maxInputBytes = Number.POSITIVE_INFINITY } = this.#options;
    let total = 0;
    let readError: unknown; // decompressors may wrap it
    const read = () =>
      this.#read().catch((error: unknown) => {
        readError = error;
        throw error;
      });
    try {
      // An empty compressed file is empty, not damaged.
      let first = await read();
      if (first === undefined) return;
      const readOn: Read = async () => {
        const block = first;
        first = undefined;
        return block ?? read();
      };
      for await (const block of DECOMPRESSORS[file.compression](readOn)) {
        total += block.length;
        if (total > maxInputBytes)
          throw new Failure(
            "usage",
            `${shownName(file)} holds more than ${maxInputBytes} bytes (maxInputBytes of the environment).`,
            {
              hint: "If it is what you meant to send, raise maxInputBytes in the config.",
            },
          );
        yield block;
      }
    } catch (cause) {
      throw readError ?? (cause instanceof Failure ? cause : damaged(file, cause));
    }
  }

  /** Reads what is left, only to count and hash it. */
  async drain(): Promise<void> {
    while ((await this.#read()) !== undefined);
  }

  /** Throws a usage failure when the file is not as it was when it was opened. */
  async refuseChanged(): Promise<void> {
    if (this.#raw.watched !== undefined) await refuseUnfinished(this.#file, this.#raw.watched);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#raw[Symbol.asyncDispose]();
  }
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
  // Zeros may pad the end, as on tapes. After the first zero, Node silently ignores whatever else follows.
  if (lastNonZero >= unpacker.bytesWritten) throw new Error("other data after its end");
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
