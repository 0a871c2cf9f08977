/** Copies of the inputs beside the plan: what was checked is what is kept, whatever becomes of the files. */

import { constants } from "node:fs";
import { chmod, copyFile, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { syncDirectory, syncFile } from "../../disk/sync.ts";
import { failReading } from "../../readers/bytes.ts";
import { refuseEarlyEnd, refuseUnfinished, type Watched } from "../../readers/finished.ts";
import type { InputFile } from "../../readers/input-file.ts";
import { type OpenedFile, openFile, openStream } from "../../readers/open-file.ts";
import { writeAll } from "./append-file.ts";

/** Copies of the inputs, by the path in the plan's folder. */
export interface Copies extends AsyncDisposable {
  get(file: InputFile): string | undefined;
  /** What the copy was made of, where that is a file. */
  original(file: InputFile): Watched | undefined;
  /** Resolves when they are on disk; until then a large one is on its way there. */
  synced(): Promise<void>;
}

/**
 * Copies the inputs (a reflink where the file system can); none where they are not asked for.
 *
 * @throws Failure `usage` for a file that changed while it was copied.
 */
export async function copyInputs(options: {
  readonly files: readonly InputFile[];
  readonly directory: string;
  readonly reading: { readonly stdin?: Readable };
  readonly copyInputs: boolean;
  readonly signal: AbortSignal;
}): Promise<Copies> {
  const { files, directory, reading, signal } = options;
  const copies = new Map<InputFile, { readonly path: string; readonly original: Watched | undefined }>();
  const syncing: Promise<void>[] = [];
  const made: Copies = {
    get: (file) => copies.get(file)?.path,
    original: (file) => copies.get(file)?.original,
    async synced() {
      await Promise.all(syncing);
      if (copies.size > 0) await syncDirectory(join(directory, "inputs"));
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(syncing);
    },
  };
  if (!options.copyInputs) return made;
  await mkdir(join(directory, "inputs"), { mode: 0o700 });
  try {
    for (const [at, file] of files.entries()) {
      const path = join("inputs", String(at + 1));
      const target = join(directory, path);
      const opening =
        file.path === "-" ? openStream(reading.stdin ?? process.stdin, signal) : openFile(file.path, signal);
      await using source = await opening.catch((cause: unknown) => failReading(file, cause, signal));
      const copied = (await cloned(file, source, target)) ? undefined : await copyBlocks(file, source, target, signal);
      if (source.watched !== undefined) await refuseUnfinished(file, source.watched);
      if (copied !== undefined) refuseEarlyEnd(file, source.size, copied);
      const synced = syncFile(target);
      synced.catch(() => undefined); // `synced` tells
      syncing.push(synced);
      copies.set(file, { path, original: source.watched });
    }
    return made;
  } catch (cause) {
    await made[Symbol.asyncDispose]();
    throw cause;
  }
}

/** A copy that shares the blocks on the disk and takes no time; false where that can't be. */
async function cloned(file: InputFile, { size, watched }: OpenedFile, target: string): Promise<boolean> {
  // A file of a virtual file system says 0, and its copy by size would be empty.
  if (file.path === "-" || watched === undefined || size === 0) return false;
  try {
    await copyFile(file.path, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    await chmod(target, 0o600);
    return true;
  } catch {
    return false; // copying says what is wrong
  }
}

const BLOCK = 1024 * 1024;

/**
 * Block by block, so that a signal ends it: a copy that the system makes in one go can't be.
 *
 * @returns how many bytes were copied.
 */
async function copyBlocks(file: InputFile, source: OpenedFile, target: string, signal: AbortSignal): Promise<number> {
  await using copy = await open(target, "wx", 0o600);
  for (let copied = 0; ; ) {
    const block = await source.read(BLOCK).catch((cause: unknown) => failReading(file, cause, signal));
    if (block === undefined) return copied;
    await writeAll(copy, block);
    copied += block.length;
  }
}
