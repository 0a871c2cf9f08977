/** The part of the way that `validate`, `plan` and `stream` share: from files to a checked plan. */

import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { ActionName } from "../actions/actions.ts";
import { isFieldName } from "../actions/fields.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { severityIn, severityTable } from "../checks/severity.ts";
import { type Config, displayPath } from "../config/config.ts";
import { type ConfigDocument, positionAt } from "../config/document.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import type { Pending } from "../ledger/pending.ts";
import { actionRulesOf } from "../mapping/action-rules.ts";
import { actionOfFileName, publicName } from "../mapping/columns.ts";
import { createMapper } from "../mapping/create-mapper.ts";
import type { FileFinding } from "../mapping/file-finding.ts";
import { idRulesOf } from "../mapping/id-rules.ts";
import type { LookupTable } from "../mapping/lookup.ts";
import type { Mapped, Mapper } from "../mapping/mapper.ts";
import { MappingError } from "../mapping/mapping-error.ts";
import type { Row } from "../mapping/row.ts";
import type { MappingRule } from "../mapping/rules.ts";
import { hintOfNoSource, selectSource } from "../mapping/select-source.ts";
import type { SourceConfig } from "../mapping/source.ts";
import type { OnUnderstood } from "../plan/compile.ts";
import { findIdsOtherwise } from "../plan/ids-otherwise.ts";
import type { Order } from "../plan/order.ts";
import { type Allowance, makePlan, type PlanResult } from "../plan/planner.ts";
import { createProblemLog, type ProblemLog } from "../plan/problems.ts";
import type { PublicValues } from "../plan/public-values.ts";
import { findingsOfText } from "../readers/content.ts";
import { openInput } from "../readers/input.ts";
import type { InputFile } from "../readers/input-file.ts";
import { resolveInputs } from "../readers/inputs.ts";
import { INPUT_RULES } from "../readers/rules.ts";
import { ALL_RULES } from "../run/rules.ts";
import type { Context } from "./context.ts";

/** Flags of every command that reads input. */
export interface InputOptions {
  readonly files: readonly string[];
  readonly inputFormat?: string | undefined;
  readonly encoding?: string | undefined;
  readonly maxInputBytes?: number | undefined;
  /** Take a file of 0 bytes for an input without rows. */
  readonly allowEmpty?: boolean | undefined;
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly limit?: number | undefined;
  /** Default: input. */
  readonly order?: Order | undefined;
  /** Name tickets that the environment knows as sold and a full export does not hold any more. */
  readonly reportVanished?: boolean | undefined;
  readonly maxInvalid?: Allowance | undefined;
  readonly maxProblems?: number | undefined;
}

/** Problems kept for showing; all are counted. */
const PROBLEMS_KEPT = 10_000;

/** A file on its way through the mapping; one object for all its rows. */
export interface MappedFile {
  readonly file: InputFile;
  readonly header: readonly string[] | undefined;
  readonly source: SourceConfig | undefined;
  readonly mapper: Mapper;
}

/** Sees every row that can be read, with what the mapping makes of it before any check. */
export type OnRow = (from: MappedFile, row: Row, mapped: Mapped) => void;

export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: PlanResult;
  readonly problems: ProblemLog;
}

