import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { generatedDocs } from "../../../scripts/docs.ts";
import { FIELD_NAMES } from "../../../src/actions/fields.ts";
import { KNOWN_RULES } from "../../../src/run/rules.ts";

describe("generated docs", () => {
  const docs = generatedDocs();

  it.each([...docs.keys()])("%s is what npm run generate writes", (path) => {
    const committed = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
    expect(committed).toBe(docs.get(path));
  });

  it("show every rule once", () => {
    const shown = [...(docs.get("docs/rules.md") ?? "").matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, id]) => id);
    expect(shown.sort()).toEqual(KNOWN_RULES.toSorted());
  });

  it("show every field", () => {
    for (const name of FIELD_NAMES) expect(docs.get("docs/fields.md")).toContain(`| \`${name}\` |`);
  });

  it("have tables whose rows all have as many cells as their header", () => {
    for (const text of [docs.get("docs/rules.md"), docs.get("docs/fields.md")]) {
      for (const table of (text ?? "").split("\n\n").filter((part) => part.startsWith("|"))) {
        const widths = table
          .trimEnd()
          .split("\n")
          .map((row) => row.split(/(?<!\\)\|/).length);
        expect(new Set(widths).size).toBe(1);
      }
    }
  });
});
