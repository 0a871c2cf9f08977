/** `tickets prune`: frees disk space that nothing needs any more. */

import { count } from "../actions/text.ts";
import { formatDuration } from "../config/duration.ts";
import { EXIT_CODES } from "../failure.ts";
import { prune as pruneEnvironment } from "../run/prune.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { openSettings } from "./run-context.ts";
import { describeBytes } from "./words.ts";

export interface PruneOptions extends EnvironmentOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly waitLock: number;
  readonly json: boolean;
}

export async function prune(options: PruneOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { olderThan, waitLock } = options;
  const { core, environment } = await openSettings(context, options, "any");
  const pruned = await pruneEnvironment(core, environment, { olderThanMs: olderThan, waitLock });
  const { chunks, bytesBefore, bytesAfter } = pruned;
  reporter.info(
    chunks === 0
      ? `${environment.name} has nothing to remove that is older than ${formatDuration(olderThan)}.`
      : `What was sent in ${count(chunks, "chunk")} is removed; identities and promises stay. The ledger took ${describeBytes(bytesBefore)}, and now takes ${describeBytes(bytesAfter)}.`,
  );
  if (options.json) reporter.out(`${JSON.stringify(pruned)}\n`);
  return EXIT_CODES.ok;
}
