/** Rules for prices: which column, how its amounts are written, and what they are divided by. */

import { currencyDigits } from "../actions/currencies.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { divideAmount } from "../map/amount.ts";
import { type Columns, unreadPrice } from "./columns.ts";
import { flow, type Line, type Value } from "./config-text.ts";
import { type Amounts, type Column, textIn } from "./evidence.ts";
import { minorUnitsIn, namesOrder, namesTicketPrice, says } from "./header-words.ts";
import { alsoText, ask, choice, inner, rowsText, template } from "./notes.ts";

/** One way to make the price of a ticket from a column. */
interface Way {
  readonly column: Column;
  readonly value: Value;
  /** What it makes of the column's texts. */
  readonly note: string;
}

/** @param prices - columns that may be it, the surest first. */
export function priceLines(columns: Columns, prices: readonly Column[], quantity: Column | undefined): readonly Line[] {
  const [price, ...others] = prices;
  if (price === undefined) {
    const unread = unreadPrice(columns);
    const texts = [...(unread?.values.keys() ?? [])];
    const example = texts.find((text) => !/^\d+(?:\.\d+)?$/.test(text)) ?? "";
    const what =
      unread === undefined
        ? "no column looks like a price"
        : `${cleanText(unread.name, 40)} holds ${quoted(example)}: its texts can't all be read as amounts in one way`;
    return [{ key: "price", value: ask(what), note: unread && `perhaps ${inner(unread)}` }];
  }
  const areRivals = others.length > 0 && prices.some(({ name }) => says(name, "inAll"));
  const candidates = (areRivals ? prices : [price]).flatMap((column) =>
    dividersOf(column, quantity, columns.rows).map((by) => ({ column, by })),
  );
  const ways = candidates.flatMap(({ column, by }) => waysOf(column, by, columns.currency));
  const names = new Set(candidates.slice(0, 6).map(({ column }) => cleanText(column.name, 40)));
  const question =
    candidates.length > 1
      ? {
          what: `one of the next lines, without its #: what one ticket cost, by ${[...names].join(" or ")}`,
          why: PUBLIC,
        }
      : (questionOfOrder(price, columns, quantity) ??
        questionOfAmounts(price, columns.currency) ??
        candidates.map(({ column, by }) => questionOfRest(column, by, columns))[0]);
  return waysLines(ways, question, others);
}

/** The only way as a guess; several as comments, for the user to choose from. */
function waysLines(ways: readonly Way[], question: Question | undefined, others: readonly Column[]): readonly Line[] {
  const [only, ...more] = ways;
  if (question === undefined && only !== undefined && more.length === 0)
    return [
      { key: "price", value: only.value, note: `guess: the only way that fits, ${only.note}${alsoText(others)}` },
    ];
  return [
    {
      key: "price",
      value: ask(question?.what ?? "one of the next lines, without its #"),
      note: `${question?.why ?? "how amounts are written is never guessed"}; remove this line`,
    },
    ...ways.map(({ value, note }) => choice({ key: "price", value, note: `reads ${note}` })),
  ];
}

const PUBLIC = "a price is public for good";

/** By what the amounts of a row of several tickets may have to be divided; undefined: not at all. */
function dividersOf(
  column: Column,
  quantity: Column | undefined,
  rows: Columns["rows"],
): readonly (Column | undefined)[] {
  if (quantity === undefined || namesTicketPrice(column.name)) return [undefined];
  const filled = rows.filter((cells) => textIn(cells, column) !== "" && textIn(cells, quantity) !== "");
  // The price of one ticket is the same for different numbers of tickets.
  const isAlike = [...Map.groupBy(filled, (cells) => textIn(cells, column))].some(
    ([text, of]) => /[1-9]/.test(text) && new Set(of.map((cells) => textIn(cells, quantity))).size > 1,
  );
  return says(column.name, "inAll") && !isAlike ? [quantity] : [undefined, quantity];
}

interface Question {
  readonly what: string;
  readonly why: string;
}

/** Whether an amount may be what several tickets cost. */
function questionOfOrder(price: Column, columns: Columns, quantity: Column | undefined): Question | undefined {
  const { ticketLists } = columns;
  const name = cleanText(price.name, 40);
  const why =
    (quantity === undefined ? sharedInOrders(price, columns) : undefined) ??
    (ticketLists === undefined || namesTicketPrice(price.name)
      ? undefined
      : `a row may have several ${cleanText(ticketLists, 40)} and one ${name}`);
  if (why === undefined) return undefined;
  return {
    what: `what one ticket cost: ${why}. If that is the price of each, take the next line without its #; if it is that of the order, the export needs a column with the price of a ticket`,
    why: PUBLIC,
  };
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
    const once = orders.find(({ amounts }) => amounts.filter((text) => text !== "").length === 1);
    if (once !== undefined) return `${once.order} has ${rowsText(once.amounts.length)} and one ${name}`;
    const [first] = orders;
    if (mayBeOrders && first !== undefined && orders.every(({ amounts }) => new Set(amounts).size === 1))
      return `${first.order} has ${rowsText(first.amounts.length)} with ${name} ${cleanText(first.amounts[0] ?? "", 20)} each`;
  }
  return undefined;
}

