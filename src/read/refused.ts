/** Files that hold no export, and tables whose first line is no header: named for what they are before anything is read. */

import { Failure } from "../failure.ts";
import { quoted } from "../text.ts";
import { cellsOfRecord, DELIMITERS } from "./csv-records.ts";
import { type InputFile, shownName } from "./input-file.ts";
import type { Row } from "./row.ts";

const CSV_UTF8 = 'Save it as "CSV UTF-8".';
const EXPORT = "Export the data as CSV.";
const UNPACK = "Unpack it first";
const SIGNED_IN = "The download failed, or nobody was signed in: export it again.";

type Kind = readonly [begins: string | RegExp, is: string, hint: string];

/** What files begin with that are no text, byte by byte. */
const PACKED: readonly Kind[] = [
  [
    "PK\x03\x04",
    "an Excel workbook or another zip archive",
    'Save the workbook as "CSV UTF-8", or unpack the archive.',
  ],
  ["\x1f\x8b", "gzip-compressed", "End its name in .gz, or unpack it first (gunzip -c)."],
  ["\x28\xb5\x2f\xfd", "Zstandard-compressed", "End its name in .zst, or unpack it first (zstd -dc)."],
  ["\xfd7zXZ\0", "xz-compressed", `${UNPACK} (xz -dc).`],
  [/^BZh[1-9]1AY&SY/, "bzip2-compressed", `${UNPACK} (bzip2 -dc).`],
  ["7z\xbc\xaf\x27\x1c", "a 7-Zip archive", `${UNPACK} (7z x).`],
];
const BINARY: readonly Kind[] = [
  ...PACKED,
  ["\xd0\xcf\x11\xe0", "an old Excel workbook", CSV_UTF8],
  [/^%PDF-/, "a PDF document", EXPORT],
  [/^SQLite format 3/, "an SQLite database", EXPORT],
  [/^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP)/s, "an image", EXPORT],
  [/^PAR1/, "a Parquet file", "Export the data as CSV or NDJSON."],
];
/** What is text, and says what it is not. */
const TEXTS: readonly Kind[] = [
  [/^version https:\/\/git-lfs/, "a Git LFS pointer, not the file itself", "Fetch the file: git lfs pull."],
  [/^\s*<(?:!doctype html|html)\b/i, "an HTML page, not an export", SIGNED_IN],
  [/^\s*<(?:\?xml|!doctype|[a-z][\w:]*>)/i, "XML, not an export", `${SIGNED_IN} ${EXPORT}`],
];
const JSON_TABLE: Kind = [
  /^\s*(?:\{\s*"|\[\s*[{"[\]])/,
  "JSON, not a table",
  "If it is an export, name it .json, or .ndjson where each line is an object. If it is an error, export it again.",
];

/** What a page, or the answer of a server, says of itself. */
const SAYS = /<title>([^<]+)|<message>([^<]+)|"(?:message|error)":\s*"([^"]+)/i;

/** @param head the first bytes, unpacked. */
export function refuseOther(file: InputFile, head: Buffer): void {
  const bytes = head.toString("latin1", 0, 4096).replace(/^\u00ef\u00bb\u00bf/, "");
  const isTable = file.format === "csv" || file.format === "tsv";
  const kinds = [...BINARY, ...TEXTS, ...(isTable ? [JSON_TABLE] : [])];
  const found = kinds.find(([begins]) => (typeof begins === "string" ? bytes.startsWith(begins) : begins.test(bytes)));
  if (found === undefined) return;
  const [, is, hint] = found;
  const name = shownName(file);
  if (file.compression !== "none" && PACKED.includes(found))
    throw new Failure("usage", `${name} is packed twice: unpacked once, it is ${is}.`, { hint: "Unpack it once." });
  if (BINARY.includes(found)) throw new Failure("usage", `${name} is ${is}, not text.`, { hint });
  const said = SAYS.exec(head.toString("utf8", 0, 4096))
    ?.slice(1)
    .find((text) => text !== undefined);
  const shown = said === undefined ? "" : ` (${quoted(said, 80)})`;
  throw new Failure("usage", `${name} is ${is}${shown}.`, { hint });
}

