/** Rejects files: the rows that are still open, as they were, with the reason. Mended and streamed again, they and nothing else are sent. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import { z } from "zod";
import { isActionName } from "../actions/actions.ts";
import { GUARDED, GUARDED_COLUMN, guardCell } from "../actions/formula-guard.ts";
import { parseVerbatim, stringifyJson } from "../actions/json.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { sha256OfFile } from "../disk/sha256-of-file.ts";
import { changeChunk } from "../ledger/chunks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openOutcomesOfChunk, SUPERSEDED } from "../ledger/outcomes.ts";
import { areInvalidRowsWritten, noteInvalidRowsWritten, noteRejectsFile, rejectsFilesOf } from "../ledger/outputs.ts";
import {
  copiesOf,
  firstRejectedIn,
  noteRejected,
  noteRules,
  type RejectedRow,
  rejectedKeys,
  rulesWritten,
  takenSinceRejected,
} from "../ledger/rejected-rows.ts";
import { historiesOfRow, historyAsked, ROW_PLACE, type RowPlace } from "../ledger/row-places.ts";
import { type ChunkRecord, decidedChunks, hasRejectsWritten, type RunRecord } from "../ledger/runs.ts";
import {
  namesAllOf,
  OPEN_ACTIONS_COLUMN,
  OWN_COLUMNS,
  openActionText,
  openNames,
  REASON_COLUMN,
  ROW_COLUMN,
} from "../mapping/open-actions.ts";
import { stemOf } from "../mapping/rejects-names.ts";
import type { Row } from "../mapping/row.ts";
import { createRowDigester } from "../mapping/row-digest.ts";
import { changedFile, lostFile, type Plan, planFiles } from "../plan/files/plan.ts";
import { lastCounts } from "../plan/identity/history-of-candidate.ts";
import { createRowNumbers, type RowNumbers } from "../plan/rejects/mended-rows.ts";
import { type Input, openInput } from "../readers/input.ts";
import type { InputFile, InputFormat } from "../readers/input-file.ts";
import { csvText, OWN_TABLE } from "./csv-text.ts";
import { freeName, inspectOutput, OutputChanged, openOutput, readBeginning, replaceOutput } from "./output-file.ts";
import { rejectionText } from "./rejection-text.ts";
import { inOrder } from "./rejects-order.ts";

/** Why a row is still open. */
interface OpenRow {
  readonly reasons: string[];
  /** The row's open actions as `tickets:actions` takes them; empty for all. */
  readonly actions: string[];
  /** What is open of it as far as that is known, as `tickets:actions` names it. */
  readonly gives: string[];
  /** Place in the plan of the first of its actions that the service rejected. */
  readonly seq: number | undefined;
  /** Places in the plan of its open actions, as `tickets:actions` names them. */
  readonly seqOf: Map<string, number>;
  /** Likewise of all that the run sends of it, where it gives several of a kind. */
  readonly sent: Map<string, number>;
  /** Where it stood, if nothing of it was sent. */
  readonly place: RowPlace | undefined;
}

/** Numbers of rows. */
export interface RowsOfFile {
  readonly added: number;
  /** All that it holds, of earlier commands and runs too. */
  readonly held: number;
}

/** What a run left to do. */
export interface WrittenRejects {
  /** All files that the run wrote, now or earlier, and that are still there. */
  readonly paths: readonly string[];
  /** Those that are there no more. */
  readonly gone: readonly string[];
  /** Files in which rows were found open now. */
  readonly written: ReadonlyMap<string, RowsOfFile>;
  /** Invalid rows that were found now and stand in the place of accepted actions, so that nothing of them is open. */
  readonly accepted: number;
  /** No value in them is wrong: it only could not be told what of the histories of some was accepted, for which others wait. */
  readonly areUnclear: boolean;
}

/** Of a run whose inputs are on another machine: its rejects are written there. */
export const NO_REJECTS: WrittenRejects = { paths: [], gone: [], written: new Map(), accepted: 0, areUnclear: false };

