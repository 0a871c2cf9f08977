/** Writes a new config. Nothing is overwritten; a file in the way is set aside when asked. */

import { lstatSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { displayPath } from "../actions/text.ts";
import { setAside } from "../disk/files.ts";
import { errorCode, Failure } from "../failure.ts";
import { storageFailure } from "../ledger/sqlite-failures.ts";
import { makeOutputFolder } from "../write/output-file.ts";

/** Two configs of one folder would stop every command. */
const NAMES = ["tickets.config.", ".ticketsrc."].flatMap((name) => ["yaml", "yml", "json"].map((end) => name + end));

/**
 * @param isDefault the config has a default name, so its folder may hold no other config.
 * @throws Failure `usage` where the file, or another config of its folder, exists.
 */
export function refuseExisting(target: string, cwd: string, isDefault: boolean): void {
  const rivals = isDefault ? [".ticketsrc", ...NAMES].map((name) => join(dirname(target), name)) : [];
  const found = [target, ...rivals].find(exists);
  if (found !== undefined) throw existingFailure(found, found === target, cwd);
}

/** Sets an existing config aside. Returns its new name; undefined where there was none. */
export const setConfigAside = (target: string): string | undefined => (exists(target) ? setAside(target) : undefined);

/** @throws Failure `usage` where the file exists, `storage` where it can't be written. */
export async function writeConfig(path: string, text: string, cwd: string): Promise<void> {
  makeOutputFolder(path);
  try {
    await using file = await open(path, "wx");
    // Half a config would only be in the way of the next try.
    await file.writeFile(text).catch(async (cause: unknown) => {
      await rm(path, { force: true });
      throw cause;
    });
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") throw existingFailure(path, true, cwd);
    throw storageFailure(path, cause);
  }
}

const existingFailure = (path: string, isTarget: boolean, cwd: string): Failure =>
  new Failure("usage", `${displayPath(path, cwd)} already exists and is not overwritten.`, {
    hint: isTarget
      ? "Write to standard output with -o - and copy what you need, name another file with -o, or set the old one aside with --move-aside (it is renamed, never deleted)."
      : "One folder holds one config. Write to standard output with -o - and copy the source into it.",
  });

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}
