/**
 * Rows of rejects files that stand in another order than in the run that rejected them: a person may have sorted them, or named
 * two files of a run the wrong way round. Of one history the last deed counts, so sent in that order an earlier one would come last.
 */

import { actionSpec } from "../../actions/actions.ts";
import type { FirstRejected, OpenSince } from "../../ledger/rejected-rows.ts";
import { type Candidate, readCandidates } from "../candidates/candidates.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import { timeOf } from "./deed-contents.ts";
import { historyOf, lastCounts } from "./history-of-candidate.ts";

/** Another candidate of the same history, and whether this one stood before or behind it in their run; unknown where none had both. */
export interface Turned {
  readonly other: Candidate;
  readonly stood: "before" | "behind" | "unknown";
}

/** A candidate of a rejects file, with its place in a run that rejected it. */
interface Rejected {
  readonly candidate: Candidate;
  readonly place: bigint;
  readonly time: bigint | undefined;
  readonly runs: ReadonlySet<number>;
}

/** @returns of the new candidates those that stand the wrong way round, each with one that it has changed places with. */
export async function findTurned(
  directory: string,
  {
    rejected,
    rejectedBeside,
    isNew,
    isByTime,
  }: {
    readonly rejected: (row: number) => (OpenSince & Pick<FirstRejected, "numbers">) | undefined;
    /** The runs that rejected rows of a history (hex) which are open still, and which the input lacks. */
    readonly rejectedBeside: (history: string) => ReadonlySet<number>;
    readonly isNew: (seq: number) => boolean;
    /** The candidates stand in the order of their times. */
    readonly isByTime: boolean;
  },
): Promise<ReadonlyMap<Candidate, Turned>> {
  /** By history and run, in the order of the input. */
  const histories = new Map<string, Rejected[]>();
  /** By history, in the order of the input. */
  const rows = new Map<string, Beside[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isOrdered(candidate)) continue;
      const since = rejected(candidate.row);
      if (since === undefined) continue;
      const history = historyOf(candidate).toString("hex");
      const runs = new Set(since.numbers.keys());
      const time = candidate.untimed ? undefined : timeOf(candidate.data.orderTime);
      const beside = { candidate, runs, isNew: isNew(candidate.seq), time };
      const ofHistory = rows.get(history);
      if (ofHistory === undefined) rows.set(history, [beside]);
      else ofHistory.push(beside);
      if (!beside.isNew) continue;
      for (const [what, place] of placesIn(since, time)) {
        const others = histories.get(`${what} ${history}`);
        if (others === undefined) histories.set(`${what} ${history}`, [{ candidate, place, time, runs }]);
        else others.push({ candidate, place, time, runs });
      }
    }
  }
  const turned = new Map<Candidate, Turned>();
  for (const [what, deeds] of histories) {
    // What stood in one input goes in its order; where its rows were put into another, only those of one kind have it still.
    if (what.startsWith(TIME))
      findIn(
        deeds,
        turned,
        (one, other) => one.runs.isDisjointFrom(other.runs) && areToldByTimes(one.time, other.time),
      );
    else if (isByTime) findIn(deeds, turned, (one, other) => (one.time === undefined) === (other.time === undefined));
    else findIn(deeds, turned);
  }
  for (const [history, all] of rows) {
    const untimed = all.filter(({ time }) => time === undefined);
    if (untimed.length > 0) findApart(untimed, turned, () => rejectedBeside(history));
    findAgainstRuns(all, turned);
  }
  return turned;
}

interface Beside {
  readonly candidate: Candidate;
  /** Those that had it among their rejects. */
  readonly runs: ReadonlySet<number>;
  readonly isNew: boolean;
  readonly time: bigint | undefined;
}

/**
 * Rows that no run had both, though their inputs had others in common: one of the two may be another form of a row that stood on
 * the other side of the other one. So it may be of a row that stood beside one of them, and is left out here.
 */
