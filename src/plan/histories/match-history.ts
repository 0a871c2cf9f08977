/**
 * Which deeds of a history the service has accepted already, and what becomes of the others (docs/guarantees.md, Histories). A history
 * holds the deeds of one kind of one ticket or event. Pure: it reads and sends nothing.
 */

import { findTries } from "./first-tries.ts";
import { formOf, formsOfOtherRuns, likeTheirEquals } from "./forms-of-rejects.ts";
import {
  type DeedVerdict,
  type HistoryDeed,
  type InputDeed,
  isUnknown,
  type KnownDeed,
  type KnownInput,
  namingOf,
  type Said,
} from "./history.ts";
import { mayBeRetelling } from "./retold-times.ts";
import { endLength, oldLength, onlyWay, type Pair, sameContents } from "./sequences.ts";

/**
 * @param known what the service was asked for, oldest first.
 * @param input in the order of the input.
 * @param isCut - rows of the input that come behind were left out, so that nobody knows what new ones stand before.
 * @returns one verdict for each of `input`.
 */
export function matchHistory(
  known: readonly KnownDeed[],
  input: readonly InputDeed[],
  isCut = false,
): readonly DeedVerdict[] {
  const taken = known.flatMap(({ state }, at) => (state === "rejected" ? [] : [at]));
  const isHeld = input.some(isUnknown);
  const open = isHeld ? HELD : NEW;
  if (taken.length === 0) {
    const otherForms = formsOfOtherRuns(known, input, new Set());
    return input.map(({ content }, at) => {
      if (content === undefined) return { kind: "unknown", inPlaceOf: undefined };
      return otherForms.has(at) ? { kind: "unclear" } : open;
    });
  }

  const match = new Match(known, taken, input);
  match.mended();
  match.equalTimed();
  match.sameTime();
  match.timesThatCame();
  match.fromRejects();
  match.timesThatWent();
  match.timesToldTwice();
  match.retoldInOrder();
  const isClear = match.untimed(isHeld);
  match.timesThatMayHaveGone();
  match.unknown();
  const otherForms = formsOfOtherRuns(known, input, new Set(match.bound.keys()));
  const mayBeRetold = match.mayBeRetold();
  const lastRetold = Math.max(-1, ...mayBeRetold);
  const lastOld = Math.max(-1, ...match.bound.keys());
  const lastUntimedOld = match.lastUntimedOld();
  // What may be an accepted one, or stand before one: what stands before it may come too late.
  const unclear = [...match.doubtful, ...match.leftBehind, ...match.unplaced(), ...match.accepted(otherForms)];
  const lastUnclear = Math.max(isClear ? -1 : match.lastUntimedOpen(), ...unclear);
  const verdicts = input.map((deed, at): DeedVerdict => {
    const bound = match.bound.get(at);
    if (isUnknown(deed)) return { kind: "unknown", inPlaceOf: bound?.of };
    // The same row may be given more often than it was mended.
    if (deed.content === undefined) return { kind: "old", of: deed.is };
    const isUnclear = match.doubtful.has(at) || (!isClear && !deed.isTimed) || match.areTimesLost;
    if (isUnclear && (bound === undefined || (!match.areTimesLost && bound.kind === "old"))) return { kind: "unclear" };
    if (bound !== undefined) return bound;
    const since = match.supersededBy(deed, at);
    if (since !== undefined) return { kind: "superseded", since };
    if (match.isUnplaced(deed, at)) return { kind: "unplaced" };
    if (match.leftBehind.has(at)) return { kind: "unclear" };
    if (otherForms.has(at)) return { kind: "unclear" };
    // Two times tell by themselves, and scans with times are a set. Else what stands behind it counts.
    const isInOrder = !deed.isTimed || deed.said().holder !== undefined;
    const before = deed.isTimed ? lastUntimedOld : lastOld;
    if (isInOrder && at < before) return { kind: "late", before };
    if (isInOrder && (at < lastUnclear || (isCut && match.hasUntimedLeft()))) return { kind: "unclear" };
    // What stands before such a one may come too late.
    if (mayBeRetold.has(at) || (isInOrder && at < lastRetold)) return OF_HOLDER;
    if (match.standsApart(deed, at)) return { kind: "unplaced", why: "undecided" };
    return open;
  });
  return likeTheirEquals(input, verdicts, otherForms);
}

type Neighbour = { readonly at: number; readonly of: number } | undefined;

const NEW: DeedVerdict = { kind: "new" };
const HELD: DeedVerdict = { kind: "held" };
const OF_HOLDER: DeedVerdict = { kind: "unclear", ofHolder: true };