interface RejectsOptions {
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly plan: Plan;
}

/**
 * Writes what chunks that were settled since the last time, and invalid rows, leave to do: one file per input, only where
 * there is something to write.
 */
export async function writeRejects(options: RejectsOptions & { readonly directory: string }): Promise<WrittenRejects> {
  const { ledger, run, directory } = options;
  const found = await findOpenRows(options);
  const records: ((ledger: Ledger) => void)[] = [];
  const written = new Map<string, RowsOfFile>();
  for await (const { at, rejects } of readRejects(options, found)) {
    const { path, record, opens, ...counts } = await writeFile(options, at, rejects, directory);
    written.set(path, counts);
    const rows = rejects.rows.map((row) => ({ ...row, open: opens.get(row.key) ?? row.open }));
    records.push((to) => {
      record(to);
      noteRows(to, options, { ...rejects, rows });
      noteRejectsFile(to, run.runNo, at, path);
    });
  }
  if (records.length > 0) crashPoint("rejects placed");
  ledger.transaction(() => {
    for (const record of records) record(ledger);
    noteWritten(ledger, options, found);
  });
  const { paths = [], gone = [] } = Object.groupBy(rejectsFilesOf(ledger, run.runNo), (path) =>
    existsSync(path) ? "paths" : "gone",
  );
  const isWhole = [...written.values()].every(({ added, held }) => added === held);
  return { paths, gone, written, accepted: found.nothingOpen, areUnclear: isWhole && areUnclear(found) };
}

/** What a run leaves to do that is in no rejects file yet. */
interface FoundOpen {
  /** By input, then by running number of the row. */
  readonly open: ReadonlyMap<number, ReadonlyMap<number, OpenRow>>;
  /** The chunks whose outcomes these are. */
  readonly chunks: readonly ChunkRecord[];
  /** Invalid rows of which nothing is open. */
  readonly nothingOpen: number;
}

async function findOpenRows({ ledger, run, plan }: RejectsOptions): Promise<FoundOpen> {
  const open = new Map<number, Map<number, OpenRow>>();
  const note = (
    { input, row: number, reason, open: actions = [], gives = actions, place }: z.infer<typeof OPEN_OF_ROW>,
    seq?: number,
  ): void => {
    const rows = open.get(input) ?? new Map<number, OpenRow>();
    open.set(input, rows);
    const row: OpenRow = rows.get(number) ?? {
      reasons: [],
      actions: [],
      gives: [],
      seq,
      seqOf: new Map(),
      sent: new Map(),
      place,
    };
    rows.set(number, row);
    row.reasons.push(reason);
    row.actions.push(...actions);
    row.gives.push(...gives);
    if (seq !== undefined) for (const action of actions) row.seqOf.set(action, seq);
  };
  const areWritten = areInvalidRowsWritten(ledger, run.run) || hasRejectsWritten(ledger, run.runNo);
  const invalid = areWritten ? [] : await readInvalid(plan);
  for (const row of invalid.filter(isOpen)) note(row);
  const ofSeveral = new Map<number, OpenRow>();
  const chunks = decidedChunks(ledger, run.runNo).filter(({ rejectsWritten }) => !rejectsWritten);
  for (const chunk of chunks) {
    const rejected = openOutcomesOfChunk(ledger, run.runNo, chunk.chunk);
    if (rejected.length === 0) continue;
    const records = await plan.records(chunk);
    for (const row of rejected) {
      const record = records[row.seq - chunk.first];
      if (record === undefined) throw new Error(`action ${row.seq} is not in chunk ${chunk.chunk}`);
      const reason =
        row.outcome === "rejected"
          ? `${row.action} ${rejectionText(row)}`
          : row.status === SUPERSEDED
            ? `${row.action} was not sent: it would ${isActionName(row.action) && !lastCounts(row.action) ? "come after" : "undo"} a later action of its history that was accepted. To send it anyway, stream this row with --again.`
            : `${row.action} was not sent: the run was closed.`;
      note({ ...record, reason, open: [openActionText(row.action, record.nth)] }, row.seq);
      const noted = open.get(record.input)?.get(record.row);
      if (record.nth > 0 && noted !== undefined) ofSeveral.set(record.row, noted);
    }
  }
  if (ofSeveral.size > 0) await addSent(plan, ofSeveral);
  return { open, chunks, nothingOpen: invalid.filter((row) => !isOpen(row)).length };
}

