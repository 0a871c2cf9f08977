import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InputDeed, KnownDeed } from "../../../../src/plan/histories/history.ts";
import { matchHistory } from "../../../../src/plan/histories/match-history.ts";
import { oldLength } from "../../../../src/plan/histories/sequences.ts";
import { laterAccepted, timesOfKnown } from "../../../../src/plan/identity/late-by-time.ts";

/**
 * Deeds in a word each: `A` says A, `A3` says A at the time 3; known ones: `-A` was rejected, `~A` is pending, and what follows `|` is of
 * a later run, what follows `!` of one with `--again`; of the input:
 * `?` is of an invalid row, `?3` likewise with its time; `=0` is of a row for which the first known deed was accepted; `A<2` is of a row that became
 * bad after the first two were asked for, `A<2@7` one that the run 7 rejected, `A<2^1` one behind which the second one stood, and `A<2!1`
 * one of which nobody knows whether that did. `Aa` and `Ab` are resales to A that say something else beside, `Aa3` one at the time 3.
 */
const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

function saying(word: string): { readonly content: string; readonly said: KnownDeed["said"] } {
  const [, rest = "", time = ""] = /^(\w[a-z]?)(\d*)$/.exec(word) ?? [];
  const holder = rest.length === 1 ? undefined : rest.slice(0, 1);
  return { content: word, said: () => ({ rest, holder, time: time === "" ? undefined : BigInt(time) }) };
}

function known(word: string, run = 1, isAgain = false): KnownDeed {
  const marks = { "-": "rejected", "~": "pending" } as const;
  const state = word.startsWith("-") ? marks["-"] : word.startsWith("~") ? marks["~"] : "accepted";
  return { ...saying(word.replace(/^[-~]/, "")), state, run, isAgain: () => isAgain };
}

/** The known ones of several runs. */
const runsOf = (text: string): readonly KnownDeed[] =>
  text
    .split(/(?=[|!])/)
    .flatMap((run, at) => words(run.replace(/^[|!]/, "")).map((word) => known(word, at, run.startsWith("!"))));

function given(word: string): InputDeed {
  if (word.startsWith("?")) return { content: undefined, time: word === "?" ? undefined : BigInt(word.slice(1)) };
  if (word.startsWith("=")) {
    const [is, rejectedIn] = word.slice(1).split("@");
    return { content: undefined, is: Number(is), ...(rejectedIn && { rejectedIn: Number(rejectedIn) }) };
  }
  const [place = "", rejectedIn] = word.split("@");
  const [deed = ""] = place.split(/[<^!]/);
  const after = /<(\d+)/.exec(place)?.[1];
  const marked = (mark: string): ReadonlySet<number> => new Set(place.split(mark).slice(1).map(Number));
  return {
    ...saying(deed),
    behind: marked("^"),
    unplaced: marked("!"),
    isTimed: /\d$/.test(deed),
    ...(after !== undefined && { after: Number(after) }),
    ...(!place.includes("*") && { asked: Number(after) - 1 }),
    ...(rejectedIn !== undefined && {
      rejectedIn: Number(rejectedIn),
      numbers: new Map([[Number(rejectedIn), Number(after)]]),
    }),
  };
}

/** The verdicts in a word each; with the accepted deed where one is meant. */
function judged(accepted: string, input: string): string {
  const deeds = words(accepted).filter((word) => word !== "|" && word !== "!");
  return matchHistory(runsOf(accepted), words(input).map(given))
    .map((verdict) => {
      if (verdict.kind === "changed") return `changed:${deeds[verdict.of]}`;
      if (verdict.kind === "unknown") return verdict.inPlaceOf === undefined ? "?" : `?:${deeds[verdict.inPlaceOf]}`;
      return verdict.kind;
    })
    .join(" ");
}

describe("why it can't be told what was accepted", () => {
  const whys = (accepted: string, input: string): string =>
    matchHistory(runsOf(accepted), words(input).map(given))
      .map((verdict) => (verdict.kind === "unclear" ? verdict.why : verdict.kind))
      .join(", ");

  it.each<[string, string, string, string]>([
    ["contents repeat", "A B A", "B", "repeats"],
    ["contents repeat around one with a time", "C1 B", "B C1 B", "repeats, old, repeats"],
    ["a time came for one of several", "C B C", "C1 B C2 C3", "changed, old, changed, times"],
    ["another resale to the same user", "Aa Ba", "Ac", "holder"],
    ["one before such a resale", "Aa Ba", "Ca Ac Da", "holder, holder, new"],
    ["a rejected row says what was accepted", "A B", "A<2*", "rejected"],
    ["rejected in two runs, and nothing was accepted", "", "Aa<0@1 Ba<0@1 Ab<0@2 Bb<0@2", "forms, forms, new, new"],
    ["another one stands before such a row", "A B", "C A<2*", "before unclear, rejected"],
    ["times came, and what was rejected repeats", "-A -B A", "A1 B2 A3", "changed, times, times"],
  ])("%s: %s, then %s", (_name, accepted, input, expected) => {
    expect(whys(accepted, input)).toBe(expected);
  });
});

