/**
 * A file that grows with the ledger: promises or rejects. The ledger records how much of it is known to be on disk, so a
 * crash can be put right, and a file that others changed is never written into.
 */

import { hash } from "node:crypto";
import { type BigIntStats, constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setAside } from "../disk/aside.ts";
import { orClosed } from "../disk/closing.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { makeFolder } from "../disk/folders.ts";
import { openAnew } from "../disk/replace-file.ts";
import { sha256OfFile } from "../disk/sha256-of-file.ts";
import { syncDirectory } from "../disk/sync.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { SAME_AGAIN, storageFailure } from "../ledger/open-ledger.ts";
import { hasOutcome } from "../ledger/outcomes.ts";
import {
  adoptMoved,
  knownOutput,
  noteAppended,
  noteFreshOutput,
  noteReplaced,
  noteReplacing,
  type OutputKind,
  outputsOfLength,
  replacementOf,
  segmentsOf,
} from "../ledger/outputs.ts";
import { findRun } from "../ledger/runs.ts";
import { labelIn, promiseFormat, promisesHeader, type RunLabel } from "./promise-lines.ts";

export interface Appended {
  /** Part of a transaction: notes what the file holds now. */
  record(ledger: Ledger): void;
}

/** The file was changed, moved or deleted by someone else while it was being written. */
export class OutputChanged extends Error {
  override readonly name = "OutputChanged";
}

export type OutputState =
  | { readonly state: "fresh" }
  /**
   * As the ledger left it; `torn` when an append was under way as the process died, `isReplaced` when it died after the file was
   * replaced and before that was noted. `movedFrom` is where the ledger left it, when that is elsewhere.
   */
  | {
      readonly state: "ours";
      readonly length: number;
      readonly torn: boolean;
      readonly isReplaced?: boolean;
      readonly movedFrom?: string;
    }
  | {
      readonly state: "strange";
      readonly why: string;
      /** Whose promises it ends in, where the ledger does not know them: if the environment is the ledger's, that was lost or restored. */
      readonly lostRun: RunLabel | undefined;
    };

/**
 * Looks at an output file without touching it.
 *
 * @param kind of what is to be written: a file that gets promises and rejects could be read as neither.
 * @param unrecorded what a process that died may have been appending, one text for each append that it may have been, given how
 * much is recorded: a tail that is the beginning of one is a torn append, any other is someone else's. There may be many, so
 * they are made one by one.
 */
export async function inspectOutput(
  ledger: Ledger,
  path: string,
  kind: OutputKind,
  unrecorded: (length: number) => AsyncIterable<string> | Iterable<string> = () => [],
): Promise<OutputState> {
  let size: number;
  let mtimeNs: bigint;
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isFile()) return strange("it is not a regular file");
    size = Number(found.size);
    mtimeNs = found.mtimeNs;
  } catch (cause) {
    if (errorCode(cause) === "ENOENT")
      return (await isLink(path)) ? strange("it is a link to a file that does not exist") : { state: "fresh" };
    throw storageFailure(path, cause, SAME_AGAIN);
  }
  const known = knownOutput(ledger, path);
  if (known !== undefined && known.kind !== kind) return strange(OF_KIND[known.kind]);
  if (size === 0) return { state: "fresh" };
  if (known === undefined) {
    // As a command leaves it that died before its first promise.
    if (kind === "promises" && isHeaderOf(path, await readBeginning(path, Math.min(size, MOST_HEADER_BYTES))))
      return { state: "fresh" };
    const movedFrom = await formerPath(ledger, path, size);
    const former = movedFrom === undefined ? undefined : knownOutput(ledger, movedFrom);
    if (former !== undefined && former.kind !== kind) return strange(OF_KIND[former.kind]);
    if (movedFrom !== undefined) return { state: "ours", length: size, torn: false, movedFrom };
    return strange("tickets did not write it for this environment", await unknownRunIn(ledger, path, size));
  }
  if (await isReplacement(ledger, path, size)) return { state: "ours", length: size, torn: false, isReplaced: true };
  const { length } = known;
  if (size < length) return strange("it is shorter than tickets left it");
  if (size !== length || known.mtimeNs !== String(mtimeNs)) {
    const changed = await changedSegment(ledger, path);
    if (changed !== undefined)
      return strange(`it was changed after tickets wrote it (between byte ${changed.start} and ${changed.end})`);
  }
  if (size > length) {
    if (!(await isTorn(path, { length, size }, unrecorded(length)))) {
      return strange(`something else was written after its byte ${length}`, await unknownRunIn(ledger, path, size));
    }
  }
  return { state: "ours", length, torn: size > length };
}

