/** An action as it was sent. Pure. */

import type { ActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";

export interface SentAction {
  readonly action: ActionName;
  /** JSON text. */
  readonly data: string;
}

const HEAD = '{"action":"';
const BETWEEN = '","data":';

/** @param line of a plan. */
export function readActionLine(line: string): SentAction {
  const end = line.indexOf('"', HEAD.length);
  const action = line.slice(HEAD.length, end) as ActionName; // written by the planner
  return { action, data: line.slice(end + BETWEEN.length, -1) };
}

/** The ids that an action's data gives, as text. */
export interface GivenFields {
  readonly eventId: string | undefined;
  readonly ticketId: string | undefined;
  readonly nftId: string | undefined;
  readonly userId: string | undefined;
  readonly currency: string | undefined;
}

/** @param data JSON text. */
export function fieldsOf(data: string): GivenFields {
  const said = parseJson(data) as Readonly<Record<string, unknown>>; // written by the planner
  const text = (field: string): string | undefined => (said[field] == null ? undefined : String(said[field]));
  return {
    eventId: text("eventId"),
    ticketId: text("ticketId"),
    nftId: text("nftId"),
    userId: text("userId"),
    currency: text("currency"),
  };
}