/** @param rows by running number. Their actions may stand in any chunk. */
async function addSent(plan: Plan, rows: ReadonlyMap<number, OpenRow>): Promise<void> {
  for (const chunk of plan.manifest.chunks)
    for (const [at, { row, action, nth }] of (await plan.records(chunk)).entries())
      rows.get(row)?.sent.set(openActionText(action, nth), chunk.first + at);
}

/** How the reason of a row begins that was compared with what was accepted; rows with a wrong value are not. */
const UNCLEAR = "history-unclear: ";
/** The same for a row that waits for another. */
const HELD = "depends-on-invalid: ";

function areUnclear({ open }: FoundOpen): boolean {
  const rows = [...open.values()].flatMap((ofInput) => [...ofInput.values()]);
  const reasons = rows.flatMap((row) => row.reasons).filter((reason) => !reason.startsWith(HELD));
  return reasons.length > 0 && reasons.every((reason) => reason.startsWith(UNCLEAR));
}

/** The rows that were found open, input by input. */
async function* readRejects(
  options: RejectsOptions,
  { open }: FoundOpen,
): AsyncGenerator<{ readonly at: number; readonly rejects: Rejects }> {
  const numbers = createRowNumbers();
  const known = rejectedKeys(options.ledger);
  for (let at = 0; at <= Math.max(-1, ...open.keys()); at += 1) {
    const rows = open.get(at);
    // Equal rows are numbered over all inputs, so that those before are read too.
    const rejects = await readOpenRows(options, at, rows ?? NO_ROWS, numbers, known);
    if (rows !== undefined) yield { at, rejects };
  }
}

/** Part of a transaction. */
function noteRows(ledger: Ledger, { run, plan }: RejectsOptions, { rows, numbers, readAs, rules }: Rejects): void {
  const { runNo } = run;
  const isAgain = plan.manifest.again;
  for (const { key, open, place, ...row } of rows) {
    // Of equal rows that were rejected, fewer stand in this input: nobody knows which these are.
    const isOneOfSeveral = !row.isFromRejects && copiesOf(ledger, key).some((copy) => !numbers.has(copy));
    noteRejected(ledger, key, { runNo, readAs, isAgain, isOneOfSeveral, ...row, place });
    if (open !== "" && rules !== undefined) noteRules(ledger, key, open, rules);
  }
}

/** Part of a transaction. */
function noteWritten(ledger: Ledger, { run }: RejectsOptions, { chunks }: FoundOpen): void {
  for (const chunk of chunks) changeChunk(ledger, "writeRejects", chunk);
  noteInvalidRowsWritten(ledger, run.run);
}

const OPEN_OF_ROW = z.object({
  row: z.number(),
  input: z.number(),
  reason: z.string(),
  /** Its open actions, where not all are. */
  open: z.array(z.string()).optional(),
  /** Its open actions, where they are known. */
  gives: z.array(z.string()).optional(),
  /** Left out in plans that did not keep it. */
  place: ROW_PLACE.optional(),
});
const INVALID_ROW = OPEN_OF_ROW.extend({ line: z.number() });

const isOpen = ({ open }: z.infer<typeof INVALID_ROW>): boolean => open === undefined || open.length > 0;

/** Whether the plan still has all that rejects may be made of, as it was made. */
export async function canWriteRejects(plan: Plan): Promise<boolean> {
  try {
    await readInvalid(plan);
    for (const { copy, sha256 } of plan.manifest.inputs)
      if (copy !== undefined && (await sha256OfFile(join(plan.directory, copy))) !== sha256) return false;
    return true;
  } catch {
    return false;
  }
}

