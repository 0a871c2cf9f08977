/** Rows to checked candidates: everything that can be said about a row by itself. */

import { ACTION_NAMES, registersEvent } from "../../actions/actions.ts";
import { digestHex, ownKeyText } from "../../actions/identity.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import type { FileFinding } from "../../mapping/file-finding.ts";
import type { IdRule } from "../../mapping/id-rules.ts";
import type { Mapped, Mapper } from "../../mapping/mapper.ts";
import { nthOfName, openActionText, REJECTS_COLUMNS } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { createRowDigester, type RowDigester } from "../../mapping/row-digest.ts";
import type { InputFile } from "../../readers/input-file.ts";
import { CandidateWriter } from "../candidates/candidate-writer.ts";
import type { OrderKey } from "../candidates/facts.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { findingsOfMapped, reasonOf, reportFindings } from "../findings/findings-of-row.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import {
  findingsOfMark,
  findingsOfMended,
  givenBy,
  isOneOf,
  isRestOf,
  NOTHING_OPEN,
} from "../rejects/findings-of-rejects.ts";
import type { MendedMark, RowMarks } from "../rejects/mended-rows.ts";
import type { Batch, BatchInvalid, BatchMended } from "./batch.ts";

export interface RowCompiler {
  /** Maps and checks the rows, as many as the batch says: once much has come of them the others wait. Its problems are kept by `log`. */
  compile(rows: readonly Row[], log: ProblemLog): Batch;
}

export interface RowCompilerOptions {
  readonly file: Pick<InputFile, "name" | "format">;
  /** Number of the input, from 0. */
  readonly input: number;
  readonly made: MadeMapper;
  readonly severityOf: (rule: string) => Severity;
  /** In Unix seconds, the same for all rows of a plan. */
  readonly now: number;
  /** Note the event that a row names for actions that carry none. */
  readonly notesEvents: boolean;
  /** The columns of a table. */
  readonly header: readonly string[] | undefined;
  readonly marks: RowMarks;
  readonly publicValues: PublicValuesSeen;
}

/** The mapper of a file, and what it was made of. */
export interface MadeMapper {
  readonly mapper: Mapper;
  /** What the rows are read as: the source, or the action. */
  readonly readAs: string;
  /** The actions that the source lists (action-rules.ts). */
  readonly rules: readonly string[];
  /** How the source makes its ids. */
  readonly ids?: readonly IdRule[];
  /** The key of the source, as its config says it. */
  readonly key?: string;
  /** What can be said of the file before it is read. */
  readonly findings?: readonly FileFinding[];
  /** What can be said of the source; told of its first file that has rows. */
  readonly findingsOfSource?: readonly FileFinding[];
}

/** Bytes of lines after which a batch ends, with the row that it is at. */
const MOST_GIVEN_BYTES = 1.5 * 1024 * 1024;

export function createRowCompiler(options: RowCompilerOptions): RowCompiler {
  const ofFile: OfFile = {
    writer: new CandidateWriter(),
    digester: createRowDigester(options.header, options.made.readAs),
  };
  /** Items of a JSON array are identified by their number in the file. */
  let rowsBefore = 0;
  return {
    compile(rows, log) {
      const batch = new CompiledRows(options, ofFile, log, rowsBefore);
      for (const row of rows) {
        batch.add(row);
        if (batch.isFull) break;
      }
      const compiled = batch.end();
      rowsBefore += compiled.rows;
      return compiled;
    },
  };
}

/** What is used for all batches of a file. */
interface OfFile {
  readonly writer: CandidateWriter;
  readonly digester: RowDigester;
}

type Mark = ReturnType<RowMarks["of"]>;

