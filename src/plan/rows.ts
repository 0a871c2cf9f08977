/** One loop: read → map → check → identify → store. A row by itself; what depends on other rows comes after (judge.ts). */

import { setImmediate } from "node:timers/promises";
import { itemOf } from "../actions/draft.ts";
import { identityOf } from "../actions/marks.ts";
import type { Finding, Severity } from "../actions/problem.ts";
import { parseRowKey, REASON_COLUMN, ROW_COLUMN, type RowKey, showRejects } from "../actions/rejects-columns.ts";
import type { Ledger, Position } from "../ledger/ledger.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { Mapped, Mapper, Understanding } from "../map/mapper.ts";
import { createRowDigester, type RowDigester } from "../map/row-digest.ts";
import { findingsOfContent } from "../read/content.ts";
import type { Input } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { keepRejectsApart } from "../read/rejects.ts";
import { keptText, type Row } from "../read/row.ts";
import { ContentsSeen, tooLong } from "./files.ts";
import { type Problems, reasonOf, reportFindings, wholeFile } from "./problems.ts";
import { PublicValues } from "./public-values.ts";
import { findingsOfMapped } from "./row-findings.ts";
import { type ReadInput, RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import { type At, Writer } from "./writer.ts";

/** How the rows of a file are read. */
export interface Reading {
  readonly mapper: Mapper;
  /** The source, or the action; "" where the rows say it themselves. */
  readonly readAs: string;
  /** A source of the config says what its rows give. */
  readonly isSource: boolean;
  /** What can be said of the file before it is read. */
  readonly findings: readonly FileFinding[];
}

export interface RowsOptions {
  readonly files: readonly InputFile[];
  readonly open: (file: InputFile) => Promise<Input>;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading>;
  /** Take a file of 0 bytes for an input without rows. */
  readonly allowEmpty: boolean;
  /** Only the first rows, over all files. */
  readonly limit: number;
  /** Actions are sorted by time later. */
  readonly isByTime: boolean;
  readonly severityOf: (rule: string) => Severity;
  readonly problems: Problems;
  readonly ledger: Pick<Ledger, "corrected" | "run"> | undefined;
  /** In Unix seconds. */
  readonly now: number;
  /** Called once for each file, when its rows are read. */
  readonly onUnderstood: (file: InputFile, understanding: Understanding, input: Input, values: PublicValues) => void;
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

/** A row that was looked at, and is not stored yet: whether a bad one was corrected is asked for many at once. */
interface Looked {
  readonly row: Row;
  /** Number of the row in the plan, from 1, and in its file, from 0. */
  readonly number: number;
  readonly index: number;
  readonly mapped: Mapped | undefined;
  readonly findings: readonly Finding[];
  readonly isBad: boolean;
  readonly digest: string | undefined;
  /** It was unclear when it was put into its rejects, and stands there as it was. */
  readonly isLeft: boolean;
  readonly own: RowKey | undefined;
}

/** A file while it is read. */
interface Open {
  readonly number: number;
  readonly file: InputFile;
  readonly input: Input;
  readonly reading: Reading;
  readonly digester: RowDigester;
  readonly values: PublicValues;
  /** Index of the cell that rejects keep digest and position in; -1 where there is none. */
  readonly own: number;
  /** Rows of it so far, and those that give actions. */
  rows: number;
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
    const { open, readingOf, onUnderstood } = this.#options;
    await using input = await open(file);
    const { header } = input;
    if (header !== undefined) this.#apart.see(file, showRejects(header));
    const reading = await readingOf(file, input);
    const values = new PublicValues();
    const digester = createRowDigester(header, reading.readAs);
    const own = header?.findIndex((name) => name.trim() === ROW_COLUMN) ?? -1;
    const { wanted } = reading.mapper;
    input.wanted = own === -1 ? wanted : wanted?.with(own, true);
    const of: Open = { number, file, input, reading, digester, values, own, rows: 0, given: 0 };
    try {
      await this.#addRows(of);
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      onUnderstood(file, reading.mapper.understanding, input, values);
    }
    this.#tellOf(of);
    this.#bytes += input.bytesRead;
    this.read.inputs.push(inputOf(of));
  }

  async #addRows(of: Open): Promise<void> {
    const { limit, signal, onRows } = this.#options;
    for await (const rows of of.input.batches()) {
      signal.throwIfAborted();
      // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
      const room = limit - this.read.read;
      if (rows.length > room) this.read.isCut = true;
      const looked: Looked[] = [];
      for (let at = 0; at < rows.length && at < room; at += 1) {
        const seen = this.#look(of, rows[at] as Row); // within its length
        if (seen !== undefined) looked.push(seen);
      }
      await this.#store(of, looked);
      onRows(this.read.read, this.#bytes + of.input.bytesRead);
      await setImmediate();
    }
  }

  /** Maps and checks one row. Undefined where it gives nothing. */
  #look(of: Open, row: Row): Looked | undefined {
    const { mapper } = of.reading;
    const index = of.rows;
    of.rows += 1;
    this.read.read += 1;
    if (row.kind === "object") this.#apart.see(of.file, isOfRejects(row.value), row.line);
    const mapped = mapper.map(row);
    // A row that may hide something is neither skipped nor sent.
    const hides = row.kind === "cells" && row.findings !== undefined && this.#isError(row.findings);
    if (mapped.kind === "skipped" && !hides) {
      count(this.read.skipReasons, mapped.reason);
      this.read.skipped += 1;
      return undefined;
    }
    const findings = hides ? (row.findings ?? []) : this.#findingsOf(row, mapped);
    const isBad = hides || row.kind === "malformed" || mapped.kind === "invalid" || this.#isError(findings);
    if (row.kind === "malformed" && !row.bordersKnown) this.read.isUnfit = true;
    if (mapped.kind === "actions") {
      if (isBad) mapper.retract?.(mapped.drafts);
      else if (mapped.eventOnly !== undefined) count(this.read.eventOnlyReasons, mapped.eventOnly);
      of.values.see(mapped.drafts, row.kind === "object");
    }
    const own = ownOf(of, row);
    const isLeft = own?.isUnclear === true && own.digest === of.digester(row);
    const corrects = own?.isUnclear === true ? undefined : own?.digest;
    const digest = isBad ? this.#writer.numberedDigest(corrects ?? of.digester(row)) : corrects;
    return { row, number: this.read.read, index, mapped, findings, isBad, digest, isLeft, own };
  }

  #findingsOf(row: Row, mapped: Mapped): readonly Finding[] {
    if (mapped.kind === "skipped") return [];
    const own = row.kind === "malformed" && mapped.kind !== "invalid" ? row.findings : [];
    const ofRow = row.kind === "cells" ? (row.findings ?? []) : own;
    const found = findingsOfMapped(mapped, this.#options.now);
    return ofRow.length === 0 ? found : [...ofRow, ...found];
  }

  #isError(findings: readonly Finding[]): boolean {
    for (const { rule } of findings) if (this.#options.severityOf(rule) === "error") return true;
    return false;
  }

  async #store(of: Open, rows: readonly Looked[]): Promise<void> {
    const digests = rows.flatMap(({ isBad, digest }) => (isBad && digest !== undefined ? [digest] : []));
    const found = digests.length === 0 ? [] : ((await this.#options.ledger?.corrected(digests)) ?? []);
    const corrected = Map.groupBy(found, ({ digest }) => digest);
    for (const looked of rows) {
      const { row, mapped, digest, findings, isBad } = looked;
      const position = looked.own && (await this.#positionOf(looked.own));
      const at: At = { row: looked.number, input: of.number, position, isLeft: looked.isLeft };
      const text = keptText(row);
      const accepted = isBad && digest !== undefined ? corrected.get(digest) : undefined;
      if (accepted !== undefined) {
        this.#writer.row(at, row.line, text, { state: "corrected", digest });
        for (const action of accepted) this.#writer.corrected(at, action);
        continue;
      }
      if (!isBad && mapped?.kind === "actions") {
        if (findings.length > 0) this.#report(of, looked, findings);
        of.given += 1;
        this.#writer.row(at, row.line, text, { digest });
        for (const [nth, draft] of mapped.drafts.entries())
          this.#writer.action(at, draft.action, identityOf(draft, mapped.keys?.[nth]), mapped.eventId);
        continue;
      }
      this.read.invalid += 1;
      this.#reportBad(of, looked, findings);
      const reason = reasonOf(findings, this.#options.severityOf);
      this.#writer.row(at, row.line, text, { state: "invalid", reason, digest });
      const attempted = mapped?.kind === "actions" ? mapped.drafts : mapped?.kind === "invalid" ? mapped.attempted : [];
      for (const draft of attempted) this.#writer.bad(at, itemOf(draft));
    }
  }

  /** Where a row of rejects was first read. A run that this ledger does not know is of no place: its number is below zero. */
  async #positionOf({ run, seq }: RowKey): Promise<Position> {
    const { runs } = this.read;
    this.read.hasPositions = true;
    let number = runs.numberOf(run);
    if (number === undefined) {
      number = (await this.#options.ledger?.run(run))?.number ?? runs.nextUnknown;
      runs.note(number, run);
    }
    return { run: number, seq };
  }

  #report(
    of: Open,
    { row, index }: Looked,
    findings: readonly Finding[],
    severityOf = this.#options.severityOf,
  ): boolean {
    return reportFindings(this.#options.problems, of.file, severityOf, row, index, findings);
  }

  /** A row that could not be read or mapped at all is an error, even where the config turned its finding off. */
  #reportBad(of: Open, looked: Looked, findings: readonly Finding[]): void {
    if (this.#report(of, looked, findings)) return;
    const [first = { message: "The row can't be mapped.", hint: "Compare it with the rows above." }] = findings;
    this.#report(of, looked, [{ ...first, rule: "item-shape" }], () => "error");
  }

  /** Tells what is wrong with a file as a whole: of no row that could be left out, so that an error stops all. */
  #tellOf({ file, input, reading, rows, given }: Open): void {
    const { limit, allowEmpty, problems, severityOf } = this.#options;
    const isCut = this.read.read >= limit;
    const found: FileFinding[] = [];
    if (!isCut || rows > 0) found.push(...findingsOfContent(input, rows, allowEmpty));
    if (rows > 0) found.push(...this.#contents.note(input, reading.readAs));
    const ofFile = [...reading.findings, ...(reading.mapper.findingsOfFile?.() ?? [])];
    found.push(...ofFile.filter(({ isOfAllRows }) => !(isCut && isOfAllRows === true)));
    if (file.format === "json" && given > MOST_IN_REQUEST) found.push(tooLong(given));
    for (const { line = 1, isOfAllRows: _, ...finding } of found)
      if (reportFindings(problems, file, severityOf, wholeFile(line), 0, [finding])) this.read.isUnfit = true;
  }
}

const MOST_IN_REQUEST = 5000;

const isOfRejects = (value: object): boolean => ROW_COLUMN in value || REASON_COLUMN in value;

function count(reasons: Map<string, number>, reason: string): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
}

/** What the row's `tickets:row` says; undefined where the row is not from rejects. */
const ownOf = ({ own }: Open, row: Row): RowKey | undefined =>
  parseRowKey(row.kind === "object" ? row.value[ROW_COLUMN] : row.cells?.[own]);

function inputOf({ file, input, reading, rows }: Open): ReadInput {
  const { bytesRead: bytes, sha256, encoding, delimiter, headerLine, header } = input;
  const format = header !== undefined ? "cells" : input.format === "json" ? "json" : "ndjson";
  const { readAs, isSource } = reading;
  const { name, path, compression } = file;
  return {
    name,
    path,
    format,
    compression,
    bytes,
    sha256,
    rows,
    encoding,
    delimiter,
    headerLine,
    header,
    readAs,
    isSource,
  };
}
