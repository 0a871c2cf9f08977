/** Rules for prices: which column, how its amounts are written, and what they are divided by. */

import { currencyDigits } from "../actions/currencies.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { divideAmount } from "../map/amount.ts";
import { type Columns, countIn, unreadPrice } from "./columns.ts";
import { type Entry, flow, type Line, type Value } from "./config-text.ts";
import { type Amounts, type Column, MOST_WORDS, textIn } from "./evidence.ts";
import { minorUnitsIn, namesOrder, namesTicketPrice, says } from "./header-words.ts";
import { alsoText, ask, choice, inner, rowsText, template } from "./notes.ts";

/** @param prices - columns that may be it, the surest first. @param quantity - into so many tickets a row is divided. */
export function priceLines(columns: Columns, prices: readonly Column[], quantity: Column | undefined): readonly Line[] {
  const [price, ...others] = prices;
  if (price === undefined) return [unreadRule(unreadPrice(columns))];
  const counts = quantity === undefined ? columns.counts : [];
  const maySayAll = counts.length > 1 || prices.some(({ name }) => says(name, "inAll"));
  const areRivals = others.length > 0 && maySayAll && !isUnitPrice(price, columns);
  const waysFor = (column: Column): readonly Entry[] =>
    dividersOf(column, quantity, counts, columns.rows).flatMap((by) => waysOf(column, by, columns.currency));
  if (areRivals) return waysLines(prices.flatMap(waysFor));
  const doubt = priceOfOrder(price, columns, quantity) ?? priceOfCounted(price, counts, columns.rows);
  return doubt === undefined
    ? waysLines(waysFor(price), others)
    : asked(`what one ticket cost: ${doubt}`, waysFor(price));
}

/** A question, and below it the rules that may answer it. */
const asked = (question: string, ways: readonly Entry[]): readonly Line[] => [
  { key: "price", value: ask(question), note: "a price is public for good; remove this line" },
  ...ways.map(choice),
];

const IF_EACH = "If that is the price of each, take the next line without its #; if it is that of";

/** A row that may be several tickets, with its one amount. */
function priceOfCounted(price: Column, counts: readonly Column[], rows: Columns["rows"]): string | undefined {
  if (counts.length === 0 || namesTicketPrice(price.name)) return undefined;
  const ticketsIn = (cells: readonly string[]): number => counts.reduce((sum, count) => sum + countIn(cells, count), 0);
  const cells = rows.find((each) => ticketsIn(each) > 1) ?? rows[0] ?? [];
  const shown = [...counts, price].map((column) => `${column.name} ${textIn(cells, column)}`).join(", ");
  return `a row has ${cleanText(shown, 120)}. ${IF_EACH} all of them, divide it, or give each kind its own: docs/mapping.md, A quantity`;
}

function unreadRule(column: Column | undefined): Entry {
  if (column === undefined) return { key: "price", value: ask("no column looks like a price") };
  const words = [...column.values.keys()];
  if (words.length <= MOST_WORDS && words.every((text) => !/\d/.test(text)))
    return {
      key: "price",
      value: flow({ from: template(column), ...wordSteps(column, words) }),
      note: "it holds words only",
    };
  const example = words.find((text) => !/^\d+(?:\.\d+)?$/.test(text)) ?? "";
  const what = `${cleanText(column.name, 40)} holds ${quoted(example)}: its texts can't all be read as amounts in one way`;
  return { key: "price", value: ask(what), note: `perhaps ${inner(column)}` };
}

/** Whether another amount is this one times the tickets of the row, in all rows. */
function isUnitPrice(price: Column, { prices, quantities, rows }: Columns): boolean {
  const [quantity, ...more] = quantities;
  const amountIn = (cells: readonly string[], column: Column): number =>
    Number(column.amounts?.readings[0].read(textIn(cells, column)));
  if (quantity === undefined || more.length > 0) return false;
  return prices.some(
    (total) =>
      total !== price &&
      rows.some((cells) => Number(textIn(cells, quantity)) > 1) &&
      rows.every(
        (cells) => Math.abs(amountIn(cells, price) * Number(textIn(cells, quantity)) - amountIn(cells, total)) < 0.005,
      ),
  );
}

