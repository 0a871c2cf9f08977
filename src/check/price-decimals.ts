/** Prices with more decimals than their currency has, or with a point that may part thousands. */

import { currencyDigits, MOST_CURRENCY_DIGITS } from "../actions/currencies.ts";
import { about, type Problem } from "../actions/problem.ts";
import { count } from "../text.ts";

/** What is said of a price with too many decimals for its event's currency. @param written how many it has. */
export function manyDecimals(price: string, written: number, currency: string | undefined): Problem {
  const digits = currency === undefined ? undefined : currencyDigits(currency);
  const has =
    digits !== undefined
      ? `${currency} has ${digits === 0 ? "none" : digits}`
      : currency === undefined
        ? "and the currency of its event is not known here"
        : `and how many ${currency} has is not known`;
  const hint = LIKE_THOUSANDS.test(price)
    ? `If these are thousands (${price.replace(".", "")}), write it so, or declare in the source how the file writes them: decimal: ",", thousands: ".".`
    : "Check that the event's currency is right and that the price is not a computed one.";
  const message = `price has ${count(written, "decimal")}, ${has}.`;
  return { rule: "currency-decimals", ...about("price", price), message, hint };
}

/** Whether prices in a currency, known or not, may have so many decimals. */
export function areFewDecimals(written: number, currency: string | undefined): boolean {
  const digits = currency === undefined ? undefined : currencyDigits(currency);
  // All but a few currencies have fewer than three, and a group of thousands has three.
  return digits === undefined ? written !== 3 && written <= MOST_CURRENCY_DIGITS : written <= digits;
}

/** `1.250`: the point may be one between thousands. */
const LIKE_THOUSANDS = /^[1-9]\d{0,2}\.\d{3}$/;
