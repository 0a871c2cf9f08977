import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/config/duration.ts";
import { Failure } from "../../../src/failure.ts";

describe("parseDuration", () => {
  test.each([
    ["500ms", 500],
    ["1h30m", 5_400_000],
    ["1d", 86_400_000],
    ["1m500ms", 60_500],
    ["0s", 0],
  ])("reads %s as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "90", "1.5h", "30m1h", "1s1s", "1s\n", "25d", "99999999999999999999s"])("refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow(Failure);
  });

  test("formatDuration writes what parseDuration reads", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
