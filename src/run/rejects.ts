/** Which rows go into rejects: those that are reported and not sent, and those that a run had rejected or closed unsent. */

import { existsSync } from "node:fs";
import { crashPoint } from "../disk/crash-points.ts";
import type { Item, Ledger, Run } from "../ledger/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import { NO_RUN, rowKeyText } from "../read/rejects-columns.ts";
import { rejectionText } from "../write/rejection-text.ts";
import { type OpenRow, type RejectsInput, rejectsOf, writeRejects } from "../write/rejects.ts";
import type { RunContext } from "./context.ts";

/** A place for each row of a thousand seconds. */
const PLACES_PER_MS = 1000;

/**
 * Rows that are reported and not sent go into rejects at once: it can be done again where the process is killed.
 * Those of a night that enters no run stand behind all that the last run sent, one such night behind the other.
 *
 * @param of `id`: of the run that is entered next, if one is.
 */
export async function writeNotSent(
  { cwd: directory, now }: RunContext,
  ledger: Ledger,
  plan: Plan,
  of: { readonly output: string | undefined; readonly safeCsv: boolean; readonly id?: string },
): Promise<readonly string[]> {
  const { id, ...how } = of;
  const [last] = await ledger.runs({ last: 1 });
  const behindAll = (now?.() ?? new Date()).getTime() * PLACES_PER_MS;
  function* rows(): Generator<OpenRow> {
    for (const { input, line, text, reason, digest, isUnclear, position } of plan.notSent()) {
      const { run = id, seq } = position;
      const place = run === undefined ? { run: last?.run ?? NO_RUN, seq: behindAll + seq } : { run, seq };
      yield { input, line, text, reason, key: rowKeyText({ digest, isUnclear, ...place }) };
    }
  }
  const files = await writeRejects({ ledger, inputs: plan.inputs.map(toRejectsInput), directory, ...how, rows });
  crashPoint("rejects placed");
  return files;
}

type ReadInput = Plan["inputs"][number];

/** How the rejects of an input are written. */
export const toRejectsInput = ({ name, format, header, delimiter, encoding }: ReadInput): RejectsInput => ({
  ...{ name, header, delimiter, encoding },
  format: format !== "cells" ? format : delimiter === "\t" ? "tsv" : "csv",
});

/** Writes what of the run was rejected, or closed unsent, into rejects. @returns the run's rejects files. */
export async function writeRejectsOf(
  { cwd }: Pick<RunContext, "cwd">,
  ledger: Ledger,
  run: Run,
): Promise<readonly string[]> {
  // Another machine may have entered the run.
  const { directory: entered, safeCsv } = run.options;
  const directory = typeof entered === "string" && existsSync(entered) ? entered : cwd;
  const { inputs, number, output } = run;
  const rows = () => openRowsOf(ledger, run);
  await writeRejects({ ledger, run: number, inputs, directory, output, safeCsv: safeCsv === true, rows });
  return rejectsOf(ledger, run);
}

/** The rows of which something was rejected or closed unsent, each with all that is open of it. */
async function* openRowsOf(ledger: Ledger, run: Run): AsyncGenerator<OpenRow> {
  for (const { chunk, rejected, state, detail } of await ledger.chunks(run.number, {
    states: ["answered", "abandoned"],
  })) {
    if (rejected === 0 && state === "answered") continue;
    const { items, rows } = await ledger.outcomes(run.number, chunk);
    const open = items.filter(({ outcome }) => outcome === "rejected" || outcome === "not sent");
    for (const ofRow of Map.groupBy(open, ({ origin }) => origin.row).values()) {
      const [first] = ofRow;
      const text = first && rows?.[first.origin.row];
      if (first === undefined || text === undefined) continue;
      const { input, line, digest, position, seq } = first.origin;
      yield {
        ...{ input, line, text },
        reason: [...new Set(ofRow.map((item) => reasonOf(item, detail)))].join(" | "),
        key: rowKeyText({ digest, ...(position ?? { run: run.run, seq }) }),
      };
    }
  }
}

const reasonOf = (item: Item, detail = "the run was closed."): string =>
  item.outcome === "rejected"
    ? `${item.origin.kind} ${rejectionText(item)}`
    : `${item.origin.kind} was not sent: ${detail}`;
