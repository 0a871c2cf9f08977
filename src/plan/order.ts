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

import { join } from "node:path";
import { ACTION_NAMES, acceptedFields, actionSpec, type Effect } from "../actions/actions.ts";
import { hash128 } from "../checks/ticket-states.ts";
import {
  type BlockedRow,
  candidateFiles,
  endCandidates,
  readWholeCandidates,
  removeCandidates,
  type WholeCandidate,
} from "./candidates.ts";
import { FACTS_BYTES, type OrderKey, textBytesAt } from "./facts.ts";
import { createFile } from "./files.ts";
import { RECORD_BYTES } from "./index-file.ts";
import { oneByOne } from "./one-by-one.ts";
import { createSorter, type Sorter, type SorterLimits } from "./sorter.ts";

export const ORDERS = ["input", "time"] as const;
export type Order = (typeof ORDERS)[number];

export interface TimeOrder extends AsyncDisposable {
  /** Notes the next candidate. */
  candidate(action: OrderKey): Promise<void> | undefined;
  /** Notes, among the candidates, an action of a row that is not sent. */
  held(action: OrderKey, row: Omit<BlockedRow, "before" | "attempted">): Promise<void> | undefined;
  /** Puts the candidate files in order; gives the held actions at their new places. */
  arrange(options: {
    readonly onOrdered: (actions: number) => void;
    readonly signal: AbortSignal;
  }): Promise<readonly BlockedRow[]>;
}

/** A place as bytes that compare as places do: time (8), rank (1), number in the input (4). */
const TIME = 8;
const RANK = TIME;
const PLACE = 13;

/** Sorted by ticket: its hash (16), number in the input (4); place (13), whether it is timed (1), event + 1 (4). */
const BY_TICKET = { number: 16, place: 20, timed: 33, event: 34, bytes: 38 } as const;

/** Sorted by the input: number in the input (4); place (13), whether it follows the action of that place (1), event + 1 (4). */
const BY_INPUT = { place: 4, follows: 17, event: 18, bytes: 22 } as const;

/** Sorted by place: place (13), whether it follows (1), number in the input (4); then a candidate's record, facts, texts and line, or nothing. */
const BY_PLACE = { follows: 13, number: 14, record: 18 } as const;

/** The rank of an action of which not even its kind can be read: behind all others. */
const UNKNOWN = { effect: undefined, rank: 0xff } as const;

const EFFECTS: ReadonlyMap<number | undefined, Effect> = new Map(
  ACTION_NAMES.map((name) => [actionSpec(name).rank, actionSpec(name).effect]),
);

/** What the action of a place does. */
const effectAt = (place: Buffer): Effect | undefined => EFFECTS.get(place[RANK]);

const SEEDS = { ticketId: 0x6a09e667, nftId: 0x3c6ef372 } as const;

interface EventPlaces {
  /** Earliest time of its sales. */
  earliest: Buffer | undefined;
  /** Number in the input of its first newEvent, its rank, and the last time that the input gives before it. */
  newEvent: { readonly number: number; readonly rank: number; readonly time: Buffer } | undefined;
  /** The latest place among its actions that were met in the order of the input. */
  latest: Buffer | undefined;
}

