import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";

const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const DURATION = /^(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m(?!s))?(?:(?<s>\d+)s)?(?:(?<ms>\d+)ms)?$/;

/** Timers of Node hold 31 bits of milliseconds; a longer wait would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A duration such as `500ms`, `90s`, `2m` or `1h30m` in milliseconds. Units are d, h, m, s and ms, largest first, each
 * at most once, whole numbers only; at most 24 days.
 *
 * Throws a `usage` failure for anything else, a bare number included: whether `90` means seconds is not guessed.
 */
export function parseDuration(text: string, longestMs = LONGEST_MS): number {
  const groups = text === "" ? undefined : DURATION.exec(text)?.groups;
  if (groups === undefined) {
    throw new Failure("usage", `"${cleanText(text, 40)}" is not a duration such as 500ms, 90s, 2m or 1h30m`);
  }
  let ms = 0;
  for (const [unit, factor] of Object.entries(UNITS_MS)) ms += Number(groups[unit] ?? 0) * factor;
  if (ms > longestMs)
    throw new Failure("usage", `"${cleanText(text, 40)}" is longer than ${Math.floor(longestMs / UNITS_MS.d)} days`);
  return ms;
}

/** An age, written as a duration; no timer waits for it, so it may be up to ten years. */
export const parseAge = (text: string): number => parseDuration(text, 3650 * UNITS_MS.d);

/** The shortest text that `parseDuration` reads as `ms`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, factor] of Object.entries(UNITS_MS)) {
    const count = Math.floor(rest / factor);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * factor;
  }
  return text === "" ? "0s" : text;
}
