import { describe, expect, it } from "vitest";
import { findRetold, retoldAmong } from "../../../../src/plan/histories/retold-times.ts";

/** `18:00:11a`: the content a at that time; `+1 18:00:11a` a day later; behind a `!`, where the service rejected it. */
function saying(text: string, at: number) {
  const [, day = "0", hours, minutes, seconds, rest = "", rejected = "-1"] =
    /^(?:\+(\d) )?(\d\d):(\d\d):(\d\d)(\w?)(?:!(\d))?$/.exec(text) ?? [];
  const time = ((Number(day) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return { at, time: BigInt(1_768_608_000 + time), rest, rejectedAt: Number(rejected) };
}

/** For each of the open ones: the missing ones that it may be, by how many minutes, and whether chance hardly does that. */
function retold(missing: readonly string[], open: readonly string[]): readonly string[] {
  const accepted = missing.map((text, at) => ({ ...saying(text, at), isMissing: true }));
  const compared = findRetold(open.map(saying), accepted);
  return open.map((_, number) => {
    const found = compared.find(({ at }) => at === number);
    if (found === undefined) return "";
    const each = found.retold.map(({ of, minutes, isPlain }) => `${of} ${minutes}${isPlain ? "" : "?"}`);
    return each.length === 0 ? "none" : each.join(", ");
  });
}

describe("accepted deeds that the input does not have, and open ones", () => {
  it.each<[what: string, missing: readonly string[], open: readonly string[], expected: readonly string[]]>([
    ["an hour apart", ["18:00:11"], ["19:00:11"], ["0 60"]],
    ["an hour apart, the other way", ["18:00:11"], ["17:00:11"], ["0 -60"]],
    ["an hour apart, by the minute", ["18:00:00"], ["19:00:00"], ["0 60?"]],
    ["an hour apart, one of them by the minute", ["18:00:11"], ["19:00:00"], ["0 60?"]],
    ["with other content", ["18:00:11a"], ["19:00:11b"], [""]],
    ["half an hour and 75 minutes apart", ["18:00:11"], ["18:30:11", "19:15:11"], ["none", "none"]],
    ["as far as India", ["06:00:11"], ["11:30:11"], ["0 330"]],
    ["as far as Nepal", ["06:00:11"], ["11:45:11"], ["0 345"]],
    ["14 hours apart, and more", ["06:00:11"], ["20:00:11", "21:00:11"], ["0 840", ""]],
    ["a day apart, as dates are", ["00:00:00"], ["+1 00:00:00"], [""]],
    ["in one minute, one of them without its seconds", ["18:00:11"], ["18:00:00"], ["0 0"]],
    ["in one minute, with seconds", ["18:00:11"], ["18:00:12"], ["none"]],
    ["that are equal", ["18:00:11"], ["18:00:11"], [""]],
    ["one for two", ["18:00:11"], ["19:00:11", "20:00:11"], ["0 60", "0 120"]],
    ["two for one", ["10:00:11", "18:00:11"], ["15:00:11"], ["0 300, 1 -180"]],
    ["two without seconds in one minute", ["18:00:11", "18:00:15"], ["18:00:00", "18:00:00"], ["0 0, 1 0", "0 0, 1 0"]],
    ["one that was rejected since", ["18:00:11"], ["19:00:11!1"], [""]],
    ["one that was rejected before", ["17:00:00a", "18:00:11"], ["19:00:11!0"], ["1 60"]],
  ])("%s", (_what, missing, open, expected) => expect(retold(missing, open)).toEqual(expected));
});

describe("of a file's deeds", () => {
  const AT = BigInt(1_768_608_060);
  const may = (minutes: number, isPlain = false, isMissing = true) => ({ of: 0, minutes, isPlain, isMissing });
  const row = (...retold: readonly ReturnType<typeof may>[]) => ({
    at: 0,
    time: AT,
    isBesideMissing: retold.length === 0 || retold.some(({ isMissing }) => isMissing),
    retold,
  });
  const times = <T>(count: number, of: T): T[] => Array<T>(count).fill(of);
  /** For each of the rows: by how many minutes it may be moved; "" where it is free to go. */
  const shifts = (rows: readonly ReturnType<typeof row>[]): readonly string[] => {
    const among = new Map(retoldAmong(rows));
    return rows.map((each) => String(among.get(each)?.minutes ?? ""));
  };

  it.each<[what: string, isPlain: boolean, alike: number, others: number, isSeen: boolean]>([
    ["all by the minute", false, 3, 0, true],
    ["some by the minute", false, 3, 20, true],
    ["few by the minute", false, 3, 40, false],
    ["few with seconds", true, 1, 90, true],
    ["one of hundreds with seconds", true, 1, 200, false],
  ])("%s are moved alike", (_what, isPlain, alike, others, isSeen) => {
    const of = [...times(alike, row(may(120, isPlain))), ...times(others, row())];
    expect(retoldAmong(of)).toHaveLength(isSeen ? alike : 0);
  });

  it("one that differs otherwise than the others are moved is free to go", () => {
    expect(shifts([row(may(-120)), row(may(-120)), row(may(60))])).toEqual(["-120", "-120", ""]);
  });

  it("one counts by how the others are moved, whatever else it may be", () => {
    expect(shifts([row(may(-120)), row(may(-120)), row(may(60), may(-120))])).toEqual(["-120", "-120", "-120"]);
  });

  it("those of summer count with those of winter, however few they are", () => {
    expect(shifts([...times(30, row(may(-60))), row(may(-120))]).at(-1)).toBe("-120");
  });

  it("those of two zones count, where each has several", () => {
    expect(shifts([row(may(-120)), row(may(-120)), row(may(300)), row(may(300)), row(may(-120))])).not.toContain("");
  });

  it("one whose accepted deed has the time of another row counts where the file is moved, and shows nothing itself", () => {
    expect(shifts([row(may(-120)), row(may(-120, false, false))])).toEqual(["-120", "-120"]);
    expect(shifts([row(may(-120, true, false)), row(may(0, true, false))])).toEqual(["", ""]);
  });

  it("those that only lack their seconds always count", () => {
    expect(retoldAmong([row(may(0, true)), ...times(500, row())])).toHaveLength(1);
  });

  it("hours without minutes show nothing by whole hours, dates do", () => {
    const on = (hour: number, minutes: number) => ({ ...row(may(minutes)), time: BigInt(1_768_608_000 + hour * 3600) });
    expect(shifts([on(18, 60), on(19, 60), on(20, 60)])).toEqual(["", "", ""]);
    expect(shifts([on(18, 330), on(19, 330), on(20, 330)])).not.toContain("");
    expect(shifts([on(22, -120), on(23, -60), on(46, -120)])).not.toContain("");
  });
});
