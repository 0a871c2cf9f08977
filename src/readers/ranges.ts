/** Cutting a text between rows, so that each range can be read by itself. */

import { MAX_ROW_BYTES, type RangeStart } from "./row-parser.ts";

/** Some whole rows. */
export interface Range {
  readonly bytes: Buffer;
  /** Line ends in the file before them. */
  readonly lineEnds: number;
  /** The file ends here, so its last row may lack its line end. */
  readonly isLast: boolean;
}

export type RangeCutter = ReturnType<typeof createRangeCutter>;

const LF = 10;

/**
 * Cuts a text by counting its quotes: where all of them stand where they belong, a line feed after an even number of them
 * ends a row. Where they don't, the reader finds the fault in its range, and nothing after it is read.
 *
 * @param rangeBytes size from which a range is given; asked again for each.
 */
export function createRangeCutter({ rest, lineEnds, quote }: RangeStart, rangeBytes: () => number) {
  let pending: Buffer[] = [];
  let size = 0;
  let isQuoted = false;
  let linesGiven = lineEnds;
  let lines = lineEnds;
  /** Behind the last row that is whole. */
  let cut = { size: 0, lines: 0 };

  const add = (block: Buffer): void => {
    let quotes = 0;
    let found = 0;
    for (let at = 0; at < block.length; at += 1) {
      const byte = block[at];
      if (byte === quote) quotes += 1;
      else if (byte === LF) found += 1;
    }
    if ((quotes & 1) === 1) isQuoted = !isQuoted;
    lines += found;
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
    pending.push(block);
    size += block.length;
  };

  const give = (to: { readonly size: number; readonly lines: number }, isLast: boolean): Range => {
    // Memory of its own, so that it can be handed to another thread.
    const bytes = Buffer.allocUnsafeSlow(to.size);
    const left: Buffer[] = [];
    let filled = 0;
    for (const block of pending) {
      const copied = block.copy(bytes, filled);
      filled += copied;
      if (copied < block.length) left.push(block.subarray(copied));
    }
    const range = { bytes, lineEnds: linesGiven, isLast };
    pending = left;
    size -= to.size;
    linesGiven = to.lines;
    cut = { size: 0, lines: 0 };
    return range;
  };

  if (rest.length > 0) add(rest);
  return {
    /** Takes the next block, which must not change afterwards; gives the range that is full by it. */
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
    get pending(): readonly Buffer[] {
      return pending;
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
