/**
 * Which of the deeds that rows give under one key of their source the service has accepted already (docs/guarantees.md, A row that gives several deeds). The key
 * tells the row. Several deeds of a kind that one row gives are told apart by what they say, never by their number, since a
 * list may grow at either end. Pure: it reads and sends nothing.
 */

import type { ActionData, IdentityRule } from "../../actions/actions.ts";
import { recipientsAgree } from "../../actions/identity.ts";
import { findTries, type Try } from "./first-tries.ts";
import type { HistoryDeed } from "./history.ts";

/** A deed of one kind under a key. */
interface KeyDeed extends HistoryDeed {
  /** Its ticket or event. */
  readonly subject: string;
  readonly data: () => ActionData;
}

export interface KnownKeyDeed extends KeyDeed {
  /** It may yet turn out to be accepted. */
  readonly isPending: boolean;
}

/** A deed that the service was asked for under the key. */
export interface KeyTry extends Try {
  readonly subject: string;
  /** Number of the known deed that it is, where it was accepted. */
  readonly of: number | undefined;
}

export interface GivenKeyDeed extends KeyDeed {
  /** Its place in the order of sending. */
  readonly seq: number;
  /** False for one that `tickets:actions` leaves out of its row: it is done with, and stands for what was accepted of it. */
  readonly isOpen: boolean;
}

/** What becomes of a deed of the input. `of`, `left`: numbers of known deeds. */
export type KeyVerdict<D> =
  /** It is that one, with the same content or another. */
  | { readonly kind: "known"; readonly of: number }
  /** It may be one that is pending. */
  | { readonly kind: "pending" }
  | { readonly kind: "new" }
  /** The same deed stands earlier in the input. */
  | { readonly kind: "repeated"; readonly first: D }
  /** The key is that of another ticket or event, which was accepted under it. */
  | { readonly kind: "of another"; readonly of: number }
  /** The same, within the input. */
  | { readonly kind: "of another given"; readonly at: D }
  /** Another row of the input has the key, and says something else. */
  | { readonly kind: "differs"; readonly at: D }
  /** Of `given`, some may be those that are `left`, changed since, and some are new: nobody can tell which. */
  | { readonly kind: "unclear"; readonly left: readonly number[]; readonly given: readonly D[] };

export interface KeyMatchOptions<D> {
  /** What was accepted or is pending under the key, oldest first. */
  readonly known: readonly KnownKeyDeed[];
  /** What the service was asked for under the key, oldest first. */
  readonly tries: readonly KeyTry[];
  /** How deeds of the kind are told apart without a key. */
  readonly rule: IdentityRule;
  /** Whether just this was asked for otherwise: rejected under the key, or accepted without it or under another one. */
  readonly isApart: (deed: D) => boolean;
}

/**
 * @param rows each is one version of what the key names, in the order of the input. Of what happens once, each deed is one.
 * @returns a verdict for each deed that is open; those of the others mean nothing.
 */
export function matchKey<D extends GivenKeyDeed>(
  rows: readonly (readonly D[])[],
  options: KeyMatchOptions<D>,
): ReadonlyMap<D, KeyVerdict<D>> {
  const match = new KeyMatch(options);
  for (const row of rows) match.row(row);
  return match.end();
}

class KeyMatch<D extends GivenKeyDeed> {
  readonly #options: KeyMatchOptions<D>;
  /** Numbers of the known deeds of a ticket or event. */
  readonly #known: ReadonlyMap<string, readonly number[]>;
  readonly #verdicts = new Map<D, KeyVerdict<D>>();
  /** By ticket or event: deeds that are none of the known, each with what says it again in later rows. */
  readonly #fresh = new Map<string, D[][]>();
  /** The first deed that the rows give of each ticket or event. */
  readonly #firsts = new Map<string, D>();
  /** Claims that stand in their row once more, with the first. */
  readonly #copies: (readonly [D, D])[] = [];

  constructor(options: KeyMatchOptions<D>) {
    this.#options = options;
    this.#known = Map.groupBy(options.known.keys(), (number) => options.known[number]?.subject ?? "");
  }

