/** What becomes of the candidates of one history, beside the other inputs, rows and times too. */

import type { AcceptedDeed } from "../../ledger/deeds.ts";
import { whyUnplaced } from "../../ledger/row-places.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { type DeedVerdict, type HistoryDeed, namingOf } from "../histories/history.ts";
import { matchHistory } from "../histories/match-history.ts";
import { findRetold, type TimedSaying } from "../histories/retold-times.ts";
import type { BlockedDeed } from "./blocked-deeds.ts";
import type { DeedGroup } from "./deed-group.ts";
import { replaces } from "./history-of-candidate.ts";
import { groupHistory, type InputOfHistory, type KnownOfHistory, standingsOf } from "./history-of-group.ts";
import { laterAccepted, timesOfKnown } from "./late-by-time.ts";
import { findCopies, findOverlaps, type TimedDeed } from "./overlapping-inputs.ts";
import type { FoundVerdicts, InputLine } from "./verdicts.ts";

/** Nothing where it has no time. */
function sayingOf(at: number, { said }: HistoryDeed): readonly TimedSaying[] {
  const all = said();
  const { time } = all;
  return time === undefined ? [] : [{ at, time, rest: namingOf(all) }];
}

/** The known deed that one of the input is, or stands in the place of. */
function knownOf(verdict: DeedVerdict): number | undefined {
  if (verdict.kind === "unknown") return verdict.inPlaceOf;
  return "of" in verdict ? verdict.of : undefined;
}

/** Those that may be the same in two inputs. A key tells by itself; a row that was mended gives the deed that was accepted for it. */
function timedDeeds(
  input: readonly InputOfHistory[],
  known: readonly KnownOfHistory[],
  verdicts: readonly DeedVerdict[],
): readonly TimedDeed[] {
  return input.flatMap(({ candidate, blocked, deed }, at) => {
    const verdict = verdicts[at];
    const place = candidate ?? blocked;
    if (candidate?.untimed === true || candidate?.keyed === true || place === undefined) return [];
    const said = "is" in deed ? known[deed.is]?.deed : deed.content === undefined ? undefined : deed;
    if (said === undefined || verdict === undefined || verdict.kind === "unclear") return [];
    const { time } = said.said();
    if (time === undefined && candidate === undefined) return [];
    return [
      { at, row: place.row, input: place.input, time: String(time ?? said.content), content: said.content, verdict },
    ];
  });
}

export class JudgedHistory {
  readonly #group: DeedGroup;
  readonly #found: FoundVerdicts;
  readonly #known: readonly KnownOfHistory[];
  readonly #input: readonly InputOfHistory[];
  /** The first row that is not sent and may be any deed of the history. */
  readonly #held: InputLine | undefined;

  /** @param blockedRows deeds of rows that are not sent, in order. */
  constructor(group: DeedGroup, blockedRows: readonly BlockedDeed[], found: FoundVerdicts) {
    const { known, input } = groupHistory(group, blockedRows);
    this.#group = group;
    this.#found = found;
    this.#known = known;
    this.#input = input;
    this.#held = blockedRows.find(({ accepted }) => accepted === undefined);
  }

