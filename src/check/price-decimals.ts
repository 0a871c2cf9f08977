/** Prices with more decimals than their currency has, or with a point that may part thousands. */

import { MOST_CURRENCY_DIGITS } from "../actions/currencies.ts";
import { decimalsOf } from "../actions/identity.ts";
import { about, type Finding } from "../actions/problem.ts";
import { count } from "../actions/text.ts";

/** The currency of an event where it is known, and its decimals where they are. */
export interface Pricing {
  readonly currency: string | undefined;
  readonly digits: number | undefined;
}

/** @returns what is wrong with the decimals of a price in its event's currency. */
export function priceDecimals(price: string, { currency, digits }: Pricing): Omit<Finding, "rule"> | undefined {
  const written = decimalsOf(price);
  if (areFewDecimals(written, digits)) return undefined;
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
  return { ...about("price", price), message, hint };
}

/** Whether prices may have so many decimals, where the currency has `digits` of them, or an unknown number. */
export function areFewDecimals(written: number, digits: number | undefined): boolean {
  // All but a few currencies have fewer than three, and a group of thousands has three.
  return digits === undefined ? written !== 3 && written <= MOST_CURRENCY_DIGITS : written <= digits;
}

/** `1.250`: the point may be one between thousands. */
const LIKE_THOUSANDS = /^[1-9]\d{0,2}\.\d{3}$/;
