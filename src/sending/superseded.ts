/**
 * Actions that were left behind in their history: a later one was taken while they were in doubt. Sent now, they would undo
 * it, so they are closed unsent.
 */

import { type ActionData, actionSpec } from "../actions/actions.ts";
import { identityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { lastTaken, SUPERSEDED, takenWithin } from "../ledger/outcomes.ts";
import { type ChunkRecord, plannedChunks } from "../ledger/runs.ts";
import { RECORD_BYTES, readRecord } from "../plan/files/index-file.ts";
import type { ChunkBorders, Plan } from "../plan/files/plan.ts";
import { areOfOneMoment } from "../plan/histories/retold-times.ts";
import { timeOf } from "../plan/identity/deed-contents.ts";
import { lastCounts } from "../plan/identity/history-of-candidate.ts";
import { closeUnsent } from "./chunk-parts.ts";

/** A deed of a history, as the plan holds it. */
interface Deed {
  readonly seq: number;
  readonly content: string;
  readonly time: bigint | undefined;
  /** The last one of its history counts: of equal times, its place tells. */
  readonly isOrdered: boolean;
}

/**
 * Numbers (in the plan) of the chunks' actions of whose history something later was taken in this run. The plan says what
 * each deed is; the ledger is asked only what was taken, since it knows no more than the ids of imported deeds.
 *
 * @param chunks of one run, whose actions may still be sent.
 */
export async function findSuperseded(
  ledger: Ledger,
  plan: Plan,
  chunks: readonly ChunkRecord[],
): Promise<ReadonlySet<number>> {
  const [one] = chunks;
  const last = one === undefined ? 0 : lastTaken(ledger, one.runNo);
  // A lane is sent in order, so nearly always nothing was taken behind an open chunk.
  const before = chunks.filter(({ first }) => first < last);
  const superseded = new Set<number>();
  // A history is all in one lane.
  for (const [lane, open] of Map.groupBy(before, (each) => each.lane)) {
    const ofLane = plan.manifest.chunks.filter((each) => each.lane === lane && each.first <= last);
    await supersedeInLane(ledger, plan, open, ofLane, superseded);
  }
  return superseded;
}

/** @param ofLane the plan's chunks in the lane of the open chunks. */
async function supersedeInLane(
  ledger: Ledger,
  plan: Plan,
  open: readonly ChunkRecord[],
  ofLane: readonly ChunkBorders[],
  superseded: Set<number>,
): Promise<void> {
  const runNo = open[0]?.runNo ?? 0;
  const from = open.reduce((least, { first }) => Math.min(least, first), Number.POSITIVE_INFINITY);
  const takenBehind = ({ first, count }: ChunkBorders, most: number): ReadonlySet<number> =>
    takenWithin(ledger, runNo, { first: Math.max(first, from + 1), end: first + count, most });
  const behind = ofLane.filter((chunk) => takenBehind(chunk, 1).size > 0);
  const end = behind.reduce((most, { first, count }) => Math.max(most, first + count), 0);
  const before = open.filter(({ first }) => first < end);
  for await (const deeds of openDeeds(plan, before)) {
    for (const chunk of behind) {
      const taken = takenBehind(chunk, chunk.count);
      await readHistories(plan, chunk, (seq, history, readDeed) => {
        const waiting = taken.has(seq) ? deeds.get(history) : undefined;
        if (waiting === undefined) return;
        const later = readDeed();
        const left: Deed[] = [];
        for (const each of waiting) {
          if (isUndoneBy(each, later)) superseded.add(each.seq);
          else left.push(each);
        }
        deeds.set(history, left);
      });
    }
  }
}

const isUndoneBy = (one: Deed, later: Deed): boolean =>
  later.seq > one.seq &&
  later.content !== one.content &&
  (one.time === undefined ||
    later.time === undefined ||
    later.time > one.time ||
    (one.isOrdered && areOfOneMoment(one.time, later.time)));

/** How many open deeds are in memory at a time; a single chunk may have more. */
const MOST_OPEN = 50_000;

/** The deeds of the chunks, by history, part by part. */
async function* openDeeds(plan: Plan, chunks: readonly ChunkRecord[]): AsyncGenerator<Map<string, readonly Deed[]>> {
  let deeds = new Map<string, Deed[]>();
  let size = 0;
  for (const chunk of chunks) {
    await readHistories(plan, chunk, (_, history, readDeed) => {
      const others = deeds.get(history);
      if (others === undefined) deeds.set(history, [readDeed()]);
      else others.push(readDeed());
      size += 1;
    });
    if (size < MOST_OPEN) continue;
    yield deeds;
    deeds = new Map();
    size = 0;
  }
  if (size > 0) yield deeds;
}

/** Gives `take` those actions of a chunk that belong to a history. Not scans with a key: the key says which is which. */
async function readHistories(
  plan: Plan,
  chunk: ChunkBorders,
  take: (seq: number, history: string, readDeed: () => Deed) => void,
): Promise<void> {
  const { actions, index } = await plan.chunk(chunk);
  for (let at = 0; at < actions.count; at += 1) {
    const { action, keyed, untimed, content } = readRecord(index, at * RECORD_BYTES);
    if (actionSpec(action).identity === "once" || (keyed && !lastCounts(action))) continue;
    const { eventId, ticketId, nftId, data } = actions.read(at);
    const seq = chunk.first + at;
    // By the action's own ids: the index has the key where there is one.
    const ids = { eventId: eventId ?? null, ticketId: ticketId ?? null, nftId: nftId ?? null };
    const history = identityText({ action, data: ids });
    const told = { seq, content: content.toString("hex"), isOrdered: lastCounts(action) };
    take(seq, history, () => ({ ...told, time: untimed ? undefined : timeIn(data) }));
  }
}

function timeIn(data: string): bigint | undefined {
  return timeOf((parseJson(data) as ActionData).orderTime); // written by the planner
}

/**
 * Closes, unsent, what was left behind in the run's planned chunks. Each chunk is one transaction; doing it again changes
 * nothing.
 *
 * @param lane only of this one, which the caller has claimed.
 * @returns how many actions were closed.
 */
export async function closeSuperseded(ledger: Ledger, plan: Plan, runNo: number, lane?: number): Promise<number> {
  const chunks = plannedChunks(ledger, runNo, lane);
  const superseded = await findSuperseded(ledger, plan, chunks);
  await closeUnsent(ledger, plan, chunks, new Map([...superseded].map((seq) => [seq, SUPERSEDED])));
  return superseded.size;
}
