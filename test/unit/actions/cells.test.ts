import { describe, expect, test } from "vitest";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec } from "../../../src/actions/actions.ts";
import { compileField, Draft, itemOf } from "../../../src/actions/draft.ts";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { type FieldName, fieldSpec } from "../../../src/actions/fields.ts";
import type { Problem } from "../../../src/actions/problem.ts";

function read(field: FieldName, text: string, action: ActionName = "soldTicket", clearWord = "\\clear") {
  const [draft, problems] = [new Draft(action), [] as Problem[]];
  compileField(action, field, { clearWord })(text, draft, problems);
  const value: unknown = itemOf(draft).data[field];
  return { value, rules: problems.map(({ rule }) => rule), problems };
}

describe("a text cell", () => {
  test.each<[FieldName, string, unknown]>([
    ["ticketId", "00123", "00123"],
    ["price", "12,50", "12,50"],
    ["orderTime", "9007199254740993", new ExactNumber("9007199254740993")],
    ["orderTime", "18446744073709551616", new ExactNumber("18446744073709551616")],
    ["orderTime", "000000000000000000000000000012", 12],
    ["orderTime", "2026-01-15T10:05:30.9+01:00", 1768467930],
    ["longitude", "+13", 13],
    ["longitude", "-5e-05", -0.00005],
    ["latitude", "+00.1E2", 10],
    ["metadataAttributes", '[{"trait_type":"Row","value":"A"}]', [{ trait_type: "Row", value: "A" }]],
    [
      "metadataAttributes",
      '[{"trait_type":"n","value":9007199254740993}]',
      [{ trait_type: "n", value: new ExactNumber("9007199254740993") }],
    ],
    ["metadataAttributes", '[{"trait_type":"a \\":b","value":"c"}]', [{ trait_type: 'a ":b', value: "c" }]],
  ])("of %s: %s", (field, text, expected) => {
    expect(read(field, text)).toEqual({ value: expected, rules: [], problems: [] });
  });

  test.each<[FieldName, string, string]>([
    ["orderTime", "2026-05-01 20:00:00", "time-without-zone"],
    ["orderTime", "2026-02-30T20:00:00Z", "time-unreadable"],
    ["orderTime", "1969-12-31T23:59:59Z", "u64-invalid"],
    ["orderTime", "-5", "u64-invalid"],
    ["orderTime", "1756710902.5", "u64-invalid"],
    ["orderTime", "9".repeat(1000), "u64-invalid"],
    ["latitude", "52,5163", "field-type"],
    ["metadataAttributes", "Row A", "metadata-invalid"],
    ["metadataAttributes", '{"trait_type":"Row","value":"A"}', "metadata-invalid"],
    ["metadataAttributes", '[{"trait_type":"Row","trait_type":"Seat","value":"A"}]', "json-duplicate-key"],
    ["metadataAttributes", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "metadata-invalid"],
  ])("of %s that reads %j is a problem: %s", (field, text, rule) => {
    const { value, rules, problems } = read(field, text);
    expect(value).toBeUndefined();
    expect(rules).toEqual([rule]);
    expect(problems[0]).toMatchObject({ field, value: text, message: expect.stringMatching(/\.$/) });
    expect(problems[0]?.hint).toBeTruthy();
  });
});

describe("the clear word", () => {
  const all = ACTION_NAMES.flatMap((action) => acceptedFields(action).map((field) => [action, field] as const));
  test.each(all)("in %s.%s clears to the table's default or is not-clearable", (action, field) => {
    const { value, rules } = read(field, "\\clear", action);
    const cleared = fieldSpec(field).default;
    if (actionSpec(action).updates && actionSpec(action).optional.includes(field) && cleared !== undefined) {
      expect(value).toBe(cleared);
      expect(rules).toEqual([]);
    } else {
      expect(value).toBeUndefined();
      expect(rules).toEqual(["not-clearable"]);
    }
  });

  test("may be another one", () => {
    expect(read("shopUrl", "-", "updateEvent", "-")).toEqual({ value: "", rules: [], problems: [] });
    expect(read("startTime", "-", "updateEvent", "-")).toEqual({ value: 0, rules: [], problems: [] });
    expect(read("shopUrl", "\\clear", "updateEvent", "-")).toEqual({ value: "\\clear", rules: [], problems: [] });
  });
});
