/** The events that an input names: what the ledger knows of them, and what this input says. Kept in the plan's file, the last ones in memory. */

import type { KnownAction } from "../ledger/ledger.ts";
import type { Placed } from "./rows-read.ts";
import type { Store } from "./store.ts";

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
  /** As it was said last. */
  currency: string | undefined;
  /** Some of its own actions are new: those of its tickets keep their place beside them. */
  isMoved: boolean;
  /** The first action that names it where nothing has registered it. */
  missedAt: Placed | undefined;
}

const MOST_IN_MEMORY = 20_000;

export class Events {
  /** Events are judged before tickets. */
  isAnyMoved = false;
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
    const event: EventState = {
      id,
      isKnown: sent.length > 0,
      pending: sent.length > 0 ? undefined : known.find(({ kind }) => kind === "newEvent")?.runId,
      registered: undefined,
      bad: undefined,
      currency: sent.findLast(({ owner }) => owner !== undefined)?.owner,
      isMoved: false,
      missedAt: undefined,
    };
    this.keep(event);
    return event;
  }

  /** After it was changed. */
  keep(event: EventState): void {
    this.isAnyMoved ||= event.isMoved;
    this.#store.run("INSERT OR REPLACE INTO event VALUES (?, ?)", event.id, JSON.stringify(event));
    this.#remember(event);
  }

  #remember(event: EventState): void {
    if (this.#events.size >= MOST_IN_MEMORY) this.#events.clear();
    this.#events.set(event.id, event);
  }

  /** Those that actions name and nothing has registered for them, in the order of the input. */
  *missed(): Generator<EventState> {
    const sql = `SELECT state FROM event WHERE state ->> '$.missedAt' IS NOT NULL ORDER BY state ->> '$.missedAt.row'`;
    for (const batch of this.#store.batches<{ state: string }>(sql))
      for (const { state } of batch) yield JSON.parse(state);
  }
}

/** As SQLite and PostgreSQL order text. */
export const byCodePoints = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
