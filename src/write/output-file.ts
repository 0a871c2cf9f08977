/**
 * A file that grows with the ledger: promises or rejects. The ledger knows its length, time and digest, so that a crash can be
 * put right, and a file that others changed is never written into.
 */

import { createHash, type Hash } from "node:crypto";
import { type BigIntStats, constants, createReadStream, existsSync } from "node:fs";
import { type FileHandle, lstat, open, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { crashPoint } from "../disk/crash-points.ts";
import { replaceFile } from "../disk/files.ts";
import { makeFolder, syncFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger, Output, Written } from "../ledger/ledger.ts";

type OutputKind = Output["kind"];

/** The file was changed, moved or deleted by someone else while it was being written. */
export class OutputChanged extends Error {
  override readonly name = "OutputChanged";
}

export type OutputState =
  | { readonly state: "fresh" }
  /** As the ledger left it; `isTorn`: an append was under way as the process died. */
  | { readonly state: "ours"; readonly known: Output; readonly isTorn: boolean }
  | { readonly state: "strange"; readonly why: string };

const strange = (why: string): OutputState => ({ state: "strange", why });

/**
 * Looks at an output file without touching it.
 *
 * @param unwritten what a process that died may have been appending: a tail that begins like one of these is a torn append.
 */
export async function inspectOutput(
  ledger: Ledger,
  path: string,
  kind: OutputKind,
  unwritten: () => AsyncIterable<string> = nothing,
): Promise<OutputState> {
  const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return undefined;
    throw unwritable(path, cause);
  });
  if (found === undefined) return (await isLink(path)) ? strange(DANGLING) : { state: "fresh" };
  if (!found.isFile()) return strange("it is not a regular file");
  const size = Number(found.size);
  const known = await ledger.output(path);
  if (known !== undefined && known.kind !== kind) return strange(`it is a ${known.kind} file`);
  if (size === 0) return { state: "fresh" };
  if (known === undefined) {
    // The process that made it died before the ledger knew of it.
    const empty = { path, kind, length: 0, mtimeNs: "0", digest: createHash("sha256").digest("hex") };
    if (await isTornAppend(path, 0, size, unwritten())) return { state: "ours", known: empty, isTorn: true };
    return strange("tickets did not write it for this environment");
  }
  if (size < known.length) return strange("it is shorter than tickets left it");
  const isUntouched = size === known.length && known.mtimeNs === String(found.mtimeNs);
  if (!isUntouched && (await digestOf(path, known.length)) !== known.digest)
    return strange("it was changed after tickets wrote it");
  if (size === known.length) return { state: "ours", known, isTorn: false };
  if (await isTornAppend(path, known.length, size, unwritten())) return { state: "ours", known, isTorn: true };
  return strange(`something else was written after its byte ${known.length}`);
}

async function* nothing(): AsyncGenerator<string> {}

const DANGLING = "it is a link to a file that does not exist";

/** Takes a promises file over whose lines the ledger has just learnt: later runs append to it. */
export async function adoptPromises(ledger: Ledger, path: string): Promise<void> {
  const { size, mtimeNs } = await stat(path, { bigint: true });
  const length = Number(size);
  const known = { kind: "promises", length, mtimeNs: String(mtimeNs), digest: await digestOf(path, length) } as const;
  await ledger.noteOutput({ ...known, path });
}

async function hashOf(path: string, length: number): Promise<Hash> {
  const hash = createHash("sha256");
  if (length > 0) for await (const bytes of createReadStream(path, { end: length - 1 })) hash.update(bytes);
  return hash;
}

const digestOf = async (path: string, length: number): Promise<string> => (await hashOf(path, length)).digest("hex");

/** Whether the end of the file is the beginning of an append that was under way. A power cut may leave zeros in it. */
async function isTornAppend(path: string, from: number, to: number, texts: AsyncIterable<string>): Promise<boolean> {
  const tail = Buffer.alloc(to - from);
  {
    await using file = await open(path, "r");
    await file.read(tail, 0, tail.length, from);
  }
  for await (const text of texts) {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length >= tail.length && tail.every((byte, at) => byte === 0 || byte === bytes[at])) return true;
  }
  return false;
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}

/** Makes the folder of an output, and what is missing above it. */
export function makeOutputFolder(path: string): void {
  makeFolder(dirname(path), { hint: "Name another file with --output." });
}

/** An error that a file threw as it was written, as a failure with exit code 10; one that is a failure stays itself. */
export function notWritten(file: string, cause: unknown, before = ""): Failure {
  if (cause instanceof Failure) return cause;
  const code = errorCode(cause) ?? String(cause);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  return new Failure(
    "storage",
    isFull ? `The disk is full: ${file} can't be written.` : `${file} can't be written (${code}).`,
    { hint: `${before}Make room or put the disk right, then run the same command again.`, cause },
  );
}

const unwritable = (path: string, cause: unknown): Failure =>
  notWritten(path, cause, "Every answer received is stored in the ledger. ");

