/**
 * Claims: each recipient's is one deed. They go in their order, for the last one that is sent says in whose wallet the ticket
 * is (docs/guarantees.md, Histories).
 */

import type { ActionData } from "../../actions/actions.ts";
import { recipientsAgree } from "../../actions/identity.ts";
import { type AcceptedDeed, byPlace } from "../../ledger/deeds.ts";
import { UNPLACED, whyUnplaced } from "../../ledger/row-places.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import type { BlockedDeed } from "./blocked-deeds.ts";
import { timeOf } from "./deed-contents.ts";
import type { DeedGroup } from "./deed-group.ts";
import type { Doubtful } from "./doubtful-candidates.ts";
import { standingsOf } from "./history-of-group.ts";
import type { FoundVerdicts } from "./verdicts.ts";

/** One that was accepted. */
interface AcceptedClaim {
  readonly deed: AcceptedDeed;
  readonly data: ActionData;
}

/** @param blockedRows claims of rows that are not sent, in order. */
export function judgeClaims(group: DeedGroup, blockedRows: readonly BlockedDeed[], found: FoundVerdicts): void {
  const accepted = group.accepted.map((deed) => ({ deed, data: group.dataOf(deed) ?? {} }));
  const pending = group.pending.flatMap(({ data }) => data ?? []);
  const firsts: { readonly candidate: Doubtful; readonly data: ActionData }[] = [];
  const known = new Map<number, AcceptedClaim>();
  for (const candidate of group.candidates) {
    const { seq, row, content } = candidate;
    const data = group.dataOfCandidate(candidate);
    const claim =
      accepted.find(({ deed }) => deed.content.equals(content)) ??
      accepted.findLast((each) => recipientsAgree(each.data, data)) ??
      // Under one key it is the same claim, whoever it names.
      known.get(found.firstOf(seq) ?? seq);
    if (claim !== undefined) known.set(seq, claim);
    const first = firsts.find((each) => recipientsAgree(each.data, data));
    if (claim !== undefined) found.setSentOrChanged(seq, content, claim.deed, group.options.isFromRejects(row));
    else if (pending.some((each) => recipientsAgree(each, data))) found.set(seq, "pending");
    else if (first !== undefined) found.setRepeated(seq, first.candidate.seq);
    else firsts.push({ candidate, data });
  }
  const order = new OrderOfClaims(group, accepted, new Set([...known.values()].map(({ deed }) => deed)), blockedRows);
  for (const { candidate, data } of firsts) order.judge(candidate, data, found);
}

/** Of new claims, beside those of other recipients. */
class OrderOfClaims {
  readonly #group: DeedGroup;
  readonly #accepted: readonly (AcceptedClaim & { readonly time: bigint | undefined })[];
  /** Those that the input has. */
  readonly #given: ReadonlySet<AcceptedDeed>;
  readonly #blockedRows: readonly BlockedDeed[];

  constructor(
    group: DeedGroup,
    accepted: readonly AcceptedClaim[],
    given: ReadonlySet<AcceptedDeed>,
    blockedRows: readonly BlockedDeed[],
  ) {
    this.#group = group;
    this.#accepted = accepted.map((claim) => ({ ...claim, time: timeOf(claim.data.orderTime) }));
    this.#given = given;
    this.#blockedRows = blockedRows;
  }

  /** Where times do not tell, places do: in the input, in what was sent, and among what was rejected. */
  judge(candidate: Doubtful, data: ActionData, found: FoundVerdicts): void {
    const { seq } = candidate;
    const time = timeOf(data.orderTime);
    const areTold = (other: bigint | undefined): boolean =>
      time !== undefined && other !== undefined && !areOfOneMoment(time, other);
    const later = this.#accepted.findLast((each) => areTold(each.time) && (each.time ?? 0n) > (time ?? 0n));
    if (later !== undefined) {
      found.set(seq, "late", { kind: "late in time", than: later.deed });
      return;
    }
    const untold = this.#accepted.filter((each) => !areTold(each.time)).map(({ deed }) => deed);
    if (untold.length > 0) this.#judgeByPlace(candidate, data, untold, found);
  }

  #judgeByPlace(candidate: Doubtful, data: ActionData, untold: readonly AcceptedDeed[], found: FoundVerdicts): void {
    const { seq, row } = candidate;
    const { options } = this.#group;
    const before = this.#acceptedBehind(candidate, untold, found);
    if (before !== undefined) {
      found.set(seq, "late", { kind: "late", before });
      return;
    }
    // An accepted one that the input lacks may be a row behind this one that is not sent.
    const mayBe = this.#blockedRows.find((each) => each.accepted === undefined && each.before > seq);
    const areAllGiven = untold.every((deed) => this.#given.has(deed));
    if (mayBe !== undefined && !areAllGiven) {
      found.set(seq, "held", { kind: "held", by: mayBe });
      return;
    }
    if (options.isCut && !areAllGiven) {
      const given = [candidate];
      found.set(seq, "unclear", { kind: "unclear", isCut: true, why: "repeats", accepted: untold, given });
      return;
    }
    if (this.#isFoundByPlaceOfRow(candidate, untold, found)) return;
    const since = this.#acceptedSinceTried(data, untold);
    const isFromRejects = options.rejected(row) !== undefined;
    if (since !== undefined) found.set(seq, "superseded", { kind: "superseded", since, isFromRejects });
  }

  /** What was accepted and stands behind a candidate; also as the row that it was mended from. */
  #acceptedBehind({ seq }: Doubtful, untold: readonly AcceptedDeed[], found: FoundVerdicts) {
    const { candidates } = this.#group;
    const behind = candidates.find(
      (each) => each.seq > seq && found.isOld(each.seq) && found.of(each.seq) !== "pending",
    );
    const isUntold = ({ accepted }: BlockedDeed): boolean =>
      untold.some((deed) => deed.runNo === accepted?.runNo && deed.seq === accepted.seq);
    return behind ?? this.#blockedRows.find((each) => each.before > seq && isUntold(each));
  }

  /** Whether the place tells, or nobody knows it, where the row was rejected before. */
  #isFoundByPlaceOfRow(candidate: Doubtful, untold: readonly AcceptedDeed[], found: FoundVerdicts): boolean {
    const { seq, row } = candidate;
    const { options } = this.#group;
    const standingOf = options.isFromRejects(row) ? standingsOf(this.#group, candidate) : undefined;
    if (standingOf === undefined) return false;
    const standings = untold.map((deed) => ({ deed, standing: standingOf(deed) }));
    const behind = standings.find(({ standing }) => standing === "stood behind");
    const since = standings.find(({ standing }) => standing === "sent behind" || standing === "since");
    if (behind !== undefined) found.set(seq, "late", { kind: "stood before", accepted: behind.deed });
    else if (since !== undefined)
      found.set(seq, "superseded", { kind: "superseded", since: since.deed, isFromRejects: true });
    else if (standings.some(({ standing }) => UNPLACED.has(standing))) {
      const why = whyUnplaced(standings.map(({ standing }) => standing));
      found.set(seq, "unclear", { kind: "unplaced", why, accepted: untold });
    } else return false;
    return true;
  }

  /** What was accepted after the service had rejected a claim by the same recipient; undefined where it rejected none. */
  #acceptedSinceTried(data: ActionData, accepted: readonly AcceptedDeed[]): AcceptedDeed | undefined {
    const tried = this.#group.tried.find((deed) => {
      const said = deed.isTaken ? undefined : this.#group.dataOf(deed);
      return said !== undefined && recipientsAgree(said, data);
    });
    return tried && accepted.find((deed) => byPlace(deed, tried) > 0);
  }
}
