/** Rows to checked candidates: everything that can be said of a row by itself. Runs beside itself in workers (worker.ts). */

import { ACTION_NAMES, type Action, registersEvent } from "../actions/actions.ts";
import { isFieldName } from "../actions/fields.ts";
import { digestHex, ownKeyText } from "../actions/identity.ts";
import type { Finding, Severity } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { checkAction } from "../checks/shape.ts";
import { findRenumbered } from "../mapping/action-rules.ts";
import type { Mapped, Mapper } from "../mapping/mapper.ts";
import { nthOfName, OPEN_ACTIONS_COLUMN, openActionText, REJECTS_COLUMNS } from "../mapping/open-actions.ts";
import type { Row } from "../mapping/row.ts";
import { createRowDigester } from "../mapping/row-digest.ts";
import type { MappingRule } from "../mapping/rules.ts";
import type { InputFile } from "../readers/input-file.ts";
import { type Batch, type BatchInvalid, type BatchMended, createCandidateWriter } from "./batch.ts";
import type { OrderKey } from "./facts.ts";
import type { Given, MarkOfRejects, MendedMark, RowMarks, StillOpen } from "./mended-rows.ts";
import type { ProblemLog } from "./problems.ts";
import { seePublicValues } from "./public-values.ts";
import { markOfRow } from "./told-warnings.ts";

export interface RowCompiler {
  /** Maps and checks the rows. The batch's problems are kept by `log`. */
  compile(rows: readonly Row[], log: ProblemLog): Batch;
}

export interface RowCompilerOptions {
  readonly file: Pick<InputFile, "name" | "format">;
  /** Number of the input, from 0. */
  readonly input: number;
  readonly mapper: Mapper;
  readonly severityOf: (rule: string) => Severity;
  /** In Unix seconds, the same for all rows of a plan. */
  readonly now: number;
  /** Note the event that a row names for actions that carry none. */
  readonly notesEvents: boolean;
  /** What the rows are read as, and the columns of a table, by which a row is known again. */
  readonly readAs: string;
  /** The actions that the source lists (action-rules.ts). */
  readonly rules: readonly string[];
  readonly header: readonly string[] | undefined;
  readonly marks: RowMarks;
  /** Whether a batch stays as it is when the next is compiled. */
  readonly keepsBatches: boolean;
}

