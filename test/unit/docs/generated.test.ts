import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { generatedDocs } from "../../../scripts/docs.ts";
import { KNOWN_RULES } from "../../../src/rules.ts";

describe("generated docs", () => {
  const docs = generatedDocs();

  it.each([...docs.keys()])("%s is what npm run generate writes", (path) => {
    const committed = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
    expect(committed).toBe(docs.get(path));
  });

  it("show every rule once", () => {
    const shown = [
      ...(
        docs
          .get("docs/reference.md")
          ?.split("\n## ")
          .find((section) => section.startsWith("Rules\n")) ?? ""
      ).matchAll(/^\| `([a-z0-9-]+)` \|/gm),
    ].map(([, id]) => id);
    expect(shown.sort()).toEqual(KNOWN_RULES.toSorted());
  });
});
