import { describe, expect, it } from "vitest";
import type { ActionName } from "../../../src/actions/actions.ts";
import { baseOf, kindOfMark, markOf, resentMark, timesOf } from "../../../src/actions/marks.ts";
import type { KnownAction } from "../../../src/ledger/ledger.ts";
import { type Item, judge, THIS_RUN, type Verdict } from "../../../src/plan/verdicts.ts";
import { randomOf } from "../../support/random.ts";
import type { RefItem, RefRow, RefVerdict } from "../../support/seasons/rules.ts";
import { FORMS, HISTORIES, type Judge, type OnNight, playSeason } from "../../support/seasons/world.ts";

/** Seasons of each of the 21 kinds of world; `VERDICT_SEASONS` for a long hunt. */
const SEASONS = Number(process.env.VERDICT_SEASONS ?? 1000);

/** A ledger of one season, as far as verdicts ask it. */
class Memory {
  readonly #actions: KnownAction[] = [];
  readonly #corrected = new Map<string, string>();
  #run = 0;

  get accepted(): number {
    return this.#actions.length;
  }

  /** The product's verdicts on a night's rows. */
  readonly judge: Judge = (rows, shows) => {
    this.#run += 1;
    const items = rows.map((row, at) => this.#itemOf(row, at));
    const spans = new Map<string, { first: number; last: number }>();
    for (const { kind, time } of items.filter((_, at) => rows[at]?.ok)) {
      if (time === undefined) continue;
      const { first, last } = spans.get(kind) ?? { first: time, last: time };
      spans.set(kind, { first: Math.min(first, time), last: Math.max(last, time) });
    }
    for (const subject of new Set(rows.map((row) => row.subject))) {
      const known = this.#actions.filter((action) => action.subject === `t:${subject}`);
      const ofSubject = items.filter((_, at) => rows[at]?.subject === subject);
      judge(ofSubject, known, { spanOf: (kind) => spans.get(kind), shows: () => shows, mode: "judge" });
    }
    return items.map((item, at) => toReference(item, rows[at] as RefRow, at, this.#run));
  };

  readonly accept: OnNight = (items, accepted) => {
    for (const [at, item] of items.entries()) if (accepted.has(item)) this.#accept(item.row, at);
  };

  #accept(row: RefRow, at: number): void {
    const kind = row.kind as ActionName;
    const mark = markOfRow(row);
    if (row.digest !== undefined) this.#corrected.set(row.digest, mark);
    this.#actions.push({
      ...{ subject: `t:${row.subject}`, kind, mark, content: row.content, time: row.time },
      ...{ event: undefined, owner: undefined, position: { run: this.#run, seq: at + 1 }, run: this.#run },
      ...{ runId: `${this.#run}`, chunk: 1, place: at, state: "sent" },
    });
  }

  #itemOf(row: RefRow, at: number): Item {
    const mark = row.ok ? markOfRow(row) : this.#corrected.get(row.digest ?? "");
    return itemOf({
      ...{ seq: at + 1, row: at + 1, kind: row.kind as ActionName, content: row.content, mark },
      time: row.ok ? row.time : undefined,
      verdict: row.ok ? "new" : mark === undefined ? "bad" : "sent",
      isCorrected: !row.ok && mark !== undefined,
      isFromRejects: row.position !== undefined,
      position:
        row.position === undefined
          ? { run: THIS_RUN, seq: at + 1 }
          : { run: row.position[0], seq: row.position[1] + 1 },
    });
  }
}

function itemOf(given: Partial<Item>): Item {
  return {
    ...{ seq: 1, row: 1, input: 0, kind: "updateTicket", mark: "", content: "", time: undefined, verdict: "new" },
    ...{ isCorrected: false, isFromRejects: false, position: { run: THIS_RUN, seq: given.seq ?? 1 } },
    ...{ why: undefined, other: undefined, heldBy: undefined },
    ...given,
  };
}

/** The mark that the row's action has; a season's times are halves of halves. */
function markOfRow({ kind, content, time }: RefRow): string {
  const data = { ticketId: "T", ...(time !== undefined && { orderTime: time }) };
  return markOf({ action: kind as ActionName, data }, content);
}

const REFERENCE: Readonly<Record<Verdict | "bad", RefVerdict>> = {
  ...{ new: "new", sent: "known", changed: "changed", late: "late", unclear: "unclear", held: "held", bad: "bad" },
};

function toReference({ verdict, position }: Item, row: RefRow, at: number, run: number): RefItem {
  const isHere = position.run === THIS_RUN;
  const place = isHere ? ([run, at] as const) : ([position.run, position.seq - 1] as const);
  return { row, mark: undefined, verdict: REFERENCE[verdict], position: place };
}

describe("the worlds of the design's reference", () => {
  for (const history of HISTORIES)
    for (const form of FORMS) {
      const { kind, isTimed, repeats } = history;
      const name = `${kind}, ${isTimed ? "timed" : "untimed"}, ${repeats ? "repeating" : "unique"}, ${form}`;
      it(`judges ${name} as the reference does, and sends nothing twice or out of order`, async () => {
        const random = randomOf(7);
        const seen = { isDoubled: 0, isOutOfOrder: 0, isWrongUntold: 0 };
        let accepted = 0;
        for (let season = 0; season < SEASONS; season += 1) {
          const memory = new Memory();
          const result = await playSeason(random, { ...history, form, retells: false }, memory.judge, memory.accept);
          accepted += memory.accepted;
          for (const what of ["isDoubled", "isOutOfOrder", "isWrongUntold"] as const) if (result[what]) seen[what] += 1;
        }
        expect(seen).toEqual({ isDoubled: 0, isOutOfOrder: 0, isWrongUntold: 0 });
        expect(accepted).toBeGreaterThan(SEASONS / 2);
      });

      it(`judges ${name} as the reference does where times are corrected at the source`, async () => {
        const random = randomOf(11);
        let seasons = 0;
        for (; seasons < SEASONS / 4; seasons += 1) {
          const memory = new Memory();
          await playSeason(random, { ...history, form, retells: true }, memory.judge, memory.accept);
        }
        expect(seasons).toBeGreaterThan(0);
      });
    }
});

type Given = { readonly [K in keyof Item]?: Item[K] | undefined };
type Knew = Partial<KnownAction>;

const knownOf = (given: Knew): KnownAction => ({
  ...{
    subject: "t:T",
    kind: "updateTicket",
    mark: "",
    content: "",
    time: undefined,
    event: undefined,
    owner: undefined,
  },
  ...{ position: { run: 1, seq: 1 }, run: 1, runId: "00000001", chunk: 1, place: 0, state: "sent" },
  ...given,
});

/** Verdicts on rows of one ticket. */
function verdicts(rows: readonly Given[], known: readonly Knew[], more: Partial<Parameters<typeof judge>[2]> = {}) {
  const items = rows.map((row, at) => itemOf({ seq: at + 1, row: at + 1, ...row } as Partial<Item>));
  const times = items.flatMap(({ time }) => (time === undefined ? [] : [time]));
  const span = times.length === 0 ? undefined : { first: Math.min(...times), last: Math.max(...times) };
  judge(items, known.map(knownOf), { spanOf: () => span, shows: () => true, mode: "judge", ...more });
  return items;
}

const update = (content: string, more: Given = {}): Given => ({
  kind: "updateTicket",
  mark: `c:${content}`,
  content,
  ...more,
});
const resale = (time: number | undefined, content: string, more: Given = {}): Given => ({
  ...{ kind: "resoldTicket", mark: time === undefined ? `c:${content}` : `t:${time}`, content, time },
  ...more,
});
const at = (run: number, seq: number) => ({ position: { run, seq } });

describe("the five sentences", () => {
  const sale = (content: string): Given => ({ kind: "soldTicket", mark: "", content });
  const cases: readonly (readonly [string, readonly Given[], readonly Knew[], readonly (Verdict | "bad")[]])[] = [
    ["a sale that was accepted is sent", [sale("18")], [sale("18") as Knew], ["sent"]],
    ["with other content it is changed", [sale("20")], [sale("18") as Knew], ["changed"]],
    [
      "the same scan is sent, another time new",
      [
        { kind: "scannedTicket", mark: "t:5", time: 5 },
        { kind: "scannedTicket", mark: "t:9", time: 9 },
      ],
      [{ kind: "scannedTicket", mark: "t:5", time: 5 }],
      ["sent", "new"],
    ],
    [
      "a key tells by itself",
      [
        { mark: "k:1", content: "A" },
        { mark: "k:2", content: "A" },
      ],
      [{ mark: "k:1", content: "A" }],
      ["sent", "new"],
    ],
    ["an update before an accepted one is late", [update("B"), update("A")], [update("A") as Knew], ["late", "sent"]],
    ["an older time is late", [resale(4, "x")], [{ ...resale(9, "y"), ...at(1, 1) } as Knew], ["late"]],
    [
      "a row of rejects that stood before an accepted one is late",
      [update("B", { isFromRejects: true, position: { run: 1, seq: 2 } })],
      [{ ...update("C"), ...at(1, 3) } as Knew],
      ["late"],
    ],
    [
      "and behind it new",
      [update("B", { isFromRejects: true, position: { run: 1, seq: 4 } })],
      [{ ...update("C"), ...at(1, 3) } as Knew],
      ["new"],
    ],
    ["a content that comes back is unclear", [update("A"), update("B"), update("A")], [], ["new", "new", "unclear"]],
    [
      "also where the input lacks what came since",
      [update("A")],
      [{ ...update("A"), ...at(1, 1) } as Knew, { ...update("B"), ...at(1, 2) } as Knew],
      ["unclear"],
    ],
    ["a copy right behind is not", [update("A"), update("A")], [], ["new", "sent"]],
    ["a time that came is unclear", [resale(5, "x")], [resale(undefined, "x") as Knew], ["unclear"]],
    [
      "an accepted one that is missing makes the new one unclear",
      [resale(1, "a"), resale(7, "b"), resale(9, "c")],
      [
        { ...resale(1, "a"), ...at(1, 1) } as Knew,
        { ...resale(5, "b"), ...at(1, 2) } as Knew,
        { ...resale(9, "c"), ...at(1, 3) } as Knew,
      ],
      ["sent", "unclear", "sent"],
    ],
    ["times that fall are unclear", [resale(9, "a"), resale(5, "b")], [], ["new", "unclear"]],
    [
      "a bad row holds what is new of its ticket, before and after it",
      [update("A"), { ...update("B"), mark: undefined, verdict: "bad" }, { kind: "scannedTicket", mark: "" }],
      [],
      ["held", "bad", "held"],
    ],
    [
      "and leaves what is sent",
      [sale("18"), { ...update("B"), mark: undefined, verdict: "bad" }],
      [sale("18") as Knew],
      ["sent", "bad"],
    ],
    [
      "what another run still sends is held, and all that is new of its ticket",
      [sale("18"), { kind: "scannedTicket", mark: "" }],
      [{ ...sale("18"), state: "pending" } as Knew],
      ["held", "held"],
    ],
  ];
  it.each(cases)("%s", (_name, rows, known, expected) => {
    expect(verdicts(rows, known).map(({ verdict }) => verdict)).toEqual(expected);
  });

  it("says nothing of what is missing where the source never shows what was accepted", () => {
    const rows = [resale(1, "a"), resale(7, "b")];
    const known = [{ ...resale(1, "a"), ...at(1, 1) } as Knew, { ...resale(5, "b"), ...at(1, 2) } as Knew];
    const [, hidden] = verdicts([...rows, resale(9, "c")], known);
    expect(hidden?.why).toBe("missing");
    const shown = verdicts([...rows, resale(9, "c")], known, { shows: () => false });
    expect(shown.map(({ verdict }) => verdict)).toEqual(["sent", "new", "new"]);
  });
});

describe("--resend and --adopt", () => {
  it("sends what was sent before under the next number, and a copy in the input once", () => {
    const known = [
      { mark: "", kind: "soldTicket", content: "18" },
      { mark: "#2", kind: "soldTicket", content: "18", ...at(2, 1) },
    ];
    const sale: Given = { kind: "soldTicket", mark: "", content: "18" };
    const items = verdicts([sale, sale], known as Knew[], { mode: "resend" });
    expect(items.map(({ verdict, mark }) => [verdict, mark])).toEqual([
      ["new", "#3"],
      ["sent", ""],
    ]);
  });

  it("sends what is late or unclear, and keeps the mark of what was never sent", () => {
    const items = verdicts([update("A"), update("B"), update("A")], [], { mode: "resend" });
    expect(items.map(({ mark }) => mark)).toEqual(["c:A", "c:B", "c:A#2"]);
    const late = verdicts([update("B"), update("A")], [update("A") as Knew], { mode: "resend" });
    expect(late.map(({ verdict, mark }) => [verdict, mark])).toEqual([
      ["new", "c:B"],
      ["new", "c:A#2"],
    ]);
  });

  it("adopts what is not known, and the content of now of what is", () => {
    const rows = [{ kind: "soldTicket", mark: "", content: "20" } as Given, update("A")];
    const items = verdicts(rows, [{ kind: "soldTicket", mark: "", content: "18" }, update("A") as Knew], {
      mode: "adopt",
    });
    expect(items.map(({ verdict, mark }) => [verdict, mark])).toEqual([
      ["new", ""],
      ["sent", "c:A"],
    ]);
  });

  it("resends nothing that another run still sends", () => {
    const sale = { kind: "soldTicket", mark: "", content: "18" } as const;
    const [item] = verdicts([sale], [{ ...sale, state: "pending" }], { mode: "resend" });
    expect(item?.verdict).toBe("held");
  });

  it("counts an accepted one as it was said last", () => {
    const known: Knew[] = [
      { ...update("A"), ...at(1, 1) } as Knew,
      { ...update("B"), ...at(1, 2) } as Knew,
      { ...update("A"), mark: "c:A#2", ...at(2, 1) } as Knew,
    ];
    expect(verdicts([update("B"), update("A"), update("C")], known).map(({ verdict }) => verdict)).toEqual([
      "sent",
      "sent",
      "new",
    ]);
  });
});

describe("numbers of marks", () => {
  it("tells a key that ends like a number from a resent one", () => {
    const key = markOf({ action: "updateTicket", data: {} }, "", "A#2");
    expect([key, baseOf(key), timesOf(key)]).toEqual(["k:A#2#1", "k:A#2", 1]);
    expect(resentMark("k:A", 2)).toBe("k:A#2");
    expect(resentMark(key, 2)).toBe("k:A#2#2");
    expect(kindOfMark(key)).toBe("k");
  });
});
