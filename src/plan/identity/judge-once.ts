/** Deeds that happen once: to their ticket or event, or, as claims, to a recipient. */

import { type ActionData, registers } from "../../actions/actions.ts";
import { recipientsAgree } from "../../actions/identity.ts";
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
  const firsts: { readonly seq: number; readonly data: ActionData }[] = [];
  const known = new Map<number, (typeof deeds)[number]>();
  for (const candidate of group.candidates) {
    const { seq, content } = candidate;
    const data = group.dataOfLine(candidate);
    const claim =
      deeds.find(({ deed }) => deed.content.equals(content)) ??
      deeds.findLast((each) => recipientsAgree(each.data, data)) ??
      // Under one key it is the same claim, whoever it names.
      known.get(found.firstOf(seq) ?? seq);
    if (claim !== undefined) known.set(seq, claim);
    const first = firsts.find((each) => recipientsAgree(each.data, data));
    if (claim !== undefined) found.setSentOrChanged(seq, content, claim.deed);
    else if (pending.some((each) => recipientsAgree(each, data))) found.set(seq, "pending");
    else if (first !== undefined) found.setRepeated(seq, first.seq);
    else firsts.push({ seq, data });
  }
}
