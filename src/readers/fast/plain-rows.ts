/**
 * The fast path of tables: it splits rows in which nothing is to be judged, and asks the reference (csv-rows.ts) about all
 * else. It may be wrong in one direction only, and never says what is wrong.
 */

import { isAscii } from "node:buffer";
import type { CsvDialect } from "../csv-quotes.ts";
import type { CsvRow } from "../csv-rows.ts";
import { MAX_ROW_BYTES } from "../row-parser.ts";
import { splitQuoted } from "./quoted-cells.ts";

/**
 * File size from which the fast path is used. In smaller files it saves less than a twentieth of a command. CPU time of
 * `tickets validate` with it and without it, median of 14 runs by turns on 2 busy cores: 17 KB 275 and 282 ms, 33 KB 283
 * and 296, 65 KB 305 and 318, 134 KB 341 and 371; of 8 runs: 559 KB 441 and 526, 2.2 MB 720 and 812. It is not larger,
 * since the reference reads small blocks (16 KiB from gzip) until then, and V8 compiles csv-parse once it is used for
 * longer: with 64 KiB of a file of 4.5 MB left to the reference, the plan took 1.09 s of CPU time instead of 0.98.
 */
export const FAST_FROM_BYTES = 32 * 1024;

export interface PlainRows {
  readonly rows: readonly CsvRow[];
  /** Where to go on: before a row whose end is still to come, or one that is not plain. */
  readonly rest: number;
  readonly restLine: number;
  /** What stands there is not plain: the reference reads on. */
  readonly asksReference: boolean;
}

const CR = 13;
const LF = 10;

/**
 * The plain rows in the bytes from `from` on, where line `line` begins.
 *
 * Quotes are counted to find where a row ends. In a row whose quotes all stand where they belong that is right, and no other
 * is plain.
 */
export function readPlainRows(
  bytes: Buffer,
  from: number,
  line: number,
  { delimiter, quote, crEndsRows }: CsvDialect,
): PlainRows {
  const rows: CsvRow[] = [];
  const encoding = isAscii(bytes) ? "latin1" : "utf8"; // the same text for ASCII, and faster
  const separator = String.fromCharCode(delimiter);
  const quoteText = String.fromCharCode(quote);
  const mayHoldReturns = !crEndsRows && bytes.includes(CR);
  const highest = Math.max(quote, CR);
  let start = from;
  let startLine = line;
  let lineEnds = 0;
  let hasQuotes = false;
  let isQuoted = false;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > highest) continue; // nearly every byte, so nothing else is asked of it
    if (byte === quote) {
      isQuoted = !isQuoted;
      hasQuotes = true;
    } else if (byte === LF || (byte === CR && crEndsRows)) {
      if (crEndsRows && byte === LF && at > from && bytes[at - 1] === CR) {
        if (!isQuoted) start = at + 1;
        continue;
      }
      lineEnds += 1;
      if (isQuoted) continue;
      let end = at;
      // Programs that write CRLF for the LF of a CRLF leave several.
      if (!crEndsRows) while (end > start && bytes[end - 1] === CR) end -= 1;
      if (end > start) {
        const cells =
          end - start > MAX_ROW_BYTES
            ? undefined
            : plainCells(bytes.toString(encoding, start, end), separator, hasQuotes ? quoteText : "", mayHoldReturns);
        if (cells === undefined) return { rows, rest: start, restLine: startLine, asksReference: true };
        rows.push({ start, end, line: startLine, cells, hasQuotes });
      }
      start = at + 1;
      startLine = line + lineEnds;
      hasQuotes = false;
    }
  }
  return { rows, rest: start, restLine: startLine, asksReference: false };
}

/** @param quote empty where the row has none. */
function plainCells(
  row: string,
  delimiter: string,
  quote: string,
  mayHoldReturns: boolean,
): readonly string[] | undefined {
  if (mayHoldReturns && row.includes("\r") && (quote === "" || hasReturnOutside(row, quote))) return undefined;
  return quote === "" ? row.split(delimiter) : splitQuoted(row, delimiter, quote);
}

function hasReturnOutside(row: string, quote: string): boolean {
  let isQuoted = false;
  for (let at = 0; at < row.length; at += 1) {
    const character = row[at];
    if (character === quote) isQuoted = !isQuoted;
    else if (character === "\r" && !isQuoted) return true;
  }
  return false;
}
