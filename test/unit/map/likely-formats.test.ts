/** The usual ways of writing times: each is read by its own format, and proposed where it is found. */

import { describe, expect, test } from "vitest";
import { FORMATS, formatsThatRead, likelyTimes, NUMBER_FORMATS, readerOf } from "../../../src/map/likely-formats.ts";

/** 2026-11-27 19:15:03 as precisely as the format tells it. */
function expected(format: string): number {
  const letters = format.replaceAll(/'[^']*'/g, "");
  if (/^(?:iso|unix|unix-ms|spreadsheet)$/.test(format) || letters.includes("s")) return 1795806903;
  return /[hH]/.test(letters) ? 1795806900 : 1795737600;
}

test("every format reads its sample, and is proposed for it or for what it is read alike by", () => {
  for (const [format, sample] of [...FORMATS, ...NUMBER_FORMATS]) {
    const time = readerOf(format)(sample);
    expect([format, sample, time]).toEqual([format, sample, expected(format)]);
    const proposed = formatsThatRead(sample).map((each) => readerOf(each)(sample));
    expect([format, proposed]).toEqual([format, expect.arrayContaining([time])]);
  }
});

describe("what is proposed", () => {
  test.each([
    ["27-Nov-2026 19:15", ["d-MMM-yyyy H:mm"]],
    ["27. Dezember 2026 19:15", ["d. MMMM yyyy H:mm"]],
    ["27/11/2026 à 19h15", ["d/M/yyyy 'à' H'h'mm"]],
    ["1/2/2026", ["d/M/yyyy", "M/d/yyyy"]],
    ["May 1, 2026", ["MMM d, yyyy"]],
    ["46353.80211", ["spreadsheet"]],
    ["1756710902123", ["unix-ms"]],
    ["20261127", ["yyyyMMdd"]],
    ["12345678", []],
  ])("for %s", (text, formats) => {
    expect(formatsThatRead(text)).toEqual(formats);
  });

  test("of a column is what reads most of its texts", () => {
    const texts = ["May 1, 2026", "June 2, 2026", "August 3, 2026"];
    expect(likelyTimes(texts).map(({ format, fits }) => [format, fits])).toEqual([["MMMM d, yyyy", 3]]);
  });
});
