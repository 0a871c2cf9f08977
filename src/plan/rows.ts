/** The rows of all inputs, file by file: looked at (look.ts), told, and stored. What depends on other rows comes after (judge.ts). */

import type { Finding, Severity } from "../actions/problem.ts";
import { showRejects } from "../actions/rejects-columns.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Mapper } from "../map/mapper.ts";
import type { FileFinding } from "../map/rules.ts";
import { type Input, type OpenInputOptions, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { keepRejectsApart } from "../read/rejects.ts";
import { keptText } from "../read/row.ts";
import { ContentsSeen, tooLong } from "./files.ts";
import { type Batch, Look, type Looked, type Rules, type Understood, type Whole } from "./look.ts";
import { type Problems, reasonOf, reportFindings, wholeFile } from "./problems.ts";
import { type ReadInput, RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { isWorthThread, type Mapping, ThreadLook } from "./thread.ts";
import { type At, Writer } from "./writer.ts";

/** How the rows of a file are read. */
export interface Reading extends Pick<Rules, "readAs" | "allowEmpty"> {
  readonly mapper: Mapper;
  /** What another mapper of the kind can be made of; undefined where somebody watches this one. */
  readonly mapping: Mapping | undefined;
  /** A source of the config says what its rows give. */
  readonly isSource: boolean;
  /** What can be said of the file before it is read. */
  readonly findings: readonly FileFinding[];
}

export interface RowsOptions extends Pick<Rules, "limit" | "now" | "severities"> {
  readonly files: readonly InputFile[];
  readonly openingOf: (file: InputFile) => OpenInputOptions;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading>;
  /** Actions are sorted by time later. */
  readonly isByTime: boolean;
  readonly severityOf: (rule: string) => Severity;
  readonly problems: Problems;
  readonly ledger: Pick<Ledger, "corrected" | "run"> | undefined;
  /** Called once for each file, when its rows are read. */
  readonly onUnderstood: (file: InputFile, understood: Understood, rows: number) => void;
  /** `bytes` of all files, as they are stored. */
  readonly onRows: (rows: number, bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Reads, maps and checks every row of every file, and stores what they give. */
export async function readRows(store: Store, options: RowsOptions): Promise<RowsRead> {
  const rows = new Rows(store, options);
  for (const [number, file] of options.files.entries()) await rows.addFile(number, file);
  return rows.read;
}

/** A file while it is read. */
interface Open {
  readonly number: number;
  readonly file: InputFile;
  readonly reading: Reading;
  /** Rows that were read before it. */
  readonly before: number;
  /** Rows of it that give actions. */
  given: number;
}

class Rows {
  readonly read = new RowsRead();
  readonly #options: RowsOptions;
  readonly #writer: Writer;
  readonly #contents = new ContentsSeen();
  readonly #apart = keepRejectsApart();
  #bytes = 0;

  constructor(store: Store, options: RowsOptions) {
    this.#options = options;
    this.#writer = new Writer(store, this.read, options.isByTime);
  }

  async addFile(number: number, file: InputFile): Promise<void> {
    const { openingOf, readingOf, onUnderstood } = this.#options;
    await using input = await openInput(file, openingOf(file));
    if (input.header !== undefined) this.#apart.see(file, showRejects(input.header));
    const reading = await readingOf(file, input);
    const of: Open = { number, file, reading, before: this.read.read, given: 0 };
    const here = new Look(input, reading.mapper, this.#rulesFor(reading));
    await using thread = this.#threadFor(of, here.understood);
    const look = thread ?? here;
    try {
      for await (const batch of look.batches()) await this.#add(of, batch);
      // The thread has opened the file anew: it must be the one by whose header its rows are mapped.
      if (thread !== undefined) await input.refuseChanged();
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      onUnderstood(file, look.understood, this.read.read - of.before);
    }
    this.#end(of, look.understood, look.whole);
  }

  #rulesFor({ readAs, allowEmpty }: Reading): Rules {
    const { severities, now, limit } = this.#options;
    return { readAs, severities, now, limit: limit - this.read.read, allowEmpty };
  }

  /** Undefined where the file is not worth one. @param understood before its first row. */
  #threadFor({ file, reading }: Open, understood: Understood): ThreadLook | undefined {
    const { openingOf, signal } = this.#options;
    if (reading.mapping === undefined || !isWorthThread(file)) return undefined;
    const { encoding, csv, rows, maxInputBytes } = openingOf(file);
    const job = { file, opening: { encoding, csv, rows, maxInputBytes }, rules: this.#rulesFor(reading) };
    return new ThreadLook({ ...job, mapping: reading.mapping }, understood, signal);
  }

  async #add(of: Open, batch: Batch): Promise<void> {
    const { read } = this;
    this.#options.signal.throwIfAborted();
    for (const { isRejects, line } of batch.kinds) this.#apart.see(of.file, isRejects, line);
    await this.#store(of, batch.looked);
    read.read += batch.rows;
    read.isCut ||= batch.isCut;
    read.isUnfit ||= batch.isUnfit;
    for (const rows of batch.skipReasons.values()) read.skipped += rows;
    addTo(read.skipReasons, batch.skipReasons);
    addTo(read.eventOnlyReasons, batch.eventOnlyReasons);
    this.#options.onRows(read.read, this.#bytes + batch.bytes);
  }

  async #store(of: Open, rows: readonly Looked[]): Promise<void> {
    const digests = new Map<Looked, string>();
    for (const looked of rows) {
      const { isBad, digest } = looked.unusual ?? {};
      if (isBad === true && digest !== undefined) digests.set(looked, this.#writer.numberedDigest(digest));
    }
    const found = digests.size === 0 ? [] : ((await this.#options.ledger?.corrected([...digests.values()])) ?? []);
    const corrected = Map.groupBy(found, ({ digest }) => digest);
    for (const looked of rows) {
      const { unusual, line } = looked;
      const at: At = { row: of.before + looked.index + 1, input: of.number, ...(await this.#positionOf(unusual)) };
      const digest = digests.get(looked) ?? unusual?.digest;
      const accepted = unusual?.isBad === true && digest !== undefined ? corrected.get(digest) : undefined;
      if (accepted !== undefined) {
        this.#writer.row(at, line, keptText(looked), { state: "corrected", digest });
        for (const action of accepted) this.#writer.corrected(at, action);
      } else if (unusual?.isBad === true) this.#storeBad(of, at, looked, digest);
      else {
        if (unusual !== undefined) this.#report(of, looked, unusual.findings);
        of.given += 1;
        this.#writer.row(at, line, keptText(looked), { digest });
        for (const { kind, identity } of looked.actions) this.#writer.action(at, kind, identity, looked.event);
      }
    }
  }

  /** A row that could not be read or mapped at all is an error, even where the config turned its finding off. */
  #storeBad(of: Open, at: At, looked: Looked, digest: string | undefined): void {
    const { findings = [], attempted = [] } = looked.unusual ?? {};
    this.read.invalid += 1;
    if (!this.#report(of, looked, findings)) {
      const [first = { message: "The row can't be mapped.", hint: "Compare it with the rows above." }] = findings;
      this.#report(of, looked, [{ ...first, rule: "item-shape" }], () => "error");
    }
    const reason = reasonOf(findings, this.#options.severityOf);
    this.#writer.row(at, looked.line, keptText(looked), { state: "invalid", reason, digest });
    for (const action of attempted) this.#writer.bad(at, action);
  }

  /** Where a row of rejects was first read. A run that this ledger does not know is of no place: its number is below zero. */
  async #positionOf(unusual: Looked["unusual"]): Promise<Pick<At, "position" | "isLeft">> {
    const { own, isLeft = false } = unusual ?? {};
    if (own === undefined) return { position: undefined, isLeft };
    const { runs } = this.read;
    this.read.hasPositions = true;
    let number = runs.numberOf(own.run);
    if (number === undefined) {
      number = (await this.#options.ledger?.run(own.run))?.number ?? runs.nextUnknown;
      runs.note(number, own.run);
    }
    return { position: { run: number, seq: own.seq }, isLeft };
  }

  #report(
    { file }: Open,
    looked: Looked,
    findings: readonly Finding[],
    severityOf = this.#options.severityOf,
  ): boolean {
    return reportFindings(this.#options.problems, file, severityOf, looked, looked.index, findings);
  }

  /** Tells what is wrong with a file as a whole: of no row that could be left out, so that an error stops all. */
  #end(
    { file, reading, before, given }: Open,
    { input, understanding }: Understood,
    { ofContent, ofRows, ...digests }: Whole,
  ): void {
    const { limit, problems, severityOf } = this.#options;
    const rows = this.read.read - before;
    const isCut = this.read.read >= limit;
    const found: FileFinding[] = [];
    if (!isCut || rows > 0) found.push(...ofContent);
    if (rows > 0) found.push(...this.#contents.note(file, digests.contentSha256, reading.readAs));
    found.push(...[...reading.findings, ...ofRows].filter(({ isOfAllRows }) => !(isCut && isOfAllRows === true)));
    const isArray = input.format === "json";
    // An export of many rows is no payload.
    if (isArray && understanding.used.length === 0 && given > MOST_IN_REQUEST) found.push(tooLong(given));
    for (const { line = isArray ? 0 : 1, isOfAllRows: _, ...finding } of found)
      if (reportFindings(problems, file, severityOf, wholeFile(line), 0, [finding])) this.read.isUnfit = true;
    this.#bytes += input.bytesRead;
    this.read.inputs.push(inputOf({ file, reading, input, rows, sha256: digests.sha256 }));
  }
}

const MOST_IN_REQUEST = 5000;

function addTo(sums: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [reason, count] of counts) sums.set(reason, (sums.get(reason) ?? 0) + count);
}

function inputOf({
  file: { name, path, compression },
  reading: { readAs, isSource },
  input: { bytesRead: bytes, encoding, delimiter, headerLine, header, format: written },
  ...read
}: Pick<Open, "file" | "reading"> & Pick<Understood, "input"> & Pick<ReadInput, "rows" | "sha256">): ReadInput {
  const format = header !== undefined ? "cells" : written === "json" ? "json" : "ndjson";
  const table = { encoding, delimiter, headerLine, header };
  return { name, path, format, compression, bytes, ...table, readAs, isSource, ...read };
}
