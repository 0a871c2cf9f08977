/** Rejects: the rows that were not sent or not accepted, as they were, with the reason. Corrected and streamed, exactly they are sent. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import { parseVerbatim } from "../actions/json.ts";
import type { Item, Ledger, Run, RunInput } from "../ledger/ledger.ts";
import { stemOf } from "../read/file-names.ts";
import { GUARDED, GUARDED_COLUMN, guardCell, REASON_COLUMN, ROW_COLUMN, rowKeyText } from "../read/rejects-columns.ts";
import { keptRow } from "../read/row.ts";
import { csvText, OWN_TABLE } from "./csv.ts";
import { inspectOutput, type OutputState, openOutput } from "./output-file.ts";
import { rejectionText } from "./rejection-text.ts";

/** A row that is still open. */
export interface OpenRow {
  /** Index of its input. */
  readonly input: number;
  readonly line: number;
  /** As it was kept (`keptText`). */
  readonly text: string;
  readonly reason: string;
  /** What `tickets:row` holds. */
  readonly key: string;
}

/** What the rejects of an input are made with. */
export type RejectsInput = Pick<RunInput, "name" | "format"> & {
  readonly header?: readonly string[] | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
};

/**
 * Appends rows to the rejects files of their inputs: one an input, made only when needed. A row that stands there already is
 * not added again, so that a command that was killed can do this once more. After it resolves all is on disk.
 *
 * @returns the files.
 */
export async function writeRejects(options: {
  readonly ledger: Ledger;
  /** The run's number; a run that is not entered yet notes the files itself. */
  readonly run?: number | undefined;
  readonly inputs: readonly RejectsInput[];
  readonly directory: string;
  /** Where the promises go, whatever it is called. */
  readonly output: string | undefined;
  readonly safeCsv: boolean;
  /** Read several times, so that they need not be held in memory. */
  readonly rows: () => Rows;
}): Promise<readonly string[]> {
  const { ledger, inputs, directory, output, safeCsv } = options;
  const present = new Set<number>();
  for await (const { input } of options.rows()) present.add(input);
  const files: string[] = [];
  for (const at of [...present].sort((one, other) => one - other)) {
    const rows = () => rowsOf(at, options.rows());
    const input = inputs[at];
    if (input === undefined) throw new Error(`row of input ${at}, which the run does not have`);
    const table = toTable(input, safeCsv);
    const place = { stem: join(directory, `${numberedStem(inputs, at)}.rejects`), output, table, rows };
    const { path, state, before } = await placeFor(ledger, place);
    const of = { input: at, ...(options.run !== undefined && { run: options.run }) };
    const lines = linesOf(table, rows(), before);
    const { value: first } = await lines.next();
    if (first !== undefined) {
      await using file = await openOutput(ledger, path, { kind: "rejects", header: table.header, state, ...of });
      await file.append(first);
      for await (const more of lines) await file.append(more);
    } else if (state.state === "ours") await ledger.noteOutput({ ...state.known, ...of });
    files.push(path);
  }
  return files;
}

type Rows = AsyncIterable<OpenRow> | Iterable<OpenRow>;

async function* rowsOf(input: number, rows: Rows): AsyncGenerator<OpenRow> {
  for await (const row of rows) if (row.input === input) yield row;
}

/** How rows of an input are written, and known again. */
interface Table {
  readonly extension: string;
  readonly header: string;
  readonly line: (row: OpenRow) => string;
  /** Equal for rows that say the same. */
  readonly identity: (text: string) => string;
  /** The identities of the rows in the text of a file. */
  readonly read: (file: string) => Counted;
}

/** How often each occurs. */
type Counted = ReadonlyMap<string, number>;

function counted(identities: readonly string[]): Counted {
  const times = new Map<string, number>();
  for (const identity of identities) times.set(identity, (times.get(identity) ?? 0) + 1);
  return times;
}

/** Rejects are UTF-8: where their input is not, a spreadsheet needs a mark that says so. */
const BOM = "\ufeff";

function toTable(input: RejectsInput, safeCsv: boolean): Table {
  const { format, header, delimiter = format === "tsv" ? "\t" : ",", encoding = "utf-8" } = input;
  if (header === undefined || (format !== "csv" && format !== "tsv")) return JSON_TABLE;
  const own = new Set<string>([REASON_COLUMN, ROW_COLUMN, GUARDED_COLUMN]);
  const kept = header.flatMap((name, at) => (own.has(name.trim()) ? [] : [at]));
  const toText = (cells: readonly string[]): string =>
    csvText([safeCsv ? [...cells.map(guardCell), GUARDED] : cells], delimiter);
  const cellsOf = (text: string): readonly string[] | undefined => {
    const row = keptRow(text, 0, { header, delimiter });
    if (row.kind !== "cells") return undefined;
    const cells = row.whole();
    return kept.map((at) => cells[at] ?? "");
  };
  const head = [...kept.map((at) => header[at] ?? ""), REASON_COLUMN, ROW_COLUMN, ...(safeCsv ? [GUARDED_COLUMN] : [])];
  const identity = (text: string): string =>
    JSON.stringify((cellsOf(text) ?? kept.map(() => "")).map(safeCsv ? guardCell : String));
  return {
    extension: format,
    header: `${encoding === "utf-8" ? "" : BOM}${csvText([head], delimiter)}`,
    line({ text, reason, key }) {
      const cells = cellsOf(text);
      // The cells of a malformed row are not known: the reason keeps its text.
      return cells === undefined
        ? toText([...kept.map(() => ""), `${reason} The row was: ${text.slice(1)}`, key])
        : toText([...cells, reason, key]);
    },
    identity: (text) => (cellsOf(text) === undefined ? text : identity(text)),
    read(file) {
      const rows: string[][] = parse(file, { delimiter, ...OWN_TABLE, from_line: 2 });
      return counted(rows.map((cells) => JSON.stringify(cells.slice(0, kept.length))));
    },
  };
}

