import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newEvent, sale } from "../../support/actions.ts";
import { type Field, openField, processedBy } from "../../support/context.ts";

const INPUT = [newEvent(), sale("A"), sale("B")];
const ALL = "E A B";

type Line = Record<string, unknown>;

/** One night, after which the ledger is lost, and the lines of its promises. */
async function afterLoss() {
  const field = await openField();
  await field.write("night.ndjson", INPUT);
  expect(await night(field)).toBe(0);
  const state = join(field.folder, "state", "local");
  for (const name of readdirSync(state)) if (name.startsWith("ledger.db")) rmSync(join(state, name));
  const lines = (await field.read("promises.local.ndjson")).trim().split("\n");
  return { field, lines: lines.map((line) => JSON.parse(line) as Line) };
}

const night = async (field: Field): Promise<number> => (await field.stream(["night.ndjson"])).exitCode;

async function importOf(field: Field, lines: readonly Line[]) {
  await field.write("promises.local.ndjson", lines);
  return field.ask("importResults", { files: ["promises.local.ndjson"] });
}

const change = (lines: readonly Line[], at: number, more: Line): readonly Line[] =>
  lines.map((line, index) => (index === at ? { ...line, ...more } : line));

describe("an import refuses, and nothing is imported of", () => {
  test.each([undefined, ""])("a success whose actionPromise is %j", async (actionPromise) => {
    const { field, lines } = await afterLoss();
    const { exitCode, said } = await importOf(field, change(lines, 1, { actionPromise }));
    expect(exitCode).toBe(2);
    expect(said).toMatch(
      /^promises\.local\.ndjson:2 is not a line of a promises file: success without an actionPromise\./,
    );
    expect((await importOf(field, lines)).exitCode).toBe(0);
    expect(await night(field)).toBe(0);
    expect(processedBy(field.sandbox)).toBe(ALL);
  });
});
