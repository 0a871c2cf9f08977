/** All rows of all files to checked candidates on disk. What depends on other rows comes after (decide.ts). */

import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import type { Severity } from "../actions/problem.ts";
import type { Mend, RejectedRows } from "../ledger/rejected-rows.ts";
import type { FileFinding } from "../mapping/file-finding.ts";
import type { IdRule } from "../mapping/id-rules.ts";
import type { Understanding } from "../mapping/mapper.ts";
import { openActionText, showRejects } from "../mapping/open-actions.ts";
import type { Row } from "../mapping/row.ts";
import { findingsOfContent } from "../readers/content.ts";
import type { Input } from "../readers/input.ts";
import type { InputFile } from "../readers/input-file.ts";
import { keepRejectsApart } from "../readers/rejects.ts";
import type { Batch, BatchInvalid, BatchMended, LeftOut } from "./batch.ts";
import { historiesOf } from "./blocked-histories.ts";
import { appendCandidates, type CandidateFiles, createCandidates, endCandidates, toWhole } from "./candidates.ts";
import { createRowCompiler, type RowCompiler } from "./compile-rows.ts";
import { orderKeysOf } from "./facts.ts";
import { reportFindings } from "./findings-of-row.ts";
import { addRows } from "./index-file.ts";
import type { BlockedRows, InvalidRows } from "./invalid-rows.ts";
import type { RowEvents } from "./lanes.ts";
import { createRowMarks } from "./mended-rows.ts";
import type { TimeOrder } from "./order.ts";
import { createWorkers, type MadeMapper, type WorkerOptions } from "./parallel.ts";
import type { ProblemLog } from "./problems.ts";
import { joinPublicValues, type PublicValues } from "./public-values.ts";
import { createContentsSeen } from "./same-inputs.ts";
import type { SalesSeen } from "./vanished.ts";

export interface CompileOptions {
  readonly files: readonly InputFile[];
  /** Folder for the candidate files, which must not exist yet. */
  readonly directory: string;
  readonly open: (file: InputFile) => Promise<Input>;
  readonly mapperFor: (file: InputFile, input: Input) => Promise<MadeMapper>;
  /** Rows that an earlier run rejected. */
  readonly rejectedRows: RejectedRows;
  /** Of those who take the rows of large files where they can. */
  readonly workers: WorkerOptions;
  /** Of all rules. */
  readonly severities: ReadonlyMap<string, Severity>;
  readonly severityOf: (rule: string) => Severity;
  /** In Unix seconds. */
  readonly now: number;
  readonly problems: ProblemLog;
  readonly invalid: InvalidRows;
  /** Takes the places of invalid rows among the candidates, unless `timeOrder` does. */
  readonly blockedRows: BlockedRows;
  /** Only the first rows, over all files. */
  readonly limit: number;
  /** Takes the candidates where they are to be put in order afterwards; then no files are written here. */
  readonly timeOrder: TimeOrder | undefined;
  /** Where it is asked for, notes the sales of the input. */
  readonly salesSeen: SalesSeen | undefined;
  /** Where actions are spread over lanes, notes the event that a row names. */
  readonly rowEvents: RowEvents | undefined;
  readonly onUnderstood: OnUnderstood;
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
  /** Take a file of 0 bytes for an input without rows. */
  readonly allowEmpty: boolean;
}

/** Called once for each file, when its rows are read. */
export type OnUnderstood = (
  file: InputFile,
  understanding: Understanding,
  input: Input,
  publicValues: PublicValues,
) => void;

interface ReadInput {
  /** How its rows are written; `cells` for tables. */
  readonly format: "cells" | "ndjson" | "json";
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  /** As it was read. */
  readonly encoding: string;
  readonly delimiter: string | undefined;
  readonly headerLine: number | undefined;
  readonly readAs: string;
  readonly rules: readonly string[];
  /** How its source makes its ids. */
  readonly ids: readonly IdRule[];
  /** The key of its source, as the config says it. */
  readonly key: string | undefined;
}

