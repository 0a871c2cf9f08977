/** A line of totals below the rows of an export: it looks like a ticket, and its amount is the sum of all. */

import { type Draft, numberOf } from "../actions/draft.ts";
import { quoted } from "../actions/text.ts";
import type { Row } from "../read/row.ts";
import type { FileFinding } from "./file-finding.ts";
import type { Mapped, Mapper } from "./mapper.ts";
import type { MappingRule } from "./rules.ts";
import { isTotalsWord } from "./totals-words.ts";

/** The mapper, with a finding for a row that sums up the others. */
export function withTotals(mapper: Mapper): Mapper {
  const sum = new SumOfRows();
  return {
    // The first cell may call the row a sum.
    wanted: mapper.wanted?.with(0, true),
    deciding: mapper.deciding,
    get understanding() {
      return mapper.understanding;
    },
    map(row) {
      const mapped = mapper.map(row);
      if (mapped.kind !== "skipped" || mapped.reason !== "empty row")
        sum.add(row, mapped.kind === "actions" ? mapped.drafts : NONE);
      if (mapped.kind === "skipped") return mapped;
      const word = totalsWord(row, mapped);
      if (word === undefined) return mapped;
      if (mapped.kind === "actions") mapper.retract?.(mapped.drafts);
      return totalsRow(word, mapped);
    },
    retract: (drafts) => mapper.retract?.(drafts),
    findingsOfFile: () => [...(mapper.findingsOfFile?.() ?? []), ...sum.findings()],
  };
}

type Read = Exclude<Mapped, { kind: "skipped" }>;

const NONE: readonly Draft[] = [];
const TICKET_ID = numberOf("ticketId");
const PRICE = numberOf("price");

/** The word by which the row calls itself a sum: as the id of its ticket, or first in a row that is mostly empty. */
function totalsWord(row: Row, mapped: Read): string | undefined {
  if (row.kind === "malformed") return firstWord(row.cells ?? []); // too short to be a ticket
  if (mapped.totals !== undefined) return mapped.totals;
  for (const { text } of mapped.kind === "actions" ? mapped.drafts : mapped.attempted) {
    const id = text[TICKET_ID];
    if (id !== undefined && isTotalsWord(id)) return id;
  }
  if (row.kind !== "cells") return undefined;
  const [first = ""] = row.cells;
  if (first !== "" && !isTotalsWord(first)) return undefined;
  // Besides the first, only the cells that its actions need are at hand.
  const cells = row.whole();
  return cells.filter(isFilled).length * 2 <= cells.length ? firstWord(cells) : undefined;
}

function firstWord(cells: readonly string[]): string | undefined {
  for (const cell of cells) if (isFilled(cell)) return isTotalsWord(cell) ? cell : undefined;
  return undefined;
}

const isFilled = (cell: string): boolean => cell.charCodeAt(0) > 32 || cell.trim() !== "";

function totalsRow(word: string, mapped: Read): Mapped {
  const finding = {
    rule: "totals-line" satisfies MappingRule,
    value: word,
    message: `The row is a line of totals: it is called ${quoted(word.trim())}.`,
    hint: `Leave it out of the export, or name it in skip of the source: skip: {COLUMN: ${quoted(word.trim())}}.`,
  };
  if (mapped.kind === "invalid") return { ...mapped, findings: [finding, ...mapped.findings] };
  return { kind: "invalid", findings: [finding], attempted: mapped.drafts };
}

/** What is summed up: in 1/10000 it is exact. */
const AMOUNT = /^\d{1,11}(?:\.\d{1,4})?$/;

/** From this many amounts on, a sum is no coincidence. */
const SURELY = 10;
/** With fewer it may be, so the row must also leave cells empty that all others fill. */
const LIKELY = 3;
const EMPTIED = 2;
/** A longer file with fewer amounts than `SURELY` is no list of sales. */
const MOST_KEPT = 1000;

/** What all rows but the last sum up to. */
class SumOfRows {
  /** In 1/10000, like `#amount`. */
  #sum = 0;
  /** How many of them have an amount above zero. */
  #priced = 0;
  #rows = 0;
  /** The rows, as long as there are so few amounts that their cells matter. */
  #few: Row[] = [];
  /** Of the last row. */
  #line = 0;
  #amount = 0;
  #price = "";

  add(row: Row, drafts: readonly Draft[]): void {
    this.#sum += this.#amount;
    if (this.#amount > 0) this.#priced += 1;
    this.#amount = 0;
    this.#line = row.line;
    this.#rows += 1;
    for (const { text } of drafts) {
      const price = text[PRICE];
      if (price === undefined || !AMOUNT.test(price)) continue;
      this.#amount += Math.round(Number(price) * 10_000);
      this.#price = price;
    }
    if (this.#priced < SURELY && this.#rows <= MOST_KEPT) this.#few.push(row);
    else if (this.#few.length > 0) this.#few = [];
  }

  findings(): readonly FileFinding[] {
    if (this.#amount === 0 || this.#amount !== this.#sum || this.#priced < LIKELY) return [];
    if (this.#priced < SURELY && this.#emptied() < EMPTIED) return [];
    return [
      {
        rule: "totals-line" satisfies MappingRule,
        line: this.#line,
        isOfAllRows: true,
        field: "price",
        value: this.#price,
        message: "The last row looks like a line of totals: its amount is the sum of all rows before it.",
        hint: "Leave it out of the export or with skip; if it is a sale, relax the rule: rules: {totals-line: warn}.",
      },
    ];
  }

  /** How many cells the last row leaves empty that all others fill. */
  #emptied(): number {
    const tables = this.#few.flatMap((row) => (row.kind === "cells" ? [row.whole()] : []));
    const [last, ...others] = tables.toReversed();
    const [first] = others;
    if (this.#few.at(-1)?.kind !== "cells" || last === undefined || first === undefined) return 0;
    const isEmptied = (_cell: string, at: number): boolean =>
      !isFilled(last[at] ?? "") && others.every((cells) => isFilled(cells[at] ?? ""));
    return first.filter(isEmptied).length;
  }
}
