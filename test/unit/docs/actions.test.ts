import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ACTION_NAMES, ACTIONS } from "../../../src/actions/actions.ts";
import { FIELD_NAMES, PERSONAL_FIELDS } from "../../../src/actions/fields.ts";

const ROOT = join(import.meta.dirname, "../../..");
const page = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The rows of the table that begins with this header, by their cells. */
function rowsOfTable(path: string, header: string): readonly (readonly string[])[] {
  const [, below = ""] = page(path).split(`${header}\n`);
  const [rows = ""] = below.split("\n\n");
  return rows.split("\n").map((row) => row.split("|").slice(1, -1));
}

const actionsIn = (cell = ""): readonly string[] => cell.match(/\b\w+(?:Event|Ticket)\b/g) ?? [];

/** The names of actions in the first column of the table that begins with this header. */
const actionsOfTable = (path: string, header: string): readonly string[] =>
  rowsOfTable(path, header).flatMap(([first]) => actionsIn(first));

it("README.md says which action each file name means", () => {
  const named = page("README.md").matchAll(/((?:`[a-z]+`(?:, | or )?)+) \((\w+(?:Event|Ticket))\)/g);
  const names = [...named].flatMap(([, files = "", action]) =>
    [...files.matchAll(/`(\w+)`/g)].map(([, file]) => `${file} ${action}`),
  );
  const expected = Object.entries(ACTIONS).flatMap(([action, { fileNames }]) =>
    fileNames.map((file) => `${file} ${action}`),
  );
  expect(names.sort()).toEqual(expected.sort());
});

it("docs/nightly.md names the actions in the order of their table", () => {
  expect(page("docs/nightly.md")).toContain(
    `At equal times: ${ACTION_NAMES.map((name) => `\`${name}\``).join(", ")}; then as read.`,
  );
});

it.each(["docs/commands.md", "SECURITY.md"])("%s says of every field that names a person that it is masked", (path) => {
  const reported = page(path)
    .split("\n")
    .filter((line) => line.includes("--verbose") && /masked|shortened/.test(line));
  expect(reported).not.toEqual([]);
  for (const line of reported)
    expect(FIELD_NAMES.filter((name) => line.includes(`\`${name}\``))).toEqual(PERSONAL_FIELDS);
});

it("docs/guarantees.md says of every action what its mark is", () => {
  const reported = actionsOfTable("docs/guarantees.md", "| action | mark | the same again | another mark |");
  expect(new Set(reported)).toEqual(new Set(ACTION_NAMES));
});
