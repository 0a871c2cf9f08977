/** A file that a command reads: the forms that it may have, and its bytes. */

import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { errorCode, Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { COMPRESSIONS, type Compression, type InputFormat } from "./file-names.ts";
import { type OpenedFile, openFile, openStream } from "./open-file.ts";
import { gunzip, unzstd } from "./unpack.ts";

/** One file to read, as the command line named it. */
export interface InputFile {
  /** Absolute, or `-` for standard input. */
  readonly path: string;
  /** As the user named it; for a glob's match the path that the glob gave. */
  readonly name: string;
  /** `detect`: standard input without `--format`; its first character decides when it is opened. */
  readonly format: InputFormat | "detect";
  readonly compression: Compression | "none";
  /** Its first line shows columns of rejects: it is a rejects file, whatever it is called. */
  readonly isRejects?: boolean;
}

/** A file's name as messages show it. */
export function shownName(file: { readonly name: string }): string {
  return file.name === "-" ? "Standard input" : cleanText(file.name, 300);
}

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
  const fail = (sentence: string, hint?: string) => new Failure("usage", sentence, { hint, cause });
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return fail(`There is no file ${name}.`, "A relative path begins in the folder that the command runs in.");
    case "EACCES":
    case "EPERM":
      return fail(`${name} can't be read: permission denied.`, "Check who owns it and who may read it.");
    case "EISDIR":
      return fail(`${name} is a directory, not a file.`, "Name the file in it.");
    default:
      return fail(`${name} could not be read (${code}).`);
  }
}

/** Opens an input. Throws a usage failure when that is not possible. */
export async function openBytes(file: InputFile, options: BytesOptions = {}): Promise<ByteSource> {
  const { signal, stdin } = options;
  const opening = file.path === "-" ? openStream(stdin ?? process.stdin, signal) : openFile(file.path, signal);
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
  /** Blocks as stored. */
  readonly #stored: AsyncGenerator<Buffer, void>;
  /** Bytes read so far, as stored. */
  bytesRead = 0;

  constructor(file: InputFile, raw: OpenedFile, options: BytesOptions) {
    this.#file = file;
    this.#raw = raw;
    this.#options = options;
    this.#stored = this.#read();
  }

  /** Hex SHA-256 of the bytes read so far, as stored. */
  get sha256(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Blocks of the decompressed content. May be called once. */
  async *blocks(): AsyncGenerator<Buffer, void> {
    const { maxInputBytes = Number.POSITIVE_INFINITY, signal } = this.#options;
    const file = this.#file;
    let total = 0;
    try {
      for await (const block of this.#unpacked()) {
        total += block.length;
        if (total > maxInputBytes)
          throw new Failure(
            "usage",
            `${shownName(file)} holds more than ${maxInputBytes} bytes (maxInputBytes of the environment).`,
            { hint: "If it is what you meant to send, raise maxInputBytes in the config." },
          );
        yield block;
      }
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof Failure || file.compression === "none") throw cause;
      // An empty compressed file is empty, not damaged.
      if (this.bytesRead > 0) throw damaged(file, COMPRESSIONS[file.compression], cause);
    }
  }

  #unpacked(): AsyncGenerator<Buffer, void> {
    const { compression } = this.#file;
    if (compression === "none") return this.#stored;
    return DECOMPRESSORS[compression](async () => (await this.#stored.next()).value ?? undefined);
  }

  async *#read(): AsyncGenerator<Buffer, void> {
    try {
      for await (const block of this.#raw.blocks) {
        this.bytesRead += block.length;
        this.#hash.update(block);
        yield block;
      }
    } catch (cause) {
      failReading(this.#file, cause, this.#options.signal);
    }
    await this.#refuseChanged();
    refuseEarlyEnd(this.#file, this.#raw.size, this.bytesRead);
  }

  /** Reads what is left, only to count and hash it. */
  async drain(): Promise<void> {
    for await (const _ of this.#stored);
  }

  /**
   * Throws a usage failure when the file is not as it was when it was opened: of one that others still write to a part would
   * be read, and its last row cut.
   */
  async #refuseChanged(): Promise<void> {
    const change = await this.#raw.change();
    if (change === undefined) return;
    throw new Failure("usage", `${shownName(this.#file)} is still being written: ${change}. None of it is used.`, {
      hint: "Run the command again when the export is done. To avoid this, write exports under another name and rename them once they are complete.",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#raw[Symbol.asyncDispose]();
  }
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

const DECOMPRESSORS = { gz: gunzip, zst: unzstd } satisfies Record<Compression, unknown>;

function damaged(file: InputFile, kind: string, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : "unknown error";
  return new Failure(
    "usage",
    `${shownName(file)} is damaged, cut off or not ${kind}-compressed (${cleanText(reason)}).`,
    { hint: "Make or copy it again. None of it is used.", cause },
  );
}
