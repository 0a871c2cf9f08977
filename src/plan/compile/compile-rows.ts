/** Rows to checked candidates: everything that can be said about a row by itself. */

import { ACTION_NAMES, registersEvent } from "../../actions/actions.ts";
import { digestHex, identityText, ownKeyText } from "../../actions/identity.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import type { FileFinding } from "../../mapping/file-finding.ts";
import type { Mapped, Mapper } from "../../mapping/mapper.ts";
import { nthOfName, openActionText, REJECTS_COLUMNS } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { createRowDigester, type RowDigester } from "../../mapping/row-digest.ts";
import type { InputFile } from "../../readers/input-file.ts";
import { candidateBytes } from "../candidates/candidate-bytes.ts";
import type { OrderKey } from "../candidates/facts.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { findingsOfMapped, reasonOf, reportFindings } from "../findings/findings-of-row.ts";
import type { ProblemLog } from "../findings/problem-log.ts";
import type { RowEvents } from "../order/lane-groups.ts";
import {
  findingsOfMark,
  findingsOfMended,
  givenBy,
  isOneOf,
  isRestOf,
  NOTHING_OPEN,
} from "../rejects/findings-of-rejects.ts";
import type { MendedMark, RowMarks } from "../rejects/mended-rows.ts";
import type { CompiledRows } from "./compiled-rows.ts";

export interface RowCompilerOptions {
  readonly file: Pick<InputFile, "name" | "format">;
  /** Number of the input, from 0. */
  readonly input: number;
  readonly made: MadeMapper;
  readonly severityOf: (rule: string) => Severity;
  /** In Unix seconds, the same for all rows of a plan. */
  readonly now: number;
  /** Notes the event that a row names for actions that carry none. */
  readonly rowEvents: RowEvents | undefined;
  /** The columns of a table. */
  readonly header: readonly string[] | undefined;
  readonly marks: RowMarks;
  readonly publicValues: PublicValuesSeen;
  readonly problems: ProblemLog;
  /** Told of a row of JSON, whether it comes from a rejects file. */
  readonly onObject: (isRejects: boolean, line: number) => void;
  /** Takes what the rows come to. */
  readonly into: CompiledRows;
}

/** The mapper of a file, and what it was made of. */
export interface MadeMapper {
  readonly mapper: Mapper;
  /** What the rows are read as: the source, or the action. */
  readonly readAs: string;
  /** The actions that the source lists (action-rules.ts). */
  readonly rules: readonly string[];
  /** The key of the source, as its config says it. */
  readonly key?: string;
  /** What can be said of the file before it is read. */
  readonly findings?: readonly FileFinding[];
}

type Mark = ReturnType<RowMarks["of"]>;

/** Maps and checks the rows of a file. */
export class RowCompiler {
  readonly #options: RowCompilerOptions;
  readonly #digester: RowDigester;
  /** Rows of earlier files. */
  readonly #rowsBefore: number;
  /** How many rows are neither skipped nor invalid. */
  items = 0;

  constructor(options: RowCompilerOptions) {
    this.#options = options;
    this.#digester = createRowDigester(options.header, options.made.readAs);
    this.#rowsBefore = options.into.rows.read;
  }

  add(row: Row): void {
    const { made, marks, onObject, into } = this.#options;
    const { mapper } = made;
    into.rows.read += 1;
    this.items += 1;
    if (row.kind === "object") onObject(isOfRejects(row.value), row.line);
    const mark = marks.of(row, this.#digester);
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
    const { made, marks, severityOf, now, into } = this.#options;
    const { mapper } = made;
    const given = givenBy(mapped);
    if (mapped?.kind === "actions") mapper.retract?.(mapped.actions);
    const attempted = given.actions.flatMap((action, at) => referencesOf(action, given.nths[at]));
    const isGuess = mapped?.kind === "invalid" && mapped.isGuess === true;
    const still = isGuess ? NOTHING_OPEN : marks.openOf(mark, given);
    const findings = findingsOfMended(mapped, attempted, still, { ...this.#options, rules: made.rules });
    const isOpen = findings.length > 0 && this.#report(row, findings);
    if (!isOpen) into.addMended(this.#placeOf(row.line), mark.key, attempted, undefined);
    else if (still.names.size === 0) this.#reject(row.line, findings, attempted);
    else {
      const own = mapped === undefined || mapped.kind === "skipped" ? [] : findingsOfMapped(mapped, now);
      this.#report(row, own);
      const reason = reasonOf([...findings, ...own], severityOf);
      const open = { reason, attempted: attempted.filter((one) => isOneOf(still, one)) };
      into.addMended(this.#placeOf(row.line), mark.key, attempted, open);
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
    if (!row.bordersKnown) this.#options.into.unreadable = true;
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
    const { into, rowEvents } = this.#options;
    const place = this.#placeOf(line);
    const { row } = place;
    if (eventOnly !== undefined) into.onlyEvent(eventOnly);
    if (eventId !== undefined && actions.some(({ data }) => data.eventId == null)) rowEvents?.note(row, eventId);
    if (leftOut !== undefined && leftOut.length > 0) {
      const deeds = leftOut.map(({ action, key }) => ({ identity: digestHex(ownKeyText(action, key)), action }));
      into.leftOut.set(row, deeds);
    }
    const nths = mapped.nths ?? (actions.length === 1 ? ONLY : nthOfName(actions));
    if (mark?.kind === "rejected" || mark?.kind === "mended") {
      into.rejected.set(row, mark.key);
      const names = actions.map(({ action }, at) => openActionText(action, nths[at] ?? 0));
      if (mark.kind === "mended" || mark.isMended)
        into.mends.set(row, { row: mark.key, actions: names, isWhole: mark.open === undefined, known: [] });
    }
    /** Identities of the row's actions that have a key. */
    const known = new Set<string>();
    for (const [at, action] of actions.entries()) {
      // A source gives the event with whichever row comes first, so the row's key is not the event's.
      const key = registersEvent(action.action) ? undefined : keys?.[at];
      const keyed = key !== undefined;
      const nth = nths[at] ?? 0;
      const identity = digestHex(keyed ? ownKeyText(action, key) : identityText(action));
      const further = keyed && nth > 0 && known.has(identity);
      if (keyed && nth > 0) known.add(identity);
      into.take(action, candidateBytes(action, { ...place, nth, keyed, further }, identity));
    }
  }

  #placeOf(line: number) {
    const { input, into } = this.#options;
    return { row: into.rows.read, input, line };
  }

  #skip(reason: string): void {
    this.items -= 1;
    this.#options.into.skip(reason);
  }

  #report(row: Row, findings: readonly Finding[], severityOf = this.#options.severityOf): boolean {
    const { problems, file, into } = this.#options;
    return reportFindings(problems, file, severityOf, row, into.rows.read - this.#rowsBefore - 1, findings);
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
    this.items -= 1;
    this.#options.into.reject(this.#placeOf(line), reason, attempted);
  }
}

const isOfRejects = (value: object): boolean => REJECTS_COLUMNS.some((key) => Object.hasOwn(value, key));

const ONLY: readonly number[] = [0];

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