function findApart(
  rows: readonly Beside[],
  turned: Map<Candidate, Turned>,
  rejectedBeside: () => ReadonlySet<number>,
): void {
  const bySet = [...Map.groupBy(rows, ({ runs }) => [...runs].join(" ")).values()];
  const sets = bySet.flatMap(([first]) => first?.runs ?? []);
  if (bySet.length < 2) return;
  const leftOut = rejectedBeside();
  const firstNew = bySet.flatMap((each) => each.find(({ isNew }) => isNew) ?? []);
  for (const each of rows) {
    if (!each.isNew || each.runs.size === 0) continue;
    const other = firstNew.find(({ runs }) => {
      if (runs.size === 0 || !runs.isDisjointFrom(each.runs)) return false;
      if (!leftOut.isDisjointFrom(runs) || !leftOut.isDisjointFrom(each.runs)) return true;
      return sets.some((all) => !all.isDisjointFrom(runs) && !all.isDisjointFrom(each.runs));
    });
    if (other !== undefined && !turned.has(each.candidate))
      turned.set(each.candidate, { other: other.candidate, stood: "unknown" });
  }
}

/**
 * Rows that no run had both, and whose times do not tell their order. The one that a later run rejected is likely the later one, so
 * it must not stand before the other. Where both are of one moment, that run had one of the two late: nobody knows which.
 */
function findAgainstRuns(rows: readonly Beside[], turned: Map<Candidate, Turned>): void {
  const open = rows.filter(({ isNew, runs }) => isNew && runs.size > 0);
  for (const [at, deed] of open.entries()) {
    for (const behind of open.slice(at + 1)) {
      if (!deed.runs.isDisjointFrom(behind.runs) || saysTheSame(deed.candidate, behind.candidate)) continue;
      if (areToldByTimes(deed.time, behind.time)) continue;
      const areTimed = deed.time !== undefined && behind.time !== undefined;
      if (!areTimed && Math.max(...behind.runs) >= Math.min(...deed.runs)) continue;
      turned.set(deed.candidate, turned.get(deed.candidate) ?? { other: behind.candidate, stood: "unknown" });
      turned.set(behind.candidate, turned.get(behind.candidate) ?? { other: deed.candidate, stood: "unknown" });
    }
  }
}

const areToldByTimes = (one: bigint | undefined, other: bigint | undefined): boolean =>
  one !== undefined && other !== undefined && !areOfOneMoment(one, other);

/**
 * By what is counted: the row's number among those of a run, its action's number in a plan, and its time, by which rows of
 * several runs are told.
 */
function placesIn(
  { runNo, seq, numbers }: OpenSince & Pick<FirstRejected, "numbers">,
  time: bigint | undefined,
): readonly [string, bigint][] {
  return [
    ...[...numbers].map(([run, number]): [string, bigint] => [`row ${run}`, BigInt(number)]),
    ...(seq === undefined ? [] : [[`action ${runNo}`, BigInt(seq)] satisfies [string, bigint]]),
    ...(time === undefined ? [] : [[TIME, time] satisfies [string, bigint]]),
  ];
}

const TIME = "time";

/** Scans with times are a set, of which one may come whenever it is mended. */
const isOrdered = ({ action, untimed }: Candidate): boolean =>
  lastCounts(action) || (actionSpec(action).identity === "history" && untimed);

function findIn(
  deeds: readonly Rejected[],
  turned: Map<Candidate, Turned>,
  isCompared: (one: Rejected, other: Rejected) => boolean = () => true,
): void {
  let last = 0n;
  for (const [at, deed] of deeds.entries()) {
    // Nearly always all stand in order.
    if (deed.place < last) {
      for (const earlier of deeds.slice(0, at).filter((each) => isCompared(each, deed) && isTurned(each, deed))) {
        turned.set(deed.candidate, turned.get(deed.candidate) ?? { other: earlier.candidate, stood: "before" });
        turned.set(earlier.candidate, turned.get(earlier.candidate) ?? { other: deed.candidate, stood: "behind" });
      }
    }
    if (deed.place > last) last = deed.place;
  }
}

/** Where both have times, those say which of them is the later one. */
function isTurned(first: Rejected, second: Rejected): boolean {
  if (first.place <= second.place || saysTheSame(first.candidate, second.candidate)) return false;
  return first.time === undefined || second.time === undefined || first.time >= second.time;
}

const saysTheSame = (one: Candidate, other: Candidate): boolean => one.content.equals(other.content);
