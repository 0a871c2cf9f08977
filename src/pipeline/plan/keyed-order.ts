/**
 * The order of deeds that a key of their source identifies. The key tells which deed a row is, not that it may come when others
 * came: what undoes a later deed of the same ticket or event is late or superseded with a key as without one (design,
 * Identity).
 */

import { type ActionName, actionSpec, type Effect } from "../../actions/actions.ts";
import { digestOf, identityText } from "../../actions/identity.ts";
import { keyedDeeds } from "../ledger/keyed-deeds.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type TriedDeed, triedDeeds } from "../ledger/memory.ts";
import type { FirstRejected } from "../ledger/rejected-rows.ts";
import { actionOf, type Candidate, type CandidateLines, identityOf, readCandidates } from "./candidates.ts";

/** Of these the last one counts, so that an earlier one must not come after it. */
const REPLACING: ReadonlySet<Effect> = new Set(["change-event", "change-ticket", "resell-ticket"]);

const replaces = (action: ActionName): boolean => REPLACING.has(actionSpec(action).effect);

/** A new deed that would come after a later one. */
export type OutOfOrder =
  | { readonly kind: "superseded"; readonly since: TriedDeed }
  /** It stands before this one of the input, which was accepted. */
  | { readonly kind: "late"; readonly before: Candidate }
  /** Of these some may stand behind it, among rows that were left out. */
  | { readonly kind: "unclear"; readonly accepted: readonly TriedDeed[] };

export interface KeyedOrderOptions {
  readonly lines: CandidateLines;
  /** Rows behind were left out (`--limit`). */
  readonly isCut: boolean;
  readonly isNew: (seq: number) => boolean;
  /** Accepted or pending. */
  readonly isOld: (seq: number) => boolean;
  /** When a row was first rejected, where it comes from a rejects file. */
  readonly rejected: (row: number) => FirstRejected | undefined;
}

/** What was asked for of a ticket or event, and what of it the input has. */
interface Subject {
  /** Accepted, oldest first. */
  readonly accepted: readonly TriedDeed[];
  readonly fresh: Candidate[];
  readonly old: Candidate[];
}

/** @returns those of the new candidates with a key and without a time that would come after a later one. */
export async function findOutOfOrder(
  ledger: Ledger,
  directory: string,
  { lines, isCut, isNew, isOld, rejected }: KeyedOrderOptions,
): Promise<readonly (readonly [Candidate, OutOfOrder])[]> {
  const subjects = new Map<string, Subject>();
  const nameOf = (candidate: Candidate): Buffer =>
    candidate.keyed ? digestOf(identityText(actionOf(candidate, lines))) : identityOf(candidate);
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { seq, keyed, untimed, action } = candidate;
      if (!keyed || !untimed || !replaces(action) || !isNew(seq)) continue;
      const identity = nameOf(candidate);
      const name = identity.toString("hex");
      const known = subjects.get(name);
      if (known !== undefined) {
        known.fresh.push(candidate);
        continue;
      }
      const accepted = [...triedDeeds(ledger, identity), ...keyedDeeds(ledger, identity)]
        .filter(({ isTaken }) => isTaken)
        .sort(byAge);
      if (accepted.length > 0) subjects.set(name, { accepted, fresh: [candidate], old: [] });
    }
  }
  if (subjects.size === 0) return [];
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch)
      if (replaces(candidate.action) && isOld(candidate.seq))
        subjects.get(nameOf(candidate).toString("hex"))?.old.push(candidate);
  }
  return [...subjects.values()].flatMap(({ accepted, fresh, old }) => {
    const deeds = old.map((candidate) => ({ candidate, of: acceptedOf(ledger, candidate) }));
    return fresh.flatMap((candidate): (readonly [Candidate, OutOfOrder])[] => {
      const tried = lastTried(ledger, candidate, rejected(candidate.row));
      const earlier = new Set(deeds.flatMap((each) => (each.candidate.seq < candidate.seq ? each.of : [])));
      const since = tried && accepted.find((deed) => byAge(deed, tried) > 0 && !earlier.has(nameOfDeed(deed)));
      if (since !== undefined) return [[candidate, { kind: "superseded", since }]];
      const before = old.findLast(({ seq }) => seq > candidate.seq);
      if (before !== undefined) return [[candidate, { kind: "late", before }]];
      const isUnclear = isCut && accepted.some((deed) => !earlier.has(nameOfDeed(deed)));
      return isUnclear ? [[candidate, { kind: "unclear", accepted }]] : [];
    });
  });
}

type Age = Pick<TriedDeed, "runNo" | "seq">;

const byAge = (one: Age, other: Age): number => one.runNo - other.runNo || one.seq - other.seq;

const nameOfDeed = ({ runNo, seq }: Age): string => `${runNo} ${seq}`;

function acceptedOf(ledger: Ledger, candidate: Candidate): readonly string[] {
  return triedDeeds(ledger, identityOf(candidate)).flatMap((deed) => (deed.isTaken ? nameOfDeed(deed) : []));
}

/** When the deed was last rejected, by the service or as a bad row. */
function lastTried(ledger: Ledger, candidate: Candidate, row: FirstRejected | undefined): Age | undefined {
  const deed = triedDeeds(ledger, identityOf(candidate)).findLast(({ isTaken }) => !isTaken);
  const { runNo, seq = Number.POSITIVE_INFINITY } = row ?? {};
  if (deed === undefined || runNo === undefined) return deed ?? (runNo === undefined ? undefined : { runNo, seq });
  return byAge(deed, { runNo, seq }) > 0 ? deed : { runNo, seq };
}
