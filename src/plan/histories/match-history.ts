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
  type WhyUnclear,
} from "./history.ts";
import { areOfOneMoment, mayBeRetelling } from "./retold-times.ts";
import { endLength, oldLength, onlyWay, type Pair, sameContents } from "./sequences.ts";

/**
 * @param known what the service was asked for, oldest first.
 * @param input in the order of the input.
 * @param isCut rows at the end of the input were left out, so that nobody knows which old ones the new ones stand before.
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
      return otherForms.has(at) ? unclear("forms") : open;
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
  // These may be accepted ones, or stand before one, so what stands before them may come too late.
  const untold = [...match.doubtful.keys(), ...match.leftBehind, ...match.unplaced(), ...match.accepted(otherForms)];
  const lastUnclear = Math.max(isClear ? -1 : match.lastUntimedOpen(), ...untold);
  const verdicts = input.map((deed, at): DeedVerdict => {
    const bound = match.bound.get(at);
    if (isUnknown(deed)) return { kind: "unknown", inPlaceOf: bound?.of };
    // The same row may be given more often than it was mended.
    if (deed.content === undefined) return { kind: "old", of: deed.is };
    const isUnclear = match.doubtful.has(at) || (!isClear && !deed.isTimed) || match.areTimesLost;
    if (isUnclear && (bound === undefined || (!match.areTimesLost && bound.kind === "old")))
      return unclear(match.areTimesLost ? "times" : (match.doubtful.get(at) ?? match.whyUntold));
    if (bound !== undefined) return bound;
    const since = match.supersededBy(deed, at);
    if (since !== undefined) return { kind: "superseded", since };
    if (match.isUnplaced(deed, at)) return { kind: "unplaced" };
    if (match.leftBehind.has(at)) return unclear("rejected");
    if (otherForms.has(at)) return unclear("forms");
    // Two times tell the order by themselves, and scans with times are a set. Otherwise what stands behind it counts.
    const isInOrder = !deed.isTimed || deed.said().holder !== undefined;
    const before = deed.isTimed ? Math.max(lastUntimedOld, match.lastOldOfMoment(deed)) : lastOld;
    if (isInOrder && at < before) return { kind: "late", before };
    if (isInOrder && (at < lastUnclear || (isCut && match.hasUntimedLeft()))) return unclear("before unclear");
    // What stands before such a resale may come too late.
    if (mayBeRetold.has(at) || (isInOrder && at < lastRetold)) return unclear("holder");
    if (match.standsApart(deed, at))
      return deed.after === undefined ? unclear("repeats") : { kind: "unplaced", why: "undecided" };
    return open;
  });
  return likeTheirEquals(input, verdicts, otherForms);
}

type Neighbour = { readonly at: number; readonly of: number } | undefined;

const NEW: DeedVerdict = { kind: "new" };
const HELD: DeedVerdict = { kind: "held" };
const unclear = (why: WhyUnclear): DeedVerdict => ({ kind: "unclear", why });

/** Binds deeds of the input to accepted ones, one rule after the other. */
class Match {
  readonly bound = new Map<number, Extract<DeedVerdict, { readonly of: number }>>();
  /** Deeds of the input that may be old or new; nobody can tell. */
  readonly doubtful = new Map<number, WhyUnclear>();
  /** Deeds of the input that are not sent, since a known one stood behind them or may have. */
  readonly leftBehind = new Set<number>();
  /** Why `untimed` could not tell which are old. */
  whyUntold: WhyUnclear = "repeats";
  /**
   * Times came or went, and where the input has a deed more often than it was accepted, nobody can tell which was. That goes
   * for all open deeds.
   */
  areTimesLost = false;
  /** Accepted deeds to which a row from a rejects file was bound because it says the same. */
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

  /** As `#open`, but among deeds that say the same, rejects of later runs come first: what was accepted since is theirs. */
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

  /** Binds what the ledger itself knows of mended rows. */
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

