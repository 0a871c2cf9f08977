/**
 * `--lanes N`: which lane each action of a plan goes to. Actions on one event, or on one ticket, are always in the same
 * lane; a lane keeps the plan's order.
 *
 * Events and tickets are joined into groups by everything that is known of them: the eventId and ticketId of an action,
 * the event that its row names, the ticket's sale in this plan, else its event in the ledger. A ticket whose event is not
 * known is a group of its own. Groups, the largest first, go to the lane that has the fewest actions so far.
 *
 * An id is known by 64 bits of its hash. Should two ids ever share them, their groups are joined: the lanes are then less
 * even, and the order stays right.
 */

import { hash128 } from "../../actions/hash128.ts";
import type { KnownState } from "../../checks/cross-action.ts";

/** What of an action decides about its lane. */
export interface Referring {
  readonly eventId?: unknown;
  readonly ticketId?: unknown;
  readonly nftId?: unknown;
}

/** The events that rows name, for those of their actions that carry none. */
export class RowEvents {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  /** By row: the number of its event + 1. */
  #ofRows = new Uint32Array(0);

  note(row: number, eventId: string): void {
    let number = this.#numbers.get(eventId);
    if (number === undefined) {
      number = this.#ids.push(eventId) - 1;
      this.#numbers.set(eventId, number);
    }
    if (row >= this.#ofRows.length)
      this.#ofRows = grown(this.#ofRows, Math.max(2 * this.#ofRows.length, row + FIRST_SIZE));
    this.#ofRows[row] = number + 1;
  }

  /** The number of the event that the row names, from 0. */
  numberOf(row: number): number | undefined {
    const noted = this.#ofRows[row] ?? 0;
    return noted === 0 ? undefined : noted - 1;
  }

  idOf(number: number): string | undefined {
    return this.#ids[number];
  }
}

export interface LaneGroups {
  /** So many actions are about to be added. */
  expect(actions: number): void;
  /** Adds the plan's next action, of so many bytes. */
  add(action: Referring, row: number, bytes: number): void;
  /** Spreads all actions over at most `lanes` lanes. */
  assignment(lanes: number): LaneAssignment;
}

export interface LaneAssignment {
  /** What each lane holds; none of them is empty. */
  readonly lanes: readonly { readonly actions: number; readonly bytes: number }[];
  /** Actions whose ticket is named by nftId alone, with neither its ticketId nor its event known: they have no lane. */
  readonly unknown: number;
  /** The lane of an action, by its place in the plan from 0. */
  of(action: number): number;
}

const KINDS = ["event", "ticketId", "nftId"] as const;
type Kind = (typeof KINDS)[number];

const SEED = { event: 0x6a09e667, ticketId: 0x1f83d9ab, nftId: 0x5be0cd19 } as const;

/** Marks of a node. */
const IS_NFT = 1;
/** Its group holds an event, or a ticketId; kept at the group's root. */
const HAS_EVENT = 2;
const HAS_TICKET = 4;
/** An action has named it together with its event, or the ledger has been asked about it. */
const IS_RESOLVED = 8;
/** An nftId whose ticketId an action gave. */
const IS_TOLD = 16;

const MARKS = { event: HAS_EVENT, ticketId: HAS_TICKET, nftId: IS_NFT } as const;

const FIRST_SIZE = 1 << 10;
const MAX_LOAD = 0.7;

/**
 * Events and tickets as nodes: those that belong together hang on one root. Typed arrays, since there are as many as tickets.
 */
class Nodes {
  readonly #hash = new Uint32Array(4);
  /** By hash, open addressing: the node + 1. */
  #slots = new Uint32Array(FIRST_SIZE * 2);
  // By node: two words of its hash, the node it hangs on (itself at a root), its marks.
  #keys = new Uint32Array(FIRST_SIZE * 2);
  #parents = new Uint32Array(FIRST_SIZE);
  #marks = new Uint8Array(FIRST_SIZE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The node of an id, a new one where it has none. */
  of(kind: Kind, id: unknown): number {
    hash128(String(id), SEED[kind], this.#hash);
    const first = this.#hash[0] as number; // four words
    const second = this.#hash[1] as number; // likewise
    const at = this.#slotOf(first, second);
    const known = this.#slots[at] ?? 0;
    if (known !== 0) return known - 1;
    const node = this.#size;
    if (node === this.#parents.length) {
      this.#keys = grown(this.#keys, 4 * node);
      this.#parents = grown(this.#parents, 2 * node);
      this.#marks = grown(this.#marks, 2 * node);
    }
    this.#keys[2 * node] = first;
    this.#keys[2 * node + 1] = second;
    this.#parents[node] = node;
    this.#marks[node] = MARKS[kind];
    this.#size += 1;
    this.#slots[at] = this.#size;
    if (this.#size > this.#slots.length * MAX_LOAD) this.#rehash(2 * this.#slots.length);
    return node;
  }

  #slotOf(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    let at = first & mask;
    for (let node = this.#slots[at] ?? 0; node !== 0; node = this.#slots[at] ?? 0) {
      if (this.#keys[2 * node - 2] === first && this.#keys[2 * node - 1] === second) break;
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Has room for so many. */
  expect(nodes: number): void {
    let slots = this.#slots.length;
    while (nodes > slots * MAX_LOAD) slots *= 2;
    if (slots > this.#slots.length) this.#rehash(slots);
  }

  #rehash(slots: number): void {
    this.#slots = new Uint32Array(slots);
    for (let node = 0; node < this.#size; node += 1)
      this.#slots[this.#slotOf(this.#keys[2 * node] ?? 0, this.#keys[2 * node + 1] ?? 0)] = node + 1;
  }

  #parentOf(node: number): number {
    return this.#parents[node] ?? node;
  }

  rootOf(from: number): number {
    let node = from;
    for (;;) {
      const parent = this.#parentOf(node);
      if (parent === node) return node;
      const above = this.#parentOf(parent);
      this.#parents[node] = above;
      node = above;
    }
  }

  /** The root is the one that was met first, whatever the order of joining. */
  join(one: number, other: number): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)];
    if (a === b) return;
    const [root, child] = a < b ? [a, b] : [b, a];
    this.#parents[child] = root;
    this.mark(root, (this.#marks[child] ?? 0) & (HAS_EVENT | HAS_TICKET));
  }

  mark(node: number, bits: number): void {
    this.#marks[node] = (this.#marks[node] ?? 0) | bits;
  }

  /** Those of the bits that the node has. */
  marked(node: number, bits: number): number {
    return (this.#marks[node] ?? 0) & bits;
  }
}

class Groups implements LaneGroups {
  readonly #knownState: Pick<KnownState, "ticket">;
  readonly #nodes = new Nodes();
  /** By node: bytes of the actions noted at it. */
  #bytesAt = new Float64Array(FIRST_SIZE);
  /** By action: its node. */
  #nodeOf = new Uint32Array(FIRST_SIZE);
  #actions = 0;
  readonly #rowEvents: RowEvents;
  /** By the numbers of the events that rows name. */
  readonly #nodesOfRowEvents: number[] = [];

  constructor(knownState: Pick<KnownState, "ticket">, rowEvents: RowEvents) {
    this.#knownState = knownState;
    this.#rowEvents = rowEvents;
  }

  expect(actions: number): void {
    // Most are sales, each of a ticket of its own.
    this.#nodes.expect(actions);
  }

  /** The node of the event that the row names. */
  #eventOf(row: number): number | undefined {
    const number = this.#rowEvents.numberOf(row);
    if (number === undefined) return undefined;
    const node = this.#nodesOfRowEvents[number] ?? this.#nodes.of("event", this.#rowEvents.idOf(number));
    this.#nodesOfRowEvents[number] = node;
    return node;
  }

  add({ eventId, ticketId, nftId }: Referring, row: number, bytes: number): void {
    const nodes = this.#nodes;
    const event = eventId != null ? nodes.of("event", eventId) : this.#eventOf(row);
    const ticket = ticketId == null ? undefined : nodes.of("ticketId", ticketId);
    // An action that names nothing counts like one that names an unknown nftId.
    const nft = nftId == null && (event ?? ticket) !== undefined ? undefined : nodes.of("nftId", nftId ?? "");
    const node = event ?? ticket ?? nft ?? 0;
    if (ticket !== undefined) nodes.join(node, ticket);
    if (nft !== undefined) nodes.join(node, nft);
    if (nft !== undefined && ticket !== undefined) nodes.mark(nft, IS_TOLD);
    if (event !== undefined) for (const each of [ticket, nft]) if (each !== undefined) nodes.mark(each, IS_RESOLVED);
    if (event === undefined && ticket !== undefined) this.#ask(ticket, { ticketId: String(ticketId) });
    if (event === undefined && nft !== undefined) this.#ask(nft, { nftId: String(nftId) });
    this.#noteAction(node, bytes);
  }

  /** Asks what is known of a ticket that no action so far has named together with its event. */
  #ask(node: number, ref: { readonly ticketId: string } | { readonly nftId: string }): void {
    const nodes = this.#nodes;
    if (nodes.marked(node, IS_RESOLVED) !== 0) return;
    nodes.mark(node, IS_RESOLVED);
    const known = this.#knownState.ticket(ref);
    if (known?.eventId !== undefined) nodes.join(node, nodes.of("event", known.eventId));
    if (known?.ticketId === undefined || !("nftId" in ref)) return;
    const ticket = nodes.of("ticketId", known.ticketId);
    nodes.mark(node, IS_TOLD);
    nodes.join(node, ticket);
    this.#ask(ticket, { ticketId: known.ticketId });
  }

  #noteAction(node: number, bytes: number): void {
    if (this.#actions === this.#nodeOf.length) this.#nodeOf = grown(this.#nodeOf, 2 * this.#actions);
    this.#nodeOf[this.#actions] = node;
    this.#actions += 1;
    if (node >= this.#bytesAt.length)
      this.#bytesAt = grown(this.#bytesAt, Math.max(2 * this.#bytesAt.length, node + 1));
    this.#bytesAt[node] = (this.#bytesAt[node] ?? 0) + bytes;
  }

  assignment(most: number): LaneAssignment {
    this.#joinWhatMayBeOne();
    const nodes = this.#nodes;
    const { weights, bytes, unknown } = this.#weigh();
    const lanes: { actions: number; bytes: number }[] = [];
    const laneOf = new Uint8Array(nodes.size);
    for (const root of largestFirst(weights)) {
      let lane = lanes.length;
      if (lane < most) lanes.push({ actions: 0, bytes: 0 });
      else lane = indexOfLeast(lanes);
      const chosen = lanes[lane];
      if (chosen === undefined) throw new Error(`there is no lane ${lane}`);
      chosen.actions += weights[root] ?? 0;
      chosen.bytes += bytes[root] ?? 0;
      laneOf[root] = lane;
    }
    return { lanes, unknown, of: (action) => laneOf[nodes.rootOf(this.#nodeOf[action] ?? 0)] ?? 0 };
  }

  /**
   * A ticket that is named by nftId and known by its event alone may be any whose event is not known: those are joined,
   * since one of them could be it.
   */
  #joinWhatMayBeOne(): void {
    const nodes = this.#nodes;
    const loose: number[] = [];
    for (let node = 0; node < nodes.size; node += 1) {
      const isUntold = nodes.marked(node, IS_NFT | IS_TOLD) === IS_NFT;
      if (isUntold && nodes.marked(nodes.rootOf(node), HAS_EVENT) !== 0) loose.push(node);
    }
    const [first] = loose;
    if (first === undefined) return;
    const homeless: number[] = [];
    for (let node = 0; node < nodes.size; node += 1)
      if (nodes.rootOf(node) === node && nodes.marked(node, HAS_EVENT | HAS_TICKET) === HAS_TICKET) homeless.push(node);
    if (homeless.length > 0) for (const node of [...loose, ...homeless]) nodes.join(first, node);
  }

  /** By root: how many actions its group has, and their bytes. */
  #weigh(): { readonly weights: Uint32Array; readonly bytes: Float64Array; readonly unknown: number } {
    const nodes = this.#nodes;
    const weights = new Uint32Array(nodes.size);
    const bytes = new Float64Array(nodes.size);
    for (let node = 0; node < nodes.size; node += 1) {
      const root = nodes.rootOf(node);
      bytes[root] = (bytes[root] ?? 0) + (this.#bytesAt[node] ?? 0);
    }
    let unknown = 0;
    for (let at = 0; at < this.#actions; at += 1) {
      const root = nodes.rootOf(this.#nodeOf[at] ?? 0);
      weights[root] = (weights[root] ?? 0) + 1;
      if (nodes.marked(root, HAS_EVENT | HAS_TICKET) === 0) unknown += 1;
    }
    return { weights, bytes, unknown };
  }
}

/** @param knownState what the environment knows of tickets. */
export const createLaneGroups = (knownState: Pick<KnownState, "ticket">, rowEvents: RowEvents): LaneGroups =>
  new Groups(knownState, rowEvents);

/** The roots that have actions; of groups of one size, the one that was met first. */
function largestFirst(weights: Uint32Array): Uint32Array {
  const weight = (root: number): number => weights[root] ?? 0;
  const roots = new Uint32Array(weights.length);
  let count = 0;
  for (let node = 0; node < weights.length; node += 1) {
    if (weight(node) === 0) continue;
    roots[count] = node;
    count += 1;
  }
  return roots.subarray(0, count).sort((a, b) => weight(b) - weight(a) || a - b);
}

function indexOfLeast(lanes: readonly { readonly actions: number }[]): number {
  let least = 0;
  for (const [at, { actions }] of lanes.entries()) if (actions < (lanes[least]?.actions ?? 0)) least = at;
  return least;
}

/** A longer array that begins with the same numbers. */
function grown<A extends Uint8Array | Uint32Array | Float64Array>(array: A, length: number): A {
  const Longer = array.constructor as new (length: number) => A; // the same kind of array
  const longer = new Longer(length);
  longer.set(array);
  return longer;
}
