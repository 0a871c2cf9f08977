/** The plan's files with the actions grouped by lane, each lane in the order of the candidates. */

import { type FileHandle, open, rm } from "node:fs/promises";
import { Failure } from "../../failure.ts";
import { type Candidate, candidateFiles, readCandidates } from "./candidates.ts";
import type { Selection } from "./decide.ts";
import { RECORD_BYTES, writeRecord } from "./index-file.ts";
import type { LaneGroups, Referring, Spread } from "./lanes.ts";
import { planFiles } from "./plan.ts";

/** What a lane collects before it is written; 64 of them are in memory at the most. */
const BLOCK = 256 * 1024;

/**
 * Adds the selected candidates to the groups and spreads them over lanes.
 *
 * @throws Failure `usage` when an action could belong to any lane.
 */
export async function assignLanes(options: {
  readonly directory: string;
  readonly selection: Selection;
  readonly groups: LaneGroups;
  readonly lanes: number;
  readonly signal: AbortSignal;
}): Promise<Spread> {
  const { directory, selection, groups, lanes, signal } = options;
  for await (const batch of selected(directory, selection, signal)) {
    for (const { line, record } of batch) {
      // Ids are texts; how a number is read plays no part. Written by compile, checked there.
      const { data } = JSON.parse(line.toString("utf8")) as { readonly data: Referring };
      groups.add(data, record.row, line.length + 1);
    }
  }
  const spread = groups.spread(lanes);
  if (spread.unknown > 0) {
    const which = spread.unknown === 1 ? "1 action names its ticket" : `${spread.unknown} actions name their tickets`;
    throw new Failure(
      "usage",
      `${which} by nftId alone, and neither ticketId nor event is known, so no lane is known for ${spread.unknown === 1 ? "it" : "them"}. Nothing was sent.`,
      { hint: "To send everything in one order, use --lanes 1." },
    );
  }
  return spread;
}

/** Writes the plan's actions and index, lane after lane, durably, and removes the candidates. */
export async function writeByLane(
  directory: string,
  selection: Selection,
  spread: Spread,
  signal: AbortSignal,
): Promise<void> {
  const paths = planFiles(directory);
  await using actions = await open(paths.actions, "wx", 0o600);
  await using index = await open(paths.index, "wx", 0o600);
  let [bytesBefore, actionsBefore] = [0, 0];
  const lanes = spread.lanes.map((lane) => {
    const parts = {
      lines: regionOf(actions, bytesBefore),
      records: regionOf(index, actionsBefore * RECORD_BYTES),
    };
    bytesBefore += lane.bytes;
    actionsBefore += lane.actions;
    return parts;
  });
  let at = 0;
  for await (const batch of selected(directory, selection, signal)) {
    for (const { line, record } of batch) {
      const lane = lanes[spread.of(at)];
      if (lane === undefined) throw new Error(`action ${at} has no lane`);
      at += 1;
      const written = lane.lines.put(line.length + 1, (buffer, from) => {
        line.copy(buffer, from);
        buffer[from + line.length] = NEWLINE;
      });
      if (written !== undefined) await written;
      const noted = lane.records.put(RECORD_BYTES, (buffer, from) => writeRecord(buffer, from, record));
      if (noted !== undefined) await noted;
    }
  }
  for (const { lines, records } of lanes) {
    await lines.flush();
    await records.flush();
  }
  await actions.sync();
  await index.sync();
  const candidates = candidateFiles(directory);
  await rm(candidates.lines);
  await rm(candidates.index);
}

const NEWLINE = 0x0a;

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
  const put = (size: number, fill: (buffer: Buffer, at: number) => void): Promise<void> | undefined => {
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

/** The candidates that are sent, in order. */
async function* selected(
  directory: string,
  { kept }: Selection,
  signal: AbortSignal,
): AsyncGenerator<readonly Candidate[]> {
  let at = 0;
  const isKept = ({ seq }: Candidate): boolean => {
    let range = kept[at];
    while (range !== undefined && seq >= range.first + range.count) {
      at += 1;
      range = kept[at];
    }
    return range !== undefined && seq >= range.first;
  };
  for await (const batch of readCandidates(directory)) {
    signal.throwIfAborted();
    yield batch.filter(isKept);
  }
}
