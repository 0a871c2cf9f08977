/** The rows of a range: as the reference reads them, or byte by byte where its file may have plain ones. */

import { GUARDED_COLUMN } from "../../actions/formula-guard.ts";
import { columnsOfFields, type MapperOptions, objectsOfFields, plainSource } from "../../mapping/create-mapper.ts";
import { showRejects } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { type RangeFormat, rangeParser } from "../../readers/input.ts";
import type { Range } from "../../readers/ranges.ts";
import { createJsonRows } from "../bytes/json-rows.ts";
import { createPlainRows, type PlainRows, type PlainRowsOptions } from "../bytes/plain-rows.ts";
import type { RowMarks } from "../rejects/mended-rows.ts";

/** The rows of a range, read by itself. */
export function rowsOfRange(ranged: RangeFormat, { bytes, lineEnds, isLast }: Range): readonly Row[] {
  const parser = rangeParser(ranged, lineEnds);
  const rows = parser.take(bytes);
  if (isLast && !parser.stopped) for (const row of parser.end()) rows.push(row);
  return rows;
}

interface FastPathOptions extends Omit<PlainRowsOptions, "reading" | "delimiter" | "quote"> {
  readonly ranged: RangeFormat | undefined;
  readonly settings: MapperOptions | undefined;
  readonly marks: Pick<RowMarks, "hasMended">;
}

/** The fast path, where the file may have rows for it. */
export function plainRowsOf({ ranged, settings, marks, ...options }: FastPathOptions): PlainRows | undefined {
  if (ranged === undefined || settings === undefined || marks.hasMended) return undefined;
  if (ranged.format === "ndjson") {
    const objects = objectsOfFields(settings);
    return objects && createJsonRows({ ...options, objects });
  }
  const { delimiter, header } = ranged.start;
  // Rows of rejects are known by what stands in them.
  if (showRejects(header) || header.includes(GUARDED_COLUMN)) return undefined;
  const columns = columnsOfFields(settings);
  const source = columns === undefined ? plainSource(settings) : undefined;
  const reading = columns !== undefined ? { columns } : source !== undefined ? { source } : undefined;
  if (reading === undefined) return undefined;
  const { input, now, notesEvents, severityOf, writer, publicValues, mapper } = options;
  return createPlainRows({
    ...{ reading, delimiter, quote: ranged.quote ?? '"', input, now, notesEvents },
    ...{ severityOf, writer, publicValues, mapper },
  });
}

/** The byte between which a line end is text; -1 where there is none. */
export function quoteOf(ranged: RangeFormat): number {
  const quote = ranged.format === "csv" ? (ranged.quote ?? '"') : "";
  return quote === "" ? -1 : quote.charCodeAt(0);
}
