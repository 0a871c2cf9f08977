/** Recipes are sources that can be used, and what is said beside their keys stands beside a key. */

import { describe, expect, test } from "vitest";
import { RECIPES, toFillIn } from "../../../src/init/recipes.ts";
import { sourceSchema } from "../../../src/map/source.ts";

/** Every path of the data, lists left out: `actions.soldTicket.fields.price`. */
function pathsOf(data: unknown, path = ""): readonly string[] {
  if (Array.isArray(data)) return data.flatMap((item) => pathsOf(item, path));
  if (typeof data !== "object" || data === null) return [path];
  return [
    path,
    ...Object.entries(data).flatMap(([key, value]) => pathsOf(value, path === "" ? key : `${path}.${key}`)),
  ];
}

describe.each(RECIPES.map((recipe) => [recipe.name, recipe] as const))("the recipe %s", (_name, recipe) => {
  const { source, remarks, headers } = recipe;

  test("is a source as the config takes it", () => {
    expect(sourceSchema.safeParse(source).error).toBeUndefined();
  });

  test("says something of keys that it has, and has the part that is to be filled in", () => {
    expect(pathsOf(source)).toEqual(expect.arrayContaining(Object.keys(remarks)));
    for (const remark of Object.values(remarks)) expect(JSON.stringify(source)).toContain(toFillIn(remark)?.part ?? "");
  });

  test("is told from all others by its headers", () => {
    const others = RECIPES.filter((other) => other !== recipe && other.headers.every((each) => headers.includes(each)));
    expect(others).toEqual([]);
  });
});

test("no two recipes have one name", () => {
  expect(new Set(RECIPES.map(({ name }) => name)).size).toBe(RECIPES.length);
});