/** Whether this is all that a table of promises begins with. */
const isHeaderOf = (path: string, text: string): boolean =>
  text !== "" && [true, false].some((safeCsv) => text === promisesHeader(promiseFormat(path), safeCsv));

/** No header has more bytes. */
const MOST_HEADER_BYTES = 1024;

const OF_KIND: Readonly<Record<OutputKind, string>> = {
  promises: "it is a promises file",
  rejects: "it is a rejects file",
};

/** Whether the end of the file, behind what is recorded, is the beginning of an append that was under way. */
async function isTorn(
  path: string,
  { length, size }: { readonly length: number; readonly size: number },
  expected: AsyncIterable<string> | Iterable<string>,
): Promise<boolean> {
  let tail: Buffer | undefined;
  for await (const text of expected) {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length < size - length) continue;
    tail ??= await readRange(path, length, size);
    if (isBeginning(tail, bytes)) return true;
  }
  return false;
}

/** Whether the file is what `replaceOutput` was about to put there. */
async function isReplacement(ledger: Ledger, path: string, size: number): Promise<boolean> {
  const next = replacementOf(ledger, path);
  return next?.length === size && (await sha256OfFile(path, { end: size - 1 })) === next.sha256;
}

/** Where the ledger left a file that now stands at a path it does not know: the same bytes, at a path without a file. */
async function formerPath(ledger: Ledger, path: string, size: number): Promise<string | undefined> {
  for (const former of outputsOfLength(ledger, size))
    if (!existsSync(former) && (await changedSegment(ledger, former, path)) === undefined) return former;
  return undefined;
}

/**
 * The first part of the file that is not as it was written.
 *
 * @param at where it stands now.
 */
async function changedSegment(
  ledger: Ledger,
  path: string,
  at = path,
): Promise<{ readonly start: number; readonly end: number } | undefined> {
  for (const { start, length, sha256 } of segmentsOf(ledger, path)) {
    const end = start + length;
    if ((await sha256OfFile(at, { start, end: end - 1 })) !== sha256) return { start, end };
  }
  return undefined;
}

/** After a power cut zeros may stand where a file had grown and its bytes had not arrived: behind those that had, or before. */
function isBeginning(tail: Buffer, whole: Buffer): boolean {
  return tail.every((byte, at) => byte === 0 || byte === whole[at]);
}

const strange = (why: string, lostRun?: RunLabel): OutputState => ({ state: "strange", why, lostRun });

/** Far more than a line takes. */
const LAST_BYTES = 256 * 1024;

/**
 * Whose promises at the file's end the ledger does not know: those of a run, or of an action of a run. The last line may be
 * torn, and one that others added may be anything.
 */
async function unknownRunIn(ledger: Ledger, path: string, size: number): Promise<RunLabel | undefined> {
  const text = (await readRange(path, Math.max(0, size - LAST_BYTES), size)).toString("utf8");
  for (const line of text.trimEnd().split("\n").toReversed()) {
    const label = labelIn(line);
    if (label === undefined) continue;
    const { environment, run, seq } = label;
    const known = findRun(ledger, run);
    if (known === undefined || !hasOutcome(ledger, known.runNo, seq)) return { environment, run };
  }
  return undefined;
}

async function readRange(path: string, start: number, end: number): Promise<Buffer> {
  await using file = await open(path, "r");
  const bytes = Buffer.alloc(end - start);
  await file.read(bytes, 0, bytes.length, start);
  return bytes;
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}

/** Makes the folder of an output, and what is missing above it, as `mkdir -p` does. */
export function makeOutputFolder(path: string): void {
  makeFolder(dirname(path), { hint: "Name another file with --output." });
}

/**
 * Makes the folder of an output that replaces what is there.
 *
 * @throws Failure `usage` for a link to a file that does not exist: what would be made is somewhere else.
 */
