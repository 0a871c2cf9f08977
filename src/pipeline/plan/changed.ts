/** Actions whose like was accepted with other content. They are shown, counted, and not sent. */

import { type ActionName, actionSpec } from "../../actions/actions.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type AcceptedDeed, acceptedData } from "../ledger/memory.ts";
import { dataOfLine } from "./batch.ts";
import type { Candidate, CandidateLines } from "./candidates.ts";

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
  const before = parseJson(acceptedData(ledger, deed) ?? "{}") as Record<string, unknown>; // written by the sender
  const now = parseJson(dataOfLine(lines.of(candidate), action)) as Record<string, unknown>; // written by compile
  const differing = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => !sameValue(before[name], now[name]),
  );
  const pick = (data: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(differing.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]));
  const subject = actionSpec(action).about === "event" ? now.eventId : (now.ticketId ?? now.nftId);
  return {
    source,
    line,
    action,
    subject: String(subject),
    before: pick(before),
    now: pick(now),
  };
}

function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const text = (value: unknown): string => (typeof value === "object" ? stringifyJson(value) : String(value));
  return a !== undefined && b !== undefined && text(a) === text(b);
}
