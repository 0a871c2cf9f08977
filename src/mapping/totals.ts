/** A line of totals below the rows of an export: it looks like a ticket, and its amount is the sum of all. */

import { type Draft, numberOf } from "../actions/draft.ts";
import { quoted } from "../actions/text.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import type { MappingRule } from "../map/rules.ts";
import { isTotalsWord } from "../map/totals-words.ts";
import type { Row } from "../read/row.ts";

const [TICKET_ID, PRICE] = [numberOf("ticketId"), numberOf("price")];

/** From this many amounts on, a sum is no coincidence. */
const SURELY = 10;
/** With fewer it may be, so the row must also leave cells empty that all others fill. */
const LIKELY = 3;
const EMPTIED = 2;

/** The mapper, with a finding for a row that sums up the others. */
export function withTotals(mapper: Mapper): Mapper {
  const sum = new SumOfRows();
  return {
    get understanding() {
      return mapper.understanding;
    },
    map(row) {
      const mapped = mapper.map(row);
      if (mapped.kind === "skipped") {
        if (mapped.reason !== "empty row") sum.add(lastOf(row, []));
        return mapped;
      }
      const drafts = mapped.kind === "actions" ? mapped.drafts : mapped.attempted;
      sum.add(lastOf(row, mapped.kind === "actions" ? drafts : []));
      const word = row.kind === "malformed" ? shortTotals(row.cells) : (mapped.totals ?? totalsWord(row, drafts));
      if (word === undefined) return mapped;
      if (mapped.kind === "actions") mapper.retract?.(drafts);
      return totalsRow(word, mapped, drafts);
    },
    retract: (drafts) => mapper.retract?.(drafts),
    findingsOfFile: () => [...(mapper.findingsOfFile?.() ?? []), ...lastIsSum(sum)],
  };
}

/** The word by which the row calls itself a sum: as the id of its ticket, or first in a row that is mostly empty. */
function totalsWord(row: Row, drafts: readonly Draft[]): string | undefined {
  for (const { text } of drafts) {
    const ticketId = text[TICKET_ID];
    if (ticketId !== undefined && isTotalsWord(ticketId)) return ticketId;
  }
  if (row.kind !== "cells") return undefined;
  const first = row.cells.find(isFilled) ?? "";
  if (!isTotalsWord(first)) return undefined;
  return row.cells.filter(isFilled).length * 2 <= row.cells.length ? first : undefined;
}

/** A row that is too short to be a ticket, and calls itself a sum. */
function shortTotals(cells: readonly string[] = []): string | undefined {
  const first = cells.find(isFilled) ?? "";
  return isTotalsWord(first) ? first : undefined;
}

const isFilled = (cell: string): boolean => cell.charCodeAt(0) > 32 || cell.trim() !== "";

function totalsRow(word: string, mapped: Mapped, attempted: readonly Draft[]): Mapped {
  const finding = {
    rule: "totals-line" satisfies MappingRule,
    value: word,
    message: `The row is a line of totals: it is called ${quoted(word.trim())}.`,
    hint: `Leave it out of the export, or name it in skip of the source: skip: {COLUMN: ${quoted(word.trim())}}.`,
  };
  if (mapped.kind === "invalid") return { ...mapped, findings: [finding, ...mapped.findings] };
  return { kind: "invalid", findings: [finding], attempted };
}

/** What is summed up: in 1/10000 it is exact. */
const AMOUNT = /^\d{1,11}(?:\.\d{1,4})?$/;
const isAmount = (text: string): boolean => AMOUNT.test(text);

function lastOf(row: Row, drafts: readonly Draft[]): LastRow {
  let amount = 0;
  let price = "";
  for (const draft of drafts) {
    const text = draft.text[PRICE];
    if (text === undefined || !isAmount(text)) continue;
    amount += Math.round(Number(text) * 10_000);
    price = text;
  }
  return { line: row.line, amount, price, cells: row.kind === "cells" ? row.cells : undefined };
}

interface LastRow {
  readonly line: number;
  /** In 1/10000. */
  readonly amount: number;
  /** The amount as it was read. */
  readonly price: string;
  readonly cells: readonly string[] | undefined;
}

/** What all rows but the last sum up to. */
class SumOfRows {
  /** In 1/10000. */
  sum = 0;
  /** How many of them have an amount above zero. */
  priced = 0;
  /** Per cell, whether each of them fills it; undefined before the second row, or of JSON rows. */
  filled: boolean[] | undefined;
  last: LastRow | undefined;

  add(row: LastRow): void {
    if (this.last !== undefined) {
      this.sum += this.last.amount;
      if (this.last.amount > 0) this.priced += 1;
      this.filled = withRow(this.filled, this.last.cells);
    }
    this.last = row;
  }
}

/** The cells that all rows fill, with one more row. */
function withRow(filled: boolean[] | undefined, cells: readonly string[] | undefined): boolean[] | undefined {
  if (cells === undefined) return filled;
  if (filled === undefined) return cells.map(isFilled);
  for (let at = 0; at < filled.length; at += 1) if (filled[at] && !isFilled(cells[at] ?? "")) filled[at] = false;
  return filled;
}

function lastIsSum({ sum, priced, filled = [], last }: SumOfRows): readonly FileFinding[] {
  if (last === undefined || last.amount === 0 || last.amount !== sum || priced < LIKELY) return [];
  const emptied = filled.filter((is, at) => is && !isFilled(last.cells?.[at] ?? "")).length;
  if (priced < SURELY && emptied < EMPTIED) return [];
  return [
    {
      rule: "totals-line" satisfies MappingRule,
      line: last.line,
      isOfAllRows: true,
      field: "price",
      value: last.price,
      message: "The last row looks like a line of totals: its amount is the sum of all rows before it.",
      hint: "Leave it out of the export or with skip; if it is a sale, relax the rule: rules: {totals-line: warn}.",
    },
  ];
}