export function createRowCompiler(options: RowCompilerOptions): RowCompiler {
  const { file, input, mapper, severityOf, now, notesEvents, keepsBatches } = options;
  const writer = createCandidateWriter(keepsBatches);
  const publicValues = seePublicValues();
  const digester = createRowDigester(options.header, options.readAs);
  /** Rows of the file so far; the items of a JSON array are told by their number. */
  let rowsOfFile = 0;

  return {
    compile(rows, log) {
      const skipReasons = new Map<string, number>();
      const eventOnlyReasons = new Map<string, number>();
      const invalid: BatchInvalid[] = [];
      const mended: BatchMended[] = [];
      const rejected: Batch["rejected"][number][] = [];
      const firstLines: { rejects: number | undefined; other: number | undefined } = {
        rejects: undefined,
        other: undefined,
      };
      const leftOut: Batch["leftOut"][number][] = [];
      let isUnsure = false;
      const newEvents = new Set<string>();
      const rowEvents: { row: number; eventId: string }[] = [];
      let row = 0;
      let skipped = 0;
      let isUnreadable = false;

      const report = (of: Row, findings: readonly Finding[]): boolean =>
        reportFindings(log, file, severityOf, of, rowsOfFile - 1, findings);
      /** A row that could not be read or mapped at all is an error, also where the config turned its finding off. */
      const reportUnusable = (of: Row, findings: readonly Finding[]): void => {
        if (report(of, findings)) return;
        const [first] = findings;
        const unusable = { ...first, rule: "item-shape", message: first?.message ?? "The row can't be mapped." };
        reportFindings(log, file, () => "error", of, rowsOfFile - 1, [unusable]);
      };
      /** @param nths of the actions; without them nobody knows whether the row gives just these. */
      const reject = (
        line: number,
        findings: readonly Finding[],
        actions: readonly unknown[],
        nths: readonly number[] = [],
      ): void => {
        const attempted = actions.flatMap((action, at) => referencesOf(action, nths[at]));
        invalid.push({ row, line, reason: reasonOf(findings, severityOf), before: writer.count, attempted });
      };

      const rejectMapped = (line: number, findings: readonly Finding[], mapped: Mapped): void => {
        if (mapped.kind === "skipped") {
          reject(line, findings, []);
        } else if (mapped.kind === "invalid") {
          const nths = mapped.isGuess === true ? [] : (mapped.nths ?? nthOfName(mapped.attempted));
          reject(line, findings, mapped.attempted, nths);
        } else {
          reject(line, findings, mapped.actions, mapped.nths ?? nthOfName(mapped.actions));
          mapper.retract?.(mapped.actions);
        }
      };

      for (const each of rows) {
        row += 1;
        rowsOfFile += 1;
        if (each.kind === "object") firstLines[isOfRejects(each.value) ? "rejects" : "other"] ??= each.line;
        const mark = options.marks.of(each, digester);
        if (mark?.kind === "unsure") isUnsure = true;
        const known = mark?.kind === "mended" && each.kind !== "malformed" ? mapper.map(each) : undefined;
        const isRest = mark?.kind === "mended" && known?.kind === "actions" && isRestOf(mark, known, options.marks);
        if (mark?.kind === "mended" && !isRest) {
          const given = givenBy(known);
          if (known?.kind === "actions") mapper.retract?.(known.actions);
          const attempted = given.actions.flatMap((action, at) => referencesOf(action, given.nths[at]));
          const isGuess = known?.kind === "invalid" && known.isGuess === true;
          const still = isGuess ? NOTHING_OPEN : options.marks.openOf(mark, given);
          // Any row that lacks the same may read so.
          const findings = [
            ...(attempted.some(namesSomething) ? [] : [MENDED_UNSURE]),
            ...(still.names.size === 0 ? [] : [givesMore(still)]),
            ...(still.names.size === 0 && options.rules.length > still.closed ? hidesMore(known) : []),
            ...saysElse(still, now, severityOf),
          ];
          const isOpen = findings.length > 0 && report(each, findings);
          const done = { row, line: each.line, before: writer.count, attempted, key: mark.key };
          if (!isOpen) mended.push({ ...done, open: undefined });
          else if (still.names.size === 0) reject(each.line, findings, attempted);
          else {
            const own = known === undefined || known.kind === "skipped" ? [] : findingsOfMapped(known, now);
            report(each, own);
            const reason = reasonOf([...findings, ...own], severityOf);
            mended.push({ ...done, open: { reason, attempted: attempted.filter((one) => isOneOf(still, one)) } });
          }
          continue;
        }
        if (mark?.kind === "repeated") {
          skipped += 1;
          countReason(skipReasons, "the same row stands earlier in these rejects (tickets:row)");
          continue;
        }
        if (each.kind === "malformed") {
          const mapped = mapper.map(each);
          if (mapped.kind === "skipped") {
            skipped += 1;
            countReason(skipReasons, mapped.reason);
            continue;
          }
          const { findings } = mapped.kind === "invalid" ? mapped : each;
          reportUnusable(each, findings);
          reject(each.line, findings, []);
          if (!each.bordersKnown) isUnreadable = true;
          continue;
        }
        const mapped = known ?? mapper.map(each);
        // What it may hide is no more skipped than sent.
        if (each.kind === "cells" && each.findings !== undefined && report(each, each.findings)) {
          rejectMapped(each.line, each.findings, mapped);
          continue;
        }
        if (mapped.kind === "skipped") {
          skipped += 1;
          countReason(skipReasons, mapped.reason);
          continue;
        }
        if (mapped.kind === "invalid") {
          const findings = findingsOfMapped(mapped, now);
          reportUnusable(each, findings);
          rejectMapped(each.line, findings, mapped);
          continue;
        }
        const { actions, keys, eventId, eventOnly } = mapped;
        publicValues.see(actions, each.kind === "object");
        const findings = [
          ...findingsOfMapped(mapped, now),
          ...(mark === undefined ? [] : findingsOfMark(mark, options)),
        ];
        if (findings.length > 0 && report(each, findings)) {
          rejectMapped(each.line, findings, mapped);
          continue;
        }
        if (eventOnly !== undefined) countReason(eventOnlyReasons, eventOnly);
        if (notesEvents && eventId !== undefined && actions.some(({ data }) => data.eventId == null))
          rowEvents.push({ row, eventId });
        if (mapped.leftOut !== undefined && mapped.leftOut.length > 0) {
          const deeds = mapped.leftOut.map(({ action, key }) => ({
            identity: digestHex(ownKeyText(action, key)),
            action,
          }));
          leftOut.push({ row, deeds });
        }
        const nths = mapped.nths ?? (actions.length === 1 ? ONLY : nthOfName(actions));
        if (mark?.kind === "rejected" || mark?.kind === "mended")
          rejected.push({
            row,
            key: mark.key,
            isMended: isRest || (mark.kind === "rejected" && mark.isMended),
            actions: actions.map(({ action }, at) => openActionText(action, nths[at] ?? 0)),
            isWhole: mark.open === undefined,
          });
        for (let at = 0; at < actions.length; at += 1) {
          const action = actions[at];
          if (action === undefined) break;
          const isNewEvent = registersEvent(action.action);
          if (isNewEvent && typeof action.data.eventId === "string") newEvents.add(action.data.eventId);
          // A source gives the event with whichever of its rows comes first, so the row's key is not the event's.
          writer.add(action, { input, line: each.line, row, nth: nths[at] ?? 0 }, isNewEvent ? undefined : keys?.[at]);
        }
      }
      return {
        rows: row,
        skipped,
        skipReasons,
        eventOnlyReasons,
        invalid,
        mended,
        firstLines,
        rejected,
        leftOut,
        isUnsure,
        newEvents: [...newEvents],
        rowEvents,
        candidates: writer.count,
        bytes: writer.take(),
        problems: { kept: log.kept, tallies: log.tallies },
        seen: mapper.takeSeen?.(),
        publicValues: publicValues.take(),
        isUnreadable,
      };
    },
  };
}

