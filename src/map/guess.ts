/** What a row whose action could not be read is taken for, so that what depends on it waits. */

import { type Draft, draftOf } from "../actions/draft.ts";

export const ID_FIELDS = ["eventId", "ticketId", "nftId"] as const;
export type Ids = { [F in (typeof ID_FIELDS)[number]]?: string };

/** The action that most depends on: of a ticket its sale, of an event its registration. */
export function guessDraft(ids: Ids): readonly Draft[] {
  if (ids.ticketId !== undefined || ids.nftId !== undefined) return [draftOf("soldTicket", ids)];
  return ids.eventId === undefined ? [] : [draftOf("newEvent", ids)];
}
