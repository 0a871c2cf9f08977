/** What becomes of candidates, given what the environment has accepted, and what to say about it. */

import type { AcceptedDeed } from "../../ledger/deeds.ts";
import type { Unplaced } from "../../ledger/row-places.ts";
import type { Candidate } from "../candidates/candidates.ts";
import type { WhyUnclear } from "../histories/history.ts";
import type { Compared } from "../histories/retold-times.ts";
import type { BlockedDeed } from "./blocked-deeds.ts";
import type { Doubtful } from "./doubtful-candidates.ts";

const VERDICTS = [
  "new",
  "sent",
  // Accepted with other content.
  "changed",
  // Another run may still bring it to the service.
  "pending",
  // The same deed stands earlier in this input, where it is decided whether it is sent.
  "repeated",
  // See `DeedVerdict` in histories/history.ts for these four.
  "late",
  "superseded",
  "held",
  "unclear",
  // Its source's key belongs to another ticket or event.
  "key shared",
  // Another row of this input sells the ticket, and that sale was accepted, or may be.
  "sold twice",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Accepted, or perhaps so. */
const OLD: ReadonlySet<Verdict> = new Set(["sent", "changed", "pending"]);

/** A line of an input, by its number: where a row stands. */
export interface InputLine {
  readonly input: number;
  readonly line: number;
}

/** A candidate, with where its line and its row stand. */
export type GivenPlace = InputLine & Pick<Candidate, "start" | "length">;

/** The details of a verdict, for its message. */
export type Detail =
  /** Of a row from a rejects file: the accepted deed that it is. */
  | { readonly kind: "sent"; readonly as: AcceptedDeed }
  /** Sent: the input lacks the other one, which was accepted after it. */
  | { readonly kind: "came back"; readonly was: AcceptedDeed; readonly since: AcceptedDeed }
  | { readonly kind: "changed"; readonly from: AcceptedDeed }
  /** `isExpected`: no message is needed. */
  | { readonly kind: "repeated"; readonly first: number; readonly isExpected: boolean }
  | { readonly kind: "late"; readonly before: InputLine }
  /** This one of a later time was accepted. */
  | { readonly kind: "late in time"; readonly than: AcceptedDeed }
  /** Late: its row was rejected, and this accepted deed stood behind it then. */
  | { readonly kind: "stood before"; readonly accepted: AcceptedDeed }
  /** Unclear: its row was rejected, and it is not known whether it stood before some of these. */
  | { readonly kind: "unplaced"; readonly why: Unplaced; readonly accepted: readonly AcceptedDeed[] }
  | { readonly kind: "superseded"; readonly since: AcceptedDeed; readonly isFromRejects: boolean }
  | { readonly kind: "held"; readonly by: InputLine }
  | {
      readonly kind: "unclear";
      /** Perhaps only because rows behind were left out. */
      readonly isCut: boolean;
      readonly why: WhyUnclear;
      readonly accepted: readonly AcceptedDeed[];
      readonly given: readonly GivenPlace[];
    }
  /** Unclear: which deeds of its row, under its key, are new and which were changed. */
  | {
      readonly kind: "unclear of row";
      /** Under the key, and not in the row. */
      readonly accepted: readonly AcceptedDeed[];
      /** In the row, and not accepted as they are. */
      readonly given: readonly GivenPlace[];
    }
  /** Unclear: another input has a deed of its time, with the same content or another. */
  | { readonly kind: "in two inputs"; readonly other: InputLine; readonly isSame: boolean }
  /** Unclear: one of another input may be the same deed, with another time or without one. */
  | { readonly kind: "told otherwise in two inputs"; readonly other: InputLine }
  /** Unclear: it is of an earlier time than that one, and stands behind it; or the reverse. */
  | { readonly kind: "backwards"; readonly other: InputLine; readonly stands: "before" | "behind" }
  /** Unclear: that one is of the same minute, one of the two has no seconds, and the input has them the other way round. */
  | { readonly kind: "of one minute"; readonly other: InputLine }
  /** Unclear: the times of the two do not tell their order, and their input goes from the latest to the earliest. */
  | { readonly kind: "newest first"; readonly other: InputLine; readonly isOtherAccepted: boolean }
  /** Unclear: another row of its input has its time and says the same. */
  | { readonly kind: "in two rows"; readonly other: InputLine }
  /** New: likewise, but the time has no seconds. */
  | { readonly kind: "same minute"; readonly other: InputLine }
  /** Unclear: it may be this accepted one with another time. */
  | { readonly kind: "told otherwise"; readonly accepted: AcceptedDeed; readonly isCutShort: boolean }
  /** Unclear: another deed of its history, or its whole file, seems to have other times than were accepted. */
  | { readonly kind: "beside told otherwise" }
  /** Unclear: in the run that rejected both rows, this one stood on the other side of that one; or no run had both. */
  | { readonly kind: "turned"; readonly other: InputLine; readonly stood: "before" | "behind" | "unknown" }
  /** Unclear: another source says the same, now or before. */
  | { readonly kind: "in two sources"; readonly accepted?: AcceptedDeed; readonly at?: InputLine }
  /** Unclear: this accepted one says the same, of the same second, under another value of the source's key that the input lacks. */
  | { readonly kind: "under another key"; readonly accepted: AcceptedDeed }
  | { readonly kind: "key shared"; readonly accepted?: AcceptedDeed; readonly at?: InputLine }
  /** Shared with another deed of the same ticket or event, which says something else. */
  | { readonly kind: "key repeated"; readonly at: InputLine }
  | { readonly kind: "sold twice"; readonly at: InputLine }
  /** Shared with a deed of another source. */
  | { readonly kind: "key of source"; readonly source: string };

/** One verdict per candidate; candidates may be asked for again and again. */
export interface Verdicts {
  of(candidate: Candidate): Verdict;
  /** Undefined where the verdict says all. */
  detailOf(candidate: Candidate): Detail | undefined;
  /** Whether the candidate's deed is repeated further on. */
  isRepeated(candidate: Candidate): boolean;
  /** Deeds of unsent rows that stand in the place of accepted ones. */
  readonly closed: readonly BlockedDeed[];
  /** Histories (hex) of bad rows that lack an accepted deed, which may be such a row. */
  readonly missed: ReadonlySet<string>;
  /** The inputs, by number, that go from the latest time to the earliest; of those with deeds whose last one counts. */
  readonly newestFirst: ReadonlySet<number>;
}

/** A deed that would be sent, beside accepted ones which its input does not have. */
interface ComparedCandidate extends Compared {
  readonly candidate: Pick<Candidate, "seq" | "input">;
  /** By their numbers in `retold`. */
  readonly acceptedAt: (of: number) => AcceptedDeed | undefined;
}

/** Deeds of a history of which the last one counts that would be sent, beside accepted ones. */
interface ComparedChain {
  /** Its time in seconds since 1970. */
  readonly open: readonly { readonly candidate: Pick<Candidate, "seq" | "input">; readonly time: bigint | undefined }[];
  readonly accepted: readonly {
    readonly time: bigint;
    /** The input has it just so. */
    readonly isStanding: boolean;
  }[];
  /** All of the input, those that are known too. */
  readonly seqs: readonly number[];
}

/** Verdicts while they are made. */
export class FoundVerdicts {
  readonly #verdicts: Uint8Array;
  readonly #details = new Map<number, Detail>();
  readonly closed: BlockedDeed[] = [];
  /** First ones of the deeds that the input repeats. */
  readonly #repeated = new Set<number>();
  /** Under keys that several were accepted under: which of them a candidate is. */
  readonly bound = new Map<number, AcceptedDeed>();
  readonly compared: ComparedCandidate[] = [];
  readonly chains: ComparedChain[] = [];
  /** Identities (hex) that several sales of the input have, where one of them may be known. */
  repeatedSales: ReadonlySet<string> = new Set();
  /** Whether some candidate with a key is none of what was accepted under it. */
  hasNewKeys = false;
  /** Whether some candidate is a deed of a history; whether some is of those whose last one counts. */
  hasHistories = false;
  hasOrdered = false;
  /** Candidates that another one of their input says once more, in the same minute and without seconds. */
  readonly ofSameMinute: { readonly candidate: Doubtful; readonly other: InputLine }[] = [];

  /** @param candidates how many there are. */
  constructor(candidates: number) {
    this.#verdicts = new Uint8Array(candidates);
  }

  of(seq: number): Verdict {
    return VERDICTS[this.#verdicts[seq] ?? 0] ?? "new";
  }

  detailOf(seq: number): Detail | undefined {
    return this.#details.get(seq);
  }

  isNew(seq: number): boolean {
    return this.of(seq) === "new";
  }

  isOld(seq: number): boolean {
    return OLD.has(this.of(seq));
  }

  isRepeated(seq: number): boolean {
    return this.#repeated.has(seq);
  }

  set(seq: number, verdict: Verdict, detail?: Detail): void {
    this.#verdicts[seq] = VERDICTS.indexOf(verdict);
    if (detail === undefined) this.#details.delete(seq);
    else this.#details.set(seq, detail);
  }

  setRepeated(seq: number, first: number, isExpected = false): void {
    this.set(seq, "repeated", { kind: "repeated", first, isExpected });
    this.#repeated.add(first);
  }

  /** @param isFromRejects - what its row became stands for the bad row from then on. */
  setSentOrChanged(seq: number, content: Buffer, deed: AcceptedDeed, isFromRejects = false): void {
    if (deed.content.equals(content) || isUnknownContent(deed))
      this.set(seq, "sent", isFromRejects ? { kind: "sent", as: deed } : undefined);
    else this.set(seq, "changed", { kind: "changed", from: deed });
  }

  /** Of a candidate that is repeated: the one that it repeats. */
  firstOf(seq: number): number | undefined {
    const detail = this.#details.get(seq);
    return detail?.kind === "repeated" ? detail.first : undefined;
  }

  /** A repetition of a deed that is not sent gets the verdict of that one, whichever step found it. */
  followFirsts(): void {
    for (const [seq, detail] of this.#details) {
      if (detail.kind !== "repeated") continue;
      let { first } = detail;
      for (let next = this.firstOf(first); next !== undefined; next = this.firstOf(first)) first = next;
      const verdict = this.of(first);
      if (verdict !== "new" && verdict !== "held") this.set(seq, verdict, this.#details.get(first));
      else if (first !== detail.first) this.setRepeated(seq, first, detail.isExpected);
    }
  }
}

/** An imported deed, of which only the ids are known. */
export function isUnknownContent({ content }: AcceptedDeed): boolean {
  return content.every((byte) => byte === 0);
}