/** A file that the rejects are made of. Throws a storage failure when it is gone. */
function inPlan({ directory }: Plan, path: string): string {
  if (!existsSync(path)) throw lostFile(directory, path);
  return path;
}

async function readInvalid(plan: Plan): Promise<readonly z.infer<typeof INVALID_ROW>[]> {
  const text = await readFile(inPlan(plan, planFiles(plan.directory).invalid), "utf8");
  const rows = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => INVALID_ROW.parse(JSON.parse(line)));
  const { invalid, held } = plan.manifest.rows;
  if (rows.length !== invalid + held) throw changedFile(plan.directory, planFiles(plan.directory).invalid);
  return rows;
}

const NO_ROWS: ReadonlyMap<number, OpenRow> = new Map();

/** A rejects file's header, and what is to stand in it. */
interface Rejects {
  readonly header: string;
  readonly extension: string;
  /** Of the columns. */
  readonly delimiter: string;
  readonly lines: readonly string[];
  /** Of each line: the key of its row (`tickets:row`), and the first of its actions that the service rejected. */
  readonly rows: readonly (Omit<RejectedRow, "runNo" | "readAs" | "isOneOfSeveral" | "isAgain"> & {
    readonly key: string;
    /** What of it is named as open now; empty for all, or for what it named before. */
    readonly open: string;
  })[];
  /** Running numbers of the input's rows that were ever rejected, by this ledger or another, by key. */
  readonly numbers: ReadonlyMap<string, number>;
  /** What the input was read as. */
  readonly readAs: string;
  /** The actions that its mapping listed; undefined in plans that did not keep them. */
  readonly rules: readonly string[] | undefined;
}

/**
 * @param numbers of the rows of the inputs before this one.
 * @param known keys of all rows that were ever rejected.
 */
async function readOpenRows(
  { plan }: RejectsOptions,
  at: number,
  rows: ReadonlyMap<number, OpenRow>,
  numbers: RowNumbers,
  known: ReadonlySet<string>,
): Promise<Rejects> {
  const source = plan.manifest.inputs[at];
  if (source?.copy === undefined) throw new Error("the plan keeps no copy of its inputs");
  const contentPath = inPlan(plan, join(plan.directory, source.copy));
  const format = source.format as InputFormat | "detect"; // written by the planner
  const file: InputFile = {
    path: source.name === "-" ? "-" : contentPath,
    name: source.name,
    format,
    compression: source.compression as InputFile["compression"], // written by the planner
    fromGlob: false,
  };
  const { safeCsv, encoding } = plan.manifest.options;
  const readWith = source.encoding ?? encoding;
  await using input = await openInput(file, {
    contentPath,
    ...(readWith !== undefined && { encoding: readWith }),
    ...(source.delimiter !== undefined && { csv: { delimiter: source.delimiter, headerLine: source.headerLine } }),
  });
  const { readAs = "", rules } = source;
  const digester = createRowDigester(input.header, readAs);
  const lines: string[] = [];
  const rejected: Rejects["rows"][number][] = [];
  const numberOf = new Map<string, number>();
  // Rows are numbered over all inputs.
  let number = plan.manifest.inputs.slice(0, at).reduce((sum, each) => sum + each.rows, 0);
  for await (const batch of input.batches()) {
    for (const row of batch) {
      number += 1;
      const open = rows.get(number);
      const written = digester.written(row);
      const numbered = numbers.key(digester.digest(row), written);
      // A row that comes from a rejects file and is still open is still the row that it was there.
      const key = written ?? numbered;
      if (known.has(key) || written !== undefined) numberOf.set(key, number);
      if (open === undefined) continue;
      const { seq, seqOf, sent, place, gives } = open;
      const isFromRejects = written !== undefined;
      rejected.push({ key, number, seq, seqOf, sent, place, isFromRejects, gives, open: open.actions.join(" ") });
      lines.push(rejectLine(row, input, open, key, safeCsv && GUARDED));
    }
  }
  // What was cut off or emptied would be missing among the rejects.
  if (input.sha256 !== source.sha256) throw changedFile(plan.directory, contentPath);
  const tableOf = input.format === "tsv" ? "tsv" : "csv";
  const extension = input.header === undefined ? "ndjson" : tableOf;
  const columns = input.header === undefined ? "" : headerLine(input.header, input, safeCsv && GUARDED_COLUMN);
  // Rejects are UTF-8, and say so where the source or a flag says otherwise of the input, or may.
  return {
    header: input.encoding === "utf-8" && !input.hasBom ? columns : `\ufeff${columns}`,
    extension,
    delimiter: delimiterOf(input),
    lines,
    rows: rejected,
    numbers: numberOf,
    readAs,
    rules,
  };
}

