/**
 * Every rule of every table, each with an input that breaks it: raised to `error` nothing is sent and the end is 3, in
 * validate, plan and stream alike; turned off it is silent, and what may have been accepted is not sent even then. A new rule needs a bad file (scripts/bad-fixtures.ts) or a
 * trigger (test/support/rule-triggers.ts).
 *
 * The words of each that no bad file shows are pinned in golden-rules/, those of the bad files in test/e2e/golden-plans/. When a
 * change is meant: `npx vitest run every-rule -u`.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { KNOWN_RULES } from "../../src/rules.ts";
import { fieldOf, SHOWN, TRIGGERS, triggerOf } from "../support/rule-triggers.ts";
import { LONG, testEach } from "../support/walks.ts";

/** Its row can't be an action at all: what is wrong is reported under this very rule. */
const NEVER_SILENT: ReadonlySet<string> = new Set(["item-shape"]);

const rulesIn = (out: string): readonly string[] =>
  (JSON.parse(out) as { readonly problems: readonly { readonly rule: string }[] }).problems.map(({ rule }) => rule); // of validate --json

describe("every rule", () => {
  test.each(KNOWN_RULES)("%s is shown by a bad file or a trigger", (rule) => {
    expect(() => triggerOf(rule)).not.toThrow();
  });

  testEach("%s: raised it stops everything, off it is silent", KNOWN_RULES, 3, stopsOrIsSilent);

  async function stopsOrIsSilent(rule: string): Promise<void> {
    const { field, names } = await fieldOf(triggerOf(rule), `rules: {${rule}: error}\n`);
    const asked = { files: names, json: true };
    const sentBefore = field.sandbox.engine.counts().accepted;

    const validated = await field.ask("validate", asked);
    expect(rulesIn(validated.out), validated.said).toContain(rule);
    expect(validated.exitCode).toBe(3);
    expect((await field.ask("plan", asked)).exitCode).toBe(3);
    expect((await field.stream(names)).exitCode).toBe(3);
    expect(field.sandbox.engine.counts().accepted).toBe(sentBefore);

    if (NEVER_SILENT.has(rule)) return;
    await field.edit("tickets.config.yaml", `{${rule}: error}`, `{${rule}: off}`);
    const off = await field.ask("validate", asked);
    expect(rulesIn(off.out)).not.toContain(rule);
    expect(off.said).not.toMatch(new RegExp(`^${rule}(:| \\()`, "m"));
  }

  const neverSent = Object.entries(TRIGGERS).flatMap(([rule, { held }]) =>
    held === undefined ? [] : [[rule, held] as const],
  );

  test.each(neverSent)("%s: as a warning or off, nothing is sent on a guess", LONG, async (rule, held) => {
    for (const severity of ["warn", "off"]) {
      const { field, names } = await fieldOf(triggerOf(rule), `rules: {${rule}: ${severity}}\n`);
      const sentBefore = field.sandbox.engine.counts().accepted;
      const night = await field.stream(names);
      expect(night.said.includes(`${rule}:`)).toBe(severity === "warn");
      // Nobody was shown what changed; what is late or unclear waits for a person.
      expect(night.exitCode, night.said).toBe(rule === "changed" && severity === "off" ? 0 : 4);
      expect(night.summary?.actions).toMatchObject({ accepted: 0, notSent: 0, ...held });
      expect(field.sandbox.engine.counts().accepted).toBe(sentBefore);
    }
  });

  test("has a trigger of its own only where no bad file shows it, or shows that it is not sent", () => {
    const own = Object.entries(TRIGGERS).filter(([, { held }]) => held === undefined);
    expect(own.filter(([rule]) => SHOWN.has(rule))).toEqual([]);
  });
});

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
