/** `tickets validate` on every fixture: the good ones, the bad ones, and the literal bodies of the service. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { generateTwins } from "../../scripts/fixtures.ts";
import { type ActionName, isActionName } from "../../src/actions/actions.ts";
import { type Validated, validateFiles } from "../support/validating.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const json = <T>(path: string): readonly T[] => JSON.parse(readFileSync(join(FIXTURES, path), "utf8")) as T[]; // files of this repository

interface Bad {
  readonly file: string;
  readonly args?: readonly string[];
  /** Files that come first. */
  readonly before?: readonly string[];
  readonly exit: number;
  readonly rule?: string;
  readonly line?: number;
  readonly field?: string;
}

const BAD = json<Bad>("bad/expected.json");
const GOOD = readdirSync(FIXTURES).filter((name) => /\.(csv|json)$/.test(name));
/** The same rows in another form, in a folder of their own. */
const TWINS = mkdtempSync(join(tmpdir(), "tickets-twins-"));
afterAll(() => rmSync(TWINS, { recursive: true }));
const twins = generateTwins();
for (const [name, content] of twins) writeFileSync(join(TWINS, name), content);

function expectRowsToAddUp({ rows, problems, exitCode }: Validated): void {
  expect(rows.mapped + rows.skipped + rows.invalid + rows.held).toBe(rows.read);
  expect(problems.some(({ severity }) => severity === "error")).toBe(exitCode === 3);
}

describe("each bad file breaks its rule where it should", () => {
  test("the table names every file of the folder", () => {
    expect(BAD.map(({ file }) => file).toSorted()).toEqual(
      readdirSync(join(FIXTURES, "bad"))
        .filter((name) => name !== "expected.json")
        .toSorted(),
    );
  });

  test.each(BAD)("$file: exit $exit, $rule on line $line, $field", async ({ file, args = [], ...expected }) => {
    const validated = await validateFiles([file], { cwd: join(FIXTURES, "bad"), ...actionFlag(args) });
    expect(validated.exitCode).toBe(expected.exit);
    expectRowsToAddUp(validated);
    expect(validated.problems.some(({ rule }) => rule === "totals-line")).toBe(expected.rule === "totals-line");
    if (expected.exit === 2) expect(validated.message).toMatch(/\S/);
    if (expected.rule === undefined) return;
    const { rule, line, field } = expected;
    const found = validated.problems.find((problem) => problem.rule === rule && problem.line === line);
    expect(found, JSON.stringify(validated.problems)).toMatchObject({
      source: file,
      severity: expected.exit === 3 ? "error" : "warn",
      ...(field !== undefined && { field }),
    });
    expect(found?.message).toMatch(/\S/);
    // What is wrong is on that line alone, but for what follows from it.
    const errors = validated.problems.filter(({ severity }) => severity === "error");
    if (expected.exit === 3) expect(errors.map((problem) => problem.line)).toContain(line);
  });
});

function actionFlag(args: readonly string[]): { readonly action?: ActionName } {
  if (args.length === 0) return {};
  const [flag, name = ""] = args;
  if (flag !== "--action" || !isActionName(name))
    throw new Error(`the table has arguments that are not known: ${args}`);
  return { action: name };
}

test.each([
  ...GOOD.map((file) => ({ file, cwd: FIXTURES })),
  ...[...twins.keys()].map((file) => ({ file, cwd: TWINS })),
])("$file is valid", async ({ file, cwd }) => {
  const validated = await validateFiles([file], { cwd });
  expect(validated.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(validated.exitCode).toBe(0);
  expectRowsToAddUp(validated);
  expect(validated.rows.read).toBeGreaterThan(0);
  // Without the events' file no event is known, nor its currency, and without the sales' no ticket; nothing else is even odd.
  const odd = validated.problems.filter(
    ({ rule, message }) => !(rule === "currency-decimals" && message.endsWith("is not known here.")),
  );
  expect(new Set(odd.map(({ rule }) => rule)).difference(new Set(["event-not-registered"]))).toEqual(new Set());
});

describe("the literal bodies of the service", () => {
  const requests = json<{ readonly file: string }>("service/requests/index.json");
  test.each(requests)("$file is valid", async ({ file }) => {
    const validated = await validateFiles([file], { cwd: join(FIXTURES, "service/requests") });
    expect(validated.problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(validated.exitCode).toBe(0);
  });

  interface Invalid {
    readonly file: string;
    readonly rule: string;
    readonly item: number;
    readonly field?: string;
  }
  // A sale before its newEvent is an error only where nothing else is known to register events, as the sandbox is.
  const invalid = json<Invalid>("service/invalid/index.json").filter(({ rule }) => rule !== "event-not-registered");
  test.each(invalid)("invalid/$file breaks $rule", async ({ file, rule, item, field }) => {
    const validated = await validateFiles([file], { cwd: join(FIXTURES, "service/invalid") });
    expect(validated.exitCode).toBe(3);
    expectRowsToAddUp(validated);
    const found = validated.problems.filter((problem) => problem.rule === rule && problem.severity === "error");
    expect(found).not.toEqual([]);
    expect(found[0]?.pointer ?? `/${item}`).toMatch(new RegExp(`^/${item}(/|$)`));
    if (field !== undefined) expect(found[0]?.field).toBe(field);
  });
});