/** Opens a file that was inspected: a fresh one begins with `header`, one of ours is cut back to what the ledger knows. */
export async function openOutput(
  ledger: Ledger,
  path: string,
  options: {
    readonly kind: OutputKind;
    readonly header: string;
    readonly state: Exclude<OutputState, { readonly state: "strange" }>;
    readonly run?: number;
    readonly input?: number;
  },
): Promise<OutputFile> {
  const { header, state, ...of } = options;
  let file: FileHandle | undefined;
  try {
    file = await openToAppend(path, state.state === "fresh");
    if (state.state === "fresh") {
      if ((await file.stat()).size > 0) throw justChanged(path);
      syncFolder(dirname(path));
    } else if (state.isTorn) {
      await file.truncate(state.known.length);
      await file.sync();
    }
    const length = state.state === "fresh" ? 0 : state.known.length;
    const opened = await file.stat({ bigint: true });
    const output = new OutputFile(ledger, file, opened, { ...of, path, length, mtimeNs: String(opened.mtimeNs) });
    if (length === 0 && header !== "") await output.append(header);
    return output;
  } catch (cause) {
    // Node ends a process that leaves one open to the garbage.
    await file?.close().catch(() => undefined);
    throw unwritable(path, cause);
  }
}

/** Appending, so that what others add at the same moment is never written over. Making it anew goes through no planted link. */
async function openToAppend(path: string, isFresh: boolean): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  if (!isFresh) return open(path, O_RDWR | O_APPEND);
  return open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL).catch((cause: unknown) => {
    if (errorCode(cause) === "EEXIST") return open(path, O_RDWR | O_APPEND);
    throw cause;
  });
}

const justChanged = (path: string): Failure =>
  new Failure("usage", `${path} was just changed by someone else. Nothing more was sent.`, {
    hint: "Run the same command again.",
  });

/** An opened file that grows. One append at a time. */
export class OutputFile implements AsyncDisposable {
  readonly path: string;
  readonly #ledger: Ledger;
  readonly #file: FileHandle;
  readonly #opened: BigIntStats;
  /** As this process left it. */
  #left: Omit<Output, "digest">;
  #hash: Hash | undefined;

  constructor(ledger: Ledger, file: FileHandle, opened: BigIntStats, left: Omit<Output, "digest">) {
    this.path = left.path;
    this.#ledger = ledger;
    this.#file = file;
    this.#opened = opened;
    this.#left = left;
  }

  /**
   * Appends text. After it resolves the text is on disk, and the ledger knows it with what it is about.
   *
   * @param written the chunks of a run whose promises these are.
   * @throws OutputChanged when the file is not as this process left it.
   */
  async append(text: string, written?: Written): Promise<void> {
    const { path, length, mtimeNs } = this.#left;
    const opened = this.#opened;
    const now = await stat(path, { bigint: true }).catch(() => undefined);
    const isSame = now?.ino === opened.ino && now.dev === opened.dev && now.size === BigInt(length);
    if (!isSame) throw new OutputChanged(path);
    this.#hash ??= await hashOf(path, length);
    const isTouched = String(now.mtimeNs) !== mtimeNs;
    if (isTouched && (await digestOf(path, length)) !== this.#hash.copy().digest("hex")) throw new OutputChanged(path);
    const bytes = Buffer.from(text, "utf8");
    await this.#write(bytes);
    this.#hash.update(bytes);
    const writtenAt = (await this.#file.stat({ bigint: true })).mtimeNs;
    this.#left = { ...this.#left, length: length + bytes.length, mtimeNs: String(writtenAt) };
    crashPoint("projected");
    await this.#ledger.noteOutput({ ...this.#left, digest: this.#hash.copy().digest("hex") }, written);
  }

  async #write(bytes: Buffer): Promise<void> {
    const file = this.#file;
    let written = 0;
    try {
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
      await file.sync();
    } catch (cause) {
      // Half a line is worse than none: the ledger has it, and the next command writes it.
      if ((await file.stat()).size === this.#left.length + written)
        await file.truncate(this.#left.length).catch(() => undefined);
      throw unwritable(this.path, cause);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** `<stem>.<extension>`, or with a number where that is taken. */
export async function freeName(ledger: Ledger, kind: OutputKind, stem: string, extension: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = `${stem}${number === 1 ? "" : `.${number}`}.${extension}`;
    if ((await inspectOutput(ledger, path, kind)).state === "fresh") return path;
  }
}

/** Writes a file whole or not at all; a device or a pipe takes what comes. @param shown for messages. */
export async function writeWhole(
  path: string,
  content: string | Iterable<string> | AsyncIterable<string>,
  shown = path,
): Promise<void> {
  try {
    makeOutputFolder(path);
    await ((await isPlainFile(path)) ? replaceFile : writeFile)(path, content);
  } catch (cause) {
    throw notWritten(shown, cause);
  }
}

/**
 * For what is written whole by hand: nothing is replaced.
 *
 * @throws Failure `usage` where there is a file.
 */
export async function refuseExisting(path: string, shown: string): Promise<void> {
  if (existsSync(path) && (await isPlainFile(path)))
    throw new Failure("usage", `${shown} already exists and is not overwritten.`, {
      hint: "Name another file, or move this one away.",
    });
}

/** Whether a file can take this place: it is missing, or a file, and no device or pipe, which others need. */
export async function isPlainFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? true;
}
