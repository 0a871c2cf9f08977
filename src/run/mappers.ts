/** The source and the mapper of each input file, with the lookup files of the source; and what of the config shows only then. */

import { basename } from "node:path";
import type { ActionName } from "../actions/actions.ts";
import type { Problem } from "../actions/problem.ts";
import type { Config } from "../config/config.ts";
import { type ConfigDocument, keysAt, positionAt } from "../config/document.ts";
import { Failure } from "../failure.ts";
import { createMapper } from "../map/create-mapper.ts";
import type { LookupTable } from "../map/lookup.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import { MappingError } from "../map/mapping-error.ts";
import { actionOfFileName } from "../map/named-columns.ts";
import { hintOfNoSource, selectSource } from "../map/select-source.ts";
import type { SourceConfig } from "../map/source.ts";
import { madeBy } from "../plan/made.ts";
import type { Problems } from "../plan/problems.ts";
import type { Reading } from "../plan/rows.ts";
import { problemsOfText } from "../read/content.ts";
import { type Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import type { Row } from "../read/row.ts";
import { INPUT_RULES } from "../read/rules.ts";
import { cleanText, displayPath } from "../text.ts";

/** A file on its way through the mapping; one object for all its rows. */
export interface MappedFile {
  readonly file: InputFile;
  readonly header: readonly string[] | undefined;
  readonly source: SourceConfig | undefined;
  readonly mapper: Mapper;
}

/** Called for every row that can be read, with what the mapping makes of it before any check. */
export type OnRow = (from: MappedFile, row: Row, mapped: Mapped) => void;

interface MapperOptions {
  readonly config: Config;
  readonly cwd: string;
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly problems: Problems;
  readonly onRow?: OnRow | undefined;
  readonly signal: AbortSignal;
}

type Source = ReturnType<typeof selectSource>;

interface Mappers {
  readonly sourceOf: (file: InputFile) => Source;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading>;
}

export function createMappers(options: MapperOptions): Mappers {
  const { config, cwd, action, signal, onRow } = options;
  const relaxedRules = new Set(
    Object.entries(config.rules).flatMap(([rule, severity]) => (severity === "error" ? [] : [rule])),
  );
  const sourceOf = (file: InputFile): Source => {
    try {
      return selectSource(config.sources, nameOf(file), options.source, file.isRejects);
    } catch (cause) {
      throw atItsPlace(config, cause, cwd);
    }
  };
  const readingOf: Mappers["readingOf"] = async (file, { header }) => {
    const source = sourceOf(file);
    const fileName = nameOf(file);
    const lookups = await readLookups(source?.config, signal, reportOf(options));
    const mapping = { fileName, lookups, relaxedRules, ...(action && { action }), ...(source && { source }) };
    let mapper: Mapper;
    try {
      mapper = createMapper({ ...mapping, ...(header && { header }) });
    } catch (cause) {
      if (source === undefined && action === undefined) throw withSourcesNamed(cause, config, fileName);
      throw atItsPlace(config, cause, cwd);
    }
    const readAs = action ?? (source === undefined ? actionOfFileName(fileName) : `source ${source.name}`) ?? "";
    const made = source === undefined ? [] : madeBy(source.config, action);
    const allowEmpty = source?.config.allowEmpty === "true";
    const about = { readAs, allowEmpty, isSource: source?.config.actions !== undefined, made };
    if (onRow === undefined) return { mapper, mapping, ...about };
    const from = { file, header, source: source?.config, mapper };
    return { mapper: watched(mapper, (row, mapped) => onRow(from, row, mapped)), mapping: undefined, ...about };
  };
  return { sourceOf, readingOf };
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));

/** Reports a problem in a lookup file: a warning becomes a problem of the run, an error ends it. */
function reportOf({ problems }: MapperOptions): Report {
  return (lookup, { line, ...problem }) => {
    const { rule } = problem;
    if (problems.severityOf(rule) === "error")
      throw lookupFailure(lookup, line, problem, Object.hasOwn(INPUT_RULES, rule) ? "input-invalid" : "usage");
    problems.add({ source: lookup, line, item: "" }, problem);
  };
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
    beside: () => mapper.beside(),
    problemsOfFile: () => mapper.problemsOfFile?.() ?? [],
  };
}

type Report = (file: string, problem: Problem & { readonly line: number }) => void;