export async function checkInput(
  context: Context,
  options: InputOptions & {
    readonly config: Config;
    /** Folder for the plan. */
    readonly directory: string;
    readonly run: string;
    readonly environment: { readonly environment: Environment; readonly boundTo: string } | undefined;
    readonly ledger: Ledger | undefined;
    readonly pending: Pending;
    readonly again: boolean;
    /** Lanes that the actions are spread over at the most. */
    readonly lanes: number;
    readonly copyInputs: boolean;
    readonly safeCsv: boolean;
    /** See `inputFlags`. */
    readonly rereadFlags: readonly string[];
    readonly onRow?: OnRow | undefined;
  },
): Promise<CheckedInput> {
  const { config, environment, order = "input" } = options;
  const { reporter, cwd } = context;
  if (options.reportVanished) refuseHalfInput(options, environment !== undefined);
  if (order === "time") reporter.info("Order: by orderTime, each event and sale before what depends on it.");
  const files = await resolveInputs(options.files, {
    cwd,
    inputFormat: options.inputFormat,
    onPassedOver: reporter.warn,
    signal: context.stop,
  });
  const problems = createProblemLog(Math.max(PROBLEMS_KEPT, options.maxProblems ?? 0));
  const relaxedRules = new Set(
    Object.entries(config.rules).flatMap(([rule, severity]) => (severity === "error" ? [] : [rule])),
  );
  const sourceOf = (file: InputFile) => {
    try {
      return selectSource(config.sources, nameOf(file), options.source, file.isRejects);
    } catch (cause) {
      throw atItsPlace(config, cause, cwd);
    }
  };
  const severities = severityTable(config.rules, ALL_RULES);
  const severityOf = severityIn(severities);
  const filesOfEvent = new Map<string, InputFile>();
  const plan = await asStorage(
    options.directory,
    makePlan({
      files,
      directory: options.directory,
      run: options.run,
      copyInputs: options.copyInputs,
      reading: {
        encoding: options.encoding,
        maxInputBytes: options.maxInputBytes,
        stdin: context.stdin,
        allowEmpty: options.allowEmpty,
      },
      sources: new Set(Object.keys(config.sources).map(readAsSource)),
      readingOf: (file) => readingOf(sourceOf(file)?.config),
      mapperFor: async (file, input) => {
        const source = sourceOf(file);
        const findings: FileFinding[] = [];
        if (source !== undefined && isOfOneEvent(source.config)) {
          const first = filesOfEvent.get(source.name);
          if (first === undefined) filesOfEvent.set(source.name, file);
          else findings.push(oneEventOfTwo(source.name, first));
        }
        const lookups = await readLookups(source?.config, context.stop, (lookup, { line, rule, ...finding }) => {
          const severity = severityOf(rule);
          if (severity === "error")
            throw lookupFailure(lookup, line, finding, Object.hasOwn(INPUT_RULES, rule) ? "input-invalid" : "usage");
          if (severity !== "off") problems.add({ source: lookup, line, severity, rule, ...finding });
        });
        try {
          const settings = {
            fileName: nameOf(file),
            ...(input.header !== undefined && { header: input.header }),
            ...(options.action !== undefined && { action: options.action }),
            ...(source !== undefined && { source }),
            lookups,
            relaxedRules,
            isPayload: input.format === "json",
          };
          const mapper = createMapper(settings);
          const { onRow } = options;
          const readAs =
            options.action ??
            (source === undefined ? actionOfFileName(settings.fileName) : readAsSource(source.name)) ??
            "";
          const key = source?.config.key === undefined ? undefined : JSON.stringify(source.config.key);
          const isBySource = source !== undefined && options.action === undefined;
          const rules = isBySource ? actionRulesOf(source.config) : [];
          const ids = isBySource ? idRulesOf(source.config) : [];
          const kinds = ids.map((rule) => ({ ...rule, source: readAs, key }));
          const findingsOfSource = options.ledger === undefined ? [] : findIdsOtherwise(options.ledger, kinds);
          const told = { readAs, rules, ids, findings, findingsOfSource, ...(key !== undefined && { key }) };
          // A lookup's table would stand in memory once more for every worker.
          if (onRow === undefined) return { mapper, ...told, settings: lookups.size === 0 ? settings : undefined };
          const from = { file, header: input.header, source: source?.config, mapper };
          return {
            mapper: watched(mapper, (row, mapped) => onRow(from, row, mapped)),
            ...told,
            settings: undefined,
          };
        } catch (cause) {
          if (source === undefined && options.action === undefined) throw withSourcesNamed(cause, config, file);
          throw atItsPlace(config, cause, cwd);
        }
      },
      mappingDigest: createHash("sha256")
        .update(
          JSON.stringify([
            options.action ?? null,
            options.source ?? null,
            options.encoding ?? null,
            options.inputFormat ?? null,
            order,
            config.sources,
            config.rules,
          ]),
        )
        .digest("hex"),
      environment: environment && {
        name: environment.environment.name,
        boundTo: environment.boundTo,
        complete: environment.environment.complete,
        chunkSize: environment.environment.chunkSize,
        maxChunkBytes: environment.environment.maxChunkBytes,
      },
      ledger: options.ledger,
      pending: options.pending,
      again: options.again,
      limit: options.limit ?? Number.POSITIVE_INFINITY,
      order,
      lanes: options.lanes,
      reportVanished: options.reportVanished ?? false,
      maxInvalid: options.maxInvalid ?? { rows: 0 },
      severities,
      workers: { count: workersOf(context.env) },
      problems,
      onUnderstood: (...understood) => {
        for (const line of describeUnderstanding(...understood)) reporter.info(line);
      },
      onRows: (rows) => reporter.progress({ doing: "checking", unit: "rows", done: rows }),
      onOrdered: (actions) => reporter.progress({ doing: "ordering", unit: "actions", done: actions }),
      runOptions: {
        directory: cwd,
        safeCsv: options.safeCsv,
        flags: [...options.rereadFlags],
        order,
        ...(options.encoding !== undefined && { encoding: options.encoding }),
      },
      now: () => context.now?.() ?? new Date(),
      signal: context.stop,
    }),
  );
  reporter.progress(undefined);
  return { files, plan, problems };
}

