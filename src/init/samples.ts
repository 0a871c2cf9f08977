/** Looks at the beginnings of exports. */

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { ExactNumber } from "../actions/exact-number.ts";
import { Failure } from "../failure.ts";
import { withExactNumbers } from "../map/json-rows.ts";
import { validateCommand } from "../next-command.ts";
import { problemsOfEncoding } from "../read/content.ts";
import { placeText } from "../read/file-names.ts";
import { Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import { HoldsLists } from "../read/json-array.ts";
import { NoHeader } from "../read/refused.ts";
import type { Row } from "../read/row.ts";
import { cleanText } from "../text.ts";
import type { Sample } from "./evidence.ts";
import { namesTicketList, namesTickets } from "./header-words.ts";

/** Enough to see every status; all of them are kept in memory. */
const ROWS_LOOKED_AT = 20_000;

export interface SamplingOptions {
  readonly cwd: string;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  /** The encoding of the files that are not UTF-8. */
  readonly encoding: string | undefined;
  /** Called for a file that is UTF-8, for which `encoding` does not count. */
  readonly onUtf8: (file: InputFile, encoding: string) => void;
}

export interface FoundSample {
  readonly file: InputFile;
  readonly sample: Sample;
}

/**
 * The beginnings of exports.
 *
 * @throws Failure `usage` for what can't be read, is empty, or holds actions already.
 */
export async function samplesOf(names: readonly string[], options: SamplingOptions): Promise<readonly FoundSample[]> {
  const { cwd, signal } = options;
  const files = await resolveInputs(names, { cwd, signal });
  if (files.length > 1 && files.some(({ path }) => path === "-"))
    throw new Failure(
      "usage",
      "Standard input has no name to choose its source by, so it can't be read beside other files.",
      { hint: "Save it as a file, or look at it alone: tickets init -" },
    );
  const found: FoundSample[] = [];
  for (const file of files) found.push({ file, sample: await sampleOf(file, options) });
  return found;
}

/** How a file is written, as far as looking at it has shown. */
type Written = Pick<Sample, "encoding" | "headerLine" | "list" | "isEscaped">;

/** Looks at the file again with each thing that a look shows of how it is written; at a pipe, which gives its bytes once, once. */
async function sampleOf(file: InputFile, options: SamplingOptions): Promise<Sample> {
  const isFile = file.path !== "-" && (await stat(file.path)).isFile();
  let written: Written = { encoding: options.encoding };
  for (;;) {
    const seen = await lookAt(file, written, isFile, options);
    if ("rows" in seen) return seen;
    written = { ...written, ...seen };
  }
}

/** The sample, or what it needs to be read by. @param isAgain - whether the file can be read again with that. */
async function lookAt(
  file: InputFile,
  written: Written,
  isAgain: boolean,
  { stdin, signal, onUtf8 }: SamplingOptions,
): Promise<Sample | Written> {
  const { encoding, headerLine, list, isEscaped } = written;
  const name = cleanText(file.name, 200);
  const csv = { headerLine, dialect: isEscaped === true ? { escape: "\\" } : {} };
  const opened = await openInput(file, { signal, stdin, encoding, rows: list, csv }).catch((cause): Written => {
    if (isAgain && cause instanceof NoHeader) return { headerLine: "none" };
    if (isAgain && cause instanceof HoldsLists) return { list: cause.lists[0] };
    throw cause;
  });
  if (!(opened instanceof Input)) return opened;
  await using input = opened;
  const { header, delimiter } = input;
  const rows: Row[] = [];
  let bad: Extract<Row, { kind: "malformed" }> | undefined;
  let seen = 0;
  const wide = filledIn(header ?? []) * 2;
  reading: for await (const batch of input.batches()) {
    for (const row of batch) {
      seen += 1;
      // The header has half as many cells at most: it is a title above the other.
      if (isAgain && wide > 0 && seen <= MOST_TITLES && cellsOf(row, delimiter) >= wide)
        return { headerLine: row.line };
      if (row.kind !== "malformed") rows.push(row);
      else if (isAgain && isEscaped !== true && mayBeEscaped(row)) return { isEscaped: true };
      else bad ??= row;
      if (rows.length > ROWS_LOOKED_AT) break reading;
    }
  }
  if (rows.length === 0 && bad !== undefined) {
    const [{ message, hint } = { message: "can't be read.", hint: undefined }] = bad.problems;
    throw refusal(`${placeText({ source: file.name, line: bad.line })} ${message}`, hint);
  }
  if (isAgain && encoding !== undefined && input.asUtf8?.isValid === true) {
    onUtf8(file, encoding);
    return { encoding: undefined };
  }
  const [misread] = problemsOfEncoding(input);
  if (misread !== undefined)
    throw refusal(`${name}:${misread.line} ${misread.message}`, "Leave --encoding out, or save it as a file.");
  const [first] = rows;
  if (header === undefined && first === undefined)
    throw refusal(
      `${name} is empty: there is nothing to guess from.`,
      "Give an export that has its header and some rows.",
    );
  if (first?.kind === "object" && typeof first.value.action === "string" && typeof first.value.data === "object")
    throw refusal(
      `${name} holds actions already ({action, data}); they need no config.`,
      `Check it: ${validateCommand([file.name], [], { named: [] })}`,
    );
  const looked = rows.slice(0, ROWS_LOOKED_AT);
  return {
    ...written,
    fileName: file.path === "-" ? "export" : basename(file.name),
    isWhole: looked.length === rows.length,
    encoding: input.encoding === "utf-8" ? undefined : input.encoding,
    delimiter: delimiter === "," || input.format !== "csv" ? undefined : delimiter,
    ...(header === undefined
      ? tableOfObjects(looked)
      : { header, rows: looked.flatMap((row) => (row.kind === "cells" ? [row.cells] : [])) }),
  };
}

const refusal = (message: string, hint: string | undefined): Failure => new Failure("usage", message, { hint });

const mayBeEscaped = (row: Extract<Row, { kind: "malformed" }>): boolean =>
  !row.bordersKnown && row.text.includes('\\"');

/** Among so many rows below a title the header is looked for. */
const MOST_TITLES = 5;

const filledIn = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== "").length;

