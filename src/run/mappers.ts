/** What each input is read and mapped with: its source, the lookup files of that, and what of the config shows only then. */

import { basename } from "node:path";
import type { ActionName } from "../actions/actions.ts";
import type { Config } from "../config/config.ts";
import { type ConfigDocument, keysAt, positionAt } from "../config/document.ts";
import { Failure } from "../failure.ts";
import { createMapper, type MapperOptions } from "../map/create-mapper.ts";
import type { LookupTable } from "../map/lookup.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import { MappingError } from "../map/mapping-error.ts";
import { actionOfFileName } from "../map/named-columns.ts";
import { hintOfNoSource, selectSource } from "../map/select-source.ts";
import type { NamedSource, SourceConfig } from "../map/source.ts";
import { madeBy } from "../plan/made.ts";
import type { Problems } from "../plan/problems.ts";
import type { Reading } from "../plan/rows.ts";
import { problemsOfText } from "../read/content.ts";
import { type Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import type { Row } from "../read/row.ts";
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

interface MappingOptions {
  readonly config: Config;
  readonly action?: ActionName | undefined;
  /** `--source`. */
  readonly source?: string | undefined;
  readonly problems: Problems;
  readonly onRow?: OnRow | undefined;
  readonly signal: AbortSignal;
}

export const sourceOf = (file: InputFile, { config, source }: MappingOptions): NamedSource | undefined =>
  selectSource(config.sources, nameOf(file), source, file.isRejects);

export async function readingOf(file: InputFile, { header }: Input, options: MappingOptions): Promise<Reading> {
  const { config, action, onRow } = options;
  const source = sourceOf(file, options);
  const fileName = nameOf(file);
  const mapping = {
    fileName,
    lookups: await readLookups(source?.config, options),
    relaxedRules: new Set(Object.keys(config.rules).filter((rule) => config.rules[rule] !== "error")),
    ...(action && { action }),
    ...(source && { source }),
  };
  const mapper = mapperFor({ ...mapping, ...(header && { header }) }, config);
  const from = { file, header, source: source?.config, mapper };
  return {
    ...{ mapper, mapping },
    onRow: onRow && ((row, mapped) => onRow(from, row, mapped)),
    readAs: action ?? (source === undefined ? actionOfFileName(fileName) : `source ${source.name}`) ?? "",
    allowEmpty: source?.config.allowEmpty === "true",
    isSource: source?.config.actions !== undefined,
    made: source === undefined ? [] : madeBy(source.config, action),
  };
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));

/** What is wrong with a file that no source fits names the sources that there are. */
function mapperFor(options: MapperOptions, config: Config): Mapper {
  const { source, action, fileName } = options;
  try {
    return createMapper(options);
  } catch (cause) {
    if (source !== undefined || action !== undefined || !(cause instanceof Failure) || cause.code !== "usage")
      throw cause;
    const more = hintOfNoSource(config.sources, fileName);
    throw cause.with({ hint: cause.hint === undefined ? more : `${cause.hint}\n${more}` });
  }
}

/** Reads all of them into memory. */
async function readLookups(
  source: SourceConfig | undefined,
  options: MappingOptions,
): Promise<ReadonlyMap<string, LookupTable>> {
  const tables = new Map<string, LookupTable>();
  for (const [name, lookup] of Object.entries(source?.lookup ?? {}))
    tables.set(name, await readLookup(name, lookup, options));
  return tables;
}

async function readLookup(
  name: string,
  { file, csv }: NonNullable<SourceConfig["lookup"]>[string],
  { problems, signal }: MappingOptions,
): Promise<LookupTable> {
  const [found, another] = await resolveInputs([file], { signal });
  if (found === undefined || another !== undefined)
    throw new Failure("usage", `The lookup ${name} takes one file, but ${cleanText(file, 200)} matches several.`, {
      hint: "Name one file in the lookup of the source.",
    });
  await using input = await openInput(found, { signal, ...formOf(csv && { csv }) });
  if (input.header === undefined)
    throw new Failure("usage", `The lookup file ${file} is not a table with a header.`, {
      hint: "A lookup reads CSV or TSV whose first line names the columns.",
    });
  const rows: (readonly string[])[] = [];
  for await (const batch of input.batches())
    for (const row of batch)
      if (row.kind === "cells") rows.push(row.cells);
      else if (row.kind === "malformed") {
        const [problem = { message: "can't be read.", hint: "Export the file again." }] = row.problems;
        throw new Failure("usage", lookupText(file, row.line, problem.message), { hint: problem.hint });
      }
  for (const { line = 1, ...problem } of problemsOfText(input)) {
    if (problems.severityOf(problem.rule) === "error")
      throw new Failure("input-invalid", lookupText(file, line, problem.message), { hint: problem.hint });
    problems.add({ source: file, line, item: "" }, problem);
  }
  return { file, header: input.header, rows };
}

const lookupText = (file: string, line: number, message: string): string =>
  `${cleanText(file, 200)}:${line} ${message}`;

/** What a source's config says about how its files are read. */
export function formOf(source: Pick<SourceConfig, "csv" | "rows"> | undefined) {
  const { encoding, delimiter, header, ...dialect } = source?.csv ?? {};
  const headerLine: number | "none" | undefined = header === undefined || header === "none" ? header : Number(header);
  return {
    ...(encoding !== undefined && { encoding }),
    rows: source?.rows,
    csv: { delimiter, headerLine, dialect } as const,
  };
}

/** A failure that names each rule of the config that can't be carried out, with its file, line and column. */
export function atItsPlace(config: Config, cause: unknown, cwd: string): unknown {
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
