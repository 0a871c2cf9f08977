/**
 * Actions that were left behind in their history: something later of it was taken while they were in doubt. Sent now, they
 * would undo it, so they are closed unsent (design, Identity: superseded).
 */

import { type Action, actionSpec } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { insertOutcomes, SUPERSEDED, TAKEN } from "../ledger/outcomes.ts";
import { addChunks, type ChunkRecord, chunksOf, nextChunkNumber } from "../ledger/runs.ts";
import type { IndexRecord } from "../plan/index-file.ts";
import type { Plan } from "../plan/plan.ts";
import { timeOf } from "../plan/said.ts";
import { chunkFacts, runFacts } from "./settle.ts";
import { toOutcomes } from "./settling.ts";

/** An action that may be left behind. */
interface Behind {
  readonly seq: number;
  readonly content: string;
  readonly time: bigint | undefined;
}

/** Numbers (in the plan) of the chunks' actions of whose history something later was taken in this run. */
export async function findSuperseded(
  ledger: Ledger,
  plan: Plan,
  chunks: readonly ChunkRecord[],
): Promise<ReadonlySet<number>> {
  const superseded = new Set<number>();
  for (const [lane, ofLane] of Map.groupBy(chunks, (each) => each.lane)) {
    const runNo = ofLane[0]?.runNo ?? 0;
    // A lane is sent in order, so nearly always nothing of it was taken behind what is still open.
    const last = lastTaken(ledger, runNo, lane);
    const before = ofLane.filter(({ first }) => first < last);
    if (before.length === 0) continue;
    const from = before.reduce((least, { first }) => Math.min(least, first), last);
    const open = await openDeeds(plan, before);
    for (const later of takenBehind(ledger, runNo, lane, from)) {
      const behind = open.get(later.identity);
      if (behind === undefined) continue;
      for (const each of behind) if (isUndoneBy(each, later)) superseded.add(each.seq);
    }
  }
  return superseded;
}

interface Later extends Behind {
  readonly identity: string;
}

const isUndoneBy = (one: Behind, later: Behind): boolean =>
  later.seq > one.seq &&
  later.content !== one.content &&
  (one.time === undefined || later.time === undefined || later.time > one.time);

/** By identity (hex), what belongs to a history; of what has a key of its own, the key says which deed it is. */
async function openDeeds(plan: Plan, chunks: readonly ChunkRecord[]): Promise<ReadonlyMap<string, Behind[]>> {
  const deeds = new Map<string, Behind[]>();
  for (const chunk of chunks) {
    const [lines, records] = await Promise.all([plan.lines(chunk), plan.records(chunk)]);
    for (const [at, record] of records.entries()) {
      if (record.keyed || actionSpec(record.action).identity !== "history") continue;
      const deed = { seq: chunk.first + at, content: record.content.toString("hex"), time: timeIn(record, lines[at]) };
      const key = record.identity.toString("hex");
      const others = deeds.get(key);
      if (others === undefined) deeds.set(key, [deed]);
      else others.push(deed);
    }
  }
  return deeds;
}

function timeIn({ untimed }: IndexRecord, line: Buffer | undefined): bigint | undefined {
  if (untimed || line === undefined) return undefined;
  return timeOf((parseJson(line.toString("utf8")) as Action).data.orderTime); // written by the planner
}

const BEHIND = `run_no = ? AND seq > ? AND outcome IN ${TAKEN} AND chunk IN (SELECT chunk FROM chunks WHERE run_no = ? AND lane = ?)`;

/** The end of the lane's last chunk of which something was taken. */
function lastTaken(ledger: Ledger, runNo: number, lane: number): number {
  const chunks = `SELECT max(first + count - 1) AS last FROM chunks WHERE run_no = ? AND lane = ?
    AND state IN ('settled', 'settled by hand') AND EXISTS (SELECT 1 FROM tallies
      WHERE tallies.run_no = chunks.run_no AND tallies.chunk = chunks.chunk AND outcome IN ${TAKEN})`;
  return Number(ledger.get(chunks, runNo, lane)?.last ?? 0);
}

function* takenBehind(ledger: Ledger, runNo: number, lane: number, from: number): Generator<Later> {
  const rows = ledger.iterate(
    `SELECT seq, lower(hex(identity)) AS identity, lower(hex(content)) AS content, data ->> 'orderTime' AS time
     FROM actions WHERE ${BEHIND}`,
    ...[runNo, from, runNo, lane],
  );
  for (const { seq, identity, content, time } of rows)
    yield {
      seq: Number(seq),
      identity: String(identity),
      content: String(content),
      time: time === null ? undefined : BigInt(String(time)),
    };
}

/**
 * Closes, unsent, what of the run's planned chunks was left behind. Each chunk is one transaction; doing it again changes
 * nothing.
 *
 * @returns how many actions were closed.
 */
export async function closeSuperseded(ledger: Ledger, plan: Plan, runNo: number): Promise<number> {
  const chunks = chunksOf(ledger, runNo, "planned");
  const superseded = await findSuperseded(ledger, plan, chunks);
  if (superseded.size === 0) return 0;
  for (const chunk of chunks) {
    const parts = cut(chunk, await plan.lines(chunk), superseded);
    if (parts.some(({ isClosed }) => isClosed)) await closeParts(ledger, plan, chunk, parts);
  }
  return superseded.size;
}

interface Part extends Pick<ChunkRecord, "first" | "count" | "offset" | "length"> {
  readonly isClosed: boolean;
}

/** The chunk as stretches that are sent or closed. */
function cut(chunk: ChunkRecord, lines: readonly Buffer[], superseded: ReadonlySet<number>): readonly Part[] {
  const parts: { -readonly [K in keyof Part]: Part[K] }[] = [];
  let { offset } = chunk;
  for (const [at, line] of lines.entries()) {
    const [first, length] = [chunk.first + at, line.length + 1];
    const isClosed = superseded.has(first);
    const last = parts.at(-1);
    if (last?.isClosed === isClosed) {
      last.count += 1;
      last.length += length;
    } else parts.push({ first, count: 1, offset, length, isClosed });
    offset += length;
  }
  return parts;
}

async function closeParts(ledger: Ledger, plan: Plan, chunk: ChunkRecord, parts: readonly Part[]): Promise<void> {
  const at = new Date().toISOString();
  const next = nextChunkNumber(ledger, chunk.runNo);
  // The first part keeps the chunk's number.
  const numbered = parts.map((part, number) => ({ ...part, chunk: number === 0 ? chunk.chunk : next + number - 1 }));
  const closed = await Promise.all(
    numbered
      .filter(({ isClosed }) => isClosed)
      .map(async ({ isClosed: _, ...part }) =>
        toOutcomes(
          runFacts({ plan, runNo: chunk.runNo }),
          await chunkFacts(plan, { ...chunk, ...part }),
          () => ({ outcome: "not sent", status: SUPERSEDED }),
          at,
        ),
      ),
  );
  ledger.transaction(() => {
    for (const { chunk: number, count, length, isClosed, ...part } of numbered) {
      const state = isClosed ? "abandoned" : "planned";
      if (number === chunk.chunk)
        ledger.run(
          "UPDATE chunks SET count = ?, length = ?, state = ?, detail = NULL WHERE run_no = ? AND chunk = ?",
          count,
          length,
          state,
          chunk.runNo,
          number,
        );
      else addChunks(ledger, chunk, [{ ...part, count, length }], state);
    }
    for (const rows of closed) insertOutcomes(ledger, chunk.runNo, rows);
  });
}
