/** The candidates that the digests alone do not decide about. */

import { type Candidate, readRecords } from "../candidates/candidates.ts";
import { FACTS_BYTES, lineBytesAt } from "../candidates/facts.ts";
import { contentAt, identityAt, RECORD_BYTES, type RecordOrigin, readOrigin } from "../files/index-file.ts";

export interface Doubtful extends RecordOrigin {
  readonly seq: number;
  readonly content: Buffer;
  /** Where its line stands. */
  readonly start: number;
  readonly length: number;
}

export const toDoubtful = (candidate: Candidate): Doubtful => ({
  ...candidate,
  content: Buffer.from(contentAt(candidate.block, candidate.at)),
});

/** The candidates of the given identities, in order. */
export async function gatherDoubtful(
  directory: string,
  identities: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Doubtful[]>> {
  const groups = new Map<string, Doubtful[]>();
  let start = 0;
  for await (const { first, count, records, facts } of readRecords(directory)) {
    for (let number = 0; number < count; number += 1) {
      const at = number * RECORD_BYTES;
      const length = lineBytesAt(facts, number * FACTS_BYTES);
      const identity = identityAt(records, at).toString("hex");
      if (identities.has(identity)) {
        const doubtful = {
          ...readOrigin(records, at),
          seq: first + number,
          content: Buffer.from(contentAt(records, at)),
          start,
          length,
        };
        const group = groups.get(identity);
        if (group === undefined) groups.set(identity, [doubtful]);
        else group.push(doubtful);
      }
      start += length;
    }
  }
  return groups;
}
