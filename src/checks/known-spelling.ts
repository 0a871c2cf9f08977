/** Ids that are probably one, spelled in two ways: the words for the other one. */

import type { ActionName } from "../actions/actions.ts";
import type { SourceLine } from "../actions/problem.ts";
import { placeText } from "./row-findings.ts";

export type SpelledField = "eventId" | "ticketId";

export interface KnownSpelling {
  readonly id: string;
  /** Whether another run may still bring it to the service, and nothing of it was accepted. */
  readonly isPending: boolean;
  /** In which it was first accepted, or is pending; undefined where that is not known. */
  readonly run: string | undefined;
}

/** For an id of which nothing was accepted or is pending: another spelling of it, of which something was or is. */
export type OtherSpelling = (action: ActionName, field: SpelledField, id: string) => KnownSpelling | undefined;

/** The other spelling of an id, in this input. */
export interface SpelledHere {
  readonly id: string;
  readonly at: SourceLine;
}

/** The end of a sentence that begins with the other spelling. */
export function whereText(other: KnownSpelling | SpelledHere): string {
  if ("at" in other) return `stands at ${placeText(other.at)}`;
  const state = other.isPending ? "is pending" : "was accepted";
  return other.run === undefined ? state : `${state} in the run ${other.run}`;
}

/** An event is known by its registration, whatever names it. */
export const remedyOfOther = (field: SpelledField): string =>
  field === "eventId"
    ? "If it is another event, stream the row of its newEvent alone with --again."
    : "If it is another ticket, stream its row alone with --again.";
