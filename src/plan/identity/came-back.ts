/**
 * What was accepted before, says so once more, and lacks what was accepted since: an export that holds only what changed, or one
 * row per ticket or event, shows a state that came back like this. Without times nobody can tell it from a row of then, so it
 * is not sent, and said.
 */

import { type ActionData, actionSpec } from "../../actions/actions.ts";
import { saysTheSame } from "../../actions/identity.ts";
import type { AcceptedDeed } from "../../ledger/deeds.ts";
import { lastGiven, wasReadAs } from "../../ledger/runs.ts";
import type { Candidate } from "../candidates/candidates.ts";
import type { DeedGroup } from "./deed-group.ts";
import { lastCounts } from "./history-of-candidate.ts";
import { type FoundVerdicts, isUnknownContent } from "./verdicts.ts";

/** What is said by an action that says only one thing: who has the ticket. */
const WHOLE = "";
type Said = keyof ActionData | typeof WHOLE;

/** Notes those of the group's candidates, of one history, to which their ticket or event seems to have come back. */
export function noteCameBack(group: DeedGroup, found: FoundVerdicts): void {
  const { action, candidates, accepted, options } = group;
  // Rows that were left out may hold what seems to be missing.
  if (!lastCounts(action) || accepted.length < 2 || options.isCut) return;
  const given = new Set(candidates.map((candidate) => contentOf(candidate, found)));
  /** What rows behind say: one of them is the last one, or is told. */
  const said = new Set<Said>();
  for (const candidate of candidates.toReversed()) {
    const { seq, row, untimed } = candidate;
    const own = fieldsOf(group, () => candidate.data).filter((field) => !said.has(field));
    if (found.of(seq) === "sent" && untimed && !options.isFromRejects(row)) {
      const was = accepted.findLast(({ content }) => content.equals(candidate.content));
      const since = was && sinceThen(group, candidate, was, own);
      if (was !== undefined && since !== undefined && !given.has(since.content.toString("hex")))
        if (!isOldInput(group, candidate, since)) found.set(seq, "sent", { kind: "came back", was, since });
    }
    for (const field of own) said.add(field);
  }
}

/** As it was accepted, where that is known. */
function contentOf({ seq, content }: Candidate, found: FoundVerdicts): string {
  const detail = found.detailOf(seq);
  return (detail?.kind === "changed" ? detail.from.content : content).toString("hex");
}

/** What an action says: an update leaves the rest as it is. */
function fieldsOf({ action }: DeedGroup, readData: () => ActionData | undefined): readonly Said[] {
  if (actionSpec(action).updates !== true) return [WHOLE];
  const data = readData() ?? {};
  return (Object.keys(data) as (keyof ActionData)[]).filter((field) => data[field] != null); // the keys of its data
}

/** The last accepted deed that says something else than this candidate, which was accepted before it. */
function sinceThen(
  group: DeedGroup,
  candidate: Candidate,
  was: AcceptedDeed,
  fields: readonly Said[],
): AcceptedDeed | undefined {
  const open = new Set(fields);
  const data = candidate.data;
  for (const deed of group.accepted.toReversed()) {
    if (deed === was || open.size === 0) return undefined;
    if (deed.isOfAnotherSource || isUnknownContent(deed) || isOfAnotherSource(group, candidate, deed)) continue;
    const then = group.dataOf(deed);
    for (const field of fieldsOf(group, () => then)) {
      if (!open.delete(field)) continue;
      if (field === WHOLE || !saysTheSame(field, then?.[field], data[field])) return deed;
    }
  }
  return undefined;
}

/** Whether it came by another source of the config, of which this one's exports hold nothing. */
function isOfAnotherSource({ options }: DeedGroup, { input }: Candidate, { runNo, seq }: AcceptedDeed): boolean {
  const { ledger, inputs, sources } = options;
  const readAs = ledger && wasReadAs(ledger, runNo, seq);
  return readAs !== undefined && readAs !== inputs[input]?.readAs && sources.has(readAs);
}

/** Whether its file is as it was before that deed was accepted: what is streamed once more tells nothing new. */
function isOldInput({ options }: DeedGroup, { input }: Candidate, since: AcceptedDeed): boolean {
  const { ledger, inputs } = options;
  const file = inputs[input];
  const last = ledger && file && lastGiven(ledger, file.name);
  return last !== undefined && last.sha256 === file?.sha256 && last.runNo <= since.runNo;
}
