/** Rules for prices: which column, how its amounts are written, and what they are divided by. */

import { currencyDigits } from "../actions/currencies.ts";
import { divideAmount, latinDigits } from "../map/amount.ts";
import { cleanText, quoted } from "../text.ts";
import { type Column, MOST_WORDS, textIn } from "./column.ts";
import { called } from "./find-columns.ts";
import { namesOrder, says } from "./header-words.ts";
import { countIn, type Roles } from "./roles.ts";
import { namesLoss } from "./time-words.ts";
import { alsoText, ask, type Data, type Entry, inner, type Line, oneOf, rowsText, type Steps } from "./yaml.ts";

/** @param prices - columns that may be it, the surest first. @param quantity - into so many tickets a row is divided. */
export function priceLines(roles: Roles, prices: readonly Column[], quantity: Column | undefined): readonly Line[] {
  const [price, ...others] = prices;
  if (price === undefined) return [unreadPrice(roles)];
  const waysFor = (column: Column): readonly Entry[] =>
    dividersOf(column, roles, quantity).flatMap((by) =>
      mayBeHundredths(column, roles.currency).flatMap((inHundredths) => waysOf(column, inHundredths, by)),
    );
  const counts = quantity === undefined ? roles.counts : [];
  const maySayAll = counts.length > 1 || prices.some(({ name }) => says(name, "inAll"));
  if (others.length > 0 && maySayAll && !says(price.name, "perTicket")) return waysLines(prices.flatMap(waysFor));
  const doubt = priceOfOrder(price, roles, quantity) ?? priceOfCounted(price, counts, roles.rows);
  if (doubt === undefined) return waysLines(waysFor(price), others);
  return asked(`what one ticket cost: ${doubt}`, waysFor(price));
}

/** The only way as a guess; several as comments, for the user to choose from. */
function waysLines(ways: readonly Entry[], others: readonly Column[] = []): readonly Line[] {
  const [only, ...more] = ways;
  if (only !== undefined && more.length === 0) return [{ ...only, note: `guess: ${only.note}${alsoText(others)}` }];
  return asked("one of the next lines, without its #: what one ticket cost", ways);
}

const asked = (question: string, ways: readonly Entry[]): readonly Line[] =>
  oneOf("price", question, "a price is public for good; remove this line", ways);

/** Without an amount: what each word costs, of a column that is named like a price and holds words only, or a sample. */
function unreadPrice({ all }: Roles): Entry {
  const key = "price";
  const column = called("price", all).find(
    ({ name, amounts, times }) =>
      amounts === undefined &&
      times === undefined &&
      !namesLoss(name) &&
      !says(name, "surcharge") &&
      says(name, "price"),
  );
  if (column === undefined) return { key, value: ask("no column looks like a price") };
  const words = [...column.values.keys()];
  if (words.length <= MOST_WORDS && words.every((text) => !/\d/.test(text)))
    return { key, value: { from: inner(column), ...wordSteps(column, words) }, note: "it holds words only" };
  const example = words.find((text) => !/^\d+(?:\.\d+)?$/.test(text)) ?? "";
  const what = `${cleanText(column.name, 40)} holds ${quoted(example)}: its texts can't all be read as amounts in one way`;
  return { key, value: ask(what), note: `perhaps ${inner(column)}` };
}

/** By what the amounts of a row of several tickets may have to be divided; undefined: not at all. */
function dividersOf(
  { name }: Column,
  { counts: [count, ...more] }: Roles,
  quantity: Column | undefined,
): readonly (Column | undefined)[] {
  if (says(name, "perTicket")) return [undefined];
  if (quantity === undefined) return count?.isNumber && more.length === 0 ? [undefined, count] : [undefined];
  return says(name, "total") ? [quantity] : [undefined, quantity];
}

const IF_EACH = "If that is the price of each, take the next line without its #; if it is that of";

/** Of a row that may be several tickets, with its one amount. */
function priceOfCounted(price: Column, counts: readonly Column[], rows: Roles["rows"]): string | undefined {
  if (counts.length === 0 || says(price.name, "perTicket")) return undefined;
  const ticketsIn = (cells: readonly string[]): number => counts.reduce((sum, count) => sum + countIn(cells, count), 0);
  const cells = rows.find((each) => ticketsIn(each) > 1) ?? rows[0] ?? [];
  const shown = [...counts, price].map((column) => `${column.name} ${textIn(cells, column)}`).join(", ");
  return `a row has ${cleanText(shown, 120)}. ${IF_EACH} all of them, divide it, or give each kind its own: docs/mapping.md, A quantity`;
}

/** Why an amount may be what several tickets cost. An amount of an item is that item's. */
function priceOfOrder(price: Column, roles: Roles, quantity: Column | undefined): string | undefined {
  if (price.name.startsWith("item.")) return undefined;
  const shared = quantity === undefined ? sharedInOrders(price, roles) : undefined;
  if (shared !== undefined)
    return `${shared}. ${IF_EACH} the order, the export needs a column with the price of a ticket`;
  if (says(price.name, "perTicket")) return undefined;
  const { numbered, ticketLists: list = roles.items } = roles;
  if (numbered.length > 0)
    return `a row may have ${numbered.length} tickets and one ${cleanText(price.name, 40)}. ${IF_EACH} the order, the export needs a column with the price of a ticket`;
  if (list === undefined) return undefined;
  const name = cleanText(list, 40);
  return `a row may have several ${name} and one ${cleanText(price.name, 40)}. ${IF_EACH} the order, divide it by {${name}.length}`;
}

/**
 * The first order of several rows, where each of them may show what all cost: the name of the amount may mean an order's, and
 * no order has two; or only one row of each order has an amount.
 */