describe("a history without times whose contents occur once", () => {
  it.each<[string, string, string, string]>([
    ["nothing was accepted", "", "A B", "new new"],
    ["the same again", "A B C", "A B C", "old old old"],
    ["the same and more", "A B", "A B C D", "old old new new"],
    ["only what is new", "A B", "C D", "new new"],
    ["a window and more", "A B C", "C D", "old new"],
    ["the beginning only", "A B C", "A B", "old old"],
    ["a middle only", "A B C", "B", "old"],
    ["files in another order", "A B C", "C A B D", "old old old new"],
    ["a row that came late", "A C", "A B C", "old late old"],
    ["a late row that was streamed on its own", "A C B", "A B C", "old old old"],
    ["a late row on its own", "A C", "B", "new"],
    ["a rejected deed leaves no hole", "A -B C D", "A C D E", "old old old new"],
    ["a rejected deed at the end", "A -B", "A B", "old new"],
    ["a rejected deed before an accepted one", "A -B C", "A B C", "old superseded old"],
    ["the same, with its row alone", "A -B C", "B", "superseded"],
    ["a rejected deed of which only something earlier was accepted since", "A -C B", "A B C", "old old new"],
    ["a rejected deed that was accepted in the end", "A -B B", "A B", "old old"],
    ["what is pending counts as accepted", "A ~B", "A B C", "old old new"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history without times whose contents come back", () => {
  it.each<[string, string, string, string]>([
    ["there and back", "A B", "A B A", "old old new"],
    ["there and back, a second time", "A B A", "A B A", "old old old"],
    ["there and back, and there again", "A B A", "A B A B", "old old old new"],
    ["a window", "A B A B", "B A B C", "old old old new"],
    ["the last one only", "A B A", "A", "old"],
    ["the first time, all at once", "", "A B A", "new new new"],
    ["nothing that was accepted", "A B A", "C D", "new new"],
    ["a piece of the middle", "A B A", "B", "unclear"],
    ["a hole that a rejection left", "A B C", "A X A B C", "unclear unclear unclear unclear unclear"],
    ["the same twice where it was accepted once", "A", "A A", "old new"],
    ["fewer of the same", "A A A", "A A", "old old"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history without times whose contents come back, of which some were rejected", () => {
  it.each<[string, string, string, string]>([
    ["one between two", "A -B A", "A B A C", "old superseded old new"],
    ["in a window", "A -B A", "B A C", "superseded old new"],
    ["which came back", "A -B A", "A B A B", "old superseded old new"],
    ["which came back and was accepted", "A -B A | B", "A B A B C", "old superseded old old new"],
    ["which the source has no more", "A -B A", "A A C", "old old new"],
    ["of which the last one is gone", "A -B A", "A B", "old unclear"],
    ["the first of two that say the same", "-A B A", "A B A C", "superseded old old new"],
    ["the last of them", "A B -A", "A B A", "old old new"],
    ["it was tried again in vain", "A B -A | -A", "A B A C", "old old new new"],
    ["it was accepted at last", "A B A -B | B", "A B A B", "old old old old"],
    ["two of them, tried again each night", "A B -A -B | -A | A -B | B C", "A B A B C", "old old old old old"],
    ["one was tried again beside a new one", "A -A B | C", "A A B C", "old superseded old old"],
    ["a person sent it", "A -B A ! B", "A B A C", "old old old new"],
    ["a person sent it, and more came", "A -B A ! B | C", "A B A C B D", "old old old old new new"],
    ["a person sent it, or the one that came back", "A -B A | C ! B", "A B A C B D", "old superseded old old old new"],
    ["a person sent both", "A -B A | C ! B ! B", "A B A C B", "old old old old old"],
    ["a person sent all once more", "A -B A ! A B A", "A B A C A", "old old old new new"],
    ["a person sent in vain", "A -B A ! -B", "A B A C", "old late old new"],
    ["a piece of it", "-A B A B", "A", "unclear"],
    ["in another order", "-A B A", "A A B A", "unclear unclear unclear unclear"],
    ["beside what is pending", "-A B A ~C", "A B A C", "unclear unclear unclear unclear"],
    ["a person sent it again and again", `A -B A ${"! A ".repeat(40)}`, "A B A C", "old superseded old new"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history of resales that are told otherwise", () => {
  it.each<[string, string, string, string]>([
    ["all of them", "Aa Ba", "Ab Bb", "changed:Aa changed:Ba"],
    ["all of them, and a new one", "Aa Ba", "Ab Bb Cb", "changed:Aa changed:Ba new"],
    ["some of them, and a new one", "Aa Ba", "Ab Ba Cb", "changed:Aa old new"],
    ["the last of them, and a new one", "Aa Ba", "Aa Bb Cb", "old changed:Ba new"],
    ["one, which comes back", "Aa", "Ab Ba Ac", "changed:Aa new new"],
    ["one that came back", "Aa Ba Aa", "Aa Bb Aa Ca", "old changed:Ba old new"],
    ["all, of which one came back since", "Aa Ba Ab", "Ab Bb Ab", "changed:Aa changed:Ba old"],
    ["the window lost the first, and the last was accepted so", "Aa Ba Cb", "Bb Cb Db", "changed:Ba old new"],
    ["the window lost the first, and all say something else", "Aa Ba Ca", "Bb Cb Db", "unclear unclear new"],
    ["the window has the holder alone", "Aa Ba", "Bb Cb", "changed:Ba new"],
    ["in another order", "Aa Ba", "Bb Ab", "changed:Ba unclear"],
    ["beside what was rejected", "Aa -Ba Ca", "Ab Bb Cb", "changed:Aa late changed:Ca"],
    ["and the last was rejected", "Aa -Ba", "Ab Bb", "changed:Aa new"],
    ["a rejected one alone, behind which one was accepted", "-Aa Ba", "Ab", "unclear"],
    ["in another order", "-Aa Ba", "Bb Ab", "changed:Ba new"],
    ["beside what is pending", "Aa ~Ba", "Ab Bb Cb", "changed:Aa changed:~Ba new"],
    ["beside an invalid row", "Aa Ba Ca", "Ab ? Cb Db", "changed:Aa ?:Ba changed:Ca held"],
    ["one comes back in a delta, or is told otherwise", "Aa Ba", "Ac", "unclear"],
    ["what stands before it may be late", "Aa Ba", "Ca Ac Da", "unclear unclear new"],
    ["the service rejected just that", "Aa Ba -Ac", "Ac", "new"],
    ["one comes back in a full export", "Aa Ba", "Aa Ba Ac", "old old new"],
    ["a window lost the first, which comes back", "Aa Ba", "Ba Ac", "old unclear"],
    ["what is new stands between", "Aa Ba", "Aa Ca Bb", "old unclear unclear"],
    ["the first alone of two, and it is another one", "Aa Ba Ab Bb", "Aa Bc", "old unclear"],
    [
      "times came for some of equal ones, of which one was rejected",
      "-Ca Aa -Ba -Ca | -Ba Ca",
      "Ca Aa2 Ba Ca4",
      "unclear changed:Aa superseded unclear",
    ],
    ["times came", "Aa Ba", "Bb2 Ab1 Cb3", "changed:Ba changed:Aa new"],
    ["times came with a delta", "Aa Ba", "Ac3", "unclear"],
    ["times went", "Aa1 Ba2", "Ab Bb Cb", "changed:Aa1 changed:Ba2 new"],
    ["with times they tell", "Aa1 Ba2", "Ab1 Bb2 Ac3", "changed:Aa1 changed:Ba2 new"],
    ["mended rows stand for what was accepted", "Aa Ba", "=0 Bb Cb", "old changed:Ba new"],
    ["a mended row from a rejects file may be a second one", "Aa Ba", "Ab<2", "unclear"],
    ["and something stood behind it", "Aa Ba", "Ab<2^1", "superseded"],
    ["rejected in two nights, each told otherwise", "", "Aa<0@1 Ba<0@1 Ab<0@2 Bb<0@2", "unclear unclear new new"],
    ["the same with times", "", "Aa1<0@1 Ba2<0@1 Ab1<0@2 Bb2<0@2", "unclear unclear new new"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history with times", () => {
  it.each<[string, string, string, string]>([
    ["the same again", "A1 B2", "A1 B2", "old old"],
    ["in another order, with a late one", "A1 C3", "C3 B2 A1", "old new old"],
    ["equal ones are counted", "A1 A1", "A1 A1 A1", "old old new"],
    ["the same time, other content", "A1 B2", "A1 C2 D3", "old changed:B2 new"],
    ["contents come back", "A1 B2", "A1 B2 A3", "old old new"],
    ["a rejected one before a later one", "A1 -B2 C3", "A1 B2 C3", "old superseded old"],
    ["a rejected one after which only earlier ones were accepted", "A1 -C3 B2", "A1 B2 C3", "old old new"],
    ["times that came later, the earliest first", "A A", "A2 A1 A3", "changed:A changed:A new"],
    ["times that came later for some", "A A", "A A2", "old changed:A"],
    ["times that went", "A1 A2", "A A A", "changed:A1 changed:A2 new"],
    ["times that came do not take what says something else", "A", "B1", "new"],
    ["times that came, for a rejected one", "A -B C", "A1 B2 C3", "changed:A superseded changed:C"],
    ["a new one without a time before an old one", "A1 B2", "A1 C B2", "old late old"],
    ["equal ones without times around one with a time", "C1", "B C1 B", "late old new"],
    ["which of them was sent can't be told", "C1 B", "B C1 B", "unclear old unclear"],
    ["nor of more of them", "C1 B B", "B C1 B B", "unclear old unclear unclear"],
    ["all of them were", "C1 B B", "B C1 B", "old old old"],
    ["behind it they can be told", "C1 B", "C1 B B", "old old new"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history of resales of which some have times", () => {
  it.each<[string, string, string, string]>([
    ["one with a time before one without", "Aa Ca", "Aa Ba1 Ca", "old late old"],
    ["before one that is told otherwise", "Aa Ca", "Aa Ba1 Cb", "old unclear unclear"],
    ["though that one is a mended row", "Aa Ca", "Aa Ba1 =1", "old late old"],
    ["though that one is pending", "Aa ~Ca", "Aa Ba1 Ca", "old late old"],
    ["behind all without", "Aa Ba", "Aa Ba Ca1 Da2", "old old new new"],
    ["behind all without that the window has", "Aa Ba Ca1", "Ba Ca1 Da2", "old old new"],
    ["on its own", "Aa Ca", "Ba1", "new"],
    ["between one without and one with", "Aa Ca3", "Aa Ba2 Ca3", "old new old"],
    ["beside an invalid row", "Aa Ca", "? Ba1 Ca Da2", "? late old held"],
    ["a rejected one, of another price now", "-Ba1 Ca", "Bb1 Ca", "superseded old"],
    ["the same, of which all have other prices", "-Ba1 Ca", "Bb1 Cb", "superseded changed:Ca"],
    ["the same, on its own", "-Ba1 Ca", "Bb1", "superseded"],
    ["the same, of another user", "-Ba1 Ca", "Da1", "superseded"],
    ["the same, behind it", "-Ba1 Ca", "Ca Bb1", "old new"],
    ["a rejected one behind which nothing was accepted", "Aa -Ba1", "Aa Bb1", "old new"],
    ["before such as can't be told", "Aa Ba Ca", "Da1 Bb Cb", "unclear unclear unclear"],
    ["before such as repeat", "Aa Ba Aa", "Da1 Ba", "unclear unclear"],
    ["times that came tell by themselves", "Aa Ca", "Ca3 Ba2 Aa1", "changed:Ca new changed:Aa"],
    ["in its rejects, behind what stood before it", "Aa | Ca", "Ba1<1", "superseded"],
    ["in its rejects, before what stood behind it", "Ca", "Ba1<1^0", "superseded"],
    ["in its rejects, behind all", "Aa", "Ba1<1", "new"],
    ["scans are a set", "A C", "A B1 C", "old new old"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });

  it("is not guessed where rows behind were left out", () => {
    const verdictsOf = (accepted: string, input: string) =>
      matchHistory(runsOf(accepted), words(input).map(given), true).map(({ kind }) => kind);
    expect(verdictsOf("Aa Ca", "Aa Ba1")).toEqual(["old", "unclear"]);
    expect(verdictsOf("Aa Ca3", "Aa Ba1")).toEqual(["old", "new"]);
    expect(verdictsOf("A C", "A B1")).toEqual(["old", "new"]);
  });
});

describe("a history beside an invalid row", () => {
  it.each<[string, string, string, string]>([
    ["nothing new is sent, before or after", "A", "A B ? C", "old held ? held"],
    ["the first time", "", "A ? B", "held ? held"],
    ["in the place of an accepted one", "A B C", "A ? C", "old ?:B old"],
    ["in the place of the last one, perhaps", "A B", "A ? C", "old ? held"],
    ["in the place of the first ones, perhaps", "A B C", "? ? C", "? ? old"],
    ["of which one with a time is missing", "A1 B2 C3", "A1 ? C3", "old ? old"],
    ["beside all that were accepted", "A B", "A B ?", "old old ?"],
    ["alone", "A B", "?", "?"],
    ["by its time", "A1 B2 C3", "?2 A1", "?:B2 old"],
    ["contents that come back", "A B A", "A ? A B B", "old ? old old held"],
    ["a late one stays late", "A C", "? B C", "? late old"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history with a row from a rejects file", () => {
  it.each<[string, string, string, string]>([
    ["nothing was accepted since", "A", "B<1 C<1", "new new"],
    ["something was", "A D", "B<1 C<1", "superseded superseded"],
    ["something was, and nothing before", "D", "B<0", "superseded"],
    ["what was accepted since stands before it", "A | B", "B<1 C<1", "old new"],
    ["what was accepted since stands before it, and more", "A | B D", "B<1 C<1", "old superseded"],
    ["it was accepted since", "A | B D", "B<1", "old"],
    ["a later one was accepted since", "A1 D4", "B2<1", "superseded"],
    ["an earlier one was accepted since", "A1 D4", "B5<1", "new"],
    ["one was accepted since whose time nobody knows", "A1 D", "B2<1", "superseded"],
    ["it says what was accepted before, and may be that", "A B", "A<2", "unclear"],
    ["beside rows that say else", "A B", "A<2 C<2", "unclear new"],
    ["one night without its time, another with it", "", "A<0@1 A2<0@2", "unclear new"],
    ["the same, of one night", "", "A<0@1 A2<0@1", "new new"],
    ["with its time in two nights", "", "A2<0@1 A2<0@2 A2<0@2 A2<0@3", "unclear unclear unclear unclear"],
    [
      "one night an hour later than another, or without its seconds",
      "",
      "A71<0@1 A3671<0@2 A60<0@3",
      "unclear unclear unclear",
    ],
    ["an hour later in one night", "", "A71<0@1 A3671<0@1", "new new"],
    ["bad in two nights, and mended to the same", "A", "B<1@1 B<1@2", "unclear new"],
    ["bad in two nights, with another before the later one", "A", "B<1@1 C<1@2 B<1@2", "unclear new new"],
    ["and then accepted", "A | C B", "B<1@1 C<1@2 B<1@2", "superseded old old"],
    ["and then accepted behind another", "B | A", "B<0@1 A<0@1 A<0@2", "old superseded old"],
    ["bad in two nights, and twice in one", "A", "B<1@1 C<1@2 B<1@2 B<1@2", "unclear new unclear unclear"],
    ["and accepted in the form of the first", "-B | B | -C", "B<1@1 B<2@3 C<3@3", "old unclear new"],
    ["one that is accepted stood behind it, and stands before it now", "B", "B<0@2 A<1^0@6", "old superseded"],
    ["with its time in two nights, and accepted", "A2", "A2<0@1 A2<0@2", "unclear old"],
    ["it was rejected once more", "A -B D", "B<1", "superseded"],
    ["one that was accepted before stood behind it", "A C", "B<2^1", "superseded"],
    ["that says the same", "A B", "B<2^1", "superseded"],
    ["and it was accepted since, with --again", "A C ! B", "B<2^1", "old"],
    ["nobody knows whether one stood behind it", "A C", "B<2!1", "unplaced"],
    ["nor what another row of the rejects was accepted as", "C", "C<0 B<1!0", "old new"],
    ["one behind it may be an accepted one", "A", "B A<1", "unclear unclear"],
    ["the row is unknown", "A C", "B!0!1", "unplaced"],
    ["the row is unknown, and says what was accepted", "A C", "A!0!1", "unplaced"],
    ["the row is unknown, and was rejected before what came", "A -B C", "B!0!2", "superseded"],
    ["both have times", "A1 C3", "B2<2!0!1", "new"],
    ["the row is unknown, and both have times", "A1 C3", "B2!0!1", "new"],
    ["of the two only it has a time", "A C", "B2<2!1", "unplaced"],
    ["it was rejected before what came, and the same once more after it", "-B D -B", "B<1 B<3", "superseded new"],
    ["the same, and that was accepted since", "-B D -B | B", "B<1 B<3", "superseded old"],
    ["the same, and something later too", "-B D -B | B | C", "B<1 B<3", "superseded old"],
    ["the same, and another between them", "-B D -C -B | C B", "B<1 C<3 B<4", "superseded old old"],
    ["the same, and the first of them with --again as well", "-B D -B | B ! B", "B<1 B<3", "old old"],
    ["the same, and one of them with --again", "-B D -B ! B", "B<1 B<3", "superseded old"],
    ["nothing came between two, of which one was accepted", "-B -B | B", "B<1 B<2", "old new"],
    ["the same, with --again", "-B -B ! B", "B<1 B<2", "superseded old"],
    ["one stood behind the first of two, of which one was accepted", "B | -A | A", "A<1^0 A<2", "superseded old"],
    [
      "the same, with one between them that may be an accepted one",
      "A -B -A -B",
      "B<2 A<3 B<4",
      "unclear unclear unclear",
    ],
    ["that, and another that is told", "A -B -A -B -C", "B<2 A<3 B<4 C<5", "unclear unclear unclear new"],
    ["one that its own run accepted behind it stands before it now", "-B -A | -B A", "A<2@0 B<3@0", "old superseded"],
    ["one that stood behind it was accepted, and stands before it now", "-B -A | A", "A<2@0 B<1@0", "old superseded"],
    ["it has no time, and one with a time was accepted before it", "C1 B -C", "C<3@0", "new"],
    ["the same, but it was bad, and another one was rejected", "C1 B -C", "C<3*@0", "changed:C1"],
    [
      "bad ones that say what was accepted since of one of them",
      "A | -C | C | C",
      "C<3* B<3* C<2 C<3*",
      "old late old unclear",
    ],
    ["it was mended and accepted with its time", "C1", "=0@2 C<1*@3", "old unclear"],
    ["where one stood is not known, and the same was accepted", "B | -A | A", "A<1!0 A<2", "superseded old"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

it("of which the input was cut is not known to be in order", () => {
  const cut = (accepted: string, input: string): readonly string[] =>
    matchHistory(runsOf(accepted), words(input).map(given), true).map(({ kind }) => kind);
  expect(cut("B", "A")).toEqual(["unclear"]);
  expect(cut("A B", "A C")).toEqual(["old", "unclear"]);
  expect(cut("A B", "A B C")).toEqual(["old", "old", "new"]);
  expect(cut("B1", "A2")).toEqual(["new"]);
  expect(cut("", "A")).toEqual(["new"]);
});

it("a resale that is told otherwise and was rejected so since is not sent among others that repeat", () => {
  expect(judged("Aa Bb | -Ab", "Bb Ab Bb Ab Bb")).toBe("unclear unclear unclear unclear unclear");
  expect(judged("Aa Bb -Ab", "Bb Ab")).toBe("old new");
});

describe("a history whose times come or go", () => {
  it.each<[string, string, string, string]>([
    ["it is the same", "A1 B2", "A B", "changed:A1 changed:B2"],
    ["and more", "A1 B2", "A B C", "changed:A1 changed:B2 new"],
    ["what comes back is found by the order", "A1 B2", "A B A", "changed:A1 changed:B2 new"],
    ["with times", "A B", "A1 B2 A3", "changed:A changed:B new"],
    ["one went, and another one lost its seconds", "A60 A4110", "A61 A", "unclear changed:A60"],
    ["one came, and another one got its seconds", "A60 A", "A61 A7000", "changed:A unclear"],
    ["one went, and another one is told in another zone", "A67 A8000", "A3667 A", "unclear changed:A67"],
    ["one came, and then another one went", "A | A7", "A1 A A9", "unclear old unclear"],
    ["one went, or another one lost its seconds", "A60", "A A61", "changed:A60 unclear"],
    ["which of two was rejected is not known", "-A1 -B2 A3", "A B A", "changed:A3 unclear unclear"],
    ["with times", "-A -B A", "A1 B2 A3", "changed:A unclear unclear"],
    ["what came late is late", "C2 A4", "A C B A", "late changed:C2 late changed:A4"],
    [
      "what was rejected before it is superseded",
      "-A1 C2 -B3 A4",
      "A C B A",
      "superseded changed:C2 superseded changed:A4",
    ],
    ["with times", "-A C -B A", "A1 C2 B3 A4", "superseded changed:C superseded changed:A"],
    ["and those that came late stay late", "B1 | A C", "A C B A C", "late late changed:B1 old old"],
    ["not in the order in which it was accepted", "A1 B2", "B A A", "changed:B2 changed:A1 unclear"],
    ["all of it says the same", "A1 A2", "A A A", "changed:A1 changed:A2 new"],
    ["two rejects that may be one stand before another", "A A", "A1<0@4 A1<0@5 A2<0@5", "changed:A changed:A unclear"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

describe("a history with a row that was mended", () => {
  it.each<[string, string, string, string]>([
    ["it stands for what was accepted for it", "A", "=0", "old"],
    ["what says the same further on is new", "A B", "=0 B A", "old old new"],
    ["what says the same beside it is new", "A", "=0 A", "old new"],
    ["what says the same before it is late", "A", "A =0", "late old"],
    ["of two that say the same it is its own", "A A", "A =1 A", "old old new"],
    ["with times", "A1 A1", "=0 A1 A1", "old old new"],
    ["what stands before it is late", "A", "B =0", "late old"],
    ["given more often than it was mended", "A B", "=0 =0 B", "old old old"],
    ["beside an invalid row", "A", "=0 ? B", "old ? held"],
    ["an invalid row does not take its place", "A B C", "=0 ? C", "old ?:B old"],
  ])("%s: %s, then %s", (_name, accepted, input, verdicts) => {
    expect(judged(accepted, input)).toBe(verdicts);
  });
});

/** Resales: whom each goes to, and what it says beside. */
const resales = (most: number): fc.Arbitrary<string[]> => fc.array(fc.constantFrom("A", "B", "C"), { maxLength: most });
const priced = (holders: readonly string[], price: string): readonly string[] =>
  holders.map((holder) => holder + price);

/** Contents that occur once, in an order of their own. */
const once = fc.uniqueArray(fc.constantFrom(..."ABCDEFGHIJ"), { maxLength: 10 });
const any = fc.array(fc.constantFrom(..."ABC"), { maxLength: 12 });
const spaced = (deeds: readonly string[]): string => deeds.join(" ");

/** With what comes too late by its time. */
function resold(accepted: string, input: readonly string[]): readonly string[] {
  const [known, deeds] = [runsOf(accepted), input.map(given)];
  const verdicts = matchHistory(known, deeds);
  const timeOf = timesOfKnown(known, deeds, verdicts);
  return verdicts.map((verdict, at) => {
    const later = laterAccepted("resoldTicket", deeds[at] as InputDeed, verdict, known, timeOf); // as many as verdicts
    return later === undefined ? verdict.kind : "late";
  });
}

describe("of any histories", () => {
  it("repeating what was accepted sends nothing", () => {
    fc.assert(
      fc.property(any, (accepted) => {
        expect(words(judged(spaced(accepted), spaced(accepted)))).toEqual(accepted.map(() => "old"));
      }),
    );
  });

  it("what comes after all that was accepted is new, or nobody can tell; never is something old sent", () => {
    fc.assert(
      fc.property(any, any, (accepted, more) => {
        const verdicts = words(judged(spaced(accepted), spaced([...accepted, ...more])));
        const expected = [...accepted.map(() => "old"), ...more.map(() => "new")];
        expect([expected, expected.map(() => "unclear")]).toContainEqual(verdicts);
      }),
    );
  });

  it("an accepted content that occurs once is never sent again, whatever stands around it", () => {
    fc.assert(
      fc.property(once, once, fc.array(fc.nat(9), { maxLength: 3 }), (accepted, input, rejections) => {
        const tried = accepted.map((content, at) => (rejections.includes(at) ? `-${content}` : content));
        const verdicts = words(judged(spaced(tried), spaced(input)));
        for (const [at, content] of input.entries())
          if (tried.includes(content)) expect(verdicts[at]).toBe("old");
          else expect(["new", "late", "superseded"]).toContain(verdicts[at]);
      }),
    );
  });

  it("of full exports that the service rejects parts of, each deed is sent once or told, and the last one counts", () => {
    const night = fc.record({
      more: fc.array(fc.constantFrom(..."ABC"), { maxLength: 3 }),
      rejected: fc.array(fc.nat(3), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(night, { minLength: 1, maxLength: 6 }), (nights) => {
        const tried: string[] = [];
        const input: string[] = [];
        for (const { more, rejected } of [...nights, { more: ["D"], rejected: [] }]) {
          input.push(...more);
          const verdicts = words(judged(tried.join(" "), spaced(input)));
          const asked = input.filter((_, at) => verdicts[at] === "new");
          tried.push("|", ...asked.map((content, at) => (rejected.includes(at) ? `-${content}` : content)));
          const story = `${tried.join(" ")}; ${input.join(" ")}: ${verdicts.join(" ")}`;
          expect(verdicts, story).not.toContain("unclear");
          for (const content of "ABC") {
            const accepted = tried.filter((each) => each === content).length;
            const told = input.filter(
              (each, at) => each === content && /late|superseded/.test(verdicts[at] ?? ""),
            ).length;
            const open = asked.filter((each, at) => each === content && rejected.includes(at)).length;
            expect(accepted + told + open, story).toBe(input.filter((each) => each === content).length);
          }
        }
        expect(tried.at(-1)).toBe("D");
      }),
      { numRuns: 2000 },
    );
  });

  it("of rejects that are streamed again and again, each row is sent once or told, and in order", () => {
    const stream = fc.record({
      rows: fc.constantFrom("all", "all", "first", "last"),
      rejected: fc.array(fc.nat(3), { maxLength: 2 }),
      isAgain: fc.constantFrom(false, false, false, true),
      came: fc.boolean(),
    });
    fc.assert(
      fc.property(
        any,
        fc.array(fc.nat(11), { maxLength: 6 }),
        fc.array(stream, { maxLength: 5 }),
        (night, bad, streams) => {
          const tried = night.map((content, at) => (bad.includes(at) ? `-${content}` : content));
          const tries = (): number => words(tried.join(" ")).filter((word) => /\w/.test(word)).length;
          let rejects = night.flatMap((content, at) => (bad.includes(at) ? [{ content, after: at + 1 }] : []));
          const log = [...night];
          const ask = (isAgain: boolean, kept: (at: number) => boolean, rejected: readonly number[]): string => {
            const shown = rejects.filter((_, at) => kept(at));
            const verdicts = isAgain
              ? shown.map(() => "new")
              : words(judged(tried.join(" "), shown.map(({ content, after }) => `${content}<${after}`).join(" ")));
            const asked = shown.filter((_, at) => verdicts[at] === "new");
            tried.push(isAgain ? "!" : "|");
            for (const [at, row] of asked.entries()) {
              tried.push(rejected.includes(at) ? `-${row.content}` : row.content);
              if (rejected.includes(at) && !isAgain)
                rejects = rejects.map((each) => (each === row ? { ...row, after: tries() } : each));
            }
            return verdicts.join(" ");
          };
          for (const { rows, rejected, isAgain, came } of streams) {
            ask(isAgain, (at) => rows === "all" || at === (rows === "first" ? 0 : rejects.length - 1), rejected);
            if (came) {
              const content = "DEFGH"[log.length - night.length] ?? "I";
              log.push(content);
              tried.push("|", content);
            }
          }
          // What nobody could tell may be told once what stood before it is known; what was sent or accepted stays so.
          let verdicts = words(ask(false, () => true, []));
          for (let times = 0; times <= rejects.length; times += 1) {
            const story = `${log.join(" ")}: ${tried.join(" ")}; ${verdicts.join(" ")}`;
            const next = words(ask(false, () => true, []));
            for (const [at, verdict] of next.entries())
              if (/new|old/.test(verdicts[at] ?? "")) expect(verdict, story).not.toBe("new");
            verdicts = next;
          }
          expect(verdicts).not.toContain("new");
          const story = `${log.join(" ")}: ${tried.join(" ")}`;
          if (streams.some(({ isAgain }) => isAgain)) return;
          // Behind what the night had accepted, only what stood behind it.
          const sent = words(tried.slice(night.length).join(" ")).filter((word) => /^\w/.test(word));
          let place = night.findLastIndex((_, at) => !bad.includes(at));
          for (const content of sent) {
            place = log.indexOf(content, place + 1);
            expect(place, story).not.toBe(-1);
          }
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 1000) },
    );
  });

  it("once the times of resales are gone, or have come, nothing is sent that would not stand in the order of the input", () => {
    const night = fc.record({
      more: fc.array(fc.constantFrom(..."ABC"), { minLength: 1, maxLength: 3 }),
      late: fc.option(fc.tuple(fc.nat(5), fc.constantFrom(..."ABC"))),
      rejected: fc.array(fc.nat(3), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.constantFrom("go", "come"), fc.array(night, { minLength: 1, maxLength: 3 }), (times, nights) => {
        const rows: { readonly content: string; readonly time: number }[] = [];
        const tried: string[] = [];
        for (const [count, { more, late, rejected }] of nights.entries()) {
          for (const [at, holder] of more.entries())
            rows.push({ content: `${holder}a`, time: 100 * (count + 1) + 10 * at });
          if (late && count > 0) rows.push({ content: `${late[1]}a`, time: 10 * (late[0] + 1) + count });
          rows.sort((one, other) => one.time - other.time);
          const given = rows.map(({ content, time }) => (times === "go" ? `${content}${time}` : content));
          const verdicts = resold(tried.join(" "), given);
          const asked = given.filter((_, at) => verdicts[at] === "new");
          tried.push("|", ...asked.map((deed, at) => (rejected.includes(at) ? `-${deed}` : deed)));
        }
        const untimed = rows.map(({ content }) => content);
        const last = rows.map(({ content, time }) => (times === "go" ? content : `${content}${time}`));
        const verdicts = resold(tried.join(" "), last);
        const has = tried.filter((deed) => /^\w/.test(deed)).map((deed) => deed.replace(/\d+$/, ""));
        const all = [...has, ...untimed.filter((_, at) => verdicts[at] === "new")];
        const story = `${tried.join(" ")}; ${last.join(" ")}: ${verdicts.join(" ")}`;
        let place = -1;
        if (verdicts.includes("new"))
          for (const content of all) {
            place = untimed.indexOf(content, place + 1);
            expect(place, story).not.toBe(-1);
          }
      }),
      { numRuns: Number(process.env.RUNS ?? 1000) },
    );
  });

  it("resales that all say something else are changed, and what comes behind them is new", () => {
    fc.assert(
      fc.property(resales(6), resales(3), (accepted, more) => {
        const verdicts = words(judged(spaced(priced(accepted, "a")), spaced(priced([...accepted, ...more], "b"))));
        expect(verdicts).toEqual([...priced(accepted, "a").map((deed) => `changed:${deed}`), ...more.map(() => "new")]);
      }),
    );
  });

  it("no resale is sent beside an accepted one to the same that the input lacks", () => {
    const deeds = fc.array(fc.constantFrom("Aa", "Ab", "Ba", "Bb", "Ca"), { maxLength: 6 });
    fc.assert(
      fc.property(deeds, deeds, (accepted, input) => {
        const verdicts = words(judged(spaced(accepted), spaced(input)));
        const countOf = (all: readonly string[], holder: string | undefined): number =>
          all.filter((deed) => deed[0] === holder).length;
        for (const [at, verdict] of verdicts.entries()) {
          if (verdict !== "new") continue;
          const holder = input[at]?.[0];
          const told = input.filter((_, other) => verdicts[other] !== "new");
          expect(countOf(told, holder), verdicts.join(" ")).toBeGreaterThanOrEqual(countOf(accepted, holder));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("nothing that is sent stands before something old", () => {
    fc.assert(
      fc.property(once, once, (accepted, input) => {
        const verdicts = words(judged(spaced(accepted), spaced(input)));
        const firstNew = verdicts.indexOf("new");
        if (firstNew !== -1) expect(verdicts.lastIndexOf("old")).toBeLessThan(firstNew);
      }),
    );
  });

  it("the k-th equal one with a time is the k-th accepted, and the order plays no part", () => {
    const timed = fc.array(fc.constantFrom("A1", "A2", "B1", "B3"), { maxLength: 8 });
    fc.assert(
      fc.property(timed, timed, (accepted, input) => {
        const old = words(judged(spaced(accepted), spaced(input))).filter((verdict) => verdict === "old").length;
        const count = (deeds: readonly string[], deed: string) => deeds.filter((each) => each === deed).length;
        const kinds = [...new Set(input)];
        expect(old).toBe(kinds.reduce((sum, deed) => sum + Math.min(count(accepted, deed), count(input, deed)), 0));
      }),
    );
  });

  it("every deed has a verdict, and beside an invalid row nothing is sent", () => {
    const deeds = fc.array(fc.constantFrom("A", "B", "C", "A1", "B2", "C3", "?", "?2"), { maxLength: 8 });
    const asked = fc.array(fc.constantFrom("A", "B", "-C", "A1", "B2", "-C3", "~A"), { maxLength: 8 });
    fc.assert(
      fc.property(asked, deeds, (accepted, input) => {
        const verdicts = words(judged(spaced(accepted), spaced(input)));
        expect(verdicts).toHaveLength(input.length);
        if (input.some((deed) => deed.startsWith("?"))) expect(verdicts).not.toContain("new");
      }),
    );
  });

  it("each accepted deed is taken for one of the input at the most", () => {
    const deeds = fc.array(fc.constantFrom("A", "B", "A1", "A2", "B2", "?"), { maxLength: 8 });
    fc.assert(
      fc.property(deeds, deeds, (accepted, input) => {
        const tried = accepted.filter((deed) => deed !== "?");
        const verdicts = matchHistory(
          tried.map((deed) => known(deed)),
          input.map(given),
        );
        const taken = verdicts.flatMap((verdict) => ("of" in verdict ? [verdict.of] : []));
        expect(new Set(taken).size).toBe(taken.length);
      }),
    );
  });
});

describe("the longest end of what was accepted at the beginning of the input", () => {
  it("is found by trying them all", () => {
    fc.assert(
      fc.property(any, any, (accepted, input) => {
        const ends = Array.from({ length: accepted.length + 1 }, (_, from) => accepted.slice(from));
        const fitting = ends.filter((end) => input.join("").startsWith(end.join("")));
        expect(oldLength(accepted, input)).toBe(Math.max(...fitting.map(({ length }) => length)));
      }),
    );
  });
});
