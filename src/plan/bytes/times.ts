/**
 * Times by their day. What a text with another time of day means was asked of the reference: once for each day, whatever its
 * zone and the form of the text are, or once for each hour of a day on which the clocks change.
 */

import type { RowMemory } from "../candidates/row-memory.ts";
import { ByteMap } from "./byte-map.ts";
import { isDigit } from "./leaves.ts";

/** What the reference makes of a text: Unix seconds, or something that is not plain. */
export type SecondsOf = (text: string) => number | undefined;

/** How a time of day stands in the text: its minutes behind the first colon, its seconds behind the next one. */
export interface ClockForm {
  /** Seconds may stand there, or must not. */
  readonly hasSeconds: boolean;
  /** A point or a comma and digits behind the seconds mean nothing. */
  readonly cutsFraction: boolean;
  /** Digits before the first colon are the hour, from 0 to 23. */
  readonly hasHour: boolean;
}

const COLON = 0x3a;
const ZERO = 0x30;
const MOST_DAYS = 4096;
const MOST_HOURS = 8192;
/** Longer texts are no times. */
const MOST_BYTES = 100;

/** Gives Unix seconds; NaN where the reference is to be asked. */
export type ReadClock = (from: number, to: number) => number;

export function createClock(
  memory: RowMemory,
  { hasSeconds, cutsFraction, hasHour }: ClockForm,
  secondsOf: SecondsOf,
): ReadClock {
  const { bytes } = memory;
  /** The seconds at which a day or an hour begins; NaN where not all of its seconds follow each other. */
  const days = new ByteMap<number>(bytes, MOST_DAYS);
  const hours = new ByteMap<number>(bytes, MOST_HOURS);
  const scratch = memory.allot(MOST_BYTES + 1);

  /** @param textAt the text at a time of day, which is that of a day or an hour. */
  function beginOf(textAt: (time: string) => string, last: string, length: number): number {
    const begin = secondsOf(textAt(last.replaceAll(/\d/g, "0")));
    const end = secondsOf(textAt(last));
    // Where the clocks change, or a day ends in between, the two are farther apart, or nearer.
    return begin !== undefined && end !== undefined && end - begin === length ? begin : Number.NaN;
  }

  /** The begin of the day or hour that the bytes around `cut` and behind `behind` tell. */
  function find(
    known: ByteMap<number>,
    [from, cut, behind, to]: readonly [from: number, cut: number, behind: number, to: number],
    last: string,
    length: number,
  ): number {
    const prefixEnd = memory.copy(scratch, from, cut - from);
    // No byte of a text that is printed, and one for each form of a time of day.
    bytes[prefixEnd] = last.length;
    const end = memory.copy(prefixEnd + 1, behind, to - behind);
    const before = known.get(scratch, end);
    if (before !== undefined) return before;
    const [prefix, suffix] = [memory.text(scratch, prefixEnd), memory.text(prefixEnd + 1, end)];
    const begin = beginOf((time) => prefix + time + suffix, last, length);
    known.set(scratch, end, begin);
    return begin;
  }

  return (from, to) => {
    if (to - from > MOST_BYTES) return Number.NaN;
    let minute = from;
    while (minute < to && bytes[minute] !== COLON) minute += 1;
    minute += 1;
    let behind = minute + 2;
    if (behind > to) return Number.NaN;
    const minutes = twoDigits(bytes, minute);
    let seconds = 0;
    const withSeconds = bytes[behind] === COLON && behind < to;
    if (withSeconds) {
      if (!hasSeconds || behind + 3 > to) return Number.NaN;
      seconds = twoDigits(bytes, behind + 1);
      behind += 3;
      if (cutsFraction && behind < to && (bytes[behind] === 0x2e || bytes[behind] === 0x2c)) {
        const point = behind;
        behind += 1;
        while (behind < to && isDigit(bytes[behind])) behind += 1;
        if (behind === point + 1) return Number.NaN;
      }
    }
    // Also NaN.
    if (!(minutes < 60 && seconds < 60) || (behind < to && isDigit(bytes[behind]))) return Number.NaN;
    const ofHour = minutes * 60 + seconds;
    const hour = hasHour && areTwoDigits(bytes, from, minute - 1) ? twoDigits(bytes, minute - 3) : Number.NaN;
    if (hour < 24) {
      const places = [from, minute - 3, behind, to] as const;
      const begin = withSeconds ? find(days, places, "23:59:59", 86_399) : find(days, places, "23:59", 86_340);
      if (!Number.isNaN(begin)) return begin + hour * 3600 + ofHour;
    }
    const places = [from, minute, behind, to] as const;
    return (withSeconds ? find(hours, places, "59:59", 3599) : find(hours, places, "59", 3540)) + ofHour;
  };
}

/** Whether two digits and no more stand before the place. */
const areTwoDigits = (bytes: Uint8Array, from: number, to: number): boolean =>
  to - 2 >= from && isDigit(bytes[to - 2]) && isDigit(bytes[to - 1]) && !(to - 3 >= from && isDigit(bytes[to - 3]));

/** The number of two digits; NaN where they are none. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at];
  const ones = bytes[at + 1];
  return isDigit(tens) && isDigit(ones) ? ((tens as number) - ZERO) * 10 + (ones as number) - ZERO : Number.NaN;
}
