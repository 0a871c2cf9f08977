/** The formats of inputs, one entry each: what its files are called, and who reads it. */

import { type CsvOptions, CsvParser } from "./csv.ts";
import { INPUT_FORMATS, type InputFormat } from "./input-file.ts";
import { JsonArrayParser, type JsonOptions } from "./json-array.ts";
import { NdjsonParser } from "./ndjson.ts";
import type { RowParser } from "./row.ts";

export interface FormatSpec {
  /** Endings of its files, in lower case; the first is its usual one. */
  readonly extensions: readonly string[];
  readonly parser: (options: CsvOptions & JsonOptions) => RowParser;
  /** Rows end with lines, so that its last line needs a line end. */
  readonly isOfLines: boolean;
  /** What standard input of this format begins with; undefined where it may begin with anything. */
  readonly firstCharacter?: string;
  /** How one says that it has no rows, in a sentence; undefined where an empty file says so. */
  readonly whenEmpty?: string;
}

const TABLE = { isOfLines: true, whenEmpty: "A table without rows has its header." };

export const FORMATS: Readonly<Record<InputFormat, FormatSpec>> = {
  csv: {
    ...TABLE,
    extensions: ["csv"],
    parser: (options) => new CsvParser(options),
  },
  tsv: {
    ...TABLE,
    extensions: ["tsv"],
    parser: (options) => new CsvParser({ ...options, delimiter: options.delimiter ?? "\t" }),
  },
  ndjson: {
    extensions: ["ndjson", "jsonl"],
    parser: ({ name }) => new NdjsonParser(name),
    isOfLines: true,
    firstCharacter: "{",
  },
  json: {
    extensions: ["json"],
    parser: (options) => new JsonArrayParser(options),
    isOfLines: false,
    firstCharacter: "[",
    whenEmpty: "An array without rows is [].",
  },
};

/** What standard input holds, by its first character; a table where that tells nothing. */
export function formatOf(beginning: string): InputFormat {
  const [first] = beginning.trimStart();
  return INPUT_FORMATS.find((format) => first !== undefined && FORMATS[format].firstCharacter === first) ?? "csv";
}

/**
 * The columns or keys that the beginning of a file shows, by which promises and rejects are known: of the first line, and of
 * the first item of an array, which may begin in the next.
 */
export function firstNames(beginning: string): readonly string[] {
  const [line = ""] = beginning.replace(/^\ufeff?\s*(?:\[\s*(?=\{))?/, "").split(/[\r\n]/, 1);
  return line.startsWith("{")
    ? Array.from(line.matchAll(/"([^"]*)"\s*:/g), ([, key = ""]) => key)
    : line.split(/[,;|\t]/).map((cell) => cell.replace(/^\s*"?|"?\s*$/g, ""));
}
