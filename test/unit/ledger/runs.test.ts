import { expect, it } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { insertTallies } from "../../../src/ledger/new-outcomes.ts";
import { countRun, enterRun } from "../../../src/ledger/runs.ts";
import { describeBothLedgers, newLedger } from "../../support/both-ledgers.ts";

const AT = "2026-11-21T03:00:00.000Z";
const CHUNKS = [0, 1, 2, 3, 4].map((at) => ({ lane: 0, first: at * 10 + 1, count: 10, offset: at * 100, length: 100 }));

describeBothLedgers("the counts of a run", (of) => {
  /** One chunk is planned, one split into nothing that counts here, one closed without a plan, two are settled. */
  async function begun(): Promise<Ledger> {
    const ledger = await newLedger(of);
    enterRun(ledger, { run: "run", manifest: "{}", output: undefined, chunks: CHUNKS, at: AT });
    settle(ledger, 1, "settled", 7, 3);
    settle(ledger, 2, "settled", 10, 0);
    ledger.run("UPDATE chunks SET state = 'abandoned' WHERE chunk = 3");
    ledger.run("UPDATE chunks SET state = 'split' WHERE chunk = 4");
    return ledger;
  }

  function settle(ledger: Ledger, chunk: number, state: string, accepted: number, rejected: number): void {
    ledger.transaction(() => {
      ledger.run("UPDATE chunks SET state = ? WHERE chunk = ?", state, chunk);
      const tally = { chunk, action: "newEvent" } as const;
      if (rejected > 0) insertTallies(ledger, 1, [{ ...tally, outcome: "rejected", actions: rejected }]);
      insertTallies(ledger, 1, [{ ...tally, outcome: "accepted", actions: accepted }]);
    });
  }

  it("are of outcomes, and of states where there are none", async () => {
    expect(countRun(await begun(), 1)).toEqual({
      ...{ accepted: 17, rejected: 3, refused: 0, inDoubt: 0, inFlight: 0, settledByHand: 0 },
      ...{ notSent: 20, superseded: 0, chunks: { total: 4, settled: 2 }, byAction: { newEvent: 17 } },
    });
  });

  it("miss nothing that is settled while they are asked", async () => {
    const ledger = await begun();
    let isSettled = false;
    const asked = new Proxy(ledger, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          const result = value.apply(target, given);
          if (!isSettled) settle(ledger, 5, "settled", 10, 0);
          isSettled = true;
          return result;
        };
      },
    });
    const { accepted, rejected, notSent } = countRun(asked, 1);
    expect(isSettled).toBe(true);
    expect(accepted + rejected + notSent).toBe(40);
  });
});
