/**
 * The actions that a source lists. They tell whether `2:scannedTicket` in `tickets:actions` still means the action that it
 * meant when it was written: its number counts what the mapping gave then.
 */

import { digestHex } from "../actions/identity.ts";
import { openNames, parseName } from "./open-actions.ts";
import type { SourceConfig } from "./source.ts";

/** For each action in the list: its name, a digest of how often it repeats, and a digest of its whole rule. */
export function actionRulesOf({ actions = [], each }: Pick<SourceConfig, "actions" | "each">): readonly string[] {
  return actions.flatMap((entry) =>
    Object.entries(entry).map(([name, rule]) => {
      const repeats = digestHex(JSON.stringify([each ?? null, rule?.each ?? null])).slice(0, DIGITS);
      return `${name} ${repeats} ${digestHex(JSON.stringify(rule ?? null)).slice(0, DIGITS)}`;
    }),
  );
}

const DIGITS = 8;

/** The first of the names that may mean a different action by the rules of now than by those of then. */
export function findRenumbered(
  written: string,
  then: readonly string[],
  now: readonly string[],
): { readonly name: string; readonly action: string } | undefined {
  for (const name of openNames(written)) {
    const { nth, action } = parseName(name);
    const [before, after] = [rulesOf(then, action), rulesOf(now, action)];
    if (isRenumbered(before, after) || (nth !== undefined && before.some((rule, at) => !repeatsAs(rule, after[at]))))
      return { name, action };
  }
  return undefined;
}

const rulesOf = (rules: readonly string[], action: string): readonly string[] =>
  rules.filter((rule) => rule.startsWith(`${action} `));

function isRenumbered(before: readonly string[], after: readonly string[]): boolean {
  if (before.length <= 1 && after.length <= 1) return false;
  const isMoved = (rule: string, at: number): boolean => rule !== after[at] && after.includes(rule);
  return before.length !== after.length || before.some(isMoved);
}

function repeatsAs(rule: string, other: string | undefined): boolean {
  return other !== undefined && rule.split(" ")[1] === other.split(" ")[1];
}
