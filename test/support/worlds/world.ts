/**
 * Random seasons of tickets: what happens to them at the source, night by night, and the exports that say so. Rows are bad
 * tonight, corrected in rejects, inserted late; contents come back; times are corrected at the source.
 */

import type { ActionName } from "../../../src/actions/actions.ts";
import { OVERWRITES, type Row } from "./rules.ts";

export type Random = () => number;

export interface Habits {
  readonly kind: ActionName;
  readonly isTimed: boolean;
  /** Contents come back. */
  readonly repeats: boolean;
  /** Its source has a key. */
  readonly isKeyed?: boolean;
  /** Updates, resales and scans of a ticket stand in one file. */
  readonly isMixed?: boolean;
}

/** The seven kinds of histories of the design's reference, and four more. */
export const HISTORIES: readonly Habits[] = [
  { kind: "updateTicket", isTimed: false, repeats: false },
  { kind: "updateTicket", isTimed: false, repeats: true },
  { kind: "resoldTicket", isTimed: true, repeats: false },
  { kind: "resoldTicket", isTimed: true, repeats: true },
  { kind: "resoldTicket", isTimed: false, repeats: true },
  { kind: "scannedTicket", isTimed: true, repeats: true },
  { kind: "scannedTicket", isTimed: false, repeats: true },
  { kind: "claimedTicket", isTimed: false, repeats: true },
  { kind: "updateTicket", isTimed: false, repeats: true, isKeyed: true },
  { kind: "resoldTicket", isTimed: true, repeats: true, isKeyed: true },
  { kind: "resoldTicket", isTimed: true, repeats: true, isMixed: true },
];

const MIXED: readonly ActionName[] = ["updateTicket", "resoldTicket", "scannedTicket"];

/** What a night's export shows: all that ever happened, what did within some nights, or what is new. */
export const FORMS = ["full", "window", "delta"] as const;
type Form = (typeof FORMS)[number];

export interface World extends Habits {
  readonly form: Form;
  readonly tickets: number;
  /** Whether times of some tickets are corrected at the source. */
  readonly correctsTimes: boolean;
}

export const inWords = ({ kind, isTimed, repeats, isKeyed, isMixed, form, correctsTimes }: World): string =>
  [
    isMixed ? MIXED.join(" and ") : kind,
    ...(isKeyed ? ["with keys"] : []),
    ...(isTimed ? [correctsTimes ? "times corrected" : "with times"] : ["without times"]),
    ...(kind === "scannedTicket" ? [] : [repeats ? "contents come back" : "all different"]),
    `${form} exports`,
  ].join(", ");

export interface Night {
  readonly rows: readonly Row[];
  /** The last one is honest: no row is bad, and the service takes all. */
  readonly is: "export" | "corrected" | "last";
}

/** What came of a night. */
export interface Outcome {
  /** Ids of the rows that the service took, in its order. */
  readonly accepted: readonly number[];
  /** What was said of rows that were not accepted. */
  readonly reported: ReadonlyMap<number, string>;
  /** Rows that a person may correct, and where they stood. */
  readonly rejects: readonly Reject[];
}

export interface Reject {
  readonly row: Row;
  /** Where it was first read. */
  readonly position: Row["position"];
  readonly isUnclear: boolean;
}

/** How many tickets went wrong, and in which way. */
export const WRONGS = ["doubled", "outOfOrder", "lostSilently", "wrongStateSilently"] as const;
export type Wrong = (typeof WRONGS)[number];
export type Problems = Readonly<Record<Wrong, number>> & { readonly accepted: number; readonly happened: number };

interface Happened {
  readonly id: number;
  readonly kind: ActionName;
  readonly content: string;
  time: number;
}

/** Every history begins after this moment; a step of time is an hour and a bit, so that it can be halved again and again. */
const FIRST_TIME = 1_700_000_000;
const STEP_SECONDS = 4096;
const timeOf = (step: number): number => FIRST_TIME + step * STEP_SECONDS;

/** A night begins at the same time for all tickets, and what happens in it fits into it. */
const stepOf = (night: number): number => 1000 + night * 150;

/** Another ticket, whose two rows span all times of a full export. */
const othersOf = ({ kind }: Habits): readonly Happened[] =>
  [1, 4000].map((step) => ({ id: -step, kind, content: "Z", time: timeOf(step) }));
export const OTHER_TICKET = "B";
export const ticketOf = (number: number): string => `T${number}`;

const midway = (from: number, to: number): number => Math.round((from + to) / 2);

