/** The plan's files with the actions grouped by lane, each lane in the order of the candidates. */

import { open } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import { type KeptRange, readWithLines, removeCandidates } from "../candidates/candidates.ts";
import { FACTS_BYTES, lineBytesAt } from "../candidates/facts.ts";
import { writerOf } from "../files/append-file.ts";
import { ChunkCuts, type ChunkLimits } from "../files/cut-chunks.ts";
import { RECORD_BYTES } from "../files/index-file.ts";
import type { Manifest } from "../files/manifest.ts";
import { planFiles } from "../files/plan.ts";
import { keptIn } from "./group-candidates.ts";
import type { LaneAssignment, LaneGroups } from "./lane-groups.ts";

/** What a lane collects before it is written; twice 64 of them are in memory at the most. */
const [LINE_BYTES, RECORDS] = [128 * 1024, 512];

/**
 * Spreads the groups of all actions over lanes.
 *
 * @throws Failure `usage` when an action could belong to any lane.
 */
export function assignLanes(groups: LaneGroups, lanes: number): LaneAssignment {
  const assignment = groups.assignment(lanes);
  if (assignment.unknown > 0) {
    const which =
      assignment.unknown === 1 ? "1 action names its ticket" : `${assignment.unknown} actions name their tickets`;
    throw new Failure(
      "usage",
      `${which} by nftId alone, and neither ticketId nor event is known, so no lane is known for ${assignment.unknown === 1 ? "it" : "them"}. Nothing was sent.`,
      { hint: "To send everything in one order, use --lanes 1." },
    );
  }
  return assignment;
}

/**
 * Writes the plan's actions and index, lane after lane, durably, and removes the candidates.
 *
 * @returns the plan's chunks.
 */
export async function writeByLane(
  directory: string,
  kept: readonly KeptRange[],
  assignment: LaneAssignment,
  limits: ChunkLimits,
  signal: AbortSignal,
): Promise<Manifest["chunks"]> {
  const paths = planFiles(directory);
  await using actionsFile = await open(paths.actions, "wx", 0o600);
  await using indexFile = await open(paths.index, "wx", 0o600);
  const [actions, index] = [writerOf(actionsFile), writerOf(indexFile)];
  let [offset, before] = [0, 0];
  const lanes = assignment.lanes.map((lane, number) => {
    const writer = new LaneWriter(actions, index, limits, { lane: number, first: before + 1, offset });
    offset += lane.bytes;
    before += lane.actions;
    return writer;
  });
  const isKept = keptIn(kept);
  let action = 0;
  for await (const { first, count, records, facts, lines } of readWithLines(directory)) {
    signal.throwIfAborted();
    let start = 0;
    for (let number = 0; number < count; number += 1) {
      const from = start;
      start += lineBytesAt(facts, number * FACTS_BYTES);
      if (!isKept(first + number)) continue;
      const lane = lanes[assignment.of(action)];
      if (lane === undefined) throw new Error(`action ${action} has no lane`);
      action += 1;
      const taken = lane.put(lines, from, start, records, number * RECORD_BYTES);
      if (taken !== undefined) await taken;
    }
  }
  for (const lane of lanes) await lane.end();
  await actions.sync();
  await index.sync();
  await removeCandidates(directory);
  return lanes.flatMap((lane) => lane.chunks());
}

type Writer = Pick<ReturnType<typeof writerOf>, "write">;

/** Some lines of a lane and their records, until they are written. */
class LaneBlock {
  #lines = Buffer.allocUnsafe(LINE_BYTES);
  readonly #records = Buffer.allocUnsafe(RECORDS * RECORD_BYTES);
  /** Bytes of each line. */
  readonly #sizes = new Uint32Array(RECORDS);
  #lineBytes = 0;
  count = 0;

  get lines(): Buffer {
    return this.#lines.subarray(0, this.#lineBytes);
  }

  get records(): Buffer {
    return this.#records.subarray(0, this.count * RECORD_BYTES);
  }

  readonly sizeOf = (number: number): number => this.#sizes[number] as number; // as many

  hasRoomFor(lineBytes: number): boolean {
    return this.count < RECORDS && this.#lineBytes + lineBytes <= this.#lines.length;
  }

  /** Takes a line with its newline, and its record. There is room, or nothing else is in it. */
  put(lines: Buffer, from: number, to: number, records: Buffer, at: number): void {
    if (to - from > this.#lines.length) this.#lines = Buffer.allocUnsafe(to - from);
    lines.copy(this.#lines, this.#lineBytes, from, to);
    records.copy(this.#records, this.count * RECORD_BYTES, at, at + RECORD_BYTES);
    this.#sizes[this.count] = to - from;
    this.#lineBytes += to - from;
    this.count += 1;
  }

  clear(): void {
    this.#lineBytes = 0;
    this.count = 0;
  }
}

/** Writes the part of a plan that is a lane's from its beginning to its end, and cuts it into chunks on the way. */
class LaneWriter {
  readonly #actions: Writer;
  readonly #index: Writer;
  readonly #cuts: ChunkCuts;
  #block = new LaneBlock();
  /** The one before it, which is being written. */
  #before = new LaneBlock();
  #written: Promise<void> = Promise.resolve();
  /** Where the next are written. */
  #actionsAt: number;
  #indexAt: number;

  constructor(
    actions: Writer,
    index: Writer,
    limits: ChunkLimits,
    start: { readonly lane: number; readonly first: number; readonly offset: number },
  ) {
    this.#actions = actions;
    this.#index = index;
    this.#cuts = new ChunkCuts(limits, start);
    this.#actionsAt = start.offset;
    this.#indexAt = (start.first - 1) * RECORD_BYTES;
  }

  /**
   * Takes a line with its newline, and its record.
   *
   * @returns what has to end before `lines` and `records` may change.
   */
  put(lines: Buffer, from: number, to: number, records: Buffer, at: number): Promise<void> | undefined {
    if (!this.#block.hasRoomFor(to - from) && this.#block.count > 0)
      return this.#flush().then(() => this.#block.put(lines, from, to, records, at));
    this.#block.put(lines, from, to, records, at);
    return undefined;
  }

  /** What is written is written while the next is taken. */
  async #flush(): Promise<void> {
    const block = this.#block;
    this.#cuts.take(block);
    await this.#written;
    this.#written = this.#write(block);
    this.#written.catch(() => undefined); // told when it is awaited
    this.#before.clear();
    [this.#block, this.#before] = [this.#before, block];
  }

  async #write({ lines, records }: LaneBlock): Promise<void> {
    const [actionsAt, indexAt] = [this.#actionsAt, this.#indexAt];
    this.#actionsAt += lines.length;
    this.#indexAt += records.length;
    await this.#actions.write(lines, actionsAt);
    await this.#index.write(records, indexAt);
  }

  /** Resolves when all was written. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#written;
  }

  /** All of them, when everything was written. */
  chunks(): Manifest["chunks"] {
    return this.#cuts.end();
  }
}
