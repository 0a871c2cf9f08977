/** Candidates that are sent, added to the groups that lanes are made of. */

import {
  actionOf,
  type CandidateBlock,
  type CandidateLines,
  candidateAt,
  type KeptRange,
  openCandidateLines,
  readBlocks,
} from "../candidates/candidates.ts";
import { FACT_FIELDS, FACTS_BYTES, findAsciiTexts, lineBytesAt, textBytesAt } from "../candidates/facts.ts";
import { RECORD_BYTES, rowAt } from "../files/index-file.ts";
import type { LaneGroups, PlainReferring } from "./lane-groups.ts";

const EVENT = FACT_FIELDS.indexOf("eventId");
const TICKET = FACT_FIELDS.indexOf("ticketId");

/** Adds candidates to groups, block after block. */
export class CandidateGroups {
  readonly groups: LaneGroups;
  readonly #from = new Int32Array(FACT_FIELDS.length);
  readonly #to = new Int32Array(FACT_FIELDS.length);
  /** Each in turn: an object for each of a million would have to be collected. */
  readonly #plain: { -readonly [Key in keyof PlainReferring]: PlainReferring[Key] } = {
    ...{ bytes: Buffer.alloc(0), eventFrom: -1, eventTo: 0, ticketFrom: -1, ticketTo: 0 },
  };

  constructor(groups: LaneGroups) {
    this.groups = groups;
  }

  /** @param isKept whether a candidate is sent; asked in order. */
  add(block: CandidateBlock, lines: CandidateLines, isKept: (seq: number) => boolean): void {
    const { first, count, records, facts, texts } = block;
    let [textAt, start] = [0, block.start];
    for (let number = 0; number < count; number += 1) {
      const factsAt = number * FACTS_BYTES;
      const size = lineBytesAt(facts, factsAt);
      if (isKept(first + number)) {
        const row = rowAt(records, number * RECORD_BYTES);
        if (findAsciiTexts(facts, factsAt, textAt, this.#from, this.#to)) this.#addPlain(texts, row, size);
        else this.groups.add(actionOf(candidateAt(block, { number, textAt, start }), lines).data, row, size);
      }
      textAt += textBytesAt(facts, factsAt);
      start += size;
    }
  }

  #addPlain(texts: Buffer, row: number, size: number): void {
    const plain = this.#plain;
    plain.bytes = texts;
    plain.eventFrom = this.#from[EVENT] as number; // as many as there are fields, as all below
    plain.eventTo = this.#to[EVENT] as number;
    plain.ticketFrom = this.#from[TICKET] as number;
    plain.ticketTo = this.#to[TICKET] as number;
    this.groups.addPlain(plain, row, size);
  }
}

/** Adds the selected candidates to the groups, as they stand on disk. */
export async function groupKept(
  directory: string,
  kept: readonly KeptRange[],
  groups: LaneGroups,
  signal: AbortSignal,
): Promise<void> {
  using lines = openCandidateLines(directory);
  groups.expect(kept.reduce((sum, { count }) => sum + count, 0));
  const candidates = new CandidateGroups(groups);
  const isKept = keptIn(kept);
  for await (const block of readBlocks(directory)) {
    signal.throwIfAborted();
    candidates.add(block, lines, isKept);
  }
}

/** Whether a candidate is sent; to be asked in order. */
export function keptIn(kept: readonly KeptRange[]): (seq: number) => boolean {
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
