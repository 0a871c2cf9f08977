import { describe, expect, test } from "vitest";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { MappingError } from "../../../src/map/mapping-error.ts";
import { compileTime, type TimeOptions } from "../../../src/map/time-format.ts";

const path = ["sources", "s"];
const timeIn = (formats: readonly string[], zone?: string, rest: Partial<TimeOptions> = {}) =>
  compileTime({ formats, path, zone, ...rest });

const iso = (seconds: number | ExactNumber) => new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");

/** Beside the usual ones, each of which is read in likely-formats.test.ts. */
describe("a time format", () => {
  test.each([
    ["d.M.yyyy h:mm a", "1.2.2026 12:30 am", "2026-02-01T00:30:00Z"],
    ["d.M.yyyy h:mm a", "1.2.2026 12:30 p.m.", "2026-02-01T12:30:00Z"],
    ["MMM d, yyyy h:mm a", "Sept 26, 2026 7:05\u202fPM", "2026-09-26T19:05:00Z"],
    ["MMMM d, yyyy HH:mm Z", "March 1, 2026 09:15 +0130", "2026-03-01T07:45:00Z"],
    ["yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2026-03-01T09:15:22.123456-08:00", "2026-03-01T17:15:22Z"],
    ["d. MMMM yyyy 'um' H 'o''clock'", "1. march 2026 um 9 o'clock", "2026-03-01T09:00:00Z"],
    ["d MMM yyyy", "3 märz 2026", "2026-03-03T00:00:00Z"],
    ["d MMM yyyy", "3 févr. 2026", "2026-02-03T00:00:00Z"],
    ["EEEE, d 'de' MMMM 'de' yyyy", "Sexta-feira, 27 de novembro de 2026", "2026-11-27T00:00:00Z"],
    ["EEE MMM d yyyy HH:mm:ss Z", "Fri Nov 27 2026 19:15:03 GMT+0100 (CET)", "2026-11-27T18:15:03Z"],
    ["d/M/yyyy h:mm a", "27/11/2026 1:05 p. m.", "2026-11-27T13:05:00Z"],
    ["spreadsheet", "46353", "2026-11-27T00:00:00Z"],
    ["unix-ms", "1756710902999", "2025-09-01T07:15:02Z"],
    ["unix-ms", "/Date(1756710902999+0200)/", "2025-09-01T07:15:02Z"],
    ["yyyy-MM-dd HH:mm", "٢٠٢٦-١١-٢٧ ١٩:١٥", "2026-11-27T19:15:00Z"],
    ["iso", "२०२६-११-२७T१९:१५:०३Z", "2026-11-27T19:15:03Z"],
  ])("%s reads %s", (format, text, expected) => {
    const read = timeIn([format], "UTC")(text);
    expect(typeof read === "number" ? iso(read) : read).toBe(expected);
  });

  test.each([
    ["yyyy-MM-dd", "2026-3-1"],
    ["yyyy-MM-dd", "2026-03-01 "],
    ["d.M.yy", "1.2.2026"],
    ["MMM d yyyy", "March 1 2026"],
    ["MMM d yyyy", "Jui 1 2026"],
    ["d MMMM yyyy", "1 Brumaire 2026"],
    ["spreadsheet", "1756710902"],
    ["unix", "1756710902.5"],
  ])("%s does not read %s", (format, text) => {
    expect(timeIn([format], "UTC")(text)).toBeUndefined();
  });

  test.each([
    ["d/M/yyyy", "31/2/2026", "impossible"],
    ["d/M/yyyy H:mm", "3/3/2026 24:00", "impossible"],
    ["d/M/yyyy h:mm a", "3/3/2026 13:00 PM", "impossible"],
    ["EEE d MMM yyyy", "Fri 28 May 2026", "impossible"],
    ["iso", "2026-07-01T20:00[BST]", "unknown-zone"],
  ])("%s knows that %s is %s", (format, text, kind) => {
    expect(timeIn([format], "UTC")(text)).toBe(kind);
  });

  test("tells a local time without a zone, and one that the clocks skip", () => {
    expect(timeIn(["iso"])("2026-03-29T02:30:00")).toBe("no-zone");
    expect(timeIn(["iso"], "Europe/Berlin")("2026-03-29T02:30:00")).toBe("skipped-hour");
  });

  test("takes 'Z' and 'UTC' for the zone, whatever the source's is", () => {
    const read = timeIn(["yyyyMMdd'T'HHmmss'Z'", "d.M.yyyy H:mm 'UTC'"]);
    expect([read("20261127T191503Z"), read("27.11.2026 19:15 UTC")]).toEqual([1795806903, 1795806900]);
    expect(timeIn(["spreadsheet"], "Europe/Berlin")("46353.5")).toBe(1795777200);
  });

  test("of several is the first that fits", () => {
    const read = timeIn(["yyyy-MM-dd HH:mm:ss", "iso", "unix"], "Europe/Berlin");
    expect(read("2026-01-01 01:00:00")).toBe(1767225600);
    expect(read("2026-01-01T00:00:00Z")).toBe(1767225600);
    expect(read("1767225600")).toBe(1767225600);
    expect(read("18446744073709551615")).toEqual(new ExactNumber("18446744073709551615"));
    expect(read("01.01.2026")).toBeUndefined();
    expect(timeIn(["unix-ms"])("18446744073709551615")).toBeUndefined();
  });

  test.each([
    ["2026-05-09 05:59", "2026-05-10T05:59:00Z"],
    ["2026-05-09 06:00", "2026-05-09T06:00:00Z"],
    ["2026-05-31 00:00", "2026-06-01T00:00:00Z"],
  ])("with a rollover takes %s as %s", (text, expected) => {
    const read = timeIn(["yyyy-MM-dd HH:mm"], "UTC", { rollover: "06:00" })(text);
    expect(typeof read === "number" && iso(read)).toBe(expected);
  });

  test.each<[readonly string[], string | undefined, string, RegExp]>([
    [["HH:mm"], "UTC", "sources.s.format", /has no day/],
    [["d.M.yyyy h:mm"], "UTC", "sources.s.format", /needs both h and a/],
    [["d.M.yyyy d"], "UTC", "sources.s.format", /twice/],
    [["d.M.yyyy 'um"], "UTC", "sources.s.format", /quote/],
    [["iso", "d.M.yyyy"], undefined, "sources.s.format", /d\.M\.yyyy have no zone/],
    [["M/d/yy H:mm", "iso", "d/M/yy H:mm"], "UTC", "sources.s.format", /read .* differently/],
  ])("%j in %s is refused", (formats, zone, errorPath, message) => {
    expect(() => timeIn(formats, zone)).toThrow(message);
    try {
      timeIn(formats, zone);
    } catch (error) {
      const actual = error instanceof MappingError ? error.path : "";
      expect(actual.replace(/\[\d\]$/, "")).toBe(errorPath);
    }
  });
});
