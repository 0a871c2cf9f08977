/** Whether a text that is read in another encoding is valid UTF-8: of a legacy encoding that is next to impossible by chance. */

import { isAscii, isUtf8 } from "node:buffer";
import { completeLength } from "./encoding.ts";

/** What a text would be as UTF-8. */
export interface AsUtf8 {
  /** All bytes so far are valid UTF-8 text. */
  readonly isValid: boolean;
  /** Characters beyond ASCII, up to `MOST_COUNTED`. */
  readonly characters: number;
  /** The first word with such a character. */
  readonly first: { readonly line: number; readonly word: Buffer } | undefined;
}

export type Utf8Watch = ReturnType<typeof watchUtf8>;

const MOST_COUNTED = 100;
const LONGEST_WORD = 40;
const LF = 10;

/** Looks at the bytes as they are stored, up to the first one that is not UTF-8. */
export function watchUtf8() {
  let isValid = true;
  let characters = 0;
  let first: AsUtf8["first"];
  /** The beginning of a character, whose end is in the next block. */
  let rest: Buffer = Buffer.alloc(0);
  return {
    get seen(): AsUtf8 {
      return { isValid, characters, first };
    },
    /** @param line asked for once: the line in which the block begins. */
    take(block: Buffer, line: () => number): void {
      if (!isValid) return;
      if (rest.length === 0 && isAscii(block)) {
        isValid = !block.includes(0);
        return;
      }
      const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
      const complete = bytes.subarray(0, completeLength(bytes));
      isValid = isUtf8(complete) && !complete.includes(0);
      rest = Buffer.from(bytes.subarray(complete.length));
      if (!isValid) return;
      if (first === undefined) first = firstWord(complete, line);
      for (const byte of complete) {
        if (characters >= MOST_COUNTED) break;
        if (byte >= 0xc0) characters += 1;
      }
    },
    /** The text has ended. */
    end(): void {
      if (rest.length > 0) isValid = false;
    },
  };
}

function firstWord(bytes: Buffer, line: () => number): AsUtf8["first"] {
  const at = bytes.findIndex((byte) => byte >= 0x80);
  if (at === -1) return undefined;
  const before = bytes.subarray(Math.max(0, at - LONGEST_WORD), at);
  const from = at - before.length + before.findLastIndex(isBetweenWords) + 1;
  const after = bytes.subarray(at, at + LONGEST_WORD);
  const length = after.findIndex(isBetweenWords);
  const end = at + (length === -1 ? completeLength(after) : length);
  let lineEnds = 0;
  for (const byte of bytes.subarray(0, at)) if (byte === LF) lineEnds += 1;
  return { line: line() + lineEnds, word: Buffer.from(bytes.subarray(from, end)) };
}

/** Blanks, delimiters and quotes. */
const isBetweenWords = (byte: number): boolean =>
  byte <= 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3b || byte === 0x7c;
