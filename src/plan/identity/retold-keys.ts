/**
 * Deeds whose key is new though all that they say was accepted before, to the second: a spreadsheet that took the zeros off the
 * keys, or a key that counts rows, would send each of them again (docs/guarantees.md, A key that is new).
 */

import { actionSpec } from "../../actions/actions.ts";
import { type AcceptedDeed, acceptedDeeds } from "../../ledger/deeds.ts";
import type { KeyedDeed } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { readCandidates } from "../candidates/candidates.ts";
import type { SaidUnderSameKey } from "./accepted-under-other-keys.ts";
import { timeOf } from "./deed-contents.ts";
import { inputsWithSeconds } from "./times-of-inputs.ts";

const MINUTE = 60n;

interface RetoldKeysOptions {
  /** The new candidates that say what was accepted under other values of their source's key. */
  readonly open: readonly SaidUnderSameKey[];
}

/**
 * Times without seconds, and none at all, show nothing: the same may well happen twice in a minute.
 *
 * @returns those of the candidates that may be an accepted deed whose key the input lacks, each with the latest such one.
 */
export async function findRetoldKeys(
  ledger: Ledger,
  directory: string,
  { open }: RetoldKeysOptions,
): Promise<readonly (readonly [Candidate, AcceptedDeed])[]> {
  const timed = open.flatMap((each) => {
    const time = each.candidate.untimed ? undefined : timeOf(each.candidate.data.orderTime);
    return time === undefined ? [] : { ...each, time };
  });
  const whole = new Set(timed.flatMap(({ candidate, time }) => (time % MINUTE === 0n ? candidate.input : [])));
  const withSeconds = whole.size === 0 ? whole : await inputsWithSeconds(directory, whole);
  const telling = timed.filter(({ candidate, time }) => time % MINUTE !== 0n || withSeconds.has(candidate.input));
  if (telling.length === 0) return [];
  const standing = await acceptedInInput(
    ledger,
    directory,
    telling.map(({ candidate }) => candidate.content),
  );
  return telling.flatMap(({ candidate, accepted }) => {
    const missing = accepted.findLast((deed) => !standing.has(placeOf(deed)));
    return missing === undefined ? [] : [[candidate, missing] as const];
  });
}

/** Where a deed stands among all, as a name. */
export const placeOf = ({ runNo, seq }: Pick<KeyedDeed, "runNo" | "seq">): string => `${runNo}:${seq}`;

/** Accepted deeds of these contents that the input has under their keys, by `placeOf`. */
export async function acceptedInInput(
  ledger: Ledger,
  directory: string,
  of: readonly Buffer[],
): Promise<ReadonlySet<string>> {
  const contents = new Set(of.map((content) => content.toString("latin1")));
  const standing = new Set<string>();
  for await (const batch of readCandidates(directory))
    for (const candidate of batch) {
      if (!candidate.keyed || actionSpec(candidate.action).identity === "once") continue;
      const content = candidate.content;
      if (!contents.has(content.toString("latin1"))) continue;
      for (const deed of acceptedDeeds(ledger, candidate.identity))
        if (deed.content.equals(content)) standing.add(placeOf(deed));
    }
  return standing;
}
