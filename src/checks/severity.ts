import type { Severity } from "../actions/problem.ts";
import type { Rule } from "../actions/rules.ts";
import { allRules } from "./rules.ts";

/**
 * How grave a rule's findings are: as the config's `rules` say, else as `rules` do.
 *
 * A rule that nobody knows is an error: a finding must never be lost because a table was not passed.
 */
export function severities(
  overrides: Readonly<Record<string, Severity>>,
  rules: Readonly<Record<string, Rule>> = allRules(),
): (rule: string) => Severity {
  const known = new Map<string, Severity>(Object.entries(rules).map(([id, { severity }]) => [id, severity]));
  for (const [id, severity] of Object.entries(overrides)) known.set(id, severity);
  return (rule) => known.get(rule) ?? "error";
}
