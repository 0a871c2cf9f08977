/** The events that an input names: what the ledger knows of them, and what this input says. Kept in the plan's file, the last ones in memory. */

import { currencyDigits } from "../actions/currencies.ts";
import type { Pricing } from "../check/price-decimals.ts";
import type { KnownAction } from "../ledger/ledger.ts";
import type { Store } from "./store.ts";

/** Where in the plan an action stands. */
export interface Placed {
  readonly place: number;
  readonly row: number;
}

/** Plain data. */
export interface EventState {
  readonly id: string;
  /** Its newEvent was accepted, or something else of it by which it is registered. */
  readonly isKnown: boolean;
  /** The id of an unfinished run that registers it. */
  readonly pending: string | undefined;
  /** The newEvent of this input. */
  registered: Placed | undefined;
  /** The bad row that would have registered it. */
  bad: Placed | undefined;
  /** Its currency from a place on. */
  currencies: (readonly [from: number, currency: string])[];
  /** Some of its own actions are new: those of its tickets keep their place beside them. */
  isMoved: boolean;
  /** The first action that names it while it is unknown. */
  unknownAt: Placed | undefined;
  /** Likewise, where that is an error: nothing registers it, or only what comes later. */
  closedAt: Placed | undefined;
}

const MOST_IN_MEMORY = 20_000;

export class Events {
  readonly #store: Store;
  readonly #events = new Map<string, EventState>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Undefined where nobody has asked the ledger about it. */
  find(id: string): EventState | undefined {
    const known = this.#events.get(id);
    if (known !== undefined) return known;
    const found = this.#store.get<{ state: string }>("SELECT state FROM event WHERE id = ?", id);
    if (found === undefined) return undefined;
    const event: EventState = JSON.parse(found.state); // as `keep` wrote it
    this.#remember(event);
    return event;
  }

  of(id: string): EventState {
    return this.find(id) ?? this.learn(id, []);
  }

  /** Takes up an event as the ledger knows it. */
  learn(id: string, known: readonly KnownAction[]): EventState {
    const sent = known.filter(({ state }) => state === "sent");
    const currency = sent.findLast(({ owner }) => owner !== undefined)?.owner;
    const event: EventState = {
      id,
      isKnown: sent.length > 0,
      pending: sent.length > 0 ? undefined : known.find(({ kind }) => kind === "newEvent")?.runId,
      registered: undefined,
      bad: undefined,
      currencies: currency === undefined ? [] : [[0, currency]],
      isMoved: false,
      unknownAt: undefined,
      closedAt: undefined,
    };
    this.keep(event);
    return event;
  }

  /** After it was changed. */
  keep(event: EventState): void {
    this.#store.run("INSERT OR REPLACE INTO event VALUES (?, ?)", event.id, JSON.stringify(event));
    this.#remember(event);
  }

  #remember(event: EventState): void {
    if (this.#events.size >= MOST_IN_MEMORY) this.#events.clear();
    this.#events.set(event.id, event);
  }

  /** Those that actions name before anything registers them, in the order of the input. */
  *unknown(): Generator<EventState> {
    const row = "coalesce(state ->> '$.unknownAt.row', state ->> '$.closedAt.row')";
    const sql = `SELECT state FROM event WHERE ${row} IS NOT NULL ORDER BY ${row}`;
    for (const batch of this.#store.batches<{ state: string }>(sql))
      for (const { state } of batch) yield JSON.parse(state);
  }
}

/** As SQLite and PostgreSQL order text. */
export const byCodePoints = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Currency of an event at a place, and its decimals where they are known. */
export function currencyAt(event: EventState | undefined, place: number): Pricing {
  const currency = event?.currencies.findLast(([from]) => from < place)?.[1];
  return { currency, digits: currency === undefined ? undefined : currencyDigits(currency) };
}