  /** A deed of the same time is the same deed; whatever differs was changed. */
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
    // Of each content, as many accepted ones stay without a time as the input still gives without one.
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
      // The service rejected some of those, so nobody knows which of them it took.
      const wasRejected = this.#known.some((each) => each.state === "rejected" && isOneOf(each));
      if (without > 0 && wasRejected && ofs.length < without + open.filter(([, deed]) => isOneOf(deed)).length) {
        for (const [at, deed] of [...open, ...this.#open(false)]) if (isOneOf(deed)) this.doubtful.set(at, "times");
        ofs.length = 0;
      } else ofs.length = Math.max(0, ofs.length - without);
    }
    const forms = formsOfOtherRuns(this.#known, this.#input, new Set(this.bound.keys()));
    const mayBeOne = new Set<string>();
    for (const [at, deed] of open.toSorted(([, one], [, other]) => compareTimes(one.said(), other.said()))) {
      const { rest } = deed.said();
      const of = places.get(rest)?.shift();
      if (of === undefined) continue;
      this.#bind(at, of, "changed");
      if (forms.has(at)) mayBeOne.add(rest);
    }
    this.#placeTimes(open, ({ said }) => said().rest);
    // Two rows of which each is taken for an accepted one may be one, and another one that accepted one.
    for (const [at, deed] of open)
      if (mayBeOne.has(deed.said().rest) && !this.bound.has(at)) this.doubtful.set(at, "forms");
  }

  /**
   * A mended row that says what was accepted of it is that deed; if it says something else now, it was changed. One that says
   * what was accepted beside it of its own row has its number now: the one that was rejected was taken out. Any other row
   * from a rejects file that says what was accepted since it was rejected is that deed, if it was still to be sent then: of
   * two rows that say the same, with another accepted between them, the first was superseded. A row that says what was
   * accepted before it was rejected may be that deed, or say the same once more (A, B and a bad row that becomes A). Where
   * something later was accepted, it does not matter which. A row that the ledger does not know may be any of these.
   */
  fromRejects(): void {
    for (const [at, { content, became = [], beside = [] }] of this.#open(false)) {
      const same = [...became, ...beside].find((of) => this.#left.has(of) && this.#knownAt(of).content === content);
      if (same !== undefined) this.#bind(at, same, "old");
    }
    // What another one says now may have changed its number in the row.
    const given = new Set(this.#open(false).map(([, { content }]) => content));
    for (const [at, { became = [] }] of this.#open(false)) {
      const own = became.findLast((of) => this.#left.has(of) && !given.has(this.#knownAt(of).content));
      if (own !== undefined) this.#bind(at, own, "changed");
    }
    // Which row may have become an accepted deed depends on what is known of the rows before it.
    for (let before = -1; before < this.bound.size; ) {
      before = this.bound.size;
      for (const [at, deed] of this.#openLatestFirst(false)) {
        const own = this.#acceptedSince(deed).find((of) => this.#mayHaveBecome(deed, at, of));
        if (own === undefined) continue;
        this.#bind(at, own, "old");
        this.#guessed.add(own);
      }
    }
    // What came out of turn, with `--again`, counts as the last ones, so that the fewest are left to be sent.
    for (const [at, deed] of this.#open(false).toReversed()) {
      const isUnplaced = this.isUnplaced(deed, at);
      const own = this.#acceptedSince(deed).findLast((of) => isUnplaced || this.#knownAt(of).isAgain());
      if (own !== undefined) this.#bind(at, own, "old");
    }
    // Of rows that say the same, one that the service was never asked for may as well be the one that was accepted since.
    for (const [at, { content, after, asked }] of this.#open(false)) {
      const mayBe = (of: number): boolean =>
        of >= (after ?? Number.POSITIVE_INFINITY) && this.#knownAt(of).content === content;
      if (asked === undefined && [...this.#guessed].some(mayBe)) this.doubtful.set(at, "rejected");
    }
    for (const [at, deed] of this.#open(false)) {
      const { content, after, unplaced } = deed;
      const isSame = (of: number): boolean => this.#left.has(of) && this.#knownAt(of).content === content;
      if (after === undefined) {
        if (unplaced !== undefined && [...unplaced].some(isSame)) this.leftBehind.add(at);
      } else if (this.#laterThan(after - 1, deed, at) !== undefined) this.leftBehind.add(at);
      else if ([...this.#left].some(isSame)) this.doubtful.set(at, "rejected");
    }
  }

  /** Deeds with the row's content that were accepted after the run that rejected it; oldest first. */
  #acceptedSince({ content, after }: KnownInput): readonly number[] {
    if (after === undefined) return [];
    const run = this.#known[after - 1]?.run;
    return [...this.#left].filter((of) => {
      const each = this.#knownAt(of);
      return of >= after && each.run !== run && each.content === content;
    });
  }

  /** Whether the row may have been sent when that deed was accepted: not if it was superseded by then. */
  #mayHaveBecome(deed: KnownInput, at: number, of: number): boolean {
    if (deed.after === undefined || this.#knownAt(of).isAgain() || this.isUnplaced(deed, at)) return false;
    const since = this.#laterThan(deed.after - 1, deed, at);
    return since === undefined || since >= of;
  }

  /**
   * Whether the service rejected just this deed and has accepted nothing of its history since. Then it is none of those
   * accepted before.
   */
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
   * Where a time came or went, another deed may be the accepted one with a different time: in another zone, or without its
   * seconds. Then the deeds beside it may be accepted ones too.
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
      for (const [at, deed] of open) if (isSame(deed.said())) this.doubtful.set(at, "times");
    }
  }

  /**
   * A deed without a time may be a missing one with a time. The one without a time that it was taken for may then have its
   * time by now.
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
    for (const [at, deed] of this.#open(true)) if (maybeGone.has(namingOf(deed.said()))) this.doubtful.set(at, "times");
  }

  /**
   * Where the input has a deed more often than it was accepted, the order tells which was accepted, if there is only one way
   * to find the accepted ones in it.
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
   * Resales of which something other than the holder differs, such as the price once a spreadsheet has saved it. The order of
   * their holders tells which they are, where it leaves no doubt.
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

  /** Resales that were accepted, or may have been, and whose holder is known. */
  #resales(): readonly number[] {
    const taken = this.#known.flatMap((deed, of) =>
      deed.state !== "rejected" && deed.said().holder !== undefined ? [of] : [],
    );
    return this.#asHappened(taken, (of) => this.#knownAt(of).said());
  }

  /** Sorted by time where all have one, otherwise in their present order. */
  #asHappened(numbers: readonly number[], saidBy: (number: number) => Said | undefined): readonly number[] {
    const timed = numbers.map((number) => ({ number, said: saidBy(number) }));
    if (timed.every(({ said }) => said?.time !== undefined))
      timed.sort(({ said: one }, { said: other }) => (one && other ? compareTimes(one, other) : 0));
    return timed.map(({ number }) => number);
  }

  /** Without those whom the ticket never reached, since the service rejected the resale: that leaves no hole. */
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
   * The longest end of the accepted resales that stands at the beginning of the input, by holders. None where the ticket may
   * as well have gone the same way once more: where it is neither all that was accepted, nor agrees in any content. A ticket
   * can't go to its present holder.
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
    // In a window, no deed stands in the place of another one that the input has unchanged.
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

  /**
   * Whether the service rejected a resale to somebody to whom it accepted another: then nobody knows which of the two the
   * input has changed.
   */
  #wasRejectedToo(accepted: readonly number[]): boolean {
    const holders = new Set(accepted.map((of) => this.#knownAt(of).said().holder));
    return this.#known.some(({ state, said }) => state === "rejected" && holders.has(said().holder));
  }

  #isSame(at: number, of: number): boolean {
    return this.#contentAt(at) === this.#knownAt(of).content;
  }

  /** Whether a resale may be an accepted one that was changed. Where both have a time, the times tell by themselves. */
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

  /** Numbers of those deeds of the input that would be sent but may be missing accepted ones, or superseded ones. */
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

  /** Binds deeds that have no time on either side. False where it can't be told which of them are old. */
  untimed(isHeld: boolean): boolean {
    const open = this.#open(false);
    const contents = new Set(open.map(([, { content }]) => content));
    if (![...this.#left].some((of) => contents.has(this.#knownAt(of).content))) return true;
    // Where all contents occur once, the accepted ones need not be asked for their times.
    const all = [...this.#left];
    const isOnce =
      contents.size === open.length && new Set(all.map((of) => this.#knownAt(of).content)).size === all.length;
    const left = isOnce ? all : this.#leftWhere(({ time }) => time === undefined);
    const accepted = left.map((of) => this.#knownAt(of).content);
    const isUnique = contents.size === open.length && new Set(accepted).size === accepted.length;
    // Where equal deeds stand before one with a time, their order does not tell which of them is old.
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
    // Those that occur once were told, so only what is bound already, whose times went, speaks against it.
    if (isUnique) this.whyUntold = "times";
    return placed !== undefined;
  }

  /** Whether the pair is in the opposite order to one that is bound already and has no time in the input. */
  #crosses({ at, of }: Pair): boolean {
    return [...this.bound].some(
      ([place, bound]) => this.#saidAt(place)?.time === undefined && place < at !== bound.of < of,
    );
  }

  /** Pairs that fit what is bound already, if there is only one way to find all of it in the order in which it was accepted. */
  #onlyWay(left: readonly number[], ats: readonly number[]): readonly Pair[] | undefined {
    const accepted = [...left, ...[...this.bound.values()].map(({ of }) => of)].toSorted((one, other) => one - other);
    const places = [...ats, ...this.bound.keys()].toSorted((one, other) => one - other);
    const fits = (of: number, at: number): boolean => {
      const bound = this.bound.get(at);
      return bound === undefined ? this.#left.has(of) && this.#isSame(at, of) : bound.of === of;
    };
    return onlyWay(accepted, places, fits)?.filter(({ at }) => !this.bound.has(at));
  }

  /** Whether a changed one may be among those that repeat, even where just that was rejected since. */
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

  /** Pairs by the end of what was accepted; undefined where counting gives another result. */
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

  /** Without deeds that were rejected each time they were sent, which leave no hole. */
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
   * A deed of an invalid row stands in the place of the accepted one with its time; without a time, in the place of the one
   * that is missing between its two neighbours. Before the first and behind the last of them it may be a new one as well.
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

  /** Place of the last old resale whose time does not tell whether it came before the deed; -1 where there is none. */
  lastOldOfMoment({ said }: KnownInput): number {
    const { time } = said();
    const ofMoment = [...this.bound].flatMap(([at, { of }]) => {
      const times = [this.#saidAt(at)?.time, this.#knownAt(of).said().time];
      const isOne = times.some((other) => time !== undefined && other !== undefined && areOfOneMoment(time, other));
      return isOne ? [at] : [];
    });
    return Math.max(-1, ...ofMoment);
  }

  /** Whether some accepted deed without a time is missing in the input. */
  hasUntimedLeft(): boolean {
    return [...this.#left].some((of) => this.#isUntimed(of));
  }

  #isUntimed(of: number): boolean {
    return this.#knownAt(of).said().time === undefined;
  }

  /**
   * A later deed that was accepted since this one was rejected; undefined where there is none, or this one was never
   * rejected.
   */
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
   * which of some equal ones it is was guessed, or the input lacks one that says the same.
   */
  standsApart(deed: KnownInput, at: number): boolean {
    const rejected = this.#lastRejected(deed);
    if (deed.after === undefined) return rejected !== -1 && this.#laterThan(rejected, deed, at, true) !== undefined;
    const tried = rejected === -1 ? deed.after - 1 : Math.min(rejected, deed.after - 1);
    return this.#laterThan(tried, deed, at, true) !== undefined;
  }

  /**
   * @param tried when the service rejected the deed.
   * @param isSure count only those as earlier that certainly stood before it.
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
      const { time: other, holder } = each.said();
      const isTold =
        time !== undefined && other !== undefined && (holder === undefined || !areOfOneMoment(time, other));
      return isTold ? other > time : !earlier.has(of);
    });
    return since === -1 ? undefined : since;
  }

  /** Whether a row that was bound to this accepted deed may as well be another accepted one that says the same. */
  #isOneOfEqual(of: number): boolean {
    const { content } = this.#knownAt(of);
    return this.#known.some(
      (each, other) =>
        other !== of &&
        each.state !== "rejected" &&
        each.content === content &&
        (this.#guessed.has(of) || this.#left.has(other)),
    );
  }

  /** Where another row of rejects stood relative to this one when they were rejected, wherever they stand now. */
  #stood(place: number, { numbers }: KnownInput): "before" | "behind" | "unknown" {
    const other = this.#input[place];
    const others = other === undefined || isUnknown(other) ? undefined : other.numbers;
    if (!numbers?.size || !others?.size) return "before";
    const shared = [...numbers.keys()].findLast((run) => others.has(run));
    if (shared !== undefined) return (others.get(shared) ?? 0) > (numbers.get(shared) ?? 0) ? "behind" : "before";
    return Math.min(...others.keys()) > Math.min(...numbers.keys()) ? "behind" : "unknown";
  }

  /** Those of the deeds that may be accepted ones, with their time or without it. */
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

  /** Whether neither place nor time tells if some known deed is later than this one. */
  isUnplaced({ unplaced, isTimed, rejectedIn, said }: KnownInput, at: number): boolean {
    if (unplaced === undefined || unplaced.size === 0) return false;
    // Those before it in its rejects are earlier, unless another run rejected them: the two need not have been in one input.
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

/** Whether two with the same name differ in that one of them has a time. */
const lacksTimeOf = (one: Said, other: Said): boolean =>
  (one.time === undefined) !== (other.time === undefined) && namingOf(one) === namingOf(other);

/** Whether only one has a time and they agree otherwise; or they are resales of the same time. */
function mayBeOne(one: HistoryDeed, other: KnownInput): boolean {
  const [a, b] = [one.said(), other.said()];
  if (a.time !== undefined && b.time !== undefined) return b.holder !== undefined && a.time === b.time;
  return (a.time === undefined) !== (b.time === undefined) && a.rest === b.rest;
}

function compareTimes({ time: one }: Said, { time: other }: Said): number {
  if (one === undefined || other === undefined || one === other) return 0;
  return one < other ? -1 : 1;
}
