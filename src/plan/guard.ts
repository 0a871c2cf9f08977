/** Whether a source is still what it was: how it makes ids, times and keys, and how much of it is recognised. */

import { isActionName } from "../actions/actions.ts";
import type { Problem } from "../actions/problem.ts";
import type { Guard, GuardNote } from "../ledger/ledger.ts";
import { cleanText } from "../text.ts";
import type { Made } from "./made.ts";
import type { RowsRead } from "./rows-read.ts";

/** Actions that were judged, and those of which the ledger knew something. */
export interface Recognised {
  rows: number;
  recognised: number;
}

/** Whether a source usually shows again what was accepted: one that shows hardly any of it holds what is new. True of an unknown source. */
export function showsAgain(then: readonly Guard[]): boolean {
  const nights = nightsOf(then);
  const rows = nights.reduce((sum, night) => sum + night.rows, 0);
  const recognised = nights.reduce((sum, night) => sum + night.recognised, 0);
  return rows === 0 || shareOf({ rows, recognised }) >= HARDLY_ANY;
}

/** Reports sources of which nothing is recognised any more: an error stops all. */
export function reportStrange(now: ReadonlyMap<string, Recognised>, read: RowsRead): void {
  for (const [readAs, counts] of now) {
    const { name = "", guards = [] } = read.sourceOf(readAs) ?? {};
    const problem = nothingRecognised(readAs, counts, guards);
    if (problem !== undefined && read.problems.report({ source: name, line: 1 }, [problem])) read.isUnfit = true;
  }
}

/**
 * What is remembered of each source. On its first night nothing of it can be known, so that counts as none.
 *
 * @param at UTC in ISO 8601; undefined where this run says nothing of shares, as with `--limit`.
 */
export function guardNotes(
  now: ReadonlyMap<string, Recognised>,
  read: RowsRead,
  at: string | undefined,
): readonly GuardNote[] {
  return [...now].flatMap(([source, counts]) => {
    const { made = [], guards = [] } = read.sourceOf(source) ?? {};
    const notes = made.map(({ kind, made: how }) => ({ source, kind, made: how, night: undefined }));
    if (at === undefined) return notes;
    const isKnown = guards.some(({ kind }) => kind === WHOLE);
    return [...notes, { source, kind: WHOLE, made: {}, night: isKnown ? { at, ...counts } : undefined }];
  });
}

/** The kind under which the shares of a whole source are kept. */
const WHOLE = "*";

/** What is said of a source that makes its actions in another way than when some were entered. */
export function mappingChanged(source: string, now: readonly Made[], then: readonly Guard[]): readonly Problem[] {
  const changes = new Map<string, { readonly change: Change; readonly kinds: string[] }>();
  for (const { kind, made } of now) {
    const before = then.find((guard) => guard.kind === kind)?.made;
    for (const change of before === undefined ? [] : changesOf(before, made)) {
      const text = JSON.stringify(change);
      const known = changes.get(text) ?? { change, kinds: [] };
      changes.set(text, known);
      known.kinds.push(kind);
    }
  }
  return [...changes.values()].map(({ change, kinds }) => changeProblem(source, change, kinds));
}

interface Change {
  readonly what: "ids" | "times" | "key";
  readonly before: string;
  readonly after: string;
}

/** A way that is only new, or only gone, changes nothing that was sent; a key that comes or goes altogether does. */
function changesOf(then: Readonly<Record<string, string>>, now: Made["made"]): readonly Change[] {
  return WHAT.flatMap((what) => {
    const [before, after] = [waysOf(then[what]), waysOf(now[what])];
    const gone = before.filter((way) => !after.includes(way));
    const added = after.filter((way) => !before.includes(way));
    const cameOrWent = what === "key" && (before.length === 0) !== (after.length === 0);
    const isChanged = cameOrWent || (gone.length > 0 && added.length > 0);
    return isChanged ? [{ what, before: inWords(gone), after: inWords(added) }] : [];
  });
}

const WHAT = ["ids", "times", "key"] as const;

const waysOf = (text = "[]"): readonly string[] => JSON.parse(text); // as `madeBy` wrote it

const inWords = (ways: readonly string[]): string => (ways.length === 0 ? "none" : [...new Set(ways)].join(" and "));

const FIELD_OF = { ids: "ticketId", times: "orderTime", key: "key" } as const;

const changeProblem = (source: string, { what, before, after }: Change, kinds: readonly string[]): Problem => ({
  rule: "mapping-changed",
  field: what === "ids" ? (/^\w+/.exec(after)?.[0] ?? FIELD_OF.ids) : FIELD_OF[what],
  message: `The ${isActionName(source) ? "config" : cleanText(source, 100)} makes the ${what} of ${kinds.join(", ")} in another way than before. Before: ${cleanText(before, 400)}. Now: ${cleanText(after, 400)}. What was sent so far may look new, and be sent again.`,
  hint: "Undo the change. If it gives the same results for what was sent, or this input has none of that, set rules: {mapping-changed: warn} in the config for one run; the new way is then remembered.",
});

/** Fewer rows of a night say nothing. */
const LEAST_ROWS = 50;
const NIGHTS = 2;
const HARDLY_ANY = 0.1;

const shareOf = ({ rows, recognised }: Recognised): number => (rows === 0 ? 0 : recognised / rows);

const nightsOf = (then: readonly Guard[]): readonly Recognised[] =>
  then.find(({ kind }) => kind === WHOLE)?.nights.slice(0, NIGHTS) ?? [];

/** What is said of a source of which most was recognised, and now almost nothing. */
function nothingRecognised(source: string, now: Recognised, then: readonly Guard[]): Problem | undefined {
  const nights = nightsOf(then);
  const wasKnown =
    nights.length === NIGHTS && nights.every((night) => night.rows >= LEAST_ROWS && shareOf(night) >= 0.5);
  if (!wasKnown || now.rows < LEAST_ROWS || shareOf(now) >= HARDLY_ANY) return undefined;
  const percents = nights.map((night) => `${Math.round(shareOf(night) * 100)} %`).join(" and ");
  const name = source === "" ? "input" : source;
  return {
    rule: "nothing-recognised",
    message: `${now.recognised === 0 ? "None" : `Only ${now.recognised}`} of the ${now.rows} actions of the ${cleanText(name, 100)} were sent before; on its last two nights it was ${percents}. Sending them now would register all of them again.`,
    hint: "Compare the file with last night's: another zone, lost zeros, other ids? If all of it is new, set rules: {nothing-recognised: warn} for one run.",
  };
}