/** The only way as a guess; several as comments, for the user to choose from. */
function waysLines(ways: readonly Entry[], others: readonly Column[] = []): readonly Line[] {
  const [only, ...more] = ways;
  if (only !== undefined && more.length === 0) return [{ ...only, note: `guess: ${only.note}${alsoText(others)}` }];
  return asked("one of the next lines, without its #: what one ticket cost", ways);
}

/** By what the amounts of a row of several tickets may have to be divided; undefined: not at all. */
function dividersOf(
  { name, index }: Column,
  quantity: Column | undefined,
  counts: readonly Column[],
  rows: Columns["rows"],
): readonly (Column | undefined)[] {
  const [count, ...more] = counts;
  if (namesTicketPrice(name)) return [undefined];
  if (quantity === undefined) return count?.isNumber && more.length === 0 ? [undefined, count] : [undefined];
  // The price of one ticket is the same for different numbers of tickets.
  const paid = rows.filter((cells) => /[1-9]/.test(cells[index] ?? ""));
  const pairs = new Set(paid.map((cells) => `${cells[index]} ${textIn(cells, quantity)}`));
  const isAlike = new Set(paid.map((cells) => cells[index])).size < pairs.size;
  return says(name, "total") && !isAlike ? [quantity] : [undefined, quantity];
}

/** Why an amount may be what several tickets cost. */
function priceOfOrder(price: Column, columns: Columns, quantity: Column | undefined): string | undefined {
  const { ticketLists, items } = columns;
  // An amount of an item is that item's.
  if (price.name.startsWith("item.")) return undefined;
  const list = namesTicketPrice(price.name) ? undefined : (ticketLists ?? items);
  const why =
    (quantity === undefined ? sharedInOrders(price, columns) : undefined) ??
    (list && `a row may have several ${cleanText(list, 40)} and one ${cleanText(price.name, 40)}`);
  return why && `${why}. ${IF_EACH} the order, the export needs a column with the price of a ticket`;
}

/**
 * The first order of several rows, where each of them may show what all cost: the name of the amount may mean an order's, and
 * no order has two; or only one row of each order has an amount.
 */
function sharedInOrders(price: Column, { all, rows, ticket }: Columns): string | undefined {
  const name = cleanText(price.name, 40);
  const mayBeOrders = says(price.name, "inAll", "inOrder");
  for (const column of all) {
    if (column === ticket || column === price || !namesOrder(column.name) || column.values.size === column.filled)
      continue;
    const filled = rows.filter((cells) => textIn(cells, column) !== "");
    const orders = [...Map.groupBy(filled, (cells) => textIn(cells, column))]
      .map(([order, of]) => ({ order: cleanText(order, 40), amounts: of.map((cells) => textIn(cells, price)) }))
      .filter(({ amounts }) => amounts.length > 1);
    const areOnce = orders.every(({ amounts }) => amounts.filter((text) => /[1-9]/.test(text)).length <= 1);
    const once = orders.find(({ amounts }) => amounts.filter((text) => text !== "").length === 1 || areOnce);
    if (once !== undefined) return `${once.order} has ${rowsText(once.amounts.length)} and one ${name}`;
    const [first] = orders;
    if (mayBeOrders && first !== undefined && orders.every(({ amounts }) => new Set(amounts).size === 1))
      return `${first.order} has ${rowsText(first.amounts.length)} with ${name} ${cleanText(first.amounts[0] ?? "", 20)} each`;
  }
  return undefined;
}

/** What a column counts, and by what whole units are made of it; that is asked where it depends on the currency. */
interface Unit {
  readonly said?: string;
  readonly divide?: number;
}

const WHOLE: Unit = {};
const HUNDREDTHS: Unit = { said: "counts hundredths", divide: 100 };
const SMALLEST: Unit = { said: "counts the currency's smallest unit" };
/** What few tickets cost in whole units of most currencies. */
const MUCH = 500;

/** What a column may count: by its name, but decimals speak against hundredths, and large whole numbers for them. */
function unitsOf({ name, values }: Column, currency: Column | undefined): readonly Unit[] {
  const found = minorUnitsIn(name);
  const texts = [...values.keys()].filter((text) => !/^0*$/.test(text));
  if (found !== undefined) {
    const unit = found === "hundredths" ? HUNDREDTHS : SMALLEST;
    return texts.some((text) => /[.,]\d{1,2}\D*$/.test(text)) ? [WHOLE, unit] : [unit];
  }
  const hasNone = [...(currency?.values.keys() ?? [])].some((code) => currencyDigits(code.toUpperCase()) === 0);
  const areLarge = texts.length > 0 && texts.every((text) => /^\d+$/.test(text) && Number(text) >= MUCH);
  return areLarge && !hasNone ? [WHOLE, HUNDREDTHS] : [WHOLE];
}