/** How many cells a row has; of one that does not fit the header, as its delimiters say. */
const cellsOf = (row: Row, delimiter = ","): number => {
  if (row.kind === "cells") return row.cells.every((cell) => cell.trim() !== "") ? row.cells.length : 0;
  return row.kind === "malformed" ? filledIn(row.text.split(delimiter)) : 0;
};

// JSON rows become a table of the paths of their values, so that they are looked at like any other.

/** How deep values are looked for, and how many. */
const DEEPEST = 4;
const MOST_PATHS = 500;

/** The values of an object by their paths, and its lists. A text has the empty path. */
interface Flat {
  readonly values: ReadonlyMap<string, string>;
  readonly lists: ReadonlyMap<string, readonly unknown[]>;
}

/** A list in the rows, with the items of all of them. */
interface List {
  readonly name: string;
  readonly items: readonly Flat[];
}

/** A row for each ticket: where a list holds them, its items are the rows. */
export function tableOfObjects(rows: readonly Row[]): Pick<Sample, "header" | "rows" | "lists" | "items" | "inner"> {
  const flats = rows.flatMap((row) => (row.kind === "object" ? [flatten(withExactNumbers(row))] : []));
  const lists = listsIn(flats);
  const list = lists.find(holdsTickets) ?? lists.find((each) => innerOf(each) !== undefined) ?? lists.find(mayHold);
  const tickets = list === undefined ? flats : flats.flatMap((flat) => itemsOf(flat, list.name));
  const header = [...new Set(tickets.flatMap(({ values }) => [...values.keys()]))].slice(0, MOST_PATHS);
  return {
    header,
    rows: tickets.map(({ values }) => header.map((path) => values.get(path) ?? "")),
    lists: lists.map(({ name }) => name),
    items: list?.name,
    inner: list && innerOf(list),
  };
}

function flatten(row: unknown): Flat {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly unknown[]>();
  const walk = (value: unknown, path: string, depth: number): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) lists.set(path, value);
    else if (typeof value !== "object" || value instanceof ExactNumber) values.set(path, String(value));
    else if (depth < DEEPEST)
      for (const [key, inner] of Object.entries(value)) walk(inner, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  walk(row, "", 0);
  return { values, lists };
}

function listsIn(flats: readonly Flat[]): readonly List[] {
  const names = [...new Set(flats.flatMap(({ lists }) => [...lists.keys()]))].slice(0, MOST_PATHS);
  return names.map((name) => ({ name, items: flats.flatMap(({ lists }) => (lists.get(name) ?? []).map(flatten)) }));
}

const holdsTickets = ({ name, items }: List): boolean =>
  items.length > 0 && (namesTickets(name) || items.some(({ values }) => [...values.keys()].some(namesTickets)));

const mayHold = ({ name, items }: List): boolean => items.length > 0 && namesTicketList(name);

/** The list in the items of a list that may hold the tickets. */
const innerOf = ({ items }: List): string | undefined =>
  listsIn(items).find((list) => holdsTickets(list) || mayHold(list))?.name;

/** A row for each item, with what is around its list. */
const itemsOf = ({ values, lists }: Flat, list: string): readonly Flat[] =>
  (lists.get(list) ?? []).map((item) => {
    const own = [...flatten(item).values].map(
      ([path, value]) => [path === "" ? "item" : `item.${path}`, value] as const,
    );
    return { values: new Map([...values, ...own]), lists };
  });
