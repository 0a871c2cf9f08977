/** The history that a group of candidates belongs to: what the service was asked for of it, and what the input has. */

import { actionSpec } from "../../actions/actions.ts";
import { type Standing, type Standings, UNPLACED } from "../../ledger/row-places.ts";
import { openActionText } from "../../mapping/open-actions.ts";
import type { Candidate } from "../candidates/candidates.ts";
import type { InputDeed, KnownDeed, KnownInput } from "../histories/history.ts";
import type { FoundDeed } from "./accepted-under-other-keys.ts";
import type { BlockedDeed } from "./blocked-deeds.ts";
import { historyDeed, plainlyPriced } from "./deed-contents.ts";
import type { DeedGroup } from "./deed-group.ts";
import { replaces } from "./history-of-candidate.ts";

export interface GroupHistory {
  /** Oldest first; what is pending comes last. */
  readonly known: readonly KnownOfHistory[];
  /** The candidates, and the deeds of rows that are not sent where they stand among them. */
  readonly input: readonly InputOfHistory[];
}

export interface KnownOfHistory {
  readonly deed: KnownDeed;
  /** Undefined for what is pending. */
  readonly accepted: FoundDeed | undefined;
}

export interface InputOfHistory {
  readonly candidate: Candidate | undefined;
  readonly blocked: BlockedDeed | undefined;
  readonly deed: InputDeed;
}

/** @param blockedRows deeds of rows that are not sent, in order. */
export function groupHistory(group: DeedGroup, blockedRows: readonly BlockedDeed[]): GroupHistory {
  const deedBy = deedMakerOf(group);
  const known = knownOf(group, deedBy);
  return { known, input: inOrder(group, deedBy, blockedRows, known) };
}

/** Prices of resales are looked at where neither side says just what the other does. */
function deedMakerOf(group: DeedGroup): typeof historyDeed {
  if (actionSpec(group.action).effect !== "resell-ticket") return historyDeed;
  const given = new Set(group.candidates.map(({ content }) => content.toString("hex")));
  const known = new Set(group.tried.map(({ content }) => content.toString("hex")));
  return given.isSubsetOf(known) || known.isSubsetOf(given) ? historyDeed : plainlyPriced;
}

function knownOf(group: DeedGroup, deedBy: typeof historyDeed): readonly KnownOfHistory[] {
  const { action } = group;
  return [
    ...group.tried.map((deed): KnownOfHistory => {
      const content = deed.content.toString("hex");
      const said = deedBy(action, content, () => group.dataOf(deed));
      return {
        deed: {
          // Of two sources each may have its own price.
          ...(deed.isOfAnotherSource ? { ...said, said: () => ({ ...said.said(), holder: undefined }) } : said),
          ...group.runOf(deed),
          state: deed.isTaken ? "accepted" : "rejected",
        },
        accepted: deed,
      };
    }),
    ...group.pending.map(
      ({ content, data }): KnownOfHistory => ({
        deed: {
          ...deedBy(action, content, () => data),
          run: Number.POSITIVE_INFINITY,
          isAgain: () => false,
          state: "pending",
        },
        accepted: undefined,
      }),
    ),
  ];
}

function inOrder(
  group: DeedGroup,
  deedBy: typeof historyDeed,
  blockedRows: readonly BlockedDeed[],
  known: readonly KnownOfHistory[],
): readonly InputOfHistory[] {
  const given = group.candidates.map((candidate): InputOfHistory => {
    const deed = deedBy(candidate.action, candidate.content.toString("hex"), () => candidate.data);
    const rejected = group.options.rejected(candidate.row);
    const place = group.options.isFromRejects(candidate.row) ? placeOf(group, candidate, known) : {};
    return {
      candidate,
      blocked: undefined,
      deed: {
        ...deed,
        ...place,
        isTimed: !candidate.untimed,
        rejectedIn: rejected?.runNo,
        numbers: rejected?.numbers,
      },
    };
  });
  let passed = 0;
  const ordered: InputOfHistory[] = [];
  const standing = (blocked: BlockedDeed): readonly InputOfHistory[] => {
    const { accepted, time } = blocked;
    if (accepted === undefined) return [{ candidate: undefined, blocked, deed: { content: undefined, time } }];
    const is = known.findIndex(({ accepted: deed }) => deed?.runNo === accepted.runNo && deed.seq === accepted.seq);
    // Under a key that tells it apart, it is no deed of this history.
    const rejected = group.options.rejected(blocked.row);
    const deed = { content: undefined, is, rejectedIn: rejected?.firstIn, numbers: rejected?.numbers };
    return is === -1 ? [] : [{ candidate: undefined, blocked, deed }];
  };
  for (const each of given) {
    for (; (blockedRows[passed]?.before ?? Infinity) <= (each.candidate?.seq ?? 0); passed += 1)
      ordered.push(...blockedRows.slice(passed, passed + 1).flatMap(standing));
    ordered.push(each);
  }
  return [...ordered, ...blockedRows.slice(passed).flatMap(standing)];
}

