/** The formats of inputs, one entry each: what its files are called, and who reads it. */

import { REJECTS_COLUMNS } from "../actions/rejects-columns.ts";
import { type CsvOptions, CsvParser } from "./csv.ts";
import { detectDelimiter } from "./delimiter.ts";
import { INPUT_FORMATS, type InputFormat } from "./input-file.ts";
import { JsonArrayParser } from "./json-array.ts";
import { NdjsonParser } from "./ndjson.ts";
import type { RowParser } from "./row-parser.ts";

export interface FormatSpec {
  /** Endings of its files, in lower case; the first is its usual one. */
  readonly extensions: readonly string[];
  readonly parser: (options: CsvOptions) => RowParser | CsvParser;
  /** Rows end with lines, so that its last line needs a line end. */
  readonly isOfLines: boolean;
  /** What standard input of this format begins with; undefined where it may begin with anything. */
  readonly firstCharacter?: string;
  /** The keys that its first line shows, by which promises and rejects are known. */
  readonly firstKeys: (line: string) => readonly string[];
  /** How one says that it has no rows, in a sentence; undefined where an empty file says so. */
  readonly whenEmpty?: string;
}

const TABLE = { isOfLines: true, whenEmpty: "A table without rows has its header." };

export const FORMATS: Readonly<Record<InputFormat, FormatSpec>> = {
  csv: {
    ...TABLE,
    extensions: ["csv"],
    parser: (options) => new CsvParser(options),
    firstKeys: (line) => keysOfCells(line, detectDelimiter(line)),
  },
  tsv: {
    ...TABLE,
    extensions: ["tsv"],
    parser: (options) => new CsvParser({ ...options, delimiter: options.delimiter ?? "\t" }),
    firstKeys: (line) => keysOfCells(line, "\t"),
  },
  ndjson: {
    extensions: ["ndjson", "jsonl"],
    parser: () => new NdjsonParser(),
    isOfLines: true,
    firstCharacter: "{",
    firstKeys: keysOfJson,
  },
  json: {
    extensions: ["json"],
    parser: () => new JsonArrayParser(),
    isOfLines: false,
    firstCharacter: "[",
    firstKeys: keysOfJson,
    whenEmpty: "A payload without actions is [].",
  },
};

/** What standard input holds, by its first character; a table where that tells nothing. */
export function formatOf(beginning: Buffer): InputFormat {
  const first = beginning.find((byte) => byte > 0x20);
  return INPUT_FORMATS.find((format) => FORMATS[format].firstCharacter?.charCodeAt(0) === first) ?? "csv";
}

const keysOfCells = (line: string, delimiter: string): readonly string[] =>
  line.split(delimiter).map((cell) => cell.replace(/^\s*"?|"?\s*$/g, ""));

/** In a line that is not a whole object, such as a cut one, only keys of rejects are found. */
function keysOfJson(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line.replace(/[\s,\]]+$/, ""));
    return typeof value === "object" && value !== null ? Object.keys(value) : [];
  } catch {
    return REJECTS_COLUMNS.filter((key) => new RegExp(`"${key}"\\s*:`).test(line));
  }
}
