/**
 * ISO 4217: the codes in use, the codes withdrawn, and the digits of their minor units. From a table in this folder and not from
 * `Intl`, whose answer differs between versions of Node: the same file must have the same problems everywhere.
 */

import { CODES_BY_DIGITS, WITHDRAWN_CODES } from "./currency-table.ts";

const DIGITS: ReadonlyMap<string, number | undefined> = new Map(
  Object.entries(CODES_BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(" ").map((code) => [code, digits === "none" ? undefined : Number(digits)]),
  ),
);
const WITHDRAWN: ReadonlySet<string> = new Set(WITHDRAWN_CODES.split(" "));

/** Every code that ISO 4217 lists or once listed, in order. */
export const CURRENCY_CODES: readonly string[] = [...new Set([...DIGITS.keys(), ...WITHDRAWN])].sort();

/** The codes that someone may have meant: current ones that are money. */
export const COMMON_CURRENCIES: readonly string[] = CURRENCY_CODES.filter(
  (code) => currencyDigits(code) !== undefined && !isWithdrawnCurrency(code),
);

export function isCurrency(code: string): boolean {
  return DIGITS.has(code) || WITHDRAWN.has(code);
}

/** True for a code that ISO 4217 once listed and no longer does. */
export function isWithdrawnCurrency(code: string): boolean {
  return WITHDRAWN.has(code);
}

/** Decimal digits of a currency's minor unit; undefined for what is not money or was withdrawn long ago. */
export function currencyDigits(code: string): number | undefined {
  return DIGITS.get(code);
}

/** The most that any currency has. */
export const MOST_CURRENCY_DIGITS: number = Math.max(...COMMON_CURRENCIES.map((code) => currencyDigits(code) ?? 0));
