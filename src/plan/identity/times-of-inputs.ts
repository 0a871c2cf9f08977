/** What the times of a whole input show. They are read for the few inputs in which it decides something. */

import { type CandidateLines, readCandidates } from "../candidates/candidates.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import { timeInLine } from "./deed-contents.ts";

const MINUTE = 60n;

/** Of the inputs, by number, those in which some time has seconds. */
export async function inputsWithSeconds(
  directory: string,
  lines: CandidateLines,
  inputs: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!inputs.has(candidate.input) || found.has(candidate.input) || candidate.untimed) continue;
      const time = timeInLine(lines.of(candidate));
      if (time !== undefined && time % MINUTE !== 0n) found.add(candidate.input);
    }
    if (found.size === inputs.size) break;
  }
  return found;
}

/** So many times fall one after the other by chance once in 720 inputs. */
const LEAST_FALLS = 5;

/** The inputs, by number, whose rows go from the latest time to the earliest, whatever order the candidates stand in. */
export async function inputsNewestFirst(
  directory: string,
  lines: CandidateLines,
  inputs: number,
): Promise<ReadonlySet<number>> {
  const falls = new Map<number, number>();
  const rises = new Set<number>();
  const last = new Map<number, { readonly time: bigint; readonly row: number }>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { input, row, untimed } = candidate;
      if (rises.has(input) || untimed) continue;
      const time = timeInLine(lines.of(candidate));
      if (time === undefined) continue;
      const before = last.get(input);
      last.set(input, { time, row });
      // The actions of a row tell nothing of the order of rows.
      if (before === undefined || before.row === row || areOfOneMoment(before.time, time)) continue;
      if (before.row < row === before.time < time) rises.add(input);
      else falls.set(input, (falls.get(input) ?? 0) + 1);
    }
    if (rises.size === inputs) break;
  }
  const falling = [...falls].filter(([input, times]) => times >= LEAST_FALLS && !rises.has(input));
  return new Set(falling.map(([input]) => input));
}
