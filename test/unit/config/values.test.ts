import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseBaseUrl, parseDuration } from "../../../src/config/values.ts";
import { Failure } from "../../../src/failure.ts";

describe("parseBaseUrl", () => {
  test.each([
    ["HTTPS://api.example.com/V1//", "https://api.example.com/V1"],
    ["http://localhost:4010", "http://localhost:4010"],
    ["http://127.1", "http://127.0.0.1"],
    ["http://[::1]:4010", "http://[::1]:4010"],
    ["https://api.example.com./v1", "https://api.example.com/v1"],
    ["https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"],
    ["https://api.example.com/x/../v1/./", "https://api.example.com/v1"],
    ["https://api.example.com/a%2fb%7ec", "https://api.example.com/a%2Fb~c"],
  ])("normalises %s to %s", (text, url) => {
    expect(parseBaseUrl(text)).toEqual({ url });
  });

  test.each([
    ["http://api.example.com", "is http: to api.example.com"],
    ["http://127.0.0.1.example.com", "is http: to"],
    ["http://[::ffff:127.0.0.1]", "is http: to"],
    ["https://user:pw@api.example.com", "user name or password"],
    ["https://api.example.com?x=1", "query or fragment"],
    ["https://api.example.com/#", "query or fragment"],
    ["api.example.com", "not a complete URL"],
    ["//api.example.com", "not a complete URL"],
    ["https://api.example.com\n", "not a complete URL"],
    [" https://api.example.com", "not a complete URL"],
    ["ftp://api.example.com", "not a complete URL"],
    ["", "not a complete URL"],
    ["https://api.example.com/%2%65", "a % that begins no escape"],
  ])("refuses %j: %s", (text, problem) => {
    expect(parseBaseUrl(text)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("never repeats what may be a key in the wrong place", () => {
    for (const text of ["sk-5EcReT", "https://sk-5EcReT@api.example.com", "https://api.example.com?key=sk-5EcReT"]) {
      expect(JSON.stringify(parseBaseUrl(text))).not.toContain("5EcReT");
    }
  });
});

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
