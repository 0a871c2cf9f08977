/** The rows of all inputs, file by file: read, looked at (look.ts), reported, and stored. What depends on other rows comes after (judge.ts). */

import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Corrected, Ledger } from "../ledger/ledger.ts";
import type { Understanding } from "../map/mapper.ts";
import { problemsOfContent } from "../read/content.ts";
import { type Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { keepRejectsApart } from "../read/inputs.ts";
import { REASON_COLUMN, ROW_COLUMN, showRejects } from "../read/rejects-columns.ts";
import { keptText, type Row } from "../read/row.ts";
import { mappingChanged } from "./guard.ts";
import { Look, type Looked } from "./look.ts";
import type { Where } from "./problems.ts";
import type { PublicValues } from "./public-values.ts";
import { openingOf, type Reading, type ReadingOptions, readingOf } from "./reading.ts";
import { type KeptRow, pointerTo, type ReadInput, RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";

/** How an input file was understood, as far as it was read. */
export interface UnderstoodInput {
  readonly file: InputFile;
  readonly rows: number;
  /** Name of the source whose rules were used. */
  readonly source: string | undefined;
  readonly understanding: Understanding;
  readonly input: Pick<Input, "format" | "header" | "headerLine" | "delimiter" | "encoding" | "bytesRead">;
  /** Examples of what will be public. */
  readonly values: Pick<PublicValues, "fields" | "texts" | "traits">;
}

export interface RowsOptions extends ReadingOptions {
  readonly files: readonly InputFile[];
  /** So many rows are looked at. */
  readonly limit: number;
  /** In Unix seconds. */
  readonly now: number;
  /** Actions are sorted by time later. */
  readonly isByTime: boolean;
  readonly ledger: Pick<Ledger, "corrected" | "guard" | "run"> | undefined;
  /** Called once for each file, when its rows are read. */
  readonly onUnderstood: (input: UnderstoodInput) => void;
  /** `bytes` of all files, as they are stored. */
  readonly onRows: (rows: number, bytes: number) => void;
}

/** A file while it is read. */
interface Open {
  readonly number: number;
  readonly file: InputFile;
  readonly format: ReadInput["format"];
  readonly input: Input;
  readonly reading: Reading;
  readonly look: Look;
  /** Rows that were read before it. */
  readonly before: number;
}

/** What the ledger knows of a row. */
interface Known extends Pick<KeptRow, "digest" | "position"> {
  /** What the corrected version of a bad row was accepted as. */
  accepted: readonly Corrected[];
}

export class Rows {
  readonly read: RowsRead;
  readonly #options: RowsOptions;
  readonly #apart = keepRejectsApart();
  #bytes = 0;

  constructor(store: Store, options: RowsOptions) {
    this.#options = options;
    this.read = new RowsRead(store, options);
  }

  /** Reads, maps and checks every row of every file, and stores what they give. */
  async readAll(): Promise<RowsRead> {
    for (const [number, file] of this.#options.files.entries()) await this.#addFile(number, file);
    return this.read;
  }

  async #addFile(number: number, file: InputFile): Promise<void> {
    const { problems, now, onUnderstood } = this.#options;
    await using input = await openInput(file, openingOf(file, this.#options));
    if (input.header !== undefined) this.#apart.see(file, showRejects(input.header));
    const reading = await readingOf(file, input, this.#options);
    const look = new Look(reading, input.header, problems.severityOf, now);
    const of: Open = { number, file, format: formatOf(input), input, reading, look, before: this.read.read };
    try {
      for await (const rows of input.batches()) await this.#add(of, rows);
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      const { format, header, headerLine, delimiter, encoding, bytesRead } = input;
      onUnderstood({
        ...{ file, rows: this.read.read - of.before, source: reading.source },
        ...{ understanding: reading.mapper.understanding, values: look.values },
        input: { format, header, headerLine, delimiter, encoding, bytesRead },
      });
    }
    await this.#end(of);
  }

  /** Looks at some rows, then stores them: what the ledger knows of bad ones is asked together. */
  async #add(of: Open, rows: readonly Row[]): Promise<void> {
    const { limit, signal, onRows } = this.#options;
    const { read } = this;
    signal.throwIfAborted();
    // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
    const within = rows.slice(0, limit - read.read);
    read.isCut ||= within.length < rows.length;
    const looked = within.map((row) => this.#look(of, row));
    const known = await this.#know(looked);
    for (const one of looked) this.#store(of, one, known.get(one));
    read.read += within.length;
    onRows(read.read, this.#bytes + of.input.bytesRead);
  }

  #look({ file, look }: Open, row: Row): Looked {
    if (row.kind === "object") this.#apart.see(file, ROW_COLUMN in row.value || REASON_COLUMN in row.value, row.line);
    return look.look(row);
  }

  /** What the ledger knows of rows that are bad or from rejects. */
  async #know(looked: readonly Looked[]): Promise<ReadonlyMap<Looked, Known>> {
    const known = new Map<Looked, Known>();
    for (const one of looked) {
      const { isBad, own } = one;
      if (!isBad && own === undefined) continue;
      const digest = isBad && one.digest !== undefined ? this.read.numberedDigest(one.digest) : one.digest;
      const position = own && { run: await this.read.numberOfRun(own.run), seq: own.seq };
      known.set(one, { digest, position, accepted: [] });
    }
    const digests = [...known].flatMap(([{ isBad }, { digest }]) => (isBad ? (digest ?? []) : []));
    const corrected = digests.length === 0 ? [] : ((await this.#options.ledger?.corrected(digests)) ?? []);
    const accepted = Map.groupBy(corrected, ({ digest }) => digest);
    for (const one of known.values()) one.accepted = accepted.get(one.digest ?? "") ?? [];
    return known;
  }

  #store(of: Open, looked: Looked, known: Known | undefined): void {
    const { read } = this;
    const { row, problems, skipped, isBad, drafts, eventId, isLeft } = looked;
    const { digest, position, accepted = [] }: Partial<Known> = known ?? {};
    const kept = { input: of.number, line: row.line, text: keptText(row), position, isLeft, digest };
    if (!isBad) {
      if (problems.length > 0) read.problems.report(whereIs(of, kept), problems);
      if (skipped === undefined) read.putRow(kept, drafts, eventId);
      else read.skip(skipped);
    } else {
      if (row.kind === "malformed" && !row.bordersKnown) read.isUnfit = true;
      if (accepted.length > 0) read.putCorrected(kept, accepted);
      else read.putBad(kept, drafts, this.#reportBad(whereIs(of, kept), problems));
    }
  }

  /**
   * A row that could not be read or mapped at all is an error, even where the config turned its problem off.
   *
   * @returns why it is not sent, for its rejects.
   */
  #reportBad(where: Where, found: readonly Problem[]): string {
    const { problems } = this.read;
    this.read.invalid += 1;
    if (!problems.report(where, found)) {
      const [first = { message: "The row can't be mapped.", hint: "Compare it with the rows above." }] = found;
      problems.add(where, { ...first, rule: "item-shape" }, "error");
    }
    const errors = found.filter(({ rule }) => problems.severityOf(rule) === "error");
    const shown = (errors.length > 0 ? errors : found).map(({ rule, message }) => `${rule}: ${message}`);
    // Several actions of a row may all lack the same.
    return [...new Set(shown)].join(" ");
  }

  /** Reports what is wrong with a file as a whole: of no row that could be left out, so that an error stops all. */
  async #end({ file, format, input, reading, before }: Open): Promise<void> {
    const { limit, problems, ledger } = this.#options;
    const { readAs, isSource, made, mapper, allowEmpty } = reading;
    const isFirst = this.read.sourceOf(readAs) === undefined;
    const guards = (isFirst ? await ledger?.guard(readAs) : undefined) ?? [];
    const rows = this.read.read - before;
    const isCut = this.read.read >= limit;
    const found: FileProblem[] = isCut && rows === 0 ? [] : [...problemsOfContent(input, rows, allowEmpty)];
    const ofRows = [...mappingChanged(readAs, made, guards), ...(mapper.problemsOfFile?.() ?? [])];
    found.push(...ofRows.filter(({ isOfAllRows }: FileProblem) => !(isCut && isOfAllRows === true)));
    const isArray = input.format === "json";
    // An export of many rows is no payload.
    if (isArray && mapper.understanding.used.length === 0 && rows > MAX_ACTIONS_PER_REQUEST) found.push(tooLong(rows));
    for (const { line = isArray ? 0 : 1, isOfAllRows: _, ...problem } of found)
      if (problems.report({ source: file.name, line }, [problem])) this.read.isUnfit = true;
    this.#bytes += input.bytesRead;
    const { sha256, encoding, delimiter, header } = input;
    this.read.inputs.push({
      ...{ name: file.name, format, sha256, rows, encoding, delimiter, header },
      ...{ readAs, isSource, made, guards },
    });
  }
}

function formatOf({ header, format }: Pick<Input, "header" | "format">): ReadInput["format"] {
  if (header !== undefined) return "cells";
  return format === "json" ? "json" : "ndjson";
}

function whereIs({ file, format }: Open, { line, text }: KeptRow): Where {
  return { source: file.name, line, text, item: pointerTo(format, line) };
}

const tooLong = (items: number): FileProblem => ({
  rule: "payload-too-long",
  message: `The payload has ${items} items; a request takes ${MAX_ACTIONS_PER_REQUEST}.`,
  hint: "tickets stream splits it.",
});
