import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, test } from "vitest";
import { clockSeconds } from "../../../src/actions/times.ts";
import { zoneOf } from "../../../src/actions/zones.ts";

function instant(zone: string, text: string): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/\D/).map(Number);
  return zoneOf(zone)?.(clockSeconds(year, month, day, hour, minute, second));
}

const utc = (text: string) => Date.parse(text) / 1000;

describe("a local time", () => {
  test.each([
    ["Europe/Berlin", "2025-10-26 02:00:00", "2025-10-26T00:00:00Z"],
    ["Europe/Berlin", "2025-10-26 03:00:00", "2025-10-26T02:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-05 01:45:00", "2026-04-04T14:45:00Z"],
  ])("that occurs twice in %s, %s, is the earlier one", (zone, local, expected) => {
    expect(instant(zone, local)).toBe(utc(expected));
  });

  test.each([
    ["Europe/Berlin", "2026-03-29 02:00:00"],
    ["Australia/Lord_Howe", "2026-10-04 02:15:00"],
    ["Pacific/Apia", "2011-12-30 12:00:00"],
  ])("that the clocks of %s skip, %s, is none", (zone, local) => {
    expect(instant(zone, local)).toBeUndefined();
    expect(instant(zone, "2026-03-29 03:00:00")).toBeDefined();
  });

  test("comes back from every instant, except the later one of an hour that occurs twice", () => {
    const zones = [
      "Europe/Berlin",
      "America/New_York",
      "Africa/Casablanca",
      "Asia/Kolkata",
      "Pacific/Chatham",
      "America/Sao_Paulo",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: utc("2045-01-01T00:00:00Z") }),
        (zone, seconds) => {
          const at = DateTime.fromSeconds(seconds, { zone });
          const { year, month, day, hour, minute, second } = at;
          const found = zoneOf(zone)?.(clockSeconds(year, month, day, hour, minute, second));
          const earliest = Math.min(...at.getPossibleOffsets().map((each) => each.toSeconds()));
          expect(found).toBe(earliest);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("has no unknown zone", () => {
    expect(zoneOf("Europe/Berln")).toBeUndefined();
  });
});
