/**
 * The order of deeds beside those that a key of their source identifies. The key tells which deed a row is, not that it may come
 * when others came: what undoes a later deed of the same ticket or event is late, superseded or held with a key as without one
 * (docs/guarantees.md, Histories).
 */

import type { ActionData } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import { type AcceptedDeed, acceptedData, byPlace, type TriedDeed, triedDeeds } from "../../ledger/deeds.ts";
import { hasKeyedDeeds, keyedDeeds } from "../../ledger/keyed-deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { type Standings, UNPLACED, type Unplaced, whyUnplaced } from "../../ledger/row-places.ts";
import { type Candidate, type CandidateLines, identityOf, readCandidates } from "../candidates/candidates.ts";
import { contentAt } from "../files/index-file.ts";
import { areOfOneMoment, shiftBetween } from "../histories/retold-times.ts";
import type { BlockedDeed, BlockedHistories } from "./blocked-deeds.ts";
import { timeInLine, timeOf } from "./deed-contents.ts";
import { historyOf, lastCounts } from "./history-of-candidate.ts";

/** A new deed that would come after a later one. */
export type OutOfOrder =
  | { readonly kind: "superseded"; readonly since: TriedDeed }
  /** It stands before this one of the input, which was accepted, or became an accepted one. */
  | { readonly kind: "late"; readonly before: Pick<Candidate, "input" | "line"> }
  /** This one of a later time was accepted. */
  | { readonly kind: "late in time"; readonly than: TriedDeed }
  /** Its row was rejected, and this stood behind it then. */
  | { readonly kind: "stood before"; readonly accepted: TriedDeed }
  /** Its row was rejected, and whether it stood before some of these nobody knows. */
  | { readonly kind: "unplaced"; readonly why: Unplaced; readonly accepted: readonly TriedDeed[] }
  /** Of these some may stand behind it, among rows that were left out. */
  | { readonly kind: "unclear"; readonly accepted: readonly TriedDeed[] }
  /** Its time only seems to be later than that of an accepted one: its file is read in another zone, or that one had no seconds. */
  | { readonly kind: "beside told otherwise" };

export interface KeyedOrderOptions {
  readonly lines: CandidateLines;
  readonly blockedRows: BlockedHistories;
  /** Rows behind were left out (`--limit`). */
  readonly isCut: boolean;
  readonly isNew: (seq: number) => boolean;
  /** Accepted or pending. */
  readonly isOld: (seq: number) => boolean;
  /** Where several were accepted under the candidate's key: which of them it is. */
  readonly boundTo: (seq: number) => Age | undefined;
  /** What was accepted, where the candidate says something else now. */
  readonly changedFrom: (seq: number) => AcceptedDeed | undefined;
  /** Seconds by which what has no key shows that an input is moved to later times. */
  readonly shiftOf: (input: number) => number;
  /** What accepted deeds are beside one whose row comes from a rejects file. */
  readonly standingsOf: (candidate: Candidate) => Standings | undefined;
}

/** What was asked for of a ticket or event, and what of it the input has. */
interface Subject {
  /** Accepted, oldest first. */
  readonly accepted: readonly TriedDeed[];
  readonly fresh: Candidate[];
  readonly old: Candidate[];
}

/**
 * Looks at histories in which some deed has a key; of others `matchHistory` and the times (late-by-time.ts) have said all.
 *
 * @returns those of the new candidates that would come after a later one.
 */
export async function findOutOfOrder(
  ledger: Ledger,
  directory: string,
  options: KeyedOrderOptions,
): Promise<readonly (readonly [Candidate, OutOfOrder])[]> {
  const { lines, blockedRows, isOld } = options;
  const subjects = await findSubjects(ledger, directory, options);
  if (subjects.size === 0) return [];
  const moved = new MovedInputs(ledger, options);
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      if (!isOld(candidate.seq)) continue;
      moved.see(candidate);
      if (lastCounts(candidate.action)) subjects.get(historyOf(candidate, lines).toString("hex"))?.old.push(candidate);
    }
  }
  return [...subjects].flatMap(([history, subject]) => {
    const keyed = new KeyedHistory(ledger, options, moved, subject, blockedRows.get(history) ?? []);
    return subject.fresh.flatMap((candidate): (readonly [Candidate, OutOfOrder])[] => {
      const found = new FreshDeed(keyed, candidate).outOfOrder();
      return found === undefined ? [] : [[candidate, found]];
    });
  });
}

