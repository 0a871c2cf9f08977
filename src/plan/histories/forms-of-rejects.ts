/** Rows of rejects files that may be one row, in the forms that the exports of several nights gave it. */

import {
  type DeedVerdict,
  type HistoryDeed,
  type InputDeed,
  isUnknown,
  type KnownDeed,
  namingOf,
  type UnknownDeed,
} from "./history.ts";
import { findRetold } from "./retold-times.ts";

/**
 * Rejects hold a row once for each form in which the exports of several nights had it: first without its time, then with it, or
 * with its time told otherwise, or bad in another cell. Numbers of the deeds that may be one of those which another run rejected.
 */
export function formsOfOtherRuns(
  knownDeeds: readonly KnownDeed[],
  input: readonly InputDeed[],
  done: ReadonlySet<number>,
): ReadonlySet<number> {
  const all = input.flatMap((deed, at) => {
    if (isUnknown(deed)) return [];
    const run = lastRejectedIn(deed);
    const known = deed.content === undefined ? knownDeeds[deed.is] : deed;
    if (run === undefined || known === undefined) return [];
    const isTimed = deed.content === undefined ? known.said().time !== undefined : deed.isTimed;
    return [
      { at, deed: known, run, isTimed, isDone: deed.content === undefined || done.has(at), numbers: deed.numbers },
    ];
  });
  if (new Set(all.map(({ run }) => run)).size < 2) return new Set();
  const rejected = all.filter(({ at }) => input[at]?.content !== undefined);
  const timed = rejected.filter(({ isTimed }) => isTimed);
  const namesAs =
    (deed: HistoryDeed) =>
    (other: HistoryDeed): boolean =>
      namingOf(deed.said()) === namingOf(other.said());
  const withoutTime = rejected.filter(
    ({ deed, run, isTimed }) =>
      !isTimed && all.some((other) => other.isTimed && other.run !== run && namesAs(deed)(other.deed)),
  );
  // Nobody knows either which of the two an accepted one without a time is.
  const taken = knownDeeds.filter(({ state, said }) => state !== "rejected" && said().time === undefined);
  const withTime = timed.filter(
    ({ deed, run }) =>
      taken.some(namesAs(deed)) &&
      all.some((other) => !other.isTimed && other.run !== run && namesAs(deed)(other.deed)),
  );
  const groups = [...Map.groupBy(all, ({ deed }) => formOf(deed)).values()];
  const lastForms = new Set(groups.map((equal) => equal.toSorted((one, other) => one.run - other.run).at(-1)));
  const beyond = groups.flatMap((equal) => {
    const byRun = [...Map.groupBy(equal, ({ run }) => run).values()];
    const open = equal.filter(({ isDone }) => !isDone).toSorted((one, other) => other.run - one.run);
    if (byRun.length < 2) return [];
    // Where one run had several, nobody knows which of them the other run had.
    if (byRun.some(({ length }) => length > 1)) return open;
    // The latest form is the source's present one, unless it is done with, or its place among the others is not known.
    const [latest, ...earlier] = open;
    const places = equal.map(({ at }) => at);
    const between = all.filter(
      (each) => lastForms.has(each) && each.at > Math.min(...places) && each.at < Math.max(...places),
    );
    const isPlaced = between.every(({ numbers }) => haveSharedRun(numbers, latest?.numbers));
    return open.length < equal.length || !isPlaced ? open : earlier;
  });
  return new Set([...[...withoutTime, ...withTime, ...beyond].map(({ at }) => at), ...retoldInOtherRuns(timed)]);
}

/** Whether some run had both among its rejects; true where that was not noted. */
function haveSharedRun(one: Numbers, other: Numbers): boolean {
  if (!one?.size || !other?.size) return true;
  return [...one.keys()].some((run) => other.has(run));
}

type Numbers = ReadonlyMap<number, number> | undefined;

/** The last run that had it among its rejects. */
const lastRejectedIn = ({ rejectedIn, numbers }: Exclude<InputDeed, UnknownDeed>): number | undefined =>
  numbers?.size ? Math.max(...numbers.keys()) : rejectedIn;

/** Equal for rejects that may be one row. */
export function formOf({ content, said }: HistoryDeed): string {
  const { time, holder } = said();
  return holder === undefined ? content : `${time ?? ""} ${holder}`;
}

/** Numbers of those that may be one deed whose time another run read differently: both, since nobody knows which is right. */
function retoldInOtherRuns(
  timed: readonly { readonly at: number; readonly deed: HistoryDeed; readonly run: number }[],
): readonly number[] {
  const byRun = Map.groupBy(
    timed.flatMap(({ at, deed, run }) => {
      const said = deed.said();
      const { time } = said;
      return time === undefined ? [] : [{ at, time, rest: namingOf(said), rejectedAt: -1, isMissing: true, run }];
    }),
    ({ run }) => String(run),
  );
  const runs = [...byRun.values()];
  return runs.flatMap((one, number) =>
    findRetold(one, runs.slice(number + 1).flat()).flatMap(({ at, retold }) => retold.flatMap(({ of }) => [at, of])),
  );
}

/**
 * Holds back rejects that say the same as an unclear one before them: once accepted, nobody could tell which of them it was.
 */
export function likeTheirEquals(
  input: readonly InputDeed[],
  verdicts: readonly DeedVerdict[],
  otherForms: ReadonlySet<number>,
): readonly DeedVerdict[] {
  const untold = new Set<string>();
  return input.map((deed, at): DeedVerdict => {
    const verdict = verdicts[at] ?? { kind: "new" };
    if (deed.content === undefined || deed.after === undefined || otherForms.has(at)) return verdict;
    if (verdict.kind === "unclear" || verdict.kind === "unplaced") untold.add(deed.content);
    return verdict.kind === "new" && untold.has(deed.content) ? { kind: "unclear", why: "repeats" } : verdict;
  });
}
