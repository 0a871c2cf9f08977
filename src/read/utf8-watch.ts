/** Whether a text that is read in another encoding is valid UTF-8: of a legacy encoding that is next to impossible by chance. */

import { isAscii, isUtf8 } from "node:buffer";
import { completeLength } from "./encoding.ts";

const MOST_COUNTED = 100;
const LONGEST_WORD = 40;
const LF = 10;

/** Looks at the bytes as they are stored, up to the first one that is not UTF-8. */
export class Utf8Watch {
  /** All bytes so far are valid UTF-8 text. */
  isValid = true;
  /** Characters beyond ASCII, up to `MOST_COUNTED`. */
  characters = 0;
  /** The first word with such a character. */
  first: { readonly line: number; readonly word: Buffer } | undefined;
  readonly #line: () => number;
  /** The beginning of a character, whose end is in the next block. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param line asked for once: the line in which the block begins that is looked at. */
  constructor(line: () => number) {
    this.#line = line;
  }

  take(block: Buffer): void {
    if (!this.isValid) return;
    if (this.#rest.length === 0 && isAscii(block)) {
      this.isValid = !block.includes(0);
      return;
    }
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    const complete = bytes.subarray(0, completeLength(bytes));
    this.isValid = isUtf8(complete) && !complete.includes(0);
    this.#rest = Buffer.from(bytes.subarray(complete.length));
    if (!this.isValid) return;
    this.first ??= this.#firstWord(complete);
    for (let at = 0; this.characters < MOST_COUNTED && at < complete.length; at += 1)
      if ((complete[at] ?? 0) >= 0xc0) this.characters += 1;
  }

  /** The text has ended. */
  end(): void {
    if (this.#rest.length > 0) this.isValid = false;
  }

  #firstWord(bytes: Buffer): Utf8Watch["first"] {
    const at = bytes.findIndex((byte) => byte >= 0x80);
    if (at === -1) return undefined;
    const before = bytes.subarray(Math.max(0, at - LONGEST_WORD), at);
    const from = at - before.length + before.findLastIndex(isBetweenWords) + 1;
    const after = bytes.subarray(at, at + LONGEST_WORD);
    const length = after.findIndex(isBetweenWords);
    const end = at + (length === -1 ? completeLength(after) : length);
    const lineEnds = bytes.subarray(0, at).filter((byte) => byte === LF).length;
    return { line: this.#line() + lineEnds, word: Buffer.from(bytes.subarray(from, end)) };
  }
}

/** Blanks, delimiters and quotes. */
const isBetweenWords = (byte: number): boolean =>
  byte <= 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3b || byte === 0x7c;
