/** The text that a rule takes from the cells of a row, as bytes. */

import { looksMangled } from "../../actions/mangled-ids.ts";
import { isTotalsWord, mayBeTotalsWord } from "../../mapping/totals-words.ts";
import type { Piece, RowMemory } from "../candidates/row-memory.ts";
import { BEYOND_ASCII, type Cells, DOUBLED, KINDS } from "./cells.ts";
import { ABSENT, isBlank, isSurelyPlainId, isTrimmed, MOST_TEXT_BYTES, NOT_PLAIN } from "./leaves.ts";
import type { Table } from "./table.ts";

/** Texts and numbers of columns in turn, as a template has them. */
export type TemplateParts = readonly (string | number)[];

/** How cells are read for a text. */
export interface TextOptions {
  /** Memory of `MOST_TEXT_BYTES` in which the text is put together, and stays until another one is put there. */
  readonly scratch: number;
  /** A template with an empty column is empty. */
  readonly needsAll: boolean;
  /** It is an id, or even that of a ticket: parts of it are looked at by themselves. */
  readonly partOf: "ticket" | "other id" | undefined;
}

/** A text of the row, trimmed and not empty, once `read` gave `FOUND`; until it is called again. */
export interface RowText {
  readonly from: number;
  readonly to: number;
  /** As those of cells. */
  readonly flags: number;
  /** `FOUND`; or `ABSENT` for an empty text, or `NOT_PLAIN`. */
  read(): number;
}

export const FOUND = 0;

const BLANK = 0x20;
const APOSTROPHE = 0x27;
type TextTable = Pick<Table, "memory" | "cells" | "stripsGuards">;

/** The first of the templates that is not empty. */
export function createRowText(choices: readonly TemplateParts[], table: TextTable, options: TextOptions): RowText {
  const [only] = choices;
  if (only !== undefined && choices.length === 1) return new TextOfTemplate(only, table, options);
  return new FirstText(choices.map((parts) => new TextOfTemplate(parts, table, options)));
}

class FirstText implements RowText {
  readonly #choices: readonly RowText[];
  #found: RowText | undefined;

  constructor(choices: readonly RowText[]) {
    this.#choices = choices;
  }

  read(): number {
    for (const choice of this.#choices) {
      const found = choice.read();
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
  from = 0;
  to = 0;
  flags = 0;
  readonly #memory: RowMemory;
  readonly #cells: Cells;
  readonly #stripsGuards: boolean;
  readonly #options: TextOptions;
  readonly #parts: readonly (Piece | number)[];
  readonly #column: number;
  readonly #flagsOfParts: number;

  constructor(parts: TemplateParts, { memory, cells, stripsGuards }: TextTable, options: TextOptions) {
    const [first] = parts;
    this.#memory = memory;
    this.#cells = cells;
    this.#stripsGuards = stripsGuards;
    this.#options = options;
    this.#column = parts.length === 1 && typeof first === "number" ? first : -1;
    this.#parts = parts.map((part) => (typeof part === "number" ? part : memory.keep(part)));
    this.#flagsOfParts = parts.reduce<number>(
      (flags, part) => (typeof part === "number" ? flags : flags | flagsOf(part)),
      0,
    );
  }

  read(): number {
    return this.#column === -1 ? this.#putTogether() : this.#readCell(this.#column);
  }

  #readCell(column: number): number {
    const { bytes } = this.#memory;
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
    if (this.#stripsGuards && bytes[start] === APOSTROPHE) return NOT_PLAIN;
    this.from = start;
    this.to = end;
    this.flags = flag;
    return FOUND;
  }

  #putTogether(): number {
    const memory = this.#memory;
    const { bytes } = memory;
    const { from, to, flags } = this.#cells;
    const { scratch, needsAll, partOf } = this.#options;
    const parts = this.#parts;
    const most = scratch + MOST_TEXT_BYTES;
    let end = scratch;
    let isFilled = false;
    let all = this.#flagsOfParts;
    let hasColumns = false;
    for (let number = 0; number < parts.length; number += 1) {
      const part = parts[number] as Piece | number; // within its length
      if (typeof part !== "number") {
        if (end + part.length > most) return NOT_PLAIN;
        end = memory.copy(end, part.from, part.length);
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
      if (this.#stripsGuards && bytes[start] === APOSTROPHE) return NOT_PLAIN;
      if (partOf !== undefined && isStrangePart(memory, start, behind, flag, partOf)) return NOT_PLAIN;
      if (end + behind - start > most) return NOT_PLAIN;
      all |= flag;
      isFilled = true;
      end = memory.copy(end, start, behind - start);
    }
    if (hasColumns && !isFilled) return ABSENT;
    let start = scratch;
    while (start < end && bytes[start] === BLANK) start += 1;
    while (end > start && bytes[end - 1] === BLANK) end -= 1;
    if (start === end) return ABSENT;
    if (!isTrimmed(bytes, start, end, all)) return NOT_PLAIN;
    this.from = start;
    this.to = end;
    this.flags = all;
    return FOUND;
  }
}

/** Whether a part of an id may be something else, or call its row a sum. */
function isStrangePart(
  memory: RowMemory,
  from: number,
  to: number,
  flags: number,
  partOf: "ticket" | "other id",
): boolean {
  const { bytes } = memory;
  if (!isSurelyPlainId(bytes, from, to, flags) && looksMangled(memory.ascii(from, to))) return true;
  return partOf === "ticket" && mayBeTotalsWord(bytes, from, to) && isTotalsWord(memory.ascii(from, to));
}

/** What stands in a text, as `Cells` tells it of a cell. */
export function flagsOf(text: string): number {
  let flags = 0;
  for (let at = 0; at < text.length; at += 1) flags |= KINDS[text.charCodeAt(at)] ?? BEYOND_ASCII;
  return flags;
}