export interface Compiled {
  readonly inputs: readonly ReadInput[];
  readonly rows: { readonly read: number; readonly skipped: number; readonly mended: number };
  /** By row: which row it was before it was mended. */
  readonly mends: ReadonlyMap<number, Mend>;
  /** By row: the key that it has in the rejects file from which it comes. */
  readonly rejected: ReadonlyMap<number, string>;
  /** By row: the key of a bad row of which a mended one was accepted. */
  readonly mended: ReadonlyMap<number, string>;
  /** By row: what `tickets:actions` leaves out of it. */
  readonly leftOut: ReadonlyMap<number, readonly LeftOut[]>;
  /** Skipped rows by reason. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by reason. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly candidates: number;
  /** Every event that the input registers, wherever its newEvent stands. */
  readonly newEvents: ReadonlySet<string>;
  /** Rows behind the limit were left out. */
  readonly isCut: boolean;
  /** True when part of a file could not be read as rows at all, so that no allowance for invalid rows helps. */
  readonly unreadable: boolean;
  /** True when what is said of one of the files as a whole is an error, which no allowance for invalid rows covers. */
  readonly unfit: boolean;
}

/** Skipped rows are counted by their reason up to so many reasons, since reasons quote the file. */
const SKIP_REASONS = 1000;

