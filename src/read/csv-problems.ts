/** Rows of a table that can't be used as they are. */

import { cleanText, count, escapeUnseen, number } from "../text.ts";
import { type CsvDialect, cellsOfRecord, isRfc, type RecordFault } from "./csv-records.ts";
import { malformed, type Row } from "./row.ts";

/** How the rows of a table are written. */
export interface TableForm {
  /** Empty where the header itself can't be read. */
  readonly header: readonly string[];
  readonly dialect: CsvDialect;
}

export function faultRow(table: TableForm, text: string, line: number, fault: RecordFault): Row {
  const column = columnName(table, fault.column);
  const notRead = " Nothing after this row was read.";
  if (fault.kind === "return") {
    const { header, dialect } = table;
    // Without the CR it must be a record as RFC 4180 has it: behind a wrong quote, nothing says where a record ends.
    const isRecord = cellsOfRecord(text.replaceAll("\r", ""), dialect.delimiter) !== undefined;
    const bordersKnown = header.length > 0 && isRfc(dialect) && isRecord;
    return malformed(line, text, bordersKnown, {
      rule: "lone-carriage-return",
      message: `${column} holds a carriage return outside quotes; the lines of this file end otherwise, so two rows may stand in one.${bordersKnown ? "" : notRead}`,
      hint: "Give every line the same end (LF or CRLF), and put a cell that holds a line break in quotes.",
    });
  }
  const hint = quoteHint(table.dialect, text.split("\n")[fault.lineEnds] ?? "", fault);
  if (fault.kind === "never-closed") {
    const at = line + fault.lineEnds;
    const message = `A quote in line ${at}, ${column.replace("Column", "column")}, never closes. Lines after ${at} were not read.`;
    return malformed(line, text, false, { rule: "csv-quotes", message, hint });
  }
  const where = fault.lineEnds === 0 ? "" : ` (line ${line + fault.lineEnds})`;
  return malformed(line, text, false, {
    rule: "csv-quotes",
    message: `${column} ${QUOTE_FAULTS[fault.kind]}${where}.${notRead}`,
    hint,
  });
}

const QUOTE_FAULTS = {
  bare: "has a quote inside, but does not begin with one",
  "text-after": "has text after its closing quote",
};

/** @param faulty the line of the fault: lines behind it may be other rows. */
function quoteHint(dialect: CsvDialect, faulty: string, { kind }: RecordFault): string {
  if (faulty.includes('\\"') && dialect.escape === undefined)
    return 'A backslash stands before a quote, as PHP writes it: say csv: {escape: "\\\\"} in its source.';
  if (/[,;\t|] +"/.test(faulty)) return "A blank stands between a delimiter and a quote: export without it.";
  if (kind === "never-closed") return 'Close it, or write "" for a quote inside a quoted cell: "5"" single".';
  const right = 'Put a cell that holds quotes in quotes and double those inside: "5"" single".';
  return `${right} If the exporter can't, say csv: {delimiter: ${JSON.stringify(dialect.delimiter)}, quotes: loose} in its source.`;
}

export function headerAgainRow(text: string, line: number, order: "same" | "other"): Row {
  const [message, hint] =
    order === "same"
      ? ["The row is the header again.", "Remove it: files that are put together need one header, at the top."]
      : [
          "The row is a header again, with the columns in another order. Nothing after this row was read.",
          "Pass the two files separately: their columns differ.",
        ];
  return malformed(line, text, order === "same", { rule: "header-repeated", message, hint });
}

export function cellCountRow(table: TableForm, text: string, line: number, cells: readonly string[]): Row {
  const { header } = table;
  const expected = header.length;
  const given = cells.length;
  const has = `The row has ${count(given, "cell")}, the header has ${number(expected)}`;
  const missing = expected - given === 1 ? "is missing" : "and what follows it are missing";
  const message =
    given < expected
      ? `${has}: ${columnName(table, given)} ${missing}.`
      : `${has}: cell ${expected + 1} has no column, the last is ${columnName(table, expected - 1)}.`;
  const first = cleanText(header[0] ?? "", 40);
  const hint =
    given === 1
      ? `It is ${asConfigText(cells[0] ?? "")}. If that is no row, take it out, or name it in the source: skip: {${first}: ${asConfigText(cells[0] ?? "")}}.`
      : given < expected
        ? `Leave empty cells empty, but keep their delimiters (${shownDelimiter(table)}).`
        : `Put a cell that holds the delimiter (${shownDelimiter(table)}) in quotes.`;
  return malformed(line, text, true, { rule: "cell-count", message, hint }, given < expected ? cells : undefined);
}

/** A cell as a config may hold it, so that the line that is printed is right as it stands: unseen characters as escapes. */
const asConfigText = (cell: string): string => escapeUnseen(JSON.stringify(cell));

function columnName({ header }: TableForm, index: number): string {
  const name = header[index]?.trim();
  return name === undefined || name === "" ? `Column ${index + 1}` : `Column ${index + 1} ("${cleanText(name, 40)}")`;
}

const shownDelimiter = ({ dialect: { delimiter } }: TableForm): string => (delimiter === "\t" ? "TAB" : delimiter);

/**
 * Whether a quoted cell looks like rows of its table: a lone quote that another one closes rows later hides them. Its first line
 * ends a row, and its last one begins another.
 */
export function holdsRows(cells: readonly string[], delimiter: string): boolean {
  // In two columns, or with a blank behind the delimiter, it is prose.
  if (cells.length < 3) return false;
  const delimitersIn = (line = ""): number =>
    line.split(delimiter).filter((text, at) => at > 0 && !text.startsWith(" ")).length;
  return cells.some((cell, column) => {
    const lines = cell.split("\n");
    const [before, behind] = [delimitersIn(lines[0]), delimitersIn(lines.at(-1))];
    return lines.length > 1 && before === cells.length - 1 - column && behind === column;
  });
}
