/** Where the state of an environment is kept, and plans while they are made. */

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { makeFolder } from "../disk/folders.ts";
import { errorCode, Failure } from "../failure.ts";

type Placed = Pick<Environment, "ledgerPath">;

const inFolder = ({ ledgerPath }: Placed, name: string): string => join(dirname(ledgerPath), name);

export const sandboxStatePath = (environment: Placed): string => inFolder(environment, "service.db");

/** The runs that were sent from this machine. */
export const JOURNAL = "journal.ndjson";
export const journalPath = (environment: Placed): string => inFolder(environment, JOURNAL);

const PLANS = "plan-";

/** Where a plan lies while it is made: on the disk of the ledger, which has to take it anyway. */
export const planFolder = (environment: Placed, run: string): string => inFolder(environment, `${PLANS}${run}`);

/** Removes plans that killed processes left. The caller holds the environment's lock. */
export async function removeLeftPlans({ ledgerPath }: Placed): Promise<void> {
  const folder = dirname(ledgerPath);
  makeFolder(folder, { mode: 0o700 });
  for (const name of await readdir(folder))
    if (name.startsWith(PLANS))
      await rm(join(folder, name), { recursive: true, force: true }).catch((cause: unknown) => {
        throw new Failure(
          "storage",
          `${join(folder, name)} can't be removed (${errorCode(cause)}). Nothing was sent.`,
          { hint: "A command that was killed left it. Check the disk and the permissions of the folder.", cause },
        );
      });
}

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
