import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpDate } from "../../../src/sandbox/misbehave.ts";
import { backoffMs, MAX_RETRY_AFTER_MS, retryAfterMs, waitBefore } from "../../../src/send/waiting.ts";

const NOW = Date.UTC(2026, 10, 21, 3, 0, 0);
const chance = fc.double({ min: 0, max: 1, noNaN: true });

describe("the wait before a retry", () => {
  it("is at most half a second before the first, and doubles up to a minute", () => {
    const most = Array.from({ length: 10 }, (_, at) => backoffMs(at + 1, 1));
    expect(most).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it("is anything from nothing to that", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), chance, (attempt, luck) => {
        const wait = backoffMs(attempt, luck);
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(Math.min(60_000, 500 * 2 ** (attempt - 1)));
        expect(wait).toBe(Math.round(luck * backoffMs(attempt, 1)));
      }),
    );
  });
});

describe("the wait before a retry of an answer", () => {
  it.each<[string | undefined, number, number]>([
    [undefined, 1, 500],
    [undefined, 3, 2000],
    ["7", 1, 7000],
    ["7", 3, 7000],
    ["0", 1, 0],
    ["0", 2, 1000],
    ["0", 3, 2000],
  ])("that asks for %s is, for retry %i, %i ms", (retryAfter, retry, ms) => {
    expect(waitBefore(retry, { retryAfter }, NOW, 1)).toBe(ms);
  });
});

describe("Retry-After in seconds", () => {
  it.each<[string, number]>([
    ["0", 0],
    ["7", 7000],
    ["007", 7000],
    [" 30 ", 30_000],
    ["600", 600_000],
    ["601", 600_000],
    ["99999999999999999999", 600_000],
    ["9".repeat(400), 600_000],
  ])("%s", (text, ms) => {
    expect(retryAfterMs(text, undefined, NOW)).toBe(ms);
  });
});

describe("Retry-After as a date", () => {
  it.each(["imf", "rfc850", "asctime"] as const)("is read against the answer's own date, in form %s", (form) => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1990-01-01"), max: new Date("2060-01-01"), noInvalidDate: true }),
        fc.integer({ min: -1000, max: 2000 }),
        fc.constantFrom("imf" as const, "rfc850" as const, "asctime" as const),
        (sent, seconds, dateForm) => {
          const clock = new Date(Math.floor(sent.getTime() / 1000) * 1000);
          const until = httpDate(new Date(clock.getTime() + seconds * 1000), form);
          const wait = retryAfterMs(until, httpDate(clock, dateForm), NOW);
          expect(wait).toBe(Math.min(MAX_RETRY_AFTER_MS, Math.max(0, seconds * 1000)));
        },
      ),
    );
  });

  it.each<[string, string | undefined, number | undefined]>([
    ["Sun Nov  1 03:00:30 2026", "Sun, 01 Nov 2026 03:00:00 GMT", 30_000],
    // Without a readable date of theirs it is ours.
    ["Sat, 21 Nov 2026 03:00:30 GMT", undefined, 30_000],
    ["Sat, 21 Nov 2026 03:00:30 GMT", "now", 30_000],
  ])("%s, answered at %s", (text, date, ms) => {
    expect(retryAfterMs(text, date, NOW)).toBe(ms);
  });
});

describe("Retry-After that says nothing", () => {
  it.each([
    ...["", " ", "-5", "+5", "1.5", "5s", "soon", "7, 9", "0x10", "Infinity", "2026-11-21T03:00:30Z"],
    ...["Sat, 21 Nov 2026 03:00:30 CET", "Sat, 21 Nov 2026 03:00:30", "Sat, 21 Nov 26 03:00:30 GMT"],
    ...["Sat, 21 nov 2026 03:00:30 GMT", "Sat, 31 Nov 2026 03:00:30 GMT", "Sat, 21 Nov 2026 24:00:30 GMT"],
    ...["Sun, 21 Nov 2026 03:00:30 GMT", "Sat Nov 21 03:00:30 2026 GMT"],
  ])("%j", (text) => {
    expect(retryAfterMs(text, undefined, NOW)).toBeUndefined();
  });

  it("when there is none", () => {
    expect(retryAfterMs(undefined, "Sat, 21 Nov 2026 03:00:00 GMT", NOW)).toBeUndefined();
  });

  it("or is any text, never gives less than nothing or more than ten minutes", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (text, date) => {
        const wait = retryAfterMs(text, date, NOW);
        if (wait !== undefined) expect(wait >= 0 && wait <= MAX_RETRY_AFTER_MS).toBe(true);
      }),
    );
  });
});
