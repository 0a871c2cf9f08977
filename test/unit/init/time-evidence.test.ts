/** What cells show of how times are written. */

import { describe, expect, test } from "vitest";
import { profileColumn } from "../../../src/init/column-profile.ts";
import { clockOf, isTime, timesFit, timesOf, unixOf } from "../../../src/init/time-evidence.ts";

const columnOf = (...cells: readonly string[]) => profileColumn("Date", 0, cells);

describe("times", () => {
  test.each<[readonly string[], readonly string[]]>([
    [["2026-05-01T20:00:00Z"], ["iso"]],
    [["31.12.2026 20:00"], ["d.M.yyyy H:mm"]],
    [
      ["3/4/26", "4/4/26"],
      ["d/M/yy", "M/d/yy"],
    ],
    [["3/4/26", "4/14/26"], ["M/d/yy"]],
  ])("%j can be read as %j", (cells, formats) => {
    expect(timesOf(columnOf(...cells))?.readings.map(({ format }) => format)).toEqual(formats);
  });

  test("are local where they name no zone", () => {
    const isLocal = (text: string) => timesOf(columnOf(text))?.readings[0]?.isLocal;
    expect(["2026-05-01T20:00Z", "2026-05-01 20:00", "1.5.2026"].map(isLocal)).toEqual([false, true, true]);
  });

  test("are no whole numbers and no words", () => {
    expect([columnOf("1794900000"), columnOf("soon"), columnOf("")].map(timesOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("fit a format where all do", () => {
    expect(timesFit(columnOf("1.5.2026", "2.5.2026"), "d.M.yyyy")).toBe(true);
    expect(timesFit(columnOf("1.5.2026", "soon"), "d.M.yyyy")).toBe(false);
  });
});

test.each<[readonly string[], string | undefined, string | undefined]>([
  [["1794900000"], "unix", undefined],
  [["1794900000000"], "unix-ms", undefined],
  [["17949000001"], undefined, undefined],
  [["10:03", "9:00"], undefined, "H:mm"],
  [["10:03:12"], undefined, "H:mm:ss"],
  [["7:30 pm"], undefined, "h:mm a"],
  [["10:03", "late"], undefined, undefined],
])("%j is counted as %s and told as %s", (cells, unix, clock) => {
  const column = columnOf(...cells);
  expect(unixOf(column)).toBe(unix);
  expect(clockOf(column)).toBe(clock);
  expect(isTime(column)).toBe(unix !== undefined || clock !== undefined);
});
