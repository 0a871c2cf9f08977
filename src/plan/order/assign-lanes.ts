/** The plan's files with the actions grouped by lane, each lane in the order of the candidates. */

import { type FileHandle, open } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import {
  actionOf,
  candidateAt,
  type KeptRange,
  openCandidateLines,
  readBlocks,
  readWithLines,
  removeCandidates,
} from "../candidates/candidates.ts";
import { FACT_FIELDS, FACTS_BYTES, findAsciiTexts, lineBytesAt, textBytesAt } from "../candidates/facts.ts";
import { ChunkCuts, type ChunkLimits } from "../files/cut-chunks.ts";
import { RECORD_BYTES, rowAt } from "../files/index-file.ts";
import type { Manifest } from "../files/manifest.ts";
import { planFiles } from "../files/plan.ts";
import type { LaneAssignment, LaneGroups, PlainReferring } from "./lane-groups.ts";

/** What a lane collects before it is written; 64 of them are in memory at the most. */
const [LINE_BYTES, RECORDS] = [256 * 1024, 1024];

const EVENT = FACT_FIELDS.indexOf("eventId");
const TICKET = FACT_FIELDS.indexOf("ticketId");

/**
 * Adds the selected candidates to the groups and spreads them over lanes.
 *
 * @throws Failure `usage` when an action could belong to any lane.
 */
export async function assignLanes(options: {
  readonly directory: string;
  readonly kept: readonly KeptRange[];
  readonly groups: LaneGroups;
  readonly lanes: number;
  readonly signal: AbortSignal;
}): Promise<LaneAssignment> {
  const { groups, lanes } = options;
  await addKept(options);
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

async function addKept({ directory, kept, groups, signal }: Parameters<typeof assignLanes>[0]): Promise<void> {
  using lines = openCandidateLines(directory);
  groups.expect(kept.reduce((sum, { count }) => sum + count, 0));
  const isKept = keptIn(kept);
  const from = new Int32Array(FACT_FIELDS.length);
  const to = new Int32Array(FACT_FIELDS.length);
  const plain: { -readonly [Key in keyof PlainReferring]: PlainReferring[Key] } = {
    ...{ bytes: Buffer.alloc(0), eventFrom: -1, eventTo: 0, ticketFrom: -1, ticketTo: 0 },
  };
  for await (const block of readBlocks(directory)) {
    signal.throwIfAborted();
    const { first, count, records, facts, texts } = block;
    plain.bytes = texts;
    let [textAt, start] = [0, block.start];
    for (let number = 0; number < count; number += 1) {
      const factsAt = number * FACTS_BYTES;
      const size = lineBytesAt(facts, factsAt);
      if (isKept(first + number)) {
        const row = rowAt(records, number * RECORD_BYTES);
        if (findAsciiTexts(facts, factsAt, textAt, from, to)) {
          plain.eventFrom = from[EVENT] as number; // as many as there are fields, as all below
          plain.eventTo = to[EVENT] as number;
          plain.ticketFrom = from[TICKET] as number;
          plain.ticketTo = to[TICKET] as number;
          groups.addPlain(plain, row, size);
        } else groups.add(actionOf(candidateAt(block, { number, textAt, start }), lines).data, row, size);
      }
      textAt += textBytesAt(facts, factsAt);
      start += size;
    }
  }
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
  await using actions = await open(paths.actions, "wx", 0o600);
  await using index = await open(paths.index, "wx", 0o600);
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
      if (!lane.hasRoomFor(start - from)) await lane.flush();
      lane.put(lines, from, start, records, number * RECORD_BYTES);
    }
  }
  for (const lane of lanes) await lane.flush();
  await actions.sync();
  await index.sync();
  await removeCandidates(directory);
  return lanes.flatMap((lane) => lane.chunks());
}

/** Writes the part of a plan that is a lane's from its beginning to its end, and cuts it into chunks on the way. */
class LaneWriter {
  readonly #actions: FileHandle;
  readonly #index: FileHandle;
  readonly #cuts: ChunkCuts;
  #lines = Buffer.allocUnsafe(LINE_BYTES);
  readonly #records = Buffer.allocUnsafe(RECORDS * RECORD_BYTES);
  /** Bytes of each line. */
  readonly #sizes = new Uint32Array(RECORDS);
  #lineBytes = 0;
  #count = 0;
  /** Where the next are written. */
  #actionsAt: number;
  #indexAt: number;

  constructor(
    actions: FileHandle,
    index: FileHandle,
    limits: ChunkLimits,
    start: { readonly lane: number; readonly first: number; readonly offset: number },
  ) {
    this.#actions = actions;
    this.#index = index;
    this.#cuts = new ChunkCuts(limits, start);
    this.#actionsAt = start.offset;
    this.#indexAt = (start.first - 1) * RECORD_BYTES;
  }

  hasRoomFor(lineBytes: number): boolean {
    return this.#count < RECORDS && this.#lineBytes + lineBytes <= this.#lines.length;
  }

  /** Takes a line with its newline, and its record. There is room, or nothing is waiting to be written. */
  put(lines: Buffer, from: number, to: number, records: Buffer, at: number): void {
    if (to - from > this.#lines.length) this.#lines = Buffer.allocUnsafe(to - from);
    lines.copy(this.#lines, this.#lineBytes, from, to);
    records.copy(this.#records, this.#count * RECORD_BYTES, at, at + RECORD_BYTES);
    this.#sizes[this.#count] = to - from;
    this.#lineBytes += to - from;
    this.#count += 1;
  }

  async flush(): Promise<void> {
    const lines = this.#lines.subarray(0, this.#lineBytes);
    const records = this.#records.subarray(0, this.#count * RECORD_BYTES);
    const sizeOf = (number: number): number => this.#sizes[number] as number; // as many
    this.#cuts.take({ count: this.#count, lines, records, sizeOf });
    await writeWhole(this.#actions, lines, this.#actionsAt);
    await writeWhole(this.#index, records, this.#indexAt);
    this.#actionsAt += lines.length;
    this.#indexAt += records.length;
    this.#lineBytes = 0;
    this.#count = 0;
  }

  /** All of them, when everything was written. */
  chunks(): Manifest["chunks"] {
    return this.#cuts.end();
  }
}

async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let from = 0; from < bytes.length; )
    from += (await file.write(bytes, from, bytes.length - from, position + from)).bytesWritten;
}

/** Whether a candidate is sent; to be asked in order. */
function keptIn(kept: readonly KeptRange[]): (seq: number) => boolean {
  let at = 0;
  return (seq) => {
    let range = kept[at];
    while (range !== undefined && seq >= range.first + range.count) {
      at += 1;
      range = kept[at];
    }
    return range !== undefined && seq >= range.first;
  };
}
