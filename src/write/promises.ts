/** Promises as lines: one an action whose outcome is known, with what an import needs to know it again. */

import { parseJson } from "../actions/json.ts";
import { withNul } from "../actions/marks.ts";
import type { Item, Outcomes } from "../ledger/ledger.ts";
import { GUARDED, GUARDED_COLUMN, guardCell } from "../read/rejects-columns.ts";
import { escapeUnseen } from "../text.ts";
import { csvText } from "./csv.ts";

const FORMATS = ["ndjson", "csv"] as const;
export type PromiseFormat = (typeof FORMATS)[number];

/** Whose lines these are, and how they are written. */
export interface LineStyle {
  readonly environment: string;
  /** The run's id. */
  readonly run: string;
  /** Names of the run's inputs. */
  readonly inputs: readonly { readonly name: string }[];
  readonly format: PromiseFormat;
  readonly safeCsv: boolean;
}

const COLUMNS = [
  ...(["source", "line", "action", "eventId", "ticketId", "nftId", "status", "actionPromise"] as const),
  ...(["environment", "run", "seq", "chunk", "at", "mark", "content", "time", "owner", "response"] as const),
] as const;

type PromiseLine = { readonly [C in (typeof COLUMNS)[number]]?: string | number | undefined };

/** The promises file of the working folder where none is named. */
export const defaultOutput = (environment: string): string => `promises.${environment}.ndjson`;

/** The format that a file name asks for by its ending; NDJSON for any other. */
export const promiseFormat = (path: string): PromiseFormat =>
  FORMATS.find((format) => path.toLowerCase().endsWith(`.${format}`)) ?? "ndjson";

/** What stands at the head of the file. */
export const promisesHeader = (format: PromiseFormat, safeCsv: boolean): string =>
  format === "csv" ? `${[...COLUMNS, ...(safeCsv ? [GUARDED_COLUMN] : [])].join(",")}\n` : "";

/** Lines for the actions of a chunk whose outcome is known, in their order, each ending in a newline. */
export function promiseLines({ chunk, items }: Outcomes, style: LineStyle): string {
  const decided = items.filter(isDecided);
  if (style.format === "ndjson") return decided.map((item) => ndjson(lineOf(item, chunk, style))).join("");
  const rows = decided.map((item) => {
    const line = lineOf(item, chunk, style);
    return COLUMNS.map((column) => line[column]);
  });
  const safe = (cell: string | number | undefined) => (typeof cell === "string" ? guardCell(cell) : cell);
  return csvText(style.safeCsv ? rows.map((cells) => [...cells.map(safe), GUARDED]) : rows, ",");
}

const isDecided = ({ outcome }: Item): boolean =>
  outcome === "accepted" || outcome === "rejected" || outcome === "settled";

function lineOf(item: Item, chunk: Outcomes["chunk"], { environment, run, inputs }: LineStyle): PromiseLine {
  const { origin, promise, response } = item;
  const { subject, kind, mark, content, event, time, owner } = origin;
  const id = withNul(subject.slice(2));
  return {
    source: inputs[origin.input]?.name ?? "",
    line: origin.line,
    action: kind,
    eventId: subject.startsWith("e:") ? id : event && withNul(event),
    ticketId: subject.startsWith("t:") ? id : undefined,
    nftId: subject.startsWith("n:") ? id : undefined,
    status: statusOf(item),
    actionPromise: promise,
    environment,
    run,
    seq: origin.seq,
    chunk: chunk.chunk,
    at: chunk.answeredAt ?? "",
    mark,
    content,
    time: time === undefined ? undefined : String(time),
    owner,
    response: response === undefined ? undefined : JSON.stringify(parseJson(response)),
  };
}

/** The service's own word for one that it rejected, unless that is the word for what a person settled. */
function statusOf({ outcome, response }: Item): string {
  if (outcome === "accepted") return "success";
  if (outcome === "settled") return "settled";
  const status = (parseJson(response ?? "{}") as { readonly status?: unknown } | null)?.status;
  return typeof status === "string" && status !== "settled" ? status : "rejected";
}

/** `response` is JSON already. */
function ndjson({ response, ...line }: PromiseLine): string {
  const text = JSON.stringify(line);
  return `${escapeUnseen(response === undefined ? text : `${text.slice(0, -1)},"response":${response}}`)}\n`;
}
