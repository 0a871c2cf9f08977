/**
 * Deeds that rows of one run tell of one ticket or event, and that can't go as they stand: resales in another order than that of
 * their times, and deeds of which another input may tell the same one with another time, or without one.
 */

import { actionSpec } from "../../actions/actions.ts";
import { type Candidate, readCandidates } from "../candidates/candidates.ts";
import { namingOf, type Said } from "../histories/history.ts";
import { areOfOneMoment, findRetold, retoldAmong } from "../histories/retold-times.ts";
import type { InputKey } from "./accepted-under-other-keys.ts";
import { historyDeed } from "./deed-contents.ts";
import { historyOf, lastCounts } from "./history-of-candidate.ts";
import { createProbableMap } from "./probable-set.ts";

/** Why a new candidate can't go as it stands. */
export type WithinRun =
  /** The other one stands before it (or behind it) and has a later (an earlier) time. */
  | { readonly kind: "backwards"; readonly other: Candidate; readonly stands: "before" | "behind" }
  /** The other one is of the same minute, one of the two has no seconds, and in the input they stand the other way round. */
  | { readonly kind: "of one minute"; readonly other: Candidate }
  /** The other one, before or behind it, has a time that does not tell their order, and the input goes from the latest to the earliest. */
  | { readonly kind: "newest first"; readonly other: Candidate; readonly isOtherAccepted: boolean }
  /** The other one, of another input, may be the same deed. */
  | { readonly kind: "told otherwise in two inputs"; readonly other: Candidate };

interface WithinRunOptions {
  /** Of all inputs, by number. */
  readonly inputs: readonly InputKey[];
  readonly isNew: (seq: number) => boolean;
  /** It is new too, but stands before an accepted one. */
  readonly isLateByPlace: (seq: number) => boolean;
  /** The candidates stand in the order of their times. */
  readonly isByTime: boolean;
  /** The runs that had a row among their rejects, where it comes from a rejects file of this ledger. */
  readonly runsOf: (row: number) => ReadonlySet<number> | undefined;
  /** The inputs, by number, that go from the latest time to the earliest. */
  readonly newestFirst: ReadonlySet<number>;
  /** Such inputs of earlier runs that a row was rejected from. */
  readonly newestFirstIn: (row: number) => ReadonlySet<string>;
}

interface GivenDeed {
  readonly candidate: Candidate;
  readonly isNew: boolean;
  readonly isLateByPlace: boolean;
  readonly said: Said;
}

export async function findWithinRun(
  directory: string,
  options: WithinRunOptions,
): Promise<ReadonlyMap<Candidate, WithinRun>> {
  const found = new Map<Candidate, WithinRun>();
  const histories = await gatherHistories(directory, options);
  findToldOtherwise(histories, options, found);
  for (const deeds of histories) (options.isByTime ? findOfOneMinute : findBackwards)(deeds, found);
  for (const deeds of histories) findNewestFirst(deeds, options, found);
  return found;
}

/** Those with a new deed that stand in several inputs, or have several deeds whose last one counts; in the order of the input. */
async function gatherHistories(
  directory: string,
  { inputs, isNew, isLateByPlace, newestFirst, newestFirstIn }: WithinRunOptions,
): Promise<readonly (readonly GivenDeed[])[]> {
  /** The input of the first deed of a history, and whether that one is new. */
  const firsts = createProbableMap();
  const areSeveral = inputs.length > 1;
  // Without a time the place says the order, but for where the input goes backwards: a first night of updates has nothing to ask.
  const isAsked = ({ action, untimed, input, row }: Candidate): boolean =>
    (lastCounts(action) && (!untimed || newestFirst.has(input) || newestFirstIn(row).size > 0)) ||
    (areSeveral && actionSpec(action).identity === "history");
  const groups = new Map<string, Candidate[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isAsked(candidate)) continue;
      const history = historyOf(candidate);
      const isOpen = isNew(candidate.seq) || isLateByPlace(candidate.seq);
      const first = firsts.first(history, 2 * candidate.input + (isOpen ? 1 : 0));
      if (first === undefined) continue;
      if (isOpen || first % 2 === 1 || Math.floor(first / 2) !== candidate.input)
        groups.set(history.toString("hex"), []);
    }
  }
  if (groups.size === 0) return [];
  for await (const batch of readCandidates(directory))
    for (const candidate of batch)
      if (isAsked(candidate)) groups.get(historyOf(candidate).toString("hex"))?.push(candidate);
  return [...groups.values()].flatMap((candidates) => {
    if (!candidates.some(({ seq }) => isNew(seq) || isLateByPlace(seq))) return [];
    return [
      candidates.map((candidate) => ({
        candidate,
        isNew: isNew(candidate.seq),
        isLateByPlace: isLateByPlace(candidate.seq),
        said: saidBy(candidate),
      })),
    ];
  });
}

const saidBy = ({ action, content, data }: Candidate): Said =>
  historyDeed(action, content.toString("hex"), () => data).said();

const openInOrder = (deeds: readonly GivenDeed[], found: ReadonlyMap<Candidate, WithinRun>): readonly GivenDeed[] =>
  deeds.filter(({ candidate, isNew }) => isNew && lastCounts(candidate.action) && !found.has(candidate));

/** The last one that is sent counts, whatever their times say. */
function findBackwards(deeds: readonly GivenDeed[], found: Map<Candidate, WithinRun>): void {
  let latest: GivenDeed | undefined;
  for (const deed of openInOrder(deeds, found)) {
    const [time, before] = [deed.said.time, latest?.said.time];
    if (time === undefined) continue;
    if (latest !== undefined && before !== undefined && time < before) {
      found.set(deed.candidate, { kind: "backwards", other: latest.candidate, stands: "before" });
      if (!found.has(latest.candidate))
        found.set(latest.candidate, { kind: "backwards", other: deed.candidate, stands: "behind" });
    } else latest = deed;
  }
}