/** How many workers plan large files. From the fifth on they would wait for this thread, which joins what they make. */
/** What the rows of a source are read as. */
const readAsSource = (name: string): string => `source ${name}`;

function workersOf({ TICKETS_WORKERS: given }: Context["env"]): number {
  if (given === undefined || given === "") return Math.min(MOST_WORKERS, availableParallelism());
  if (/^\d{1,2}$/.test(given)) return Number(given);
  throw new Failure("usage", `TICKETS_WORKERS is ${JSON.stringify(cleanText(given, 40))}, and takes 0 to 99.`, {
    hint: "Leave it unset: what is chosen then suits the machine. 0 plans in one thread.",
  });
}

const MOST_WORKERS = 4;

/** Whether every row of a source is of the same event, which its config names. */
function isOfOneEvent({ fields, actions }: SourceConfig): boolean {
  const rules = [
    fields?.eventId,
    ...(actions ?? []).flatMap((entry) => Object.values(entry).map((rule) => rule?.fields?.eventId)),
  ];
  const given = rules.filter((rule) => rule !== undefined);
  return given.length > 0 && given.every((rule) => typeof rule === "string" && !/[{}]/.test(rule));
}

/** Two exports of one event are nothing unusual, but neither is a match that is too wide. */
function oneEventOfTwo(source: string, first: InputFile): FileFinding {
  return {
    rule: "one-event-of-two-files" satisfies MappingRule,
    message: `The source ${source} also reads ${cleanText(first.name, 200)}, and its eventId is the same for every row.`,
    hint: "If they are of different events, give each a source of its own with a narrower match.",
  };
}

function withSourcesNamed(cause: unknown, config: Config, file: InputFile): unknown {
  if (!(cause instanceof Failure) || cause.code !== "usage") return cause;
  const more = hintOfNoSource(config.sources, nameOf(file));
  return new Failure("usage", cause.message, {
    cause,
    hint: cause.hint === undefined ? more : `${cause.hint}\n${more}`,
  });
}

function watched(mapper: Mapper, see: (row: Row, mapped: Mapped) => void): Mapper {
  return {
    get understanding() {
      return mapper.understanding;
    },
    map(row) {
      const mapped = mapper.map(row);
      if (row.kind !== "malformed") see(row, mapped);
      return mapped;
    },
    retract: (actions) => mapper.retract?.(actions),
    takeSeen: () => mapper.takeSeen?.() ?? {},
    agrees: (seen) => mapper.agrees?.(seen) ?? true,
    join: (seen) => mapper.join?.(seen),
    findingsOfFile: () => mapper.findingsOfFile?.() ?? [],
  };
}

