/** The plan's files with the actions grouped by lane, each lane in the order of the candidates. */

import { type FileHandle, open } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import {
  actionOf,
  type KeptRange,
  openCandidateLines,
  readCandidates,
  readWholeCandidates,
  removeCandidates,
  type WholeCandidate,
} from "../candidates/candidates.ts";
import { RECORD_BYTES } from "../files/index-file.ts";
import { planFiles } from "../files/plan.ts";
import type { LaneAssignment, LaneGroups } from "./lane-groups.ts";

/** What a lane collects before it is written; 64 of them are in memory at the most. */
const BLOCK = 256 * 1024;

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
  const { directory, kept, groups, lanes, signal } = options;
  using lines = openCandidateLines(directory);
  const isKept = keptIn(kept);
  for await (const batch of readCandidates(directory)) {
    signal.throwIfAborted();
    for (const candidate of batch)
      if (isKept(candidate.seq)) groups.add(actionOf(candidate, lines).data, candidate.row, candidate.length);
  }
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

/** Writes the plan's actions and index, lane after lane, durably, and removes the candidates. */
export async function writeByLane(
  directory: string,
  kept: readonly KeptRange[],
  assignment: LaneAssignment,
  signal: AbortSignal,
): Promise<void> {
  const paths = planFiles(directory);
  await using actions = await open(paths.actions, "wx", 0o600);
  await using index = await open(paths.index, "wx", 0o600);
  let [bytesBefore, actionsBefore] = [0, 0];
  const lanes = assignment.lanes.map((lane) => {
    const parts = {
      lines: regionOf(actions, bytesBefore),
      records: regionOf(index, actionsBefore * RECORD_BYTES),
    };
    bytesBefore += lane.bytes;
    actionsBefore += lane.actions;
    return parts;
  });
  let at = 0;
  for await (const batch of selectedWhole(directory, kept, signal)) {
    for (const { line, record } of batch) {
      const lane = lanes[assignment.of(at)];
      if (lane === undefined) throw new Error(`action ${at} has no lane`);
      at += 1;
      const written = lane.lines.put(line.length, (buffer, from) => line.copy(buffer, from));
      if (written !== undefined) await written;
      const noted = lane.records.put(RECORD_BYTES, (buffer, from) => record.copy(buffer, from));
      if (noted !== undefined) await noted;
    }
  }
  for (const { lines, records } of lanes) {
    await lines.flush();
    await records.flush();
  }
  await actions.sync();
  await index.sync();
  await removeCandidates(directory);
}

/** The part of a file from `position` on, written from its beginning to its end. */
function regionOf(file: FileHandle, position: number) {
  let buffer = Buffer.allocUnsafe(BLOCK);
  let used = 0;
  let at = position;
  const flush = async (): Promise<void> => {
    for (let from = 0; from < used; ) from += (await file.write(buffer, from, used - from, at + from)).bytesWritten;
    at += used;
    used = 0;
  };
  const put = (size: number, fill: (buffer: Buffer, at: number) => unknown): Promise<void> | undefined => {
    if (size <= buffer.length - used) {
      fill(buffer, used);
      used += size;
      return undefined;
    }
    return flush().then(() => {
      if (size > buffer.length) buffer = Buffer.allocUnsafe(size);
      fill(buffer, 0);
      used = size;
    });
  };
  return { put, flush };
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

/** The candidates that are sent, in order, as bytes. */
async function* selectedWhole(
  directory: string,
  kept: readonly KeptRange[],
  signal: AbortSignal,
): AsyncGenerator<readonly WholeCandidate[]> {
  const isKept = keptIn(kept);
  let seq = 0;
  for await (const batch of readWholeCandidates(directory)) {
    signal.throwIfAborted();
    yield batch.filter(() => {
      seq += 1;
      return isKept(seq - 1);
    });
  }
}
