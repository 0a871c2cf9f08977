/** Figures in words. */

import { number } from "../../text.ts";

/** `850 ms`, `1.2 s`, `4 min 5 s`, `3 h 10 min`: what matters of a duration. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 3600) return joined([Math.floor(seconds / 60), "min"], [seconds % 60, "s"]);
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return joined([Math.floor(minutes / 60), "h"], [minutes % 60, "min"]);
  const hours = Math.round(minutes / 60);
  return joined([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

const joined = (whole: readonly [number, string], rest: readonly [number, string]): string =>
  [whole, rest]
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${number(value)} ${unit}`)
    .join(" ");