/** A deed of the input that is accepted or pending, and the names of the accepted ones that it is. */
interface OldDeed {
  readonly candidate: Candidate;
  readonly of: readonly string[];
}

/** A history of which something was accepted, as the ledger and the input have it. */
class KeyedHistory {
  readonly ledger: Ledger;
  readonly options: KeyedOrderOptions;
  readonly moved: MovedInputs;
  readonly accepted: readonly TriedDeed[];
  readonly fresh: readonly Candidate[];
  readonly old: readonly OldDeed[];
  /** Of rows that were mended, what they became stands in their places. */
  readonly mended: readonly { readonly row: BlockedDeed; readonly of: string }[];

  constructor(
    ledger: Ledger,
    options: KeyedOrderOptions,
    moved: MovedInputs,
    { accepted, fresh, old }: Subject,
    blocked: readonly BlockedDeed[],
  ) {
    this.ledger = ledger;
    this.options = options;
    this.moved = moved;
    this.accepted = accepted;
    this.fresh = fresh;
    this.old = old.map((candidate) => ({
      candidate,
      of: acceptedOf(ledger, candidate, options.boundTo(candidate.seq)),
    }));
    this.mended = blocked.flatMap((row) => (row.accepted === undefined ? [] : [{ row, of: nameOfDeed(row.accepted) }]));
  }

  /** What the input tells of an accepted deed, with a time. */
  toldWithTime(deed: TriedDeed): OldDeed | undefined {
    return this.old.find(({ candidate, of }) => !candidate.untimed && of.includes(nameOfDeed(deed)));
  }

  /** As it was accepted, or as it is told now, whichever is later: all times of a file may have moved. */
  timeOf(deed: TriedDeed): bigint | undefined {
    const told = this.toldWithTime(deed);
    const [accepted, now] = [
      acceptedTime(this.ledger, deed),
      told && timeInLine(this.options.lines.of(told.candidate)),
    ];
    return accepted === undefined || (now !== undefined && now > accepted) ? now : accepted;
  }

  /** The names of accepted deeds that stand before a candidate. */
  before({ seq }: Candidate): ReadonlySet<string> {
    return new Set([
      ...this.old.flatMap(({ candidate, of }) => (candidate.seq < seq ? of : [])),
      ...this.mended.flatMap(({ row, of }) => (row.before <= seq ? [of] : [])),
    ]);
  }
}

/** A new deed of such a history, beside what was accepted of it. */
class FreshDeed {
  readonly #history: KeyedHistory;
  readonly #candidate: Candidate;
  readonly #time: bigint | undefined;
  readonly #standingOf: Standings;
  /** Names of the accepted deeds that stand before it. */
  readonly #earlier: ReadonlySet<string>;

  constructor(history: KeyedHistory, candidate: Candidate) {
    const { ledger, options, fresh } = history;
    this.#history = history;
    this.#candidate = candidate;
    this.#time = timeInLine(options.lines.of(candidate));
    this.#standingOf = options.standingsOf(candidate) ?? standingsSince(lastTried(ledger, candidate, fresh));
    this.#earlier = history.before(candidate);
  }

  outOfOrder(): OutOfOrder | undefined {
    return (
      this.#behindLater() ??
      this.#unplaced() ??
      this.#lateInTime() ??
      this.#besideToldOtherwise() ??
      this.#lateByPlace()
    );
  }

