/**
 * `--order time`: candidates in the order of their orderTime, in memory that does not grow with the input.
 *
 * Each action gets a place: a time, the rank of its kind in the life of a ticket (`rank` in the action table), and
 * where it stands in the input. Places are compared in that order.
 *
 * - An action that has an orderTime has that time.
 * - A sale whose ticket has an earlier action takes that action's time, so that it stands before what depends on it.
 * - A newEvent takes the earliest time of its event's sales.
 * - Any other action without an orderTime stands directly behind the latest of those actions of its ticket (an
 *   updateEvent: of its event) that the input gives before it; where there is none, behind the sale (the newEvent).
 * - What is left takes the last orderTime that the input gives before it: a sale without a time, a newEvent without sales,
 *   and what depends on nothing in the input.
 *
 * An action of an invalid row gets a place by the same rules and waits there, to hold back what comes after it.
 */

import { ACTION_NAMES, acceptedFields, actionSpec, type Effect } from "../../actions/actions.ts";
import { U64_MAX } from "../../actions/formats.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import {
  appendCandidates,
  type BlockedRow,
  createCandidates,
  endCandidates,
  syncCandidates,
} from "../candidates/candidates.ts";
import { type CandidateBytes, isTime, type OrderKey } from "../candidates/facts.ts";
import type { BlockedRows } from "../candidates/rows-not-sent.ts";
import { createScratch, type Scratch } from "../candidates/scratch.ts";