  row(row: readonly D[]): void {
    const subjects = Map.groupBy(row, ({ subject }) => subject);
    for (const [subject, deeds] of subjects) {
      const given = this.#withoutCopies(deeds);
      const rest = this.#amongKnown(given, this.#known.get(subject) ?? []);
      if (rest.length > 0 && !this.#isOfAnother(subject, rest, subjects)) this.#amongFresh(subject, rest);
    }
    for (const [subject, [first]] of subjects)
      if (first !== undefined && !this.#firsts.has(subject)) this.#firsts.set(subject, first);
  }

  end(): ReadonlyMap<D, KeyVerdict<D>> {
    for (const same of [...this.#fresh.values()].flat()) {
      // Where all is sent by time, the later row may come first.
      const [first, ...others] = same.toSorted((one, other) => one.seq - other.seq);
      if (first === undefined) continue;
      this.#verdicts.set(first, { kind: "new" });
      for (const deed of others) this.#verdicts.set(deed, { kind: "repeated", first });
    }
    for (const [copy, first] of this.#copies) {
      const verdict = this.#verdicts.get(first);
      if (verdict !== undefined)
        this.#verdicts.set(copy, verdict.kind === "new" ? { kind: "repeated", first } : verdict);
    }
    return this.#verdicts;
  }

  /** Two claims of one row whose recipients agree are one. */
  #withoutCopies(given: readonly D[]): readonly D[] {
    if (this.#options.rule !== "recipient") return given;
    const firsts: D[] = [];
    for (const deed of given) {
      const first = firsts.find((each) => each.isOpen === deed.isOpen && recipientsAgree(each.data(), deed.data()));
      if (first === undefined) firsts.push(deed);
      else if (deed.isOpen) this.#copies.push([deed, first]);
    }
    return firsts;
  }

  /** @returns those that are none of what is known of their ticket or event. */
  #amongKnown(given: readonly D[], numbers: readonly number[]): readonly D[] {
    const { known, rule, isApart } = this.#options;
    const rejected = this.#inPlaceOfRejected(given, numbers);
    const bound = bind(
      numbers.flatMap((number) => known[number] ?? []),
      given.filter((deed) => !rejected.has(deed)),
      rule,
    );
    for (const [deed, at] of bound.pairs) this.#verdicts.set(deed, { kind: "known", of: numbers[at] ?? 0 });
    const left = bound.left.flatMap((at) => numbers[at] ?? []);
    if (left.length === 0) return [...rejected, ...bound.rest];
    // Of one deed, where one is under its key, the key says which it is, unless the service was asked for both.
    const isOne = given.length === 1 && numbers.length === 1;
    const fresh = new Set(bound.rest.filter(isOne ? (deed) => this.#wasAskedBeside(deed, left) : isApart));
    const others = bound.rest.filter((deed) => !fresh.has(deed));
    const isPending = left.some((number) => known[number]?.isPending === true);
    for (const [at, deed] of others.entries()) {
      if (isPending) this.#verdicts.set(deed, { kind: "pending" });
      else if (others.length > left.length) this.#verdicts.set(deed, { kind: "unclear", left, given: others });
      else this.#verdicts.set(deed, { kind: "known", of: left[left.length - others.length + at] ?? 0 });
    }
    return [...fresh];
  }

  /**
   * Those of a list that stand where one stood that was rejected, though others that say the same were accepted: as in A, B, A,
   * of which the first was. Only where the row has all that was tried, in order, wherever it grew.
   */
  #inPlaceOfRejected(given: readonly D[], numbers: readonly number[]): ReadonlySet<D> {
    const { known, tries, rule } = this.#options;
    const [first] = given;
    const tried = tries.filter(({ subject }) => subject === first?.subject);
    const isAsked = rule === "history" && given.every(({ isOpen }) => isOpen) && tried.some(({ isTaken }) => !isTaken);
    if (!isAsked || numbers.some((number) => known[number]?.isPending === true)) return new Set();
    const contents = given.map(({ content }) => content);
    const found = findTries(tried, (some) => placesOf(some, contents)) ?? [];
    return new Set(found.flatMap(({ at, taken }) => (taken === undefined ? (given[at] ?? []) : [])));
  }

  /** Whether the deed was asked for, and rejected, when or after one of the accepted ones was taken. */
  #wasAskedBeside({ content }: D, numbers: readonly number[]): boolean {
    const { tries } = this.#options;
    return tries.some(
      (each) =>
        !each.isTaken &&
        each.content === content &&
        tries.some(({ of, run }) => of !== undefined && numbers.includes(of) && run <= each.run),
    );
  }

  /** Whether the key is that of a ticket or event which the row does not give at all, and not that of this one. */
  #isOfAnother(subject: string, given: readonly D[], subjects: ReadonlyMap<string, unknown>): boolean {
    if (this.#known.has(subject)) return false;
    const { known } = this.#options;
    const isStranger = (each: KeyDeed): boolean => !subjects.has(each.subject);
    const of = known.findIndex((deed) => !deed.isPending && isStranger(deed));
    const at = this.#firsts.has(subject) ? undefined : firstWhere(this.#firsts.values(), isStranger);
    let verdict: KeyVerdict<D>;
    if (of !== -1) verdict = { kind: "of another", of };
    else if (known.some(isStranger)) verdict = { kind: "pending" };
    else if (at !== undefined) verdict = { kind: "of another given", at };
    else return false;
    for (const deed of given) this.#verdicts.set(deed, verdict);
    return true;
  }

  /** Binds to what earlier rows gave. */
  #amongFresh(subject: string, given: readonly D[]): void {
    const earlier = this.#fresh.get(subject) ?? [];
    const bound = bind(
      earlier.flatMap(([first]) => first ?? []),
      given,
      this.#options.rule,
    );
    for (const [deed, at] of bound.pairs) this.#repeats(deed, earlier[at]);
    if (bound.left.length === 0)
      this.#fresh.set(subject, [...earlier, ...bound.rest.flatMap((deed) => (deed.isOpen ? [[deed]] : []))]);
    else if (this.#options.rule !== "history" && bound.rest.length <= bound.left.length)
      for (const [at, deed] of bound.rest.entries()) this.#repeats(deed, earlier[bound.left[at] ?? 0]);
    else for (const deed of bound.rest) this.#differs(deed, earlier[bound.left[0] ?? 0]);
  }

  #repeats(deed: D, same: D[] | undefined): void {
    if (!deed.isOpen || same === undefined) return;
    const saysTheSame = this.#options.rule !== "history" || deed.content === same[0]?.content;
    if (saysTheSame) same.push(deed);
    else this.#differs(deed, same);
  }

  #differs(deed: D, [at]: readonly D[] = []): void {
    if (at !== undefined) this.#verdicts.set(deed, { kind: "differs", at });
  }
}