export async function makeWayFor(path: string): Promise<void> {
  makeOutputFolder(path);
  if (!(await isLink(path)) || existsSync(path)) return;
  throw new Failure("usage", `${path} is a link to a file that does not exist; tickets does not write through it.`, {
    hint: "Name another file with --output, or remove the link.",
  });
}

/** The first bytes of a file, as text. */
export async function readBeginning(path: string, length: number): Promise<string> {
  await using file = await open(path, "r");
  return beginningOf(file, length);
}

async function beginningOf(file: FileHandle, length: number): Promise<string> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  return bytes.toString("utf8", 0, bytesRead);
}

/** Whether a file can take this place: it is missing, or a file, and no device or pipe, which others need. */
export async function isPlainFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? true;
}

/**
 * Sets what is in the way of an output aside. Returns its new name.
 *
 * @throws Failure `usage` for a device or a pipe, which others need where it is.
 */
export async function setOutputAside(path: string): Promise<string> {
  const found = await stat(path).catch(() => lstat(path));
  if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink())
    throw new Failure("usage", `${path} is neither a file nor a folder, and is not set aside. Nothing was sent.`, {
      hint: "Name another file with --output; -o - writes to standard output.",
    });
  return setAside(path);
}

/**
 * Opens an output file for appending. A fresh one starts with `header`; one of ours is cut back to what the ledger knows.
 * Its state must have been looked at before: a strange file is never opened.
 */
export async function openOutput(options: {
  readonly ledger: Ledger;
  readonly path: string;
  readonly kind: OutputKind;
  readonly header: string;
  readonly state: OutputState;
}): Promise<OutputFile> {
  const { ledger, path, kind, header, state } = options;
  if (state.state === "strange") throw new Error(`${path} must not be written: ${state.why}`);
  const told = (cause: unknown): never => {
    throw storageFailure(path, cause, SAME_AGAIN);
  };
  const file = await openToAppend(path, kind, state.state === "fresh").catch(told);
  return orClosed(file, async () => {
    await (state.state === "fresh" ? syncDirectory(dirname(path)) : takeUp(file, ledger, path, state)).catch(told);
    if (state.state === "fresh") ledger.transaction(() => noteFreshOutput(ledger, path, kind));
    const length = state.state === "fresh" ? 0 : state.length;
    const output = new OutputFile(ledger, path, file, await file.stat({ bigint: true }), length);
    // Also where a header was torn and has just been cut away.
    if (length === 0 && header !== "") {
      const appended = await output.append(header);
      ledger.transaction(() => appended.record(ledger));
    }
    return output;
  });
}

async function openToAppend(path: string, kind: OutputKind, isFresh: boolean): Promise<FileHandle> {
  // Appending, so that what others add at the same moment is never written over; the length then tells of it.
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  // Making it anew goes through no link that was planted after the look.
  const file = await (isFresh
    ? open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL).catch((cause: unknown) => {
        if (errorCode(cause) === "EEXIST") return open(path, O_RDWR | O_APPEND);
        throw cause;
      })
    : open(path, O_RDWR | O_APPEND));
  return orClosed(file, async () => {
    const { size } = await file.stat();
    if (!isFresh || size === 0) return file;
    if (kind === "promises" && isHeaderOf(path, await beginningOf(file, Math.min(size, MOST_HEADER_BYTES)))) {
      // It is written again.
      await file.truncate(0);
      return file;
    }
    // What appeared here after the look, a file or a link to one, is neither emptied nor added to.
    throw new Failure("usage", `${path} was just changed by someone else. Nothing more was sent.`, {
      hint: "Run the same command again.",
    });
  });
}

/** A file of ours becomes what the ledger knows of it. */
async function takeUp(
  file: FileHandle,
  ledger: Ledger,
  path: string,
  { length, movedFrom, torn, isReplaced }: Extract<OutputState, { readonly state: "ours" }>,
): Promise<void> {
  if (movedFrom !== undefined) adoptMoved(ledger, path, movedFrom);
  if (torn) {
    await file.truncate(length);
    await file.sync();
  }
  if (isReplaced) {
    const { mtimeNs } = await file.stat({ bigint: true });
    ledger.transaction(() => noteReplaced(ledger, path, String(mtimeNs)));
  }
}

