import { expect, it } from "vitest";
import { leftToOthers } from "../../../src/ledger/left-to-others.ts";
import { insertTallies } from "../../../src/ledger/new-outcomes.ts";
import { enterRun } from "../../../src/ledger/runs.ts";
import { lastSettlement, noteSettlement } from "../../../src/ledger/settlements.ts";
import type { ChunkState, Outcome } from "../../../src/ledger/states.ts";
import { describeBothLedgers, newLedger } from "../../support/both-ledgers.ts";

const AT = "2026-11-21T03:00:00.000Z";
const LATER = "2026-11-21T04:00:00.000Z";
const CHUNK = { lane: 0, first: 1, count: 3, offset: 0, length: 30 };

type Behind = Parameters<typeof leftToOthers>[2]["behind"];

const ALL_SENT = { pending: 0, waiting: 0, sent: 2, open: 0 };
const ALL_OPEN = { pending: 0, waiting: 0, sent: 0, open: 2 };
const heldBy = (standing: "ahead" | "waits" | "closed", actions = 2): Behind => [{ run: "held", actions, standing }];

describeBothLedgers("two actions that were pending when a run was planned", (of) => {
  /** A run of three actions came to this, and a person decided so. */
  async function after(state: ChunkState, outcome?: Outcome, ...decisions: readonly string[]) {
    const ledger = await newLedger(of);
    const held = enterRun(ledger, { run: "held", manifest: "{}", output: undefined, chunks: [CHUNK], at: AT });
    const run = enterRun(ledger, { run: "next", manifest: "{}", output: undefined, chunks: [CHUNK], at: AT });
    ledger.transaction(() => {
      ledger.run("UPDATE chunks SET state = ? WHERE run_no = ?", state, held.runNo);
      if (outcome !== undefined)
        insertTallies(ledger, held.runNo, [{ chunk: 1, action: "newEvent", outcome, actions: 3 }]);
      for (const decision of decisions)
        noteSettlement(ledger, held.runNo, { chunk: 1, decision, who: "me", at: LATER, reason: undefined });
    });
    return (behind?: Behind) => leftToOthers(ledger, run, { actions: { pending: 2, waiting: 0 }, behind });
  }

  it.each<[string, Parameters<typeof after>, Behind, object]>([
    ["accepted by the run ahead that held them", ["settled", "accepted"], heldBy("ahead"), ALL_SENT],
    ["rejected", ["settled", "rejected"], heldBy("ahead"), ALL_OPEN],
    ["perhaps one of them rejected", ["settled", "rejected"], heldBy("ahead", 1), { ...ALL_SENT, sent: 1, open: 1 }],
    ["closed without the plan", ["abandoned"], heldBy("ahead"), ALL_OPEN],
    ["in doubt in a closed run, settled as sent", ["abandoned", "not sent", "sent"], heldBy("closed"), ALL_SENT],
    ["the same, settled as not sent", ["abandoned", "not sent", "not-sent"], heldBy("closed"), ALL_OPEN],
    ["the same, and nothing is known to be settled", ["settled", "accepted"], heldBy("closed"), ALL_OPEN],
    ["held by a run that waited for a person", ["settled", "rejected", "sent"], heldBy("waits"), ALL_OPEN],
    ["of a run that is gone", ["settled"], [{ run: "gone", actions: 2, standing: "ahead" }], ALL_OPEN],
    ["as earlier versions noted it, accepted", ["settled", "accepted"], ["held"], ALL_SENT],
    ["as earlier versions noted it, closed without the plan", ["abandoned"], ["held"], ALL_OPEN],
    ["where nothing is noted, settled as sent", ["settled by hand", undefined, "sent"], undefined, ALL_SENT],
    ["where nothing is noted, settled otherwise", ["settled", undefined, "sent", "not-sent"], undefined, ALL_OPEN],
    ["not decided yet", ["in doubt"], heldBy("closed"), { ...ALL_SENT, pending: 2, sent: 0 }],
  ])("%s", async (_, came, behind, left) => {
    expect((await after(...came))(behind)).toEqual(left);
  });
});

describeBothLedgers("what was settled since a run was planned", (of) => {
  it("is told by the order of the settlements, whatever the clock said", async () => {
    const ledger = await newLedger(of);
    const held = enterRun(ledger, { run: "held", manifest: "{}", output: undefined, chunks: [CHUNK], at: AT });
    const settle = (decision: string, at: string): void =>
      ledger.transaction(() =>
        noteSettlement(ledger, held.runNo, { chunk: 1, decision, who: "me", at, reason: undefined }),
      );
    ledger.transaction(() => ledger.run("UPDATE chunks SET state = 'abandoned' WHERE run_no = ?", held.runNo));
    settle("not-sent", LATER);
    const settledBefore = lastSettlement(ledger);
    const run = enterRun(ledger, { run: "next", manifest: "{}", output: undefined, chunks: [CHUNK], at: AT });
    const left = () =>
      leftToOthers(ledger, run, { actions: { pending: 2, waiting: 0 }, behind: heldBy("closed"), settledBefore });
    ledger.transaction(() => ledger.run("UPDATE chunks SET state = 'settled' WHERE run_no = ?", run.runNo));
    settle("sent", "2026-11-20T00:00:00.000Z");
    expect(left()).toEqual(ALL_SENT);
    settle("not-sent", "2026-11-20T00:00:00.000Z");
    expect(left()).toEqual(ALL_OPEN);
  });
});