/** Whether a ticket vanished can only be said with an environment's memory, and of an input that is read whole. */
function refuseHalfInput({ limit }: InputOptions, isEnvironmentNamed: boolean): void {
  if (!isEnvironmentNamed)
    throw new Failure("usage", "--report-vanished compares the input with what an environment has accepted.", {
      hint: "Name the environment with --env.",
    });
  if (limit !== undefined)
    throw new Failure("usage", "--report-vanished needs the whole export, and --limit reads a part of it.", {
      hint: "Leave one of them out.",
    });
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));

function readingOf(source: SourceConfig | undefined): {
  readonly encoding?: string;
  readonly csv?: { readonly delimiter?: string; readonly headerLine?: number };
} {
  const { encoding, delimiter, header } = source?.csv ?? {};
  return {
    ...(encoding !== undefined && { encoding }),
    csv: { ...(delimiter !== undefined && { delimiter }), ...(header !== undefined && { headerLine: Number(header) }) },
  };
}

/** The lookup files of a source, whole. */
async function readLookups(
  source: SourceConfig | undefined,
  signal: AbortSignal,
  report: (file: string, finding: Finding & { readonly line: number }) => void,
): Promise<ReadonlyMap<string, LookupTable>> {
  const tables = new Map<string, LookupTable>();
  for (const [name, { file, csv }] of Object.entries(source?.lookup ?? {})) {
    const [lookup, another] = await resolveInputs([file], { signal });
    if (another !== undefined)
      throw new Failure("usage", `The lookup ${name} takes one file, and ${cleanText(file, 200)} matches several.`);
    if (lookup === undefined) throw new Failure("usage", `The lookup file ${file} is missing.`);
    await using input = await openInput(lookup, { signal, ...readingOf({ ...(csv !== undefined && { csv }) }) });
    if (input.header === undefined) throw new Failure("usage", `The lookup file ${file} is not a table with a header.`);
    const rows: (readonly string[])[] = [];
    for await (const batch of input.batches()) {
      for (const row of batch) {
        if (row.kind === "cells") {
          for (const finding of row.findings ?? []) report(file, { ...finding, line: row.line });
          rows.push(row.cells);
        } else if (row.kind === "malformed") {
          const [finding] = row.findings;
          throw lookupFailure(file, row.line, finding ?? { message: "can't be read" });
        }
      }
    }
    for (const finding of findingsOfText(input)) report(file, finding);
    tables.set(name, { file, header: input.header, rows });
  }
  return tables;
}

function lookupFailure(
  file: string,
  line: number,
  { message, hint }: Pick<Finding, "message" | "hint">,
  code: "usage" | "input-invalid" = "usage",
): Failure {
  return new Failure(code, `${cleanText(file, 200)}:${line} ${message}`, hint === undefined ? {} : { hint });
}

/** Rules of the config that can't be carried out, each with the file, line and column where it stands. */
function atItsPlace(config: Config, cause: unknown, cwd: string): unknown {
  if (!(cause instanceof MappingError)) return cause;
  const document = config.documents.find((each) => isDeclared(each, cause.keys));
  if (document === undefined) return cause;
  const told = [cause, ...cause.others].map((fault) => {
    const { file, line, column } = positionAt(document, fault.keys);
    const hint = hintOfComments(document, fault) ?? fault.hint;
    return { line, column, hint, text: `${displayPath(file, cwd)}:${line}:${column} ${fault.message}` };
  });
  const [only] = told;
  if (told.length === 1 && only !== undefined)
    return new Failure("usage", only.text, { cause, ...(only.hint !== undefined && { hint: only.hint }) });
  const lines = told
    .sort((one, other) => one.line - other.line || one.column - other.column)
    // A hint that holds for several in a row is given after the last of them.
    .map(
      ({ text, hint }, at, all) =>
        `  ${text}${hint === undefined || hint === all[at + 1]?.hint ? "" : `\n    ${hint}`}`,
    );
  return new Failure("usage", `${told.length} problems in the config:\n${lines.join("\n")}`, {
    cause,
    hint: "Nothing was sent.",
  });
}