const isOfRejects = (value: object): boolean => REJECTS_COLUMNS.some((key) => Object.hasOwn(value, key));

const ONLY: readonly number[] = [0];

/** Of a row of which not even the action can be read: it gives one at the most, and one was accepted for it. */
const NOTHING_OPEN: StillOpen = { names: new Set(), isUnsure: false, closed: 1, others: [] };

/** What a row of which a mended one was accepted gives now. */
function givenBy(mapped: Mapped | undefined): Given {
  if (mapped === undefined || mapped.kind === "skipped") return { actions: [], nths: [], isSound: false };
  const isSound = mapped.kind === "actions";
  const actions = isSound ? mapped.actions : mapped.attempted;
  return { actions, nths: mapped.nths ?? nthOfName(actions), isSound };
}

/** Whether a row of a rejects file names just what is open of it, and can be read now: then it is sent as it is. */
function isRestOf(mark: MendedMark, mapped: Extract<Mapped, { kind: "actions" }>, marks: RowMarks): boolean {
  if (mark.open === undefined) return false;
  const given = givenBy(mapped);
  const { names } = marks.openOf(mark, given);
  return given.actions.every(({ action }, at) => names.has(openActionText(action, given.nths[at] ?? 0)));
}

const isOneOf = ({ names }: StillOpen, { action, nth }: OrderKey): boolean =>
  action !== undefined && names.has(openActionText(action, nth ?? 0));

