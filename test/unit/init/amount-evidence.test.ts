/** What cells show of how amounts are written. */

import { describe, expect, test } from "vitest";
import { amountsOf, isMoney, isQuantity, readsAll } from "../../../src/init/amount-evidence.ts";
import { profileColumn } from "../../../src/init/column-profile.ts";

const columnOf = (...cells: readonly string[]) => profileColumn("Price", 0, cells);

describe("amounts", () => {
  test.each<[readonly string[], readonly string[], readonly string[]]>([
    [["12.50", "7"], [".-"], []],
    [["12,50"], [",-"], []],
    [["1.250,00 €", "7,00 €"], [",."], ["€"]],
    [["$1,150", "$60"], [".,", ",-"], ["$"]],
    [["1'250.00"], [".'"], []],
    [["1 250,00"], [", "], []],
  ])("%j can be read as %j", (cells, ways, signs) => {
    const found = amountsOf(columnOf(...cells));
    expect(found?.readings.map(({ decimal, thousands }) => `${decimal}${thousands ?? "-"}`)).toEqual(ways);
    expect(found?.signs).toEqual(signs);
  });

  test("are none where more than one in ten is not, and in an empty column", () => {
    expect(amountsOf(columnOf("12.50", "free"))).toBeUndefined();
    expect(amountsOf(columnOf("", ""))).toBeUndefined();
    expect(amountsOf(columnOf(...Array.from({ length: 19 }, (_, at) => `${at}.00`), "free"))).toBeDefined();
  });

  test("with digits and a point at most have nothing to decide", () => {
    expect(amountsOf(columnOf("12.50", "1.2345"))?.isPlain).toBe(true);
    expect(amountsOf(columnOf("1.250"))?.isPlain).toBe(false);
  });
});

test("a way reads a column where it reads every text", () => {
  const options = { decimal: ",", thousands: undefined, signs: [] } as const;
  expect(readsAll(columnOf("1,50", "2"), options)).toBe(true);
  expect(readsAll(columnOf("1,50", "2.00"), options)).toBe(false);
});

test("money has a sign or two decimals, a number of tickets is small and somewhere more than one", () => {
  expect([columnOf("1.50"), columnOf("€ 7"), columnOf("7")].map(isMoney)).toEqual([true, true, false]);
  expect([columnOf("1", "2"), columnOf("1"), columnOf("1000", "2")].map(isQuantity)).toEqual([true, false, false]);
});
