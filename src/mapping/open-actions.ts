/**
 * The columns that `tickets` adds to the rows of a rejects file. `tickets:actions` names the actions of the row that
 * are still open, separated by blanks or commas: `soldTicket` is all of that name, `2:scannedTicket` the second of that
 * name. Empty or absent: all. Counting by name keeps the numbers true whatever else the row gives.
 */

import type { Action } from "../actions/actions.ts";
import { GUARDED_COLUMN } from "../actions/formula-guard.ts";
import type { Finding } from "../actions/problem.ts";
import type { MappingRule } from "./rules.ts";

export const REASON_COLUMN = "tickets:reason";
export const OPEN_ACTIONS_COLUMN = "tickets:actions";
/** Holds the digest of the row before it was mended (row-digest.ts). */
export const ROW_COLUMN = "tickets:row";

/** Columns, or keys, that only `tickets` writes, and only into rejects. */
export const REJECTS_COLUMNS = [REASON_COLUMN, OPEN_ACTIONS_COLUMN, ROW_COLUMN] as const;

/** Whether a header, or the keys of a row, are those of a rejects file. */
export const showRejects = (names: readonly string[]): boolean =>
  REJECTS_COLUMNS.some((column) => names.some((name) => name.trim() === column));

/** Our own columns, which say nothing about the row's deeds. */
export const OWN_COLUMNS: ReadonlySet<string> = new Set([...REJECTS_COLUMNS, GUARDED_COLUMN]);

/**
 * For each action, its number among those of its name, from 1; 0 for the only one of its name. Until a rejects file is
 * written, an action's place in its row is kept as this number.
 */
export function nthOfName(actions: readonly Action[]): readonly number[] {
  const total = new Map<string, number>();
  for (const { action } of actions) total.set(action, (total.get(action) ?? 0) + 1);
  const seen = new Map<string, number>();
  return actions.map(({ action }) => {
    const nth = (seen.get(action) ?? 0) + 1;
    seen.set(action, nth);
    return total.get(action) === 1 ? 0 : nth;
  });
}

/** An action as `tickets:actions` names it. */
export const openActionText = (action: string, nth: number): string => (nth === 0 ? action : `${nth}:${action}`);

/** How many actions of each kind the names in `tickets:actions` imply: `2:scannedTicket` implies two. */
export function countsOfNames(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const { nth, action } = parseName(name);
    counts.set(action, Math.max(nth ?? 1, counts.get(action) ?? 0));
  }
  return counts;
}

export function parseName(name: string): { readonly nth: number | undefined; readonly action: string } {
  const [, nth, action = ""] = /^(?:(\d+):)?(.*)$/.exec(name) ?? [];
  return { nth: nth === undefined ? undefined : Number(nth), action };
}

/** The names that stand in `tickets:actions`. */
export const openNames = (written: string): readonly string[] => written.split(/[\s,;]+/).filter((name) => name !== "");

/** Whether names of `tickets:actions` stand for all that others do, of the same row. None of them stand for all. */
export function namesAllOf(names: readonly string[], others: readonly string[]): boolean {
  if (names.length === 0) return true;
  return others.length > 0 && others.every((name) => names.includes(name) || names.includes(parseName(name).action));
}

/** What to write into `tickets:actions` for a row that gives `actions`, of which those are open for which `isOpen` holds. */
export function formatOpenActions(
  actions: readonly Action[],
  isOpen: (action: Action, index: number) => boolean,
): string {
  const nths = nthOfName(actions);
  return actions
    .flatMap((action, index) => (isOpen(action, index) ? [openActionText(action.action, nths[index] ?? 0)] : []))
    .join(" ");
}

/** Those of `actions` that `written` names, in the row's order. Adds a finding for each name that none of them has. */
export function selectOpenActions(actions: readonly Action[], written: string, findings: Finding[]): readonly Action[] {
  const wanted = openNames(written);
  if (wanted.length === 0) return actions;
  const open = new Set<Action>();
  for (const name of wanted) {
    const { nth, action } = parseName(name);
    const ofName = actions.filter((each) => each.action === action);
    const chosen = nth === undefined ? ofName : ofName.slice(nth - 1, nth);
    for (const each of chosen) open.add(each);
    if (chosen.length > 0) continue;
    findings.push({
      rule: "open-actions" satisfies MappingRule,
      field: OPEN_ACTIONS_COLUMN,
      value: name,
      message: `${OPEN_ACTIONS_COLUMN} names ${name}, which the row does not give.`,
      hint:
        actions.length === 0
          ? "Empty the cell for all actions of the row."
          : `The row gives ${formatOpenActions(actions, () => true)}. Empty the cell to send all that it gives.`,
    });
  }
  return actions.filter((each) => open.has(each));
}
