/** Rules for prices: which column, how its amounts are written, and what they are divided by. */

import { currencyDigits } from "../actions/currencies.ts";
import { cleanText } from "../actions/text.ts";
import { divideAmount } from "../mapping/amount.ts";
import { type AmountEvidence, type AmountReading, amountsOf } from "./amount-evidence.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { minorUnitsIn, tellsTicketPrice, tellsTotal } from "./header-words.ts";
import type { Columns } from "./unknown-columns.ts";
import { ask, inner, namesText, ONE_OF_THE_NEXT, quoted, rowsText, template } from "./words.ts";

/** A column of amounts, to be divided by the number of tickets or not. */
interface PriceChoice {
  readonly column: ColumnProfile;
  readonly quantity: ColumnProfile | undefined;
}

export function priceLinesOf(
  { price, prices, currency }: Columns,
  quantity: ColumnProfile | undefined,
): readonly string[] {
  if (price === undefined) return priceLines(undefined, [], quantity, currency);
  const choices = (areRivals(prices) ? prices : [price]).flatMap((column): readonly PriceChoice[] => {
    if (quantity === undefined || tellsTotal(column.name)) return [{ column, quantity }];
    const each = { column, quantity: undefined };
    return tellsTicketPrice(column.name) ? [each] : [each, { column, quantity }];
  });
  const [only, ...more] = choices;
  if (more.length > 0 || only === undefined) return choiceLines(choices, currency);
  const others = prices.filter((column) => column !== price);
  return priceLines(only.column, others, only.quantity, currency);
}

/** Whether the columns say different things: what was paid in all, or without a fee, beside another amount. */
export const areRivals = (prices: readonly ColumnProfile[]): boolean =>
  prices.length > 1 && prices.some(({ name }) => tellsTotal(name));

/** Every amount that may be what one ticket cost, for the user to choose from. */
export function choiceLines(choices: readonly PriceChoice[], currency: ColumnProfile | undefined): readonly string[] {
  const names = new Set(choices.slice(0, 6).map(({ column }) => cleanText(column.name, 40)));
  return [
    `price: ${ask(`one of the next lines, without its #: what one ticket cost, by ${[...names].join(" or ")}`)}   # a price is public for good; remove this line`,
    ...choices.flatMap(({ column, quantity }) =>
      priceLines(column, [], quantity, currency).flatMap((line) => (line.startsWith("#") ? line : asChoice(line))),
    ),
  ];
}

/** A rule as a comment; what asks which rule is right is asked already. */
const asChoice = (line: string): readonly string[] =>
  line.includes(`: ${ONE_OF_THE_NEXT}`) ? [] : [`#${line.replace("# guess: ", "# ")}`];

function priceLines(
  price: ColumnProfile | undefined,
  others: readonly ColumnProfile[],
  quantity: ColumnProfile | undefined,
  currency: ColumnProfile | undefined,
): readonly string[] {
  if (price === undefined) return [`price: ${ask("no column looks like a price")}`];
  const evidence = amountsOf(price);
  if (evidence === undefined)
    return [`price: ${ask("its texts are no amounts in any one way")}   # perhaps ${template(price)}`];
  const blank = price.filled < price.rows ? ', blank: "0"' : "";
  const also = others.length === 0 ? "" : `; also ${namesText(others)}`;
  const blankNote = blank === "" ? "" : `; ${rowsText(price.rows - price.filled)} without one: is that 0?`;
  const unit = unitOf(price, currency);
  if (unit !== undefined && [...price.values.keys()].some((text) => /[.,]\d{1,2}\D*$/.test(text)))
    return [
      `price: ${ONE_OF_THE_NEXT}   # by its name it counts ${unit.said}, by its decimals it does not; remove this line`,
      ...amountRules(price, evidence, blank).map((rule) => `#price: ${rule}`),
      ...amountRules(price, evidence, `${blank}${dividedBy(unit, quantity)}`).map((rule) => `#price: ${rule}`),
    ];
  const divide =
    unit !== undefined
      ? dividedBy(unit, quantity)
      : quantity === undefined
        ? ""
        : `, divide: ${template(quantity)}, places: 2`;
  const unitNote = unit === undefined || unit.digits === 0 ? "" : `; by its name it counts ${unit.said}`;
  if (evidence.isPlain && blank === "")
    return [
      divide === ""
        ? `price: ${template(price)}   # guess: all ${rowsText(price.rows)} have digits with a decimal point or none, such as ${cleanText(evidence.example, 20)}${also}`
        : `price: {from: ${template(price)}${divide}}   # guess: ${quantity === undefined ? `by its name it counts ${unit?.said ?? ""}${inWhole(evidence.example, unit)}` : `the column holds the total of the row${unitNote}`}${also}`,
    ];
  return amountLines(price, evidence, `${blank}${divide}`, `${blankNote}${unitNote}${also}`);
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

/** `, divide: "100", places: 2`; of an order of several tickets by their number, too. */
function dividedBy({ digits }: Unit, quantity: ColumnProfile | undefined): string {
  const number = quantity === undefined ? "1" : inner(quantity);
  if (digits === undefined)
    return `, divide: ${ask(`${number}00 for a currency with two decimals; ${number}000 and places: 3 for one with three; for one without, ${quantity === undefined ? "leave divide and places out" : `${number} and places: 0`}`)}, places: 2`;
  if (digits === 0) return quantity === undefined ? "" : `, divide: ${template(quantity)}, places: 0`;
  const zeros = "0".repeat(digits);
  return `, divide: ${JSON.stringify(`${number}${zeros}`)}, places: ${digits}`;
}

/** `; 2500 is 25.00` */
function inWhole(amount: string, unit: Unit | undefined): string {
  if (unit?.digits === undefined) return "";
  const found = divideAmount(amount, `1${"0".repeat(unit.digits)}`, unit.digits, "error", 1);
  return found.kind === "amount" ? `; ${cleanText(amount, 20)} is ${found.text}` : "";
}

/** Every way in which a column's amounts can be read. */
function amountRules(column: ColumnProfile, { signs, readings }: AmountEvidence, more: string): readonly string[] {
  const sign = signs.length === 0 ? "" : `, sign: [${signs.map((text) => JSON.stringify(text)).join(", ")}]`;
  return readings.map(
    ({ decimal, thousands }) =>
      `{from: ${template(column)}, decimal: "${decimal}"${thousands === undefined ? "" : `, thousands: ${JSON.stringify(thousands)}`}${sign}${more}}`,
  );
}

/** The only way in which a column's amounts can be read, or all of them as comments for the user to choose from. */
export function amountLines(
  column: ColumnProfile,
  evidence: AmountEvidence,
  more: string,
  note = "",
): readonly string[] {
  const { readings, example } = evidence;
  const rules = amountRules(column, evidence, more);
  const told = ({ fits, example: read }: AmountReading) =>
    `${fits} of ${column.values.size} texts; ${quoted(example)} is ${read ?? "no amount"}${note}`;
  const [only, ...others] = readings;
  if (only !== undefined && others.length === 0)
    return [`price: ${rules[0]}   # guess: the only way that fits, ${told(only)}`];
  return [
    `price: ${ONE_OF_THE_NEXT}   # how amounts are written is never guessed; remove this line`,
    ...readings.map((reading, at) => `#price: ${rules[at]}   # reads ${told(reading)}`),
  ];
}
