import { describe, expect, test } from "vitest";
import { parseIso } from "../../../src/mapping/time.ts";

describe("parseIso", () => {
  test.each([
    ["2026-01-15t10:05:30z", 1768471530],
    ["2026-01-15T10:05:30.123456+01:00[Europe/Zurich]", 1768467930],
    ["2026-03-01 09:15:22+0000", 1772356522],
    ["2026-03-01 09:15:22 +00:00", 1772356522],
    ["2024-02-29T00:00:00Z", 1709164800],
    ["2016-12-31T23:59:60Z", 1483228800],
    ["9999-12-31T23:59:59Z", 253402300799],
  ])("reads %s as an instant", (text, seconds) => {
    expect(parseIso(text)).toEqual({ kind: "instant", seconds });
  });

  test.each([
    "2026-02-29T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T10:00:61Z",
    "2026-01-01T10:00:00+99:00",
  ])("knows that %s does not exist", (text) => {
    expect(parseIso(text)).toEqual({ kind: "impossible" });
  });

  test("keeps a time without offset local, with the zone in brackets", () => {
    const local = { year: 2026, month: 5, day: 1, hour: 20, minute: 0, second: 0 };
    expect(parseIso("2026-05-01 20:00")).toEqual({ kind: "local", local });
    expect(parseIso("2026-05-01T20:00[Europe/Berlin]")).toEqual({ kind: "local", local, zone: "Europe/Berlin" });
  });

  test.each(["", "2026-05-01", "1/5/2026 20:00", "20:00", "2026-5-1T20:00Z", "now", "2026-05-01T20:00:00Zx"])(
    "does not read %j",
    (text) => {
      expect(parseIso(text)).toBeUndefined();
    },
  );
});