  /** Something that is known to be later was accepted. */
  #behindLater(): OutOfOrder | undefined {
    const since = this.#history.accepted.find((deed) => this.#orderOf(deed) === "later");
    if (since === undefined) return undefined;
    const stoodBefore = this.#standingOf(since) === "stood behind";
    return stoodBefore ? { kind: "stood before", accepted: since } : { kind: "superseded", since };
  }

  /** Of something neither its place nor its time tells whether it is later. */
  #unplaced(): OutOfOrder | undefined {
    const { accepted } = this.#history;
    const unplaced = accepted.filter((deed) => this.#orderOf(deed) === "unknown");
    if (unplaced.length === 0) return undefined;
    return { kind: "unplaced", why: whyUnplaced(unplaced.map(this.#standingOf)), accepted };
  }

  /** Something is of a later time, whatever its place says. */
  #lateInTime(): OutOfOrder | undefined {
    const time = this.#time;
    if (time === undefined) return undefined;
    const than = this.#history.accepted.find((deed) => (this.#timeApart(deed) ?? 0n) > time);
    return than && { kind: "late in time", than };
  }

  /** Something of which the input has no time may be of its time, or of a later one. */
  #besideToldOtherwise(): OutOfOrder | undefined {
    const { ledger, moved, accepted } = this.#history;
    const time = this.#time;
    if (time === undefined) return undefined;
    const seemsLater = accepted.some((deed) => {
      const other = this.#history.toldWithTime(deed) === undefined ? acceptedTime(ledger, deed) : undefined;
      if (other === undefined) return false;
      return areOfOneMoment(other, time) || (other < time && time - moved.shiftOf(this.#candidate.input) <= other);
    });
    return seemsLater ? { kind: "beside told otherwise" } : undefined;
  }

  /** What was accepted stands behind it, or may among rows that were left out. */
  #lateByPlace(): OutOfOrder | undefined {
    const { accepted, old, mended, options } = this.#history;
    const { seq } = this.#candidate;
    // Those whose times tell, and a copy of a row that stands before it, as in files that overlap, are nothing later.
    const timed = accepted.filter((deed) => this.#timeApart(deed) !== undefined);
    const notLater = new Set([...this.#earlier, ...timed.map(nameOfDeed)]);
    const isLaterRow = ({ candidate, of }: OldDeed): boolean =>
      candidate.seq > seq &&
      (of.length === 0 ? this.#time === undefined || candidate.untimed : of.some((deed) => !notLater.has(deed)));
    const laterMended = mended.findLast(({ row, of }) => row.before > seq && !notLater.has(of));
    const before = old.findLast(isLaterRow)?.candidate ?? laterMended?.row;
    if (before !== undefined) return { kind: "late", before };
    const isUnclear = options.isCut && accepted.some((deed) => !notLater.has(nameOfDeed(deed)));
    return isUnclear ? { kind: "unclear", accepted } : undefined;
  }

  /** Where an accepted deed comes beside this one; unknown where neither its place nor its time tells. */
  #orderOf(deed: TriedDeed): "later" | "not later" | "unknown" {
    const standing = this.#standingOf(deed);
    if (standing === "before") return "not later";
    // Of those whose place is not known, `#lateInTime` asks.
    const isUnplaced = UNPLACED.has(standing);
    const other = this.#timeApart(deed);
    if (other !== undefined && this.#time !== undefined)
      return !isUnplaced && other > this.#time ? "later" : "not later";
    if (this.#earlier.has(nameOfDeed(deed))) return "not later";
    return isUnplaced ? "unknown" : "later";
  }

  /** The time of an accepted deed; undefined where the times do not tell which of the two came first. */
  #timeApart(deed: TriedDeed): bigint | undefined {
    const other = this.#time === undefined ? undefined : this.#history.timeOf(deed);
    return this.#time === undefined || other === undefined || areOfOneMoment(other, this.#time) ? undefined : other;
  }
}

/** By history (hex), those with new candidates of which something was accepted, and some deed has a key. */
async function findSubjects(
  ledger: Ledger,
  directory: string,
  { lines, isNew }: Pick<KeyedOrderOptions, "lines" | "isNew">,
): Promise<ReadonlyMap<string, Subject>> {
  const subjects = new Map<string, Subject>();
  const keysAreKnown = hasKeyedDeeds(ledger);
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { seq, keyed, action } = candidate;
      if (!(keyed || keysAreKnown) || !lastCounts(action) || !isNew(seq)) continue;
      const identity = historyOf(candidate, lines);
      const name = identity.toString("hex");
      const known = subjects.get(name);
      if (known !== undefined) {
        known.fresh.push(candidate);
        continue;
      }
      const withKeys = keyedDeeds(ledger, identity);
      if (!keyed && withKeys.length === 0) continue;
      const accepted = [...triedDeeds(ledger, identity), ...withKeys].filter(({ isTaken }) => isTaken).sort(byPlace);
      if (accepted.length > 0) subjects.set(name, { accepted, fresh: [candidate], old: [] });
    }
  }
  return subjects;
}

/** Changed deeds of an input of which the times are compared. */
const COMPARED = 1000;

/** By how much the times of inputs are later than they were accepted. */
class MovedInputs {
  readonly #ledger: Ledger;
  readonly #options: KeyedOrderOptions;
  readonly #seen = new Map<number, { compared: number; shift: number }>();

  constructor(ledger: Ledger, options: KeyedOrderOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  see(candidate: Candidate): void {
    const from = this.#options.changedFrom(candidate.seq);
    if (from === undefined) return;
    const seen = this.#seen.get(candidate.input) ?? { compared: 0, shift: 0 };
    this.#seen.set(candidate.input, seen);
    if (seen.compared++ >= COMPARED) return;
    const [was, now] = [acceptedTime(this.#ledger, from), timeInLine(this.#options.lines.of(candidate))];
    if (was !== undefined && now !== undefined) seen.shift = Math.max(seen.shift, shiftBetween(was, now));
  }

  /** Seconds, 0 where an input is not moved. */
  shiftOf(input: number): bigint {
    return BigInt(Math.max(this.#options.shiftOf(input), this.#seen.get(input)?.shift ?? 0));
  }
}

/**
 * @param options.missed histories (hex) of which a row that is not sent may be an accepted one.
 * @returns the new candidates with a key that stand behind a row of their history which is not sent, or before one that may be
 *   accepted, with its deed.
 */
export async function findBesideBlocked(
  directory: string,
  blockedRows: BlockedHistories,
  options: Pick<KeyedOrderOptions, "lines" | "isNew"> & { readonly missed: ReadonlySet<string> },
): Promise<readonly (readonly [Candidate, BlockedDeed])[]> {
  const { lines, isNew, missed } = options;
  const found: (readonly [Candidate, BlockedDeed])[] = [];
  for await (const batch of readCandidates(directory)) {
    for (const candidate of batch) {
      const { seq, keyed, action } = candidate;
      if (!keyed || !lastCounts(action) || !isNew(seq)) continue;
      const history = historyOf(candidate, lines).toString("hex");
      const by = blockedRows
        .get(history)
        ?.find(({ before, accepted }) => accepted === undefined && (before <= seq || missed.has(history)));
      if (by !== undefined) found.push([candidate, by]);
    }
  }
  return found;
}

type Age = Pick<TriedDeed, "runNo" | "seq">;

const contentOf = ({ block, at }: Candidate): Buffer => contentAt(block, at);

const nameOfDeed = ({ runNo, seq }: Age): string => `${runNo} ${seq}`;

/** Its line is read: what the checks are told of a candidate has no time. */
function acceptedTime(ledger: Ledger, deed: AcceptedDeed): bigint | undefined {
  const text = acceptedData(ledger, deed);
  return text === undefined ? undefined : timeOf((parseJson(text) as ActionData).orderTime); // written by the sender
}

/** Under one key several deeds may have been accepted, which are told apart by what they say. */
function acceptedOf(ledger: Ledger, candidate: Candidate, bound: Age | undefined): readonly string[] {
  if (bound !== undefined) return [nameOfDeed(bound)];
  const accepted = triedDeeds(ledger, identityOf(candidate)).filter(({ isTaken }) => isTaken);
  const equal = accepted.filter(({ content }) => content.equals(contentOf(candidate)));
  return (equal.length > 0 ? equal : accepted).map(nameOfDeed);
}

/** Of a deed that no rejects file brings: what came since it was last rejected. */
const standingsSince =
  (tried: Age | undefined): Standings =>
  (deed) =>
    tried !== undefined && byPlace(deed, tried) > 0 ? "since" : "before";

/** When the service last rejected the deed. */
function lastTried(ledger: Ledger, candidate: Candidate, fresh: readonly Candidate[]): Age | undefined {
  const identity = identityOf(candidate);
  const tried = triedDeeds(ledger, identity);
  const rejected = tried.filter(({ isTaken }) => !isTaken);
  const others = [
    ...tried.filter(({ isTaken }) => isTaken).map(({ content }) => content),
    ...fresh.filter((each) => each !== candidate && identityOf(each).equals(identity)).map(contentOf),
  ];
  return (
    rejected.findLast(({ content }) => content.equals(contentOf(candidate))) ??
    // What says something else is the same deed, mended, unless it became another one.
    rejected.findLast(({ content }) => !others.some((other) => other.equals(content)))
  );
}
