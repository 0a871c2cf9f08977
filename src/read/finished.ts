/** Whether a file is finished: one that others still write to would be read in part, and its last row cut. */

import { setTimeout } from "node:timers/promises";
import { Failure } from "../failure.ts";
import { shownName } from "./input-file.ts";

/** What a file looks like from outside. When any of it changes, somebody is writing. */
export interface Mark {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

/** A file that can be looked at again. Pipes and devices can't. */
export interface Watched {
  /** As it was when it was opened. */
  readonly mark: Mark;
  /** As it is now; undefined when it is gone. */
  readonly look: () => Promise<Mark | undefined>;
}

/** What tells the time and waits. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  wait: async (ms, signal) => {
    await setTimeout(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Younger than this, a file without a line end at its end may be about to grow. */
const YOUNG_MS = 30_000;
const WATCHED_MS = 3000;
const LOOK_EVERY_MS = 250;

/** @throws Failure `usage` when the file is not as it was when it was opened. */
export async function refuseUnfinished(file: { readonly name: string }, { mark, look }: Watched): Promise<void> {
  const change = changeOf(mark, await look());
  if (change === undefined) return;
  throw new Failure("usage", `${shownName(file)} is still being written: ${change}. None of it is used.`, {
    hint: "Run the command again when the export is done. To avoid this, write exports under another name and rename them once they are complete.",
  });
}

/**
 * @param size of the file when it was opened; 0 where that is not known.
 * @throws Failure `usage` when fewer bytes came of it, though nobody changed it: a file system may fail to say that it failed.
 */
export function refuseEarlyEnd(file: { readonly name: string }, size: number, bytesRead: number): void {
  if (bytesRead >= size) return;
  throw new Failure("usage", `${shownName(file)} ended after ${bytesRead} of its ${size} bytes. None of it is used.`, {
    hint: "Run the command again. If it says the same, look at the file system that the file is on, or copy the file elsewhere.",
  });
}

/**
 * Watches the end of a file that was changed just now, before a last line without its line end is believed.
 *
 * @throws Failure `usage` when it changes meanwhile.
 */
export async function watchEnd(
  file: { readonly name: string },
  watched: Watched,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const age = clock.now() - Number(watched.mark.mtimeNs / 1_000_000n);
  for (let waited = 0; age < YOUNG_MS && waited < WATCHED_MS; waited += LOOK_EVERY_MS) {
    await clock.wait(LOOK_EVERY_MS, signal);
    await refuseUnfinished(file, watched);
  }
  await refuseUnfinished(file, watched);
}

function changeOf(before: Mark, now: Mark | undefined): string | undefined {
  if (now === undefined) return "it was removed while it was read";
  if (now.dev !== before.dev || now.ino !== before.ino) return "it was replaced while it was read";
  if (now.size !== before.size)
    return `it ${now.size > before.size ? "grew" : "shrank"} from ${before.size} to ${now.size} bytes while it was read`;
  // A file of a virtual file system has size 0, and the time of the look.
  if (now.mtimeNs !== before.mtimeNs && now.size > 0n) return "it was changed while it was read";
  return undefined;
}
