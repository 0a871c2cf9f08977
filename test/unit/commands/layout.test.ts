import { expect, it, test } from "vitest";
import { inPairs, layOut, wrapLines } from "../../../src/commands/layout.ts";

const rows = [
  ["T-1", "12"],
  ["票", "3"],
];

it.each([
  ["a table where it fits", 10, "ticket  n\n──────  ──\nT-1     12\n票      3\n"],
  ["a line for each value where it does not", 9, "ticket\n  T-1\nn\n  12\n\nticket\n  票\nn       3\n"],
])("%s", (_, columns, reported) => {
  expect(layOut(["ticket", "n"], rows, columns)).toBe(reported);
});

const sentences = [
  ["7f3a", "1,000 accepted, 12 rejected"],
  ["80c1", "3 accepted"],
];

it.each([
  [
    "stands in one line where it has room",
    Number.POSITIVE_INFINITY,
    "run   actions\n────  ───────────────────────────\n7f3a  1,000 accepted, 12 rejected\n80c1  3 accepted\n",
  ],
  [
    "goes on below itself where it has little",
    26,
    "run   actions\n────  ──────────────────\n7f3a  1,000 accepted, 12\n      rejected\n80c1  3 accepted\n",
  ],
  [
    "stands below its name where a word of it is too long",
    17,
    "run      7f3a\nactions\n  1,000 accepted,\n  12 rejected\n\nrun      80c1\nactions  3\n         accepted\n",
  ],
])("a sentence in the last column %s", (_, columns, reported) => {
  expect(layOut(["run", "actions"], sentences, columns)).toBe(reported);
});

test("a fact goes on below itself, and a command to be copied stays whole", () => {
  const facts = [
    ["last success", "28 Nov 03:00 (UTC), 5 h ago: stream sales.csv, 12 s"],
    ["last failure", undefined],
    ["unfinished", "run 7f3a0c11. To finish it: tickets resume 7f3a0c11 --env production"],
  ] as const;
  expect(inPairs(facts, 40)).toEqual([
    "last success  28 Nov 03:00 (UTC), 5 h",
    "              ago: stream sales.csv, 12",
    "              s",
    "unfinished",
    "  run 7f3a0c11. To finish it:",
    "  tickets resume 7f3a0c11 --env production",
  ]);
});

test.each([
  ["  To send it: tickets work --until-idle --env x", "  To send it:\n  tickets work --until-idle --env x"],
  ["what tickets knows of it is this and no more", "what tickets knows of\nit is this and no more"],
])("of a line, only a command at its end stays whole: %s", (line, broken) => {
  expect(wrapLines(line, 22)).toBe(broken);
});
