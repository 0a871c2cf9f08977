/** `tickets prune`: frees disk space: what was sent of old runs. Identities and promises stay for ever. */

import { formatDuration } from "../config/values.ts";
import { EXIT_CODES } from "../failure.ts";
import { knownLedgerOf, openEnvironment } from "../run/open.ts";
import { count } from "../text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";

export async function prune(options: Options<"olderThan" | "waitLock" | "json">, context: Context): Promise<number> {
  const { reporter, cwd, trace } = context;
  const { olderThan, waitLock } = options;
  trace.isKept = true;
  const { core, environment } = await openSettings(context, options, "any");
  {
    await using _ = await knownLedgerOf(environment, cwd);
  }
  await using opened = await openEnvironment(core, environment, { command: "tickets prune", waitLock });
  const before = new Date(Date.now() - olderThan).toISOString();
  const { chunks, bytesBefore, bytesAfter } = await opened.ledger.prune(before);
  reporter.info(
    chunks === 0
      ? `Nothing to remove: ${environment.name} has no requests older than ${formatDuration(olderThan)}.`
      : `The requests of ${count(chunks, "chunk")} were removed; identities and promises stay. The ledger went from ${describeBytes(bytesBefore)} to ${describeBytes(bytesAfter)}.`,
  );
  if (options.json) reporter.document({ chunks, bytesBefore, bytesAfter });
  return EXIT_CODES.ok;
}

/** `1.2 MB` */
const describeBytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
