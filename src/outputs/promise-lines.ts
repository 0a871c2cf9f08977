/** The promises file's lines: one per action that has an outcome. */

import { GUARDED, GUARDED_COLUMN, guardCell } from "../actions/formula-guard.ts";
import { parseJson, stringifyJson } from "../actions/json.ts";
import { escapeUnseen } from "../actions/text.ts";
import type { OutcomeRow } from "../ledger/outcomes.ts";
import { csvText } from "./csv-text.ts";

const PROMISE_FORMATS = ["ndjson", "csv"] as const;
export type PromiseFormat = (typeof PROMISE_FORMATS)[number];

/** What parts the cells of a table; undefined for lines of JSON. */
const DELIMITERS: Readonly<Record<PromiseFormat, string | undefined>> = { ndjson: undefined, csv: "," };

export const delimiterOf = (format: PromiseFormat): string | undefined => DELIMITERS[format];

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

/** How a run's lines are written. */
export interface LineStyle {
  readonly label: RunLabel;
  readonly format: PromiseFormat;
  readonly safeCsv: boolean;
}

/** The format that a file name asks for by its ending; NDJSON for any other. */
export function promiseFormat(path: string): PromiseFormat {
  return PROMISE_FORMATS.find((format) => path.toLowerCase().endsWith(`.${format}`)) ?? "ndjson";
}

/** What stands at the head of the file. */
export function promisesHeader(format: PromiseFormat, safeCsv: boolean): string {
  const delimiter = delimiterOf(format);
  return delimiter === undefined ? "" : `${[...COLUMNS, ...(safeCsv ? [GUARDED_COLUMN] : [])].join(delimiter)}\n`;
}

/** What a line tells of an outcome. */
type Told = Omit<OutcomeRow, "data">;

/** Lines for outcomes in order, each ending in a newline. Actions that were never sent have none. */
export function promiseLines(rows: readonly Told[], label: RunLabel, format: PromiseFormat, safeCsv = false): string {
  const sent = rows.filter(({ outcome }) => outcome !== "not sent");
  const delimiter = delimiterOf(format);
  if (delimiter === undefined) return ndjsonLines(sent, label);
  const lines = sent.map((row) => cellsOf(row, label));
  const safe = (cell: string | number | undefined) => (typeof cell === "string" ? guardCell(cell) : cell);
  return csvText(safeCsv ? lines.map((cells) => [...cells.map(safe), GUARDED]) : lines, delimiter);
}

function cellsOf(row: Told, { environment, run }: RunLabel): readonly (string | number | undefined)[] {
  const status = row.outcome === "accepted" ? "success" : row.status;
  const response = row.response === undefined ? undefined : jsonText(parseJson(row.response));
  const told = { ...row, status, environment, run, response };
  return COLUMNS.map((column) => told[column]);
}

/** Of which run and action a line is, in any format; the line may be torn, or anything. */
export function labelIn(line: string): (RunLabel & { readonly seq: number }) | undefined {
  const [, environment, run, seq] =
    /"environment":"([\w-]+)","run":"([0-9a-f]{8})","seq":(\d+)/.exec(line) ??
    /,([\w-]+),([0-9a-f]{8}),(\d+),\d+,\d{4}-\d\d-\d\dT[^,]*,/.exec(line) ??
    [];
  if (environment === undefined || run === undefined || seq === undefined) return undefined;
  return { environment, run, seq: Number(seq) };
}

/** JSON text, put together by hand: that takes a fifth of the time. */
function ndjsonLines(rows: readonly Told[], { environment, run }: RunLabel): string {
  const label = `"environment":${quotedText(environment)},"run":"${run}","seq":`;
  let source: string | undefined;
  let from = "";
  let lines = "";
  for (const row of rows) {
    const { eventId, ticketId, nftId, actionPromise, response } = row;
    if (row.source !== source) {
      source = row.source;
      from = `{"source":${quotedText(source)},"line":`;
    }
    lines += `${from}${row.line},"action":"${row.action}",`;
    if (eventId !== undefined) lines += `"eventId":${quotedText(eventId)},`;
    if (ticketId !== undefined) lines += `"ticketId":${quotedText(ticketId)},`;
    if (nftId !== undefined) lines += `"nftId":${quotedText(nftId)},`;
    lines += row.outcome === "accepted" ? '"status":"success",' : `"status":${quotedText(row.status)},`;
    if (actionPromise !== undefined) lines += `"actionPromise":${quotedText(actionPromise)},`;
    lines += `${label}${row.seq},"chunk":${row.chunk},"at":"${row.at}"`;
    lines += response === undefined ? "}\n" : `,"response":${jsonText(parseJson(response))}}\n`;
  }
  return lines;
}

/** Whether JSON writes the text as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as a line writes it. */
const quotedText = (text: string): string => (PLAIN.test(text) ? `"${text}"` : escapeUnseen(JSON.stringify(text)));

/** What came from elsewhere must not steer the terminal on which a file is looked at. */
const jsonText = (value: unknown): string => escapeUnseen(stringifyJson(value));
