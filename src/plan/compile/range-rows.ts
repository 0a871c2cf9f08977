/** The rows of a range: as the reference reads them, or byte by byte where its file may have plain ones. */

import { GUARDED_COLUMN } from "../../actions/formula-guard.ts";
import { columnsOfFields, type MapperOptions } from "../../mapping/create-mapper.ts";
import type { Mapper, PlainAmount } from "../../mapping/mapper.ts";
import { showRejects } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { type RangeFormat, rangeParser } from "../../readers/input.ts";
import type { Range } from "../../readers/ranges.ts";
import { createPlainRows, type PlainRows, type PlainRowsOptions } from "../bytes/plain-rows.ts";
import type { RowMarks } from "../rejects/mended-rows.ts";

/** The rows of a range, read by itself. */
export function rowsOfRange(ranged: RangeFormat, { bytes, lineEnds, isLast }: Range): readonly Row[] {
  const parser = rangeParser(ranged, lineEnds);
  const rows = parser.take(bytes);
  if (isLast && !parser.stopped) for (const row of parser.end()) rows.push(row);
  return rows;
}

interface FastPathOptions extends Pick<PlainRowsOptions, "input" | "now" | "notesEvents" | "writer" | "publicValues"> {
  readonly ranged: RangeFormat | undefined;
  readonly settings: MapperOptions | undefined;
  readonly mapper: Pick<Mapper, "seeAmount">;
  readonly marks: Pick<RowMarks, "hasMended">;
}

/** The fast path, where the file may have rows for it. */
export function plainRowsOf({ ranged, settings, mapper, marks, ...options }: FastPathOptions): PlainRows | undefined {
  if (ranged?.format !== "csv" || settings === undefined || marks.hasMended) return undefined;
  const columns = columnsOfFields(settings);
  // Rows of rejects are known by what stands in them.
  if (columns === undefined || showRejects(columns.header) || columns.header.includes(GUARDED_COLUMN)) return undefined;
  const { delimiter } = ranged.start;
  const seeAmount = (amount: PlainAmount): void => mapper.seeAmount?.(amount);
  const quote = ranged.quote ?? '"';
  const { input, now, notesEvents, writer, publicValues } = options;
  return createPlainRows({ columns, delimiter, quote, input, now, notesEvents, writer, publicValues, seeAmount });
}

/** The byte between which a line end is text; -1 where there is none. */
export function quoteOf(ranged: RangeFormat): number {
  const quote = ranged.format === "csv" ? (ranged.quote ?? '"') : "";
  return quote === "" ? -1 : quote.charCodeAt(0);
}