const KINDS_OF_DATA: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["an e-mail address", /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ["a link", /^https?:\/\//i],
  ["a time", /^\d{4}-\d\d-\d\d(?:[T ].*)?$|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:,? .*)?$|^\d{1,2}:\d\d(?::\d\d)?$/],
  // 1 May 2026; Fri, May 1, 2026 - 7:15 pm.
  ["a time", /^(?:\p{L}{2,}\.?,? )?(?:\d{1,2}\.?[ -]\p{L}{3,}\.?[ -]|\p{L}{3,}\.? \d{1,2},? )\d{4}(?![^ ,])/u],
  ["an amount", /^(?:\p{Sc}|[A-Z]{3})?\s?-?\d[\d.,' ]*[.,]\d{1,2}(?:\s?\p{Sc}|\s?[A-Z]{3})?$/u],
  ["an id", /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$|^(?=.*\d)[\da-f]{16,}$/i],
];

const kindOf = (cell: string) => KINDS_OF_DATA.find(([, pattern]) => pattern.test(cell))?.[0];
/** `S-0` of `S-17`; of a code such as `K7QX2` its length. */
const shapeOf = (cell: string): string =>
  /^(?=(?:.*\d){2})[A-Z\d]{5,}$/.test(cell) ? `code ${cell.length}` : cell.replace(/\d+/g, "0");

/** What a cell of a header holds that is data; it stands below it as well, if anything does. */
function dataIn(cell: string, below: string | undefined): string | undefined {
  const kind = kindOf(cell);
  if (kind !== undefined && (below === undefined || kindOf(below) === kind)) return kind;
  const isLikeBelow = /\d/.test(cell) && cell !== below && shapeOf(cell) === shapeOf(below ?? "");
  return isLikeBelow ? "an id like the one below it" : undefined;
}

/** The first line is a row. The source may say so, or name the line of its header. */
export class NoHeader extends Failure {}

interface FirstLine {
  readonly header: readonly string[];
  readonly line: number;
  /** By a delimiter that the source names, which may be the wrong one. */
  readonly isSplitAsDeclared: boolean;
}

/**
 * Refuses a table whose header was not declared, and is none.
 *
 * @param row the first one below it; undefined where there is none.
 */
export function refuseStrangeHeader(
  file: InputFile,
  { header, line, isSplitAsDeclared }: FirstLine,
  row: Row | undefined,
): void {
  const name = shownName(file);
  const below = row?.kind === "cells" ? row.whole() : undefined;
  const [only = ""] = header;
  const packed =
    header.length > 1 || isSplitAsDeclared || below === undefined
      ? []
      : DELIMITERS.filter((each) => only.includes(each));
  const isQuoted = packed.some((each) => widthOf(only, each) > 1 && widthOf(only, each) === widthOf(below?.[0], each));
  if (isQuoted)
    throw new Failure("usage", `In ${name}, each line is one quoted cell.`, {
      hint: "A spreadsheet saves a comma file so where lists are separated by semicolons. Export the file again.",
    });
  if (row?.kind === "malformed") return;
  const found = header.map((cell, at) => dataIn(cell.trim(), below?.[at]?.trim()));
  const column = found.findIndex((what) => what !== undefined);
  if (column === -1) return;
  throw new NoHeader(
    "usage",
    `${name} has no header: line ${line} is a row, with ${found[column]} in column ${column + 1}.`,
    {
      hint: `Say csv: {header: none} in its source; its columns are then {1}, {2} and so on. If the line is the header, say csv: {header: ${line}}.`,
    },
  );
}

const widthOf = (record: string | undefined, delimiter: string): number =>
  cellsOfRecord(record ?? "", delimiter)?.length ?? 0;