/** Plays a world with whoever carries out its nights. */
export function* playWorld(world: World, random: Random): Generator<Night, Problems, Outcome> {
  const { form, isTimed } = world;
  const histories = Array.from({ length: world.tickets }, (_, at) => new History(world, ticketOf(at), at, random));
  const others = isTimed && form === "full" ? othersOf(world).map((each) => rowOf(world, OTHER_TICKET, each)) : [];
  const open = new Map<number, Reject>();
  const take = ({ accepted, reported, rejects }: Outcome): void => {
    for (const reject of rejects) if (reject.row.id > 0) open.set(reject.row.id, reject);
    for (const history of histories) history.take(accepted, reported);
  };

  const nights = 3 + Math.floor(random() * 6);
  for (let night = 0; night < nights; night += 1) {
    const shown = histories.flatMap((history) => history.night(night));
    if (shown.length === 0) continue;
    take(yield { rows: [...shown, ...others], is: "export" });
    if (random() >= 0.6) continue;
    // All or some of the rejects of this and earlier nights, corrected or left as they are, in the order in which they were first read.
    const some = [...open.values()].filter(() => random() < 0.8);
    for (const { row } of some) open.delete(row.id);
    const corrected = some
      .toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0))
      .flatMap((reject) => histories.flatMap((history) => history.corrected(reject)));
    if (corrected.length > 0) take(yield { rows: corrected, is: "corrected" });
  }
  const all = histories.flatMap((history) => history.all());
  take(yield { rows: [...all, ...others], is: "last" });

  const sum = (figureOf: (history: History) => number): number =>
    histories.reduce((total, history) => total + figureOf(history), 0);
  return {
    accepted: sum((history) => history.accepted.length),
    happened: sum((history) => history.all().length),
    doubled: sum((history) => Number(history.isDoubled())),
    outOfOrder: sum((history) => Number(history.isOutOfOrder())),
    lostSilently: sum((history) => Number(history.isLost())),
    wrongStateSilently: sum((history) => Number(history.isWrongAtLast())),
  };
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));
}

function rowOf(habits: Habits, subject: string, happened: Happened, isBad = false): Row {
  const { id, kind, content, time } = happened;
  const said = {
    content,
    recipient: content,
    ...(isTimed(habits, kind) && { time }),
    ...(habits.isKeyed && { key: String(id) }),
  };
  const row = { id, kind, subject, isValid: !isBad, ...said };
  return isBad ? { ...row, digest: `bad ${id}` } : row;
}

/** An updateTicket has no time. */
const isTimed = (habits: Habits, kind: ActionName): boolean => habits.isTimed && kind !== "updateTicket";

/** Of one ticket. */
class History {
  /** Ids, in the order of the service. */
  readonly accepted: number[] = [];
  readonly #reported = new Map<number, string>();
  readonly #happened: Happened[] = [];
  readonly #world: World;
  readonly #ticket: string;
  readonly #random: Random;
  /** Ids of different tickets are different. */
  readonly #firstId: number;
  readonly #isRetold: boolean;
  #step = 0;
  #ids = 0;
  /** How many of them deltas have shown. */
  #seen = 0;

  constructor(world: World, ticket: string, number: number, random: Random) {
    this.#world = world;
    this.#ticket = ticket;
    this.#random = random;
    this.#firstId = number * 1000 + 1;
    this.#isRetold = world.correctsTimes && random() < 0.3;
  }