/** @param directory of the candidate files; what is sorted on disk lies beside them. */
export function createTimeOrder(directory: string, limits?: SorterLimits): TimeOrder {
  const byTicket = createSorter(join(directory, "order.tickets"), limits);
  const byInput = createSorter(join(directory, "order.input"), limits);
  const events: EventPlaces[] = [];
  const eventNumbers = new Map<string, number>();
  const waiting: { readonly number: number; readonly blocked: Omit<BlockedRow, "before"> }[] = [];
  const hash = new Uint32Array(4);
  const lastTime = Buffer.alloc(TIME);
  let count = 0;

  const eventNumber = (eventId: unknown): number => {
    if (typeof eventId !== "string") return 0;
    let number = eventNumbers.get(eventId);
    if (number === undefined) {
      number = events.push({ earliest: undefined, newEvent: undefined, latest: undefined });
      eventNumbers.set(eventId, number);
    }
    return number;
  };

  const note = ({ action, data }: OrderKey): Promise<void> | undefined => {
    const number = count;
    count += 1;
    const isTimed = writeTime(lastTime, data.orderTime);
    const { effect, rank } = action === undefined ? UNKNOWN : actionSpec(action);
    const putPlace = (buffer: Buffer, at: number): void => {
      lastTime.copy(buffer, at);
      buffer[at + RANK] = rank;
      buffer.writeUInt32BE(number, at + RANK + 1);
    };
    const event = action !== undefined && acceptedFields(action).includes("eventId") ? eventNumber(data.eventId) : 0;
    const kind = typeof data.ticketId === "string" ? "ticketId" : "nftId";
    const id = data[kind];
    if (effect === "register-event" || effect === "change-event" || typeof id !== "string") {
      const known = events[event - 1];
      if (known !== undefined && effect === "register-event")
        known.newEvent ??= { number, rank, time: Buffer.from(lastTime) };
      return byInput.add(BY_INPUT.bytes, (buffer, at) => {
        buffer.writeUInt32BE(number, at);
        putPlace(buffer, at + BY_INPUT.place);
        buffer[at + BY_INPUT.follows] = 0;
        buffer.writeUInt32BE(event, at + BY_INPUT.event);
      });
    }
    hash128(id, SEEDS[kind], hash);
    return byTicket.add(BY_TICKET.bytes, (buffer, at) => {
      for (const [word, value] of hash.entries()) buffer.writeUInt32BE(value, at + 4 * word);
      buffer.writeUInt32BE(number, at + BY_TICKET.number);
      putPlace(buffer, at + BY_TICKET.place);
      buffer[at + BY_TICKET.timed] = isTimed ? 1 : 0;
      buffer.writeUInt32BE(event, at + BY_TICKET.event);
    });
  };

  /** Places the actions of one ticket, given in the order of the input; only these are in memory together. */
  const placeTicket = async (actions: readonly Buffer[]): Promise<void> => {
    const { least, sale } = dependencies(actions);
    let latest: Buffer | undefined;
    for (const action of actions) {
      const own = action.subarray(BY_TICKET.place, BY_TICKET.place + PLACE);
      const isSale = effectAt(own) === "sell-ticket";
      const event = action.readUInt32BE(BY_TICKET.event);
      const anchor = isSale || action[BY_TICKET.timed] === 1 ? undefined : (latest ?? sale);
      const place = anchor ?? (isSale ? notAfter(own, least) : own);
      if (latest === undefined || Buffer.compare(place, latest) > 0) latest = place;
      if (isSale) {
        const known = events[event - 1];
        const time = place.subarray(0, TIME);
        if (known !== undefined && (known.earliest === undefined || Buffer.compare(time, known.earliest) < 0))
          known.earliest = Buffer.from(time);
      }
      const full = byInput.add(BY_INPUT.bytes, (buffer, at) => {
        action.copy(buffer, at, BY_TICKET.number, BY_TICKET.number + 4);
        place.copy(buffer, at + BY_INPUT.place);
        buffer[at + BY_INPUT.follows] = anchor === undefined ? 0 : 1;
        buffer.writeUInt32BE(event, at + BY_INPUT.event);
      });
      if (full !== undefined) await full;
    }
  };

  const placeTickets = async (signal: AbortSignal): Promise<void> => {
    let ticket: Buffer[] = [];
    for await (const batch of byTicket.sorted()) {
      signal.throwIfAborted();
      for (const action of batch) {
        const before = ticket[0];
        if (before !== undefined && before.compare(action, 0, BY_TICKET.number, 0, BY_TICKET.number) !== 0) {
          await placeTicket(ticket);
          ticket = [];
        }
        ticket.push(action);
      }
    }
    await placeTicket(ticket);
  };

  /** The place of an action and whether it follows the action of that place. Called in the order of the input. */
  const finalPlace = (noted: Buffer): { readonly place: Buffer; readonly follows: boolean } => {
    const place = noted.subarray(BY_INPUT.place, BY_INPUT.place + PLACE);
    const event = events[noted.readUInt32BE(BY_INPUT.event) - 1];
    const found = { place, follows: noted[BY_INPUT.follows] === 1 };
    if (event === undefined) return found;
    const effect = effectAt(place);
    if (effect === "register-event" && event.earliest !== undefined) found.place = withTime(place, event.earliest);
    if (effect === "change-event") {
      const anchor = event.latest ?? newEventPlace(event);
      if (anchor !== undefined) {
        found.place = anchor;
        found.follows = true;
      }
    }
    if (event.latest === undefined || Buffer.compare(found.place, event.latest) > 0) event.latest = found.place;
    return found;
  };

  const putInPlace = async (byPlace: Sorter, signal: AbortSignal): Promise<void> => {
    await using candidates = oneByOne(readWholeCandidates(directory));
    let held = 0;
    for await (const batch of byInput.sorted()) {
      signal.throwIfAborted();
      for (const noted of batch) {
        const { place, follows } = finalPlace(noted);
        const isHeld = waiting[held]?.number === noted.readUInt32BE(0);
        let candidate: WholeCandidate | undefined;
        if (isHeld) held += 1;
        else {
          candidate = candidates.inHand() ?? (await candidates.next());
          if (candidate === undefined) throw new Error("there are fewer candidates than were noted");
        }
        const parts =
          candidate === undefined ? [] : [candidate.record, candidate.facts, candidate.texts, candidate.line];
        const length = parts.reduce<number>((sum, part) => sum + part.length, BY_PLACE.record);
        const full = byPlace.add(length, (buffer, at) => {
          place.copy(buffer, at);
          buffer[at + BY_PLACE.follows] = follows ? 1 : 0;
          noted.copy(buffer, at + BY_PLACE.number, 0, 4);
          let partAt = at + BY_PLACE.record;
          for (const part of parts) partAt += part.copy(buffer, partAt);
        });
        if (full !== undefined) await full;
      }
    }
  };

  return {
    candidate: note,
    held(action, row) {
      waiting.push({ number: count, blocked: { ...row, attempted: [action] } });
      return note(action);
    },
    async arrange({ onOrdered, signal }) {
      await placeTickets(signal);
      await byTicket[Symbol.asyncDispose]();
      await using byPlace = createSorter(join(directory, "order.places"), limits);
      await putInPlace(byPlace, signal);
      await byInput[Symbol.asyncDispose]();
      const blockedRows = new Map(waiting.map(({ number, blocked }) => [number, blocked]));
      return await writeInOrder(directory, byPlace, blockedRows, onOrdered, signal);
    },
    async [Symbol.asyncDispose]() {
      await byTicket[Symbol.asyncDispose]();
      await byInput[Symbol.asyncDispose]();
    },
  };
}

