/** Rows to checked candidates: everything that can be said of a row by itself. What depends on other rows comes after (decide.ts). */

import { ACTION_NAMES, type Action, type ActionName, MAX_ACTIONS_PER_REQUEST } from "../../actions/actions.ts";
import { isFieldName } from "../../actions/fields.ts";
import { contentText, digestOf, identityText, ownKeyText } from "../../actions/identity.ts";
import { stringifyJson } from "../../actions/json.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import { checkAction } from "../../checks/shape.ts";
import type { Mapper, Understanding } from "../../mapping/mapper.ts";
import type { Row } from "../../mapping/row.ts";
import type { MappingRule } from "../../mapping/rules.ts";
import type { ProblemLog } from "../problems.ts";
import type { Input } from "../readers/input.ts";
import type { InputFile } from "../readers/inputs.ts";
import { candidateFiles, type Hold } from "./candidates.ts";
import { createFile } from "./files.ts";
import { CONTENT_BYTES, RECORD_BYTES, writeRecord } from "./index-file.ts";
import type { RowEvents } from "./lanes.ts";
import type { Placed, TimeOrder } from "./order.ts";
import type { SalesSeen } from "./vanished.ts";

export interface CompileOptions {
  readonly files: readonly InputFile[];
  /** Folder for the candidate files; they must not exist yet. */
  readonly directory: string;
  readonly open: (file: InputFile) => Promise<Input>;
  readonly mapperFor: (file: InputFile, input: Input) => Promise<Mapper>;
  readonly severityOf: (rule: string) => Severity;
  readonly problems: ProblemLog;
  /** Only the first rows, over all files. */
  readonly limit: number;
  /** Where the candidates are to be put in order afterwards, each is noted here. */
  readonly timeOrder: TimeOrder | undefined;
  /** Where it is asked for, notes the sales of the input. */
  readonly salesSeen: SalesSeen | undefined;
  /** Where actions are spread over lanes, notes the event that a row names. */
  readonly rowEvents: RowEvents | undefined;
  readonly onUnderstood: (file: InputFile, understanding: Understanding, input: Input) => void;
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

/** A row that is not sent, for what depends on it and for the rejects file. */
export interface InvalidRow {
  readonly row: number;
  readonly input: number;
  readonly line: number;
  /** Why, in one line. */
  readonly reason: string;
}

interface ReadInput {
  /** How its rows are written; `cells` for tables. */
  readonly format: "cells" | "ndjson" | "json";
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
}

export interface Compiled {
  readonly inputs: readonly ReadInput[];
  readonly rows: { readonly read: number; readonly skipped: number };
  readonly invalid: readonly InvalidRow[];
  /** Where the invalid rows stand among the candidates; empty where `timeOrder` places them. */
  readonly holds: readonly Hold[];
  /** Skipped rows by reason. */
  readonly skipReasons: ReadonlyMap<string, number>;
  /** Rows that give their event and nothing else, by reason. */
  readonly eventOnlyReasons: ReadonlyMap<string, number>;
  readonly candidates: number;
  /** Every event that the input registers, wherever its newEvent stands. */
  readonly newEvents: ReadonlySet<string>;
  /** True when part of a file could not be read as rows at all, so that no allowance for invalid rows helps. */
  readonly unreadable: boolean;
  /** True when the mapping fits nothing in one of the files. */
  readonly unfit: boolean;
}

/** Reads, maps and checks every row of every file, and writes the valid rows' actions as candidates. */
export async function compile(options: CompileOptions): Promise<Compiled> {
  const { files, directory, severityOf, problems, limit, timeOrder, salesSeen, signal } = options;
  const paths = candidateFiles(directory);
  await using lines = await createFile(paths.lines);
  await using index = await createFile(paths.index);
  const inputs: ReadInput[] = [];
  const invalid: InvalidRow[] = [];
  const holds: Hold[] = [];
  const skipReasons = new Map<string, number>();
  const eventOnlyReasons = new Map<string, number>();
  const newEvents = new Set<string>();
  let read = 0;
  let skipped = 0;
  let candidates = 0;
  let unreadable = false;
  let unfit = false;

  for (const [inputNumber, file] of files.entries()) {
    await using input = await options.open(file);
    const mapper = await options.mapperFor(file, input);
    // Of JSON rows nothing is understood before they are read: their keys may differ from row to row.
    if (input.header !== undefined) options.onUnderstood(file, mapper.understanding, input);
    let rowsOfFile = 0;
    let payloadItems = 0;

    const report = (row: Row, findings: readonly Finding[], at = rowsOfFile - 1): boolean => {
      let isError = false;
      for (const finding of findings) {
        const severity = severityOf(finding.rule);
        if (severity === "off") continue;
        if (severity === "error") isError = true;
        const pointer =
          finding.pointer === undefined || row.kind !== "object"
            ? undefined
            : `${file.format === "json" ? `/${at}` : ""}${finding.pointer}`;
        const { pointer: _, ...rest } = finding;
        problems.add({
          source: file.name,
          line: row.line,
          severity,
          ...rest,
          ...(pointer !== undefined && { pointer }),
        });
      }
      return isError;
    };

    for await (const batch of input.batches()) {
      signal.throwIfAborted();
      // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
      for (const row of batch.length <= limit - read ? batch : batch.slice(0, limit - read)) {
        read += 1;
        rowsOfFile += 1;
        const reject = async (findings: readonly Finding[], actions: readonly unknown[]): Promise<void> => {
          const at = { input: inputNumber, line: row.line };
          invalid.push({ row: read, ...at, reason: reasonOf(findings, severityOf) });
          const attempted = actions.flatMap(referencesOf);
          if (timeOrder === undefined) holds.push({ before: candidates, ...at, attempted });
          else for (const action of attempted) await timeOrder.held(action, at);
          for (const action of attempted) await salesSeen?.note(action);
        };
        if (row.kind === "malformed") {
          report(row, row.findings);
          await reject(row.findings, []);
          if (!row.bordersKnown) unreadable = true;
          continue;
        }
        const mapped = mapper.map(row);
        if (mapped.kind === "skipped") {
          skipped += 1;
          countReason(skipReasons, mapped.reason);
          continue;
        }
        if (mapped.kind === "invalid") {
          const further = mapped.isGuess === true ? [] : furtherFindings(mapped.findings, mapped.attempted);
          const findings = [...mapped.findings, ...further];
          // A finding that the config turned off must not let a row through that could not be mapped at all.
          if (!report(row, findings))
            report(row, [
              {
                ...mapped.findings[0],
                rule: "item-shape",
                message: mapped.findings[0]?.message ?? "The row can't be mapped.",
              },
            ]);
          await reject(findings, mapped.attempted);
          continue;
        }
        const findings = mapped.actions.flatMap((action) => checkAction(action));
        if (findings.length > 0 && report(row, findings)) {
          await reject(findings, mapped.actions);
          mapper.retract?.(mapped.actions);
          continue;
        }
        if (mapped.eventOnly !== undefined) countReason(eventOnlyReasons, mapped.eventOnly);
        if (file.format === "json") payloadItems += 1;
        if (mapped.eventId !== undefined) options.rowEvents?.note(read, mapped.eventId);
        for (const [at, action] of mapped.actions.entries()) {
          if (action.action === "newEvent" && typeof action.data.eventId === "string")
            newEvents.add(action.data.eventId);
          const written = lines.text(lineOf(action));
          if (typeof written !== "number") await written;
          // A source gives the event with whichever of its rows comes first, so the row's key is not the event's.
          const key = action.action === "newEvent" ? undefined : mapped.keys?.[at];
          const identity = digestOf(key === undefined ? identityText(action) : ownKeyText(action, key));
          const content = digestOf(contentText(action)).subarray(0, CONTENT_BYTES);
          const record = {
            input: inputNumber,
            line: row.line,
            row: read,
            action: action.action,
            untimed: action.data.orderTime == null,
            keyed: key !== undefined,
            identity,
            content,
          };
          const full = index.record(RECORD_BYTES, (buffer, at) => writeRecord(buffer, at, record));
          if (full !== undefined) await full;
          const placed = timeOrder?.candidate(action);
          if (placed !== undefined) await placed;
          const noted = salesSeen?.note(action);
          if (noted !== undefined) await noted;
          candidates += 1;
        }
      }
      options.onRows(read);
    }
    const isCut = read >= limit;
    for (const finding of mapper.findingsOfFile?.() ?? []) {
      const isAboutAll = finding.rule === ("nothing-mapped" satisfies MappingRule);
      // Of the first rows it says nothing that they give no action.
      if (!(isCut && isAboutAll) && report(FIRST_LINE, [finding]) && isAboutAll) unfit = true;
    }
    if (payloadItems > MAX_ACTIONS_PER_REQUEST) {
      report(FIRST_LINE, [
        {
          rule: "payload-too-long",
          message: `The payload has ${payloadItems} items; a request takes ${MAX_ACTIONS_PER_REQUEST}.`,
          hint: "tickets stream splits it.",
        },
      ]);
    }
    if (input.header === undefined) options.onUnderstood(file, mapper.understanding, input);
    inputs.push({
      format: input.header !== undefined ? "cells" : input.format === "json" ? "json" : "ndjson",
      name: file.name,
      path: file.path,
      bytes: input.bytesRead,
      sha256: input.sha256,
      rows: rowsOfFile,
    });
  }
  // What is put in order afterwards is written anew.
  for (const file of [lines, index]) await (timeOrder === undefined ? file.sync() : file.flush());
  return {
    inputs,
    rows: { read, skipped },
    invalid,
    holds,
    skipReasons,
    eventOnlyReasons,
    candidates,
    newEvents,
    unreadable,
    unfit,
  };
}

/** Where what is said of a whole file stands. */
const FIRST_LINE: Row = { kind: "object", line: 1, value: {}, text: "" };

function countReason(reasons: Map<string, number>, reason: string): void {
  const key = reasons.has(reason) || reasons.size < SKIP_REASONS ? reason : "other reasons";
  reasons.set(key, (reasons.get(key) ?? 0) + 1);
}

/** The action as it will be sent, and a newline. `action` comes first, so that the data can be cut out again. */
function lineOf({ action, data }: Action): string {
  return `${stringifyJson({ action, data })}\n`;
}

/** Where `data` stands in a line of the plan. */
export function dataOfLine(line: Buffer, action: ActionName): string {
  return line.toString("utf8", `{"action":"${action}","data":`.length, line.length - 1);
}

/** Skipped rows are counted by their reason up to so many reasons, since reasons quote the file. */
const SKIP_REASONS = 1000;

/** What a field that could not be read also leads to; telling it would only confuse. */
const FOLLOWS: ReadonlySet<string> = new Set([
  "field-required",
  "sold-ticket-without-user",
  "ticket-reference-missing",
  "claim-recipient-missing",
  "order-time-missing",
]);

/** What is wrong with the fields that could be read, so that all problems of a row are told at once. */
function furtherFindings(findings: readonly Finding[], attempted: readonly Action[]): readonly Finding[] {
  const told = new Set(findings.map(({ field }) => field));
  // Findings of a declared source name columns, so which field each left empty is not known.
  const ofColumns = findings.some(({ field }) => field === undefined || !isFieldName(field));
  return attempted
    .flatMap((action) => checkAction(action))
    .filter(({ field, rule }) => (field === undefined || !told.has(field)) && !(ofColumns && FOLLOWS.has(rule)));
}

/** The part of an action that others may depend on, and when it was; nothing where not even that can be read. */
function referencesOf(attempted: unknown): readonly Placed[] {
  if (typeof attempted !== "object" || attempted === null || !("data" in attempted) || !("action" in attempted))
    return [];
  const { action, data } = attempted;
  if (typeof data !== "object" || data === null) return [];
  const { eventId, ticketId, nftId, orderTime } = data as Record<string, unknown>; // an object, as checked above
  return [{ action: ACTION_NAMES.find((name) => name === action), data: { eventId, ticketId, nftId, orderTime } }];
}

export function reasonOf(findings: readonly Finding[], severityOf: (rule: string) => Severity): string {
  const errors = findings.filter(({ rule }) => severityOf(rule) === "error");
  return (errors.length > 0 ? errors : findings).map(({ rule, message }) => `${rule}: ${message}`).join(" ");
}
