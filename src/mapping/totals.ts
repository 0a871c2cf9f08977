/** A line of totals below the rows of an export: it looks like a ticket, and its amount is the sum of all. */

import type { Action } from "../actions/actions.ts";
import { quoted } from "../actions/text.ts";
import type { FileFinding } from "./file-finding.ts";
import type { LastRow, Mapped, Mapper, PlainAmount, SeenAmounts } from "./mapper.ts";
import type { Row } from "./row.ts";
import type { MappingRule } from "./rules.ts";
import { isTotalsWord } from "./totals-words.ts";

const NOTHING: SeenAmounts = { sum: 0, priced: 0, filled: undefined, last: undefined };

/** From this many amounts on, a sum is no coincidence. */
const SURELY = 10;
/** With fewer it may be, so the row must also leave cells empty that all others fill. */
const LIKELY = 3;
const EMPTIED = 2;

/** The mapper, with a finding for a row that sums up the others. */
export function withTotals(mapper: Mapper): Mapper {
  const fresh = new SumOfRows();
  let known = NOTHING;
  return {
    get understanding() {
      return mapper.understanding;
    },
    map(row) {
      const mapped = mapper.map(row);
      if (mapped.kind === "skipped") {
        if (mapped.reason !== "empty row") fresh.add(lastOf(row, []));
        return mapped;
      }
      const actions = mapped.kind === "actions" ? mapped.actions : mapped.attempted;
      fresh.add(lastOf(row, mapped.kind === "actions" ? actions : []));
      const word = row.kind === "malformed" ? shortTotals(row.cells) : (mapped.totals ?? totalsWord(row, actions));
      if (word === undefined) return mapped;
      if (mapped.kind === "actions") mapper.retract?.(actions);
      return totalsRow(word, mapped, actions);
    },
    retract: (actions) => mapper.retract?.(actions),
    seeAmount: (amount) => fresh.addPlain(amount),
    seeItem: () => mapper.seeItem?.(),
    seePlain: (seen) => mapper.seePlain?.(seen),
    hasGiven: (eventId) => mapper.hasGiven?.(eventId) ?? false,
    takeSeen: () => ({ ...mapper.takeSeen?.(), amounts: fresh.take() }),
    agrees: (seen) => mapper.agrees?.(seen) ?? true,
    join(seen) {
      mapper.join?.(seen);
      if (seen.amounts !== undefined) known = joined(known, seen.amounts);
    },
    findingsOfFile: () => [...(mapper.findingsOfFile?.() ?? []), ...lastIsSum(known)],
  };
}

