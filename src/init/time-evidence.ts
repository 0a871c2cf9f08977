/** What the cells of a column show of how times are written. Evidence, not decisions. */

import { readIso } from "../actions/times.ts";
import { DATES, FORMATS, readerOf } from "../map/likely-formats.ts";
import { areNearlyAll, type ColumnProfile, cellsThat } from "./column-profile.ts";

/** One way to read the times of a column. */
interface TimeReading {
  readonly format: string;
  /** Whether what it reads still needs a zone. */
  readonly isLocal: boolean;
  /** Whether it says a date only. */
  readonly isDate: boolean;
  readonly fits: number;
  /** The example, as an ISO time of the clock that it names. */
  readonly example: string;
}

export interface TimeEvidence {
  readonly readings: readonly TimeReading[];
  /** A text that the readings take differently, else the first. */
  readonly example: string;
}

/** Undefined where no single format reads the texts as times. Whole numbers don't count: they may be anything. */
export function timesOf({ values, filled }: ColumnProfile): TimeEvidence | undefined {
  const texts = [...values.keys()];
  const [first] = texts;
  if (first === undefined) return undefined;
  // A first text that is damaged must not hide how the others are written.
  const probes = texts.slice(0, 5);
  const readings = FORMATS.filter((format) => probes.some((text) => readerOf(format)(text) !== undefined)).map(
    (format) => {
      const read = readerOf(format);
      return { format, read, fits: texts.filter((text) => read(text) !== undefined).length };
    },
  );
  const most = Math.max(0, ...readings.map(({ fits }) => fits));
  const reader = readings.find(({ fits }) => fits === most)?.read;
  if (most === 0 || cellsThat(values, (text) => reader?.(text) !== undefined) < filled * 0.9) return undefined;
  const best = readings.filter(({ fits }) => fits === most);
  const isIso = best.some(({ format }) => format === "iso");
  const told = isIso ? best.filter(({ format }) => format === "iso") : best;
  const example = texts.find((text) => new Set(told.map(({ read }) => String(read(text)))).size > 1) ?? first;
  return {
    example,
    readings: told.map(({ format, read, fits }) => ({
      format,
      fits,
      isLocal: format === "iso" ? texts.some(isLocalIso) : !format.endsWith(" Z"),
      isDate: DATES.includes(format),
      example: isoOf(read(example)),
    })),
  };
}

/** Whether every text of the column is a time in this format. */
export function timesFit({ values }: ColumnProfile, format: string): boolean {
  const read = readerOf(format);
  return [...values.keys()].every((text) => read(text) !== undefined);
}

const isLocalIso = (text: string): boolean =>
  readIso(text, (_local, zone) => (zone === undefined ? "no-zone" : "unknown-zone")) === "no-zone";

function isoOf(seconds: number | bigint | undefined): string {
  return seconds === undefined ? "" : new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** `unix` or `unix-ms` where all texts have the digits of such a time of this century. */
export function unixOf({ values }: ColumnProfile): "unix" | "unix-ms" | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  if (areNearlyAll(texts, /^[1-4]\d{9}$/)) return "unix";
  return areNearlyAll(texts, /^[1-4]\d{12}$/) ? "unix-ms" : undefined;
}

/** `H:mm` or `H:mm:ss` where all texts are times of day. */
export function clockOf({ values }: ColumnProfile): string | undefined {
  const texts = [...values.keys()];
  if (texts.length === 0) return undefined;
  if (areNearlyAll(texts, /^\d{1,2}:\d{2}$/)) return "H:mm";
  if (areNearlyAll(texts, /^\d{1,2}:\d{2}:\d{2}$/)) return "H:mm:ss";
  return areNearlyAll(texts, /^\d{1,2}:\d{2} [AaPp][Mm]$/) ? "h:mm a" : undefined;
}

/** Whether its cells are times in any way. */
export const isTime = (column: ColumnProfile): boolean =>
  timesOf(column) !== undefined || unixOf(column) !== undefined || clockOf(column) !== undefined;
