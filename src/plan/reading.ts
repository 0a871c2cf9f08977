/** What each input is opened, read and mapped with: its source, and the lookup files of that. */

import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { ActionName } from "../actions/actions.ts";
import { Failure } from "../failure.ts";
import { createMapper, type MapperOptions } from "../map/create-mapper.ts";
import type { LookupTable } from "../map/lookup.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import { actionOfFileName } from "../map/named-columns.ts";
import { hintOfNoSource, type Sources, selectSource } from "../map/select-source.ts";
import type { NamedSource, SourceConfig } from "../map/source.ts";
import { problemsOfText } from "../read/content.ts";
import { type Input, type OpenInputOptions, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import type { Row } from "../read/row.ts";
import type { Severity } from "../rules.ts";
import { cleanText } from "../text.ts";
import { type Made, madeBy } from "./made.ts";
import type { Problems } from "./problems.ts";

/** A file on its way through the mapping; one object for all its rows. */
export interface MappedFile {
  readonly file: InputFile;
  readonly header: readonly string[] | undefined;
  readonly source: SourceConfig | undefined;
  readonly mapper: Mapper;
}

/** Called for every row that can be read, with what the mapping makes of it before any check. */
export type OnRow = (from: MappedFile, row: Row, mapped: Mapped) => void;

export interface ReadingOptions {
  readonly sources: Sources;
  /** Of the config. */
  readonly rules: Readonly<Record<string, Severity>>;
  /** `--action`, `--source` and `--encoding`. */
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly encoding?: string | undefined;
  /** Where the input `-` is read from. */
  readonly stdin: Readable;
  readonly maxInputBytes: number | undefined;
  readonly problems: Problems;
  readonly onRow?: OnRow | undefined;
  readonly signal: AbortSignal;
}

/** How the rows of a file are read. */
export interface Reading {
  /** The source, or the action; "" where the rows say it themselves. */
  readonly readAs: string;
  /** Take a file of 0 bytes for an input without rows. */
  readonly allowEmpty: boolean;
  readonly mapper: Mapper;
  /** Called for every row that can be read, with what the mapping makes of it before any check. */
  readonly onRow: ((row: Row, mapped: Mapped) => void) | undefined;
  /** A source of the config says what its rows give. */
  readonly isSource: boolean;
  /** Name of the source whose rules are used: `--action` sets them aside. */
  readonly source: string | undefined;
  /** How it makes its actions. */
  readonly made: readonly Made[];
}

const sourceOf = (file: InputFile, { sources, source }: ReadingOptions): NamedSource | undefined =>
  selectSource(sources, nameOf(file), source, file.isRejects);

export function openingOf(file: InputFile, options: ReadingOptions): OpenInputOptions {
  const { encoding, stdin, maxInputBytes, signal } = options;
  const form = formOf(sourceOf(file, options)?.config);
  return { signal, stdin, maxInputBytes, ...form, ...(encoding !== undefined && { encoding }) };
}

export async function readingOf(file: InputFile, { header }: Input, options: ReadingOptions): Promise<Reading> {
  const { rules, action, onRow } = options;
  const source = sourceOf(file, options);
  const fileName = nameOf(file);
  const mapping: MapperOptions = {
    fileName,
    lookups: await readLookups(source?.config, options),
    relaxedRules: new Set(Object.keys(rules).filter((rule) => rules[rule] !== "error")),
    ...(action && { action }),
    ...(source && { source }),
    ...(header && { header }),
  };
  const mapper = mapperFor(mapping, options.sources);
  const from = { file, header, source: source?.config, mapper };
  return {
    mapper,
    onRow: onRow && ((row, mapped) => onRow(from, row, mapped)),
    readAs: action ?? (source === undefined ? actionOfFileName(fileName) : `source ${source.name}`) ?? "",
    allowEmpty: source?.config.allowEmpty === "true",
    isSource: source?.config.actions !== undefined,
    source: action === undefined ? source?.name : undefined,
    made: source === undefined ? [] : madeBy(source.config, action),
  };
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));

/** What is wrong with a file that no source fits names the sources that there are. */
function mapperFor(options: MapperOptions, sources: Sources): Mapper {
  const { source, action, fileName } = options;
  try {
    return createMapper(options);
  } catch (cause) {
    if (source !== undefined || action !== undefined || !(cause instanceof Failure) || cause.code !== "usage")
      throw cause;
    const more = hintOfNoSource(sources, fileName);
    throw cause.with({ hint: cause.hint === undefined ? more : `${cause.hint}\n${more}` });
  }
}

/** Reads all of them into memory. */
async function readLookups(
  source: SourceConfig | undefined,
  options: ReadingOptions,
): Promise<ReadonlyMap<string, LookupTable>> {
  const tables = new Map<string, LookupTable>();
  for (const [name, lookup] of Object.entries(source?.lookup ?? {}))
    tables.set(name, await readLookup(name, lookup, options));
  return tables;
}

async function readLookup(
  name: string,
  { file, csv }: NonNullable<SourceConfig["lookup"]>[string],
  { problems, signal }: ReadingOptions,
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
function formOf(source: Pick<SourceConfig, "csv" | "rows"> | undefined) {
  const { encoding, delimiter, header, ...dialect } = source?.csv ?? {};
  const headerLine: number | "none" | undefined = header === undefined || header === "none" ? header : Number(header);
  return {
    ...(encoding !== undefined && { encoding }),
    rows: source?.rows,
    csv: { delimiter, headerLine, dialect } as const,
  };
}