/** What is wrong with a row of which a mended one was accepted, and which gives more since. */
function givesMore({ names, isUnsure }: StillOpen): Finding {
  const told = cleanText([...names].join(" "), 200);
  return {
    rule: "mended-gives-more" satisfies MappingRule,
    message: isUnsure
      ? `The row was mended, and what it gave was accepted; it gives more now, and which of these is new can't be told: ${told}.`
      : `The row was mended, and what it gave was accepted; what it gives now beside that was never sent: ${told}.`,
    hint: "Mend it in its rejects file and stream that: what was accepted is known, and only the rest is sent. To leave the rest out for good, take it out of the row there and empty tickets:actions.",
  };
}

const MENDED_UNSURE = {
  rule: "mended-unsure" satisfies MappingRule,
  message:
    "A row that reads like this one was mended and sent before, so this one is not; but it names no ticket or event, and may be another row.",
  hint: "If it is another one, stream it alone with its ids. Put the rows right at the source.",
} as const;

/** A mended row may say something else now, by its lookup or its mapping, or may always have done so: a person mended it. */
function saysElse({ others }: StillOpen, now: number, severityOf: (rule: string) => Severity): readonly Finding[] {
  const sound = others.filter((action) => findingsOf([action], now).every(({ rule }) => severityOf(rule) !== "error"));
  return sound.map(({ action }) => ({
    rule: "mended-unsure" satisfies MappingRule,
    message: `The row was mended, and its ${action} was accepted; this one says something else, and was never sent. Whether it is another one, or what was mended in it, can't be told.`,
    hint: "If it is another one, send it by a row of its own. If not, put the row right at the source.",
  }));
}

/** With these, what else a row gives is not known. */
const HIDING: ReadonlySet<string> = new Set<MappingRule>([
  "lookup-missing",
  "lookup-ambiguous",
  "each-unreadable",
  "list-missing",
]);

/** What to say of a mended row that may give more, as far as it can be read. */
function hidesMore(mapped: Mapped | undefined): readonly Finding[] {
  if (mapped?.kind !== "invalid") return [];
  const cause = mapped.findings.find(({ rule }) => HIDING.has(rule));
  if (cause === undefined) return [];
  return [
    {
      rule: "mended-unsure" satisfies MappingRule,
      message: `The row was mended, and what it gave was accepted; whether it gives more now can't be read (${cause.rule}): ${cause.message}`,
      hint: "Put the row right at the source, and what it refers to.",
    },
  ];
}

function namesSomething({ data }: OrderKey): boolean {
  return [data.ticketId, data.nftId, data.eventId].some((id) => typeof id === "string" && id !== "");
}

/** What is wrong with a row because of the rejects file from which it comes. */
function findingsOfMark(
  mark: NonNullable<ReturnType<RowMarks["of"]>>,
  { readAs, rules }: Pick<RowCompilerOptions, "readAs" | "rules">,
): readonly Finding[] {
  const renumbered = mark.kind === "rejected" || mark.kind === "mended" ? renumberedIn(mark, rules) : undefined;
  if (renumbered !== undefined) return [renumbered];
  if (mark.kind !== "rejected") return [];
  const findings: Finding[] = [];
  if (mark.readAs !== undefined && mark.readAs !== readAs)
    findings.push({
      rule: "rejects-misread" satisfies MappingRule,
      message: `It was rejected when it was read as ${cleanText(mark.readAs, 100)}, and is read as ${cleanText(readAs, 100)} now, where the same cells mean another deed.`,
      hint: "Stream the rejects under the name that they were given, with the options that the run had: --source NAME or --action NAME.",
    });
  if (mark.twin !== undefined)
    findings.push({
      rule: "rejects-row-twice" satisfies MappingRule,
      message: `It has the tickets:row of line ${mark.twin}, and says something else: which of them the bad row became can't be told.`,
      hint: "Take one of them out, or empty its tickets:row if it is a row of its own.",
    });
  return findings;
}

