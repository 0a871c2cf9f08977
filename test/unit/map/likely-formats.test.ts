/** The usual ways of writing times: each is read by its own format, and proposed where it is found. */

import { describe, expect, test } from "vitest";
import { FORMATS, formatsThatRead, likelyTimes, NUMBER_FORMATS, readerOf } from "../../../src/map/likely-formats.ts";

/** 2026-11-27 19:15:03 as precisely as the format tells it. */
function expected(format: string): number {
  const letters = format.replaceAll(/'[^']*'/g, "");
  if (/^(?:iso|unix|unix-ms|spreadsheet)$/.test(format) || letters.includes("s")) return 1795806903;
  return /[hH]/.test(letters) ? 1795806900 : 1795737600;
}

type FormatSample = readonly [format: string, sample: string];

/** How a format writes 2026-11-27 19:15:03 (a Friday). */
const DATES: readonly FormatSample[] = [
  ["yyyy-MM-dd", "2026-11-27"],
  ["yyyy/M/d", "2026/11/27"],
  ["yyyy.M.d", "2026.11.27"],
  ["d.M.yyyy", "27.11.2026"],
  ["d.M.yy", "27.11.26"],
  ["d/M/yyyy", "27/11/2026"],
  ["d/M/yy", "27/11/26"],
  ["M/d/yyyy", "11/27/2026"],
  ["M/d/yy", "11/27/26"],
  ["d-M-yyyy", "27-11-2026"],
  ["M-d-yyyy", "11-27-2026"],
  ["d MMM yyyy", "27 Nov 2026"],
  ["d MMMM yyyy", "27 November 2026"],
  ["d. MMM yyyy", "27. Nov. 2026"],
  ["d. MMMM yyyy", "27. November 2026"],
  ["d 'de' MMMM 'de' yyyy", "27 de noviembre de 2026"],
  ["d-MMM-yyyy", "27-Nov-2026"],
  ["d-MMM-yy", "27-Nov-26"],
  ["d/MMM/yyyy", "27/Nov/2026"],
  ["d/MMM/yy", "27/Nov/26"],
  ["MMM d, yyyy", "Nov 27, 2026"],
  ["MMMM d, yyyy", "November 27, 2026"],
  ["EEE d MMM yyyy", "Fri 27 Nov 2026"],
  ["EEE, d MMM yyyy", "Fri, 27 Nov 2026"],
  ["EEE MMM d yyyy", "Fri Nov 27 2026"],
  ["EEE MMM d, yyyy", "Fri Nov 27, 2026"],
  ["EEEE, MMMM d, yyyy", "Friday, November 27, 2026"],
  ["EEEE, d. MMMM yyyy", "Freitag, 27. November 2026"],
  ["EEEE d MMMM yyyy", "vendredi 27 novembre 2026"],
  ["yyyy'年'M'月'd'日'", "2026年11月27日"],
];

/** What stands behind a date. */
const CLOCKS: readonly FormatSample[] = [
  ["", ""],
  [" H:mm", " 19:15"],
  [" H:mm:ss", " 19:15:03"],
  [" H:mm:ss.SSS", " 19:15:03.120"],
  [" h:mm a", " 7:15 PM"],
  [" h:mm:ss a", " 7:15:03 p. m."],
  [", H:mm", ", 19:15"],
  [", H:mm:ss", ", 19:15:03"],
  [", h:mm a", ", 7:15pm"],
  [", h:mm:ss a", ", 7:15:03\u202fPM"],
  [" - H:mm", " - 19:15"],
  [" - h:mm a", " - 7:15 pm"],
  [" H:mm Z", " 19:15 UTC"],
  [" H:mm:ss Z", " 19:15:03 GMT"],
  [":H:mm:ss Z", ":19:15:03 +0000"],
  [" H.mm", " 19.15"],
  [" H.mm.ss", " 19.15.03"],
  [" H'h'mm", " 19h15"],
  [" 'à' H'h'mm", " à 19h15"],
  [" 'à' H:mm", " à 19:15"],
  [" 'at' h:mm a", " at 7:15 PM"],
  [" 'at' h:mm:ss a", " at 7:15:03 PM"],
  [" @ h:mm a", " @ 7:15 pm"],
  [" 'um' H:mm", " um 19:15"],
  [" H:mm 'Uhr'", " 19:15 Uhr"],
  [", H:mm 'Uhr'", ", 19:15 Uhr"],
  [" 'om' H:mm", " om 19:15"],
  [" 'às' H:mm", " às 19:15"],
];

const SAMPLES: readonly FormatSample[] = [
  ["iso", "2026-11-27 19:15:03 UTC"],
  ...DATES.flatMap(([date, day]) => CLOCKS.map(([clock, time]): FormatSample => [date + clock, day + time])),
  ["yyyyMMdd'T'HHmmssZ", "20261127T191503Z"],
  ["yyyyMMdd'T'HHmmss", "20261127T191503"],
  ["EEE MMM d H:mm:ss yyyy", "Fri Nov 27 19:15:03 2026"],
  ["EEE MMM d H:mm:ss Z yyyy", "Fri Nov 27 19:15:03 UTC 2026"],
  ["unix", "1795806903"],
  ["unix-ms", "1795806903120"],
  ["spreadsheet", "46353.80212"],
  ["yyyyMMdd", "20261127"],
  ["yyyyMMddHHmm", "202611271915"],
  ["yyyyMMddHHmmss", "20261127191503"],
];

test("every format has a sample here", () => {
  expect(SAMPLES.map(([format]) => format)).toEqual([...FORMATS, ...NUMBER_FORMATS]);
});

test("every format reads its sample, and is proposed for it or for what it is read alike by", () => {
  for (const [format, sample] of SAMPLES) {
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
