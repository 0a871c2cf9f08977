import { describe, expect, it } from "vitest";
import type { DeedVerdict } from "../../../../src/plan/histories/history.ts";
import { findCopies, findOverlaps, type TimedDeed } from "../../../../src/plan/identity/overlapping-inputs.ts";

const VERDICTS = {
  new: { kind: "new" },
  held: { kind: "held" },
  superseded: { kind: "superseded", since: 0 },
  old: { kind: "old", of: 7 },
  changed: { kind: "changed", of: 8 },
} as const satisfies Record<string, DeedVerdict>;

/** `1 a@5 old`: in the input 1, the content a at the time 5; `1 a@5 &` in the row of the one before. */
function timed(deeds: readonly string[]): readonly TimedDeed[] {
  let row = 0;
  return deeds.map((text, at) => {
    const [input, deed = "", kind = ""] = text.split(" ");
    const [content = "", time = ""] = deed.split("@");
    const verdict = Object.entries(VERDICTS).find(([name]) => name === kind)?.[1] ?? VERDICTS.new;
    if (kind !== "&") row += 1;
    return { at, row, input: Number(input), time, content, verdict };
  });
}

function overlaps(...deeds: readonly string[]): readonly string[] {
  const found = findOverlaps(timed(deeds));
  return deeds.map((_, at) => {
    const overlap = found.get(at);
    if (overlap === undefined) return "";
    return overlap.kind === "shared"
      ? `${overlap.isSame ? "same as" : "beside"} ${overlap.with}`
      : `${overlap.kind} ${overlap.of}`;
  });
}

describe("timed deeds of two inputs", () => {
  it.each<[what: string, deeds: readonly string[], expected: readonly string[]]>([
    ["at different times", ["0 a@1", "1 a@2"], ["", ""]],
    ["equal ones of one input", ["0 a@1", "0 a@1"], ["", ""]],
    ["equal ones", ["0 a@1", "1 a@1"], ["same as 1", "same as 0"]],
    ["equal ones that are held", ["0 a@1 held", "1 a@1 held"], ["same as 1", "same as 0"]],
    ["equal ones of three", ["0 a@1", "1 a@1", "2 a@1"], ["same as 1", "same as 0", "same as 0"]],
    ["one that is known", ["0 a@1 old", "1 a@1"], ["", "old 7"]],
    ["one that is known by another time", ["0 a@1 changed", "1 a@1"], ["", "changed 8"]],
    ["fewer known than one input has", ["0 a@1 old", "1 a@1", "1 a@1"], ["", "same as 0", "same as 0"]],
    ["as many known as one input has", ["0 a@1 old", "1 a@1 old", "1 a@1"], ["", "", "old 7"]],
    ["none that would be sent", ["0 a@1 superseded", "1 a@1 superseded"], ["", ""]],
    ["other content", ["0 a@1", "1 b@1"], ["beside 1", "beside 0"]],
    ["other content in one input", ["0 a@1", "0 b@1", "1 c@2"], ["", "", ""]],
    ["other content than a known one", ["0 a@1 old", "1 b@1"], ["", "changed 7"]],
    ["a known one, and another of one input alone", ["0 a@1 old", "0 b@1", "1 a@1"], ["", "", "old 7"]],
    ["equal ones, and another of one input alone", ["0 a@1", "0 b@1", "1 a@1"], ["same as 2", "", "same as 0"]],
  ])("%s", (_what, deeds, expected) => expect(overlaps(...deeds)).toEqual(expected));
});

describe("timed deeds of two rows of one input", () => {
  it.each<[what: string, deeds: readonly string[], expected: readonly string[]]>([
    ["of one second", ["0 a@61", "0 a@61", "0 a@61"], ["second 1", "second 0", "second 0"]],
    ["of one second, one of them known", ["0 a@61 old", "0 a@61"], ["", "second 0"]],
    ["of one second, all of them known", ["0 a@61 old", "0 a@61 old"], ["", ""]],
    ["by the minute", ["0 a@60", "0 a@60 held", "0 a@60"], ["", "minute 0", "minute 0"]],
    ["by the minute, one of them known", ["0 a@60 old", "0 a@60"], ["", "minute 0"]],
    ["of other contents, times and inputs", ["0 a@61", "0 b@61", "0 a@62", "1 a@61"], ["", "", "", ""]],
    ["of one row", ["0 a@61", "0 a@61 &"], ["", ""]],
    ["of two rows that give two", ["0 a@61", "0 a@61 &", "0 a@61"], ["second 2", "second 2", "second 0"]],
  ])("%s", (_what, deeds, expected) => {
    const found = findCopies(timed(deeds));
    const told = deeds.map((_, at) => {
      const copy = found.get(at);
      return copy === undefined ? "" : `${copy.isByMinute ? "minute" : "second"} ${copy.with}`;
    });
    expect(told).toEqual(expected);
  });
});
