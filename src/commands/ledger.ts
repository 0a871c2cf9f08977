/** `tickets ledger`: moves a ledger to another place, and has one be used again that was moved. */

import type { LedgerPlace } from "../actions/next-command.ts";
import { cleanText, count, displayPath, number } from "../actions/text.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { type CopiedLedger, copyLedger, type ReopenSettings, reopenLedger } from "../run/copy-ledger.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

export interface CopyOptions extends EnvironmentOptions {
  readonly from?: LedgerPlace | undefined;
  readonly to?: LedgerPlace | undefined;
  readonly waitLock: number;
  readonly json: boolean;
}

/** `tickets ledger copy` */
export async function copy(options: CopyOptions, context: Context): Promise<number> {
  const { from, to } = options;
  if (from === undefined || to === undefined)
    throw new Failure("usage", "tickets ledger copy needs --from and --to. Nothing was copied.", {
      hint: "Into the database that the config names: --from sqlite --to postgres\nBack into a file: --from postgres --to sqlite",
    });
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "to move");
  const startedAt = performance.now();
  const copied = await copyLedger(core, { settings, from, to, waitLock: options.waitLock });
  tell(copied, settings.environment.name, to, context);
  const durationMs = Math.round(performance.now() - startedAt);
  if (options.json) context.reporter.out(`${JSON.stringify({ ...copied, aside: copied.aside ?? null, durationMs })}\n`);
  return EXIT_CODES.ok;
}

function tell(
  { from, to, tables, isResumed, wasDone, aside }: CopiedLedger,
  name: string,
  place: LedgerPlace,
  { reporter, cwd }: Context,
): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (aside !== undefined) reporter.info(`The ledger that had been moved is now ${displayPath(aside, cwd)}.`);
  for (const { table, rows: held, sha256 } of tables)
    if (held > 0) reporter.detail(`${table}: ${count(held, "row")}, SHA-256 ${sha256}`);
  if (wasDone) reporter.info(`The ledger of ${cleanText(name, 64)} was copied before; nothing was left to do.`);
  else
    reporter.info(
      `The ledger of ${cleanText(name, 64)} was ${isResumed ? "copied to its end" : "copied"}: ${count(rows, "row")} of ${number(tables.length)} tables, the same in both by their digests.`,
    );
  reporter.info(`It is now ${to}. The one it came from is used no more: ${from}.`);
  if (place === "sqlite") reporter.info("Next: take the line ledger: out of the config, on every machine.");
}

/** `tickets ledger reopen` */
export async function reopen(
  options: EnvironmentOptions & Omit<ReopenSettings, "settings">,
  context: Context,
): Promise<number> {
  const core = runContextOf(context);
  const settings = await loadSettings(core, options, "to move");
  const { name } = settings.environment;
  const mark = await reopenLedger(core, { ...options, settings });
  if (mark === undefined) context.reporter.info(`The ledger of ${name} was not moved; nothing was changed.`);
  else
    context.reporter.warn(
      `The ledger of ${name} is used again. What was sent by the one at ${mark.ledger} since ${mark.at} it does not know, and would be sent again when it is in the input.`,
    );
  return EXIT_CODES.ok;
}
