/** Files of rows as a person with an editor handles them. */

import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

export type Cells = Readonly<Record<string, string>>;

/** A line of a promises file (docs/commands.md, Promises file). */
export interface PromiseLine {
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly eventId?: string;
  readonly ticketId?: string;
  readonly nftId?: string;
  readonly status: string;
  readonly actionPromise?: string;
  readonly environment: string;
  readonly run: string;
  readonly seq: number;
  readonly chunk: number;
  readonly at: string;
  readonly response?: unknown;
}

export function readTable(text: string): Cells[] {
  return parse(text, { columns: true });
}

/** The table with its rows changed, as a spreadsheet would save it. */
export function editTable(text: string, edit: (row: Cells) => Cells): string {
  const [header = []] = parse(text, { to: 1 }) as string[][];
  return stringify(readTable(text).map(edit), { header: true, columns: header });
}

export function readLines(text: string): readonly unknown[] {
  if (text === "") return [];
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

export function readPromises(text: string): readonly PromiseLine[] {
  return readLines(text) as readonly PromiseLine[]; // the tests say what is in them
}

/** Sales of new tickets, `T-1` and on, as a CSV file. */
export function salesTable(count: number, { first = 1, eventId = "E-1" } = {}): string {
  const rows = Array.from({ length: count }, (_, at) => {
    const ticket = first + at;
    return `${eventId},T-${ticket},user-${ticket % 7},${10 + (ticket % 5)}.50,${1_700_000_000 + ticket}`;
  });
  return `${["eventId,ticketId,userId,price,orderTime", ...rows].join("\n")}\n`;
}

/** Their ids. */
export const ticketIds = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => `T-${first + at}`);
