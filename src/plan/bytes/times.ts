/**
 * Times of day by the hour. What a text with other minutes and seconds means was asked of the reference: once for each hour,
 * whatever its date, its zone and the form of the text are.
 */

import { ByteMap } from "./byte-map.ts";
import { copyBytes, isDigit } from "./leaves.ts";

/** What the reference makes of a text: Unix seconds, or something that is not plain. */
export type SecondsOf = (text: string) => number | undefined;

/** How a time of day stands in the text: its minutes behind the first colon, its seconds behind the next one. */
export interface ClockForm {
  /** Seconds may stand there, or must not. */
  readonly hasSeconds: boolean;
  /** A point or a comma and digits behind the seconds mean nothing. */
  readonly cutsFraction: boolean;
}

const COLON = 0x3a;
const ZERO = 0x30;
const MOST_HOURS = 8192;
/** Longer texts are no times. */
const MOST_BYTES = 100;

/** Gives Unix seconds; NaN where the reference is to be asked. */
export type ReadClock = (bytes: Uint8Array, from: number, to: number) => number;

export function createClock({ hasSeconds, cutsFraction }: ClockForm, secondsOf: SecondsOf): ReadClock {
  /** The seconds at which an hour begins; NaN where not all of its minutes follow each other. */
  const hours = new ByteMap<number>(MOST_HOURS);
  const scratch = Buffer.alloc(MOST_BYTES);

  /** @param parts of the text around minutes and seconds. */
  function beginOf(prefix: string, suffix: string, withSeconds: boolean): number {
    const textAt = (minute: string): string => `${prefix}${minute}${withSeconds ? `:${minute}` : ""}${suffix}`;
    const begin = secondsOf(textAt("00"));
    const end = secondsOf(textAt("59"));
    const length = withSeconds ? 59 * 60 + 59 : 59 * 60;
    // Where the clocks change, or a day ends within the hour, the two are farther apart, or nearer.
    return begin !== undefined && end !== undefined && end - begin === length ? begin : Number.NaN;
  }

  return (bytes, from, to) => {
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
    const prefixEnd = copyBytes(scratch, 0, bytes, from, minute);
    scratch[prefixEnd] = withSeconds ? 1 : 0;
    const end = copyBytes(scratch, prefixEnd + 1, bytes, behind, to);
    let begin = hours.get(scratch, 0, end);
    if (begin === undefined) {
      const [prefix, suffix] = [scratch.toString("utf8", 0, prefixEnd), scratch.toString("utf8", prefixEnd + 1, end)];
      begin = beginOf(prefix, suffix, withSeconds);
      hours.set(scratch, 0, end, begin);
    }
    return begin + minutes * 60 + seconds;
  };
}

/** The number of two digits; NaN where they are none. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [bytes[at], bytes[at + 1]];
  return isDigit(tens) && isDigit(ones) ? ((tens as number) - ZERO) * 10 + (ones as number) - ZERO : Number.NaN;
}
