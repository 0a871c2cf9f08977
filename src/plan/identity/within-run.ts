/**
 * Deeds that rows of one run tell of one ticket or event, and that can't go as they stand: resales in another order than that of
 * their times, and deeds of which another input may tell the same one with another time, or without one.
 */

import { type Action, actionSpec } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { type Candidate, type CandidateLines, readCandidates } from "../candidates/candidates.ts";
import { contentAt } from "../files/index-file.ts";
import { namingOf, type Said } from "../histories/history.ts";
import { areOfOneMoment, findRetold, retoldAmong } from "../histories/retold-times.ts";
import type { InputKey } from "./accepted-under-other-keys.ts";
import { historyDeed } from "./deed-contents.ts";
import { historyOf, replaces } from "./history-of-candidate.ts";
import { createProbableMap } from "./probable-set.ts";

/** Why a new candidate can't go as it stands. */
export type WithinRun =
  /** The other one stands before it (or behind it) and has a later (an earlier) time. */
  | { readonly kind: "backwards"; readonly other: Candidate; readonly stands: "before" | "behind" }
  /** The other one is of the same minute, one of the two has no seconds, and in the input they stand the other way round. */
  | { readonly kind: "of one minute"; readonly other: Candidate }
  /** The other one, of another input, may be the same deed. */
  | { readonly kind: "told otherwise in two inputs"; readonly other: Candidate };

interface WithinRunOptions {
  readonly lines: CandidateLines;
  /** Of all inputs, by number. */
  readonly inputs: readonly InputKey[];
  readonly isNew: (seq: number) => boolean;
  /** The candidates stand in the order of their times. */
  readonly isByTime: boolean;
  /** Whether a row comes from a rejects file. */
  readonly isFromRejects: (row: number) => boolean;
}

interface GivenDeed {
  readonly candidate: Candidate;
  readonly isNew: boolean;
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
  return found;
}

/** Those with a new deed that stand in several inputs, or have several resales with times; in the order of the input. */
async function gatherHistories(
  directory: string,
  { lines, inputs, isNew }: WithinRunOptions,
): Promise<readonly (readonly GivenDeed[])[]> {
  const inputOf = createProbableMap();
  const areSeveral = inputs.length > 1;
  const isAsked = ({ action, seq, untimed }: Candidate): boolean =>
    actionSpec(action).identity === "history" && (areSeveral || (isNew(seq) && !untimed && replaces(action)));
  const groups = new Map<string, Candidate[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isAsked(candidate)) continue;
      const history = historyOf(candidate, lines);
      const first = inputOf.first(history, candidate.input);
      if (first === undefined) continue;
      if (first !== candidate.input || (replaces(candidate.action) && !candidate.untimed && isNew(candidate.seq)))
        groups.set(history.toString("hex"), []);
    }
  }
  if (groups.size === 0) return [];
  for await (const batch of readCandidates(directory))
    for (const candidate of batch)
      if (isAsked(candidate)) groups.get(historyOf(candidate, lines).toString("hex"))?.push(candidate);
  return [...groups.values()].flatMap((candidates) => {
    if (!candidates.some(({ seq }) => isNew(seq))) return [];
    return [
      candidates.map((candidate) => ({ candidate, isNew: isNew(candidate.seq), said: saidBy(candidate, lines) })),
    ];
  });
}

function saidBy(candidate: Candidate, lines: CandidateLines): Said {
  const { data } = parseJson(lines.of(candidate).toString("utf8")) as Action; // written by compile
  const content = contentAt(candidate.block, candidate.at).toString("hex");
  return historyDeed(candidate.action, content, () => data).said();
}

const openResales = (deeds: readonly GivenDeed[], found: ReadonlyMap<Candidate, WithinRun>): readonly GivenDeed[] =>
  deeds.filter(({ candidate, isNew }) => isNew && replaces(candidate.action) && !found.has(candidate));

/** Of resales the last one that is sent counts, whatever their times say. */
function findBackwards(deeds: readonly GivenDeed[], found: Map<Candidate, WithinRun>): void {
  let latest: GivenDeed | undefined;
  for (const deed of openResales(deeds, found)) {
    const [time, before] = [deed.said.time, latest?.said.time];
    if (time === undefined) continue;
    if (latest !== undefined && before !== undefined && time < before) {
      found.set(deed.candidate, { kind: "backwards", other: latest.candidate, stands: "before" });
      if (!found.has(latest.candidate))
        found.set(latest.candidate, { kind: "backwards", other: deed.candidate, stands: "behind" });
    } else latest = deed;
  }
}

/** In the order of their times, those of which one stands first only because it has no seconds. */
function findOfOneMinute(deeds: readonly GivenDeed[], found: Map<Candidate, WithinRun>): void {
  const open = openResales(deeds, found);
  for (const [at, { candidate, said }] of open.entries()) {
    for (const behind of open.slice(at + 1)) {
      if (said.time === undefined || behind.said.time === undefined || said.time === behind.said.time) continue;
      if (!areOfOneMoment(said.time, behind.said.time)) break;
      if (candidate.row < behind.candidate.row) continue;
      found.set(candidate, { kind: "of one minute", other: behind.candidate });
      found.set(behind.candidate, { kind: "of one minute", other: candidate });
    }
  }
}

function findToldOtherwise(
  histories: readonly (readonly GivenDeed[])[],
  { inputs, isFromRejects }: WithinRunOptions,
  found: Map<Candidate, WithinRun>,
): void {
  if (inputs.length < 2) return;
  /** A key tells the deeds of its own source apart. Of rejects, forms-of-rejects.ts says which may be one. */
  const areTold = ({ candidate: one }: GivenDeed, { candidate: other }: GivenDeed): boolean =>
    (one.keyed && other.keyed && inputs[one.input]?.readAs === inputs[other.input]?.readAs) ||
    (isFromRejects(one.row) && isFromRejects(other.row));
  const compared = histories.flatMap((deeds) =>
    deeds.flatMap((deed, at) => {
      if (!deed.isNew) return [];
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