  /** What happens until the next export, and the rows of that. */
  night(night: number): readonly Row[] {
    this.#step = Math.max(this.#step, stepOf(night));
    for (let news = this.#below(3); news > 0; news -= 1) this.#happen(this.#happened.length);
    if (this.#happened.length > 0 && this.#random() < 0.1) this.#happen(this.#below(this.#happened.length));
    const shown = this.#shown(night);
    this.#seen = this.#happened.length;
    if (this.#happened.length > 0 && this.#isRetold && this.#world.form !== "delta" && this.#random() < 0.15)
      this.#correctTime();
    return shown.map((each) => rowOf(this.#world, this.#ticket, each, this.#random() < 0.06));
  }

  all(): readonly Row[] {
    return this.#happened.map((each) => rowOf(this.#world, this.#ticket, each));
  }

  /** A row of the rejects as it should be, or as it was where nothing is wrong with it; none of another ticket. */
  corrected({ row, position, isUnclear }: Reject): readonly Row[] {
    const happened = this.#happened.find(({ id }) => id === row.id);
    if (happened === undefined) return [];
    if (isUnclear) return [{ ...row, position, isLeft: true }];
    return [{ ...rowOf(this.#world, this.#ticket, happened), position, digest: row.digest }];
  }

  take(accepted: readonly number[], reported: ReadonlyMap<number, string>): void {
    const isOwn = (id: number): boolean => id >= this.#firstId && id < this.#firstId + 1000;
    for (const [id, verdict] of reported) if (isOwn(id)) this.#reported.set(id, verdict);
    for (const id of accepted.filter(isOwn)) {
      this.accepted.push(id);
      this.#reported.delete(id);
    }
  }

  isDoubled(): boolean {
    const happened = countBy(this.#happened.map(this.#name));
    return [...countBy(this.#acceptedNames())].some(([name, count]) => count > (happened.get(name) ?? 0));
  }

  /** What the service has is no part of what happened, in its order. */
  isOutOfOrder(): boolean {
    return (
      !this.isDoubled() &&
      this.#overwriting().some((kind) => {
        const names = this.#acceptedOf(kind).map(this.#name);
        let next = 0;
        for (const happened of this.#happened) if (this.#name(happened) === names[next]) next += 1;
        return next < names.length;
      })
    );
  }

  isLost(): boolean {
    const reported = this.#happened.filter(({ id }) => this.#reported.has(id)).map(this.#name);
    const accountedFor = countBy([...this.#acceptedNames(), ...reported]);
    return [...countBy(this.#happened.map(this.#name))].some(([name, count]) => count > (accountedFor.get(name) ?? 0));
  }

  /** The service shows another state than the source. */
  isWrongAtLast(): boolean {
    return this.#overwriting().some((kind) => {
      const accepted = this.#acceptedOf(kind).at(-1);
      const last = this.#happened.findLast((each) => each.kind === kind);
      return (
        accepted !== undefined &&
        last !== undefined &&
        accepted.content !== last.content &&
        !this.#reported.has(last.id)
      );
    });
  }

  #overwriting(): readonly ActionName[] {
    return [...new Set(this.#happened.map(({ kind }) => kind))].filter((kind) => OVERWRITES.has(kind));
  }

  #acceptedOf(kind: ActionName): readonly Happened[] {
    return this.accepted.flatMap((id) => this.#happened.filter((each) => each.id === id && each.kind === kind));
  }

  /** By which an onlooker tells what happened apart: without a time nothing but the content is to be seen. */
  readonly #name = ({ id, kind, content }: Happened): string =>
    isTimed(this.#world, kind) || this.#world.isKeyed ? String(id) : `${kind} ${content}`;

  #acceptedNames(): readonly string[] {
    return this.accepted.flatMap((id) => this.#happened.filter((each) => each.id === id).map(this.#name));
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #happen(at: number): void {
    this.#step += 1 + this.#below(49);
    const [before, next] = [this.#happened[at - 1], this.#happened[at]];
    const id = this.#firstId + this.#ids;
    this.#ids += 1;
    const time = next === undefined ? timeOf(this.#step) : midway(before?.time ?? next.time - STEP_SECONDS, next.time);
    const kind = (this.#world.isMixed ? MIXED[this.#below(MIXED.length)] : undefined) ?? this.#world.kind;
    this.#happened.splice(at, 0, { id, kind, content: this.#content(id, kind), time });
  }

  #content(id: number, kind: ActionName): string {
    if (kind === "scannedTicket") return ""; // it has none beside its time
    if (!this.#world.repeats) return String(id);
    const last = this.#happened.findLast((each) => each.kind === kind)?.content;
    const others = ["A", "B", "C"].filter((content) => content !== last);
    return others[this.#below(others.length)] ?? "";
  }

  #shown(night: number): readonly Happened[] {
    switch (this.#world.form) {
      case "full":
        return this.#happened;
      case "window":
        return this.#happened.filter(({ time }) => time >= timeOf(stepOf(night - 2)));
      case "delta":
        return this.#happened.slice(this.#seen);
    }
  }

  /** One time moves, but not past its neighbours. */
  #correctTime(): void {
    const at = this.#below(this.#happened.length);
    const one = this.#happened[at];
    if (one === undefined) return;
    const margin = 9 * STEP_SECONDS;
    const neighbour =
      this.#random() < 0.5
        ? (this.#happened[at - 1]?.time ?? one.time - margin)
        : (this.#happened[at + 1]?.time ?? one.time + margin);
    one.time = midway(neighbour, one.time);
  }
}
