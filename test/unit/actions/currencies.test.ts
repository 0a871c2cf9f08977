import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CURRENCY_TABLE, currencyTable } from "../../../scripts/currencies.ts";
import {
  COMMON_CURRENCIES,
  currencyDigits,
  isCurrency,
  isWithdrawnCurrency,
  MOST_CURRENCY_DIGITS,
} from "../../../src/actions/currencies.ts";

it("the table is what npm run generate writes", () => {
  const written = readFileSync(fileURLToPath(new URL(`../../../${CURRENCY_TABLE}`, import.meta.url)), "utf8");
  expect(written).toBe(currencyTable());
});

describe("a code that ISO 4217 no longer lists is known, and withdrawn", () => {
  it.each(["DEM", "HRK", "ZWL", "FRF", "SLL", "LTL", "ANG", "BGN", "CUC"])("%s", (code) => {
    expect([isCurrency(code), isWithdrawnCurrency(code), COMMON_CURRENCIES.includes(code)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("a code that ISO 4217 lists is known, and not withdrawn", () => {
  it.each(["EUR", "USD", "JPY", "CUP", "SVC", "SLE", "XAD", "XCG", "XXX", "ZWG"])("%s", (code) => {
    expect([isCurrency(code), isWithdrawnCurrency(code)]).toEqual([true, false]);
  });
});

describe("a code that ISO 4217 never listed is not known, whatever CLDR has", () => {
  it.each(["QQQ", "CNH", "BGO", "eur", ""])("%j", (code) => {
    expect([isCurrency(code), isWithdrawnCurrency(code)]).toEqual([false, false]);
  });
});

describe("decimals are those of ISO 4217", () => {
  it.each([
    ["EUR", 2],
    ["JPY", 0],
    ["KWD", 3],
    ["CLF", 4],
    ["HUF", 2],
    ["IQD", 3],
    ["XAF", 0],
    ["XAD", 2],
    ["XCG", 2],
    ["BGN", 2],
    ["XAU", undefined],
    ["XXX", undefined],
    ["DEM", undefined],
    ["QQQ", undefined],
  ] as const)("%s has %s", (code, digits) => expect(currencyDigits(code)).toBe(digits));

  it("no currency has more than four", () => expect(MOST_CURRENCY_DIGITS).toBe(4));
});