/** Reads, maps and checks every row of every file, and writes the valid rows' actions as candidates. */
export async function compile(options: CompileOptions): Promise<Compiled> {
  const { files, severityOf, problems, limit, signal } = options;
  // They end with the last row: what comes after needs memory of its own.
  await using workers = createWorkers(options.workers, options.severities, signal);
  await using candidates = options.timeOrder === undefined ? await createCandidates(options.directory) : undefined;
  const inputs: ReadInput[] = [];
  const compiled = {
    rows: { read: 0, skipped: 0, mended: 0 },
    mends: new Map<number, Mend>(),
    rejected: new Map<number, string>(),
    mended: new Map<number, string>(),
    leftOut: new Map<number, readonly LeftOut[]>(),
    skipReasons: new Map<string, number>(),
    eventOnlyReasons: new Map<string, number>(),
    candidates: 0,
    newEvents: new Set<string>(),
    isCut: false,
    unreadable: false,
    unfit: false,
  };

  const contentsSeen = createContentsSeen();
  const sourcesTold = new Set<string>();
  const marks = createRowMarks(options.rejectedRows.mended, "all", options.rejectedRows);
  const apart = keepRejectsApart();
  for (const [inputNumber, file] of files.entries()) {
    await using input = await options.open(file);
    if (input.header !== undefined) apart.see(file, showRejects(input.header));
    const made = await options.mapperFor(file, input);
    const { mapper, settings, readAs, rules, ids = [], key, findings = [], findingsOfSource = [] } = made;
    const publicValues = joinPublicValues();
    // Only the rows show what the keys of JSON rows are, and what becomes public.
    const tellUnderstood = (): void => options.onUnderstood(file, mapper.understanding, input, publicValues.all);
    const rowsBefore = compiled.rows.read;
    let payloadItems = 0;
    const notesEvents = options.rowEvents !== undefined;
    const compilerOf = (keepsBatches: boolean): RowCompiler =>
      createRowCompiler({
        file,
        input: inputNumber,
        mapper,
        severityOf,
        now: options.now,
        notesEvents,
        readAs,
        rules,
        header: input.header,
        marks,
        keepsBatches,
      });
    const inWorkers =
      limit === Number.POSITIVE_INFINITY
        ? await workers.compile({
            file,
            input,
            inputNumber,
            mapper,
            settings,
            now: options.now,
            readAs,
            mended: options.rejectedRows.mended,
            notesEvents,
            compilerOf,
            problems,
          })
        : undefined;
    const take = (rows: readonly Row[]): readonly Row[] => {
      const capacity = limit - compiled.rows.read;
      if (rows.length <= capacity) return rows;
      compiled.isCut = true;
      return rows.slice(0, capacity);
    };
    const batches = inWorkers ?? inThisThread(input, compilerOf(false), problems, take);
    try {
      for await (const batch of batches) {
        signal.throwIfAborted();
        const { rejects, other } = batch.firstLines;
        if (rejects !== undefined) apart.see(file, true, rejects);
        if (other !== undefined) apart.see(file, false, other);
        payloadItems += batch.rows - batch.skipped - batch.invalid.length;
        await join(options, candidates, compiled, inputNumber, batch);
        if (batch.seen !== undefined) mapper.join?.(batch.seen);
        publicValues.add(batch.publicValues);
        options.onRows(compiled.rows.read);
      }
    } catch (cause) {
      tellUnderstood();
      throw cause;
    }
    tellUnderstood();
    const twins = compiled.rows.read > rowsBefore ? contentsSeen.note(input, readAs) : [];
    // An error of a whole file is of no row that could be left out, so that nothing of the input is sent.
    const report = ({ line = 1, isOfAllRows: _, ...finding }: FileFinding): void => {
      if (reportFindings(problems, file, severityOf, { ...WHOLE_FILE, line }, 0, [finding])) compiled.unfit = true;
    };
    const isCut = compiled.rows.read >= limit;
    if (!isCut || compiled.rows.read > rowsBefore)
      for (const finding of findingsOfContent(input, compiled.rows.read - rowsBefore, options.allowEmpty))
        report(finding);
    for (const finding of twins) report(finding);
    if (compiled.rows.read > rowsBefore && !sourcesTold.has(readAs)) {
      for (const finding of findingsOfSource) report(finding);
      sourcesTold.add(readAs);
    }
    for (const finding of [...findings, ...(mapper.findingsOfFile?.() ?? [])])
      if (!(isCut && finding.isOfAllRows === true)) report(finding);
    if (file.format === "json" && payloadItems > MAX_ACTIONS_PER_REQUEST)
      report({
        rule: "payload-too-long",
        message: `The payload has ${payloadItems} items; a request takes ${MAX_ACTIONS_PER_REQUEST}.`,
        hint: "tickets stream splits it.",
      });
    inputs.push({
      format: input.header !== undefined ? "cells" : input.format === "json" ? "json" : "ndjson",
      name: file.name,
      path: file.path,
      bytes: input.bytesRead,
      sha256: input.sha256,
      rows: compiled.rows.read - rowsBefore,
      encoding: input.encoding,
      delimiter: input.delimiter,
      headerLine: input.headerLine,
      readAs,
      rules,
      ids,
      key,
    });
  }
  if (candidates !== undefined) await endCandidates(candidates);
  return { ...compiled, inputs };
}

/** What is said of a whole file stands in its first line, unless a row shows it. */
const WHOLE_FILE = { kind: "object", value: {}, text: "" } as const;

function countReasons(reasons: Map<string, number>, counted: ReadonlyMap<string, number>): void {
  for (const [reason, count] of counted) {
    const shown = reasons.has(reason) || reasons.size < SKIP_REASONS ? reason : "other reasons";
    reasons.set(shown, (reasons.get(shown) ?? 0) + count);
  }
}

/** The batches of an input that is read in this thread: the way that is always right, against which workers are tested. */
async function* inThisThread(
  input: Input,
  compiler: RowCompiler,
  problems: ProblemLog,
  take: (rows: readonly Row[]) => readonly Row[],
): AsyncGenerator<Batch> {
  for await (const rows of input.batches()) {
    // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
    yield compiler.compile(take(rows), problems.fork());
  }
}

/** The rows that are not sent by themselves, in the order in which they stand. */
function inPlace({ invalid, mended }: Batch): readonly (BatchInvalid | BatchMended)[] {
  return mended.length === 0 ? invalid : [...invalid, ...mended].sort((one, other) => one.row - other.row);
}

