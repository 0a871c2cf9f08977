import { describe, expect, test } from "vitest";
import { pass, readChunk } from "../../../src/ledger/chunk-life.ts";
import {
  CHUNK_STATES,
  type ChunkEvent,
  type ChunkState,
  PENDING_STATES,
  TRANSITIONS,
} from "../../../src/ledger/chunks.ts";
import { type Database, sql } from "../../../src/ledger/database.ts";
import { openSqlite } from "../../../src/ledger/sqlite.ts";
import { enter, inSqlite, newRun, planned } from "../../support/ledgers.ts";

/** The whole life, written down a second time. */
const LIFE: Readonly<Record<ChunkEvent, string>> = {
  intend: "planned → sending",
  giveBack: "sending → planned",
  answer: "sending → answered",
  split: "planned → split",
  refuse: "sending → refused",
  doubt: "sending → in doubt",
  doubtLate: "planned → in doubt",
  cut: "in doubt refused → split",
  settleSent: "in doubt refused → settled",
  settleNotSent: "in doubt refused → planned",
  abandon: "planned → abandoned",
  dropDoubt: "in doubt refused → abandoned",
  import: "planned sending in doubt refused → answered",
};

describe("a chunk's life", () => {
  test("has these steps and no others", () => {
    const written = Object.entries(TRANSITIONS).map(([event, { from, to }]) => [event, `${from.join(" ")} → ${to}`]);
    expect(Object.fromEntries(written)).toEqual(LIFE);
  });

  test("comes from every pending state to an end that a person or the service decides", () => {
    const ends = CHUNK_STATES.filter((state) => !PENDING_STATES.some((each) => each === state));
    const next = (state: ChunkState) =>
      Object.values(TRANSITIONS).flatMap(({ from, to }) =>
        from.some((each) => each === state) ? [to as ChunkState] : [],
      );
    for (const state of PENDING_STATES) expect(next(state).some((to) => ends.includes(to))).toBe(true);
    for (const state of ends) expect(next(state)).toEqual([]);
  });

  test.each(Object.keys(TRANSITIONS) as ChunkEvent[])("%s happens in its states alone", async (event) => {
    const { place, open } = await inSqlite();
    const run = await enter(await open(), newRun(), planned([{ sales: [{ id: "a" }] }]));
    const database = openSqlite(place.kind === "sqlite" ? place.path : "", false) as Database;
    for (const state of CHUNK_STATES) {
      const passed = await database.write(async (writer) => {
        await writer.run(sql`UPDATE chunks SET state = ${state} WHERE run = ${run}`);
        return [await pass(writer, run, 1, event), (await readChunk(writer, run, 1)).state];
      });
      const { from, to } = TRANSITIONS[event];
      expect(passed).toEqual(from.some((each) => each === state) ? [true, to] : [false, state]);
    }
    await database[Symbol.asyncDispose]();
  });
});
