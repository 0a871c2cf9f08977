/** The plan's files with the actions grouped by lane, each lane in the order of the candidates. */

import { open } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import { candidateFiles, type KeptRange, removeCandidates } from "../candidates/candidates.ts";
import { writerOf } from "../files/append-file.ts";
import { ChunkCuts, type ChunkLimits } from "../files/cut-chunks.ts";
import { RECORD_BYTES } from "../files/index-file.ts";
import type { Manifest } from "../files/manifest.ts";
import { planFiles } from "../files/plan.ts";
import { readActions, recordAt } from "../files/read-actions.ts";
import { keptIn } from "./group-candidates.ts";
import type { LaneAssignment, LaneGroups } from "./lane-groups.ts";

/** What a lane collects before it is written; 64 of them are in memory at the most. */
const LINE_BYTES = 128 * 1024;

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
  const from = candidateFiles(directory);
  let [candidate, action] = [0, 0];
  for await (const { lines, records } of readActions(from.lines, from.index)) {
    signal.throwIfAborted();
    for (const [number, line] of lines.entries()) {
      candidate += 1;
      if (!isKept(candidate - 1)) continue;
      const lane = lanes[assignment.of(action)];
      if (lane === undefined) throw new Error(`action ${action} has no lane`);
      action += 1;
      lane.take(line, recordAt(records, number));
      if (lane.isFull) await lane.write();
    }
  }
  for (const lane of lanes) await lane.write();
  await actions.sync();
  await index.sync();
  await removeCandidates(directory);
  return lanes.flatMap((lane) => lane.chunks);
}

type Writer = Pick<ReturnType<typeof writerOf>, "write">;

/** Writes the part of a plan that is a lane's from its beginning to its end, and cuts it into chunks on the way. */
class LaneWriter {
  readonly #actions: Writer;
  readonly #index: Writer;
  readonly #cuts: ChunkCuts;
  #lines: Buffer[] = [];
  #records: Buffer[] = [];
  #bytes = 0;
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

  /** @param line with its newline. */
  take(line: Buffer, record: Buffer): void {
    this.#cuts.take(line, record);
    this.#lines.push(line);
    this.#records.push(record);
    this.#bytes += line.length;
  }

  get isFull(): boolean {
    return this.#bytes >= LINE_BYTES;
  }

  /** Writes what was taken. */
  async write(): Promise<void> {
    const [lines, records] = [Buffer.concat(this.#lines), Buffer.concat(this.#records)];
    [this.#lines, this.#records, this.#bytes] = [[], [], 0];
    await this.#actions.write(lines, this.#actionsAt);
    await this.#index.write(records, this.#indexAt);
    this.#actionsAt += lines.length;
    this.#indexAt += records.length;
  }

  /** All of them, when everything was taken. */
  get chunks(): Manifest["chunks"] {
    return this.#cuts.end();
  }
}
