/** Files that replace others wholly or not at all, and files that are renamed so that nothing is deleted. */

import { existsSync, renameSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "./folders.ts";

/** The part of a mode that `chmod` takes. */
const PERMISSIONS = 0o7777;

/** Opens a new file. What has its name is removed: through a link that somebody put there, another file would be written. */
async function openAnew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, "wx");
}

/**
 * Writes a file whole: nobody reads half of it. What a link leads to is replaced, and the link stays. After this resolves it is
 * on disk; where it rejects, all is as it was.
 *
 * @param mode who may read it: by default, as with the one that it replaces.
 * @param nameOf the temporary file beside it.
 */
export async function replaceFile(
  path: string,
  content: string | Iterable<string> | AsyncIterable<string>,
  {
    mode,
    nameOf = (name) => `${name}.${process.pid}.tmp`,
  }: { readonly mode?: number; readonly nameOf?: (name: string) => string } = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  const temporary = join(folder, nameOf(basename(target)));
  const given = mode ?? (await stat(target).catch(() => undefined))?.mode;
  try {
    {
      await using file = await openAnew(temporary);
      if (given !== undefined) await file.chmod(given & PERMISSIONS);
      await file.writeFile(content);
      await file.sync();
    }
    await rename(temporary, target);
    syncFolder(folder);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
}

/** Endings of the files that SQLite keeps beside a database. */
const BESIDE_DATABASE = ["-wal", "-shm"];

/** Sets a file, link or folder aside under a name that says when, a database with what is beside it. Returns the new name. */
export function setAside(path: string, at = new Date()): string {
  const stem = `${path}.${nameOfTime(at)}`;
  let aside = `${stem}.aside`;
  for (let number = 2; existsSync(aside); number += 1) aside = `${stem}.${number}.aside`;
  renameSync(path, aside);
  for (const ending of BESIDE_DATABASE) if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  return aside;
}

/** An instant as a part of a file's name. */
const nameOfTime = (at: Date): string => at.toISOString().replace(/[:.]/g, "-");
