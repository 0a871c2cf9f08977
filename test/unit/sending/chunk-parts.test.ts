import { expect, it } from "vitest";
import { type ChunkRecord, chunksOf, enterRun } from "../../../src/ledger/runs.ts";
import { toChunkActions } from "../../../src/plan/files/chunk-actions.ts";
import { RECORD_BYTES } from "../../../src/plan/files/index-file.ts";
import type { ChunkBorders, Plan } from "../../../src/plan/files/plan.ts";
import { closeUnsent } from "../../../src/sending/chunk-parts.ts";
import { describeBothLedgers, newLedger } from "../../support/both-ledgers.ts";

const AT = "2026-11-21T03:00:00.000Z";
const LINE = Buffer.from('{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');
const WHOLE = { lane: 0, first: 1, count: 6, offset: 0, length: 6 * LINE.length };

/** All that is asked of a plan. */
const PLAN = {
  manifest: { inputs: [{ name: "events.csv" }] },
  lines: async ({ count }: ChunkBorders) => Array.from({ length: count }, () => LINE.subarray(0, -1)),
  chunk: async ({ count }: ChunkBorders) => ({
    actions: toChunkActions(LINE.toString().repeat(count), 1),
    index: Buffer.alloc(RECORD_BYTES * count, 1),
  }),
} as unknown as Plan;

describeBothLedgers("closing actions of a planned chunk", (of) => {
  async function begin() {
    const ledger = await newLedger(of);
    const { runNo } = enterRun(ledger, { run: "run", manifest: "{}", output: undefined, chunks: [WHOLE], at: AT });
    const chunks = (): readonly ChunkRecord[] => chunksOf(ledger, runNo);
    const told = () => chunks().map(({ chunk, first, count, state }) => [chunk, first, count, state]);
    return { ledger, chunks, told };
  }

  const THIRD = new Map([[3, "superseded"]]);
  const CLOSED = [
    [1, 1, 2, "planned"],
    [2, 3, 1, "abandoned"],
    [3, 4, 3, "planned"],
  ];

  it("leaves the others to be sent", async () => {
    const { ledger, chunks, told } = await begin();
    await closeUnsent(ledger, PLAN, chunks(), THIRD);
    expect(told()).toEqual(CLOSED);
  });

  it("changes nothing where another process has done it since the chunk was read", async () => {
    const { ledger, chunks, told } = await begin();
    const read = chunks();
    await closeUnsent(ledger, PLAN, read, THIRD);
    await closeUnsent(ledger, PLAN, read, THIRD);
    expect(told()).toEqual(CLOSED);
  });

  it.each(["sending", "settled", "in doubt"])("changes nothing where the chunk is %s by now", async (state) => {
    const { ledger, chunks, told } = await begin();
    const read = chunks();
    ledger.run("UPDATE chunks SET state = ?", state);
    await closeUnsent(ledger, PLAN, read, THIRD);
    expect(told()).toEqual([[1, 1, 6, state]]);
  });
});