interface WrittenFile extends RowsOfFile {
  readonly path: string;
  readonly record: (ledger: Ledger) => void;
  /** By key, what the file names as open of rows that stood there and of which more was found open. */
  readonly opens: ReadonlyMap<string, string>;
}

/** How often somebody may change a file just while it is written. */
const MOST_CHANGES = 3;

/** What somebody changes meanwhile is left alone: looked at again, it is no file of ours any more. */
async function writeFile(...given: Parameters<typeof writeAsItIs>): Promise<WrittenFile> {
  for (let changes = 1; ; changes += 1) {
    try {
      return await writeAsItIs(...given);
    } catch (cause) {
      if (!(cause instanceof OutputChanged) || changes === MOST_CHANGES) throw cause;
    }
  }
}

async function writeAsItIs(
  { ledger, plan, run }: RejectsOptions,
  at: number,
  { header, extension, delimiter, lines, rows, rules, numbers }: Rejects,
  directory: string,
): Promise<WrittenFile> {
  const rowsIn = (text: string): readonly WrittenRow[] => readRows(text, extension, delimiter);
  const found = rowsIn(header + lines.join("")).map((row, at) => {
    const { number = 0, place, seqOf } = rows[at] ?? {};
    const asked = [...(seqOf?.values() ?? [])].flatMap((seq) => historyAsked(ledger, { runNo: run.runNo, seq }) ?? []);
    return {
      ...row,
      number,
      histories: new Set([...asked, ...(place?.histories ?? []).map(({ history }) => history)]),
    };
  });
  const about: KnownOfRows = {
    isNumberedAlike: ({ key, open }) =>
      rulesWritten(ledger, key, open.join(" ")).every((then) => rules !== undefined && areSame(then, rules)),
    takenSince: ({ key }) => takenSinceRejected(ledger, key),
  };
  const appendedTo = (text: string): string =>
    (text === "" ? header : "") + textOf(joinRows(rowsIn(text), found, about).fresh);
  let path = join(directory, `${numberedStem(plan, at)}.rejects.${extension}`);
  let state = await inspectOutput(ledger, path, "rejects", async function* (length) {
    yield appendedTo(await readBeginning(path, length));
  });
  let text = state.state === "ours" ? await readBeginning(path, state.length) : "";
  // Rejects that someone mended in place, or whose columns differ, are left alone; a nightly run must not stop for them.
  if (state.state === "strange" || (state.state === "ours" && text !== "" && !text.startsWith(header))) {
    path = await freeName(
      ledger,
      "rejects",
      join(directory, `${numberedStem(plan, at)}.rejects.${run.run}`),
      extension,
    );
    state = { state: "fresh" };
    text = "";
  }
  const standing = rowsIn(text);
  const { rest, opens, fresh } = joinRows(standing, found, about);
  const counts = { added: opens.size + fresh.length, held: rest.length + fresh.length };
  const isOfLaterRun = (key: string): boolean => (firstRejectedIn(ledger, key) ?? 0) > run.runNo;
  const ordered = inOrder(
    rest.map((row) => ({
      ...row,
      number: numbers.get(row.key),
      isBehind: isOfLaterRun(row.key),
      histories: historiesOfRow(ledger, row.key),
    })),
    fresh,
  );
  await using output = await openOutput({ ledger, path, kind: "rejects", header, state });
  if (state.state !== "ours" || textOf(ordered).startsWith(textOf(standing))) {
    const appended = await output.append(textOf(fresh));
    return { path, record: appended.record, opens, ...counts };
  }
  const replaced = await replaceOutput(
    ledger,
    path,
    { state: "ours", length: output.length, torn: false },
    { text: header + textOf(ordered), temporary: `${path}.${run.run}.tmp` },
  );
  return { path, record: replaced.record, opens, ...counts };
}