/** Reads all of them into memory. */
async function readLookups(
  source: SourceConfig | undefined,
  signal: AbortSignal,
  report: Report,
): Promise<ReadonlyMap<string, LookupTable>> {
  const tables = new Map<string, LookupTable>();
  for (const [name, lookup] of Object.entries(source?.lookup ?? {}))
    tables.set(name, await readLookup(name, lookup, signal, report));
  return tables;
}

async function readLookup(
  name: string,
  { file, csv }: NonNullable<SourceConfig["lookup"]>[string],
  signal: AbortSignal,
  report: Report,
): Promise<LookupTable> {
  const [found, another] = await resolveInputs([file], { signal });
  if (another !== undefined)
    throw new Failure("usage", `The lookup ${name} takes one file, but ${cleanText(file, 200)} matches several.`, {
      hint: "Name one file in the lookup of the source.",
    });
  if (found === undefined)
    throw new Failure("usage", `The lookup file ${file} is missing.`, {
      hint: "Export it too, or correct file in the lookup of the source.",
    });
  await using input = await openInput(found, { signal, ...readingOf(csv && { csv }) });
  if (input.header === undefined)
    throw new Failure("usage", `The lookup file ${file} is not a table with a header.`, {
      hint: "A lookup reads CSV or TSV whose first line names the columns.",
    });
  const rows: (readonly string[])[] = [];
  for await (const batch of input.batches())
    for (const row of batch)
      if (row.kind === "cells") rows.push(row.cells);
      else if (row.kind === "malformed") {
        const [problem] = row.problems;
        throw lookupFailure(file, row.line, problem ?? { message: "can't be read.", hint: "Export the file again." });
      }
  for (const problem of problemsOfText(input)) report(file, { line: 1, ...problem });
  return { file, header: input.header, rows };
}

const lookupFailure = (
  file: string,
  line: number,
  { message, hint }: Pick<Problem, "message" | "hint">,
  code: "usage" | "input-invalid" = "usage",
): Failure => new Failure(code, `${cleanText(file, 200)}:${line} ${message}`, { hint });

/** What a source's config says about how its files are read. */
export function readingOf(source: Pick<SourceConfig, "csv" | "rows"> | undefined) {
  const { encoding, delimiter, header, ...dialect } = source?.csv ?? {};
  const headerLine: number | "none" | undefined = header === undefined || header === "none" ? header : Number(header);
  return {
    ...(encoding !== undefined && { encoding }),
    rows: source?.rows,
    csv: { delimiter, headerLine, dialect } as const,
  };
}

/** A failure that names each rule of the config that can't be carried out, with its file, line and column. */
function atItsPlace(config: Config, cause: unknown, cwd: string): unknown {
  if (!(cause instanceof MappingError)) return cause;
  const document = config.documents.find((each) => isDeclared(each, cause.keys));
  if (document === undefined) return cause;
  const faults = [cause, ...cause.others].map((fault) => {
    const { file, line, column } = positionAt(document, fault.keys);
    return { line, column, hint: fault.hint, text: `${displayPath(file, cwd)}:${line}:${column} ${fault.message}` };
  });
  const [only] = faults;
  if (faults.length === 1 && only !== undefined) return new Failure("usage", only.text, { cause, hint: only.hint });
  const lines = faults
    .sort((one, other) => one.line - other.line || one.column - other.column)
    .map(({ text, hint }, at, all) => {
      // A hint shared by several in a row is given after the last of them.
      return hint === undefined || hint === all[at + 1]?.hint ? `  ${text}` : `  ${text}\n    ${hint}`;
    });
  const message = `${faults.length} problems in the config:\n${lines.join("\n")}`;
  return new Failure("usage", message, { cause, nothingSent: true });
}

/** Whether it is this file that holds the source, or what else the keys begin with. */
const isDeclared = ({ value }: ConfigDocument, [top = "", name]: readonly (string | number)[]): boolean =>
  keysAt(value, [top]).includes(String(name));

/** Adds the config's sources to a failure of an input that no source matched. */
function withSourcesNamed(cause: unknown, config: Config, fileName: string): unknown {
  if (!(cause instanceof Failure) || cause.code !== "usage") return cause;
  const more = hintOfNoSource(config.sources, fileName);
  return cause.with({ hint: cause.hint === undefined ? more : `${cause.hint}\n${more}` });
}
