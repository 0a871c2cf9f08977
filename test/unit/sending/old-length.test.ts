import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchTimed, oldLength } from "../../../src/pipeline/plan/judge.ts";

/** Each letter is one content. */
const of = (letters: string): readonly Buffer[] => Array.from(letters, (letter) => Buffer.from(letter));
const old = (accepted: string, input: string): number => oldLength(of(accepted), of(input));

describe("how much of a history is old", () => {
  it.each<[string, string, string, number]>([
    ["nothing was accepted", "", "AB", 0],
    ["nothing is given", "AB", "", 0],
    ["the same again", "ABC", "ABC", 3],
    ["the same and more", "ABC", "ABCDE", 3],
    ["only what is new", "ABC", "DE", 0],
    ["the last of it and more", "ABC", "CD", 1],
    ["the last two of it and more", "ABC", "BCD", 2],
    ["back to the first", "AB", "A", 0],
    ["there and back, as one history", "AB", "ABA", 2],
    ["there and back, a second time", "ABA", "ABA", 3],
    ["there and back, and there again", "ABA", "ABAB", 3],
    ["the longest end that fits, not the shortest", "AABAA", "AABAAC", 5],
    ["an end that overlaps itself", "AAA", "AAAA", 3],
    ["fewer of the same", "AAA", "AA", 2],
    ["another beginning", "ABC", "XBC", 0],
    ["the beginning only: A was overwritten, so it is a new deed", "ABC", "AB", 0],
    ["a middle only", "ABC", "B", 0],
  ])("%s: %s, then %s", (_name, accepted, input, length) => {
    expect(old(accepted, input)).toBe(length);
  });
});

describe("which of a history is old where each deed has its time", () => {
  /** The letters of the input that are new, and of what was accepted those that the input lacks. */
  const matched = (accepted: string, input: string): string => {
    const { matches, left } = matchTimed(of(accepted), of(input));
    const fresh = Array.from(input).filter((_, at) => !matches.has(at));
    return `${fresh.join("")}/${left.map((at) => accepted[at]).join("")}`;
  };

  it.each<[string, string, string, string]>([
    ["the same again", "ABC", "ABC", "/"],
    ["the export of an earlier day", "ABC", "AB", "/C"],
    ["a part of it", "ABC", "B", "/AC"],
    ["the last of it and more", "ABC", "CD", "D/AB"],
    ["the same and more", "ABC", "ABCD", "D/"],
    ["without a row in the middle, and more", "ABC", "ACD", "D/B"],
    ["with a row that came late", "AC", "ABC", "B/"],
    ["with another beginning", "ABC", "XBC", "X/A"],
    ["in another order", "ABC", "CAB", "/"],
    ["nothing of it", "ABC", "XY", "XY/ABC"],
    ["nothing at all", "ABC", "", "/ABC"],
    ["nothing accepted", "", "AB", "AB/"],
    ["the same deed twice, accepted once", "A", "AA", "A/"],
  ])("%s: %s, then %s", (_name, accepted, input, expected) => {
    expect(matched(accepted, input)).toBe(expected);
  });
});

const history = fc.string({ unit: fc.constantFrom("A", "B", "C"), maxLength: 12 });

describe("of any histories", () => {
  it("repeating what was accepted sends nothing", () => {
    fc.assert(
      fc.property(history, (accepted) => {
        expect(old(accepted, accepted)).toBe(accepted.length);
      }),
    );
  });

  it("what comes after all that was accepted is new, and nothing else", () => {
    fc.assert(
      fc.property(history, history, (accepted, more) => {
        expect(old(accepted, accepted + more)).toBe(accepted.length);
      }),
    );
  });

  it("any end of what was accepted is old", () => {
    fc.assert(
      fc.property(history, fc.nat(12), (accepted, from) => {
        const end = accepted.slice(from);
        expect(old(accepted, end)).toBe(end.length);
      }),
    );
  });

  it("it is the longest end that stands at the beginning, by trying them all", () => {
    fc.assert(
      fc.property(history, history, (accepted, input) => {
        const ends = Array.from({ length: accepted.length + 1 }, (_, from) => accepted.slice(from));
        const longest = Math.max(...ends.filter((end) => input.startsWith(end)).map(({ length }) => length));
        expect(old(accepted, input)).toBe(longest);
      }),
    );
  });

  it("sending night after night, each night's file the whole history so far, repeats nothing and loses nothing", () => {
    fc.assert(
      fc.property(fc.array(history, { maxLength: 6 }), (nights) => {
        let accepted = "";
        let whole = "";
        for (const night of nights) {
          whole += night;
          accepted += whole.slice(old(accepted, whole));
        }
        expect(accepted).toBe(whole);
      }),
    );
  });
});
