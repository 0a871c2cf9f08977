/** Folders of this process alone. */

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";
import { PLANS } from "./places.ts";

/** Makes a folder that the caller removes, in the system's temporary one. */
export async function makeTemporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `tickets-${process.pid}-`));
  } catch (cause) {
    throw new Failure("storage", `${tmpdir()} can't be written (${errorCode(cause)}).`, {
      hint: "Set TMPDIR to a writable folder of your own.",
      cause,
    });
  }
}

/** Removes what killed processes left. The caller holds the environment's lock. */
export async function removeLeftPlans({ ledgerPath }: Environment): Promise<void> {
  const folder = dirname(ledgerPath);
  makeFolder(folder, { mode: 0o700 });
  for (const name of await readdir(folder))
    if (name.startsWith(PLANS))
      await rm(join(folder, name), { recursive: true, force: true }).catch((cause: unknown) => {
        throw new Failure(
          "storage",
          `${join(folder, name)} can't be removed (${errorCode(cause)}). Nothing was sent.`,
          {
            hint: "A command that was killed left it. Check the disk and the permissions of the folder.",
            cause,
          },
        );
      });
}
