import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActionData } from "../../../../src/actions/actions.ts";
import {
  type GivenKeyDeed,
  type KeyDeed,
  type KeyTry,
  type KnownKeyDeed,
  matchKey,
} from "../../../../src/plan/histories/match-key.ts";

/**
 * Deeds in a word each: `A` says A, `A3` says A at the time 3, and so on of the ticket T; `U:A` is of the ticket U. Known ones:
 * `~A` is pending. Of the input: `(A)` is left out of its row, `A@7` comes seventh in the order of sending. Rows stand between bars.
 */
const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

function saying(word: string): KeyDeed {
  const [, subject = "T", content = ""] = /^(?:(.):)?(.+)$/.exec(word) ?? [];
  const time = content.length > 1 ? BigInt(content.slice(1)) : undefined;
  const data: ActionData = { ticketId: subject, userId: content };
  return { content, subject, said: () => ({ rest: content.slice(0, 1), holder: undefined, time }), data: () => data };
}

const known = (word: string): KnownKeyDeed => ({ ...saying(word.replace("~", "")), isPending: word.startsWith("~") });

interface Given extends GivenKeyDeed {
  readonly word: string;
}

type Rule = Parameters<typeof matchKey>[1]["rule"];

/** What the service was asked for: `-A` was rejected, and what follows a bar is of a later run. */
function tries(text: string): readonly KeyTry[] {
  let taken = 0;
  return text.split("|").flatMap((asked, run) =>
    words(asked.replaceAll(/~\S+/g, "")).map((word) => {
      const isTaken = !word.startsWith("-");
      const { content, subject } = saying(word.replace("-", ""));
      const of = isTaken ? taken++ : undefined;
      return { content, subject, isTaken, of, run, isAgain: () => false };
    }),
  );
}

/** The verdicts of what is open, in the order of the input. */
function judged(
  accepted: string,
  input: string,
  { rule = "history" as Rule, apart = "", tried = accepted } = {},
): string {
  const deeds = words(accepted);
  let seq = 0;
  const given = (word: string): Given => {
    const [deed = "", place] = word.replace(/[()]/g, "").split("@");
    seq += 1;
    return { ...saying(deed), word: deed, seq: Number(place ?? seq), isOpen: !word.startsWith("(") };
  };
  const rows = input.split("|").map((row) => words(row).map(given));
  const verdicts = matchKey(rows, {
    known: deeds.map(known),
    tries: tries(tried),
    rule,
    isApart: ({ content }) => words(apart).includes(content),
  });
  return rows
    .flat()
    .filter(({ isOpen }) => isOpen)
    .map((deed) => {
      const verdict = verdicts.get(deed);
      switch (verdict?.kind) {
        case "known": {
          const of = deeds[verdict.of];
          if (of?.startsWith("~")) return "pending";
          return of === deed.word ? "sent" : `changed:${of}`;
        }
        case "repeated":
          return `repeated:${verdict.first.seq}`;
        case "of another":
          return `of:${deeds[verdict.of]}`;
        case "of another given":
        case "differs":
          return `${verdict.kind}:${verdict.at.seq}`;
        case "unclear":
          return `unclear:${verdict.left.map((at) => deeds[at]).join("+")}`;
        default:
          return verdict?.kind ?? "none";
      }
    })
    .join(" ");
}

