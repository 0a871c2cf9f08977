import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formOf, mayHaveForms, UnicodeForms, withFormShown } from "../../../src/actions/unicode-forms.ts";

/** Characters with several forms, their parts, and some that have none. */
const CHARACTERS = [
  ...["u", "o", "-", "\u0308", "\u0323", "\u0302", "\u00fc", "\u00f6", "\u1ed9", "\u1ecd", "\u00f4"],
  ...["\u212b", "\u00c5", "A\u030a", "\ud55c", "\u1112", "\u1161", "\u11ab", "\ud834\udd5e", "\u6771", "\u00b2"],
];

describe("forms of an id", () => {
  it("are those that Unicode calls canonically equivalent", () => {
    const id = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 4 }).map((each) => each.join(""));
    fc.assert(
      fc.property(fc.array(id, { maxLength: 6 }), id, (taken, asked) => {
        const forms = new UnicodeForms();
        for (const each of taken) forms.take(each);
        const others = forms.othersOf(asked);
        const expected = taken.filter((each) => each !== asked && each.normalize("NFD") === asked.normalize("NFD"));
        expect(others).toEqual(expect.arrayContaining(expected));
        for (const other of others) expect(other.normalize("NFD")).toBe(asked.normalize("NFD"));
        expect(others).not.toContain(asked);
      }),
      { numRuns: 2000 },
    );
  });

  it("are asked for where an id is not ASCII", () => {
    expect(["", "A-1", "~\u007f", "\u0000"].map(mayHaveForms)).toEqual([false, false, false, false]);
    expect(["\u0080", "\u00fc", "u\u0308", "\ud834\udd5e"].map(mayHaveForms)).toEqual([true, true, true, true]);
  });

  it("have names", () => {
    expect(["\u00fc", "u\u0308", "\u00fcu\u0308", "\u6771"].map(formOf)).toEqual(["NFC", "NFD", undefined, "NFC"]);
  });

  it.each([
    ["\u6771-M\u00fcller", "\u6771-Mu\u0308ller", "\u6771-M\\u00fcller", "\u6771-Mu\\u0308ller"],
    ["\u00ea\u0301", "e\u0302\u0301", "\\u00ea\\u0301", "e\\u0302\\u0301"],
    ["\ud55c\u00e4", "\u1112\u1161\u11ab\u00e4", "\\ud55c\u00e4", "\\u1112\\u1161\\u11ab\u00e4"],
    ["\ud834\udd5e", "\ud834\udd57\ud834\udd65", "\\ud834\\udd5e", "\\ud834\\udd57\\ud834\\udd65"],
  ])("are shown where they differ: %j, %j", (one, other, shownOne, shownOther) => {
    expect(withFormShown(one, other)).toBe(shownOne);
    expect(withFormShown(other, one)).toBe(shownOther);
  });
});
