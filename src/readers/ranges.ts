/** Cutting a text between rows, so that each range can be read by itself. */

import { createByteCounts } from "./fast/byte-counts.ts";
import { EMPTY, MAX_ROW_BYTES, type RangeStart } from "./row-parser.ts";
import { SpareMemory } from "./spare-memory.ts";

/** Some whole rows. */
export interface Range {
  /** The beginning of memory that is its alone. */
  readonly bytes: Buffer;
  /** Line ends in the file before them. */
  readonly lineEnds: number;
  /** The file ends here, so its last row may lack its line end. */
  readonly isLast: boolean;
}

export type RangeCutter = ReturnType<typeof createRangeCutter>;

const LF = 10;
/** Where a row is longer than a range, so much more is looked at before it is asked again whether it has ended. */
const LEAST_TAKEN_BYTES = 1024;

/**
 * Cuts a text by counting its quotes: where all of them stand where they belong, a line feed after an even number of them
 * ends a row. Where they don't, the reader finds the fault in its range, and nothing after it is read.
 *
 * @param rangeBytes size from which a range is given; asked again for each.
 */
export function createRangeCutter(
  { rest, lineEnds, quote }: RangeStart,
  rangeBytes: () => number,
  spare: SpareMemory = new SpareMemory(),
) {
  const counts = createByteCounts(quote);
  let memory: Buffer = EMPTY;
  let size = 0;
  let isQuoted = false;
  let linesGiven = lineEnds;
  let lines = lineEnds;
  /** Behind the last row that is whole. */
  let cut = { size: 0, lines: 0 };

  const add = (block: Buffer): void => {
    counts.count(block);
    if ((counts.quotes & 1) === 1) isQuoted = !isQuoted;
    lines += counts.lineFeeds;
    let isInside = isQuoted;
    let after = 0;
    for (let at = block.length - 1; at >= 0; at -= 1) {
      const byte = block[at];
      if (byte === quote) isInside = !isInside;
      else if (byte === LF) {
        if (!isInside) {
          cut = { size: size + at + 1, lines: lines - after };
          break;
        }
        after += 1;
      }
    }
    keep(block);
  };

  const keep = (block: Buffer): void => {
    if (size + block.length > memory.length) {
      const larger = spare.take(Math.max(rangeBytes(), 2 * memory.length, size + block.length));
      memory.copy(larger, 0, 0, size);
      memory = larger;
    }
    size += block.copy(memory, size);
  };

  const give = (to: { readonly size: number; readonly lines: number }, isLast: boolean): Range => {
    const range = { bytes: memory.subarray(0, to.size), lineEnds: linesGiven, isLast };
    const left = memory.subarray(to.size, size);
    linesGiven = to.lines;
    cut = { size: 0, lines: 0 };
    memory = EMPTY;
    size = 0;
    if (left.length > 0) keep(left);
    return range;
  };

  if (rest.length > 0) add(rest);
  return {
    /** How much of a block is to be taken next. */
    get wanted(): number {
      return Math.max(LEAST_TAKEN_BYTES, rangeBytes() - size);
    },
    /** Takes the next block; gives the range that is full by it. */
    take(block: Buffer): Range | undefined {
      add(block);
      return size >= rangeBytes() && cut.size > 0 ? give(cut, false) : undefined;
    },
    /** The rows that are whole, when the text can't be read on. */
    whole: (): Range | undefined => (cut.size === 0 ? undefined : give(cut, false)),
    /** What is left when the text has ended. */
    end: (): Range | undefined => (size === 0 ? undefined : give({ size, lines }, true)),
    /** Whether no row has ended for so long that a reader should look at the text instead. */
    get isLost(): boolean {
      return cut.size === 0 && size > rangeBytes() + MAX_ROW_BYTES;
    },
    /** What was taken and not given yet. */
    get pending(): Buffer {
      return memory.subarray(0, size);
    },
    /** Line ends in all that was taken, and in all that was given. */
    get lineEnds(): number {
      return lines;
    },
    get lineEndsGiven(): number {
      return linesGiven;
    },
  };
}

/** Behind the line end of the row at `from`, by its quotes, as ranges are cut. */
export function endOfRow(bytes: Buffer, from: number, quote: number): number {
  let isQuoted = false;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isQuoted = !isQuoted;
    else if (byte === LF && !isQuoted) return at + 1;
  }
  return bytes.length;
}
