/** An item of a request, whatever was sent as one: what of it can be read. */

import { echoesEvent } from "../actions/actions.ts";
import { isJsonObject } from "../actions/exact-number.ts";

/** Fields that say what an action is about. */
const ID_NAMES = ["eventId", "ticketId", "nftId"] as const;

export const isId = (name: string | undefined): boolean => ID_NAMES.some((id) => id === name);

export type Ids = { readonly [Name in (typeof ID_NAMES)[number]]?: string };

/** Its action is null and its ids are left out where they are no text. */
export function readItem(item: unknown): { readonly action: string | null; readonly data: unknown; readonly ids: Ids } {
  const { action, data }: { action?: unknown; data?: unknown } = isJsonObject(item) ? item : { data: item };
  return { action: typeof action === "string" ? action : null, data, ids: idsIn(data) };
}

function idsIn(data: unknown): Ids {
  if (!isJsonObject(data)) return {};
  const names = ID_NAMES.filter((name) => Object.hasOwn(data, name) && typeof data[name] === "string");
  return Object.fromEntries(names.map((name) => [name, data[name]]));
}

/** The ids that a result echoes: those the action named its event and ticket by. */
export function echoed(action: string | null, { eventId, ...ids }: Ids): Ids {
  return eventId === undefined || (action !== null && !echoesEvent(action)) ? ids : { eventId, ...ids };
}