/** Steps of a rule beside `from`. */
type Steps = Readonly<Record<string, Value | undefined>>;

function waysOf(column: Column, quantity: Column | undefined, currency: Column | undefined): readonly Entry[] {
  const { amounts } = column;
  if (amounts === undefined) return [];
  const divided = quantity === undefined ? [] : ["the total of the row is divided"];
  return unitsOf(column, currency).flatMap((unit) =>
    amountWays(column, amounts, { ...wordSteps(column, amounts.words), ...divideSteps(unit, quantity) }, unit, divided),
  );
}

/** Every way in which a column's amounts can be read. */
function amountWays(
  column: Column,
  { signs, readings, isPlain, example }: Amounts,
  more: Steps,
  unit: Unit = WHOLE,
  said: readonly string[] = [],
): readonly Entry[] {
  return readings.map(({ decimal, thousands, fits, example: read }) => {
    const steps = {
      decimal: isPlain ? undefined : { inQuotes: decimal },
      thousands: thousands === undefined ? undefined : { inQuotes: thousands },
      sign: signs.length === 0 ? undefined : signRule(signs),
      ...more,
    };
    const isBare = Object.values(steps).every((step) => step === undefined);
    const notes = [
      `${quoted(example)} is ${read === undefined ? "no amount" : inWhole(read, unit)}`,
      ...(fits === column.values.size ? [] : [`reads ${fits} of ${column.values.size} texts`]),
      ...(unit.said === undefined ? [] : [unit.said]),
      ...said,
    ];
    return {
      key: "price",
      value: isBare ? template(column) : flow({ from: template(column), ...steps }),
      note: notes.join("; "),
    };
  });
}

/** An event has one currency, so of several the user says which. */
function signRule(signs: readonly string[]): Value {
  const currencies = new Set(signs.map((sign) => CODES[sign] ?? sign.toUpperCase()));
  if (currencies.size === 1) return signs.map((text) => ({ inQuotes: text }));
  const shown = signs.map((sign) => cleanText(sign, 10)).join(", ");
  return ask(`the sign of the event's currency alone, of ${shown}: an amount with another is an error`);
}

/** A sign and the code that it stands for are one. */
const CODES: Readonly<Record<string, string>> = { "€": "EUR", "£": "GBP" };

/** What words and empty cells among the amounts mean is asked. */
function wordSteps(column: Column, words: readonly string[]): Steps {
  const blanks = column.rows - column.filled;
  const prices = words.map((word) => {
    const rows = rowsText(column.values.get(word) ?? 0);
    return [word, ask(`its price, such as 0 (${rows})`)] as const;
  });
  return {
    map: words.length === 0 ? undefined : { flow: prices },
    else: words.length === 0 ? undefined : template(column),
    blank: blanks === 0 ? undefined : ask(`0, if what has no amount cost nothing (${rowsText(blanks)})`),
  };
}

/** `divide: "100", places: 2`; of an order of several tickets by their number, too. */
function divideSteps(unit: Unit, quantity: Column | undefined): Steps {
  if (unit === WHOLE) return quantity === undefined ? {} : { divide: template(quantity), places: "2" };
  const number = quantity === undefined ? "1" : inner(quantity);
  const asked = `${number}00 for a currency with two decimals; ${number}000 and places: 3 for one with three; for one without, leave the zeros out`;
  return { divide: unit === SMALLEST ? ask(asked) : { inQuotes: `${number}00` }, places: "2" };
}

/** 25.00 for 2500 hundredths. */
function inWhole(amount: string, { divide }: Unit): string {
  if (divide === undefined) return amount;
  const found = divideAmount(amount, String(divide), 2, "error", 1);
  return found.kind === "amount" ? found.text : amount;
}

/** The price from one column: the only way to read it, or all of them as comments for the user to choose from. */
export const amountLines = (column: Column, amounts: Amounts, more: Steps): readonly Line[] =>
  waysLines(amountWays(column, amounts, more));
