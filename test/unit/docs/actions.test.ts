import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ACTION_NAMES, ACTIONS, actionSpec } from "../../../src/actions/actions.ts";

const ROOT = join(import.meta.dirname, "../../..");
const page = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The names of actions in the first column of the table that begins with this header. */
function actionsOfTable(path: string, header: string): readonly string[] {
  const [, below = ""] = page(path).split(`${header}\n`);
  const [rows = ""] = below.split("\n\n");
  return rows.split("\n").flatMap((row) => /^\|([^|]*)\|/.exec(row)?.[1]?.match(/\b\w+(Event|Ticket)\b/g) ?? []);
}

it("README.md tells which action each file name means", () => {
  const told = page("README.md").matchAll(/^\| (`.*\*`) \| (\w+) \|$/gm);
  const rows = Object.entries(ACTIONS).flatMap(([name, { fileNames }]) =>
    fileNames.length === 0 ? [] : [[fileNames.map((prefix) => `\`${prefix}*\``).join(", "), name]],
  );
  expect([...told].map(([, files, name]) => [files, name]).sort()).toEqual(rows.sort());
});

it("docs/order.md names the actions in the order of their ranks", () => {
  const byRank = [...ACTION_NAMES].sort((one, other) => actionSpec(one).rank - actionSpec(other).rank);
  expect(page("docs/order.md")).toContain(
    `At equal times: ${byRank.map((name) => `\`${name}\``).join(", ")}; then as read.`,
  );
});

it("docs/mapping.md says of every action what it needs", () => {
  expect([...actionsOfTable("docs/mapping.md", "| action | needs | takes also |")].sort()).toEqual(
    [...ACTION_NAMES].sort(),
  );
});

it("docs/guarantees.md says of every action when it is the same deed", () => {
  const told = actionsOfTable("docs/guarantees.md", "| action | the same deed when | the same again |");
  expect(new Set(told)).toEqual(new Set(ACTION_NAMES));
});