export interface TimeOrder extends Disposable {
  /** Takes the next candidate. */
  candidate(action: OrderKey, candidate: CandidateBytes): void;
  /** Takes, among the candidates, an action of a row that is not sent. */
  held(action: OrderKey, row: Omit<BlockedRow, "before" | "attempted">): void;
  /** Writes the candidate files in order, and adds the held actions at their places. */
  arrange(options: {
    readonly blockedRows: Pick<BlockedRows, "add">;
    readonly onOrdered: (actions: number) => void;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

/**
 * Places are compared by `time`, `rank` and `anchor`, the number of the action whose place it is. An action that follows
 * another one has the place of that one. What stands there is a candidate or the row of a held action.
 */
const TABLES = `
  CREATE TABLE actions (
    number INTEGER PRIMARY KEY,
    ticket TEXT,
    event INTEGER,
    timed INTEGER NOT NULL,
    time TEXT NOT NULL,
    rank INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    follows INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE contents (
    number INTEGER PRIMARY KEY,
    held TEXT,
    record BLOB,
    facts BLOB,
    texts BLOB,
    line BLOB
  ) STRICT;
`;

const INSERT = "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?, 0)";
const MOVE = "UPDATE actions SET time = ?, rank = ?, anchor = ?, follows = ? WHERE number = ?";

const BY_TICKET =
  "SELECT ticket, number, event, timed, time, rank FROM actions WHERE ticket IS NOT NULL ORDER BY ticket, number";
type OfTicket = readonly [
  ticket: string,
  number: number,
  event: number | null,
  timed: 0 | 1,
  time: string,
  rank: number,
];

const OF_EVENTS = "SELECT event, number, time, rank, anchor FROM actions WHERE event IS NOT NULL ORDER BY number";
type OfEvent = readonly [event: number, number: number, time: string, rank: number, anchor: number];

const BY_PLACE =
  "SELECT held, record, facts, texts, line FROM actions JOIN contents USING (number)" +
  " ORDER BY time, rank, anchor, follows, number";
type Content =
  | readonly [held: string]
  | readonly [held: null, record: Uint8Array, facts: Uint8Array, texts: Uint8Array, line: Uint8Array];

interface TimePlace {
  /** In digits that compare as times do. */
  readonly time: string;
  readonly rank: number;
  /** Number in the input. */
  readonly anchor: number;
}

/** An action at its own place. */
interface Noted extends TimePlace {
  readonly number: number;
  readonly event: EventPlaces | undefined;
  readonly isTimed: boolean;
}

/** The rank of an action whose kind can't be read: behind all others. */
const UNKNOWN = { effect: undefined, rank: 0xff } as const;

const EFFECTS: ReadonlyMap<number, Effect> = new Map(
  ACTION_NAMES.map((name) => [actionSpec(name).rank, actionSpec(name).effect]),
);

/** What the action of a place does. */
const effectAt = ({ rank }: TimePlace): Effect | undefined => EFFECTS.get(rank);

interface EventPlaces {
  /** Earliest time of its sales. */
  earliest: string | undefined;
  /** Its first newEvent, and the last time that the input gives before it. */
  newEvent: TimePlace | undefined;
  /** The latest place among its actions that were met in the order of the input. */
  latest: TimePlace | undefined;
}

class PlacedActions implements TimeOrder {
  readonly #directory: string;
  readonly #scratch: Scratch;
  readonly #events: EventPlaces[] = [];
  readonly #eventNumbers = new Map<string, number>();
  #lastTime = toDigits(0);
  #count = 0;

  constructor(directory: string) {
    this.#directory = directory;
    this.#scratch = createScratch(directory, "order", TABLES);
  }

  candidate(action: OrderKey, { index, facts, texts, lines }: CandidateBytes): void {
    const number = this.#note(action);
    this.#scratch.run("INSERT INTO contents VALUES (?, NULL, ?, ?, ?, ?)", number, index, facts, texts, lines);
  }

  held(action: OrderKey, row: Omit<BlockedRow, "before" | "attempted">): void {
    const held = stringifyJson({ ...row, attempted: [action] });
    this.#scratch.run("INSERT INTO contents (number, held) VALUES (?, ?)", this.#note(action), held);
  }

  async arrange({ blockedRows, onOrdered, signal }: Parameters<TimeOrder["arrange"]>[0]): Promise<void> {
    await this.#placeTickets(signal);
    await this.#placeInEvents(signal);
    await writeInOrder(this.#directory, this.#scratch, blockedRows, onOrdered, signal);
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#scratch[Symbol.dispose]();
  }

  /** Gives the next action its number and its own place. */
  #note({ action, data }: OrderKey): number {
    const number = this.#count;
    this.#count += 1;
    const isTimed = isTime(data.orderTime);
    if (isTimed) this.#lastTime = toDigits(data.orderTime);
    const time = this.#lastTime;
    const { effect, rank } = action === undefined ? UNKNOWN : actionSpec(action);
    const takesEvent = action !== undefined && acceptedFields(action).includes("eventId");
    const event = takesEvent && typeof data.eventId === "string" ? this.#eventNumber(data.eventId) : null;
    const known = event === null ? undefined : this.#events[event];
    if (known !== undefined && effect === "register-event") known.newEvent ??= { time, rank, anchor: number };
    const ticket = effect === "register-event" || effect === "change-event" ? null : ticketOf(data);
    this.#scratch.run(INSERT, number, ticket, event, isTimed ? 1 : 0, time, rank, number);
    return number;
  }

  #eventNumber(eventId: string): number {
    let number = this.#eventNumbers.get(eventId);
    if (number === undefined) {
      number = this.#events.push({ earliest: undefined, newEvent: undefined, latest: undefined }) - 1;
      this.#eventNumbers.set(eventId, number);
    }
    return number;
  }

  #move(number: number, { time, rank, anchor }: TimePlace, follows: boolean): void {
    this.#scratch.run(MOVE, time, rank, anchor, follows ? 1 : 0, number);
  }

  async #placeTickets(signal: AbortSignal): Promise<void> {
    let actions: Noted[] = [];
    let ofTicket: string | undefined;
    for await (const batch of this.#scratch.batches<OfTicket>(BY_TICKET)) {
      signal.throwIfAborted();
      for (const [ticket, number, event, timed, time, rank] of batch) {
        if (ticket !== ofTicket) {
          this.#placeTicket(actions);
          actions = [];
          ofTicket = ticket;
        }
        actions.push({ number, time, rank, anchor: number, event: this.#events[event ?? -1], isTimed: timed === 1 });
      }
    }
    this.#placeTicket(actions);
  }

  /** Places the actions of one ticket, given in the order of the input; only these are in memory together. */
  #placeTicket(actions: readonly Noted[]): void {
    const { least, sale } = dependencies(actions);
    let latest: TimePlace | undefined;
    for (const action of actions) {
      const isSale = effectAt(action) === "sell-ticket";
      const followed = isSale || action.isTimed ? undefined : (latest ?? sale);
      const place = followed ?? (isSale ? notAfter(action, least) : action);
      if (latest === undefined || isAfter(place, latest)) latest = place;
      const { event } = action;
      if (isSale && event !== undefined && (event.earliest === undefined || place.time < event.earliest))
        event.earliest = place.time;
      if (place !== action) this.#move(action.number, place, followed !== undefined);
    }
  }

  async #placeInEvents(signal: AbortSignal): Promise<void> {
    for await (const batch of this.#scratch.batches<OfEvent>(OF_EVENTS)) {
      signal.throwIfAborted();
      for (const [at, number, time, rank, anchor] of batch) {
        const event = this.#events[at];
        if (event !== undefined) this.#placeInEvent(event, number, { time, rank, anchor });
      }
    }
  }

