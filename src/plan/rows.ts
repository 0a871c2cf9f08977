/** The rows of all inputs, file by file: looked at (look.ts), reported, and stored. What depends on other rows comes after (judge.ts). */

import { statSync } from "node:fs";
import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Corrected, Ledger, Position } from "../ledger/ledger.ts";
import { type Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { keepRejectsApart } from "../read/inputs.ts";
import { showRejects } from "../read/rejects-columns.ts";
import { mappingChanged } from "./guard.ts";
import { type Batch, Look, type Looked, type Rules, type Understood, type Unusual, type Whole } from "./look.ts";
import type { Where } from "./problems.ts";
import { openingOf, type Reading, type ReadingOptions, readingOf } from "./reading.ts";
import { type KeptRow, pointerTo, type ReadInput, RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import type { ThreadLook } from "./thread.ts";

/** How an input file was read. */
export interface UnderstoodInput extends Understood {
  readonly file: InputFile;
  readonly rows: number;
  /** Name of the source whose rules were used. */
  readonly source: string | undefined;
}

export interface RowsOptions extends Pick<Rules, "limit" | "now" | "severities">, ReadingOptions {
  readonly files: readonly InputFile[];
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
  readonly reading: Reading;
  /** Rows that were read before it. */
  readonly before: number;
}

/** An unusual row, with what the ledger knows of it. */
interface Known extends Unusual {
  readonly position: Position | undefined;
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
    await using input = await openInput(file, openingOf(file, this.#options));
    if (input.header !== undefined) this.#apart.see(file, showRejects(input.header));
    const reading = await readingOf(file, input, this.#options);
    const of: Open = { number, file, format: formatOf(input), reading, before: this.read.read };
    const here = new Look(input, reading.mapper, this.#rulesFor(reading), reading.onRow);
    await using thread = await this.#threadFor(of, here.understood);
    const look = thread ?? here;
    try {
      for await (const batch of look.batches()) await this.#add(of, batch);
      // The thread has opened the file anew: it must be the one by whose header its rows are mapped.
      if (thread !== undefined) await input.refuseChanged();
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      this.#options.onUnderstood({
        ...look.understood,
        file,
        rows: this.read.read - of.before,
        source: reading.source,
      });
    }
    await this.#end(of, look.understood, look.whole);
  }

  #rulesFor({ readAs, allowEmpty }: Reading): Rules {
    const { severities, now, limit } = this.#options;
    return { readAs, severities, now, limit: limit - this.read.read, allowEmpty };
  }

  /** Undefined where the file is not worth one, or somebody watches its rows. @param understood before its first row. */
  async #threadFor({ file, reading }: Open, understood: Understood): Promise<ThreadLook | undefined> {
    if (reading.onRow !== undefined || !isWorthThread(file)) return undefined;
    const { encoding, csv, rows, maxInputBytes } = openingOf(file, this.#options);
    const job = { file, opening: { encoding, csv, rows, maxInputBytes }, rules: this.#rulesFor(reading) };
    const { ThreadLook } = await import("./thread.ts");
    return new ThreadLook({ ...job, mapping: reading.mapping }, understood, this.#options.signal);
  }

  async #add(of: Open, batch: Batch): Promise<void> {
    const { read } = this;
    this.#options.signal.throwIfAborted();
    for (const { isRejects, line } of batch.kinds) this.#apart.see(of.file, isRejects, line);
    const known = await this.#know(batch.unusual);
    for (const looked of batch.looked) this.#store(of, looked, known.get(looked[0]));
    read.read += batch.rows;
    read.isCut ||= batch.isCut;
    read.isUnfit ||= batch.isUnfit;
    for (const [reason, rows] of batch.skipReasons) {
      read.skipped += rows;
      read.skipReasons.set(reason, (read.skipReasons.get(reason) ?? 0) + rows);
    }
    this.#options.onRows(read.read, this.#bytes + batch.bytes);
  }

  async #know(unusual: Batch["unusual"]): Promise<ReadonlyMap<number, Known>> {
    const known = new Map<number, Known>();
    for (const [index, what] of unusual) {
      const { isBad, own } = what;
      const digest = isBad && what.digest !== undefined ? this.read.numberedDigest(what.digest) : what.digest;
      const position = own && { run: await this.read.numberOfRun(own.run), seq: own.seq };
      known.set(index, { ...what, digest, position, accepted: [] });
    }
    const bad = [...known.values()].filter(({ isBad }) => isBad);
    const digests = bad.flatMap(({ digest }) => digest ?? []);
    const corrected = digests.length === 0 ? [] : ((await this.#options.ledger?.corrected(digests)) ?? []);
    const accepted = Map.groupBy(corrected, ({ digest }) => digest);
    for (const row of bad) row.accepted = accepted.get(row.digest ?? "") ?? [];
    return known;
  }

  #store(of: Open, [, line, text, ...action]: Looked, what: Known | undefined): void {
    const { read } = this;
    const { position, isLeft = false, digest }: Partial<Known> = what ?? {};
    const row = { input: of.number, line, text: text ?? "", position, isLeft, digest };
    if (what?.isBad === true) {
      this.#storeBad(of, row, what);
      return;
    }
    if (what !== undefined && text !== null) read.problems.report(whereIs(of, row), what.problems);
    if (action.length === 0) return; // skipped
    if (text !== null) read.beginRow(row);
    read.putAction(action);
  }

  #storeBad(of: Open, row: KeptRow, { problems, attempted, accepted }: Known): void {
    const { read } = this;
    if (accepted.length > 0) {
      read.beginRow(row, "corrected");
      for (const action of accepted) read.putCorrected(action);
    } else {
      read.beginRow(row, "invalid", this.#reportBad(whereIs(of, row), problems));
      read.putBad(attempted);
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
  async #end(of: Open, { input, understanding }: Understood, whole: Whole): Promise<void> {
    const { limit, problems, ledger } = this.#options;
    const { file, format, reading } = of;
    const { readAs, isSource, made } = reading;
    const isFirst = this.read.sourceOf(readAs) === undefined;
    const guards = (isFirst ? await ledger?.guard(readAs) : undefined) ?? [];
    const rows = this.read.read - of.before;
    const isCut = this.read.read >= limit;
    const found: FileProblem[] = isCut && rows === 0 ? [] : [...whole.ofContent];
    const ofRows = [...mappingChanged(readAs, made, guards), ...whole.ofRows];
    found.push(...ofRows.filter(({ isOfAllRows }: FileProblem) => !(isCut && isOfAllRows === true)));
    const isArray = input.format === "json";
    // An export of many rows is no payload.
    if (isArray && understanding.used.length === 0 && rows > MAX_ACTIONS_PER_REQUEST) found.push(tooLong(rows));
    for (const { line = isArray ? 0 : 1, isOfAllRows: _, ...problem } of found)
      if (problems.report({ source: file.name, line }, [problem])) this.read.isUnfit = true;
    this.#bytes += input.bytesRead;
    const { encoding, delimiter, header } = input;
    this.read.inputs.push({
      ...{ name: file.name, format, sha256: whole.sha256, rows, encoding, delimiter, header },
      ...{ readAs, isSource, made, guards },
    });
  }
}

/** Starting a thread costs as much as looking at so many bytes. */
const LEAST_BYTES = 16 * 1024 * 1024;

function isWorthThread({ path }: InputFile): boolean {
  const found = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size >= LEAST_BYTES;
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
