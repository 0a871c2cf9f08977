/**
 * The words of each rule that no bad file shows, by an input that breaks it (test/support/rule-triggers.ts), as `tickets plan`
 * prints them. Those of the bad files are in test/e2e/golden-plans/. When a change is meant: `npx vitest run rule-messages -u`.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fieldOf, TRIGGERS, triggerOf } from "../support/rule-triggers.ts";

const GOLDEN = fileURLToPath(new URL("golden-rules/", import.meta.url));

describe("the words of", () => {
  test.for(Object.keys(TRIGGERS))("%s", async (rule) => {
    const { field, names } = await fieldOf(triggerOf(rule), "");
    const { said } = await field.ask("plan", { files: names, json: true });
    const reported = said.replaceAll(field.folder, "FOLDER").replaceAll(/\brun [0-9a-f]{8}\b/g, "run RUN");
    const ofRule = new RegExp(`^${rule}(?::| \\(\\d).*\\n(?: {2,}.*\\n)*`, "gm");
    await expect((reported.match(ofRule) ?? []).join("")).toMatchFileSnapshot(join(GOLDEN, `${rule}.txt`));
  });

  test("no other rule are kept", () => {
    expect(readdirSync(GOLDEN).toSorted()).toEqual(
      Object.keys(TRIGGERS)
        .map((rule) => `${rule}.txt`)
        .toSorted(),
    );
  });
});