/** A row of a rejects file. */
interface WrittenRow {
  /** With its line end. */
  readonly text: string;
  /** The same for the same row with another reason and with other open actions. */
  readonly said: string;
  readonly key: string;
  readonly reason: string;
  /** The actions that it names as open; empty for all. */
  readonly open: readonly string[];
  /** Its text with these. */
  readonly textWith: (reason: string, open: readonly string[]) => string;
}

interface KnownOfRows {
  /** Whether the row names its actions as they are numbered now; if not, it can't be put together with another. */
  readonly isNumberedAlike: (row: WrittenRow) => boolean;
  /** Actions that the row was rejected with and the service has taken since: with --again they would be sent once more. */
  readonly takenSince: (row: WrittenRow) => ReadonlySet<string>;
}

/**
 * Puts rows that were found open together with those that stand there: one that stands there from an earlier night, or from
 * another part of its run, is still the same row to mend, and names all that is open of it. Twice in one file, it would be
 * two deeds.
 *
 * @return `opens` by key, of the rows of `rest` that name more than they did.
 */
function joinRows<Found extends WrittenRow>(
  standing: readonly WrittenRow[],
  found: readonly Found[],
  { isNumberedAlike, takenSince }: KnownOfRows,
): {
  readonly rest: readonly WrittenRow[];
  readonly opens: ReadonlyMap<string, string>;
  readonly fresh: readonly Found[];
} {
  const rest = [...standing];
  const places = new Map(standing.map(({ said }, at) => [said, at]));
  const opens = new Map<string, string>();
  const fresh = found.filter((row) => {
    const at = places.get(row.said);
    const before = at === undefined ? undefined : rest[at];
    if (at === undefined || before === undefined) return true;
    if (namesAllOf(before.open, row.open)) return false;
    if (!isNumberedAlike(before)) return true;
    const taken = takenSince(before);
    const stillOpen = before.open.filter((name) => !taken.has(name));
    const open = row.open.length === 0 ? [] : [...new Set([...stillOpen, ...row.open])];
    rest[at] = { ...before, text: before.textWith(`${before.reason} | ${row.reason}`, open), open };
    opens.set(row.key, open.join(" "));
    return false;
  });
  return { rest, opens, fresh };
}

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((each, at) => each === other[at]);

const textOf = (rows: readonly Pick<WrittenRow, "text">[]): string => rows.map(({ text }) => text).join("");