/** Whether a total has no equal parts for the tickets of its row. */
function questionOfRest(price: Column, by: Column | undefined, { rows, currency }: Columns): Question | undefined {
  const [reading] = price.amounts?.readings ?? [];
  if (by === undefined || reading === undefined) return undefined;
  const { divide = 1 } = unitsOf(price, currency)[0] ?? WHOLE;
  const uneven = rows.find((cells) => {
    const divisor = String(Number(textIn(cells, by)) * divide);
    return divideAmount(reading.read(textIn(cells, price)) ?? "", divisor, 2, "error", 1).kind === "does-not-divide";
  });
  if (uneven === undefined) return undefined;
  const shown = `${cleanText(textIn(uneven, price), 20)} for ${cleanText(by.name, 40)} ${cleanText(textIn(uneven, by), 20)}`;
  return {
    what: `what one ticket cost: ${shown} has no equal parts. If it is the total, take the next line without its #, and add remainder: first, by which the first tickets cost one unit more`,
    why: PUBLIC,
  };
}

/** Whether it is open how amounts are written, or in what. */
function questionOfAmounts(price: Column, currency: Column | undefined): Question | undefined {
  const { amounts, name } = price;
  const signs = new Set(amounts?.signs.map((sign) => CODES[sign] ?? sign.toUpperCase()));
  if (signs.size > 1)
    return {
      what: `one of the next lines, without its #, with the sign of the event's currency alone: ${amounts?.signs.map((sign) => cleanText(sign, 10)).join(", ")} stand in this file. An amount with another sign is an error`,
      why: "an event has one currency",
    };
  const [unit, ...others] = unitsOf(price, currency);
  if (unit === undefined || others.length === 0) return undefined;
  return {
    what: `one of the next lines, without its #: whether ${cleanText(name, 40)} counts whole units or ${others[0]?.said}`,
    why: PUBLIC,
  };
}

/** A sign and the code that it stands for are one. */
const CODES: Readonly<Record<string, string>> = { "€": "EUR", "£": "GBP" };

/** What a column counts, and by what whole units are made of it; that is asked where it depends on the currency. */
interface Unit {
  readonly said: string;
  readonly divide?: number;
}

const WHOLE: Unit = { said: "whole units" };
const HUNDREDTHS: Unit = { said: "hundredths", divide: 100 };
const SMALLEST: Unit = { said: "the currency's smallest unit" };
/** What few tickets cost in whole units of most currencies. */
const MUCH = 500;

/** What a column may count: by its name, but decimals speak against hundredths, and large whole numbers for them. */
function unitsOf({ name, values }: Column, currency: Column | undefined): readonly Unit[] {
  const found = minorUnitsIn(name);
  const texts = [...values.keys()].filter((text) => !/^0*$/.test(text));
  const hasDecimals = texts.some((text) => /[.,]\d{1,2}\D*$/.test(text));
  if (found !== undefined) {
    const unit = found === "hundredths" ? HUNDREDTHS : SMALLEST;
    return hasDecimals ? [WHOLE, unit] : [unit];
  }
  const hasNone = [...(currency?.values.keys() ?? [])].some((code) => currencyDigits(code.toUpperCase()) === 0);
  const areLarge = texts.length > 0 && texts.every((text) => /^\d+$/.test(text) && Number(text) >= MUCH);
  return areLarge && !hasNone ? [WHOLE, HUNDREDTHS] : [WHOLE];
}

/** Steps of a rule beside `from`. */
type Steps = Readonly<Record<string, Value | undefined>>;

function waysOf(column: Column, quantity: Column | undefined, currency: Column | undefined): readonly Way[] {
  const { amounts } = column;
  if (amounts === undefined) return [];
  const units = unitsOf(column, currency);
  return units.flatMap((unit) =>
    amountWays(column, amounts, { ...wordSteps(column, amounts), ...divideSteps(unit, quantity) }, unit, quantity),
  );
}

/** Every way in which a column's amounts can be read. */
function amountWays(
  column: Column,
  { signs, readings, isPlain, example }: Amounts,
  more: Steps = {},
  unit: Unit = WHOLE,
  quantity?: Column,
): readonly Way[] {
  return readings.map(({ decimal, thousands, fits, example: read }) => {
    const steps = {
      decimal: isPlain ? undefined : { inQuotes: decimal },
      thousands: thousands === undefined ? undefined : { inQuotes: thousands },
      sign: signs.length === 0 ? undefined : signs.map((text) => ({ inQuotes: text })),
      ...more,
    };
    const isBare = Object.values(steps).every((step) => step === undefined);
    const made = read === undefined ? "no amount" : inWhole(read, unit);
    const notes = [
      `${fits} of ${column.values.size} texts`,
      `${quoted(example)} is ${made}`,
      ...(unit === WHOLE ? [] : [`it counts ${unit.said}`]),
      ...(quantity === undefined ? [] : ["the total of the row is divided"]),
    ];
    return {
      column,
      value: isBare ? template(column) : flow({ from: template(column), ...steps }),
      note: notes.join("; "),
    };
  });
}

/** What words and empty cells among the amounts mean is asked. */
function wordSteps(column: Column, { words }: Amounts): Steps {
  const blanks = column.rows - column.filled;
  return {
    map:
      words.length === 0
        ? undefined
        : flow(
            Object.fromEntries(
              words.map((word) => [word, ask(`its price, such as 0 (${rowsText(column.values.get(word) ?? 0)})`)]),
            ),
          ),
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
export function amountLines(column: Column, amounts: Amounts, more: Steps): readonly Line[] {
  return waysLines(amountWays(column, amounts, more), questionOfAmounts(column, undefined), []);
}