/** `Line 19 holds it as a comment`, for fields without a rule. */
function hintOfComments(document: ConfigDocument, { keys, missing }: MappingError): string | undefined {
  const from = positionAt(document, keys.slice(0, 2), "key").line;
  const sources = keysOfSources(document).map((name) => positionAt(document, ["sources", name], "key").line);
  const to = Math.min(...sources.filter((line) => line > from), Number.POSITIVE_INFINITY);
  const found = missing.flatMap((field) => {
    const comment = document.commentedKeys.find(({ key, line }) => key === field && line > from && line < to);
    return comment === undefined ? [] : [`line ${comment.line} holds ${field} as a comment`];
  });
  if (found.length === 0) return undefined;
  const text = found.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}: fill it in and remove the #.`;
}

function keysOfSources({ value }: ConfigDocument): readonly string[] {
  const sources = typeof value === "object" && value !== null && "sources" in value ? value.sources : undefined;
  return typeof sources === "object" && sources !== null ? Object.keys(sources) : [];
}

function isDeclared({ value }: ConfigDocument, [top, name]: readonly (string | number)[]): boolean {
  const section =
    typeof value === "object" && value !== null ? (value as Record<string, unknown>)[String(top)] : undefined;
  return typeof section === "object" && section !== null && Object.hasOwn(section, String(name));
}

/** Errors of the disk that the plan is written to are told as such. */
async function asStorage<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

/** `sales.csv → soldTicket by file name, 12 columns, 9 used, not used: seat, public: name ("Row A, seat 12"), price` */
function describeUnderstanding(...[file, understanding, input, values]: Parameters<OnUnderstood>): readonly string[] {
  const { action, how, columns, used, unused, publicFields, notes } = understanding;
  const parts = [
    `${file.path === "-" ? "standard input" : cleanText(file.name, 200)} → ${action === undefined ? "actions" : action} ${how.startsWith("--") ? `by ${how}` : how}`,
  ];
  if (input.header !== undefined) {
    parts.push(`${columns} columns, ${used.length} used`);
    const { headerLine = 1 } = input;
    if (headerLine > 1) parts.push(`header in line ${headerLine}`);
    if (input.delimiter !== undefined && input.delimiter !== "," && input.format === "csv")
      parts.push(`delimiter ${input.delimiter === "\t" ? "TAB" : input.delimiter}`);
  } else if (input.bytesRead === 0) parts.push("empty");
  if (input.encoding !== "utf-8") parts.push(`encoding ${input.encoding}`);
  if (unused.length > 0) parts.push(`not used: ${listOf(unused)}`);
  const ofItems = [...values.fields].flatMap((field) => publicName(field) ?? []);
  const published = [...new Set([...publicFields, ...ofItems])];
  if (published.length > 0)
    parts.push(`public: ${published.map((name) => `${name}${exampleOf(name, values)}`).join(", ")}`);
  return [parts.join(", "), ...notes.map((note) => `  ${note}.`)];
}

/** ` ("Anna Schmidt")`: what a person would not have sent is seen by its first value. */
function exampleOf(name: string, { texts, traits }: PublicValues): string {
  const quoted = (text: string): string => JSON.stringify(cleanText(text, 40));
  if (name === "metadataAttributes" && traits.size > 0)
    return ` (${[...traits].map(([trait, text]) => `${cleanText(trait, 40)} ${quoted(text)}`).join(", ")})`;
  const text = isFieldName(name) ? texts.get(name) : undefined;
  return text === undefined ? "" : ` (${quoted(text)})`;
}

function listOf(names: readonly string[]): string {
  const clean = names.slice(0, 12).map((name) => cleanText(name, 40));
  return clean.join(" · ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
}

/** The flags that say how the same input is read again. */
export function inputFlags(options: InputOptions): readonly string[] {
  const { action, source, inputFormat, encoding, order } = options;
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--action", action],
    ["--source", source],
    ["--input-format", inputFormat],
    ["--encoding", encoding],
    ["--order", order === "input" ? undefined : order],
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}
