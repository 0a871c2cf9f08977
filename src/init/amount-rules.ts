/** Rules for prices: which column, how its amounts are written, and what they are divided by. */

import { currencyDigits } from "../actions/currencies.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { divideAmount } from "../map/amount.ts";
import { type AmountEvidence, type AmountReading, amountsOf } from "./amount-evidence.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { flow, type Line, type Value } from "./config-text.ts";
import { minorUnitsIn, tellsOrder, tellsOrderAmount, tellsTicketPrice, tellsTotal } from "./header-words.ts";
import type { Columns } from "./unknown-columns.ts";
import {
  allRowsText,
  alsoText,
  ask,
  choice,
  inner,
  ONE_OF_THE_NEXT,
  rowsText,
  template,
  templateText,
} from "./words.ts";

/** A column of amounts, to be divided by the number of tickets or not. */
interface PriceChoice {
  readonly column: ColumnProfile;
  readonly quantity: ColumnProfile | undefined;
}

export function priceLinesOf(columns: Columns, quantity: ColumnProfile | undefined): readonly Line[] {
  const { price, prices, currency, ticketLists } = columns;
  if (price === undefined) return priceLines(undefined, [], quantity, currency);
  const shared = quantity === undefined ? sharedInOrders(price, columns) : undefined;
  if (shared !== undefined && !areRivals(prices)) return sharedLines(price, whyShared(price, shared), currency);
  if (ticketLists !== undefined && !tellsTicketPrice(price.name) && !areRivals(prices))
    return sharedLines(
      price,
      `a row may have several ${cleanText(ticketLists, 40)} and one ${cleanText(price.name, 40)}`,
      currency,
    );
  const choices = (areRivals(prices) ? prices : [price]).flatMap((column): readonly PriceChoice[] => {
    if (quantity === undefined || (tellsTotal(column.name) && !isAlike(column, quantity, columns.rows)))
      return [{ column, quantity }];
    const each = { column, quantity: undefined };
    return tellsTicketPrice(column.name) ? [each] : [each, { column, quantity }];
  });
  const [only, ...more] = choices;
  if (more.length > 0 || only === undefined) return choiceLines(choices, currency);
  const others = prices.filter((column) => column !== price);
  return priceLines(only.column, others, only.quantity, currency);
}

/** Whether an amount is the same for different numbers of tickets, as the price of one is. */
function isAlike(amount: ColumnProfile, quantity: ColumnProfile, rows: Columns["rows"]): boolean {
  const filled = rows.filter((cells) => textOf(cells, amount) !== "" && textOf(cells, quantity) !== "");
  const ofAmounts = Map.groupBy(filled, (cells) => textOf(cells, amount));
  return [...ofAmounts].some(
    ([text, of]) => /[1-9]/.test(text) && new Set(of.map((cells) => textOf(cells, quantity))).size > 1,
  );
}

/** Rows of one order, which all have the same amount. */
interface Shared {
  readonly order: string;
  readonly rows: number;
  readonly amount: string;
}

/**
 * The first order of several rows, where the name of the amount may mean an order's and no order has two: then each of its rows
 * may show what all of them cost.
 */
function sharedInOrders(price: ColumnProfile, { all, rows, ticket }: Columns): Shared | undefined {
  if (!tellsOrderAmount(price.name)) return undefined;
  for (const column of all) {
    if (column === ticket || column === price || !tellsOrder(column.name) || column.values.size === column.filled)
      continue;
    const orders = Map.groupBy(
      rows.filter((cells) => textOf(cells, column) !== ""),
      (cells) => textOf(cells, column),
    );
    const several = [...orders].filter(([, ofOrder]) => ofOrder.length > 1);
    const areShared = several.every(([, ofOrder]) => new Set(ofOrder.map((cells) => textOf(cells, price))).size === 1);
    const [order, ofOrder = []] = several[0] ?? [];
    if (order !== undefined && areShared)
      return { order, rows: ofOrder.length, amount: textOf(ofOrder[0] ?? [], price) };
  }
  return undefined;
}

const textOf = (cells: readonly string[], { index }: ColumnProfile): string => (cells[index] ?? "").trim();

const whyShared = (price: ColumnProfile, { order, rows, amount }: Shared): string =>
  `${cleanText(order, 40)} has ${rows} rows with ${cleanText(price.name, 40)} ${cleanText(amount, 20)} each`;

/** @param why an amount may be that of several tickets. */
const sharedLines = (price: ColumnProfile, why: string, currency: ColumnProfile | undefined): readonly Line[] => [
  {
    key: "price",
    value: ask(
      `what one ticket cost: ${why}. If that is the price of each, take the next line without its #; if it is that of the order, the export needs a column with the price of a ticket`,
    ),
    note: "a price is public for good; remove this line",
  },
  ...priceLines(price, [], undefined, currency).flatMap(asChoice),
];

