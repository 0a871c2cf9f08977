/** The text that a rule takes from the cells of a row, as bytes. */

import { looksMangled } from "../../actions/mangled-ids.ts";
import { isTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import { BEYOND_ASCII, type Cells, DOUBLED, ODD } from "./cells.ts";
import { ABSENT, copyBytes, isSurelyPlainId, isTrimmed, NOT_PLAIN, textOf } from "./leaves.ts";

/** Texts and numbers of columns in turn, as a template has them. */
export type TemplateParts = readonly (string | number)[];

/** How cells are read for a text. */
export interface TextOptions {
  /** An exporter's apostrophe before what a spreadsheet would take for a formula is taken off, by the reference. */
  readonly stripsGuards: boolean;
  /** A template with an empty column is empty. */
  readonly needsAll: boolean;
  /** It is an id, or even that of a ticket: parts of it are looked at by themselves. */
  readonly partOf: "ticket" | "other id" | undefined;
}

/** A text of the row, trimmed and not empty, once `read` gave `FOUND`; until it is called again. */
export interface RowText {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  /** As those of cells. */
  readonly flags: number;
  /** `FOUND`; or `ABSENT` for an empty text, or `NOT_PLAIN`. */
  read(bytes: Uint8Array): number;
}

export const FOUND = 0;

const BLANK = 0x20;
const APOSTROPHE = 0x27;
/** Longer texts that are put together are left to the reference. */
const MOST_BYTES = 16 * 1024;

/** The first of the templates that is not empty. */
export function createRowText(choices: readonly TemplateParts[], cells: Cells, options: TextOptions): RowText {
  const [only] = choices;
  if (only !== undefined && choices.length === 1) return new TextOfTemplate(only, cells, options);
  return new FirstText(choices.map((parts) => new TextOfTemplate(parts, cells, options)));
}

class FirstText implements RowText {
  readonly #choices: readonly RowText[];
  #found: RowText | undefined;

  constructor(choices: readonly RowText[]) {
    this.#choices = choices;
  }

  read(bytes: Uint8Array): number {
    for (const choice of this.#choices) {
      const found = choice.read(bytes);
      if (found === ABSENT) continue;
      this.#found = choice;
      return found;
    }
    return ABSENT;
  }

  get #text(): RowText {
    if (this.#found === undefined) throw new Error("no text was found");
    return this.#found;
  }

  get bytes(): Uint8Array {
    return this.#text.bytes;
  }

  get from(): number {
    return this.#text.from;
  }

  get to(): number {
    return this.#text.to;
  }

  get flags(): number {
    return this.#text.flags;
  }
}

class TextOfTemplate implements RowText {
  bytes: Uint8Array;
  from = 0;
  to = 0;
  flags = 0;
  readonly #cells: Cells;
  readonly #options: TextOptions;
  readonly #parts: readonly (Uint8Array | number)[];
  readonly #column: number;
  readonly #flagsOfParts: number;
  readonly #scratch = Buffer.allocUnsafe(MOST_BYTES);

  constructor(parts: TemplateParts, cells: Cells, options: TextOptions) {
    const [first] = parts;
    this.#cells = cells;
    this.#options = options;
    this.#column = parts.length === 1 && typeof first === "number" ? first : -1;
    this.#parts = parts.map((part) => (typeof part === "number" ? part : Buffer.from(part)));
    this.#flagsOfParts = parts.reduce<number>(
      (flags, part) => (typeof part === "number" ? flags : flags | flagsOf(part)),
      0,
    );
    this.bytes = this.#scratch;
  }

  read(bytes: Uint8Array): number {
    return this.#column === -1 ? this.#putTogether(bytes) : this.#readCell(bytes, this.#column);
  }

  #readCell(bytes: Uint8Array, column: number): number {
    const { from, to, flags } = this.#cells;
    let start = from[column] as number; // a column of the header
    let end = to[column] as number;
    if (start === end) return ABSENT;
    const flag = flags[column] as number;
    if (!isTrimmed(bytes, start, end, flag)) {
      while (start < end && isBlank(bytes[start])) start += 1;
      while (end > start && isBlank(bytes[end - 1])) end -= 1;
      if (start === end) return ABSENT;
      if (!isTrimmed(bytes, start, end, flag)) return NOT_PLAIN;
    }
    if (this.#options.stripsGuards && bytes[start] === APOSTROPHE) return NOT_PLAIN;
    this.bytes = bytes;
    this.from = start;
    this.to = end;
    this.flags = flag;
    return FOUND;
  }

  #putTogether(bytes: Uint8Array): number {
    const { from, to, flags } = this.#cells;
    const { needsAll, partOf, stripsGuards } = this.#options;
    const scratch = this.#scratch;
    const parts = this.#parts;
    let end = 0;
    let isFilled = false;
    let all = this.#flagsOfParts;
    let hasColumns = false;
    for (let number = 0; number < parts.length; number += 1) {
      const part = parts[number] as Uint8Array | number; // within its length
      if (typeof part !== "number") {
        if (end + part.length > MOST_BYTES) return NOT_PLAIN;
        end = copyBytes(scratch, end, part, 0, part.length);
        continue;
      }
      hasColumns = true;
      const start = from[part] as number; // a column of the header
      const behind = to[part] as number;
      if (start === behind) {
        if (needsAll) return ABSENT;
        continue;
      }
      const flag = flags[part] as number;
      if ((flag & DOUBLED) !== 0 || !isTrimmed(bytes, start, behind, flag)) return NOT_PLAIN;
      if (stripsGuards && bytes[start] === APOSTROPHE) return NOT_PLAIN;
      if (partOf !== undefined && isStrangePart(bytes, start, behind, partOf)) return NOT_PLAIN;
      if (end + behind - start > MOST_BYTES) return NOT_PLAIN;
      all |= flag;
      isFilled = true;
      end = copyBytes(scratch, end, bytes, start, behind);
    }
    if (hasColumns && !isFilled) return ABSENT;
    let start = 0;
    while (start < end && scratch[start] === BLANK) start += 1;
    while (end > start && scratch[end - 1] === BLANK) end -= 1;
    if (start === end) return ABSENT;
    if (!isTrimmed(scratch, start, end, all)) return NOT_PLAIN;
    this.bytes = scratch;
    this.from = start;
    this.to = end;
    this.flags = all;
    return FOUND;
  }
}

/** Blanks, tabs and line ends. */
const isBlank = (byte: number | undefined): boolean =>
  byte !== undefined && (byte === BLANK || (byte >= 0x09 && byte <= 0x0d));

/** Whether a part of an id may be something else, or call its row a sum. */
function isStrangePart(bytes: Uint8Array, from: number, to: number, partOf: "ticket" | "other id"): boolean {
  if (!isSurelyPlainId(bytes, from, to) && looksMangled(textOf(bytes, from, to))) return true;
  return partOf === "ticket" && mayBeTotalsWord(bytes, from, to) && isTotalsWord(textOf(bytes, from, to));
}

/** What stands in a text beside plain ASCII, as `Cells` tells it of a cell. */
export function flagsOf(text: string): number {
  let flags = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) flags |= BEYOND_ASCII;
    else if (code < BLANK || code === 0x22 || code === 0x5c || code === 0x7f) flags |= ODD;
  }
  return flags;
}
