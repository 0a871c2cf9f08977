/** What the ledger says of very many candidates, asked in key order: a page of its table is looked at once for all of them. */

import type { FileHandle } from "node:fs/promises";
import { endianness } from "node:os";
import { actionSpec } from "../../actions/actions.ts";
import { type AskedDeeds, tellAccepted, tellAcceptedBesideOthers } from "../../ledger/asked-deeds.ts";
import { DEED_BYTES, DEED_WORDS } from "../../ledger/block.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { marksAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "../files/index-file.ts";
import { lastCounts } from "./history-of-candidate.ts";

/** Candidates that are asked for at a time: some 32 MiB. */
const ASKED_AT_ONCE = 2 ** 20;

const IS_LITTLE_ENDIAN = endianness() === "LE";

/** Records that are read at a time. */
const READ_AT_ONCE = 8192;

/** Where a record's digests begin, in bytes. */
const DIGESTS_FROM = RECORD_BYTES - DEED_BYTES;

/** Records of candidates, in their order. */
export interface ReadRecords {
  /** Number of the first candidate. */
  readonly first: number;
  /** Used again for the next ones. */
  readonly records: Buffer;
  readonly count: number;
  /** Of each, as `HOW` says it; beside others only of a history without times. */
  readonly how: Uint8Array | undefined;
}

/** All records of an index, with what the ledger says of them. */
export async function* readAndAsk(
  ledger: Ledger | undefined,
  index: FileHandle,
  candidates: number,
): AsyncGenerator<ReadRecords> {
  for (let from = 0; from < candidates; from += ASKED_AT_ONCE) {
    const end = Math.min(candidates, from + ASKED_AT_ONCE);
    const how = ledger === undefined ? undefined : await howAccepted(ledger, index, from, end);
    for await (const { first, records, count } of readRecords(index, from, end))
      yield { first, records, count, how: how?.subarray(first - from, first - from + count) };
  }
}

async function* readRecords(index: FileHandle, from: number, end: number): AsyncGenerator<Omit<ReadRecords, "how">> {
  const block = Buffer.allocUnsafe(RECORD_BYTES * Math.min(READ_AT_ONCE, end - from));
  for (let first = from; first < end; ) {
    const most = Math.min(block.length, (end - first) * RECORD_BYTES);
    const { bytesRead } = await index.read(block, 0, most, first * RECORD_BYTES);
    const count = Math.floor(bytesRead / RECORD_BYTES);
    if (count === 0) throw new Error("the candidates' index is shorter than it should be");
    yield { first, records: block.subarray(0, count * RECORD_BYTES), count };
    first += count;
  }
}

async function howAccepted(ledger: Ledger, index: FileHandle, from: number, end: number): Promise<Uint8Array> {
  const digests = new Uint32Array((end - from) * DEED_WORDS);
  const [keys, areBeside] = [new Uint32Array(end - from), new Uint8Array(end - from)];
  const isBeside = besideOthersByMarks();
  let hasBeside = false;
  for await (const { first, records, count } of readRecords(index, from, end)) {
    const view = new DataView(records.buffer, records.byteOffset, records.length);
    for (let number = 0; number < count; number += 1) {
      const [at, place] = [number * RECORD_BYTES, first - from + number];
      // A million calls that copy so few bytes take longer than all else here.
      for (let word = 0; word < DEED_WORDS; word += 1)
        digests[place * DEED_WORDS + word] = view.getUint32(at + DIGESTS_FROM + word * 4, IS_LITTLE_ENDIAN);
      keys[place] = view.getUint32(at + DIGESTS_FROM);
      if (!isBeside(records, at)) continue;
      areBeside[place] = 1;
      hasBeside = true;
    }
  }
  return ask(
    ledger,
    { digests, places: keys.map((_, place) => place).sort((one, other) => (keys[one] ?? 0) - (keys[other] ?? 0)) },
    hasBeside ? areBeside : undefined,
  );
}

function ask(ledger: Ledger, { digests, places }: AskedDeeds, areBeside: Uint8Array | undefined): Uint8Array {
  const how = new Uint8Array(places.length);
  if (areBeside === undefined) tellAccepted(ledger, { digests, places }, how);
  else {
    tellAccepted(ledger, { digests, places: places.filter((place) => areBeside[place] === 0) }, how);
    tellAcceptedBesideOthers(ledger, { digests, places: places.filter((place) => areBeside[place] === 1) }, how);
  }
  return how;
}

/** Whether a record may stand beside others, which its marks tell: few kinds of marks stand in an index. */
function besideOthersByMarks(): (records: Buffer, at: number) => boolean {
  const known = new Map<number, boolean>();
  return (records, at) => {
    const marks = marksAt(records, at);
    let may = known.get(marks);
    if (may === undefined) {
      may = mayStandBesideOthers(readOrigin(records, at));
      known.set(marks, may);
    }
    return may;
  };
}

/** Neither a time nor a key tells it from other deeds of its ticket or event. */
function mayStandBesideOthers({ action, keyed, untimed }: RecordOrigin): boolean {
  return !keyed && untimed && (lastCounts(action) || actionSpec(action).identity === "history");
}