  judge(): void {
    const [known, input] = [this.#known, this.#input];
    const deeds = known.map(({ deed }) => deed);
    const given = input.map(({ deed }) => deed);
    const verdicts = matchHistory(deeds, given, this.#group.options.isCut);
    const timeOf = timesOfKnown(deeds, given, verdicts);
    const timed = timedDeeds(input, known, verdicts);
    const overlaps = this.#group.options.inputs.length > 1 ? findOverlaps(timed) : undefined;
    const copies = this.#group.options.again ? undefined : findCopies(timed);
    this.#noteRetold(verdicts, overlaps);
    if (replaces(this.#group.action)) this.#noteChain(verdicts);
    for (const [at, { candidate, blocked, deed }] of input.entries()) {
      const overlap = overlaps?.get(at);
      const twin = overlap?.kind === "shared" ? input[overlap.with] : undefined;
      const other = twin?.candidate ?? twin?.blocked;
      if (overlap?.kind === "shared" && candidate !== undefined && other !== undefined) {
        this.#found.set(candidate.seq, "unclear", { kind: "in two inputs", other, isSame: overlap.isSame });
        continue;
      }
      const copy = overlap === undefined ? copies?.get(at) : undefined;
      const original = input[copy?.with ?? -1];
      const row = original?.candidate ?? original?.blocked;
      if (copy?.isByMinute === false && candidate !== undefined && row !== undefined) {
        this.#found.set(candidate.seq, "unclear", { kind: "in two rows", other: row });
        continue;
      }
      const verdict = overlap === undefined || overlap.kind === "shared" ? verdicts[at] : overlap;
      if (verdict === undefined) throw new Error("a deed of a history has no verdict");
      const accepted = "of" in verdict ? known[verdict.of]?.accepted : undefined;
      if (accepted?.isOfAnotherSource === true) {
        if (candidate !== undefined) this.#found.set(candidate.seq, "unclear", { kind: "in two sources", accepted });
        continue;
      }
      if (blocked !== undefined && verdict.kind === "unknown" && verdict.inPlaceOf !== undefined)
        this.#found.closed.push(blocked);
      if (candidate === undefined) continue;
      const than = known[laterAccepted(candidate.action, deed, verdict, deeds, timeOf) ?? -1]?.accepted;
      if (than !== undefined) this.#found.set(candidate.seq, "late", { kind: "late in time", than });
      else if (row !== undefined && verdict.kind === "new") {
        this.#found.set(candidate.seq, "new", { kind: "same minute", other: row });
        this.#found.ofSameMinute.push({ candidate, other: row });
      } else this.#set(candidate, verdict);
    }
  }

  /** Notes what may be an accepted deed, told with another time. */
  #noteRetold(verdicts: readonly DeedVerdict[], overlaps: ReturnType<typeof findOverlaps> | undefined): void {
    const [known, input] = [this.#known, this.#input];
    const open = input.flatMap(({ candidate, deed }, at) => {
      const kind = verdicts[at]?.kind;
      const isOpen = (kind === "new" || kind === "held" || kind === "late") && overlaps?.has(at) !== true;
      if (!isOpen || candidate === undefined || deed.content === undefined || !deed.isTimed) return [];
      const rejectedAt = known.findLastIndex(
        (each) => each.accepted?.isTaken === false && each.deed.content === deed.content,
      );
      return sayingOf(at, deed).map((saying) => ({ ...saying, rejectedAt }));
    });
    if (open.length === 0) return;
    const had = new Set(verdicts.map(knownOf));
    const taken = known.flatMap(({ deed, accepted }, at) =>
      accepted?.isTaken === true ? sayingOf(at, deed).map((saying) => ({ ...saying, isMissing: !had.has(at) })) : [],
    );
    const acceptedAt = (of: number): AcceptedDeed | undefined => known[of]?.accepted;
    for (const each of findRetold(open, taken)) {
      const candidate = input[each.at]?.candidate;
      if (candidate !== undefined) this.#found.compared.push({ ...each, candidate, acceptedAt });
    }
  }

  /** Notes what would be sent beside accepted ones with times. */
  #noteChain(verdicts: readonly DeedVerdict[]): void {
    const standing = new Set(verdicts.flatMap((verdict) => (verdict.kind === "old" ? verdict.of : [])));
    const accepted = this.#known.flatMap(({ deed, accepted: known }, of) => {
      const { time } = deed.said();
      return known?.isTaken === true && time !== undefined ? [{ time, isStanding: standing.has(of) }] : [];
    });
    const open = this.#input.flatMap(({ candidate, deed }, at) =>
      candidate === undefined || deed.content === undefined || verdicts[at]?.kind !== "new"
        ? []
        : [{ candidate, time: deed.isTimed ? deed.said().time : undefined }],
    );
    const seqs = this.#input.flatMap(({ candidate }) => candidate?.seq ?? []);
    if (accepted.length > 0 && open.length > 0) this.#found.chains.push({ open, accepted, seqs });
  }

  #set(candidate: Candidate, verdict: DeedVerdict): void {
    const { seq, row } = candidate;
    const [known, input, held] = [this.#known, this.#input, this.#held];
    const accepted = "of" in verdict ? known[verdict.of]?.accepted : undefined;
    switch (verdict.kind) {
      case "old":
        if (accepted === undefined) this.#found.set(seq, "pending");
        // The same price is written otherwise.
        else if (!accepted.content.equals(candidate.content))
          this.#found.set(seq, "changed", { kind: "changed", from: accepted });
        else
          this.#found.set(
            seq,
            "sent",
            this.#group.options.isFromRejects(row) ? { kind: "sent", as: accepted } : undefined,
          );
        return;
      case "changed":
        if (accepted === undefined) this.#found.set(seq, "pending");
        else this.#found.set(seq, "changed", { kind: "changed", from: accepted });
        return;
      case "late": {
        const before = input[verdict.before];
        const place = before?.candidate ?? before?.blocked;
        this.#found.set(seq, "late", place && { kind: "late", before: place });
        return;
      }
      case "superseded": {
        const since = known[verdict.since]?.accepted;
        const isFromRejects = this.#group.options.rejected(row) !== undefined;
        const standing = since && standingsOf(this.#group, candidate)?.(since);
        if (since !== undefined && standing === "stood behind")
          this.#found.set(seq, "late", { kind: "stood before", accepted: since });
        else this.#found.set(seq, "superseded", since && { kind: "superseded", since, isFromRejects });
        return;
      }
      case "held":
        this.#found.set(seq, "held", held && { kind: "held", by: held });
        return;
      case "unclear":
        this.#found.set(seq, "unclear", {
          kind: "unclear",
          isCut: this.#group.options.isCut,
          why: verdict.why,
          accepted: known.flatMap(({ accepted: deed }) => (deed?.isTaken === true ? deed : [])),
          given: input.flatMap(({ candidate }) => candidate ?? []),
        });
        return;
      case "unplaced": {
        const taken = known.flatMap(({ accepted: deed }) => (deed?.isTaken === true ? deed : []));
        const standingOf = standingsOf(this.#group, candidate);
        const why = verdict.why ?? whyUnplaced(taken.map((deed) => standingOf?.(deed)));
        this.#found.set(seq, "unclear", { kind: "unplaced", why, accepted: taken });
        return;
      }
      case "new":
      case "unknown":
        this.#found.set(seq, "new");
        return;
    }
  }
}
