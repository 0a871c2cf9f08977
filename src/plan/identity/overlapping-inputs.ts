/**
 * Timed deeds that stand in two inputs of one run, or twice in one. Exports that overlap give one deed twice, where deltas give
 * two: nobody can tell which it is, so that nothing of it is sent on a guess, or dropped on one. Within one input equal ones by the
 * minute are several deeds; of one second they may be rows that a job has appended to its own file.
 */

import { actionSpec } from "../../actions/actions.ts";
import { readCandidates } from "../candidates/candidates.ts";
import { isTime } from "../candidates/order-key.ts";
import type { DeedVerdict } from "../histories/history.ts";
import { createProbableSet } from "./probable-set.ts";

/** A timed deed of a history. */
export interface TimedDeed {
  /** Its number among the deeds of the input. */
  readonly at: number;
  /** Numbers of the row that gives it, and of the input in which that stands. */
  readonly row: number;
  readonly input: number;
  readonly time: string;
  readonly content: string;
  /** By its history alone. */
  readonly verdict: DeedVerdict;
}

/** What becomes of a deed that would be new by its history alone. */
type Overlap =
  /** It is the known deed that one of another input is. */
  | { readonly kind: "old" | "changed"; readonly of: number }
  /** One of another input, of that number, may be the same deed. */
  | { readonly kind: "shared"; readonly with: number; readonly isSame: boolean };

/** Histories (hex) with deeds of one time, which may stand in different inputs. A few of them may have none. */
export async function findSharedTimes(directory: string): Promise<ReadonlySet<string>> {
  const shared = new Set<string>();
  const seen = createProbableSet();
  for await (const batch of readCandidates(directory)) {
    for (const { action, untimed, keyed, identity, content, data } of batch) {
      if (untimed || keyed || actionSpec(action).identity !== "history") continue;
      // Where the rule for times is off, a value that is not a time is told by its content.
      const time = isTime(data.orderTime) ? timeBytes(data.orderTime) : content;
      if (seen.addAndTell(Buffer.concat([identity, time]))) shared.add(identity.toString("hex"));
    }
  }
  return shared;
}

function timeBytes(time: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(time));
  return bytes;
}

/**
 * By number: the deeds of a history that can't be sent by what their history says, since others of their time stand in other inputs.
 *
 * Where as many equal ones as the input with the most of them has are known, all are. What says something else at the same time is
 * the same deed with other content, as it is when the inputs come one after the other.
 */
export function findOverlaps(deeds: readonly TimedDeed[]): ReadonlyMap<number, Overlap> {
  const found = new Map<number, Overlap>();
  for (const sameTime of Map.groupBy(deeds, ({ time }) => time).values()) {
    if (!areOfSeveralInputs(sameTime)) continue;
    const others: TimedDeed[] = [];
    for (const equal of Map.groupBy(sameTime, ({ content }) => content).values()) {
      if (areOfSeveralInputs(equal)) judgeEqual(equal, found);
      else for (const deed of equal) others.push(deed);
    }
    judgeDiffering(others, found);
  }
  return found;
}

/** A deed that would be sent though another row of its input says just the same. */
interface Copy {
  /** Number of a deed of that row. */
  readonly with: number;
  /** Its time has no seconds: equal ones are several deeds, of which this one is not the first. */
  readonly isByMinute: boolean;
}

/** By number. Equal deeds that one row gives are as many as it says. */
export function findCopies(deeds: readonly TimedDeed[]): ReadonlyMap<number, Copy> {
  const found = new Map<number, Copy>();
  const groups = Map.groupBy(deeds, ({ input, time, content }) => `${input} ${time} ${content}`);
  for (const equal of groups.values()) {
    const [first] = equal;
    const second = equal.find(({ row }) => row !== first?.row);
    if (first === undefined || second === undefined) continue;
    const isByMinute = Number(first.time) % 60 === 0;
    for (const deed of equal.filter(isOpen)) {
      if (deed.row !== first.row) found.set(deed.at, { with: first.at, isByMinute });
      else if (!isByMinute) found.set(deed.at, { with: second.at, isByMinute });
    }
  }
  return found;
}

function judgeEqual(equal: readonly TimedDeed[], found: Map<number, Overlap>): void {
  const known = equal.flatMap(({ verdict }) => (isKnown(verdict) ? [verdict] : []));
  const most = Math.max(...[...Map.groupBy(equal, ({ input }) => input).values()].map(({ length }) => length));
  const [first] = known;
  for (const deed of equal.filter(isOpen)) {
    const other = equal.find(({ input }) => input !== deed.input);
    if (first !== undefined && known.length >= most) found.set(deed.at, first);
    else if (other !== undefined) found.set(deed.at, { kind: "shared", with: other.at, isSame: true });
  }
}

/** @param deeds of one time, of which none is equal to one of another input. */
function judgeDiffering(deeds: readonly TimedDeed[], found: Map<number, Overlap>): void {
  for (const deed of deeds.filter(isOpen)) {
    const others = deeds.filter(({ input }) => input !== deed.input);
    const open = others.find(isOpen);
    const known = others.map(({ verdict }) => verdict).find(isKnown);
    if (open !== undefined) found.set(deed.at, { kind: "shared", with: open.at, isSame: false });
    else if (known !== undefined) found.set(deed.at, { kind: "changed", of: known.of });
  }
}

type KnownVerdict = Extract<DeedVerdict, { readonly of: number }>;

const isKnown = (verdict: DeedVerdict): verdict is KnownVerdict => "of" in verdict;

/** Whether it would be sent, now or once what it is held for is mended. */
const isOpen = ({ verdict: { kind } }: TimedDeed): boolean => kind === "new" || kind === "held" || kind === "late";

const areOfSeveralInputs = ([first, ...others]: readonly TimedDeed[]): boolean =>
  others.some(({ input }) => input !== first?.input);
