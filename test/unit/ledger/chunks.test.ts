import type { SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHUNK_EVENTS, type ChunkEvent, type ChunkEventName, changeChunk } from "../../../src/ledger/chunks.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { CHUNK_STATES, type ChunkState } from "../../../src/ledger/states.ts";
import { describeBothLedgers } from "../../support/both-ledgers.ts";

const EVENTS: readonly (readonly [ChunkEventName, ChunkEvent])[] = (Object.keys(CHUNK_EVENTS) as ChunkEventName[]).map(
  (name) => [name, CHUNK_EVENTS[name]],
);

const CHUNK = { runNo: 1, chunk: 2 };

/** A row of which no value is one that an event may write. */
const before = (runNo: number, chunk: number, state: ChunkState) => ({
  ...{ run_no: runNo, chunk, lane: 7, first: 70 + chunk, count: 11, offset: 700, length: 77, state, parent: 8 },
  ...{
    http_status: 599,
    answered_at: "then",
    detail: "why",
    projected: 5,
    rejects_written: 6,
    merged: 9,
  },
});

/** Another chunk of the run, and one of another run with the same number. */
const OTHERS = [before(1, 1, "planned"), before(2, 2, "in doubt")];

/** What comes with an event, by column. */
const GIVEN: Readonly<Record<string, SQLInputValue>> = {
  ...{ lane: 3, first: 30, count: 31, offset: 32, length: 33, parent: 34, http_status: 234 },
  ...{ answered_at: "now", detail: "so" },
};

/** As the table is made where nothing is said. */
const FRESH = {
  ...{ run_no: CHUNK.runNo, chunk: CHUNK.chunk, parent: null, http_status: null, answered_at: null },
  ...{ detail: null, projected: 0, rejects_written: 0, merged: 0 },
};

const columnsOf = ({ writes }: ChunkEvent, which: (value: unknown) => boolean): Record<string, SQLInputValue> =>
  Object.fromEntries(
    Object.entries(writes)
      .filter(([, value]) => which(value))
      .map(([column, value]) => [column, value === "given" ? (GIVEN[column] ?? null) : value]),
  );

const rowsOf = (of: Ledger) => of.all("SELECT * FROM chunks ORDER BY run_no, chunk");

/** The chunk as it is given, among others, before and after the event. */
function happen(ledger: Ledger, name: ChunkEventName, event: ChunkEvent, state: ChunkState | undefined) {
  ledger.run("DELETE FROM chunks");
  for (const row of [...OTHERS, ...(state === undefined ? [] : [before(1, 2, state)])]) {
    const columns = Object.keys(row);
    ledger.run(
      `INSERT INTO chunks (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      ...Object.values(row),
    );
  }
  const given = columnsOf(event, (value) => value === "given");
  // Walks all events, so what comes with each is only known here.
  const change = (): void => (changeChunk as (...values: unknown[]) => void)(ledger, name, CHUNK, given);
  return { rows: rowsOf(ledger), change };
}

describeBothLedgers("an event of a chunk", ({ newPlace }) => {
  let ledger: Ledger;
  let end: () => void;
  beforeAll(async () => {
    const place = await newPlace();
    ledger = place.open();
    end = () => {
      ledger[Symbol.dispose]();
      place[Symbol.dispose]();
    };
    for (const runNo of [1, 2])
      ledger.run(
        "INSERT INTO runs (run_no, run, created_at, state, manifest) VALUES (?, ?, '', 'open', '')",
        runNo,
        `${runNo}`,
      );
  });
  afterAll(() => end());

  describe.each(EVENTS)("%s", (name, event) => {
    const states = [undefined, ...CHUNK_STATES];
    const mayHappen = (state: ChunkState | undefined): boolean =>
      state === undefined ? event.from.length === 0 : event.from.includes(state);

    it.each(states.filter(mayHappen))("happens to a chunk that is %s, and does what the table says", (state) => {
      const { rows, change } = happen(ledger, name, event, state);
      change();
      const row = rows.find(({ run_no, chunk }) => run_no === 1 && chunk === 2) ?? FRESH;
      const changed = {
        ...row,
        ...columnsOf(event, () => true),
        ...(event.to !== "same" && { state: event.to }),
      };
      expect(rowsOf(ledger)).toEqual([OTHERS[0], changed, OTHERS[1]]);
    });

    it.each(states.filter((state) => !mayHappen(state)))(
      "to a chunk that is %s is an error, and changes nothing",
      (state) => {
        const { rows, change } = happen(ledger, name, event, state);
        expect(change).toThrow(`chunk 2 of run 1 is ${state ?? "missing"}, so "${name}" can't happen to it`);
        expect(rowsOf(ledger)).toEqual(rows);
      },
    );
  });
});

describe("the table", () => {
  const leadingTo = (state: ChunkState, from: ChunkState): readonly string[] =>
    EVENTS.filter(([, event]) => event.to === state && event.from.includes(from)).map(([name]) => name);

  it("leads from what is planned to every state, and to being sent by the intent alone", () => {
    const reached = new Set<ChunkState>(["planned"]);
    for (const from of reached)
      for (const state of CHUNK_STATES) if (leadingTo(state, from).length > 0) reached.add(state);
    expect([...reached].sort()).toEqual([...CHUNK_STATES].sort());
    expect(EVENTS.filter(([, { to }]) => to === "sending").map(([name]) => name)).toEqual(["intend"]);
    expect(CHUNK_EVENTS.intend.from).toEqual(["planned"]);
  });

  it.each(["settled", "settled by hand", "abandoned", "split"] as const)(
    "never lets what is %s be sent again",
    (state) => {
      const next = EVENTS.filter(([, { from }]) => from.includes(state)).map(([, { to }]) => to);
      expect(next.filter((to) => to !== "same" && to !== "settled")).toEqual([]);
    },
  );

  it("lets what may have been sent be sent again only after an answer or a person has said so", () => {
    expect(leadingTo("planned", "sending")).toEqual(["giveBack"]);
    expect(leadingTo("planned", "in doubt")).toEqual(["settleNotSent"]);
    expect(leadingTo("planned", "refused")).toEqual(["reopen", "settleNotSent"]);
  });
});