/** Whether the columns mean different things: what was paid in all, or without a fee, beside another amount. */
export const areRivals = (prices: readonly ColumnProfile[]): boolean =>
  prices.length > 1 && prices.some(({ name }) => tellsTotal(name));

/** Every amount that may be what one ticket cost, for the user to choose from. */
export function choiceLines(choices: readonly PriceChoice[], currency: ColumnProfile | undefined): readonly Line[] {
  const names = new Set(choices.slice(0, 6).map(({ column }) => cleanText(column.name, 40)));
  return [
    {
      key: "price",
      value: ask(`one of the next lines, without its #: what one ticket cost, by ${[...names].join(" or ")}`),
      note: "a price is public for good; remove this line",
    },
    ...choices.flatMap(({ column, quantity }) => priceLines(column, [], quantity, currency).flatMap(asChoice)),
  ];
}

/** A rule as a comment; the question which rule is right stands above it. */
function asChoice(line: Line): readonly Line[] {
  if ("comment" in line) return [line];
  return line.value === ONE_OF_THE_NEXT ? [] : [choice(line)];
}

/** Steps of a rule beside `from`. */
type Steps = Readonly<Record<string, Value | undefined>>;

function priceLines(
  price: ColumnProfile | undefined,
  others: readonly ColumnProfile[],
  quantity: ColumnProfile | undefined,
  currency: ColumnProfile | undefined,
): readonly Line[] {
  if (price === undefined) return [{ key: "price", value: ask("no column looks like a price") }];
  const evidence = amountsOf(price);
  if (evidence === undefined)
    return [
      {
        key: "price",
        value: ask("its texts can't all be read as amounts in one way"),
        note: `perhaps ${templateText(price)}`,
      },
    ];
  const blank: Steps = price.filled < price.rows ? { blank: { inQuotes: "0" } } : {};
  const also = alsoText(others);
  const unit = unitOf(price, currency);
  if (unit !== undefined && [...price.values.keys()].some((text) => /[.,]\d{1,2}\D*$/.test(text)))
    return [
      {
        key: "price",
        value: ONE_OF_THE_NEXT,
        note: `by its name it counts ${unit.said}, by its decimals it does not; remove this line`,
      },
      ...[blank, { ...blank, ...dividedBy(unit, quantity) }].flatMap((more) =>
        amountRules(price, evidence, more).map((value) => choice({ key: "price", value })),
      ),
    ];
  const divide = divideOf(unit, quantity);
  const unitNote = unit === undefined || unit.digits === 0 ? "" : `; by its name it counts ${unit.said}`;
  if (!evidence.isPlain || price.filled < price.rows) {
    const empty = price.rows - price.filled;
    const blankNote = empty === 0 ? "" : `; ${rowsText(empty)} without one: is that 0?`;
    return amountLines(price, evidence, { ...blank, ...divide }, `${blankNote}${unitNote}${also}`);
  }
  if (Object.keys(divide).length === 0 && mayBeHundredths(price, currency)) return perhapsHundredths(price, evidence);
  if (Object.keys(divide).length === 0)
    return [
      {
        key: "price",
        value: template(price),
        note: `guess: ${allRowsText(price.rows)} ${price.rows === 1 ? "has" : "have"} digits with a decimal point or none, such as ${cleanText(evidence.example, 20)}${also}`,
      },
    ];
  const why =
    quantity === undefined
      ? `by its name it counts ${unit?.said ?? ""}${inWhole(evidence.example, unit)}`
      : `the column holds the total of the row${unitNote}`;
  return [{ key: "price", value: flow({ from: template(price), ...divide }), note: `guess: ${why}${also}` }];
}

/** What few tickets cost in whole units of most currencies. */
const MUCH = 500;

/** Whether amounts may be in hundredths though no name says so, as programs give them: all are whole, and none is small. */
function mayBeHundredths({ values }: ColumnProfile, currency: ColumnProfile | undefined): boolean {
  const amounts = [...values.keys()].filter((text) => !/^0+$/.test(text));
  const digits = [...(currency?.values.keys() ?? [])].map((code) => currencyDigits(code.toUpperCase()));
  return (
    amounts.length > 0 && !digits.includes(0) && amounts.every((text) => /^\d+$/.test(text) && Number(text) >= MUCH)
  );
}

function perhapsHundredths(price: ColumnProfile, { example }: AmountEvidence): readonly Line[] {
  const hundredths: Unit = { said: "hundredths", digits: 2 };
  return [
    {
      key: "price",
      value: ask(
        `one of the next lines, without its #: whether ${cleanText(price.name, 40)} counts whole units or hundredths`,
      ),
      note: "a price is public for good; remove this line",
    },
    choice({ key: "price", value: template(price), note: `${cleanText(example, 20)} as it stands` }),
    choice({
      key: "price",
      value: flow({ from: template(price), ...dividedBy(hundredths, undefined) }),
      note: `if it counts hundredths${inWhole(example, hundredths)}`,
    }),
  ];
}