/** As `tickets:actions` names them; undefined where nobody knows what the row gives. */
function namesOf(attempted: BatchInvalid["attempted"]): readonly string[] | undefined {
  const names = attempted.flatMap(({ action, nth }) =>
    action === undefined || nth === undefined ? [] : [openActionText(action, nth)],
  );
  return names.length === 0 ? undefined : names;
}

/** Appends what the next rows of a file came to. */
async function join(
  { problems, invalid, rejectedRows, blockedRows, timeOrder, salesSeen, rowEvents }: CompileOptions,
  candidates: CandidateFiles | undefined,
  compiled: {
    readonly rows: { read: number; skipped: number; mended: number };
    readonly mends: Map<number, Mend>;
    readonly rejected: Map<number, string>;
    readonly mended: Map<number, string>;
    readonly leftOut: Map<number, readonly LeftOut[]>;
    readonly skipReasons: Map<string, number>;
    readonly eventOnlyReasons: Map<string, number>;
    candidates: number;
    readonly newEvents: Set<string>;
    unreadable: boolean;
  },
  input: number,
  batch: Batch,
): Promise<void> {
  const { rows, newEvents } = compiled;
  addRows(batch.bytes.index, rows.read);
  if (candidates !== undefined) await appendCandidates(candidates, batch.bytes);
  for (const eventId of batch.newEvents) newEvents.add(eventId);
  for (const { row, eventId } of batch.rowEvents) rowEvents?.note(rows.read + row, eventId);
  problems.absorb(batch.problems);
  countReasons(compiled.skipReasons, batch.skipReasons);
  countReasons(compiled.eventOnlyReasons, batch.eventOnlyReasons);
  const placed = timeOrder === undefined && salesSeen === undefined ? undefined : orderKeysOf(batch.bytes);
  const whole = timeOrder === undefined ? undefined : toWhole(batch.bytes);
  let behind = 0;
  const noteUntil = (before: number): void => {
    for (; placed !== undefined && behind < before; behind += 1) {
      const action = placed[behind];
      if (action === undefined) throw new Error("the batch has fewer facts than candidates");
      const candidate = whole?.[behind];
      if (candidate !== undefined) timeOrder?.candidate(action, candidate);
      salesSeen?.note(action);
    }
  };
  for (const each of inPlace(batch)) {
    const { line, before, attempted } = each;
    const row = rows.read + each.row;
    const place = { row, input, line };
    noteUntil(before);
    for (const action of attempted) salesSeen?.note(action);
    if ("key" in each) {
      compiled.mended.set(row, each.key);
      for (const { accepted, ...action } of rejectedRows.deedsOf(each.key)) {
        if (timeOrder === undefined)
          blockedRows.add({ ...place, before: compiled.candidates + before, attempted: [action], accepted });
        else timeOrder.held(action, { ...place, accepted });
      }
    }
    const open = "key" in each ? each.open : each;
    if (open === undefined) {
      rows.mended += 1;
      continue;
    }
    const gives = namesOf(open.attempted);
    invalid.add({
      ...place,
      reason: open.reason,
      isHeld: false,
      before: compiled.candidates + before,
      histories: historiesOf(open.attempted),
      ...(gives !== undefined && { gives }),
      ...("key" in each && { isPart: true }),
    });
    if (timeOrder === undefined)
      blockedRows.add({ ...place, before: compiled.candidates + before, attempted: open.attempted });
    else for (const action of open.attempted) timeOrder.held(action, place);
  }
  noteUntil(batch.candidates);
  for (const { row, key, isMended, actions, isWhole } of batch.rejected) {
    compiled.rejected.set(rows.read + row, key);
    if (isMended) compiled.mends.set(rows.read + row, { row: key, actions, isWhole, known: [] });
  }
  for (const { row, deeds } of batch.leftOut) compiled.leftOut.set(rows.read + row, deeds);
  rows.read += batch.rows;
  rows.skipped += batch.skipped;
  compiled.candidates += batch.candidates;
  if (batch.isUnreadable) compiled.unreadable = true;
}