/** A batch while it is compiled. */
class CompiledRows {
  readonly #options: RowCompilerOptions;
  readonly #ofFile: OfFile;
  readonly #log: ProblemLog;
  readonly #rowsBefore: number;
  readonly #skipReasons = new Map<string, number>();
  readonly #eventOnlyReasons = new Map<string, number>();
  readonly #invalid: BatchInvalid[] = [];
  readonly #mended: BatchMended[] = [];
  readonly #rejected: Batch["rejected"][number][] = [];
  readonly #firstLines: { rejects: number | undefined; other: number | undefined } = {
    rejects: undefined,
    other: undefined,
  };
  readonly #leftOut: Batch["leftOut"][number][] = [];
  readonly #newEvents = new Set<string>();
  readonly #rowEvents: { row: number; eventId: string }[] = [];
  /** Number of the present row. */
  #row = 0;
  #skipped = 0;
  #isUnreadable = false;

  /** @param rowsBefore rows of the file in earlier batches. */
  constructor(options: RowCompilerOptions, ofFile: OfFile, log: ProblemLog, rowsBefore: number) {
    this.#options = options;
    this.#ofFile = ofFile;
    this.#log = log;
    this.#rowsBefore = rowsBefore;
  }

  /** So much has come of the rows that there is to be another batch for the others. */
  get isFull(): boolean {
    return this.#ofFile.writer.lineBytes >= MOST_GIVEN_BYTES;
  }

  add(row: Row): void {
    const { made, marks } = this.#options;
    const { mapper } = made;
    this.#row += 1;
    if (row.kind === "object") this.#firstLines[isOfRejects(row.value) ? "rejects" : "other"] ??= row.line;
    const mark = marks.of(row, this.#ofFile.digester);
    if (mark?.kind === "repeated") this.#skip("the same row occurs earlier in these rejects (tickets:row)");
    else if (mark?.kind === "mended") {
      const mapped = row.kind === "malformed" ? undefined : mapper.map(row);
      if (mapped?.kind === "actions" && isRestOf(mark, mapped, marks)) this.#addMapped(row, mark, mapped);
      else this.#addMended(row, mark, mapped);
    } else if (row.kind === "malformed") this.#addMalformed(row);
    else this.#addMapped(row, mark, mapper.map(row));
  }

  /** A bad row whose mended version was accepted. */
  #addMended(row: Row, mark: MendedMark, mapped: Mapped | undefined): void {
    const { made, marks, severityOf, now } = this.#options;
    const { mapper } = made;
    const given = givenBy(mapped);
    if (mapped?.kind === "actions") mapper.retract?.(mapped.actions);
    const attempted = given.actions.flatMap((action, at) => referencesOf(action, given.nths[at]));
    const isGuess = mapped?.kind === "invalid" && mapped.isGuess === true;
    const still = isGuess ? NOTHING_OPEN : marks.openOf(mark, given);
    const findings = findingsOfMended(mapped, attempted, still, { ...this.#options, rules: made.rules });
    const isOpen = findings.length > 0 && this.#report(row, findings);
    const { line } = row;
    const done = { row: this.#row, line, before: this.#ofFile.writer.count, attempted, key: mark.key };
    if (!isOpen) this.#mended.push({ ...done, open: undefined });
    else if (still.names.size === 0) this.#reject(line, findings, attempted);
    else {
      const own = mapped === undefined || mapped.kind === "skipped" ? [] : findingsOfMapped(mapped, now);
      this.#report(row, own);
      const reason = reasonOf([...findings, ...own], severityOf);
      this.#mended.push({ ...done, open: { reason, attempted: attempted.filter((one) => isOneOf(still, one)) } });
    }
  }

  #addMalformed(row: Extract<Row, { kind: "malformed" }>): void {
    const mapped = this.#options.made.mapper.map(row);
    if (mapped.kind === "skipped") {
      this.#skip(mapped.reason);
      return;
    }
    const { findings } = mapped.kind === "invalid" ? mapped : row;
    this.#reportUnusable(row, findings);
    this.#reject(row.line, findings, []);
    if (!row.bordersKnown) this.#isUnreadable = true;
  }

  #addMapped(row: Row, mark: Mark, mapped: Mapped): void {
    // A row that may hide something is neither skipped nor sent.
    if (row.kind === "cells" && row.findings !== undefined && this.#report(row, row.findings)) {
      this.#rejectMapped(row.line, row.findings, mapped);
      return;
    }
    if (mapped.kind === "skipped") {
      this.#skip(mapped.reason);
      return;
    }
    const own = findingsOfMapped(mapped, this.#options.now);
    if (mapped.kind === "invalid") {
      this.#reportUnusable(row, own);
      this.#rejectMapped(row.line, own, mapped);
      return;
    }
    this.#options.publicValues.see(mapped.actions, row.kind === "object");
    const findings = mark === undefined ? own : [...own, ...findingsOfMark(mark, this.#options.made)];
    if (findings.length > 0 && this.#report(row, findings)) this.#rejectMapped(row.line, findings, mapped);
    else this.#take(row.line, mark, mapped);
  }

  /** Takes the actions of a sound row as candidates. */
  #take(line: number, mark: Mark, mapped: Extract<Mapped, { kind: "actions" }>): void {
    const { actions, keys, eventId, eventOnly, leftOut } = mapped;
    const row = this.#row;
    if (eventOnly !== undefined) countReason(this.#eventOnlyReasons, eventOnly);
    if (this.#options.notesEvents && eventId !== undefined && actions.some(({ data }) => data.eventId == null))
      this.#rowEvents.push({ row, eventId });
    if (leftOut !== undefined && leftOut.length > 0) {
      const deeds = leftOut.map(({ action, key }) => ({ identity: digestHex(ownKeyText(action, key)), action }));
      this.#leftOut.push({ row, deeds });
    }
    const nths = mapped.nths ?? (actions.length === 1 ? ONLY : nthOfName(actions));
    if (mark?.kind === "rejected" || mark?.kind === "mended")
      this.#rejected.push({
        row,
        key: mark.key,
        isMended: mark.kind === "mended" || mark.isMended,
        actions: actions.map(({ action }, at) => openActionText(action, nths[at] ?? 0)),
        isWhole: mark.open === undefined,
      });
    const { input } = this.#options;
    for (let at = 0; at < actions.length; at += 1) {
      const action = actions[at];
      if (action === undefined) break;
      const isNewEvent = registersEvent(action.action);
      if (isNewEvent && typeof action.data.eventId === "string") this.#newEvents.add(action.data.eventId);
      // A source gives the event with whichever row comes first, so the row's key is not the event's.
      const key = isNewEvent ? undefined : keys?.[at];
      this.#ofFile.writer.add(action, { input, line, row, nth: nths[at] ?? 0 }, key);
    }
  }

  #skip(reason: string): void {
    this.#skipped += 1;
    countReason(this.#skipReasons, reason);
  }

  #report(row: Row, findings: readonly Finding[], severityOf = this.#options.severityOf): boolean {
    return reportFindings(this.#log, this.#options.file, severityOf, row, this.#rowsBefore + this.#row - 1, findings);
  }

  /** A row that could not be read or mapped at all is an error, even where the config turned its finding off. */
  #reportUnusable(row: Row, findings: readonly Finding[]): void {
    if (this.#report(row, findings)) return;
    const [first = { message: "The row can't be mapped.", hint: "Compare it with the rows above." }] = findings;
    const unusable = { ...first, rule: "item-shape" };
    this.#report(row, [unusable], () => "error");
  }

  #rejectMapped(line: number, findings: readonly Finding[], mapped: Mapped): void {
    if (mapped.kind === "skipped") {
      this.#reject(line, findings, []);
    } else if (mapped.kind === "invalid") {
      const nths = mapped.isGuess === true ? [] : (mapped.nths ?? nthOfName(mapped.attempted));
      this.#reject(line, findings, mapped.attempted, nths);
    } else {
      this.#reject(line, findings, mapped.actions, mapped.nths ?? nthOfName(mapped.actions));
      this.#options.made.mapper.retract?.(mapped.actions);
    }
  }

  /** @param nths of the actions; without them nobody knows whether the row gives just these. */
  #reject(line: number, findings: readonly Finding[], actions: readonly unknown[], nths: readonly number[] = []): void {
    const attempted = actions.flatMap((action, at) => referencesOf(action, nths[at]));
    const reason = reasonOf(findings, this.#options.severityOf);
    this.#invalid.push({ row: this.#row, line, reason, before: this.#ofFile.writer.count, attempted });
  }

  end(): Batch {
    const { writer } = this.#ofFile;
    return {
      rows: this.#row,
      skipped: this.#skipped,
      skipReasons: this.#skipReasons,
      eventOnlyReasons: this.#eventOnlyReasons,
      invalid: this.#invalid,
      mended: this.#mended,
      firstLines: this.#firstLines,
      rejected: this.#rejected,
      leftOut: this.#leftOut,
      newEvents: [...this.#newEvents],
      rowEvents: this.#rowEvents,
      candidates: writer.count,
      bytes: writer.take(),
      problems: { kept: this.#log.kept, tallies: this.#log.tallies },
      isUnreadable: this.#isUnreadable,
    };
  }
}

const isOfRejects = (value: object): boolean => REJECTS_COLUMNS.some((key) => Object.hasOwn(value, key));

const ONLY: readonly number[] = [0];

function countReason(reasons: Map<string, number>, reason: string): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
}

/** The part of an action that others may depend on, and when it was; nothing where not even that can be read. */
function referencesOf(attempted: unknown, nth?: number): readonly OrderKey[] {
  if (typeof attempted !== "object" || attempted === null || !("data" in attempted) || !("action" in attempted))
    return [];
  const { action, data } = attempted;
  if (typeof data !== "object" || data === null) return [];
  const { eventId, ticketId, nftId, orderTime } = data as Record<string, unknown>; // an object, as checked above
  return [
    {
      action: ACTION_NAMES.find((name) => name === action),
      data: { eventId, ticketId, nftId, orderTime },
      ...(nth !== undefined && { nth }),
    },
  ];
}
