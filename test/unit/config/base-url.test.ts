import { describe, expect, test } from "vitest";
import { parseBaseUrl } from "../../../src/config/base-url.ts";

describe("parseBaseUrl", () => {
  test.each([
    ["HTTPS://api.example.com/V1//", "https://api.example.com/V1"],
    ["http://localhost:4010", "http://localhost:4010"],
    ["http://127.1", "http://127.0.0.1"],
    ["http://[::1]:4010", "http://[::1]:4010"],
    ["https://api.example.com./v1", "https://api.example.com/v1"],
    ["https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"],
    ["https://api.example.com/x/../v1/./", "https://api.example.com/v1"],
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
  ])("refuses %j: %s", (text, problem) => {
    expect(parseBaseUrl(text)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("never repeats what may be a key in the wrong place", () => {
    for (const text of ["sk-5EcReT", "https://sk-5EcReT@api.example.com", "https://api.example.com?key=sk-5EcReT"]) {
      expect(JSON.stringify(parseBaseUrl(text))).not.toContain("5EcReT");
    }
  });
});
