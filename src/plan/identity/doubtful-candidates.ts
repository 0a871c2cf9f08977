/** The candidates that the digests alone do not decide about. */

import { type Candidate, readCandidates } from "../candidates/candidates.ts";

/** The candidates of the given identities, in order. */
export async function gatherDoubtful(
  directory: string,
  identities: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Candidate[]>> {
  const groups = new Map<string, Candidate[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const identity = candidate.identity.toString("hex");
      if (!identities.has(identity)) continue;
      const group = groups.get(identity);
      if (group === undefined) groups.set(identity, [candidate]);
      else group.push(candidate);
    }
  }
  return groups;
}