function readRows(text: string, extension: string, delimiter: string): readonly WrittenRow[] {
  if (extension === "ndjson")
    return text
      .replace(/^\ufeff/, "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const row = parseVerbatim(line) as Readonly<Record<string, unknown>>; // written by `rejectLine`
        const textWith = (reason: string, open: readonly string[]): string =>
          `${stringifyJson({ ...row, [REASON_COLUMN]: reason, [OPEN_ACTIONS_COLUMN]: open.join(" ") })}\n`;
        return {
          text: `${line}\n`,
          said: textWith("", []),
          key: String(row[ROW_COLUMN]),
          reason: String(row[REASON_COLUMN]),
          open: openNames(String(row[OPEN_ACTIONS_COLUMN] ?? "")),
          textWith,
        };
      });
  const [columns = [], ...rows]: string[][] = parse(text, { delimiter, ...OWN_TABLE });
  const [reasonAt, openAt, keyAt] = [
    columns.indexOf(REASON_COLUMN),
    columns.indexOf(OPEN_ACTIONS_COLUMN),
    columns.indexOf(ROW_COLUMN),
  ];
  return rows.map((cells) => {
    const textWith = (reason: string, open: readonly string[]): string =>
      toCsv(cells.with(reasonAt, reason).with(openAt, open.join(" ")), delimiter);
    return {
      text: toCsv(cells, delimiter),
      said: textWith("", []),
      key: cells[keyAt] ?? "",
      reason: cells[reasonAt] ?? "",
      open: openNames(cells[openAt] ?? ""),
      textWith,
    };
  });
}

/** The input's base name without its ending; with its number where an earlier input is called the same. */
function numberedStem(plan: Plan, at: number): string {
  const stems = plan.manifest.inputs.map(({ name }) => stemOf(name === "-" ? "" : basename(name)));
  const stem = stems[at] ?? "input";
  return stems.indexOf(stem) === at ? stem : `${stem}.${at + 1}`;
}

function rejectLine(row: Row, input: Input, { reasons, actions }: OpenRow, key: string, guard: string | false): string {
  const reason = reasons.join(" | ");
  // A row that was not sent at all is as open as it was when it came, perhaps from a rejects file.
  const open = actions.length > 0 ? actions.join(" ") : ownCell(row, input.header, OPEN_ACTIONS_COLUMN);
  switch (row.kind) {
    case "cells":
      return csvLine([...plainCells(row.cells, input.header ?? []), reason, open, key], input, guard);
    case "object": {
      // Its numbers as they are spelt: of a flat row they become texts, such as a price.
      const written = parseVerbatim(row.text) as typeof row.value; // the text that its value was read from
      const { [REASON_COLUMN]: _reason, [OPEN_ACTIONS_COLUMN]: _actions, [ROW_COLUMN]: _row, ...value } = written;
      return `${stringifyJson({ ...value, [REASON_COLUMN]: reason, [OPEN_ACTIONS_COLUMN]: open, [ROW_COLUMN]: key })}\n`;
    }
    case "malformed":
      // Its cells are not known, so it can't be written as a row; the reason keeps the text as it was.
      return input.header === undefined
        ? `${JSON.stringify({ [REASON_COLUMN]: `${reason} The line was: ${row.text}`, [ROW_COLUMN]: key })}\n`
        : csvLine(
            [...plainCells(input.header, input.header).map(() => ""), `${reason} The row was: ${row.text}`, "", key],
            input,
            guard,
          );
  }
}

/** What the row itself has in one of our columns. */
function ownCell(row: Row, header: readonly string[] | undefined, column: string): string {
  if (row.kind === "malformed") return "";
  const value =
    row.kind === "object" ? row.value[column] : row.cells[header?.findIndex((name) => name.trim() === column) ?? -1];
  return typeof value === "string" ? value : "";
}

/** The cells without those of our own columns, which are written anew. */
function plainCells(cells: readonly string[], header: readonly string[]): readonly string[] {
  return cells.filter((_cell, at) => !OWN_COLUMNS.has(header[at]?.trim() ?? ""));
}

const headerLine = (header: readonly string[], input: Input, guard: string | false): string =>
  csvLine([...plainCells(header, header), REASON_COLUMN, OPEN_ACTIONS_COLUMN, ROW_COLUMN], input, guard);

/** @param guard of a guarded file: what stands in its own column. */
function csvLine(cells: readonly string[], input: Input, guard: string | false): string {
  const safe = guard === false ? cells : [...cells.map(guardCell), guard];
  return toCsv(safe, delimiterOf(input));
}

const toCsv = (cells: readonly string[], delimiter: string): string => csvText([cells], delimiter);

const delimiterOf = (input: Input): string => input.delimiter ?? ",";