/** In the order of their times, those of which one stands first only because it has no seconds; the other may be accepted. */
function findOfOneMinute(deeds: readonly GivenDeed[], found: Map<Candidate, WithinRun>): void {
  const inOrder = deeds.filter(({ candidate }) => lastCounts(candidate.action) && !found.has(candidate));
  for (const [at, deed] of inOrder.entries()) {
    for (const behind of inOrder.slice(at + 1)) {
      const [time, other] = [deed.said.time, behind.said.time];
      if (time === undefined || other === undefined || time === other) continue;
      if (!areOfOneMoment(time, other)) break;
      if (deed.candidate.row < behind.candidate.row) continue;
      if (deed.isNew) found.set(deed.candidate, { kind: "of one minute", other: behind.candidate });
      if (behind.isNew) found.set(behind.candidate, { kind: "of one minute", other: deed.candidate });
    }
  }
}

/**
 * Deeds whose times do not tell their order, in an input that goes from the latest to the earliest: there the first one is likely
 * the later one, so that nothing comes too late by its place either. Rejects stand as they stood in their input.
 */
function findNewestFirst(
  deeds: readonly GivenDeed[],
  { newestFirst, newestFirstIn }: WithinRunOptions,
  found: Map<Candidate, WithinRun>,
): void {
  const isNewestFirst = ({ candidate: one }: GivenDeed, { candidate: other }: GivenDeed): boolean =>
    newestFirst.has(one.input) || !newestFirstIn(one.row).isDisjointFrom(newestFirstIn(other.row));
  const open = deeds.filter(({ candidate }) => !found.has(candidate));
  const byInput = [...Map.groupBy(open, ({ candidate }) => candidate.input).values()];
  for (const [one, other] of byInput.flatMap(untoldPairs)) {
    if (!isNewestFirst(one, other)) continue;
    for (const [deed, beside] of [
      [one, other],
      [other, one],
    ] as const)
      if (isOpen(deed))
        found.set(deed.candidate, {
          kind: "newest first",
          other: beside.candidate,
          isOtherAccepted: !isOpen(beside),
        });
  }
}

const isOpen = ({ isNew, isLateByPlace }: GivenDeed): boolean => isNew || isLateByPlace;

/** Those of an input that follow each other and say something else, one of them new. */
function untoldPairs(deeds: readonly GivenDeed[]): readonly (readonly [GivenDeed, GivenDeed])[] {
  return deeds.flatMap((deed, at) => {
    const before = deeds[at - 1];
    if (before === undefined || !lastCounts(deed.candidate.action) || !(isOpen(before) || isOpen(deed))) return [];
    if (namingOf(before.said) === namingOf(deed.said)) return [];
    const [time, other] = [before.said.time, deed.said.time];
    const areTold = time !== undefined && other !== undefined && !areOfOneMoment(time, other);
    return areTold ? [] : [[before, deed] as const];
  });
}

function findToldOtherwise(
  histories: readonly (readonly GivenDeed[])[],
  { inputs, runsOf }: WithinRunOptions,
  found: Map<Candidate, WithinRun>,
): void {
  if (inputs.length < 2) return;
  /**
   * A key tells the deeds of its own source apart. Of rejects of several runs, forms-of-rejects.ts says which may be one. What one
   * run rejected stands in several rejects files where it stood in several inputs.
   */
  const areTold = ({ candidate: one }: GivenDeed, { candidate: other }: GivenDeed): boolean => {
    if (one.keyed && other.keyed && inputs[one.input]?.readAs === inputs[other.input]?.readAs) return true;
    const [runs, ofOther] = [runsOf(one.row), runsOf(other.row)];
    return runs !== undefined && ofOther !== undefined && runs.isDisjointFrom(ofOther);
  };
  const compared = histories.flatMap((deeds) =>
    deeds.flatMap((deed, at) => {
      // Claims are one where their recipients agree.
      if (!deed.isNew || actionSpec(deed.candidate.action).identity !== "history") return [];
      const own = deeds.filter((each) => each.candidate.input === deed.candidate.input);
      const others = deeds.filter((each) => each.candidate.input !== deed.candidate.input && !areTold(deed, each));
      const alike = others.filter(({ said }) => namingOf(said) === namingOf(deed.said));
      const lost = alike.find(({ said }) => (said.time === undefined) !== (deed.said.time === undefined));
      if (lost !== undefined)
        found.set(deed.candidate, { kind: "told otherwise in two inputs", other: lost.candidate });
      const { time } = deed.said;
      if (lost !== undefined || time === undefined) return [];
      const saying = { at, time, rest: namingOf(deed.said), rejectedAt: -1 };
      const beside = alike.flatMap(({ candidate, said }, of) =>
        said.time === undefined
          ? []
          : [
              {
                at: of,
                time: said.time,
                rest: namingOf(said),
                // What stands in this input too was moved by nothing.
                isMissing: !own.some((each) => each.said.time === said.time && namingOf(each.said) === namingOf(said)),
                candidate,
              },
            ],
      );
      return findRetold([saying], beside).map((each) => ({
        ...each,
        candidate: deed.candidate,
        otherOf: (of: number) => beside.find((other) => other.at === of)?.candidate,
      }));
    }),
  );
  for (const ofInput of Map.groupBy(compared, ({ candidate }) => candidate.input).values()) {
    for (const [{ candidate, otherOf }, { of }] of retoldAmong(ofInput)) {
      const other = otherOf(of);
      if (other !== undefined) found.set(candidate, { kind: "told otherwise in two inputs", other });
    }
  }
}
