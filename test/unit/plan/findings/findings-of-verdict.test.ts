import { expect, test } from "vitest";
import type { Candidate } from "../../../../src/plan/candidates/candidates.ts";
import { findingOf, type KnownPlaces } from "../../../../src/plan/findings/findings-of-verdict.ts";
import type { Detail } from "../../../../src/plan/identity/verdicts.ts";

type Unclear = Extract<Detail, { kind: "unclear" }>;

const DATA = { ticketId: "t", imageUrl: "https://example.com/a" };
const places: KnownPlaces = {
  comparedWith: undefined,
  placeOf: ({ line }) => ({ source: "updates.csv", line }),
  isOfSource: () => false,
};

/** What is said of a row that can't be told, without the common end. */
function said(why: Unclear["why"], isCut: boolean, accepted: Unclear["accepted"] = [ACCEPTED]): readonly string[] {
  const given = [{ input: 0, line: 2, data: DATA }];
  const candidate = { action: "updateTicket" } as Candidate; // nothing else of it is read
  const finding = findingOf(candidate, { kind: "unclear", why, isCut, accepted, given }, places);
  return [finding?.message ?? "", finding?.hint ?? ""];
}

const ACCEPTED = { runNo: 1, seq: 1, content: Buffer.alloc(8) };
const UNTOLD = "Which updateTicket actions of this ticket were accepted can't be told, since";
const LISTED = "Accepted: (without content). This input: imageUrl https://example.com/a.";

test.each<[Unclear["why"], string]>([
  ["repeats", "equal ones repeat"],
  ["times", "times were added or removed"],
  ["rejected", "a row that was rejected says just what was accepted"],
  ["before unclear", "this one stands before others of which that can't be told"],
])("why it can't be told what was accepted: %s", (why, because) => {
  expect(said(why, false)[0]).toBe(`${UNTOLD} ${because}. ${LISTED}`);
  expect(said(why, false)[1]).toContain("stream them in a file of their own with --again");
  expect(said(why, true)).toEqual([`${UNTOLD} --limit leaves rows out. ${LISTED}`, "Stream the file without --limit."]);
});

test("rows that two runs rejected: nothing is listed as accepted where nothing was", () => {
  for (const isCut of [false, true])
    expect(said("forms", isCut, [])).toEqual([
      "Whether this updateTicket of this ticket is another row's, rejected in another run, can't be told: the two may be one row in two forms. This input: imageUrl https://example.com/a.",
      "Remove the row that is no longer right. If both are right, stream them with --again in a file of their own.",
    ]);
});

test.each<[Detail, string]>([
  [{ kind: "key shared", at: { input: 0, line: 5 } }, "that of another ticket, at updates.csv:5."],
  [{ kind: "key shared", at: { input: 0, line: 2 } }, "that of another ticket, in the same row."],
  [{ kind: "key shared", at: { input: 1, line: 2 } }, "that of another ticket, at updates.csv:2."],
  [
    { kind: "key repeated", at: { input: 0, line: 2 } },
    "that of another updateTicket of this ticket, in the same row, which says something else.",
  ],
])("whose key it is: %j", (detail, owner) => {
  const candidate = { action: "updateTicket", input: 0, line: 2 } as Candidate; // nothing else of it is read
  expect(findingOf(candidate, detail, places)?.message).toBe(`The key of this row is ${owner}`);
});