/** Binds deeds of the input to accepted ones, a rule after the other. */
class Match {
  readonly bound = new Map<number, Extract<DeedVerdict, { readonly of: number }>>();
  /** Deeds of the input of which it can't be told whether they are old. */
  readonly doubtful = new Set<number>();
  /** Deeds of the input that are not sent, since a known one stood behind them, or may have. */
  readonly leftBehind = new Set<number>();
  /** Times came or went, and of what stands more often than it was accepted nobody can tell which was: of none that is open. */
  areTimesLost = false;
  /** Accepted deeds to which a row from a rejects file was bound since it says the same. */
  readonly #guessed = new Set<number>();
  readonly #known: readonly KnownDeed[];
  readonly #input: readonly InputDeed[];
  /** Numbers of accepted deeds that no deed of the input is bound to, oldest first. */
  readonly #left: Set<number>;

  constructor(known: readonly KnownDeed[], taken: readonly number[], input: readonly InputDeed[]) {
    this.#known = known;
    this.#input = input;
    this.#left = new Set(taken);
  }

  #bind(at: number, of: number, kind: "old" | "changed"): void {
    this.bound.set(at, { kind, of });
    this.#left.delete(of);
  }

  /** The same, but of those that say the same, rejects of later runs stand first: what was accepted since is of them. */
  #openLatestFirst(isTimed: boolean): (readonly [number, KnownInput])[] {
    const open = this.#open(isTimed);
    const equal = Map.groupBy(open, ([, { content }]) => content);
    for (const group of equal.values())
      group.sort(([, one], [, other]) => (other.rejectedIn ?? 0) - (one.rejectedIn ?? 0));
    return open.flatMap(([, { content }]) => equal.get(content)?.splice(0, 1) ?? []);
  }

  /** Deeds of the input that are not bound yet. */
  #open(isTimed: boolean): (readonly [number, KnownInput])[] {
    return this.#input.flatMap((deed, at) =>
      deed.content === undefined ||
      deed.isTimed !== isTimed ||
      this.bound.has(at) ||
      this.doubtful.has(at) ||
      this.leftBehind.has(at)
        ? []
        : [[at, deed] as const],
    );
  }

  #knownAt(of: number): KnownDeed {
    const deed = this.#known[of];
    if (deed === undefined) throw new Error("a history has fewer deeds than were counted");
    return deed;
  }

  #leftWhere(fits: (said: Said) => boolean): number[] {
    return [...this.#left].filter((of) => fits(this.#knownAt(of).said()));
  }

  /** What the ledger itself says of a row. */
  mended(): void {
    for (const [at, deed] of this.#input.entries())
      if (deed.content === undefined && "is" in deed && this.#left.has(deed.is)) this.#bind(at, deed.is, "old");
  }

  /** Timed deeds are a set: the k-th equal one is the k-th accepted, wherever they stand. */
  equalTimed(): void {
    const open = this.#openLatestFirst(true);
    if (open.length === 0) return;
    const places = Map.groupBy(this.#left, (of) => this.#knownAt(of).content);
    for (const [at, { content }] of open) {
      const of = places.get(content)?.shift();
      if (of !== undefined) this.#bind(at, of, "old");
    }
  }

  /** At the same time stands the same deed: what else it says was changed. */
  sameTime(): void {
    const open = this.#open(true);
    if (open.length === 0 || this.#left.size === 0) return;
    const places = Map.groupBy(
      this.#leftWhere(({ time }) => time !== undefined),
      (of) => String(this.#knownAt(of).said().time),
    );
    for (const [at, deed] of open) {
      const of = places.get(String(deed.said().time))?.shift();
      if (of !== undefined) this.#bind(at, of, "changed");
    }
  }

  /** Accepted without a time, and now with one: the same deeds, the earliest first. */
  timesThatCame(): void {
    const open = this.#open(true).filter(([, deed]) => !this.#wasRejectedItself(deed));
    if (open.length === 0 || this.#left.size === 0) return;
    // As many of a content as the input still gives without a time are those.
    const untimed = Map.groupBy(
      this.#open(false).map(([, { content }]) => content),
      (content) => content,
    );
    const places = Map.groupBy(
      this.#leftWhere(({ time }) => time === undefined),
      (of) => this.#knownAt(of).content,
    );
    for (const [content, ofs] of places) {
      const without = untimed.get(content)?.length ?? 0;
      const isOneOf = (deed: HistoryDeed): boolean => deed.said().rest === content;
      // Of those the service rejected some, so that which of them it took is not said.
      const wasRejected = this.#known.some((each) => each.state === "rejected" && isOneOf(each));
      if (without > 0 && wasRejected && ofs.length < without + open.filter(([, deed]) => isOneOf(deed)).length) {
        for (const [at, deed] of [...open, ...this.#open(false)]) if (isOneOf(deed)) this.doubtful.add(at);
        ofs.length = 0;
      } else ofs.length = Math.max(0, ofs.length - without);
    }
    for (const [at, deed] of open.toSorted(([, one], [, other]) => compareTimes(one.said(), other.said()))) {
      const of = places.get(deed.said().rest)?.shift();
      if (of !== undefined) this.#bind(at, of, "changed");
    }
    this.#placeTimes(open, ({ said }) => said().rest);
  }

  /**
   * A mended row that says what was accepted of it is that deed; what says something else now was changed. Any other
   * row from a rejects file that says what was accepted since it was rejected is that deed, if it was still to be sent then: of
   * two rows that say the same, with another accepted between them, the first was superseded. Where it says what was accepted
   * before, it may be that one, or say the same once more (A, B and a bad row that becomes A). Which of them does not matter where
   * something later was accepted. A row that the ledger does not know may be any of that.
   */
  fromRejects(): void {
    for (const [at, { content, became = [] }] of this.#open(false)) {
      const same = became.find((of) => this.#left.has(of) && this.#knownAt(of).content === content);
      if (same !== undefined) this.#bind(at, same, "old");
    }
    // What another one says now may have changed its number in the row.
    const given = new Set(this.#open(false).map(([, { content }]) => content));
    for (const [at, { became = [] }] of this.#open(false)) {
      const own = became.findLast((of) => this.#left.has(of) && !given.has(this.#knownAt(of).content));
      if (own !== undefined) this.#bind(at, own, "changed");
    }
    // Which one may have become it depends on what is known of those before it.
    for (let before = -1; before < this.bound.size; ) {
      before = this.bound.size;
      for (const [at, deed] of this.#openLatestFirst(false)) {
        const own = this.#acceptedSince(deed).find((of) => this.#mayHaveBecome(deed, at, of));
        if (own === undefined) continue;
        this.#bind(at, own, "old");
        this.#guessed.add(own);
      }
    }
    // What came out of turn, with `--again`, is taken for the last ones, beside which the fewest are left to be sent.
    for (const [at, deed] of this.#open(false).toReversed()) {
      const isUnplaced = this.isUnplaced(deed, at);
      const own = this.#acceptedSince(deed).findLast((of) => isUnplaced || this.#knownAt(of).isAgain());
      if (own !== undefined) this.#bind(at, own, "old");
    }
    // Of rows that say the same, one that the service was never asked for may as well be the one that was accepted since.
    for (const [at, { content, after, asked }] of this.#open(false)) {
      const mayBe = (of: number): boolean =>
        of >= (after ?? Number.POSITIVE_INFINITY) && this.#knownAt(of).content === content;
      if (asked === undefined && [...this.#guessed].some(mayBe)) this.doubtful.add(at);
    }
    for (const [at, deed] of this.#open(false)) {
      const { content, after, unplaced } = deed;
      const isSame = (of: number): boolean => this.#left.has(of) && this.#knownAt(of).content === content;
      if (after === undefined) {
        if (unplaced !== undefined && [...unplaced].some(isSame)) this.leftBehind.add(at);
      } else if (this.#laterThan(after - 1, deed, at) !== undefined) this.leftBehind.add(at);
      else if ([...this.#left].some(isSame)) this.doubtful.add(at);
    }
  }

  /** What says just what a row from a rejects file says, and was accepted after the run that rejected that; oldest first. */
  #acceptedSince({ content, after }: KnownInput): readonly number[] {
    if (after === undefined) return [];
    const run = this.#known[after - 1]?.run;
    return [...this.#left].filter((of) => {
      const each = this.#knownAt(of);
      return of >= after && each.run !== run && each.content === content;
    });
  }

  /** Whether the row was sent when that was accepted. It was not where it was superseded by then. */
  #mayHaveBecome(deed: KnownInput, at: number, of: number): boolean {
    if (deed.after === undefined || this.#knownAt(of).isAgain() || this.isUnplaced(deed, at)) return false;
    const since = this.#laterThan(deed.after - 1, deed, at);
    return since === undefined || since >= of;
  }

  /** Whether the service rejected just this, and accepted nothing of its history since: it is none that was accepted before. */
  #wasRejectedItself({ content, after, asked }: KnownInput): boolean {
    if (after === undefined || asked === undefined) return false;
    const own = this.#known[asked];
    return own?.state === "rejected" && own.content === content && ![...this.#left].some((of) => of >= after);
  }

  /** The reverse: accepted with a time that the input lacks. */
  timesThatWent(): void {
    const open = this.#open(false).filter(([, deed]) => !this.#wasRejectedItself(deed));
    if (open.length === 0 || this.#left.size === 0) return;
    const accepted = Map.groupBy(this.#left, (of) => this.#knownAt(of).content);
    const beyond = open.filter(([, { content }]) => accepted.get(content)?.shift() === undefined);
    if (beyond.length === 0) return;
    const timed = this.#leftWhere(({ time }) => time !== undefined);
    const places = Map.groupBy(
      timed.toSorted((one, other) => compareTimes(this.#knownAt(one).said(), this.#knownAt(other).said())),
      (of) => this.#knownAt(of).said().rest,
    );
    for (const [at, { content }] of beyond) {
      const of = places.get(content)?.shift();
      if (of !== undefined) this.#bind(at, of, "changed");
    }
    this.#placeTimes(beyond, ({ content }) => content);
  }

  /**
   * Where a time came or went, another deed may be the accepted one with its time told otherwise: by a zone, or without its seconds.
   * What stands beside them may be an accepted one too, then.
   */
  timesToldTwice(): void {
    const open = [...this.#open(true), ...this.#open(false)];
    if (open.length === 0) return;
    const paired = [...this.bound].flatMap(([at, { of }]) => {
      const [given, known] = [this.#saidAt(at), this.#knownAt(of).said()];
      return given !== undefined && (given.time === undefined) !== (known.time === undefined) ? [{ given, known }] : [];
    });
    const given = [...paired.map((pair) => pair.given), ...open.map(([, deed]) => deed.said())];
    const accepted = [...paired.map(({ known }) => known), ...[...this.#left].map((of) => this.#knownAt(of).said())];
    const areRetold = (one: Said, other: Said): boolean =>
      one.time !== undefined && other.time !== undefined && mayBeRetelling(one.time, other.time);
    for (const naming of new Set(paired.map((pair) => namingOf(pair.given)))) {
      const isSame = (said: Said): boolean => namingOf(said) === naming;
      const others = accepted.filter(isSame);
      if (!given.some((said) => isSame(said) && others.some((other) => areRetold(said, other)))) continue;
      for (const [at, deed] of open) if (isSame(deed.said())) this.doubtful.add(at);
    }
  }

  /**
   * What stands without a time where one with a time is missing may be that one, and the one without a time that it was taken for
   * may have its time by now.
   */
  timesThatMayHaveGone(): void {
    const isMissing = this.#leftWhere(({ time }) => time !== undefined).map((of) => namingOf(this.#knownAt(of).said()));
    if (isMissing.length === 0) return;
    const isTimed = (of: number): boolean => !this.#isUntimed(of);
    const given = this.#input.flatMap((deed, at) => {
      const bound = this.bound.get(at);
      if (deed.content === undefined || deed.isTimed || (bound !== undefined && isTimed(bound.of))) return [];
      return [namingOf(deed.said())];
    });
    const came = new Set([...this.bound].flatMap(([at, { of }]) => (this.#saidAt(at)?.time === undefined ? [] : [of])));
    const untimed = this.#known.flatMap((each, of) =>
      each.state === "rejected" || isTimed(of) || came.has(of) ? [] : [namingOf(each.said())],
    );
    const maybeGone = new Set(isMissing).intersection(new Set(given)).intersection(new Set(untimed));
    for (const [at, deed] of this.#open(true)) if (maybeGone.has(namingOf(deed.said()))) this.doubtful.add(at);
  }

  /**
   * Of what stands more often than it was accepted, the order tells which it was, if there is one way only to find the accepted
   * ones in it.
   *
   * @param open what times that came or went may have bound.
   */
  #placeTimes(open: readonly (readonly [number, KnownInput])[], restOf: (deed: KnownInput) => string): void {
    const rests = new Map(open.map(([at, deed]) => [at, restOf(deed)]));
    const ats = this.#asHappened([...rests.keys()], (at) => this.#saidAt(at));
    const bound = ats.flatMap((at) => this.bound.get(at)?.of ?? []);
    const isTold = new Set(bound.map((of) => this.#knownAt(of).said().rest));
    const isBeyond = ats.some((at) => !this.bound.has(at) && isTold.has(rests.get(at) ?? ""));
    // Of deeds that all say the same it does not matter which.
    const said = this.#input.flatMap((deed) => (deed.content === undefined ? [] : [deed.said().rest]));
    if (!isBeyond || new Set(said).size === 1) return;
    const accepted = this.#asHappened(
      bound.toSorted((one, other) => one - other),
      (of) => this.#knownAt(of).said(),
    );
    const fits = (of: number, at: number): boolean => this.#knownAt(of).said().rest === rests.get(at);
    const pairs = onlyWay(accepted, ats, fits);
    if (pairs === undefined) {
      this.areTimesLost = true;
      return;
    }
    for (const at of ats) this.bound.delete(at);
    for (const { at, of } of pairs) this.#bind(at, of, "changed");
  }

  /**
   * Resales of which something but the holder is told otherwise, such as their prices once a spreadsheet has saved them: the
   * holders tell them by their order, where that leaves no doubt.
   */
  retoldInOrder(): void {
    // A row from a rejects file says nothing of where it stands beside what was accepted.
    const open = this.#openResales().filter(([, { after }]) => after === undefined);
    if (open.length === 0) return;
    const contents = new Set(open.map(([, { content }]) => content));
    const gone = [...this.#left].filter((of) => !contents.has(this.#knownAt(of).content));
    if (!gone.some((of) => open.some(([at]) => this.#mayBe(at, of)))) return;
    const accepted = this.#resales();
    const isOpen = new Set(open.map(([at]) => at));
    const standing = this.#input.flatMap((deed, at) =>
      isOpen.has(at) || this.bound.has(at) || isUnknown(deed) ? [at] : [],
    );
    const given = this.#asHappened(standing, (at) => this.#saidAt(at));
    const [all, held] = [this.#byHolders(accepted, given), this.#byHolders(accepted, this.#everHeld(given))];
    for (const { at, of } of held.length > all.length ? held : all)
      if (isOpen.has(at)) this.#bind(at, of, this.#isSame(at, of) ? "old" : "changed");
  }

  /** What was accepted, or may have been, as far as it is known whom it went to. */
  #resales(): readonly number[] {
    const taken = this.#known.flatMap((deed, of) =>
      deed.state !== "rejected" && deed.said().holder !== undefined ? [of] : [],
    );
    return this.#asHappened(taken, (of) => this.#knownAt(of).said());
  }

  /** By their times where all have one, else as they stand. */
  #asHappened(numbers: readonly number[], saidBy: (number: number) => Said | undefined): readonly number[] {
    const timed = numbers.map((number) => ({ number, said: saidBy(number) }));
    if (timed.every(({ said }) => said?.time !== undefined))
      timed.sort(({ said: one }, { said: other }) => (one && other ? compareTimes(one, other) : 0));
    return timed.map(({ number }) => number);
  }

  /** Without those to whom the ticket never came, since the service rejected it: that leaves no hole. */
  #everHeld(given: readonly number[]): readonly number[] {
    const holdersOf = (isRejected: boolean): ReadonlySet<string | undefined> =>
      new Set(this.#known.flatMap(({ state, said }) => ((state === "rejected") === isRejected ? [said().holder] : [])));
    const [rejected, taken] = [holdersOf(true), holdersOf(false)];
    return given.filter((at) => {
      const holder = this.#saidAt(at)?.holder;
      return holder === undefined || taken.has(holder) || !rejected.has(holder);
    });
  }

  /**
   * The longest end of what was accepted that stands at the beginning of the input, by its holders. None where it may as
   * well be that the ticket went the same way once more: it is neither all that was accepted, nor does a content agree. To who
   * holds it already it can't go.
   */
  #byHolders(accepted: readonly number[], given: readonly number[]): readonly Pair[] {
    const fits = (of: number, at: number): boolean => {
      const bound = this.bound.get(at);
      if (bound !== undefined) return bound.of === of;
      if (!this.#left.has(of)) return false;
      return this.#input[at]?.content === undefined || this.#isSame(at, of) || this.#mayBe(at, of);
    };
    const contents = new Set(accepted.map((of) => this.#knownAt(of).content));
    const isWhole = endLength(accepted, given, fits) === accepted.length;
    // A window does not say something else of one deed and the same of another in its place.
    const length = isWhole
      ? accepted.length
      : endLength(
          accepted,
          given,
          (of, at) => fits(of, at) && (this.#isSame(at, of) || !contents.has(this.#contentAt(at))),
        );
    const pairs = given.slice(0, length).map((at, number) => ({ at, of: accepted.at(number - length) ?? -1 }));
    if (this.#wasRejectedToo(accepted) && onlyWay(accepted, given, fits) === undefined) return [];
    const isPlain = isWhole || length === 1 || pairs.some(({ at, of }) => this.bound.has(at) || this.#isSame(at, of));
    return isPlain ? pairs : [];
  }

  /** Whether the service rejected one to somebody to whom another was accepted: which of them the input tells otherwise is not said. */
  #wasRejectedToo(accepted: readonly number[]): boolean {
    const holders = new Set(accepted.map((of) => this.#knownAt(of).said().holder));
    return this.#known.some(({ state, said }) => state === "rejected" && holders.has(said().holder));
  }

  #isSame(at: number, of: number): boolean {
    return this.#contentAt(at) === this.#knownAt(of).content;
  }

  /** Whether a resale may be an accepted one that is told otherwise. Times tell by themselves where both have one. */
  #mayBe(at: number, of: number): boolean {
    const [given, accepted] = [this.#saidAt(at), this.#knownAt(of).said()];
    if (given?.holder === undefined || given.holder !== accepted.holder) return false;
    if (given.time !== undefined && accepted.time !== undefined) return false;
    // What was accepted before the service rejected just this is another one, unless the input has this more often.
    const content = this.#contentAt(at);
    const rejected = this.#known.flatMap((each, tried) =>
      each.state === "rejected" && each.content === content ? [tried] : [],
    );
    const times = this.#input.filter((each) => each.content === content).length;
    return times > rejected.length || (rejected.at(-1) ?? -1) < of;
  }

  /** Numbers of the deeds of the input that would be sent, and may be accepted ones that it lacks, or superseded ones. */
  mayBeRetold(): ReadonlySet<number> {
    const open = this.#openResales();
    const contents = new Set(this.#input.map(({ content }) => content));
    const isSuperseded = (deed: KnownInput, at: number): boolean => {
      const tried = this.#known.findLastIndex(
        ({ state, content }, of) => state === "rejected" && !contents.has(content) && this.#mayBe(at, of),
      );
      return tried !== -1 && this.#laterThan(tried, deed, at) !== undefined;
    };
    return new Set(
      open.flatMap(([at, deed]) =>
        [...this.#left].some((of) => this.#mayBe(at, of)) || isSuperseded(deed, at) ? [at] : [],
      ),
    );
  }

  /** None in a history of another kind. */
  #openResales(): (readonly [number, KnownInput])[] {
    const open = [...this.#open(true), ...this.#open(false)];
    return open[0]?.[1].said().holder === undefined ? [] : open;
  }

  #saidAt(at: number): Said | undefined {
    const deed = this.#input[at];
    return deed?.content === undefined ? undefined : deed.said();
  }

  /** What has no times, on neither side. False where it can't be told which of it is old. */
  untimed(isHeld: boolean): boolean {
    const open = this.#open(false);
    const contents = new Set(open.map(([, { content }]) => content));
    if (![...this.#left].some((of) => contents.has(this.#knownAt(of).content))) return true;
    // Where all of the input is known, nothing need be asked of the others, unless contents repeat.
    const all = [...this.#left];
    const isOnce =
      contents.size === open.length && new Set(all.map((of) => this.#knownAt(of).content)).size === all.length;
    const left = isOnce ? all : this.#leftWhere(({ time }) => time === undefined);
    const accepted = left.map((of) => this.#knownAt(of).content);
    const isUnique = contents.size === open.length && new Set(accepted).size === accepted.length;
    // Which of those that say the same is old can't be told by their order where they stand before one with a time.
    const isBeforeTimed = open.some(([at]) => at < this.#lastTimed());
    if (!isUnique && !isHeld && isBeforeTimed && accepted.length < open.length) return false;
    if (!isUnique && this.#mayHoldRetold(left, open)) return false;
    const ats = open.map(([at]) => at);
    const pairs =
      isUnique || isHeld
        ? this.#counted(left, ats)
        : (this.#byEnd(left, ats) ?? this.#byEnd(left, this.#everTaken(ats)) ?? this.#asTried(ats));
    const placed = pairs?.some((pair) => this.#crosses(pair)) === true ? this.#onlyWay(left, ats) : pairs;
    for (const { at, of } of placed ?? []) this.#bind(at, of, "old");
    return placed !== undefined;
  }

  /** Whether it would turn round what is bound already, of which the input has no time. */
  #crosses({ at, of }: Pair): boolean {
    return [...this.bound].some(
      ([place, bound]) => this.#saidAt(place)?.time === undefined && place < at !== bound.of < of,
    );
  }

  /** Beside what is bound already, where there is one way only to find all of it in the order in which it was accepted. */
  #onlyWay(left: readonly number[], ats: readonly number[]): readonly Pair[] | undefined {
    const accepted = [...left, ...[...this.bound.values()].map(({ of }) => of)].toSorted((one, other) => one - other);
    const places = [...ats, ...this.bound.keys()].toSorted((one, other) => one - other);
    const fits = (of: number, at: number): boolean => {
      const bound = this.bound.get(at);
      return bound === undefined ? this.#left.has(of) && this.#isSame(at, of) : bound.of === of;
    };
    return onlyWay(accepted, places, fits)?.filter(({ at }) => !this.bound.has(at));
  }

  /** Whether one that is told otherwise may be among those that repeat, also where just this was rejected since. */
  #mayHoldRetold(left: readonly number[], open: readonly (readonly [number, KnownInput])[]): boolean {
    const contents = new Set(open.map(([, { content }]) => content));
    const holders = new Set(open.flatMap(([, { said }]) => said().holder ?? []));
    return left.some((of) => {
      const { content, said } = this.#knownAt(of);
      return !contents.has(content) && holders.has(said().holder ?? "");
    });
  }

  /** The k-th equal one is the k-th accepted. */
  #counted(left: readonly number[], ats: readonly number[]): readonly Pair[] {
    const places = Map.groupBy(left, (of) => this.#knownAt(of).content);
    return ats.flatMap((at) => {
      const of = places.get(this.#contentAt(at))?.shift();
      return of === undefined ? [] : [{ at, of }];
    });
  }

  /** By the end of what was accepted; undefined where counting says something else. */
  #byEnd(left: readonly number[], ats: readonly number[]): readonly Pair[] | undefined {
    const given = ats.map((at) => this.#contentAt(at));
    const old = oldLength(
      left.map((of) => this.#knownAt(of).content),
      given,
    );
    const counted = this.#counted(left, ats).map(({ at }) => this.#contentAt(at));
    if (counted.length !== old || !sameContents(given.slice(0, old), counted)) return undefined;
    return left.slice(left.length - old).flatMap((of, number) => {
      const at = ats[number];
      return at === undefined ? [] : [{ at, of }];
    });
  }

  /** Without what was rejected whenever the service was asked for it, which leaves no hole. */
  #everTaken(ats: readonly number[]): readonly number[] {
    const taken = new Set(this.#known.flatMap(({ state, content }) => (state === "rejected" ? [] : [content])));
    const rejected = new Set(this.#known.flatMap(({ state, content }) => (state === "rejected" ? [content] : [])));
    return ats.filter((at) => taken.has(this.#contentAt(at)) || !rejected.has(this.#contentAt(at)));
  }

  /** Where the input begins with all that was tried, each at its first place. */
  #asTried(ats: readonly number[]): readonly Pair[] | undefined {
    if (this.#known.some(({ state }) => state === "pending")) return undefined;
    const tried = [...this.#known.keys()].filter(
      (of) => this.#left.has(of) || (this.#knownAt(of).state === "rejected" && this.#isUntimed(of)),
    );
    const tries = tried.map((of) => {
      const { state, ...deed } = this.#knownAt(of);
      return { ...deed, isTaken: state === "accepted" };
    });
    const found = findTries(tries, (contents) =>
      contents.every((content, number) => content === this.#contentAt(ats[number] ?? -1)) ? ats : undefined,
    );
    return found?.flatMap(({ at, taken }) => {
      const of = tried[taken ?? -1];
      return of === undefined ? [] : [{ at, of }];
    });
  }

  /** Place of the last deed with a time that is known; -1 where there is none. */
  #lastTimed(): number {
    return this.#input.findLastIndex((deed, at) => deed.content !== undefined && deed.isTimed && this.bound.has(at));
  }

  #contentAt(at: number): string {
    return this.#input[at]?.content ?? "";
  }

  /**
   * A deed of an invalid row stands in the place of the accepted one that has its time; of those without times, of the one
   * that is missing between the two around it. Beyond the first and the last of them it may be a new one as well.
   */
  unknown(): void {
    const around = [...this.bound].flatMap(([at, { of }]) => (this.#isUntimed(of) ? { at, of } : []));
    for (const [at, deed] of this.#input.entries()) {
      if (!isUnknown(deed) || this.#left.size === 0) continue;
      const sameTime = deed.time === undefined ? undefined : this.#leftWhere(({ time }) => time === deed.time)[0];
      const of = sameTime ?? this.#missingAt(at, around);
      if (of !== undefined) this.#bind(at, of, "changed");
    }
  }

  /** @param around the deeds of the input without times that are known, with the accepted ones that they are. */
  #missingAt(at: number, around: readonly { readonly at: number; readonly of: number }[]): number | undefined {
    const from = around.reduce<Neighbour>(
      (last, each) => (each.at < at && each.at > (last?.at ?? -1) ? each : last),
      undefined,
    );
    const to = around.reduce<Neighbour>(
      (next, each) => (each.at > at && each.at < (next?.at ?? Infinity) ? each : next),
      undefined,
    );
    if (from === undefined || to === undefined) return undefined;
    return [...this.#left].find((of) => of > from.of && of < to.of && this.#isUntimed(of));
  }

  /** Place of the last deed without a time that is not known; -1 where there is none. */
  lastUntimedOpen(): number {
    return Math.max(-1, ...this.#open(false).map(([at]) => at));
  }

  /** Place of the last old deed that has a time neither as it was accepted nor in the input; -1 where there is none. */
  lastUntimedOld(): number {
    const untimed = [...this.bound].flatMap(([at, { of }]) =>
      this.#isUntimed(of) && this.#saidAt(at)?.time === undefined ? [at] : [],
    );
    return Math.max(-1, ...untimed);
  }

  /** Whether an accepted deed without a time is none of the input's. */
  hasUntimedLeft(): boolean {
    return [...this.#left].some((of) => this.#isUntimed(of));
  }

  #isUntimed(of: number): boolean {
    return this.#knownAt(of).said().time === undefined;
  }

  /** What was accepted since the deed was rejected, and is later than it; undefined where it was not, or nothing was. */
  supersededBy(deed: KnownInput, at: number): number | undefined {
    const tried = deed.after === undefined ? this.#lastRejected(deed) : deed.after - 1;
    return tried === -1 && deed.after === undefined ? undefined : this.#laterThan(tried, deed, at);
  }

  /** When the service last rejected what may be the deed; -1 where it never did. */
  #lastRejected(deed: KnownInput): number {
    return this.#known.findLastIndex(
      (each) => each.state === "rejected" && (each.content === deed.content || mayBeOne(each, deed)),
    );
  }

  /**
   * Whether something was accepted since of which nobody knows whether it is later: no run had both rows among its rejects, or
   * which of some equal ones it is was guessed.
   */
  standsApart(deed: KnownInput, at: number): boolean {
    if (deed.after === undefined) return false;
    const rejected = this.#lastRejected(deed);
    const tried = rejected === -1 ? deed.after - 1 : Math.min(rejected, deed.after - 1);
    return this.#laterThan(tried, deed, at, true) !== undefined;
  }

  /**
   * @param tried when the service rejected the deed.
   * @param isSure only what surely stood before it is earlier.
   */
  #laterThan(tried: number, deed: KnownInput, at: number, isSure = false): number | undefined {
    const { time } = deed.isTimed ? deed.said() : { time: undefined };
    const earlier = new Set<number>();
    const behind = new Set(deed.behind);
    for (const [place, { of }] of this.bound) {
      const wasSentBehind = deed.after !== undefined && of > tried && this.#known[of]?.run === this.#known[tried]?.run;
      const stood = this.#stood(place, deed);
      if (stood === "behind") behind.add(of);
      const isUnsure = isSure && (stood === "unknown" || this.#isOneOfEqual(of));
      if (place < at && !wasSentBehind && !isUnsure && !behind.has(of)) earlier.add(of);
    }
    const since = this.#known.findIndex((each, of) => {
      if ((of <= tried && !behind.has(of)) || each.state === "rejected") return false;
      const other = time === undefined ? undefined : each.said().time;
      return time === undefined || other === undefined ? !earlier.has(of) : other > time;
    });
    return since === -1 ? undefined : since;
  }

  /** Whether a row that says what was accepted may as well be another accepted one that says the same. */
  #isOneOfEqual(of: number): boolean {
    const { content } = this.#knownAt(of);
    return (
      this.#guessed.has(of) &&
      this.#known.some((each, other) => other !== of && each.state !== "rejected" && each.content === content)
    );
  }

  /** Where a row of rejects stood beside another when they were rejected, wherever it stands now. */
  #stood(place: number, { numbers }: KnownInput): "before" | "behind" | "unknown" {
    const other = this.#input[place];
    const others = other === undefined || isUnknown(other) ? undefined : other.numbers;
    if (!numbers?.size || !others?.size) return "before";
    const shared = [...numbers.keys()].findLast((run) => others.has(run));
    if (shared !== undefined) return (others.get(shared) ?? 0) > (numbers.get(shared) ?? 0) ? "behind" : "before";
    return Math.min(...others.keys()) > Math.min(...numbers.keys()) ? "behind" : "unknown";
  }

  /** Those that may say what was accepted, with its time or without it. */
  accepted(ats: Iterable<number>): readonly number[] {
    const taken = this.#known.filter(({ state }) => state !== "rejected");
    return [...ats].filter((at) => {
      const deed = this.#input[at];
      if (deed?.content === undefined) return false;
      return taken.some((each) => formOf(each) === formOf(deed) || lacksTimeOf(each.said(), deed.said()));
    });
  }

  /** Deeds of the input that are not bound, and of which nobody knows whether they stood before accepted ones. */
  unplaced(): readonly number[] {
    return this.#open(false).flatMap(([at, deed]) => (this.isUnplaced(deed, at) ? [at] : []));
  }

  /** Whether it can't be told if some known deed is later than the deed, by neither its place nor its time. */
  isUnplaced({ unplaced, isTimed, rejectedIn, said }: KnownInput, at: number): boolean {
    if (unplaced === undefined || unplaced.size === 0) return false;
    // What stands before it in its rejects, unless another run rejected that: the two need not have stood in one input.
    const isOfOther = (place: number): boolean => {
      const other = this.#input[place];
      const run = other?.content === undefined ? undefined : other.rejectedIn;
      return run !== undefined && rejectedIn !== undefined && run !== rejectedIn;
    };
    const earlier = new Set(
      [...this.bound].flatMap(([place, { of }]) => (place < at && !isOfOther(place) ? [of] : [])),
    );
    return [...unplaced].some((of) => {
      const areTimed = isTimed && said().time !== undefined && this.#knownAt(of).said().time !== undefined;
      return !areTimed && !earlier.has(of);
    });
  }
}

/** Whether one of two that name the same has a time that the other lacks. */
const lacksTimeOf = (one: Said, other: Said): boolean =>
  (one.time === undefined) !== (other.time === undefined) && namingOf(one) === namingOf(other);

/** Whether one of them lacks a time and they say the same otherwise; or they are resales of the same time. */
function mayBeOne(one: HistoryDeed, other: KnownInput): boolean {
  const [a, b] = [one.said(), other.said()];
  if (a.time !== undefined && b.time !== undefined) return b.holder !== undefined && a.time === b.time;
  return (a.time === undefined) !== (b.time === undefined) && a.rest === b.rest;
}

function compareTimes({ time: one }: Said, { time: other }: Said): number {
  if (one === undefined || other === undefined || one === other) return 0;
  return one < other ? -1 : 1;
}
