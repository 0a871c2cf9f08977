/** Deeds that happen once: to their ticket or event, or, as claims, to a recipient. */

import { type ActionData, registers } from "../../actions/actions.ts";
import { recipientsAgree } from "../../actions/identity.ts";
import type { AcceptedDeed } from "../../ledger/deeds.ts";
import type { OpenSince } from "../../ledger/rejected-rows.ts";
import { areOfOneMoment } from "../histories/retold-times.ts";
import { timeOf } from "./deed-contents.ts";
import { comesWithRows, type DeedGroup } from "./deed-group.ts";
import type { Doubtful } from "./doubtful-candidates.ts";
import { type FoundVerdicts, isUnknownContent } from "./verdicts.ts";

/** Accepted: sent, or changed. Else the first one is new. */
export function judgeOnce(group: DeedGroup, found: FoundVerdicts): void {
  const deeds = group.accepted;
  let first: Doubtful | undefined;
  for (const candidate of group.candidates) {
    const { seq, action, content } = candidate;
    const deed = deeds.find((each) => each.content.equals(content) || isUnknownContent(each)) ?? deeds.at(-1);
    if (deed !== undefined) found.setSentOrChanged(seq, content, deed);
    else if (first !== undefined && comesWithRows(candidate, group.options) && first.content.equals(content))
      found.setRepeated(seq, first.seq, true);
    // Two registrations of an event and two sales of a ticket are a problem of the input.
    else if (first !== undefined && (!registers(action) || group.options.isSentOnce(action)))
      found.setRepeated(seq, first.seq);
    first ??= candidate;
  }
}

/** Claims: one deed where their recipients agree. */
export function judgeByRecipient(group: DeedGroup, found: FoundVerdicts): void {
  const deeds = group.accepted.map((deed) => ({ deed, data: group.dataOf(deed) ?? {} }));
  const pending = group.pending.flatMap(({ data }) => data ?? []);
  const firsts: { readonly candidate: Doubtful; readonly data: ActionData }[] = [];
  const known = new Map<number, (typeof deeds)[number]>();
  for (const candidate of group.candidates) {
    const { seq, content } = candidate;
    const data = group.dataOfCandidate(candidate);
    const claim =
      deeds.find(({ deed }) => deed.content.equals(content)) ??
      deeds.findLast((each) => recipientsAgree(each.data, data)) ??
      // Under one key it is the same claim, whoever it names.
      known.get(found.firstOf(seq) ?? seq);
    if (claim !== undefined) known.set(seq, claim);
    const first = firsts.find((each) => recipientsAgree(each.data, data));
    if (claim !== undefined) found.setSentOrChanged(seq, content, claim.deed);
    else if (pending.some((each) => recipientsAgree(each, data))) found.set(seq, "pending");
    else if (first !== undefined) found.setRepeated(seq, first.candidate.seq);
    else firsts.push({ candidate, data });
  }
  const accepted = deeds.map(({ deed, data }) => ({ deed, time: timeOf(data.orderTime) }));
  for (const { candidate, data } of firsts) judgeOrderOfClaim(group, candidate, data, accepted, found);
}

/**
 * A new claim beside those of other recipients: the last one that is sent says in whose wallet the ticket is. Where their times
 * do not tell, their places do: in the input, and in what was sent.
 */
function judgeOrderOfClaim(
  group: DeedGroup,
  { seq, row }: Doubtful,
  data: ActionData,
  accepted: readonly { readonly deed: AcceptedDeed; readonly time: bigint | undefined }[],
  found: FoundVerdicts,
): void {
  const time = timeOf(data.orderTime);
  const areTold = (other: bigint | undefined): boolean =>
    time !== undefined && other !== undefined && !areOfOneMoment(time, other);
  const later = accepted.findLast((each) => areTold(each.time) && (each.time ?? 0n) > (time ?? 0n));
  if (later !== undefined) {
    found.set(seq, "late", { kind: "late in time", than: later.deed });
    return;
  }
  const untold = accepted.filter((each) => !areTold(each.time)).map(({ deed }) => deed);
  if (untold.length === 0) return;
  const behind = group.candidates.find(
    (each) => each.seq > seq && found.isOld(each.seq) && found.of(each.seq) !== "pending",
  );
  if (behind !== undefined) {
    found.set(seq, "late", { kind: "late", before: behind });
    return;
  }
  const rejected = group.options.rejected(row);
  const sinceRejected = rejected && untold.find((deed) => isLaterThan(deed, rejected));
  const since = sinceRejected ?? acceptedSinceTried(group, data, untold);
  if (since !== undefined)
    found.set(seq, "superseded", { kind: "superseded", since, isFromRejects: sinceRejected !== undefined });
}

/** What was accepted after the service had rejected a claim by the same recipient; undefined where it rejected none. */
function acceptedSinceTried(
  group: DeedGroup,
  data: ActionData,
  accepted: readonly AcceptedDeed[],
): AcceptedDeed | undefined {
  const tried = group.tried.find((deed) => {
    const said = deed.isTaken ? undefined : group.dataOf(deed);
    return said !== undefined && recipientsAgree(said, data);
  });
  return tried && accepted.find((deed) => isLaterThan(deed, tried));
}

/** Whether the service took it after it was asked for that row; of what was never sent, nobody knows where it stood in its run. */
const isLaterThan = (deed: AcceptedDeed, { runNo, seq = -1 }: Pick<OpenSince, "runNo" | "seq">): boolean =>
  deed.runNo > runNo || (deed.runNo === runNo && deed.seq > seq);
