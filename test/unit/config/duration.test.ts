import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/config/duration.ts";
import { Failure } from "../../../src/failure.ts";

describe("parseDuration", () => {
  test.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["2m", 120_000],
    ["1h30m", 5_400_000],
    ["1d", 86_400_000],
    ["1m500ms", 60_500],
    ["0s", 0],
    ["007s", 7000],
  ])("reads %s as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    "",
    "90",
    "1.5h",
    "-1s",
    "30m1h",
    "1s1s",
    "1 s",
    "2M",
    "s",
    "1e3s",
    " 1s",
    "1s\n",
    "1h30",
    "25d",
    "99999999999999999999s",
  ])("refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow(Failure);
  });

  test("a bare number is refused with examples of what is meant", () => {
    expect(() => parseDuration("90")).toThrow('"90" is not a duration such as 500ms, 90s, 2m or 1h30m');
  });

  test("formatDuration writes what parseDuration reads", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