/** The word by which the row calls itself a sum: as the id of its ticket, or first in a row that is mostly empty. */
function totalsWord(row: Row, actions: readonly Action[]): string | undefined {
  for (const { data } of actions) {
    const { ticketId } = data;
    if (typeof ticketId === "string" && isTotalsWord(ticketId)) return ticketId;
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

function totalsRow(word: string, mapped: Mapped, attempted: readonly Action[]): Mapped {
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
export const isAmount = (text: string): boolean => AMOUNT.test(text);

function lastOf(row: Row, actions: readonly Action[]): LastRow {
  let amount = 0;
  let price = "";
  for (const { data } of actions) {
    const text = typeof data.price === "string" ? data.price : "";
    if (!isAmount(text)) continue;
    amount += Math.round(Number(text) * 10_000);
    price = text;
  }
  return { line: row.line, amount, price, cells: row.kind === "cells" ? row.cells : undefined };
}

/** What the rows since the last look sum up to. */
class SumOfRows {
  #sum = 0;
  #priced = 0;
  #filled: boolean[] | undefined;
  #last: LastRow | undefined;
  /** The last row, where it was read without the mapper. */
  readonly #plain = {
    isLast: false,
    line: 0,
    amount: 0,
    cells: 0,
    read: NOT_READ,
  };
  /** For each cell of plain rows, whether the last one fills it, and whether all before it did: in bits. */
  #lastBits = new Int32Array(0);
  #allBits = new Int32Array(0);

  add(row: LastRow): void {
    this.#countLast();
    this.#last = row;
  }

  addPlain({ line, amount, cells, filled, read }: PlainAmount): void {
    this.#countLast();
    const plain = this.#plain;
    if (this.#lastBits.length < filled.length) this.#growBits(filled.length);
    for (let at = 0; at < filled.length; at += 1) this.#lastBits[at] = filled[at] as number; // as many
    plain.cells = cells;
    plain.isLast = true;
    plain.line = line;
    plain.amount = amount;
    plain.read = read;
  }

  take(): SeenAmounts {
    const { isLast, line, amount, cells, read } = this.#plain;
    const last = isLast ? { line, amount, ...withAmount(read()) } : this.#last;
    const filled = this.#filled?.map((is, cell) => is && (cell >= cells || isIn(this.#allBits, cell)));
    const seen = { sum: this.#sum, priced: this.#priced, filled, last };
    this.#allBits.fill(-1);
    this.#sum = 0;
    this.#priced = 0;
    this.#filled = undefined;
    this.#last = undefined;
    this.#plain.isLast = false;
    return seen;
  }

  /** The last row is not the last any more. */
  #countLast(): void {
    const plain = this.#plain;
    if (plain.isLast) {
      this.#addAmount(plain.amount);
      if (plain.cells > 0) this.#filled ??= new Array<boolean>(plain.cells).fill(true);
      for (let at = 0; at < this.#lastBits.length; at += 1)
        this.#allBits[at] = (this.#allBits[at] as number) & (this.#lastBits[at] as number); // as many
      plain.isLast = false;
    } else if (this.#last !== undefined) {
      this.#addAmount(this.#last.amount);
      this.#filled = withRow(this.#filled, this.#last.cells);
    }
    this.#last = undefined;
  }

  #growBits(words: number): void {
    const before = this.#allBits;
    this.#lastBits = new Int32Array(words).fill(-1);
    this.#allBits = new Int32Array(words).fill(-1);
    this.#allBits.set(before);
  }

  #addAmount(amount: number): void {
    this.#sum += amount;
    if (amount > 0) this.#priced += 1;
  }
}

const isIn = (bits: Int32Array, cell: number): boolean => (((bits[cell >> 5] ?? -1) >> (cell & 31)) & 1) === 1;

const withAmount = ({ price, cells }: ReturnType<PlainAmount["read"]>) => ({
  price: isAmount(price) ? price : "",
  cells,
});

const NOT_READ: PlainAmount["read"] = () => {
  throw new Error("no row was seen");
};

/** What was seen, without a last row that may be a sum. */
function withoutLast({ sum, priced, filled, last }: SeenAmounts): Omit<SeenAmounts, "last"> {
  if (last === undefined) return { sum, priced, filled };
  return {
    sum: sum + last.amount,
    priced: priced + (last.amount > 0 ? 1 : 0),
    filled: withRow(filled && [...filled], last.cells),
  };
}

function joined(before: SeenAmounts, after: SeenAmounts): SeenAmounts {
  if (after.last === undefined) return before;
  const all = withoutLast(before);
  return {
    sum: all.sum + after.sum,
    priced: all.priced + after.priced,
    filled:
      all.filled === undefined || after.filled === undefined
        ? (all.filled ?? after.filled)
        : all.filled.map((is, at) => is && after.filled?.[at] === true),
    last: after.last,
  };
}

/** The cells that all rows fill, with one more row. */
function withRow(filled: boolean[] | undefined, cells: readonly string[] | undefined): boolean[] | undefined {
  if (cells === undefined) return filled;
  if (filled === undefined) return cells.map(isFilled);
  for (let at = 0; at < filled.length; at += 1) if (filled[at] && !isFilled(cells[at] ?? "")) filled[at] = false;
  return filled;
}

function lastIsSum({ sum, priced, filled = [], last }: SeenAmounts): readonly FileFinding[] {
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
