import { join } from "node:path";
import { expect, it } from "vitest";
import type { ActionName } from "../../../src/actions/actions.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { openLedger } from "../../../src/ledger/open.ts";
import type { Verdict } from "../../../src/plan/verdicts.ts";
import { enter, openFolder, type Planned, planFiles, write } from "../../support/planned.ts";
import { randomOf } from "../../support/random.ts";
import type { RefRow, RefVerdict } from "../../support/seasons/rules.ts";
import { FORMS, HISTORIES, type Judge, type Judged, type OnNight, playSeason } from "../../support/seasons/world.ts";

/** Seasons of each kind of world; `PLANNED_SEASONS` for a long hunt. */
const SEASONS = Number(process.env.PLANNED_SEASONS ?? 2);

const REFERENCE: Readonly<Record<Verdict | "bad", RefVerdict>> = {
  ...{ new: "new", sent: "known", changed: "changed", late: "late", unclear: "unclear", held: "held", bad: "bad" },
};

/** What a run that was not entered lies behind: everything that was accepted so far. */
const BEHIND_ALL = 1_000_000_000_000;

/** Plays a season with files, plans and a ledger, each night as commands do. */
class Played {
  readonly #ledger: Ledger;
  readonly #folder: string;
  readonly #season: number;
  readonly #kind: ActionName;
  /** By the reference's run: the ledger's, and what its places begin with. */
  readonly #runs: { run: number; from: number }[] = [];
  readonly #digests = new Map<number, string>();
  #lastRun = 0;
  #planned: Planned | undefined;

  constructor(ledger: Ledger, folder: string, season: number, kind: ActionName) {
    this.#ledger = ledger;
    this.#folder = folder;
    this.#season = season;
    this.#kind = kind;
  }

  readonly judge: Judge = async (rows, shows) => {
    const isRejects = rows.some(({ position }) => position !== undefined);
    const text = rows.map((row) => `${this.#textOf(row)}\n`).join("");
    const folder = join(this.#folder, `${this.#season}-${this.#runs.length}`);
    const night = { at: "", rows: 100, recognised: shows ? 100 : 0 };
    const { actionsOf, near, body, corrected } = this.#ledger;
    const planned = await planFiles(folder, write(folder, { [isRejects ? "a.rejects.ndjson" : "a.ndjson"]: text }), {
      ledger: { actionsOf, near, body, corrected, guard: async () => [{ kind: "*", made: {}, nights: [night] }] },
      action: this.#kind,
      rules: { "resold-to-holder": "off", "times-fall": "warn" },
      maxInvalid: { percent: 100 },
    });
    this.#planned = planned;
    for (const { line, digest } of planned.plan.notSent())
      if (digest !== undefined) this.#digests.set(rows[line - 1]?.g ?? 0, digest);
    return [...planned.plan.preview(1000)].map(({ line, actions }): Judged => {
      const row = rows[line - 1] as RefRow; // one action a row
      return { row, verdict: REFERENCE[actions[0]?.verdict ?? "bad"], position: undefined };
    });
  };

  readonly accept: OnNight = async (items, accepted) => {
    const planned = this.#planned as Planned; // judged just now
    const rejected = new Set(items.flatMap((item, at) => (accepted.has(item) ? [] : [at + 1])));
    if (planned.plan.actions.new > 0) {
      this.#lastRun = await enter(this.#ledger, planned, { rejects: ({ line }) => rejected.has(line) });
      this.#runs.push({ run: this.#lastRun, from: 1 });
    } else this.#runs.push({ run: this.#lastRun, from: BEHIND_ALL * (this.#runs.length + 1) });
    planned.plan[Symbol.dispose]();
  };

  #textOf({ subject, content, time, ok, position, digest, g, kind }: RefRow): string {
    const number = content === "z" ? 99 : /^\d+$/.test(content) ? Number(content) : content.charCodeAt(0) || 0;
    const said =
      kind === "updateTicket"
        ? { imageUrl: ok ? `https://x.example/${content}` : "oops" }
        : kind === "resoldTicket"
          ? { userId: "u", price: ok ? `${number}` : "oops" }
          : {};
    const orderTime = !ok && kind === "scannedTicket" ? "oops" : time && Math.round(time * 2 ** 20);
    const from = position && this.#runs[position[0] - 1];
    const own = digest === undefined ? "" : (this.#digests.get(g) ?? "");
    return JSON.stringify({
      ...{ ticketId: `${this.#season}${subject}`, ...said, orderTime, rowNo: g },
      ...(position && from && { "tickets:row": `${own}@${from.run}:${from.from + position[1]}` }),
    });
  }
}

it("plays seasons of the worlds with files and a ledger as the reference does", { timeout: 120_000 }, async () => {
  const folder = openFolder();
  await using ledger = await openLedger({
    place: { kind: "sqlite", path: join(folder, "ledger.db") },
    boundTo: "test",
  });
  const random = randomOf(23);
  const seen = { isDoubled: 0, isOutOfOrder: 0, isWrongUntold: 0 };
  let season = 0;
  for (const history of HISTORIES)
    for (const form of FORMS)
      for (let count = 0; count < SEASONS; count += 1) {
        season += 1;
        const saysNothing = history.kind === "scannedTicket";
        const played = new Played(ledger, folder, season, history.kind);
        const result = await playSeason(
          random,
          { ...history, form, retells: false, saysNothing },
          played.judge,
          played.accept,
        );
        for (const what of ["isDoubled", "isOutOfOrder", "isWrongUntold"] as const) if (result[what]) seen[what] += 1;
      }
  expect(season).toBe(21 * SEASONS);
  expect(seen).toEqual({ isDoubled: 0, isOutOfOrder: 0, isWrongUntold: 0 });
});
