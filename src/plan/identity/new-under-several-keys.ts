/**
 * Deeds that rows of one run tell alike under several keys. A key tells apart the deeds of its own source alone, so that of two
 * sources they may be one deed or two, and nothing of it is sent on a guess; what happens once is one (docs/guarantees.md, A key that is new).
 */

import { actionSpec, registers } from "../../actions/actions.ts";
import { type Candidate, readCandidates } from "../candidates/candidates.ts";
import type { InputKey } from "./accepted-under-other-keys.ts";
import { historyOf } from "./history-of-candidate.ts";
import { createProbableSet } from "./probable-set.ts";

interface SeveralKeysOptions {
  /** Of all inputs, by number. */
  readonly inputs: readonly InputKey[];
  readonly isNew: (seq: number) => boolean;
}

/** @returns the new candidates that say the same as one of another source, each with that one. */
export async function findToldTwice(
  directory: string,
  { inputs, isNew }: SeveralKeysOptions,
): Promise<readonly (readonly [Candidate, Candidate])[]> {
  const sourceOf = ({ input }: Pick<Candidate, "input">): string | undefined => inputs[input]?.readAs;
  if (!haveKeys(inputs) || new Set(inputs.map(({ readAs }) => readAs)).size < 2) return [];
  const groups = await findAlike(
    directory,
    ({ seq, action }) => isNew(seq) && actionSpec(action).identity !== "once",
    (candidate) => Buffer.concat([historyOf(candidate), candidate.content]),
  );
  return groups.flatMap((alike) =>
    alike.flatMap((one): (readonly [Candidate, Candidate])[] => {
      const other = alike.find((each) => sourceOf(each) !== sourceOf(one) && (each.keyed || one.keyed));
      return other === undefined ? [] : [[one, other]];
    }),
  );
}

/**
 * What happens to a ticket once is the same deed under any key, though no two sources or rows of the run share one. Sales have a
 * rule of their own.
 *
 * @returns the new candidates that repeat an earlier new one, each with the number of the first.
 */
export async function findOnceUnderOtherKeys(
  directory: string,
  { inputs, isNew }: SeveralKeysOptions,
): Promise<readonly (readonly [Candidate, number])[]> {
  if (!haveKeys(inputs)) return [];
  const groups = await findAlike(
    directory,
    ({ seq, action }) => isNew(seq) && actionSpec(action).identity === "once" && !registers(action),
    (candidate) => historyOf(candidate),
  );
  return groups.flatMap(([first, ...others]) =>
    first === undefined ? [] : others.map((each) => [each, first.seq] as const),
  );
}

const haveKeys = (inputs: readonly InputKey[]): boolean => inputs.some(({ key }) => key !== undefined);

/** The candidates that are asked for, in order, by a name that several of them have; a few may be the only one with theirs. */
async function findAlike(
  directory: string,
  isAsked: (candidate: Candidate) => boolean,
  nameOf: (candidate: Candidate) => Buffer,
): Promise<readonly (readonly Candidate[])[]> {
  const seen = createProbableSet();
  const alike = new Map<string, Candidate[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isAsked(candidate)) continue;
      const name = nameOf(candidate);
      if (seen.addAndTell(name)) alike.set(name.toString("hex"), []);
    }
  }
  if (alike.size === 0) return [];
  for await (const batch of readCandidates(directory))
    for (const candidate of batch)
      if (isAsked(candidate)) alike.get(nameOf(candidate).toString("hex"))?.push(candidate);
  return [...alike.values()];
}
