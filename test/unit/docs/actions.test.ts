import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ACTION_NAMES, ACTIONS, acceptedFields, actionSpec, isActionName } from "../../../src/actions/actions.ts";
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

it("docs/nightly.md names the actions in the order of their ranks", () => {
  const byRank = [...ACTION_NAMES].sort((one, other) => actionSpec(one).rank - actionSpec(other).rank);
  expect(page("docs/nightly.md")).toContain(
    `At equal times: ${byRank.map((name) => `\`${name}\``).join(", ")}; then as read.`,
  );
});

it("docs/mapping.md says of every action what it needs", () => {
  expect([...actionsOfTable("docs/mapping.md", "| action | needs | takes also |")].sort()).toEqual(
    [...ACTION_NAMES].sort(),
  );
});

/** What the words of a row of that table stand for: single fields, and groups of them. */
function fieldsIn(words: string, ofRowAbove: ReadonlySet<string>, accepted: readonly string[]): ReadonlySet<string> {
  const named = [...words.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  const images = accepted.filter((name) => /(?:image|media)Url$/i.test(name));
  return new Set([
    ...named,
    ...(words.includes("images") ? images : []),
    ...(words.includes("place") ? ["latitude", "longitude"] : []),
    ...(words.includes("the same") ? ofRowAbove : []),
  ]);
}

it("docs/mapping.md says of every action which fields it takes", () => {
  let above: ReadonlySet<string> = new Set();
  for (const [actions, needs, takes] of rowsOfTable("docs/mapping.md", "| action | needs | takes also |")) {
    const names = actionsIn(actions).filter(isActionName);
    for (const name of names) {
      const reported = fieldsIn(`${needs} ${takes}`, above, acceptedFields(name));
      expect({ [name]: [...reported].sort() }).toEqual({ [name]: [...acceptedFields(name)].sort() });
      above = reported;
    }
  }
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
