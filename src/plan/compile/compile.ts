/** All rows of all files to checked candidates on disk. What depends on other rows comes after (decide/decide.ts). */

import { statSync } from "node:fs";
import { MAX_ACTIONS_PER_REQUEST } from "../../actions/actions.ts";
import type { Severity } from "../../actions/problem.ts";
import type { FileFinding } from "../../mapping/file-finding.ts";
import type { Understanding } from "../../mapping/mapper.ts";
import { showRejects } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { findingsOfContent } from "../../readers/content.ts";
import type { Input } from "../../readers/input.ts";
import type { InputFile } from "../../readers/input-file.ts";
import { keepRejectsApart } from "../../readers/rejects.ts";
import { type CandidateFiles, createCandidates, endCandidates, syncCandidates } from "../candidates/candidates.ts";
import { type PublicValues, PublicValuesSeen } from "../candidates/public-values.ts";
import { reportFindings } from "../findings/findings-of-row.ts";
import { createRowMarks } from "../rejects/mended-rows.ts";
import { type MadeMapper, RowCompiler } from "./compile-rows.ts";
import { CompiledRows, type CompiledRowsOptions, type RowsCompiled } from "./compiled-rows.ts";
import { createContentsSeen } from "./same-contents.ts";

export interface CompileOptions extends CompiledRowsOptions {
  readonly files: readonly InputFile[];
  /** Folder for the candidate files, which must not exist yet. */
  readonly directory: string;
  /** The files of the candidates may become those of the plan. */
  readonly areLasting: boolean;
  readonly open: (file: InputFile) => Promise<Input>;
  readonly mapperFor: (file: InputFile, input: Input) => Promise<MadeMapper>;
  readonly severityOf: (rule: string) => Severity;
  /** In Unix seconds. */
  readonly now: number;
  /** Only the first rows, over all files. */
  readonly limit: number;
  readonly onUnderstood: OnUnderstood;
  /** `share`: how much of the input was read, 0 to 1; undefined where that can't be known. */
  readonly onRows: (rows: number, share: number | undefined) => void;
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
  /** The key of its source, as the config says it. */
  readonly key: string | undefined;
}

export interface Compiled extends RowsCompiled {
  readonly inputs: readonly ReadInput[];
  /** Rows behind the limit were left out. */
  readonly isCut: boolean;
  /** True when what is said of one of the files as a whole is an error, which no allowance for invalid rows covers. */
  readonly unfit: boolean;
  /** Resolves when those candidates are on disk that become files of the plan, which takes as long as to decide about them. */
  readonly synced: Promise<void>;
}

/** Reads, maps and checks every row of every file, and writes the valid rows' actions as candidates. */
export async function compile(options: CompileOptions): Promise<Compiled> {
  const { directory, areLasting, timeOrder } = options;
  const candidates = timeOrder === undefined ? await createCandidates(directory, areLasting) : undefined;
  try {
    const inputs = new CompiledInputs(options, candidates);
    for (const [number, file] of options.files.entries()) await inputs.add(number, file);
    if (candidates === undefined) return { ...inputs.compiled, synced: Promise.resolve() };
    await endCandidates(candidates);
    const synced = (areLasting ? syncCandidates(candidates) : Promise.resolve()).finally(() =>
      candidates[Symbol.asyncDispose](),
    );
    synced.catch(() => undefined); // awaited where a plan comes of it
    return { ...inputs.compiled, synced };
  } catch (cause) {
    await candidates?.[Symbol.asyncDispose]();
    throw cause;
  }
}

/** A file that is being read. */
interface Reading {
  readonly number: number;
  readonly file: InputFile;
  readonly input: Input;
  readonly made: MadeMapper;
}

class CompiledInputs {
  readonly #options: CompileOptions;
  readonly #bytes: number | undefined;
  readonly #compiled: CompiledRows;
  readonly #inputs: ReadInput[] = [];
  readonly #contentsSeen = createContentsSeen();
  readonly #marks: ReturnType<typeof createRowMarks>;
  readonly #apart = keepRejectsApart();
  #isCut = false;
  #isUnfit = false;

  constructor(options: CompileOptions, candidates: CandidateFiles | undefined) {
    this.#options = options;
    this.#bytes = bytesOf(options.files);
    this.#compiled = new CompiledRows(options, candidates);
    this.#marks = createRowMarks(options.rejectedRows);
  }

