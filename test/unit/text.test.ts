import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, nearest } from "../../src/actions/nearest.ts";
import { cleanText, durationText, escapeUnseen, textWidth } from "../../src/text.ts";
import { codePoint } from "../support/texts.ts";

describe("text for people", () => {
  it.each([
    ["a\u001b[31mb", "a [31mb"],
    ["a\r\nb", "a b"],
    ["a\u202eb\u2066c", "a b c"],
    ["a\u061cb", "a b"],
    ["😀", "😀"],
    ["a\u{e0041}\u{e007f}b", "a b"],
    ["a\u00adb\u034fc\u180ed\u2064e\ufff9f\u{e0100}g\u{1d173}h", "a b c d e f g h"],
    ["a\u3164b\u115fc\uffa0d", "a b c d"],
  ])("cleans %j", (text, cleaned) => expect(cleanText(text)).toBe(cleaned));

  it.each([
    ["Gala → T-1 · ™", 14],
    ["名前", 4],
    ["𠮷", 2],
    ["e\u0301", 1],
    ["😀", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 2],
  ])("%j takes %i columns", (text, columns) => expect(textWidth(text)).toBe(columns));

  it.each([
    [0, "0 ms"],
    [49.6, "50 ms"],
    [1234, "1.2 s"],
    [60_000, "60 s"],
    [245_000, "4 min"],
    [11_400_000, "3 h"],
    [200_000_000, "2 d"],
  ])("%d milliseconds are %s", (ms, text) => expect(durationText(ms)).toBe(text));

  it("shortens by code points", () => {
    expect(cleanText("😀".repeat(81))).toBe(`${"😀".repeat(80)}…`);
    expect(cleanText("abcdef", 3)).toBe("abc…");
    expect(cleanText("abc", 3)).toBe("abc");
  });

  it("never lets a control character through and never grows beyond its limit", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 300 }), fc.integer({ min: 1, max: 90 }), (text, max) => {
        const cleaned = cleanText(text, max);
        expect(cleaned).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
        expect(Array.from(cleaned).length).toBeLessThanOrEqual(max + 1);
      }),
    );
  });

  it("writes JSON of the same meaning without a control character", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 100 }), (text) => {
        const json = escapeUnseen(`${JSON.stringify({ [text]: text }, undefined, 1)}\n`);
        expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
        expect(JSON.parse(json)).toEqual({ [text]: text });
      }),
    );
    expect(escapeUnseen('"a\u009b31m\u202e\u{e0041}ü"')).toBe('"a\\u009b31m\\u202e\\udb40\\udc41ü"');
  });
});

describe("the nearest name", () => {
  const KNOWN = ["eventId", "ticketId", "orderTime", "price"];
  it.each([
    ["eventid", "eventId"],
    ["Event ID", "eventId"],
    ["ticket_idd", "ticketId"],
    ["ordertme", "orderTime"],
    ["prise", "price"],
    ["colour", undefined],
    ["", undefined],
    ["x".repeat(1_000_000), undefined],
  ])("of %.20s is %s", (written, meant) => expect(nearest(written, KNOWN)).toBe(meant));

  it("folds case, blanks, underscores and hyphens", () => expect(fold("Event - _ID")).toBe("eventid"));
});
