/** The candidates of one identity, beside what the service was asked for of it. */

import { type Action, type ActionData, type ActionName, registersEvent } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { type AcceptedDeed, acceptedData, wasAgain } from "../../ledger/deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Pending, PendingDeed } from "../../ledger/pending.ts";
import type { MendedDeed, RejectedRows, TakenBeside } from "../../ledger/rejected-rows.ts";
import type { AskedAt, Standings } from "../../ledger/row-places.ts";
import type { BlockedRow, Candidate } from "../candidates/candidates.ts";
import type { LeftOut } from "../candidates/rows-not-sent.ts";
import type { Try } from "../histories/first-tries.ts";
import type { DeedsBeside, FoundDeed, InputKey } from "./accepted-under-other-keys.ts";

/** An input, as runs remember it. */
interface GivenInput extends InputKey {
  readonly name: string;
  readonly sha256: string;
}

export interface MatchOptions {
  readonly directory: string;
  readonly candidates: number;
  /** The ledger to compare with; undefined when there is none, or all is to be sent again. */
  readonly ledger: Ledger | undefined;
  /** A person sends all of it again: rows that say the same are several deeds. */
  readonly again: boolean;
  /** What another run may still bring to the service. */
  readonly pending: Pending;
  /** Rows that are not sent, whose deeds stand in histories. */
  readonly blockedRows: Iterable<BlockedRow> | AsyncIterable<BlockedRow>;
  /** Of the candidates, for the few of which more than their digests is asked. */
  /** Of all inputs, by number. */
  readonly inputs: readonly GivenInput[];
  /** What the sources of the config read rows as. */
  readonly sources: ReadonlySet<string>;
  /** Of actions that register: whether the second of an input is left out, rather than a problem of the input. */
  readonly isSentOnce: (action: ActionName) => boolean;
  /** Rows behind were left out (`--limit`). */
  readonly isCut: boolean;
  /** The candidates stand in the order of their times. */
  readonly isByTime: boolean;
  /** Since when a row is open, where it comes from a rejects file of this ledger. */
  readonly rejected: (row: number) => ReturnType<RejectedRows["openSince"]>;
  /** When the service was asked for just this action of a row from a rejects file. */
  readonly askedOf: (candidate: Pick<Candidate, "row" | "action" | "nth">) => AskedAt | undefined;
  /** The inputs that it was rejected from and that went from the latest time to the earliest, where it comes from a rejects file of this ledger. */
  readonly newestFirstIn: (row: number) => ReadonlySet<string>;
  /** Whether a row comes from a rejects file, this ledger's or another's. */
  readonly isFromRejects: (row: number) => boolean;
  /** What accepted deeds of its history are beside it, where its row comes from a rejects file. */
  readonly standingsOf: (candidate: Pick<Candidate, "row" | "nth">, action: Action) => Standings | undefined;
  /** What was accepted of a row when it was mended, where it comes from a rejects file. */
  readonly mendedTo: (row: number) => readonly MendedDeed[];
  /** What the service took of a row when it rejected others of it, where it comes from a rejects file. */
  readonly takenBeside: (row: number) => readonly TakenBeside[];
  /** The runs that rejected rows of a history (hex) which are open still, and which the input lacks. */
  readonly rejectedBeside: (history: string) => ReadonlySet<number>;
  /** Whether any row comes from a rejects file. */
  readonly hasRejected: boolean;
  /** What `tickets:actions` leaves out of a row whose source has a key. */
  readonly leftOut: (row: number) => readonly LeftOut[];
}

/** What the service was asked for of an identity, oldest first. */
export function triedOf(
  identity: string,
  [first]: readonly Pick<Candidate, "action" | "input" | "keyed">[],
  inputs: readonly InputKey[],
  beside: DeedsBeside | undefined,
): readonly FoundDeed[] {
  const input = inputs[first?.input ?? -1];
  if (first === undefined || input === undefined || beside === undefined) return [];
  return beside.of(Buffer.from(identity, "hex"), first.action, input);
}

/** What the rules of the kinds of actions judge together. */
export class DeedGroup {
  readonly options: MatchOptions;
  readonly identity: string;
  readonly candidates: readonly Candidate[];
  /** What the service was asked for, oldest first. */
  readonly tried: readonly FoundDeed[];
  /** What of it the service took. */
  readonly accepted: readonly FoundDeed[];
  readonly action: ActionName;

  constructor(options: MatchOptions, identity: string, candidates: readonly Candidate[], tried: readonly FoundDeed[]) {
    const [first] = candidates;
    if (first === undefined) throw new Error("a group of candidates is empty");
    this.options = options;
    this.identity = identity;
    this.candidates = candidates;
    this.tried = tried;
    this.accepted = tried.filter(({ isTaken }) => isTaken);
    this.action = first.action;
  }

  get pending(): readonly PendingDeed[] {
    return this.options.pending.deeds.get(this.identity) ?? [];
  }

  dataOf(deed: AcceptedDeed): ActionData | undefined {
    const { ledger } = this.options;
    const text = ledger === undefined ? undefined : acceptedData(ledger, deed);
    return text === undefined ? undefined : (parseJson(text) as ActionData); // written by the sender
  }

  runOf({ runNo }: AcceptedDeed): Pick<Try, "run" | "isAgain"> {
    const { ledger } = this.options;
    return { run: runNo, isAgain: () => ledger !== undefined && wasAgain(ledger, runNo) };
  }
}

/** Each file of a source gives the event with whichever of its rows comes first. */
export function comesWithRows(
  { action, input }: Pick<Candidate, "action" | "input">,
  { inputs, sources }: Pick<MatchOptions, "sources"> & { readonly inputs: readonly { readonly readAs: string }[] },
): boolean {
  return registersEvent(action) && sources.has(inputs[input]?.readAs ?? "");
}
