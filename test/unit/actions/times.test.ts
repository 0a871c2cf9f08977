import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, test } from "vitest";
import { clockSeconds, IMPOSSIBLE, instantIn, readIso, zoneOf } from "../../../src/actions/times.ts";

const read = (text: string, zone?: string) => readIso(text, instantIn(zone === undefined ? undefined : zoneOf(zone)));

describe("an ISO time", () => {
  test.each([
    ["2026-01-15t10:05:30z", 1768471530],
    ["2026-01-15T10:05:30.123456+01:00[Europe/Zurich]", 1768467930],
    ["2026-03-01 09:15:22+0000", 1772356522],
    ["2026-03-01 09:15:22 +00:00", 1772356522],
    ["2026-01-15T10:05[Europe/Zurich]", 1768467900],
    ["2024-02-29T00:00:00Z", 1709164800],
    ["2016-12-31T23:59:60Z", 1483228800],
    ["0026-07-01T00:00:00Z", Date.parse("0026-07-01T00:00:00Z") / 1000],
    ["9999-12-31T23:59:59Z", 253402300799],
  ])("%s is the instant %s", (text, seconds) => {
    expect(read(text)).toBe(seconds);
  });

  test.each([
    "2026-02-29T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-01-00T10:00:00",
    "2026-01-01T24:00:00Z",
    "2026-01-01T10:00:61Z",
    "2026-01-01T10:00:00+99:00",
  ])("%s does not exist", (text) => {
    expect(read(text, "UTC")).toBe("impossible");
  });

  test("needs a zone that is known and an hour that its clocks show", () => {
    expect(read("2026-05-01 20:00")).toBe("no-zone");
    expect(read("2026-05-01 20:00", "Europe/Berlin")).toBe(1777658400);
    expect(read("2026-07-01T20:00[BST]", "UTC")).toBe("unknown-zone");
    expect(read("2026-03-29T02:30:00", "Europe/Berlin")).toBe("skipped-hour");
  });

  test.each([
    ...["", "2026-05-01", "1/5/2026 20:00", "20:00", "2026-5-1T20:00Z", "now", "2026-05-01T20:00:00Zx"],
    ...["2026-05-01T20:00:00.Z", "2026-05-01T20:0", "2026-05-01T20:00:", "202x-05-01T20:00Z", "2026-02-30T20:00 x"],
  ])("is not what %j is", (text) => {
    expect(read(text, "UTC")).toBeUndefined();
  });

  test("is any instant that a computer writes", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_000), noInvalidDate: true }),
        (date) => {
          expect(read(date.toISOString())).toBe(Math.floor(date.getTime() / 1000));
        },
      ),
    );
  });
});

test("a clock shows no 29th of February in most years", () => {
  expect(clockSeconds(2023, 2, 29, 0, 0, 0)).toBe(IMPOSSIBLE);
  expect(clockSeconds(1970, 1, 1, 0, 0, 0)).toBe(0);
});

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
