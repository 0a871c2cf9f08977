/** Patterns of a config: what they find, and that nothing makes them take long. */

import { describe, expect, test } from "vitest";
import { amountsThatRead, formatsThatRead } from "../../../src/map/likely-formats.ts";
import { compilePattern } from "../../../src/map/pattern.ts";
import { compileTime } from "../../../src/map/time-format.ts";
import { mapText, sourceOf } from "./samples.ts";

function found(pattern: string, text: string) {
  const compiled = compilePattern(pattern);
  if (typeof compiled === "string") throw new Error(compiled);
  return compiled.matchesIn(text);
}

test("named groups are given as they match, with what is left between", () => {
  expect(found(String.raw`(?<list>.+?) \((?<at>[^()]+)\)`, "Nörd 😀 (18:00), South (19:30)!")).toEqual({
    items: [
      { list: "Nörd 😀", at: "18:00" },
      { list: ", South", at: "19:30" },
    ],
    rest: "  !",
  });
  expect(found(String.raw`(?<a>x)|(?<b>\u00e9)|`, "xé")?.items).toEqual([{ a: "x" }, { b: "é" }]);
});

describe("no pattern hangs a run", () => {
  test.each([
    ["^(a+)+$", `${"a".repeat(100_000)}!`],
    ["(?<x>(x+x+)+)y", "x".repeat(100_000)],
    ["(?<x>(a|aa)+)$", `${"a".repeat(100_000)}b`],
  ])("%s", (pattern, text) => {
    expect(found(pattern, text)?.items).toEqual([]);
  });

  test("a cell that takes many searches is a problem", () => {
    const yaml = `actions:
  - scannedTicket: {each: {in: "{C}", match: '(?<x>x)(?:.*y)?'}, fields: {ticketId: "{item.x}"}}`;
    const [row] = mapText(yaml, `C\n${"x".repeat(100_000)}\n`).mapped;
    expect(row).toMatchObject({
      kind: "invalid",
      problems: [{ rule: "each-unreadable", message: "{C} is too long for its match (100000 characters)." }],
    });
  });

  test("a time format of many blanks, and hints about a long cell", () => {
    const read = compileTime({ formats: ["d ' ' ' ' ' ' ' ' M ' ' ' ' ' ' yyyy"], path: [], zone: "UTC" });
    expect(read("1   5   2026")).toBe(1777593600);
    expect(read(`1${" ".repeat(100_000)}x`)).toBeUndefined();
    const long = `1${"a".repeat(300_000)}(`;
    expect([amountsThatRead(long), formatsThatRead(long)]).toEqual([[], []]);
  });
});

test.each([
  ["(?=x)y", "looks ahead or behind"],
  [String.raw`(?<a>x)\k<a>`, "refers back to a group"],
  ["(?<größe>x)", "has a group name of other characters than letters"],
  ["x{1,2000}", "repeats more than 1000 times"],
  ["(", "is not a valid regular expression: Unterminated group"],
])("%s is refused, with what to write instead", (pattern, message) => {
  expect(compilePattern(pattern)).toContain(message);
  expect(() =>
    mapText(`each: {in: "{C}", match: '${pattern}'}\nactions: [scannedTicket: {fields: {ticketId: t}}]`, "C\nx\n"),
  ).toThrow(message);
  expect(() => sourceOf(`each: {in: "{C}", match: '${pattern}'}`)).toThrow(message);
});
