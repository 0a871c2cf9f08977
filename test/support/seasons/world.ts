/** Random seasons of one ticket: exports night by night, with rows rejected, bad tonight, corrected in rejects, inserted late, times corrected at the source. */

import { OVERWRITES, type RefItem, RefLedger, type RefPosition, type RefRow, refJudge } from "./rules.ts";

export interface WorldKind {
  readonly kind: "updateTicket" | "resoldTicket" | "scannedTicket";
  readonly isTimed: boolean;
  /** Contents come back. */
  readonly repeats: boolean;
  readonly form: "full" | "window" | "delta";
  /** Times are corrected at the source in some seasons. */
  readonly retells: boolean;
  /** Its actions have no content, as scans. */
  readonly saysNothing?: boolean;
}

export const HISTORIES: readonly Pick<WorldKind, "kind" | "isTimed" | "repeats">[] = [
  { kind: "updateTicket", isTimed: false, repeats: false },
  { kind: "updateTicket", isTimed: false, repeats: true },
  { kind: "resoldTicket", isTimed: true, repeats: false },
  { kind: "resoldTicket", isTimed: true, repeats: true },
  { kind: "resoldTicket", isTimed: false, repeats: true },
  { kind: "scannedTicket", isTimed: true, repeats: true },
  { kind: "scannedTicket", isTimed: false, repeats: true },
];
export const FORMS = ["full", "window", "delta"] as const;

/** Numbers from 0 up to 1. */
export type Random = () => number;

/** Tells what became of the rows of one night, in their order. What is not new is not sent. */
export type Judge = (rows: readonly RefRow[], shows: boolean) => Promise<readonly Judged[]> | readonly Judged[];

/** Without a position, where that can't be seen. */
export type Judged = Pick<RefItem, "row" | "verdict"> & { readonly position: RefPosition | undefined };
/** What the service made of the new ones. */
export type OnNight = (items: readonly RefItem[], accepted: ReadonlySet<RefItem>) => Promise<void> | void;

export interface Season {
  readonly isDoubled: boolean;
  readonly isOutOfOrder: boolean;
  readonly isWrongUntold: boolean;
}

interface Happened {
  readonly g: number;
  readonly content: string;
  time: number;
}

/** @param judge by the reference alone, unless another one is given, which must say the same. */
export async function playSeason(random: Random, world: WorldKind, judge?: Judge, onNight?: OnNight): Promise<Season> {
  return await new Playing(random, world, judge, onNight).play();
}

class Playing {
  readonly #ledger = new RefLedger();
  readonly #history: Happened[] = [];
  readonly #accepted: number[] = [];
  readonly #told = new Set<number>();
  readonly #random: Random;
  readonly #world: WorldKind;
  readonly #judge: Judge | undefined;
  readonly #onNight: OnNight | undefined;
  #g = 0;
  #time = 1000;

  constructor(random: Random, world: WorldKind, judge: Judge | undefined, onNight: OnNight | undefined) {
    this.#random = random;
    this.#world = world;
    this.#judge = judge;
    this.#onNight = onNight;
  }

