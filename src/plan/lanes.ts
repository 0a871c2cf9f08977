/**
 * `--lanes N`: which lane each action of a plan goes to. Actions on one event, or on one ticket, are always in the same
 * lane; a lane keeps the plan's order.
 *
 * Events and tickets are joined into groups by everything that is known of them: the eventId and ticketId of an action,
 * the event that its row names, the ticket's sale in this plan, else its event in the ledger. A ticket whose event is not
 * known is a group of its own. Groups, the largest first, go to the lane that has the fewest actions so far.
 *
 * An id is known by 64 bits of its hash. Should two ids ever meet in them, their groups are joined: that costs a lane its
 * share and no action its order.
 */

import type { KnownState } from "../checks/cross-action.ts";
import { hash128 } from "../checks/ticket-states.ts";

/** What of an action decides about its lane. */
export interface Referring {
  readonly eventId?: unknown;
  readonly ticketId?: unknown;
  readonly nftId?: unknown;
}

/** Notes the event that a row names, for those of its actions that carry none. */
export interface RowEvents {
  note(row: number, eventId: string): void;
}

export interface LaneGroups extends RowEvents {
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
/** An action has named it together with its event, or what is known of it was asked for. */
const IS_SETTLED = 8;
/** An nftId whose ticketId an action gave. */
const IS_TOLD = 16;

const MARKS = { event: HAS_EVENT, ticketId: HAS_TICKET, nftId: IS_NFT } as const;

const FIRST_SIZE = 1 << 10;
const MAX_LOAD = 0.7;

/** @param knownState what the environment knows of tickets. */
export function createLaneGroups(knownState: Pick<KnownState, "ticket">): LaneGroups {
  const hash = new Uint32Array(4);
  let slots = new Uint32Array(FIRST_SIZE * 2);
  let size = 0;
  // By node: two words of its hash, the node it hangs on (itself at a root), its marks, bytes of the actions noted at it.
  let keys = new Uint32Array(FIRST_SIZE * 2);
  let parents = new Uint32Array(FIRST_SIZE);
  let marks = new Uint8Array(FIRST_SIZE);
  let bytesAt = new Float64Array(FIRST_SIZE);
  /** By action: its node. */
  let nodes = new Uint32Array(FIRST_SIZE);
  let actions = 0;
  /** By row: the node of its event + 1. */
  let rowEvents = new Uint32Array(0);

  const slotOf = (first: number, second: number): number => {
    const mask = slots.length - 1;
    let at = first & mask;
    for (let node = slots[at] ?? 0; node !== 0; node = slots[at] ?? 0) {
      if (keys[2 * node - 2] === first && keys[2 * node - 1] === second) break;
      at = (at + 1) & mask;
    }
    return at;
  };

  const nodeOf = (kind: Kind, id: unknown): number => {
    hash128(String(id), SEED[kind], hash);
    const [first = 0, second = 0] = hash;
    const at = slotOf(first, second);
    const known = slots[at] ?? 0;
    if (known !== 0) return known - 1;
    const node = size;
    if (node === parents.length) {
      keys = grown(keys, 4 * node);
      parents = grown(parents, 2 * node);
      marks = grown(marks, 2 * node);
      bytesAt = grown(bytesAt, 2 * node);
    }
    keys[2 * node] = first;
    keys[2 * node + 1] = second;
    parents[node] = node;
    marks[node] = MARKS[kind];
    size += 1;
    slots[at] = size;
    if (size > slots.length * MAX_LOAD) {
      slots = new Uint32Array(slots.length * 2);
      for (let each = 0; each < size; each += 1) slots[slotOf(keys[2 * each] ?? 0, keys[2 * each + 1] ?? 0)] = each + 1;
    }
    return node;
  };

  const parentOf = (node: number): number => parents[node] ?? node;
  const rootOf = (from: number): number => {
    let node = from;
    for (;;) {
      const parent = parentOf(node);
      if (parent === node) return node;
      const above = parentOf(parent);
      parents[node] = above;
      node = above;
    }
  };
  /** The root is the one that was met first, whatever the order of joining. */
  const join = (one: number, other: number): void => {
    const [a, b] = [rootOf(one), rootOf(other)];
    if (a === b) return;
    const [root, child] = a < b ? [a, b] : [b, a];
    parents[child] = root;
    mark(root, marksOf(child) & (HAS_EVENT | HAS_TICKET));
  };
  const marksOf = (node: number): number => marks[node] ?? 0;
  const mark = (node: number, bits: number): void => {
    marks[node] = marksOf(node) | bits;
  };

  /** Asks what is known of a ticket that no action so far has named together with its event. */
  const ask = (node: number, ref: { readonly ticketId: string } | { readonly nftId: string }): void => {
    if ((marksOf(node) & IS_SETTLED) !== 0) return;
    mark(node, IS_SETTLED);
    const known = knownState.ticket(ref);
    if (known?.eventId !== undefined) join(node, nodeOf("event", known.eventId));
    if (known?.ticketId === undefined || !("nftId" in ref)) return;
    const ticket = nodeOf("ticketId", known.ticketId);
    mark(node, IS_TOLD);
    join(node, ticket);
    ask(ticket, { ticketId: known.ticketId });
  };

  /**
   * A ticket that is named by nftId and known by its event alone may be any whose event is not known: those are joined,
   * since one of them could be it.
   */
  const joinWhatMayBeOne = (): void => {
    const loose: number[] = [];
    let first: number | undefined;
    for (let node = 0; node < size; node += 1) {
      const own = marksOf(node);
      if ((own & IS_NFT) !== 0 && (own & IS_TOLD) === 0 && (marksOf(rootOf(node)) & HAS_EVENT) !== 0) {
        first ??= node;
        loose.push(node);
      }
    }
    if (first === undefined) return;
    const homeless: number[] = [];
    for (let node = 0; node < size; node += 1)
      if (rootOf(node) === node && (marksOf(node) & (HAS_EVENT | HAS_TICKET)) === HAS_TICKET) homeless.push(node);
    if (homeless.length > 0) for (const node of [...loose, ...homeless]) join(first, node);
  };

  return {
    note(row, eventId) {
      const node = nodeOf("event", eventId);
      if (row >= rowEvents.length) rowEvents = grown(rowEvents, Math.max(2 * rowEvents.length, row + FIRST_SIZE));
      rowEvents[row] = node + 1;
    },
    add({ eventId, ticketId, nftId }, row, bytes) {
      const ofRow = rowEvents[row] ?? 0;
      const event = eventId != null ? nodeOf("event", eventId) : ofRow === 0 ? undefined : ofRow - 1;
      const ticket = ticketId == null ? undefined : nodeOf("ticketId", ticketId);
      // One that names nothing is as one that names an unknown nftId.
      const nft = nftId == null && (event ?? ticket) !== undefined ? undefined : nodeOf("nftId", nftId ?? "");
      const node = event ?? ticket ?? nft ?? 0;
      if (ticket !== undefined) join(node, ticket);
      if (nft !== undefined) join(node, nft);
      if (nft !== undefined && ticket !== undefined) mark(nft, IS_TOLD);
      if (event !== undefined) for (const each of [ticket, nft]) if (each !== undefined) mark(each, IS_SETTLED);
      if (event === undefined && ticket !== undefined) ask(ticket, { ticketId: String(ticketId) });
      if (event === undefined && nft !== undefined) ask(nft, { nftId: String(nftId) });
      if (actions === nodes.length) nodes = grown(nodes, 2 * actions);
      nodes[actions] = node;
      actions += 1;
      bytesAt[node] = (bytesAt[node] ?? 0) + bytes;
    },
    assignment(most) {
      joinWhatMayBeOne();
      const weights = new Uint32Array(size);
      const bytesOf = new Float64Array(size);
      for (let node = 0; node < size; node += 1) {
        const root = rootOf(node);
        bytesOf[root] = (bytesOf[root] ?? 0) + (bytesAt[node] ?? 0);
      }
      let unknown = 0;
      for (let at = 0; at < actions; at += 1) {
        const root = rootOf(nodes[at] ?? 0);
        weights[root] = (weights[root] ?? 0) + 1;
        if ((marksOf(root) & (HAS_EVENT | HAS_TICKET)) === 0) unknown += 1;
      }
      const weight = (root: number): number => weights[root] ?? 0;
      const groups = new Uint32Array(size);
      let count = 0;
      for (let node = 0; node < size; node += 1) {
        if (weight(node) === 0) continue;
        groups[count] = node;
        count += 1;
      }
      groups.subarray(0, count).sort((a, b) => weight(b) - weight(a) || a - b);
      const lanes: { actions: number; bytes: number }[] = [];
      const laneOf = new Uint8Array(size);
      for (const root of groups.subarray(0, count)) {
        let lane = lanes.length;
        if (lane < most) lanes.push({ actions: 0, bytes: 0 });
        else lane = indexOfLeast(lanes);
        const chosen = lanes[lane];
        if (chosen === undefined) throw new Error(`there is no lane ${lane}`);
        chosen.actions += weight(root);
        chosen.bytes += bytesOf[root] ?? 0;
        laneOf[root] = lane;
      }
      return { lanes, unknown, of: (action) => laneOf[rootOf(nodes[action] ?? 0)] ?? 0 };
    },
  };
}

function indexOfLeast(lanes: readonly { readonly actions: number }[]): number {
  let least = 0;
  for (const [at, { actions }] of lanes.entries()) if (actions < (lanes[least]?.actions ?? 0)) least = at;
  return least;
}

/** A longer array that begins with the same numbers. */
function grown<A extends Uint8Array | Uint32Array | Float64Array>(array: A, length: number): A {
  const Longer = array.constructor as new (length: number) => A; // what made the one makes the other
  const longer = new Longer(length);
  longer.set(array);
  return longer;
}