describe("what a row gives under its key", () => {
  it.each<[string, string, string, string]>([
    ["nothing was accepted", "", "A1 A2", "new new"],
    ["the same again", "A1 A2", "A1 A2", "sent sent"],
    ["it grows at the front", "A1", "A2 A1", "new sent"],
    ["it grows at the end", "A1", "A1 A2", "sent new"],
    ["it grows within", "A1 A3", "A1 A2 A3", "sent new sent"],
    ["it grows at the front, without times", "A B", "C A B", "new sent sent"],
    ["it shrinks at the front", "A1 A2", "A2", "sent"],
    ["it shrinks at the end", "A B", "A", "sent"],
    ["another order", "A B C", "C A B", "sent sent sent"],
    ["one changes", "A1 A2", "A1 A5", "sent changed:A2"],
    ["one changes, without times", "A B", "C B", "changed:A sent"],
    ["one changes at its time", "A1 A2", "B2 A3 A1", "changed:A2 new sent"],
    ["all change", "A1 A2", "A5 A6", "changed:A1 changed:A2"],
    ["some change and others are gone", "A B C", "D", "changed:C"],
    ["some change and others are new", "A1 A2", "A1 A5 A6", "sent unclear:A2 unclear:A2"],
    ["all change and others are new", "A B", "C D E", "unclear:A+B unclear:A+B unclear:A+B"],
    ["equal ones, one of them more", "A1", "A1 A1", "sent new"],
    ["equal ones, one of them less", "A A", "A", "sent"],
    ["equal ones again", "A A", "A A", "sent sent"],
    ["A, B and A again", "A B", "A B A", "sent sent new"],
    ["one that gets its time", "A", "A1", "changed:A"],
    ["one that loses it", "A1", "A", "changed:A1"],
    ["one deed, of several that were accepted", "A B", "C", "changed:B"],
    ["several tickets", "", "A U:A", "new new"],
    ["several tickets, one more", "A U:A", "A V:A U:A", "sent new sent"],
    ["a ticket more for each", "A", "U:A A", "new sent"],
    ["the key of another ticket", "A", "U:A", "of:A"],
    ["the key of another ticket, beside its own", "A U:A", "A V:A", "sent of:U:A"],
    ["one in doubt", "A ~B", "A B", "sent pending"],
    ["one in doubt, and one more", "A ~B", "C A B", "new sent pending"],
    ["one in doubt that is gone or changed", "A ~B", "A C D", "sent pending pending"],
    ["one in doubt of another ticket", "~A", "U:A", "pending"],
  ])("%s", (_, accepted, row, verdicts) => expect(judged(accepted, row)).toBe(verdicts));
});

describe("a row of which tickets:actions leaves a part out", () => {
  it.each<[string, string, string, string]>([
    ["the other was accepted", "A", "(A) B", "new"],
    ["it was accepted too", "A B", "(A) B", "sent"],
    ["both say the same", "A", "A (A)", "new"],
    ["the other says something else by now", "A", "(C) B", "new"],
    ["it changed", "A B", "(A) C", "changed:B"],
    ["it was not accepted, though it is left out", "", "(A) B", "new"],
  ])("%s", (_, accepted, row, verdicts) => expect(judged(accepted, row)).toBe(verdicts));
});

describe("rows of one key in an input", () => {
  it.each<[string, string, string, string]>([
    ["the same row twice", "", "A B | A B", "new new repeated:1 repeated:2"],
    ["one that grew", "", "A | B A | C B A", "new new repeated:1 new repeated:2 repeated:1"],
    ["one that grew since it was accepted", "A", "A B | C B A", "sent new new repeated:2 sent"],
    ["one that shrank", "", "A B | B", "new new repeated:2"],
    ["one that says something else", "", "A | B", "new differs:1"],
    ["a third that says the same as the second", "", "A | B | B", "new differs:1 differs:1"],
    ["one that says something else at the same time", "", "A1 | B1", "new differs:1"],
    ["one that says more, and something else", "", "A B | A C D", "new new repeated:1 differs:2 differs:2"],
    ["both changed since", "A", "B | C", "changed:A changed:A"],
    ["another ticket", "", "A | U:A", "new of another given:1"],
    ["another ticket, and the first again", "", "A | U:A | A", "new of another given:1 repeated:1"],
    ["the later row is sent first, by time", "", "A1@2 | A1@1", "repeated:1 new"],
    ["the export, and its rejects", "A", "A B | (A) B", "sent new repeated:2"],
    ["the export, and its rejects that were mended", "A", "A B | (A) C", "sent new differs:2"],
  ])("%s", (_, accepted, rows, verdicts) => expect(judged(accepted, rows)).toBe(verdicts));
});

describe("a row whose deeds were accepted without its key, or rejected under it", () => {
  it.each<[string, string, string, string, string]>([
    ["in part", "C", "A B", "A B", "new new"],
    ["and changed under it", "C D", "A E", "A", "new changed:D"],
    ["but it is one, and one is under its key", "C", "A", "A", "changed:C"],
  ])("%s", (_, accepted, row, apart, verdicts) => expect(judged(accepted, row, { apart })).toBe(verdicts));
});