  get compiled(): Omit<Compiled, "synced"> {
    return { ...this.#compiled, inputs: this.#inputs, isCut: this.#isCut, unfit: this.#isUnfit };
  }

  async add(number: number, file: InputFile): Promise<void> {
    const { open, mapperFor } = this.#options;
    await using input = await open(file);
    if (input.header !== undefined) this.#apart.see(file, showRejects(input.header));
    const reading = { number, file, input, made: await mapperFor(file, input) };
    const before = this.#compiled.rows.read;
    const items = await this.#readRows(reading);
    const rows = this.#compiled.rows.read - before;
    this.#tellOf(reading, rows, items);
    this.#inputs.push(readInput(reading, rows));
  }

  #shareRead(bytes: number): number | undefined {
    if (this.#bytes === undefined || this.#bytes === 0) return undefined;
    const before = this.#inputs.reduce((sum, input) => sum + input.bytes, 0);
    return Math.min(1, (before + bytes) / this.#bytes);
  }

  /** @returns how many rows are neither skipped nor invalid. */
  async #readRows({ file, input, number, made }: Reading): Promise<number> {
    const { now, severityOf, rowEvents, problems, onRows, onUnderstood, signal } = this.#options;
    const into = this.#compiled;
    const publicValues = new PublicValuesSeen();
    const compiler = new RowCompiler({
      ...{ file, input: number, made, severityOf, now, rowEvents, publicValues, problems, into },
      header: input.header,
      marks: this.#marks,
      onObject: (isRejects, line) => this.#apart.see(file, isRejects, line),
    });
    try {
      for await (const rows of input.batches()) {
        // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
        for (const row of this.#withinLimit(rows)) {
          compiler.add(row);
          if (into.isFull) await into.write();
        }
        await into.write();
        signal.throwIfAborted();
        onRows(into.rows.read, this.#shareRead(input.bytesRead));
      }
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      onUnderstood(file, made.mapper.understanding, input, publicValues);
    }
    return compiler.items;
  }

  #withinLimit(rows: readonly Row[]): readonly Row[] {
    const capacity = this.#options.limit - this.#compiled.rows.read;
    if (rows.length <= capacity) return rows;
    this.#isCut = true;
    return rows.slice(0, capacity);
  }

  /** Tells what is wrong with a file as a whole. */
  #tellOf({ file, input, made }: Reading, rows: number, items: number): void {
    const { readAs, findings = [], mapper } = made;
    const hasRows = rows > 0;
    const isCut = this.#compiled.rows.read >= this.#options.limit;
    const twins = hasRows ? this.#contentsSeen.note(input, readAs) : [];
    if (!isCut || hasRows) this.#report(file, findingsOfContent(input, rows, this.#options.allowEmpty));
    this.#report(file, twins);
    const ofFile = [...findings, ...(mapper.findingsOfFile?.() ?? [])];
    this.#report(
      file,
      ofFile.filter(({ isOfAllRows }) => !(isCut && isOfAllRows === true)),
    );
    if (file.format === "json" && items > MAX_ACTIONS_PER_REQUEST) this.#report(file, [tooLong(items)]);
  }

  /** An error of a whole file is of no row that could be left out, so that nothing of the input is sent. */
  #report(file: InputFile, findings: readonly FileFinding[]): void {
    const { problems, severityOf } = this.#options;
    for (const { line = 1, isOfAllRows: _, ...finding } of findings)
      if (reportFindings(problems, file, severityOf, { ...WHOLE_FILE, line }, 0, [finding])) this.#isUnfit = true;
  }
}

/** Of all files, as they are stored; undefined where one is standard input or a pipe, or is gone. */
function bytesOf(files: readonly InputFile[]): number | undefined {
  let bytes = 0;
  for (const { path } of files) {
    const stats = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return undefined;
    bytes += stats.size;
  }
  return bytes;
}

/** What is said of a whole file stands in its first line, unless a row shows it. */
const WHOLE_FILE = { kind: "object", value: {}, text: "" } as const;

const tooLong = (items: number): FileFinding => ({
  rule: "payload-too-long",
  message: `The payload has ${items} items; a request takes ${MAX_ACTIONS_PER_REQUEST}.`,
  hint: "tickets stream splits it.",
});

const rowFormat = (input: Input): ReadInput["format"] =>
  input.header !== undefined ? "cells" : input.format === "json" ? "json" : "ndjson";

function readInput({ file, input, made }: Reading, rows: number): ReadInput {
  const { readAs, rules, key } = made;
  return {
    format: rowFormat(input),
    name: file.name,
    path: file.path,
    bytes: input.bytesRead,
    sha256: input.sha256,
    rows,
    encoding: input.encoding,
    delimiter: input.delimiter,
    headerLine: input.headerLine,
    readAs,
    rules,
    key,
  };
}
