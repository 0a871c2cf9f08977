/**
 * Deeds that rows of one run tell alike under several keys. A key tells apart the deeds of its own source alone, so that of two
 * sources they may be one deed or two, and nothing of it is sent on a guess; what happens once is one (design, Identity).
 */

import { actionSpec, registers } from "../../actions/actions.ts";
import { type Candidate, type CandidateLines, readCandidates } from "./candidates.ts";
import { contentAt } from "./index-file.ts";
import { historyOf } from "./keyed-order.ts";
import type { InputKey } from "./other-keys.ts";
import { createProbableSet } from "./probable-set.ts";

/** @returns the new candidates that say the same as one of another source, each with that one. */
export async function findToldTwice(
  directory: string,
  options: {
    readonly lines: CandidateLines;
    readonly inputs: readonly InputKey[];
    readonly isNew: (seq: number) => boolean;
  },
): Promise<readonly (readonly [Candidate, Candidate])[]> {
  const { lines, inputs, isNew } = options;
  const sources = new Set(inputs.map(({ readAs }) => readAs));
  if (sources.size < 2 || inputs.every(({ key }) => key === undefined)) return [];
  const isAsked = ({ seq, action }: Candidate): boolean => isNew(seq) && actionSpec(action).identity !== "once";
  const nameOf = (candidate: Candidate): Buffer =>
    Buffer.concat([historyOf(candidate, lines), contentAt(candidate.block, candidate.at)]);
  const seen = createProbableSet();
  const repeated = new Map<string, Candidate[]>();
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isAsked(candidate)) continue;
      const name = nameOf(candidate);
      if (seen.has(name)) repeated.set(name.toString("hex"), []);
    }
  }
  if (repeated.size === 0) return [];
  for await (const batch of readCandidates(directory))
    for (const candidate of batch)
      if (isAsked(candidate)) repeated.get(nameOf(candidate).toString("hex"))?.push(candidate);
  const sourceOf = ({ input }: Candidate): string | undefined => inputs[input]?.readAs;
  return [...repeated.values()].flatMap((alike) =>
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
  { lines, inputs, isNew }: Parameters<typeof findToldTwice>[1],
): Promise<readonly (readonly [Candidate, number])[]> {
  if (inputs.every(({ key }) => key === undefined)) return [];
  const seen = createProbableSet();
  const alike = new Map<string, Candidate[]>();
  const isAsked = ({ seq, action }: Candidate): boolean =>
    actionSpec(action).identity === "once" && !registers(action) && isNew(seq);
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isAsked(candidate)) continue;
      const name = historyOf(candidate, lines);
      if (seen.has(name)) alike.set(name.toString("hex"), []);
    }
  }
  if (alike.size === 0) return [];
  for await (const batch of readCandidates(directory))
    for (const candidate of batch)
      if (isAsked(candidate)) alike.get(historyOf(candidate, lines).toString("hex"))?.push(candidate);
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : others.map((each) => [each, first.seq] as const),
  );
}