describe("a row of which the service rejected a part", () => {
  const judgedBeside = (tried: string, row: string, rule?: Rule): string => {
    const accepted = words(tried).filter((word) => word !== "|" && !word.startsWith("-"));
    const apart = words(tried).flatMap((word) => (word.startsWith("-") ? [word.slice(1)] : []));
    return judged(accepted.join(" "), row, { tried, apart: apart.join(" "), ...(rule !== undefined && { rule }) });
  };

  it.each<[string, string, string, string]>([
    ["a later one says the same", "-A B A", "A B A", "new sent sent"],
    ["and the list grew since", "-A B A", "A B A C", "new sent sent new"],
    ["and within", "-A B A", "C A B D A", "new new sent new sent"],
    ["and what was rejected is gone", "-A B A", "B A", "sent sent"],
    ["an earlier one says the same", "A B -A", "A B A", "sent sent new"],
    ["it was tried again, and taken", "A B -A | A", "A B A", "sent sent sent"],
    ["which stands in the input twice", "-A B A", "A B A | A B A", "new sent sent repeated:1 sent sent"],
    ["of another ticket", "-A U:B A", "A U:B A", "sent sent new"],
    ["alone, beside what was taken with it", "-A1 | -A1 A2", "A1", "new"],
    ["alone, before another was taken", "-A1 | A2", "A1", "changed:A2"],
  ])("%s", (_, tried, row, verdicts) => expect(judgedBeside(tried, row)).toBe(verdicts));

  it("of claims, too", () => expect(judgedBeside("-A | -A B", "A", "recipient")).toBe("new"));
});

describe("claims of one key", () => {
  it.each<[string, string, string, string]>([
    ["of two users", "", "A B", "new new"],
    ["one more", "A", "B A", "new sent"],
    ["the same in one row", "", "A A B", "new repeated:1 new"],
    ["the same in one row, accepted", "A", "A A", "sent sent"],
    ["another user", "A", "B", "changed:A"],
    ["another user in another row", "", "A | B", "new repeated:1"],
    ["others in another row", "", "A | B C", "new differs:1 differs:1"],
  ])("%s", (_, accepted, rows, verdicts) => expect(judged(accepted, rows, { rule: "recipient" })).toBe(verdicts));
});

describe("what happens once", () => {
  it.each<[string, string, string, string]>([
    ["says something else in another row", "", "A | B", "new repeated:1"],
    ["changed", "A", "B", "changed:A"],
    ["of two tickets", "", "A | U:A", "new of another given:1"],
  ])("%s", (_, accepted, rows, verdicts) => expect(judged(accepted, rows, { rule: "once" })).toBe(verdicts));
});

it("sends of a list that grows anywhere what is new, whatever stands in it", () => {
  const contents = fc.array(fc.constantFrom("A", "B", "A1", "A2", "B2", "B3"), { maxLength: 6 });
  fc.assert(
    fc.property(contents, contents, fc.nat(), (before, more, from) => {
      const at = from % (before.length + 1);
      const now = [...before.slice(0, at), ...more, ...before.slice(at)];
      const verdicts = words(judged(before.join(" "), now.join(" ")));
      expect(verdicts.filter((verdict) => verdict === "new")).toHaveLength(more.length);
      expect(verdicts.filter((verdict) => verdict === "sent")).toHaveLength(before.length);
    }),
  );
});

it("takes no accepted deed for new, and sends of several nights none twice", () => {
  const lists = fc.array(fc.constantFrom("A", "B", "C", "A1", "A2", "B2", "B3"), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(lists, { minLength: 1, maxLength: 6 }), (nights) => {
      const accepted: string[] = [];
      const count = (list: readonly string[], word: string): number => list.filter((each) => each === word).length;
      for (const night of nights) {
        const verdicts = words(judged(accepted.join(" "), night.join(" ")));
        expect(verdicts).toHaveLength(night.length);
        const sent = night.filter((_, at) => verdicts[at] === "new");
        accepted.push(...sent);
        for (const word of sent) expect(count(accepted, word)).toBeLessThanOrEqual(count(night, word));
        // All that was accepted is there, or is said to have changed, where anything is new.
        const others = verdicts.filter((verdict) => verdict === "sent" || verdict.startsWith("changed"));
        if (sent.length > 0) expect(others).toHaveLength(accepted.length - sent.length);
      }
    }),
  );
});
