/** Problems about an input as a whole: it is empty, it is read in a wrong encoding, or its last line may be cut off. */

import type { Problem } from "../actions/problem.ts";
import type { InputRule } from "../rules.ts";
import { count, number, quoted } from "../text.ts";
import { decodeForMessage } from "./encoding.ts";
import type { InputFormat } from "./file-names.ts";
import type { Input } from "./input.ts";

export type ContentProblem = Problem & { readonly rule: InputRule; readonly line?: number };

const EMPTY_TABLE = "A table without rows has its header.";
/** How one says that a file has no rows; undefined where an empty one says so. */
const WHEN_EMPTY: Readonly<Record<InputFormat, string | undefined>> = {
  csv: EMPTY_TABLE,
  tsv: EMPTY_TABLE,
  ndjson: undefined,
  json: "An array without rows is [].",
};

/**
 * @param input read to its end.
 * @param rows how many rows it gave.
 * @param allowEmpty whether a file of 0 bytes may be a table or a payload without rows.
 */
export function problemsOfContent(input: Input, rows: number, allowEmpty: boolean): readonly ContentProblem[] {
  const { file, format, bytesRead } = input;
  const isPacked = file.compression !== "none";
  // Even an empty file has some bytes once it is packed.
  const isPackedNothing = isPacked && bytesRead === 0;
  const whenEmpty = WHEN_EMPTY[format];
  const isQuiet = file.path === "-" || (whenEmpty === undefined && !isPackedNothing);
  if (input.isEmpty && !isQuiet && !allowEmpty) {
    const holds = bytesRead === 0 ? "0 bytes" : isPacked ? "unpacked, it holds nothing" : "it holds nothing but blanks";
    const message = `The file is empty: ${holds}.`;
    const hints = [whenEmpty, "Did the export fail?", "If an empty file is right, say allowEmpty: true in its source."];
    return [{ rule: "input-empty", message, hint: hints.filter((each) => each !== undefined).join(" ") }];
  }
  if (rows === 0) return [...problemsOfEncoding(input), NO_ROWS];
  return problemsOfText(input);
}

const NO_ROWS: ContentProblem = {
  rule: "input-no-rows",
  message: "The input has no rows: there is nothing to send.",
  hint: "If there should be some, check what wrote it and export again.",
};

/** Problems about any text that was read to its end: an input, or the file of a lookup. */
export const problemsOfText = (input: Input): readonly ContentProblem[] => [
  ...problemsOfEncoding(input),
  ...problemsOfUnevenRows(input),
  ...problemsOfEnd(input),
];

/** Encodings in which a character takes several bytes, so that a few of them may be valid UTF-8 by chance. */
const MULTI_BYTE = /^(?:gb|big5|euc|shift_jis|iso-2022)/;
const LEAST_OF_MULTI_BYTE = 8;

/** Tells when the bytes read so far are UTF-8 and are read as something else. */
export function problemsOfEncoding({ encoding, asUtf8, format }: Input): readonly ContentProblem[] {
  // UTF-16 has a NUL at every line end.
  if (asUtf8?.isValid !== true || asUtf8.first === undefined || encoding.startsWith("utf-")) return [];
  if (MULTI_BYTE.test(encoding) && asUtf8.characters < LEAST_OF_MULTI_BYTE) return [];
  const { line, cell } = asUtf8.first;
  return [
    {
      rule: "looks-like-utf8",
      ...(format !== "json" && { line }),
      message: `The file is read as ${encoding}, but all of it is valid UTF-8: ${quoted(cell, 60)} would become ${quoted(decodeForMessage(Buffer.from(cell), encoding), 60)}.`,
      hint: `Leave --encoding out, or declare encoding: utf-8 in csv of its source. If it really is ${encoding}, set this rule to off.`,
    },
  ];
}

/** Rows of a table that were read as if they had as many cells as its header, or as if what a cell holds were text. */
function problemsOfUnevenRows({ unevenRows, header = [] }: Input): readonly ContentProblem[] {
  const lastName = quoted(header.findLast((name) => name.trim() !== "")?.trim() ?? "");
  return unevenRows.map(({ kind, rows, firstLine }) => {
    if (kind === "hiding") return hidingRows(rows, firstLine);
    const have = rows === 1 ? "1 row has" : `${number(rows)} rows have`;
    const [message, otherwise] =
      kind === "longer"
        ? [
            `${have} empty cells beyond the header's ${count(header.length, "column")}; they are left out.`,
            "a delimiter in a cell without quotes",
          ]
        : [`${have} no cell for the header's last column, which has no name.`, "a row that was cut short"];
    const hint = `Check ${lastName} in line ${firstLine}: ${otherwise} looks the same. If it is right, set this rule to off.`;
    return { rule: "rows-uneven", line: firstLine, message, hint };
  });
}

const hidingRows = (rows: number, line: number): ContentProblem => ({
  rule: "rows-in-cell",
  line,
  message: `${count(rows, "quoted cell")} with line breaks ${rows === 1 ? "looks" : "look"} like rows of the table, which would be lost.`,
  hint: 'Take a lone quote out, or double it: "5"" single". If the cells are right, set this rule to off.',
});

function problemsOfEnd({ unendedLine }: Input): readonly ContentProblem[] {
  if (unendedLine === undefined) return [];
  const message = "The last line has no line end, so it may be cut off.";
  const hint = "Compare it with the system that wrote it. A whole export ends its last line too.";
  return [{ rule: "last-line-unended", line: unendedLine, message, hint }];
}
