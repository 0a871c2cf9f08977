/** docs/mapping.md and docs/recipes/ can't drift: each of their examples is run. */

import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../../src/actions/json.ts";
import { MAPPING_RULES } from "../../../src/rules.ts";
import { linksIn, PAGES, readPage } from "../../support/pages.ts";
import { examplesOf, runRule, runWhole, type WholeExample } from "./mapping-examples.ts";

const page = readPage("docs/mapping.md");
const { whole, rules } = examplesOf(page);

const INDEX = "docs/recipes/README.md";
const RECIPE_PAGES = PAGES.filter((each) => each.startsWith("docs/recipes/") && each !== INDEX);
const recipes = RECIPE_PAGES.flatMap((each) =>
  examplesOf(readPage(each)).whole.map((example) => ({ name: `${each}:${example.line}`, example })),
);

const lines = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

async function expectGiven(example: WholeExample): Promise<void> {
  const { out, said } = await runWhole(example);
  if (example.expected.language === "ndjson") {
    expect(said).toEqual([]);
    expect(lines(out).map(parseJson)).toEqual(lines(example.expected.text).map(parseJson));
  } else {
    expect(out).toBe("");
    for (const line of lines(example.expected.text)) expect(said).toContain(line);
  }
}

describe("docs/mapping.md", () => {
  test.each(rules.map((rule) => [`line ${rule.line}: ${rule.rule.split("\n")[0]} → ${rule.gives}`, rule] as const))(
    "%s",
    (_name, rule) => {
      expect(runRule(rule)).toBe(rule.gives);
    },
  );

  test.each(whole.map((example) => [`line ${example.line}: ${example.files[0]?.name}`, example] as const))(
    "%s gives what the page says",
    async (_name, example) => {
      await expectGiven(example);
    },
  );

  test("names every rule of rows that a mapping can break", () => {
    const reported = Object.keys(MAPPING_RULES).filter((rule) => !page.includes(rule));
    // Of rows that name no field of a source.
    expect(reported).toEqual(["action-conflict", "column-ambiguous"]);
  });
});

describe("docs/recipes/", () => {
  test.each(recipes)("$name gives what the page says", async ({ example }) => {
    await expectGiven(example);
  });

  test("the index names every page", () => {
    const linked = new Set(linksIn(readPage(INDEX)));
    expect(RECIPE_PAGES.map((each) => basename(each)).filter((each) => !linked.has(each))).toEqual([]);
  });
});
