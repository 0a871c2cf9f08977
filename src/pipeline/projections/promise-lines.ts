/** The promises file's lines: one per action that has an outcome. */

import { stringify } from "csv-stringify/sync";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import type { OutcomeRow } from "../ledger/outcomes.ts";

const PROMISE_FORMATS = ["ndjson", "csv"] as const;
export type PromiseFormat = (typeof PROMISE_FORMATS)[number];

const COLUMNS = [
  "source",
  "line",
  "action",
  "eventId",
  "ticketId",
  "nftId",
  "status",
  "actionPromise",
  "environment",
  "run",
  "seq",
  "chunk",
  "at",
  "response",
] as const;

export interface RunLabel {
  readonly environment: string;
  readonly run: string;
}

/** The format that a file name asks for; NDJSON unless it ends in `.csv`. */
export function promiseFormat(path: string): PromiseFormat {
  return /\.csv$/i.test(path) ? "csv" : "ndjson";
}

/** What stands at the head of the file. */
export function promisesHeader(format: PromiseFormat): string {
  return format === "csv" ? `${COLUMNS.join(",")}\n` : "";
}

/** Lines for outcomes in order, each ending in a newline. Actions that were never sent have none. */
export function promiseLines(
  rows: readonly OutcomeRow[],
  label: RunLabel,
  format: PromiseFormat,
  safeCsv = false,
): string {
  const lines = rows.filter(({ outcome }) => outcome !== "not sent").map((row) => toLine(row, label));
  if (format === "ndjson") return lines.map((line) => `${stringifyJson(line)}\n`).join("");
  return stringify(
    lines.map((line) =>
      COLUMNS.map((column) =>
        column === "response" ? (line.response === undefined ? "" : stringifyJson(line.response)) : line[column],
      ),
    ),
    { record_delimiter: "unix", escape_formulas: safeCsv },
  );
}

function toLine(row: OutcomeRow, { environment, run }: RunLabel) {
  const { source, line, action, eventId, ticketId, nftId, status, actionPromise, response, seq, chunk, at } = row;
  return {
    source,
    line,
    action,
    ...(eventId !== undefined && { eventId }),
    ...(ticketId !== undefined && { ticketId }),
    ...(nftId !== undefined && { nftId }),
    status: row.outcome === "accepted" ? "success" : status,
    ...(actionPromise !== undefined && { actionPromise }),
    environment,
    run,
    seq,
    chunk,
    at,
    ...(response !== undefined && { response: parseJson(response) }),
  };
}