  async play(): Promise<Season> {
    const { form, isTimed, kind, retells } = this.#world;
    const isRetold = retells && this.#random() < 0.3;
    let seen = 0;
    for (let nights = this.#range(3, 9); nights > 0; nights -= 1) {
      for (let more = this.#range(0, 3); more > 0; more -= 1) this.#happen();
      if (this.#history.length > 0 && this.#random() < 0.1) this.#happen(this.#range(0, this.#history.length));
      if (this.#history.length === 0) continue;
      const from = form === "full" ? 0 : form === "window" ? Math.max(0, this.#history.length - 4) : seen;
      const exported = this.#history.slice(from);
      seen = this.#history.length;
      if (isTimed && isRetold && form !== "delta" && this.#random() < 0.15) this.#correctTime();
      const rows = exported.map((each) => {
        const isBad = this.#random() < 0.06;
        return this.#row(each, { ok: !isBad, digest: isBad ? `d${each.g}` : undefined });
      });
      if (isTimed && form === "full") rows.push(...this.#others());
      if (rows.length > 0) await this.#night(rows);
    }
    if (this.#history.length === 0) return { isDoubled: false, isOutOfOrder: false, isWrongUntold: false };
    const all = this.#history.map((each) => this.#row(each, {}));
    await this.#judged(isTimed && form === "full" ? [...all, ...this.#others()] : all, 0);
    const order = this.#history.map(({ g }) => g);
    const places = this.#accepted.map((g) => order.indexOf(g));
    const last = this.#history.at(-1);
    const lastContent = this.#history.find(({ g }) => g === this.#accepted.at(-1))?.content;
    return {
      isDoubled: new Set(this.#accepted).size !== this.#accepted.length,
      isOutOfOrder: OVERWRITES.has(kind) && places.some((place, at) => at > 0 && place < (places[at - 1] ?? 0)),
      isWrongUntold:
        OVERWRITES.has(kind) &&
        lastContent !== undefined &&
        last !== undefined &&
        lastContent !== last.content &&
        !this.#told.has(last.g),
    };
  }

  async #night(rows: readonly RefRow[]): Promise<void> {
    const rejected = (await this.#judged(rows, 0.06)).filter(({ row }) => row.g > 0);
    if (rejected.length === 0 || this.#random() >= 0.6) return;
    // All or some of the rejects, corrected, in their order.
    const taken = rejected.filter(() => this.#random() < 0.8);
    const byG = new Map(this.#history.map((each) => [each.g, each]));
    const corrected = taken.flatMap(({ row: { g, digest }, position }) => {
      const each = byG.get(g);
      return each === undefined ? [] : [this.#row(each, { position, digest })];
    });
    await this.#judged(corrected, 0.03);
  }

  /** One run; gives what is in its rejects: what was bad or not accepted. */
  async #judged(rows: readonly RefRow[], reject: number): Promise<readonly RefItem[]> {
    this.#ledger.run += 1;
    const shows = this.#world.form !== "delta";
    const items = refJudge(rows, this.#ledger, shows);
    const others = await this.#judge?.(rows, shows);
    if (others !== undefined) compare(items, others);
    const rejected: RefItem[] = [];
    const accepted = new Set<RefItem>();
    for (const [at, item] of items.entries()) {
      const { row, mark, verdict } = item;
      if (verdict === "new" && mark !== undefined) {
        if (this.#random() < reject) {
          rejected.push(item);
          this.#told.add(row.g);
        } else {
          this.#ledger.accept(row, mark, [this.#ledger.run, at]);
          accepted.add(item);
          this.#told.delete(row.g);
          if (row.g > 0) this.#accepted.push(row.g);
        }
      } else if (verdict !== "known") {
        this.#told.add(row.g);
        if (verdict === "bad") rejected.push(item);
      }
    }
    await this.#onNight?.(items, accepted);
    return rejected;
  }

  #happen(at?: number): void {
    this.#g += 1;
    this.#time += this.#range(1, 50);
    const last = this.#history.at(-1)?.content;
    const choices = ["A", "B", "C"].filter((each) => each !== last);
    const said = this.#world.repeats ? (choices[this.#range(0, choices.length)] ?? "A") : `${this.#g}`;
    const content = this.#world.saysNothing === true ? "" : said;
    const happened: Happened = { g: this.#g, content, time: this.#time };
    if (at === undefined) this.#history.push(happened);
    else {
      happened.time = ((this.#history[at]?.time ?? 0) * 2 - 1) / 2;
      this.#history.splice(at, 0, happened);
    }
  }

  #correctTime(): void {
    const at = this.#range(0, this.#history.length);
    const one = this.#history[at];
    if (one === undefined) return;
    const before = this.#history[at - 1]?.time ?? one.time - 9;
    const after = this.#history[at + 1]?.time ?? one.time + 9;
    one.time = ((this.#random() < 0.5 ? before : after) + one.time) / 2;
  }

  #row({ g, content, time }: Happened, more: Partial<RefRow>): RefRow {
    const { kind, isTimed } = this.#world;
    const sound = { ok: true, position: undefined, digest: undefined, key: undefined };
    return { ...sound, kind, subject: "T", content, time: isTimed ? time : undefined, g, ...more };
  }

  /** Another ticket, so that the file spans all times. */
  #others(): readonly RefRow[] {
    return [1, 1_000_000].map((time) => ({ ...this.#row({ g: -time, content: "z", time }, {}), subject: "B" }));
  }

  #range(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from));
  }
}

/** Verdict by verdict, and the positions that rejects carry. */
function compare(expected: readonly RefItem[], actual: readonly Judged[]): void {
  const told = (items: readonly Judged[]): string =>
    items
      .map(({ row: { g, content, time, ok, position: from }, verdict, position }, at) => {
        const isCompared = verdict !== "known" && actual[at]?.position !== undefined;
        return JSON.stringify([g, content, time, ok, from, verdict, isCompared ? position : null]);
      })
      .join("\n");
  const [one, other] = [told(expected), told(actual)];
  if (one !== other) throw new Error(`the verdicts differ from the reference's:\n${one}\n--- instead of\n${other}`);
}