/** What `tickets:actions` names may be another action by the mapping of now. */
function renumberedIn({ open, rules: written }: MarkOfRejects, rules: readonly string[]): Finding | undefined {
  if (open === undefined) return undefined;
  for (const then of written) {
    const found = findRenumbered(open, then, rules);
    if (found === undefined) continue;
    return {
      rule: "rejects-misread" satisfies MappingRule,
      field: OPEN_ACTIONS_COLUMN,
      value: open,
      message: `The mapping lists other ${found.action} actions than when this was written, so which one ${found.name} means can't be told.`,
      hint: "Empty the cell for all actions of the row: what was accepted of them is known, and is not sent again. Or stream it with the mapping of then.",
    };
  }
  return undefined;
}

function countReason(reasons: Map<string, number>, reason: string): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
}

/** Notes the findings that are not turned off; true when one of them is an error. */
export function reportFindings(
  log: ProblemLog,
  file: Pick<InputFile, "name" | "format">,
  severityOf: (rule: string) => Severity,
  row: Row,
  at: number,
  findings: readonly Finding[],
): boolean {
  let isError = false;
  // Only what is kept is known again.
  const isMarked = log.capacity.keeps === "all";
  for (const finding of findings) {
    const severity = severityOf(finding.rule);
    if (severity === "off") continue;
    if (severity === "error") isError = true;
    const { pointer: inItem, mark: ofRows, ...rest } = finding;
    const pointer =
      inItem === undefined || row.kind !== "object" ? undefined : `${file.format === "json" ? `/${at}` : ""}${inItem}`;
    const mark = isMarked && severity === "warn" ? (ofRows ?? markOfRow(row)) : undefined;
    log.add({
      source: file.name,
      line: row.line,
      severity,
      ...rest,
      ...(pointer !== undefined && { pointer }),
      ...(mark !== undefined && { mark }),
    });
  }
  return isError;
}

/** What is wrong with a row by itself. */
function findingsOfMapped(mapped: Exclude<Mapped, { kind: "skipped" }>, now: number): readonly Finding[] {
  const likely = mapped.likely ?? [];
  if (mapped.kind === "actions") return [...likely, ...findingsOf(mapped.actions, now)];
  const further = mapped.isGuess === true ? [] : furtherFindings(mapped.findings, mapped.attempted, now);
  return [...mapped.findings, ...likely, ...further];
}

function findingsOf(actions: readonly Action[], now: number): readonly Finding[] {
  const [only] = actions;
  return actions.length === 1 ? checkAction(only, now) : actions.flatMap((action) => checkAction(action, now));
}

/** What a field that could not be read also leads to; telling it would only confuse. */
const FOLLOWS: ReadonlySet<string> = new Set([
  "field-required",
  "sold-ticket-without-user",
  "ticket-reference-missing",
  "claim-recipient-missing",
  "order-time-missing",
]);

/** What is wrong with the fields that could be read, so that all problems of a row are told at once. */
function furtherFindings(findings: readonly Finding[], attempted: readonly Action[], now: number): readonly Finding[] {
  const told = new Set(findings.map(({ field }) => field));
  // Findings of a declared source name columns, so which field each left empty is not known.
  const ofColumns = findings.some(({ field }) => field === undefined || !isFieldName(field));
  return attempted
    .flatMap((action) => checkAction(action, now))
    .filter(
      ({ field, rule }) =>
        (field === undefined || !told.has(field)) &&
        !(ofColumns && FOLLOWS.has(rule)) &&
        // What could not be read may be the change.
        rule !== "update-without-change",
    );
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

export function reasonOf(findings: readonly Finding[], severityOf: (rule: string) => Severity): string {
  const errors = findings.filter(({ rule }) => severityOf(rule) === "error");
  return (errors.length > 0 ? errors : findings).map(({ rule, message }) => `${rule}: ${message}`).join(" ");
}
