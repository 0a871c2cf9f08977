/** What a glob matches: files, and whatever else has such a name and can't be read as a file. */

import { type Dirent, readdir as readDirectory } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { glob } from "tinyglobby";
import { fileFailure } from "./bytes.ts";

interface Matches {
  /** Everything but directories; dead links too. */
  readonly files: readonly string[];
  /** Directories under which nothing matches either. */
  readonly directories: readonly string[];
}

/**
 * Looks for what `pattern` matches, so that nothing of it is left out in silence. Throws a usage failure for a directory
 * on the way that can't be looked into.
 */
export async function findMatches(pattern: string, cwd: string, signal: AbortSignal | undefined): Promise<Matches> {
  const unreadable: { readonly path: string; readonly cause: unknown }[] = [];
  const find = (followsLinks: boolean): Promise<string[]> =>
    glob(pattern, {
      cwd,
      absolute: isAbsolute(pattern),
      expandDirectories: false,
      onlyFiles: followsLinks,
      followSymbolicLinks: followsLinks,
      fs: { readdir: listing(followsLinks, (path, cause) => unreadable.push({ path, cause })) },
      ...(signal === undefined ? {} : { signal }),
    });
  // The first follows links to directories, the second finds the links themselves.
  const found = new Set([...(await find(true)), ...(await find(false))].map((name) => name.replace(/(?<=.)\/$/, "")));
  const [first] = unreadable;
  if (first !== undefined) throw fileFailure({ name: first.path }, first.cause);
  const files: string[] = [];
  const directories: string[] = [];
  for (const name of found) ((await isDirectory(resolve(cwd, name))) ? directories : files).push(name);
  return {
    files,
    directories: directories.filter((directory) => !files.some((file) => file.startsWith(`${directory}/`))),
  };
}

/**
 * `readdir` for the glob. It shows everything but directories as files; otherwise the glob would skip pipes and dead
 * links.
 */
function listing(followsLinks: boolean, onError: (path: string, cause: unknown) => void): typeof readDirectory {
  const list = (
    path: string,
    options: { readonly withFileTypes: true },
    done: (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void,
  ): void => {
    readDirectory(path, options, (error, entries = []) => {
      if (error !== null && error.code !== "ENOENT" && error.code !== "ENOTDIR") onError(path, error);
      void shown(path, entries, followsLinks).then((all) => done(error, all));
    });
  };
  return list as typeof readDirectory; // the only form that the glob calls
}

async function shown(path: string, entries: readonly Dirent[], followsLinks: boolean): Promise<Dirent[]> {
  const all: Dirent[] = [];
  for (const entry of entries) {
    const isFollowed = followsLinks && entry.isSymbolicLink() && (await leadsSomewhere(join(path, entry.name)));
    if (!entry.isDirectory() && !isFollowed) entry.isFile = () => true;
    all.push(entry);
  }
  return all;
}

async function leadsSomewhere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true || found?.isDirectory() === true;
}

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;
