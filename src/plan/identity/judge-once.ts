/** Deeds that happen once to their ticket or event. */

import { registers } from "../../actions/actions.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { comesWithRows, type DeedGroup } from "./deed-group.ts";
import { type FoundVerdicts, isUnknownContent } from "./verdicts.ts";

/** Accepted: sent, or changed. Else the first one is new. */
export function judgeOnce(group: DeedGroup, found: FoundVerdicts): void {
  const deeds = group.accepted;
  let first: Candidate | undefined;
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
