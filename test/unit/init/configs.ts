/** What the tests of tickets init share: an export as text, the config that is made of it, and its lines. */

import { expect } from "vitest";
import { explainIssues } from "../../../src/config/document.ts";
import { parseConfigText } from "../../../src/config/parse-document.ts";
import { configSchema } from "../../../src/config/settings.ts";
import { guessConfig } from "../../../src/init/guess.ts";
import { cellsRow } from "../map/rows.ts";
import { tableOf } from "../map/samples.ts";
import { createMapper } from "../map/shown.ts";

/** The sources of a config and what is wrong with it. */
export function load(yaml: string) {
  const document = parseConfigText("tickets.config.yaml", yaml);
  if (document === undefined) throw new Error("no document");
  const { data, error } = configSchema.safeParse(document.value);
  const issues = error === undefined ? [] : explainIssues(document, configSchema, error.issues);
  return { problems: document.problems, issues, sources: data?.sources ?? {} };
}

export function mapWith(yaml: string, name: string, csv: string, delimiter: string) {
  const { sources, issues, problems } = load(yaml);
  expect([...problems, ...issues]).toEqual([]);
  const config = sources[name];
  if (config === undefined) throw new Error(`no source ${name}`);
  const { header, rows } = tableOf(csv, delimiter);
  const mapper = createMapper({ fileName: "x.csv", header, source: { name, config } });
  return rows.map((cells, at) => mapper.map(cellsRow(at + 2, cells)));
}

/** The lines of the source, without what is said of the file. */
export function bodyOf(fileName: string, csv: string, delimiter = ","): readonly string[] {
  const guess = guessConfig({
    fileName,
    isWhole: true,
    delimiter: delimiter === "," ? undefined : delimiter,
    ...tableOf(csv, delimiter),
  });
  expect(load(guess.yaml).problems.filter(({ message }) => !message.startsWith("is still to be"))).toEqual([]);
  // By its first line an editor knows the schema.
  expect(guess.yaml).toMatch(
    /^# yaml-language-server: \$schema=tickets\.schema\.json\n# Written by tickets init from "/,
  );
  const lines = guess.yaml.split("\n");
  return lines
    .slice(lines.indexOf("sources:") + 2)
    .map((line) => line.slice(4))
    .filter((line) => line !== "");
}

/** The names of the actions that the config gives; what is a comment does not count. */
export const givenIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => /^(?: {2}- |action: )(\w+)/.exec(line)?.[1] ?? []);
export const asksIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !line.trim().startsWith("#") && line.includes("<FILL IN: "));
export const ruleOf = (lines: readonly string[], field: string): string | undefined =>
  lines.map((line) => line.trim()).find((line) => line.startsWith(`${field}: `));
export const SALE = "Event ID,Ticket ID,User ID,Price";
