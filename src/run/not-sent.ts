/** Rows that are told and not sent, on their way from the plan into rejects. */

import { NO_RUN, rowKeyText } from "../actions/rejects-columns.ts";
import { crashPoint } from "../disk/crash-points.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import type { RowNotSent } from "../plan/plan.ts";
import { type OpenRow, type RejectsInput, writeRejects } from "../write/rejects.ts";
import type { CheckOptions } from "./check-input.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { RunContext } from "./context.ts";

/** A place for each row of a thousand seconds. */
const PLACES_PER_MS = 1000;

/**
 * Rows that are told and not sent go into rejects at once: it can be done again where the process is killed.
 * Those of a night that enters no run stand behind all that the last run sent, one such night behind the other.
 *
 * @param of `id`: of the run that is entered next, if one is; `last`: the one before it.
 */
export async function writeNotSent(
  { cwd, now }: RunContext,
  { safeCsv, mode }: Pick<CheckOptions, "mode"> & { readonly safeCsv: boolean },
  ledger: Ledger,
  { plan: planned }: CheckedInput,
  of: { readonly output: string | undefined; readonly last: Run | undefined; readonly id?: string },
): Promise<readonly string[]> {
  if (mode === "adopt") return [];
  const behindAll = (now?.() ?? new Date()).getTime() * PLACES_PER_MS;
  const positionOf = ({ position: { run, seq } }: RowNotSent): { readonly run: string; readonly seq: number } => {
    const here = run ?? of.id;
    return here === undefined ? { run: of.last?.run ?? NO_RUN, seq: behindAll + seq } : { run: here, seq };
  };
  function* rows(): Generator<OpenRow> {
    for (const row of planned.notSent())
      if (row.state !== "changed" && row.state !== "late")
        yield {
          ...{ input: row.input, line: row.line, text: row.text, reason: row.reason },
          key: rowKeyText({ digest: row.digest, isUnclear: row.state === "unclear", ...positionOf(row) }),
        };
  }
  const inputs = planned.inputs.map(toRejectsInput);
  const files = await writeRejects({ ledger, inputs, directory: cwd, output: of.output, safeCsv, rows });
  crashPoint("rejects placed");
  return files;
}

type ReadInput = CheckedInput["plan"]["inputs"][number];

const formatOf = ({ format, delimiter }: ReadInput): string =>
  format !== "cells" ? format : delimiter === "\t" ? "tsv" : "csv";

/** How the rejects of an input are written. */
export const toRejectsInput = (input: ReadInput): RejectsInput => ({
  name: input.name,
  format: formatOf(input),
  header: input.header,
  delimiter: input.delimiter,
  encoding: input.encoding,
});