/** Which known deeds are later than one of a row that was rejected. Timed scans are a set, of which one may come any time. */
function placeOf(
  group: DeedGroup,
  candidate: Candidate,
  known: readonly KnownOfHistory[],
): Pick<KnownInput, "after" | "asked" | "behind" | "unplaced" | "became" | "beside"> {
  const isReplaced = replaces(candidate.action);
  const standingOf = candidate.untimed || isReplaced ? standingsOf(group, candidate) : undefined;
  if (standingOf === undefined) return {};
  const standings = group.tried.map(standingOf);
  const isRowKnown = !standings.includes("unknown row");
  const those = (...which: readonly Standing[]): ReadonlySet<number> =>
    new Set([...standings.entries()].flatMap(([of, standing]) => (which.includes(standing) ? of : [])));
  const taken = new Set([...group.tried.entries()].flatMap(([of, { isTaken }]) => (isTaken ? of : [])));
  if (!isRowKnown && !isReplaced) {
    // Each scan without a time says the same: it may be any of those accepted, or one more.
    const untimed = known.flatMap(({ deed }, of) => (taken.has(of) && deed.said().time === undefined ? of : []));
    return { unplaced: new Set(untimed) };
  }
  return {
    after: isRowKnown ? standings.length - those("since").size : undefined,
    asked: askedAt(group, candidate),
    behind: those("stood behind", "sent behind").intersection(taken),
    ...(isReplaced && { unplaced: those(...UNPLACED).intersection(taken) }),
    became: became(group, candidate),
    beside: beside(group, candidate),
  };
}

function askedAt(group: DeedGroup, candidate: Candidate): number | undefined {
  const asked = group.options.askedOf(candidate);
  const of = group.tried.findIndex(({ runNo, seq }) => runNo === asked?.runNo && seq === asked.seq);
  return of === -1 ? undefined : of;
}

function became(group: DeedGroup, { row, action, nth }: Candidate): KnownInput["became"] {
  return group.options.mendedTo(row).flatMap(({ accepted, name }) => {
    const of = group.tried.findIndex(({ runNo, seq }) => runNo === accepted.runNo && seq === accepted.seq);
    return of === -1 || name !== openActionText(action, nth) ? [] : of;
  });
}

/**
 * Deeds that were accepted of the candidate's own row, of which it may be one since its row has lost another. Of those of which
 * the last one counts, only the last: sent once more, it would change nothing. Scans without a time all say the same, so the
 * candidate must be in the place of an accepted one, or the only one.
 */
function beside(group: DeedGroup, candidate: Candidate): KnownInput["beside"] {
  const { row, action, nth, content } = candidate;
  const asked = group.tried[askedAt(group, candidate) ?? -1];
  if (asked?.content.equals(content) === true || group.pending.length > 0) return [];
  const last = group.tried.findLastIndex(({ isTaken }) => isTaken);
  return group.options.takenBeside(row).flatMap(({ accepted, name }) => {
    const of = group.tried.findIndex(({ runNo, seq }) => runNo === accepted.runNo && seq === accepted.seq);
    const isInPlace = asked === undefined && (nth === 0 || name === openActionText(action, nth));
    return of !== -1 && (replaces(action) ? of === last : isInPlace) ? [of] : [];
  });
}

/** What accepted deeds of its history are beside a candidate, where its row comes from a rejects file. */
export function standingsOf(group: DeedGroup, candidate: Candidate): Standings | undefined {
  return group.options.standingsOf(candidate, { action: candidate.action, data: candidate.data });
}
