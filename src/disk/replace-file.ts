/** Files that take the places of others whole, or not at all. */

import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "./sync.ts";

/** What of a mode `chmod` takes. */
const PERMISSIONS = 0o7777;

/**
 * Opens a new file that is to take another one's place. What stands there under its name is removed: were it a link that somebody
 * put there, what that leads to would be written.
 */
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
    await syncDirectory(folder);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
}
