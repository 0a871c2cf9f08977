import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import * as z from "zod";
import { parseJson } from "../../../src/actions/json.ts";
import { parseConfigText } from "../../../src/config/parse-document.ts";
import type { MapperOptions } from "../../../src/map/create-mapper.ts";
import { type SourceConfig, sourceSchema } from "../../../src/map/source.ts";
import { cellsRow, json } from "./rows.ts";
import { createMapper, type Mapped, type Mapper } from "./shown.ts";

/** The sources of a config's text, read and checked as the program does. */
function sourcesOf(text: string): Record<string, SourceConfig> {
  const document = parseConfigText("tickets.config.yaml", text);
  if (document === undefined || document.problems.length > 0) throw new Error(JSON.stringify(document?.problems));
  return z.object({ sources: z.record(z.string(), sourceSchema) }).parse(document.value).sources;
}

/** The rows of CSV text under its header. */
export function tableOf(text: string, delimiter = ","): { header: string[]; rows: string[][] } {
  const [header = [], ...rows] = parse(text, { bom: true, delimiter, record_delimiter: ["\n", "\r\n"] });
  return { header, rows };
}

/** The actions of an NDJSON file. */
export function actionsIn(path: string): unknown[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(parseJson);
}

export function actionsOf(mapped: readonly Mapped[]): unknown[] {
  return mapped.flatMap((row) => (row.kind === "actions" ? row.actions : []));
}

/** Of one source written as YAML (its body, not indented). */
export const mapperOf = (yaml: string, options: Partial<MapperOptions> = {}): Mapper =>
  createMapper({ fileName: "export.json", source: { name: "s", config: sourceOf(yaml) }, ...options });

/** What a file gives, row by row, and what is said of all of it. */
interface MappedFile {
  readonly mapped: readonly Mapped[];
  readonly problems: ReturnType<Mapper["problemsOfFile"]>;
  readonly understanding: Mapper["understanding"];
}

/** Rows of CSV text by such a source. */
export function mapText(
  yaml: string,
  csv: string,
  options: Partial<MapperOptions> & { readonly delimiter?: string } = {},
): MappedFile {
  const { header, rows } = tableOf(csv, options.delimiter);
  const mapper = mapperOf(yaml, { fileName: "export.csv", header, ...options });
  const mapped = rows.map((cells, at) => mapper.map(cellsRow(at + 2, cells)));
  return { mapped, problems: mapper.problemsOfFile(), understanding: mapper.understanding };
}

/** Rows of JSON by such a source. */
export function mapJson(yaml: string, ...rows: readonly string[]): MappedFile {
  const mapper = mapperOf(yaml);
  const mapped = rows.map((row) => mapper.map(json(row)));
  return { mapped, problems: mapper.problemsOfFile(), understanding: mapper.understanding };
}

export function sourceOf(yaml: string): SourceConfig {
  const indented = yaml.replace(/^(?=.)/gm, "    ");
  const config = sourcesOf(`sources:\n  s:\n${indented}`).s;
  if (config === undefined) throw new Error("no source");
  return config;
}
