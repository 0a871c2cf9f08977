/** What the times of a whole input show. They are read for the few inputs in which it decides something. */

import { type BlockedRow, readCandidates } from "../candidates/candidates.ts";
import type { OrderKey } from "../candidates/order-key.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import { timeOf } from "./deed-contents.ts";

const MINUTE = 60n;

/** Of the inputs, by number, those in which some time has seconds. */
export async function inputsWithSeconds(directory: string, inputs: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!inputs.has(candidate.input) || found.has(candidate.input) || candidate.untimed) continue;
      const time = timeOf(candidate.data.orderTime);
      if (time !== undefined && time % MINUTE !== 0n) found.add(candidate.input);
    }
    if (found.size === inputs.size) break;
  }
  return found;
}

/** So many times fall one after the other by chance once in 720 inputs. */
const LEAST_FALLS = 5;

/**
 * The inputs, by number, whose rows go from the latest time to the earliest, whatever order the candidates stand in. Times of rows
 * that are not sent count too.
 */
export async function inputsNewestFirst(
  directory: string,
  inputs: number,
  blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>,
): Promise<ReadonlySet<number>> {
  const sent = Array.from({ length: inputs }, () => new Course());
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { input, row, untimed } = candidate;
      const course = sent[input];
      if (course === undefined || course.rises || untimed) continue;
      course.take({ row, time: timeOf(candidate.data.orderTime) });
    }
    if (sent.every(({ rises }) => rises)) return new Set();
  }
  const blocked = Array.from({ length: inputs }, () => new Course());
  for await (const { input, row, attempted } of blockedRows)
    for (const each of attempted) blocked[input]?.take({ row, time: timeOf((each as OrderKey).data.orderTime) }); // written by compile
  for (const [input, course] of sent.entries()) course.join(blocked[input] ?? new Course());
  const falling = [...sent.entries()].filter(([, { falls, rises }]) => falls >= LEAST_FALLS && !rises);
  return new Set(falling.map(([input]) => input));
}

interface TimeOfRow {
  readonly row: number;
  readonly time: bigint;
}

/** How times of one input go from row to row. */
class Course {
  falls = 0;
  rises = false;
  first: TimeOfRow | undefined;
  last: TimeOfRow | undefined;

  take({ row, time }: { readonly row: number; readonly time: bigint | undefined }): void {
    if (time === undefined) return;
    const next = { row, time };
    this.first ??= next;
    this.#step(this.last, next);
    this.last = next;
  }

  /** With those of other rows of the input between its own. */
  join(other: Course): void {
    this.rises ||= other.rises;
    this.falls += other.falls;
    const before = this.falls;
    for (const own of [this.first, this.last])
      for (const next of [other.first, other.last]) if (next !== undefined) this.#step(own, next);
    // However they lie between each other, one falls from the one to the other once more than they do by themselves.
    this.falls = Math.min(this.falls, before + 1);
  }

  #step(before: TimeOfRow | undefined, next: TimeOfRow): void {
    // The actions of a row tell nothing of the order of rows.
    if (before === undefined || before.row === next.row || areOfOneMoment(before.time, next.time)) return;
    if (before.row < next.row === before.time < next.time) this.rises = true;
    else this.falls += 1;
  }
}