const JSON_TABLE: Table = {
  extension: "ndjson",
  header: "",
  line({ text, reason, key }) {
    const own = { [REASON_COLUMN]: reason, [ROW_COLUMN]: key };
    const row = keptRow(text, 0, {});
    return row.kind === "malformed"
      ? `${JSON.stringify({ ...own, [REASON_COLUMN]: `${reason} The line was: ${row.text}` })}\n`
      : `${JSON.stringify({ ...Object(parseVerbatim(text)), ...own })}\n`;
  },
  identity: (text) => (keptRow(text, 0, {}).kind === "malformed" ? text : withoutOwn(parseVerbatim(text))),
  read: (file) =>
    counted(
      file
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => withoutOwn(parseVerbatim(line))),
    ),
};

function withoutOwn(row: unknown): string {
  if (typeof row !== "object" || row === null) return JSON.stringify(row);
  const { [REASON_COLUMN]: _reason, [ROW_COLUMN]: _key, ...rest } = row as Readonly<Record<string, unknown>>;
  return JSON.stringify(rest);
}

interface Place {
  readonly path: string;
  readonly state: Exclude<OutputState, { readonly state: "strange" }>;
  readonly before: Counted;
}

interface Wanted {
  readonly stem: string;
  readonly output: string | undefined;
  readonly table: Table;
  readonly rows: () => Rows;
}

/** The file that earlier runs wrote; a numbered one where somebody changed that, or it has other columns. */
async function placeFor(ledger: Ledger, { stem, output, table, rows }: Wanted): Promise<Place> {
  for (let number = 1; ; number += 1) {
    const path = `${stem}${number === 1 ? "" : `.${number}`}.${table.extension}`;
    if (path === output) continue;
    /** As far as the ledger knows it. */
    const textOf = async (length = 0): Promise<string> => (await readFile(path)).subarray(0, length).toString("utf8");
    const state = await inspectOutput(ledger, path, "rejects", async function* () {
      yield table.header;
      const before = table.read(await textOf((await ledger.output(path))?.length));
      yield* linesOf(table, rows(), before);
    });
    if (state.state === "fresh") return { path, state, before: new Map() };
    if (state.state === "strange") continue;
    const text = await textOf(state.known.length);
    if (text === "" || text.startsWith(table.header)) return { path, state, before: table.read(text) };
  }
}

/** Characters that are appended at a time. */
const BATCH = 1 << 20;

/**
 * The rows that do not stand in the file yet, some at a time: of equal ones as many as are more. A row is one, though its actions may be found open
 * in several chunks.
 */
async function* linesOf({ identity, line }: Table, rows: Rows, before: Counted): AsyncGenerator<string, undefined> {
  const left = new Map(before);
  const seen = new Set<number>();
  let lines = "";
  for await (const row of rows) {
    if (seen.has(row.line)) continue;
    seen.add(row.line);
    const of = identity(row.text);
    const times = left.get(of) ?? 0;
    if (times > 0) left.set(of, times - 1);
    else lines += line(row);
    if (lines.length < BATCH) continue;
    yield lines;
    lines = "";
  }
  if (lines !== "") yield lines;
}

/** The input's base name without its ending; with its number where an earlier input is called the same. */
function numberedStem(inputs: readonly RejectsInput[], at: number): string {
  const stems = inputs.map(({ name }) => stemOf(name === "-" ? "" : basename(name)));
  const stem = stems[at] ?? "input";
  return stems.indexOf(stem) === at ? stem : `${stem}.${at + 1}`;
}

/** Which rejects files of a run are still there: those of rows that were not sent, written before it was entered, and of actions. */
export async function rejectsOf(
  ledger: Ledger,
  { number, options }: Pick<Run, "number" | "options">,
): Promise<readonly string[]> {
  const files = await ledger.rejectsFilesOf(number);
  return [...new Set([...(options.rejects ?? []), ...files])].filter((path) => existsSync(path));
}

/** Writes what of the run was rejected, or closed unsent, into rejects. */
export async function writeRejectsOf({ cwd }: { readonly cwd: string }, ledger: Ledger, run: Run): Promise<void> {
  // Another machine may have entered the run.
  const { directory: entered = cwd, safeCsv = false } = run.options;
  const directory = existsSync(entered) ? entered : cwd;
  const { inputs, number, output } = run;
  const rows = () => openRowsOf(ledger, run);
  await writeRejects({ ledger, run: number, inputs, directory, output, safeCsv, rows });
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
