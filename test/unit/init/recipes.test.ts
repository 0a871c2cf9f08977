/** Recipes are sources on their pages that can be used, and what is to be filled in is said beside a key in the way that is read. */

import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { readRecipes } from "../../../src/init/from-recipe.ts";
import { sourceSchema } from "../../../src/map/source.ts";

const RECIPES = readRecipes();

describe.each(RECIPES.map((recipe) => [recipe.name, recipe] as const))("the recipe %s", (_name, recipe) => {
  const { source, headers } = recipe;

  test("is a source as the config takes it", () => {
    const document = parseDocument(source, { schema: "failsafe" });
    expect(document.errors).toEqual([]);
    expect(sourceSchema.safeParse(document.toJS()).error).toBeUndefined();
  });

  test("asks for nothing in another form than is read", () => {
    const asking = source.split("\n").filter((line) => /fill in/i.test(line));
    for (const line of asking) expect(line).toMatch(/: \S.* {3}# FILL IN(?: as \{.+\}| for each \{.+\})?: .+$/);
  });

  test("is recognised by its headers", () => {
    const others = RECIPES.filter((other) => other !== recipe && other.headers.every((each) => headers.includes(each)));
    expect(others).toEqual([]);
  });
});

test("those that the index of recipes says init knows are found, and no two have one name", () => {
  expect(RECIPES).toHaveLength(14);
  expect(new Set(RECIPES.map(({ name }) => name)).size).toBe(RECIPES.length);
});