  /** Called for the actions that name the event, in the order of the input. */
  #placeInEvent(event: EventPlaces, number: number, own: TimePlace): void {
    const effect = effectAt(own);
    const followed = effect === "change-event" ? (event.latest ?? newEventPlace(event)) : undefined;
    const time = effect === "register-event" ? event.earliest : undefined;
    const place = followed ?? (time === undefined ? own : { ...own, time });
    if (event.latest === undefined || isAfter(place, event.latest)) event.latest = place;
    if (place !== own) this.#move(number, place, followed !== undefined);
  }
}

/** @param directory of the candidate files; what is put in order lies beside them. */
export const createTimeOrder = (directory: string): TimeOrder => new PlacedActions(directory);

function ticketOf({ ticketId, nftId }: OrderKey["data"]): string | null {
  if (typeof ticketId === "string") return `ticketId ${ticketId}`;
  return typeof nftId === "string" ? `nftId ${nftId}` : null;
}

/** The earliest time of what depends on the ticket's sale, and the place of its first sale; the one may move the other. */
function dependencies(actions: readonly Noted[]): {
  readonly least: string | undefined;
  readonly sale: TimePlace | undefined;
} {
  let least: string | undefined;
  let sale: TimePlace | undefined;
  for (const action of actions) {
    if (effectAt(action) === "sell-ticket") {
      if (sale === undefined || isAfter(sale, action)) sale = action;
    } else if (action.isTimed && (least === undefined || action.time < least)) least = action.time;
  }
  return { least, sale: sale && notAfter(sale, least) };
}

function isAfter(one: TimePlace, other: TimePlace): boolean {
  if (one.time !== other.time) return one.time > other.time;
  return one.rank === other.rank ? one.anchor > other.anchor : one.rank > other.rank;
}

/** The place, at `time` where that is earlier. */
const notAfter = (place: TimePlace, time: string | undefined): TimePlace =>
  time === undefined || place.time <= time ? place : { ...place, time };

const newEventPlace = ({ newEvent, earliest }: EventPlaces): TimePlace | undefined =>
  newEvent && { ...newEvent, time: earliest ?? newEvent.time };

/** As many digits as the largest time has. */
const toDigits = (time: number | bigint): string => String(time).padStart(String(U64_MAX).length, "0");

async function writeInOrder(
  directory: string,
  scratch: Scratch,
  blockedRows: Pick<BlockedRows, "add">,
  onOrdered: (actions: number) => void,
  signal: AbortSignal,
): Promise<void> {
  await using files = await createCandidates(directory, true);
  let before = 0;
  for await (const batch of scratch.batches<Content>(BY_PLACE)) {
    signal.throwIfAborted();
    for (const [held, index, facts, texts, lines] of batch) {
      if (held !== null) {
        blockedRows.add({ ...(parseJson(held) as Omit<BlockedRow, "before">), before }); // as `held` wrote it
        continue;
      }
      await appendCandidates(files, [{ index, facts, texts, lines }]);
      before += 1;
    }
    onOrdered(before);
  }
  await endCandidates(files);
  await syncCandidates(files);
}
