/** How a config is written of data: quotes, notes, comments, and rules that are switched off. */

import { describe, expect, test } from "vitest";
import { configText, flow, type Line, linesOf, switchedOff, type Value } from "../../../src/init/config-text.ts";

const written = (...lines: readonly Line[]): readonly string[] => linesOf({ block: lines });

test.each<[Value, string]>([
  ["Ticket type", "Ticket type"],
  ["20.00", "20.00"],
  ["Spring Gala #7", '"Spring Gala #7"'],
  ["a: b", '"a: b"'],
  ["", '""'],
  ["{Order #}", '"{Order #}"'],
  ['say "no"\n', String.raw`"say \"no\"\n"`],
  [{ inQuotes: "yes" }, '"yes"'],
  [{ plain: "…" }, "…"],
  [{ pattern: String.raw`(?<at>\d{4}-[^']+)` }, String.raw`'(?<at>\d{4}-[^'']+)'`],
  [["paid", "a, b"], '[paid, "a, b"]'],
  [["NULL", "null", "nullable", "yes"], '["NULL", "null", nullable, yes]'],
  [flow({ from: "{Price}", blank: undefined, places: "2" }), '{from: "{Price}", places: 2}'],
])("%j is written %s", (value, text) => {
  expect(written({ key: "Item: 1", value })).toEqual([`"Item: 1": ${text}`]);
});

test("a text of any length stays on its line", () => {
  const long = "word ".repeat(60);
  expect(written({ key: "name", value: long })).toEqual([`name: ${JSON.stringify(long)}`]);
  expect(written({ key: "when", value: [long, long] })).toHaveLength(1);
});

describe("a note", () => {
  test("stands behind what is on one line, and behind the key of what is below", () => {
    const block = [{ key: "zone", value: "UTC", note: "guess" }];
    expect(written(...block, { key: "fields", value: { block }, note: "all" })).toEqual([
      "zone: UTC   # guess",
      "fields:   # all",
      "  zone: UTC   # guess",
    ]);
  });

  test("begins in its column where there is room for two blanks", () => {
    const value = { block: [{ key: "zone", value: "UTC", note: "own", noteAt: 20 }] };
    expect(
      written(
        { key: "zone", value: "UTC", note: "own", noteAt: 20 },
        { key: "fields", value, note: "all", noteAt: 20 },
        { key: "a longer key by far", value: "UTC", note: "own", noteAt: 20 },
      ),
    ).toEqual([
      "zone: UTC           # own",
      "fields:             # all",
      "  zone: UTC         # own",
      "a longer key by far: UTC   # own",
    ]);
  });
});

test("comments stand where they are put, in maps and lists", () => {
  const items = [{ comment: "# first" }, "a", { comment: "#b" }];
  expect(
    written(
      { comment: "# before" },
      { key: "skip", value: { items } },
      { comment: "#key: off" },
      { comment: "#  deeper" },
    ),
  ).toEqual(["# before", "skip:", "  # first", "  - a", "  #b", "#key: off", "#  deeper"]);
});

test("of nothing but comments nothing is said, rather than that there is nothing", () => {
  expect(written({ key: "actions", value: { items: [{ comment: "#- soldTicket: {}" }] } })).toEqual([
    "actions:",
    "  #- soldTicket: {}",
  ]);
});

test("what is switched off is a rule again without its #", () => {
  const item: Value = { items: [{ block: [{ key: "soldTicket", value: { block: [{ key: "when", value: "x" }] } }] }] };
  const comments = switchedOff(item).map(({ comment }) => comment);
  expect(comments).toEqual(["#- soldTicket:", "#    when: x"]);
  expect(comments.map((comment) => comment.slice(1))).toEqual(linesOf(item));
});

test("the head of a config is followed by a blank line and its sources", () => {
  const block = [{ key: "zone", value: "UTC", note: "own", noteAt: 12 }];
  expect(configText(["# head", "", "#more"], [{ comment: "# one" }, { key: "orders", value: { block } }])).toBe(
    "# head\n\n#more\n\nsources:\n  # one\n  orders:\n    zone: UTC   # own\n",
  );
});
