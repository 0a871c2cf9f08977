import type { Severity } from "../actions/problem.ts";
import type { Rule } from "../actions/rules.ts";
import { allRules } from "./rules.ts";

/** How grave each rule's findings are: as the config's `rules` say, else as `rules` do. */
export function severityTable(
  overrides: Readonly<Record<string, Severity>>,
  rules: Readonly<Record<string, Rule>> = allRules(),
): ReadonlyMap<string, Severity> {
  const known = new Map<string, Severity>(Object.entries(rules).map(([id, { severity }]) => [id, severity]));
  for (const [id, severity] of Object.entries(overrides)) known.set(id, severity);
  return known;
}

/** A rule that nobody knows is an error: a finding must never be lost because a table was not passed. */
export function severityIn(table: ReadonlyMap<string, Severity>): (rule: string) => Severity {
  return (rule) => table.get(rule) ?? "error";
}
