/** What the checks remember of every event of an input. */

import { currencyDigits } from "../actions/currencies.ts";
import type { SourceLine } from "../actions/problem.ts";

export interface EventState {
  readonly id: string;
  readonly number: number;
  /** Decimals of its prices, where the currency is known and how many it has. */
  digits: number | undefined;
  currency: string | undefined;
  isRegistered: boolean;
  /** Where this input registers it. */
  registeredAt: SourceLine | undefined;
  /** The row that would have registered it and is not sent. */
  heldAt: SourceLine | undefined;
  /** Whether it was said already that it is not known. */
  isTold: boolean;
}

type KnownEvent = { readonly currency?: string } | undefined;

/** Events are taken up as memory knows them when they are first named. What a row changed can be undone. */
export class EventStates {
  readonly #known: (eventId: string) => KnownEvent;
  readonly #events: EventState[] = [];
  readonly #byId = new Map<string, EventState>();
  #changed: { readonly event: EventState; readonly before: EventState }[] = [];

  constructor(known: (eventId: string) => KnownEvent) {
    this.#known = known;
  }

  of(id: string): EventState {
    const seen = this.#byId.get(id);
    if (seen !== undefined) return seen;
    const known = this.#known(id);
    const event: EventState = {
      id,
      number: this.#events.length,
      currency: known?.currency,
      digits: known?.currency === undefined ? undefined : currencyDigits(known.currency),
      isRegistered: known !== undefined,
      registeredAt: undefined,
      heldAt: undefined,
      isTold: false,
    };
    this.#events.push(event);
    this.#byId.set(id, event);
    return event;
  }

  /** The event, where this input has named it. */
  find(id: string): EventState | undefined {
    return this.#byId.get(id);
  }

  numbered(number: number): EventState | undefined {
    return this.#events[number];
  }

  register(event: EventState, at: SourceLine): void {
    this.#noteBefore(event);
    event.isRegistered = true;
    event.registeredAt = at;
  }

  setCurrency(event: EventState, currency: string): void {
    this.#noteBefore(event);
    event.currency = currency;
    event.digits = currencyDigits(currency);
  }

  #noteBefore(event: EventState): void {
    this.#changed.push({ event, before: { ...event } });
  }

  /** What was changed until now stays. */
  keep(): void {
    if (this.#changed.length > 0) this.#changed = [];
  }

  /** Takes back what was changed since `keep`. */
  undo(): void {
    for (const { event, before } of this.#changed.reverse()) Object.assign(event, before);
    this.#changed = [];
  }
}
