/** Which columns most likely hold what is looked for: by the words of their headers, then by the shape of their cells. */

import { fold } from "../actions/nearest.ts";
import { areMost, type Column, textIn } from "./column.ts";
import type { Evidence } from "./evidence.ts";
import { isMadeOf, joinedWords, runsOf, says, WORDS } from "./header-words.ts";
import { namesLoss } from "./time-words.ts";

type Wanted = keyof typeof WORDS;

const mayBePrice = (column: Column): boolean =>
  column.amounts !== undefined &&
  (column.isMoney || called("quantity", [column]).length === 0) &&
  !namesLoss(column.name) &&
  !says(column.name, "surcharge");

/** What a column of each field looks like; of those that are not here, its name says enough. */
const SHAPES: Readonly<Partial<Record<Wanted, (column: Column) => boolean>>> = {
  ticketId: ({ mayBeId }) => mayBeId,
  eventId: ({ mayBeId }) => mayBeId,
  price: mayBePrice,
  quantity: ({ isNumber }) => isNumber,
  currency: (column) => areMost(column, (text) => /^[A-Za-z]{3}$/.test(text)),
  eventName: ({ times }) => times === undefined,
  startTime: ({ mayBeTime }) => mayBeTime,
  endTime: ({ mayBeTime }) => mayBeTime,
};

/** Columns whose names fit, the surest first: the whole name before a part of it, and by the order of the words. */
export function called(wanted: Wanted, columns: readonly Column[]): readonly Column[] {
  const list = WORDS[wanted].split(" ");
  const placeOf = ({ name }: Column): number => {
    const exact = list.indexOf(joinedWords(name));
    if (exact !== -1) return exact;
    const runs = runsOf(name);
    if (isMadeOf(wanted, joinedWords(name))) return 0;
    const part = list.findIndex((word) => word.length >= 4 && runs.has(word));
    if (part !== -1) return list.length + part;
    return [...runs].some((run) => isMadeOf(wanted, run)) ? list.length : Number.POSITIVE_INFINITY;
  };
  return columns
    .map((column) => ({ column, place: placeOf(column) }))
    .filter(({ place }) => place < Number.POSITIVE_INFINITY)
    .sort((one, other) => one.place - other.place)
    .map(({ column }) => column);
}

/** An export, with the columns of its amounts. */
export interface Found extends Evidence {
  /** All that may be the price, that of one ticket first. */
  readonly prices: readonly Column[];
  readonly currency: Column | undefined;
  /** By which amount rows give something back. */
  readonly refund: Refund | undefined;
  /** Columns that look and are called like it, the surest first. */
  find(wanted: Wanted): readonly Column[];
}

export interface Refund {
  readonly column: Column;
  isBack(cells: readonly string[]): boolean;
  /** Not where the amount is 0, which may be either. */
  isPaid(cells: readonly string[]): boolean;
}

export function findIn(evidence: Evidence): Found {
  const { all, rows } = evidence;
  // A column named exactly like its field is that field's, whatever it holds.
  const find = (wanted: Wanted): readonly Column[] =>
    called(
      wanted,
      all.filter((column) => (SHAPES[wanted]?.(column) ?? true) || fold(column.name) === fold(wanted)),
    );
  const prices = pricesIn(all);
  return { ...evidence, prices, currency: find("currency")[0], refund: refundIn(rows, prices[0]), find };
}

/** A row gives something back where its amount is negative. */
function refundIn(rows: Evidence["rows"], price: Column | undefined): Refund | undefined {
  if (price === undefined) return undefined;
  const isBack = (cells: readonly string[]): boolean => isNegative(textIn(cells, price));
  const isPaid = (cells: readonly string[]): boolean => !isBack(cells) && /[1-9]/.test(textIn(cells, price));
  return rows.some(isBack) ? { column: price, isBack, isPaid } : undefined;
}

/** The two words of a column, where all rows that give something back have one, and all that were paid the other. */
export function refundWords(column: Column, { refund, rows }: Found) {
  if (refund === undefined || column.values.size !== 2 || column.filled < column.rows) return undefined;
  const wordsIn = (isOne: Refund["isBack"]) => new Set(rows.filter(isOne).map((cells) => textIn(cells, column)));
  const [back, ...others] = wordsIn(refund.isBack);
  const [sold, ...more] = wordsIn(refund.isPaid);
  if (back === undefined || sold === undefined || back === sold || others.length + more.length > 0) return undefined;
  return { column, sold, back };
}

const isNegative = (text: string): boolean => /^\(?[^\d]{0,4}[-\u2212][^\d]{0,4}\d|\d[-\u2212][^\d]{0,4}$/.test(text);

/** Columns named like a price, the price of one ticket first; else the only amounts, or those whose name says cents. */
function pricesIn(all: readonly Column[]): readonly Column[] {
  const named = called("price", all.filter(mayBePrice));
  const ofItems = named.filter(({ name }) => name.startsWith("item."));
  const money = all.filter(({ name, isMoney }) => isMoney && !namesLoss(name) && !says(name, "surcharge"));
  const inName = money.filter(({ name }) => says(name, "perTicket", "total"));
  const prices = [ofItems, named, inName].find(({ length }) => length > 0);
  if (prices !== undefined)
    return [...prices].sort(
      (one, other) => Number(says(other.name, "perTicket")) - Number(says(one.name, "perTicket")),
    );
  if (money.length === 1) return money;
  return all.filter(({ name, amounts }) => says(name, "cents", "minorUnits") && amounts !== undefined).slice(0, 1);
}
