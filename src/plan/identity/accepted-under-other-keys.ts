/**
 * Candidates whose key is new. Their deeds may have been accepted before the source had a key, under another one, or under one
 * that is written otherwise, so they are looked for once more by what would identify them without a key.
 */

import { type ActionName, actionSpec } from "../../actions/actions.ts";
import { digestOf, identityText } from "../../actions/identity.ts";
import { type TriedDeed, triedDeeds } from "../../ledger/deeds.ts";
import { hasKeyedDeeds, type KeyedDeed, keyedDeeds, type SourceKey } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { actionOf, type Candidate, type CandidateLines, readCandidates } from "../candidates/candidates.ts";
import { contentAt } from "../files/index-file.ts";

/** What the rows of an input are read as, and the key of their source. */
export interface InputKey {
  readonly readAs: string;
  readonly key: string | undefined;
}

/** A deed that the service was asked for. */
export interface FoundDeed extends TriedDeed {
  /** The key of another source identified it, so that it proves nothing when it says the same. */
  readonly isOfAnotherSource: boolean;
}

/** What the ledger knows of an identity, and of what would have it without its key. */
export interface DeedsBeside {
  /** What the service was asked for, oldest first. */
  of(identity: Buffer, action: ActionName, input: InputKey): readonly FoundDeed[];
  /** Whether a deed was accepted that would have this identity without its key. */
  has(identity: Buffer): boolean;
}

export function deedsBeside(ledger: Ledger): DeedsBeside {
  const isAny = hasKeyedDeeds(ledger);
  return {
    of: (identity, action, input) => withoutKey(ledger, identity, action, input, isAny).tried,
    has: (identity) => isAny && keyedDeeds(ledger, identity).some(({ isTaken }) => isTaken),
  };
}

/** Candidates of one identity and one source that stand beside what may be the same. */
export interface NewKeys<T> {
  /** Without the key, hexadecimal. */
  readonly identity: string;
  readonly candidates: T[];
  readonly tried: readonly FoundDeed[];
  /** Accepted, and told apart from the candidates by values of the very key that their input has. */
  readonly underKey: readonly KeyedDeed[];
}

/** A candidate that says just what was accepted of its ticket or event under other values of the very key that its source has. */
export interface SaidUnderSameKey<T> {
  readonly candidate: T;
  readonly accepted: readonly KeyedDeed[];
}

interface UnderOtherKeys<T> {
  readonly groups: Iterable<NewKeys<T>>;
  /** Of what may happen several times. */
  readonly underSameKey: readonly SaidUnderSameKey<T>[];
}

/** @param isOpen whether a candidate's own key brought nothing. */
export async function findUnderOtherKeys<T>(
  ledger: Ledger,
  directory: string,
  options: {
    readonly lines: CandidateLines;
    readonly inputs: readonly InputKey[];
    readonly isOpen: (candidate: Candidate) => boolean;
    readonly take: (candidate: Candidate) => T;
  },
): Promise<UnderOtherKeys<T>> {
  const { lines, inputs, isOpen, take } = options;
  const isAny = hasKeyedDeeds(ledger);
  const groups = new Map<string, NewKeys<T>>();
  const underSameKey: SaidUnderSameKey<T>[] = [];
  const compare = (candidate: Candidate, underKey: readonly KeyedDeed[]): void => {
    if (underKey.length === 0) return;
    const content = contentAt(candidate.block, candidate.at);
    const accepted = underKey.filter((deed) => deed.content.equals(content));
    if (accepted.length > 0) underSameKey.push({ candidate: take(candidate), accepted });
  };
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!candidate.keyed || !isOpen(candidate)) continue;
      const { action } = candidate;
      const input = inputs[candidate.input];
      if (input === undefined) throw new Error("a candidate comes from an input that nobody opened");
      const identity = digestOf(identityText(actionOf(candidate, lines)));
      const name = JSON.stringify([identity.toString("hex"), input.readAs, input.key]);
      const known = groups.get(name);
      if (known !== undefined) {
        known.candidates.push(take(candidate));
        compare(candidate, known.underKey);
        continue;
      }
      const { tried, underKey } = withoutKey(ledger, identity, action, input, isAny);
      compare(candidate, underKey);
      if (tried.some(({ isTaken }) => isTaken))
        groups.set(name, { identity: identity.toString("hex"), candidates: [take(candidate)], tried, underKey });
    }
  }
  return { groups: groups.values(), underSameKey };
}

interface WithoutKey {
  readonly tried: readonly FoundDeed[];
  /** Accepted, and told apart from the candidate by values of the very key that its input has. */
  readonly underKey: readonly KeyedDeed[];
}

function withoutKey(
  ledger: Ledger,
  identity: Buffer,
  action: ActionName,
  input: InputKey,
  looksAtKeyed: boolean,
): WithoutKey {
  const plain = triedDeeds(ledger, identity).map((deed) => ({ ...deed, isOfAnotherSource: false }));
  if (!looksAtKeyed) return { tried: plain, underKey: [] };
  const happensOnce = actionSpec(action).identity === "once";
  const all = keyedDeeds(ledger, identity);
  // What happens once to a ticket is the same under any key. Else a key tells apart what it was made to tell apart.
  const isApart = ({ by }: KeyedDeed): boolean => !happensOnce && isKeyOf(by, input);
  const keyed = all.flatMap((deed) => {
    const { by, ...found } = deed;
    return isApart(deed) ? [] : { ...found, isOfAnotherSource: !happensOnce && by.source !== input.readAs };
  });
  const tried = keyed.length === 0 ? plain : [...plain, ...keyed].sort((a, b) => a.runNo - b.runNo || a.seq - b.seq);
  return { tried, underKey: all.filter((deed) => deed.isTaken && isApart(deed)) };
}

/** Whether a deed was known by the very key that the input has. */
const isKeyOf = (by: SourceKey, { readAs, key }: InputKey): boolean => by.source === readAs && by.key === key;