/** The earliest time of what depends on the ticket's sale, and the place of its first sale; the one may move the other. */
function dependencies(actions: readonly Buffer[]): {
  readonly least: Buffer | undefined;
  readonly sale: Buffer | undefined;
} {
  let least: Buffer | undefined;
  let sale: Buffer | undefined;
  for (const action of actions) {
    const place = action.subarray(BY_TICKET.place, BY_TICKET.place + PLACE);
    if (effectAt(place) === "sell-ticket") {
      if (sale === undefined || Buffer.compare(place, sale) < 0) sale = place;
    } else if (action[BY_TICKET.timed] === 1) {
      const time = place.subarray(0, TIME);
      if (least === undefined || Buffer.compare(time, least) < 0) least = time;
    }
  }
  return { least, sale: sale && notAfter(sale, least) };
}

/** The place, at `time` where that is earlier. */
function notAfter(place: Buffer, time: Buffer | undefined): Buffer {
  return time === undefined || place.compare(time, 0, TIME, 0, TIME) <= 0 ? place : withTime(place, time);
}

function withTime(place: Buffer, time: Buffer): Buffer {
  const moved = Buffer.from(place);
  time.copy(moved);
  return moved;
}

function newEventPlace({ newEvent, earliest }: EventPlaces): Buffer | undefined {
  if (newEvent === undefined) return undefined;
  const place = Buffer.alloc(PLACE);
  (earliest ?? newEvent.time).copy(place);
  place[RANK] = newEvent.rank;
  place.writeUInt32BE(newEvent.number, RANK + 1);
  return place;
}

/** Writes a Unix time so that later ones compare greater; false, and nothing written, for what is none. */
function writeTime(buffer: Buffer, orderTime: unknown): boolean {
  if (typeof orderTime === "number" && Number.isSafeInteger(orderTime) && orderTime >= 0) {
    buffer.writeUInt32BE(Math.floor(orderTime / 0x1_0000_0000), 0);
    buffer.writeUInt32BE(orderTime % 0x1_0000_0000, 4);
    return true;
  }
  if (typeof orderTime !== "bigint" || orderTime < 0n || orderTime >= 1n << 64n) return false;
  buffer.writeBigUInt64BE(orderTime);
  return true;
}

async function writeInOrder(
  directory: string,
  byPlace: Sorter,
  held: ReadonlyMap<number, Omit<BlockedRow, "before">>,
  onOrdered: (actions: number) => void,
  signal: AbortSignal,
): Promise<readonly BlockedRow[]> {
  const paths = candidateFiles(directory);
  // All of them are in the sorter now; there need not be room for them three times.
  await removeCandidates(directory);
  await using lines = await createFile(paths.lines);
  await using index = await createFile(paths.index);
  await using facts = await createFile(paths.facts);
  await using texts = await createFile(paths.texts);
  const blockedRows: BlockedRow[] = [];
  let before = 0;
  for await (const batch of byPlace.sorted()) {
    signal.throwIfAborted();
    for (const placed of batch) {
      const blocked = held.get(placed.readUInt32BE(BY_PLACE.number));
      if (blocked !== undefined) {
        blockedRows.push({ ...blocked, before });
        continue;
      }
      let partAt: number = BY_PLACE.record;
      const append = async (file: typeof lines, size: number): Promise<void> => {
        await file.bytes(placed.subarray(partAt, partAt + size));
        partAt += size;
      };
      const factsAt = BY_PLACE.record + RECORD_BYTES;
      await append(index, RECORD_BYTES);
      await append(facts, FACTS_BYTES);
      await append(texts, textBytesAt(placed, factsAt));
      await append(lines, placed.length - partAt);
      before += 1;
    }
    onOrdered(before);
  }
  await endCandidates({ lines, index, facts, texts }, true);
  return blockedRows;
}
