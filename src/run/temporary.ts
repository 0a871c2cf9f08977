/** Folders in the system's temporary folder, which others may write into too. */

import { lstatSync, readdirSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";

const HINT = "Set TMPDIR to a writable folder of your own.";

const PREFIX = "tickets-tmp-";

/** Creates a folder of this process's own; the caller removes it. Its name holds the process id. */
export async function makeTemporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  } catch (cause) {
    const failure = storageFailure(tmpdir(), cause);
    throw failure instanceof Failure ? new Failure(failure.code, failure.message, { hint: HINT, cause }) : failure;
  }
}

/**
 * The folder that all runs of this user share, whatever their state directory. Another user who created it first could hold
 * every lock in it, or place links there.
 *
 * @throws Failure `storage` when it isn't this user's alone.
 */
export function sharedTemporaryFolder(): string {
  // A user id without an entry in the user database, as in containers, has no name.
  const owner = process.getuid?.();
  const folder = join(tmpdir(), `tickets-${owner ?? userInfo().username}`);
  try {
    makeFolder(folder, { mode: 0o700 });
  } catch (cause) {
    throw new Failure("storage", `The folder ${folder} can't be created. Nothing was sent.`, { hint: HINT, cause });
  }
  const found = lstatSync(folder);
  if (owner !== undefined && (!found.isDirectory() || found.uid !== owner || (found.mode & 0o022) !== 0)) {
    throw new Failure("storage", `${folder} is writable by others, so no lock can be kept in it. Nothing was sent.`, {
      hint: "Remove it, or set TMPDIR to a folder of your own.",
    });
  }
  return folder;
}

/** Temporary folders that dead processes of this user left behind before `before`, in milliseconds since 1970. */
export function leftTemporaryFolders(before: number): readonly string[] {
  const owner = process.getuid?.();
  return readdirSync(tmpdir()).flatMap((name) => {
    const [, pid] = /^tickets-tmp-(\d+)-\w{6}$/.exec(name) ?? [];
    const path = join(tmpdir(), name);
    const found = pid === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || !found.isDirectory() || found.mtimeMs >= before) return [];
    return (owner === undefined || found.uid === owner) && !isAlive(Number(pid)) ? [path] : [];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: it is alive, and another user's.
    return errorCode(cause) === "EPERM";
  }
}
