import { describe, expect, it } from "vitest";
import { draftOf } from "../../../src/actions/draft.ts";
import { markOf } from "../../../src/actions/identity.ts";
import type { KnownAction, Position } from "../../../src/ledger/ledger.ts";
import { type Item, judge, type Span, THIS_RUN, type Verdict } from "../../../src/plan/verdicts.ts";
import { randomOf } from "../../support/random.ts";
import { type Onlooker, playByRules } from "../../support/worlds/by-rules.ts";
import { type Judged, positionOf, type Row } from "../../support/worlds/rules.ts";
import { FORMS, HISTORIES, inWords } from "../../support/worlds/world.ts";

/** Worlds of each kind; `VERDICT_WORLDS` for a long hunt. */
const WORLDS = Number(process.env.VERDICT_WORLDS ?? 60);

/** A ledger of one world, as far as verdicts ask it, and what they say: it must be what the rules say. */
class Memory implements Onlooker {
  readonly #known: KnownAction[] = [];
  readonly #corrected = new Map<string, string>();
  #rows: readonly Row[] = [];
  #run = 0;

  judged(byRules: readonly Judged[], isShownAgain: boolean): void {
    this.#run += 1;
    this.#rows = byRules.map(({ row }) => row);
    const items = this.#rows.map((row, place) => this.#itemOf(row, place));
    const spans = new Map<string, Span>();
    for (const { kind, time } of items) {
      if (time === undefined) continue;
      const { first, last } = spans.get(kind) ?? { first: time, last: time };
      spans.set(kind, { first: Math.min(first, time), last: Math.max(last, time) });
    }
    for (const [subject, ofSubject] of Map.groupBy(items, ({ row }) => this.#rows[row]?.subject)) {
      const known = this.#known.filter((action) => action.subject === `t:${subject}`);
      judge(ofSubject, known, {
        spanOf: (kind) => spans.get(kind),
        shows: () => isShownAgain,
        mode: "judge",
        isCut: false,
      });
    }
    const reported = items.map(({ verdict, position }, at) => this.#reported(at, verdict, position));
    expect(reported).toEqual(
      byRules.map(({ verdict, position }, at) => this.#reported(at, PRODUCT[verdict], positionIn(position))),
    );
    for (const { mark, verdict, why, row } of items)
      if (verdict === "sent" && mark !== undefined && why !== "copy") this.#correct(row, mark);
  }

  accepted(ids: readonly number[]): void {
    for (const [place, row] of this.#rows.entries()) if (ids.includes(row.id)) this.#accept(row, place);
  }

  #reported(at: number, verdict: Verdict | "bad", { run, seq }: Position): string {
    const place = verdict === "sent" ? "" : `${run === THIS_RUN ? this.#run : run}:${seq}`; // that of a known one is nobody's
    return JSON.stringify([this.#rows[at], verdict, place]);
  }

  #correct(place: number, mark: string): void {
    const { isValid, digest } = this.#rows[place] ?? {};
    if (isValid === true && digest !== undefined) this.#corrected.set(digest, mark);
  }

  #accept(row: Row, place: number): void {
    const mark = markOfRow(row);
    this.#correct(place, mark);
    this.#known.push({
      ...{ subject: `t:${row.subject}`, kind: row.kind, mark, content: contentOfRow(row), time: row.time },
      ...{ event: undefined, owner: undefined, position: { run: this.#run, seq: place }, run: this.#run },
      ...{ runId: `${this.#run}`, chunk: 1, place, state: "sent" },
    });
  }

  #itemOf(row: Row, place: number): Item {
    const mark = row.isValid ? markOfRow(row) : this.#corrected.get(row.digest ?? "");
    return itemOf({
      ...{ seq: place, row: place, kind: row.kind, content: contentOfRow(row), mark },
      time: row.isValid ? row.time : undefined,
      verdict: row.isValid ? "new" : mark === undefined ? "bad" : "sent",
      isCorrected: !row.isValid && mark !== undefined,
      isFromRejects: row.position !== undefined,
      isLeft: row.isLeft === true,
      position: row.position === undefined ? { run: THIS_RUN, seq: place } : positionIn(row.position),
    });
  }
}

/** Of the number that the worlds have for it. */
const positionIn = (position: number): Position => ({
  run: Math.floor(position / positionOf(1, 0)),
  seq: position % positionOf(1, 0),
});

function itemOf(given: Partial<Item>): Item {
  return {
    ...{ seq: 1, row: 1, input: 0, kind: "updateTicket", mark: "", content: "", time: undefined, verdict: "new" },
    ...{ isCorrected: false, isFromRejects: false, isLeft: false, position: { run: THIS_RUN, seq: given.seq ?? 1 } },
    ...{ why: undefined, other: undefined, heldBy: undefined, reason: undefined },
    ...{ place: given.seq ?? 1, subject: "t:T", event: undefined, owner: undefined, decimals: undefined },
    ...given,
  };
}

/** The mark that the row's action has. */
function markOfRow({ kind, content, time, key }: Row): string {
  const recipient = kind === "claimedTicket" && { userId: content };
  const data = { ticketId: "T", ...recipient, ...(time !== undefined && { orderTime: time }) };
  return markOf(Object.assign(draftOf(kind, data), { key }), content);
}

const contentOfRow = ({ content, time }: Row): string => `${content} ${time}`;

const PRODUCT: Readonly<Record<Judged["verdict"], Verdict | "bad">> = {
  ...{ new: "new", known: "sent", changed: "changed", late: "late", unclear: "unclear", held: "held", bad: "bad" },
};

describe("the worlds of the design's reference", () => {
  const worlds = HISTORIES.flatMap((habits) =>
    FORMS.flatMap((form) => [false, true].map((correctsTimes) => ({ ...habits, form, correctsTimes, tickets: 10 }))),
  ).filter(({ isTimed, correctsTimes }) => isTimed || !correctsTimes);
  it.each(worlds.map((world) => [inWords(world), world] as const))("are judged as by the rules: %s", (_name, world) => {
    let accepted = 0;
    for (let seed = 0; seed < WORLDS; seed += 1) accepted += playByRules(world, randomOf(seed), new Memory()).accepted;
    expect(accepted).toBeGreaterThan(WORLDS);
  });
});
