/** Actions whose like was accepted with other content. They are shown, counted, and not sent. */

import { type ActionName, actionSpec } from "../../actions/actions.ts";
import { saysTheSame } from "../../actions/identity.ts";
import { parseJson } from "../../actions/json.ts";
import { type AcceptedDeed, acceptedData } from "../../ledger/deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Candidate, CandidateLines } from "../candidates/candidates.ts";
import { dataTextOf } from "../files/chunk-actions.ts";

export interface ChangedAction {
  readonly source: string;
  readonly line: number;
  readonly action: ActionName;
  /** Id of the event or ticket that it is about. */
  readonly subject: string;
  /** The fields that differ, as they were accepted. */
  readonly before: Readonly<Record<string, unknown>>;
  /** The same fields as they are now. */
  readonly now: Readonly<Record<string, unknown>>;
}

export function describeChange(
  ledger: Ledger,
  deed: AcceptedDeed,
  candidate: Candidate,
  lines: CandidateLines,
  source: string,
): ChangedAction {
  const { action, line } = candidate;
  const { eventId, ticketId, nftId } = candidate.facts.data;
  const subject = actionSpec(action).about === "event" ? eventId : (ticketId ?? nftId);
  return { source, line, action, subject: String(subject), ...differingFields(ledger, deed, candidate, lines) };
}

/** What the action said when it was accepted, and says now, where that differs. */
export function differingFields(
  ledger: Ledger,
  deed: AcceptedDeed,
  candidate: Candidate,
  lines: CandidateLines,
): Pick<ChangedAction, "before" | "now"> {
  const before = parseJson(acceptedData(ledger, deed) ?? "{}") as Record<string, unknown>; // written by the sender
  const now = parseJson(dataTextOf(lines.of(candidate).toString("utf8"), candidate.action)) as Record<string, unknown>; // written by compile
  const differing = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => !saysTheSame(name, before[name], now[name]),
  );
  const pick = (data: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(differing.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]));
  return { before: pick(before), now: pick(now) };
}
