import { describe, expect, it } from "vitest";
import {
  ACTION_RULES,
  ALL_RULES,
  CROSS_ACTION_RULES,
  LIKELY_RULES,
  MAPPING_RULES,
  READER_RULES,
} from "../../src/rules.ts";

describe("the rules", () => {
  it("have ids of their own, except where one table borrows a rule of the actions", () => {
    const own = [ACTION_RULES, LIKELY_RULES, CROSS_ACTION_RULES, MAPPING_RULES].flatMap((rules) => Object.keys(rules));
    expect(new Set(own).size).toBe(own.length);
    for (const [id, rule] of Object.entries(READER_RULES)) {
      if (own.includes(id)) expect(rule).toEqual(ACTION_RULES[id as keyof typeof ACTION_RULES]); // present in some table
    }
  });

  it("each have an id, a reason and, where it needs one, an example fit for a table of one line each", () => {
    for (const [id, { reason, example }] of Object.entries(ALL_RULES)) {
      expect(id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      expect(reason).toMatch(/^\S.*\.$/);
      expect(`${reason}${example}`).not.toContain("\n");
    }
  });

  it("that only say what is likely are warnings; what can't be taken back once it is public is an error", () => {
    const { "url-with-login": published, ...likely } = LIKELY_RULES;
    expect(new Set(Object.values(likely).map(({ severity }) => severity))).toEqual(new Set(["warn"]));
    expect(published.severity).toBe("error");
  });
});