/** How the total of a row, or an amount in the currency's smallest unit, is divided. */
function divideOf(unit: Unit | undefined, quantity: ColumnProfile | undefined): Steps {
  if (unit !== undefined) return dividedBy(unit, quantity);
  return quantity === undefined ? {} : { divide: template(quantity), places: "2" };
}

/** The parts of a currency's unit that a column counts. */
interface Unit {
  readonly said: string;
  /** Decimals of the currency; undefined where they are not known. */
  readonly digits: number | undefined;
}

function unitOf({ name }: ColumnProfile, currency: ColumnProfile | undefined): Unit | undefined {
  const found = minorUnitsIn(name);
  if (found === undefined) return undefined;
  if (found === "hundredths") return { said: "hundredths", digits: 2 };
  const [only, ...others] = currency?.values.keys() ?? [];
  const digits = only === undefined || others.length > 0 ? undefined : currencyDigits(only.toUpperCase());
  return {
    said:
      digits === undefined || only === undefined
        ? "the currency's smallest unit"
        : `the smallest unit of ${only.toUpperCase()}`,
    digits,
  };
}

/** `divide: "100", places: 2`; of an order of several tickets by their number, too. */
function dividedBy({ digits }: Unit, quantity: ColumnProfile | undefined): Steps {
  const number = quantity === undefined ? "1" : inner(quantity);
  if (digits === undefined) {
    const without = quantity === undefined ? "leave divide and places out" : `${number} and places: 0`;
    return {
      divide: ask(
        `${number}00 for a currency with two decimals; ${number}000 and places: 3 for one with three; for one without, ${without}`,
      ),
      places: "2",
    };
  }
  if (digits === 0) return quantity === undefined ? {} : { divide: template(quantity), places: "0" };
  return { divide: { inQuotes: `${number}${"0".repeat(digits)}` }, places: String(digits) };
}

/** `; 2500 is 25.00` */
function inWhole(amount: string, unit: Unit | undefined): string {
  if (unit?.digits === undefined) return "";
  const found = divideAmount(amount, `1${"0".repeat(unit.digits)}`, unit.digits, "error", 1);
  return found.kind === "amount" ? `; ${cleanText(amount, 20)} is ${found.text}` : "";
}

/** Every way in which a column's amounts can be read. */
const amountRules = (column: ColumnProfile, { signs, readings }: AmountEvidence, more: Steps): readonly Value[] =>
  readings.map(({ decimal, thousands }) =>
    flow({
      from: template(column),
      decimal: { inQuotes: decimal },
      thousands: thousands === undefined ? undefined : { inQuotes: thousands },
      sign: signs.length === 0 ? undefined : signs.map((text) => ({ inQuotes: text })),
      ...more,
    }),
  );

/** A sign and the code that it stands for are one. */
const CODES: Readonly<Record<string, string>> = { "€": "EUR", "£": "GBP" };

const currenciesIn = ({ signs }: AmountEvidence): ReadonlySet<string> =>
  new Set(signs.map((sign) => CODES[sign] ?? sign.toUpperCase()));

/** The only way in which a column's amounts can be read, or all of them as comments for the user to choose from. */
export function amountLines(
  column: ColumnProfile,
  evidence: AmountEvidence,
  more: Steps = {},
  note = "",
): readonly Line[] {
  const told = ({ fits, example: read }: AmountReading) =>
    `${fits} of ${column.values.size} texts; ${quoted(evidence.example)} is ${read ?? "no amount"}${note}`;
  const rules = amountRules(column, evidence, more);
  const ways = evidence.readings.flatMap((reading, at) => {
    const value = rules[at];
    return value === undefined ? [] : [{ key: "price", value, reading }];
  });
  const [only, ...others] = ways;
  if (currenciesIn(evidence).size > 1)
    return [
      {
        key: "price",
        value: ask(
          `one of the next lines, without its #, with the sign of the event's currency alone: ${evidence.signs.map((sign) => cleanText(sign, 10)).join(", ")} stand in this file. An amount with another sign is an error`,
        ),
        note: "an event has one currency; remove this line",
      },
      ...ways.map(({ key, value, reading }) => choice({ key, value, note: `reads ${told(reading)}` })),
    ];
  if (only !== undefined && others.length === 0)
    return [{ key: "price", value: only.value, note: `guess: the only way that fits, ${told(only.reading)}` }];
  return [
    { key: "price", value: ONE_OF_THE_NEXT, note: "how amounts are written is never guessed; remove this line" },
    ...ways.map(({ key, value, reading }) => choice({ key, value, note: `reads ${told(reading)}` })),
  ];
}
