/** The lookup files of a source. */

import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import type { LookupTable } from "../map/lookup.ts";
import type { SourceConfig } from "../map/source.ts";
import { findingsOfText } from "../read/content.ts";
import { openInput } from "../read/input.ts";
import { resolveInputs } from "../read/inputs.ts";

type Report = (file: string, finding: Finding & { readonly line: number }) => void;

/** Reads all of them into memory. */
export async function readLookups(
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
      if (row.kind === "cells") {
        for (const finding of row.findings ?? []) report(file, { ...finding, line: row.line });
        rows.push(row.cells);
      } else if (row.kind === "malformed") {
        const [finding] = row.findings;
        throw lookupFailure(file, row.line, finding ?? { message: "can't be read.", hint: "Export the file again." });
      }
  for (const finding of findingsOfText(input)) report(file, { line: 1, ...finding });
  return { file, header: input.header, rows };
}

export const lookupFailure = (
  file: string,
  line: number,
  { message, hint }: Pick<Finding, "message" | "hint">,
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
