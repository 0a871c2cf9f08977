import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { configJsonSchema } from "../../../scripts/config-schema.ts";
import { ACTION_NAMES } from "../../../src/actions/actions.ts";
import { FIELD_NAMES } from "../../../src/actions/fields.ts";
import { explainIssues, problemLine } from "../../../src/config/document.ts";
import { parseConfigText } from "../../../src/config/parse-document.ts";
import { configSchema, SETTING_NAMES } from "../../../src/config/settings.ts";

function problemsOf(text: string): readonly string[] {
  const document = parseConfigText("c.yaml", text);
  if (document === undefined) throw new Error("no document");
  const result = configSchema.safeParse(document.value);
  const found = result.success ? [] : explainIssues(document, configSchema, result.error.issues);
  return [...document.problems, ...found].map((problem) => problemLine(problem, "c.yaml"));
}

const source = (text: string) => problemsOf(`sources:\n  s:\n    ${text}\n`);
const field = (text: string) => source(`fields: {${text}}`);

describe("sources", () => {
  test.each([
    [
      source("match: a/x.csv"),
      "c.yaml:3:12  sources.s.match: is compared with the base name of a file: leave the folder out.",
    ],
    [
      source("action: soldTickt"),
      "c.yaml:3:13  sources.s.action: needs one of newEvent, updateEvent, soldTicket, updateTicket, resoldTicket, scannedTicket, checkedInTicket, claimedTicket, invalidatedTicket. Did you mean soldTicket?",
    ],
    [source("csv: {delimiter: x}"), "c.yaml:3:22  sources.s.csv.delimiter: needs one of ,, ;, \t, |."],
    [
      source("zone: Europe/Belin"),
      "c.yaml:3:11  sources.s.zone: is not a time zone such as Europe/Berlin or UTC. Did you mean Europe/Berlin?",
    ],
    [
      source("zone: Pacific Time"),
      "c.yaml:3:11  sources.s.zone: needs the zone of a place, such as Europe/London; an abbreviation may mean several.",
    ],
    [
      source("zone: nst"),
      "c.yaml:3:11  sources.s.zone: needs the zone of a place, such as Europe/London; an abbreviation may mean several.",
    ],
    [source("lookup: {o: {file: a.csv}}"), "c.yaml:3:14  sources.s.lookup.o.where: is missing."],
    [
      source("each: {in: x, match: '('}"),
      "c.yaml:3:26  sources.s.each.match: is not a valid regular expression: Unterminated group.",
    ],
    [
      source("each: 3"),
      "c.yaml:3:11  sources.s.each: needs {count: ...}, {from: ..., to: ...}, {path: ...} or {in: ..., match: ...}.",
    ],
    [
      source("actions: [{soldTicket: {}, newEvent: {}}]"),
      "c.yaml:3:15  sources.s.actions[0]: needs exactly one action; a dash begins the next.",
    ],
    [
      source("skip: [{Status: open}]"),
      "c.yaml:3:11  sources.s.skip: needs one map: a row is skipped that any of its columns names.",
    ],
    [field("eventID: x"), "c.yaml:3:14  sources.s.fields.eventID: is not a known key. Did you mean eventId?"],
    [field("user: x"), "c.yaml:3:14  sources.s.fields.user: is not a known key. Did you mean userId?"],
    [field("price: {decimal: ','}"), "c.yaml:3:14  sources.s.fields.price.from: is missing."],
    [
      field("price: {from: x, places: two}"),
      "c.yaml:3:39  sources.s.fields.price.places: needs a whole number from 0 to 18.",
    ],
  ])("%j", (problems, expected) => {
    expect(problems).toEqual([expected]);
  });
});

test.each([
  ["notify", "needs a list: the program, then its arguments"],
  ["[]", "is empty"],
])("onEnd: %s is refused", (onEnd, why) => {
  expect(problemsOf(`environments:\n  a:\n    onEnd: ${onEnd}\n`)).toEqual([
    `c.yaml:3:12  environments.a.onEnd: ${why}.`,
  ]);
});

test.each(SETTING_NAMES)("docs/environments.md explains the setting %s", (setting) => {
  const page = readFileSync(new URL("../../../docs/environments.md", import.meta.url), "utf8");
  expect(page).toMatch(new RegExp(`^\\|.*\`${setting}\``, "m"));
});

describe("the JSON Schema of a config", () => {
  const schema = configJsonSchema();

  test("knows every top-level key, every field and every action, and nothing else", () => {
    expect(Object.keys(schema.properties ?? {})).toEqual([
      "$schema",
      "env",
      "environments",
      "sources",
      "rules",
      "stateDir",
    ]);
    expect(schema.additionalProperties).toBe(false);
    const text = JSON.stringify(schema);
    for (const name of [...FIELD_NAMES, ...ACTION_NAMES]) expect(text).toContain(`"${name}"`);
  });
});