function sharedInOrders(price: Column, { all, rows, ticket }: Roles): string | undefined {
  const name = cleanText(price.name, 40);
  for (const column of all) {
    if (column === ticket || column === price || !namesOrder(column.name)) continue;
    const filled = rows.filter((cells) => textIn(cells, column) !== "");
    const orders = [...Map.groupBy(filled, (cells) => textIn(cells, column))]
      .map(([order, of]) => ({ order: cleanText(order, 40), amounts: of.map((cells) => textIn(cells, price)) }))
      .filter(({ amounts }) => amounts.length > 1);
    const areOnce = orders.every(({ amounts }) => amounts.filter((text) => /[1-9]/.test(text)).length <= 1);
    const once = orders.find(({ amounts }) => amounts.filter((text) => text !== "").length === 1 || areOnce);
    if (once !== undefined) return `${once.order} has ${rowsText(once.amounts.length)} and one ${name}`;
    const [first] = orders;
    const areAlike = orders.every(({ amounts }) => new Set(amounts).size === 1);
    if (first !== undefined && areAlike && says(price.name, "inAll", "inOrder"))
      return `${first.order} has ${rowsText(first.amounts.length)} with ${name} ${cleanText(first.amounts[0] ?? "", 20)} each`;
  }
  return undefined;
}

/** What few tickets cost in whole units of most currencies. */
const MUCH = 500;

/** Whether a column may count hundredths: by its name, unless it has decimals; or as its whole numbers are large. */
function mayBeHundredths({ name, values }: Column, currency: Column | undefined): readonly boolean[] {
  const texts = [...values.keys()].filter((text) => !/^0*$/.test(text));
  const hasDecimals = texts.some((text) => /[.,]\d{1,2}\D*$/.test(text));
  if (says(name, "cents")) return hasDecimals ? [false, true] : [true];
  const hasNone = [...(currency?.values.keys() ?? [])].some((code) => currencyDigits(code.toUpperCase()) === 0);
  const areLarge = texts.length > 0 && texts.every((text) => /^\d+$/.test(text) && Number(text) >= MUCH);
  return says(name, "minorUnits") || (areLarge && !hasNone) ? [false, true] : [false];
}

/** Every way in which a column's amounts can be read. @param kept - steps in place of those for its words and its unit. */
function waysOf(column: Column, inHundredths: boolean, by: Column | undefined, kept?: Steps): readonly Entry[] {
  const { amounts, values } = column;
  if (amounts === undefined) return [];
  const { signs, readings, example, words } = amounts;
  return readings.map(({ decimal, thousands, fits, example: read }) => {
    const isLatin = [...values.keys()].every((text) => latinDigits(text) === text);
    const isPlain =
      isLatin && signs.length === 0 && readings.length === 1 && decimal === "." && thousands === undefined;
    const steps = {
      decimal: isPlain ? undefined : decimal,
      thousands,
      sign: signs.length === 0 ? undefined : signRule(signs),
      ...(kept ?? { ...wordSteps(column, words), ...divideSteps(inHundredths, by) }),
    };
    const isBare = Object.values(steps).every((step) => step === undefined);
    const notes = [
      `${quoted(example)} is ${read === undefined ? "no amount" : inHundredths ? wholeOf(read) : read}`,
      ...(fits === values.size ? [] : [`reads ${fits} of ${values.size} texts`]),
      ...(inHundredths ? ["counts hundredths"] : []),
      ...(by === undefined ? [] : ["the total of the row is divided"]),
    ];
    const value = isBare ? inner(column) : { from: inner(column), ...steps };
    return { key: "price", value, note: notes.join("; ") };
  });
}

/** The price of one ticket from one column, with further steps: the only way to read it, or all of them for the user to choose from. */
export const amountLines = (column: Column, more: Steps): readonly Line[] =>
  waysLines(waysOf(column, false, undefined, more));

/** A sign and the code that it stands for are one. */
const CODES: Readonly<Record<string, string>> = { "€": "EUR", "£": "GBP" };

/** An event has one currency, so of several the user says which. */
function signRule(signs: readonly string[]): Data {
  const currencies = new Set(signs.map((sign) => CODES[sign] ?? sign.toUpperCase()));
  if (currencies.size === 1) return signs;
  const shown = signs.map((sign) => cleanText(sign, 10)).join(", ");
  return ask(`the sign of the event's currency alone, of ${shown}: an amount with another is an error`);
}

/** What words and empty cells among the amounts mean is asked. */
function wordSteps(column: Column, words: readonly string[]): Steps {
  const blanks = column.rows - column.filled;
  const priceOf = (word: string): string => ask(`its price, such as 0 (${rowsText(column.values.get(word) ?? 0)})`);
  return {
    map: words.length === 0 ? undefined : Object.fromEntries(words.map((word) => [word, priceOf(word)])),
    else: words.length === 0 ? undefined : inner(column),
    blank: blanks === 0 ? undefined : ask(`0, if what has no amount cost nothing (${rowsText(blanks)})`),
  };
}

/** `divide: "100", places: 2`; of an order of several tickets by their number, too. */
function divideSteps(inHundredths: boolean, by: Column | undefined): Steps {
  if (!inHundredths && by === undefined) return {};
  const number = by === undefined ? "1" : inner(by);
  return { divide: inHundredths ? `${number}00` : number, places: "2" };
}

/** 25.00 for 2500 hundredths. */
function wholeOf(amount: string): string {
  const found = divideAmount(amount, "100", 2, "error", 1);
  return found.kind === "amount" ? found.text : amount;
}
