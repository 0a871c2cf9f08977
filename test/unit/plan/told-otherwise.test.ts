import { describe, expect, it } from "vitest";
import { findRetold, retoldAmong } from "../../../src/pipeline/plan/told-otherwise.ts";

/** `18:00:11a`: the content a at that time; `+1 18:00:11a` a day later; behind a `!`, where the service rejected it. */
function saying(text: string, at: number) {
  const [, day = "0", hours, minutes, seconds, rest = "", rejected = "-1"] =
    /^(?:\+(\d) )?(\d\d):(\d\d):(\d\d)(\w?)(?:!(\d))?$/.exec(text) ?? [];
  const time = ((Number(day) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return { at, time: BigInt(1_768_608_000 + time), rest, rejectedAt: Number(rejected) };
}

/** For each of the open ones: the missing one that it may be, by how many minutes, and whether chance hardly does that. */
function retold(missing: readonly string[], open: readonly string[]): readonly string[] {
  const compared = findRetold(open.map(saying), missing.map(saying));
  return open.map((_, number) => {
    const found = compared.find(({ at }) => at === number);
    if (found === undefined) return "";
    const { of, minutes, isPlain } = found.retold ?? { of: "none", minutes: 0, isPlain: true };
    return `${of} ${minutes}${isPlain ? "" : "?"}`;
  });
}

describe("accepted deeds that the input does not have, and open ones", () => {
  it.each<[what: string, missing: readonly string[], open: readonly string[], expected: readonly string[]]>([
    ["an hour apart", ["18:00:11"], ["19:00:11"], ["0 60"]],
    ["an hour apart, the other way", ["18:00:11"], ["17:00:11"], ["0 60"]],
    ["an hour apart, by the minute", ["18:00:00"], ["19:00:00"], ["0 60?"]],
    ["an hour apart, one of them by the minute", ["18:00:11"], ["19:00:00"], ["0 60?"]],
    ["with other content", ["18:00:11a"], ["19:00:11b"], [""]],
    ["half an hour and 75 minutes apart", ["18:00:11"], ["18:30:11", "19:15:11"], ["none 0", "none 0"]],
    ["as far as India", ["06:00:11"], ["11:30:11"], ["0 330"]],
    ["as far as Nepal", ["06:00:11"], ["11:45:11"], ["0 345"]],
    ["26 hours apart, and more", ["06:00:11"], ["+1 08:00:11", "+1 09:00:11"], ["0 1560", ""]],
    ["in one minute, one of them without its seconds", ["18:00:11"], ["18:00:00"], ["0 0"]],
    ["in one minute, with seconds", ["18:00:11"], ["18:00:12"], ["none 0"]],
    ["that are equal", ["18:00:11"], ["18:00:11"], [""]],
    ["one for two", ["18:00:11"], ["19:00:11", "20:00:11"], ["0 60", "none 0"]],
    ["the nearest first", ["10:00:11", "18:00:11"], ["15:00:11", "17:00:11"], ["0 300", "1 60"]],
    ["two without seconds in one minute", ["18:00:11", "18:00:15"], ["18:00:00", "18:00:00"], ["0 0", "1 0"]],
    ["one that was rejected since", ["18:00:11"], ["19:00:11!1"], [""]],
    ["one that was rejected before", ["17:00:00a", "18:00:11"], ["19:00:11!0"], ["1 60"]],
  ])("%s", (_what, missing, open, expected) => expect(retold(missing, open)).toEqual(expected));
});

describe("of a file's deeds", () => {
  const moved = (minutes: number, isPlain: boolean) => ({ at: 0, retold: { of: 0, minutes, isPlain } });
  const other = { at: 0, retold: undefined };
  it.each<[what: string, isPlain: boolean, times: number, others: number, isSeen: boolean]>([
    ["all by the minute", false, 3, 0, true],
    ["some by the minute", false, 3, 20, true],
    ["few by the minute", false, 3, 40, false],
    ["few with seconds", true, 1, 90, true],
    ["one of hundreds with seconds", true, 1, 200, false],
  ])("%s are moved alike", (_what, isPlain, times, others, isSeen) => {
    const of = [...Array(times).fill(moved(120, isPlain)), ...Array(others).fill(other)];
    expect(retoldAmong(of)).toHaveLength(isSeen ? times : 0);
  });

  it("all that are moved count where most of them are moved alike", () => {
    const of = [...Array(20).fill(moved(60, false)), moved(120, false), ...Array(20).fill(other)];
    expect(retoldAmong(of)).toHaveLength(21);
  });

  it("those that only lack their seconds always count", () => {
    expect(retoldAmong([moved(0, true), ...Array(500).fill(other)])).toHaveLength(1);
  });
});