function firstWhere<T>(items: Iterable<T>, holds: (item: T) => boolean): T | undefined {
  for (const item of items) if (holds(item)) return item;
  return undefined;
}

/** Where each of `some` stands among `all`, in order, as early as it can; undefined where they don't all stand there. */
function placesOf(some: readonly string[], all: readonly string[]): readonly number[] | undefined {
  const places: number[] = [];
  for (const each of some) {
    const at = all.indexOf(each, (places.at(-1) ?? -1) + 1);
    if (at === -1) return undefined;
    places.push(at);
  }
  return places;
}

interface Bound<D> {
  /** Those of the input that are one of the others, with its number. */
  readonly pairs: readonly (readonly [D, number])[];
  /** Numbers of the others that are none of the input's. */
  readonly left: readonly number[];
  /** Those of the input that are none of the others; where any is left, they are open. */
  readonly rest: readonly D[];
}

/** Binds what says the same, the k-th equal one to the k-th; then what surely is the same deed though it says something else. */
function bind<D extends GivenKeyDeed>(known: readonly KeyDeed[], given: readonly D[], rule: IdentityRule): Bound<D> {
  const pairs: (readonly [D, number])[] = [];
  const left = new Set(known.keys());
  // What is done with has its accepted one for sure.
  let rest: readonly D[] = [...given.filter(({ isOpen }) => !isOpen), ...given.filter(({ isOpen }) => isOpen)];
  const bindWhere = (fits: (of: KeyDeed, deed: D) => boolean): void => {
    rest = rest.filter((deed) => {
      for (const at of left) {
        const of = known[at];
        if (of === undefined || !fits(of, deed)) continue;
        pairs.push([deed, at]);
        left.delete(at);
        return false;
      }
      return true;
    });
  };
  bindWhere((of, deed) => of.content === deed.content);
  if (rule === "history") bindWhere(haveSameTime);
  if (rule === "recipient") bindWhere((of, deed) => recipientsAgree(of.data(), deed.data()));
  bindWhere((_of, deed) => !deed.isOpen);
  return { pairs, left: [...left], rest };
}

function haveSameTime(one: KeyDeed, other: KeyDeed): boolean {
  const { time } = one.said();
  return time !== undefined && time === other.said().time;
}
