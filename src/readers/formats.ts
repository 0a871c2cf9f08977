/** The formats of inputs, one entry each: what its files are called, and who reads it. */

import { type CsvOptions, type CsvParser, csvParser } from "./csv.ts";
import type { InputFormat } from "./input-file.ts";
import { JsonArrayParser } from "./json-array.ts";
import { ndjsonParser } from "./ndjson.ts";
import type { RowParser } from "./row-parser.ts";

export interface FormatSpec {
  /** Endings of its files, in lower case; the first is its usual one. */
  readonly extensions: readonly string[];
  readonly parser: (options: CsvOptions) => RowParser | CsvParser;
  /** Rows end with lines, so that its last line needs a line end. */
  readonly isOfLines: boolean;
}

export const FORMATS: Readonly<Record<InputFormat, FormatSpec>> = {
  csv: { extensions: ["csv"], parser: csvParser, isOfLines: true },
  tsv: {
    extensions: ["tsv"],
    parser: (options) => csvParser({ ...options, delimiter: options.delimiter ?? "\t" }),
    isOfLines: true,
  },
  ndjson: { extensions: ["ndjson", "jsonl"], parser: () => ndjsonParser(), isOfLines: true },
  json: { extensions: ["json"], parser: () => new JsonArrayParser(), isOfLines: false },
};

/** Whether its rows are cells under a header. */
export const isTable = (parser: RowParser | CsvParser): parser is CsvParser => "header" in parser;
