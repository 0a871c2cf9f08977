import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AmountOptions, compileAmount, divideAmount } from "../../../src/map/amount.ts";

const amountIn = (options: Partial<AmountOptions>) =>
  compileAmount({ decimal: undefined, thousands: undefined, signs: [], path: ["s"], ...options });

describe("an amount", () => {
  test.each<[Partial<AmountOptions>, string, string]>([
    [{}, "12.50", "12.50"],
    [{ thousands: "," }, "1,150.00", "1150.00"],
    [{ thousands: "," }, "0.100", "0.100"],
    [{ decimal: ",", thousands: "." }, "1.234.567,89", "1234567.89"],
    [{ decimal: ",", thousands: " " }, "1\u00a0234,5", "1234.5"],
    [{ thousands: "'" }, "1’150.00", "1150.00"],
    [{ thousands: "," }, "1,00,000.00", "100000.00"],
    [{ thousands: "," }, "12,34,56,789", "123456789"],
    [{ decimal: "," }, "12,-", "12"],
    [{}, "٣٠٫٥٠", "30.50"],
    [{ decimal: ",", thousands: "." }, "۳۰٫۵۰", "30.50"],
    [{ thousands: "," }, "١٬٢٣٤٫٥٠", "1234.50"],
    [{}, "３０", "30"],
    [{ signs: ["CHF"] }, "CHF 12.–", "12"],
    [{ signs: ["$"] }, "$60.00", "60.00"],
    [{ signs: ["kr", "kr."] }, "kr.60", "60"],
    [{ signs: ["$"] }, "(15.00)", "-15.00"],
    [{ signs: ["$"] }, "$-15.00", "-15.00"],
    [{ decimal: "," }, "38,50-", "-38.50"],
    [{ decimal: ",", signs: ["EUR"] }, "38,50- EUR", "-38.50"],
  ])("declared %j: %s is %s", (options, text, expected) => {
    expect(amountIn(options)(text)).toBe(expected);
  });

  test.each<[Partial<AmountOptions>, string]>([
    [{}, ".50"],
    [{}, "12."],
    [{ thousands: "," }, "1,00,00"],
    [{ thousands: "," }, "100,00,000"],
    [{ decimal: "," }, "1.250,00"],
    [{ thousands: "," }, "12,50"],
    [{ thousands: "," }, "1,250,00"],
    [{ thousands: "," }, "0,100"],
    [{ thousands: "'" }, "0'250"],
    [{ decimal: ",", thousands: "." }, "0.250"],
    [{ decimal: ",", thousands: "." }, "1234.567"],
  ])("declared %j is not guessed from %s", (options, text) => {
    expect(amountIn(options)(text)).toBeUndefined();
  });

  test.each<[Partial<AmountOptions>, RegExp]>([
    [{ decimal: ",", thousands: "," }, /also the decimal mark/],
    [{ thousands: "." }, /decimal is not declared/],
  ])("declared %j is refused", (options, message) => {
    expect(() => amountIn(options)).toThrow(message);
  });
});

describe("a division", () => {
  test.each([
    ["50.0", "2", 2, "25.00"],
    ["99.9", "3", undefined, "33.3"],
    ["7", "7", 0, "1"],
    ["0.06", "3", undefined, "0.02"],
    ["123456789012345678901234.56", "2", 2, "61728394506172839450617.28"],
  ])("of %s by %s with %s places is %s", (amount, divisor, places, expected) => {
    expect(divideAmount(amount, divisor, places, "error", 1)).toEqual({ kind: "amount", text: expected });
  });

  test.each([
    ["10.00", "3", 2],
    ["10", "4", undefined],
    ["0.001", "1", 2],
  ])("of %s by %s with %s places is refused when nothing is declared", (amount, divisor, places) => {
    expect(divideAmount(amount, divisor, places, "error", 1)).toEqual({ kind: "does-not-divide" });
  });

  test.each([
    ["x", "2", "not-an-amount"],
    ["-5", "2", "not-an-amount"],
    ["9".repeat(100), "2", "not-an-amount"],
    ["5", "0", "not-a-divisor"],
    ["5", "-1", "not-a-divisor"],
  ])("of %s by %s is %s", (amount, divisor, kind) => {
    expect(divideAmount(amount, divisor, 2, "round", 1)).toEqual({ kind });
  });

  test("rounds half up when declared", () => {
    expect(divideAmount("10.00", "3", 2, "round", 1)).toEqual({ kind: "amount", text: "3.33" });
    expect(divideAmount("0.05", "2", 2, "round", 1)).toEqual({ kind: "amount", text: "0.03" });
    expect(divideAmount("20.00", "3", 2, "round", 1)).toEqual({ kind: "amount", text: "6.67" });
  });

  test("gives the rest to the first parts when declared, so that they add up to the total", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 1, max: 50 }), (cents, parts) => {
        const digits = cents.toString().padStart(3, "0");
        const total = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
        let sum = 0n;
        for (let part = 1; part <= parts; part += 1) {
          const quotient = divideAmount(total, String(parts), 2, "first", part);
          sum += quotient.kind === "amount" ? BigInt(quotient.text.replace(".", "")) : -1n;
        }
        expect(sum).toBe(cents);
      }),
    );
    expect(divideAmount("10.00", "3", 1, "first", 1)).toEqual({ kind: "amount", text: "3.4" });
    expect(divideAmount("10.01", "3", 1, "first", 1)).toEqual({ kind: "does-not-divide" });
  });
});
