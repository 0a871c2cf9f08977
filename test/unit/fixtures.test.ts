/** What lies in fixtures/: written by its script, or by hand from the specification, and whole. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { BAD_FILES } from "../../scripts/bad-fixtures.ts";
import { generateFixtures, generateTwins } from "../../scripts/fixtures.ts";
import { ACTION_NAMES, actionSpec } from "../../src/actions/actions.ts";
import { parseJson } from "../../src/actions/json.ts";
import { ACTION_RULES, CROSS_ACTION_RULES, LIKELY_RULES, PLAN_RULES, READER_RULES } from "../../src/rules.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const generated = generateFixtures();

/** The rules that a file can break by itself; most of the mapping's need a source in the config. */
const RULES_OF_FILES = { ...READER_RULES, ...ACTION_RULES, ...LIKELY_RULES, ...CROSS_ACTION_RULES, ...PLAN_RULES };

interface TestAction {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const json = <T>(path: string): T => parseJson(readFileSync(join(FIXTURES, path), "utf8")) as T; // a file of this repository

describe("the generator", () => {
  it.each([...generated.keys()])("writes %s as it is committed", (path) => {
    const committed = readFileSync(join(FIXTURES, path));
    expect(committed.equals(Buffer.from(generated.get(path) ?? "missing"))).toBe(true);
  });

  it("has written all that lies in bad/", () => {
    const files = readdirSync(join(FIXTURES, "bad")).map((file) => `bad/${file}`);
    expect(files.toSorted()).toEqual([...generated.keys()].filter((path) => path.startsWith("bad/")).toSorted());
  });

  it("gives the sample of all kinds of actions as an array and as lines", () => {
    const payload = json<TestAction[]>("payload.json");
    const lines = generateTwins().get("actions.ndjson")?.trimEnd().split("\n");
    expect(lines?.map((line) => parseJson(line))).toEqual(payload);
    expect(new Set(payload.map(({ action }) => action))).toEqual(new Set(ACTION_NAMES));
  });
});

describe("the bad files", () => {
  const readme = readFileSync(join(FIXTURES, "README.md"), "utf8");

  it.each(BAD_FILES)("$file is explained in the README", ({ file }) => {
    expect(readme).toContain(`| \`${file}\` |`);
  });

  it("have a file for every rule that one small file can break", () => {
    const shown = new Set(BAD_FILES.map(({ rule }) => rule));
    expect(Object.keys(RULES_OF_FILES).filter((rule) => !shown.has(rule))).toEqual([
      "row-too-long",
      "payload-too-long",
      "late",
      "mapping-changed",
      "nothing-recognised",
    ]);
  });
});

/** What the sandbox makes of each: test/pipeline/sandbox/server.test.ts. */
describe("the literal bodies of the service", () => {
  it("cover all actions, with every field of each", () => {
    const requests = json<{ file: string }[]>("service/requests/index.json");
    const sent = requests.flatMap(({ file }) => json<TestAction[]>(`service/requests/${file}`));
    for (const action of ACTION_NAMES) {
      const { required, exclusive, anyOf, optional } = actionSpec(action);
      const fields = new Set(sent.filter((item) => item.action === action).flatMap(({ data }) => Object.keys(data)));
      expect([...fields].toSorted()).toEqual([...required, ...exclusive, ...anyOf, ...optional].toSorted());
    }
  });

  it("have an invalid request for every rule of the tables that is an error", () => {
    const errors = Object.entries(ACTION_RULES).filter(([, { severity }]) => severity === "error");
    const shown = new Set(json<{ rule: string }[]>("service/invalid/index.json").map(({ rule }) => rule));
    expect(errors.map(([rule]) => rule).filter((rule) => !shown.has(rule))).toEqual([]);
  });
});