/** An opened file that grows. */
export class OutputFile implements AsyncDisposable {
  readonly path: string;
  readonly #ledger: Ledger;
  readonly #file: FileHandle;
  readonly #opened: BigIntStats;
  #length: number;
  /** Time of the last write, when it was this process's. */
  #writtenAt: bigint | undefined;

  constructor(ledger: Ledger, path: string, file: FileHandle, opened: BigIntStats, length: number) {
    this.path = path;
    this.#ledger = ledger;
    this.#file = file;
    this.#opened = opened;
    this.#length = length;
  }

  /** Bytes that the ledger knows to be on disk. */
  get length(): number {
    return this.#length;
  }

  /**
   * Appends text durably. After it resolves the text is on disk; `record` must then be called in the transaction that
   * notes what the text was about.
   *
   * @throws OutputChanged when the file is not as this process left it.
   */
  async append(text: string): Promise<Appended> {
    const { path } = this;
    const file = this.#file;
    const opened = this.#opened;
    const bytes = Buffer.from(text, "utf8");
    const now = await stat(path, { bigint: true }).catch(() => undefined);
    if (now === undefined || now.ino !== opened.ino || now.dev !== opened.dev || now.size !== BigInt(this.#length))
      throw new OutputChanged(path);
    const isTouched = this.#writtenAt !== undefined && now.mtimeNs !== this.#writtenAt;
    if (isTouched && (await changedSegment(this.#ledger, path)) !== undefined) throw new OutputChanged(path);
    const start = this.#length;
    const { length } = bytes;
    let written = 0;
    try {
      while (written < length) written += (await file.write(bytes, written, length - written)).bytesWritten;
      await file.sync();
    } catch (cause) {
      // Half a line is worse than none; what is in the ledger comes back with the next run.
      if ((await file.stat()).size === start + written) await file.truncate(start).catch(() => undefined);
      throw storageFailure(path, cause, SAME_AGAIN);
    }
    this.#length += length;
    const { mtimeNs } = await file.stat({ bigint: true });
    this.#writtenAt = mtimeNs;
    const sha256 = hash("sha256", bytes);
    return {
      record(target) {
        noteAppended(target, path, { start, length, sha256, mtimeNs: String(mtimeNs) });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/**
 * Replaces a rejects file of ours, of which nothing else is open, by `text`, whole. After it resolves the text is on disk; `record` must
 * then be called in the transaction that notes what is new of it. Whenever the process dies, the file holds the
 * old text or the new one, and is recognised as ours.
 *
 * @param temporary where the text is written first: beside the file, and the same when all of this is repeated.
 * @throws OutputChanged when the file is no longer as `state` says.
 */
export async function replaceOutput(
  ledger: Ledger,
  path: string,
  state: Extract<OutputState, { state: "ours" }>,
  { text, temporary }: { readonly text: string; readonly temporary: string },
): Promise<Appended> {
  const bytes = Buffer.from(text, "utf8");
  try {
    // What a link leads to is replaced, and not the link.
    const real = await realpath(path);
    const { mode } = await stat(real);
    await writeAnew(temporary, bytes, mode);
    const now = await inspectOutput(ledger, path, "rejects");
    if (now.state !== "ours" || now.length !== state.length || now.torn) throw new OutputChanged(path);
    ledger.transaction(() => noteReplacing(ledger, path, { length: bytes.length, sha256: hash("sha256", bytes) }));
    crashPoint("replacing");
    await rename(temporary, real);
    await syncDirectory(dirname(real));
    const { mtimeNs } = await stat(real, { bigint: true });
    return { record: (target) => noteReplaced(target, path, String(mtimeNs)) };
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw storageFailure(path, cause, SAME_AGAIN);
  }
}

async function writeAnew(path: string, bytes: Buffer, mode: number): Promise<void> {
  await using file = await openAnew(path, mode);
  await file.writeFile(bytes);
  await file.sync();
}

/** `<stem>.<extension>`, or with a number where that is taken. */
export async function freeName(ledger: Ledger, kind: OutputKind, stem: string, extension: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = `${stem}${number === 1 ? "" : `.${number}`}.${extension}`;
    if ((await inspectOutput(ledger, path, kind)).state === "fresh") return path;
  }
}
