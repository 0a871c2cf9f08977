/**
 * The promise of the whole program: for any input, any faults of the service and any number of kills, what the program
 * calls accepted was processed; what was processed is accepted, in doubt, refused or settled by hand; nothing is processed
 * twice or, in its lane, out of order; and every accepted action is in the output once, with its promise.
 *
 * `INVARIANT_TRIALS=3000 INVARIANT_DAYS=whole` does more; `INVARIANT_SEED=4711 INVARIANT_TRIALS=1` repeats the one that failed.
 */

import { expect, test } from "vitest";
import { CRASH_POINTS } from "../../src/disk/crash-points.ts";
import { carryOut, type Tally } from "../support/invariant/carry.ts";
import { trialOf } from "../support/invariant/trial.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { type SharedLedger, sharedLedger } from "../support/shared-ledger.ts";

/** How many, from where on, and how much of each day: `vitest.config.ts`. */
const TRIALS = Number(process.env.INVARIANT_TRIALS);
const SHARED_TRIALS = Number(process.env.SHARED_TRIALS);
const FIRST_SEED = Number(process.env.INVARIANT_SEED);
const DAYS = process.env.INVARIANT_DAYS === "short" ? "short" : "whole";
/** Two, since a machine of CI has no more cores. */
const AT_ONCE = 2;
/** So few trials need not reach every boundary. */
const ENOUGH = 100;

/** @param trials the setting of how many, for who repeats one. */
async function live(count: number, trials: string, ledgerOf: () => Promise<SharedLedger | undefined>): Promise<Tally> {
  const tally: Tally = { boundaries: new Set(), kills: 0 };
  let next = FIRST_SEED;
  const work = async (): Promise<void> => {
    while (next < FIRST_SEED + count) {
      const seed = next;
      next += 1;
      await carryOut(trialOf(seed, DAYS), tally, await ledgerOf()).catch((cause: unknown) => {
        next = Number.POSITIVE_INFINITY;
        const repeat = `INVARIANT_SEED=${seed} ${trials}=1 INVARIANT_DAYS=${DAYS}`;
        throw new Error(`${repeat}\n${cause instanceof Error ? cause.message : cause}`);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return tally;
}

const settings = (trials: number) => ({ tags: ["both"], timeout: 60_000 + trials * 60_000 });

test(`nothing is lost, doubled or out of order in ${TRIALS} bad days`, settings(TRIALS), async () => {
  const tally = await live(TRIALS, "INVARIANT_TRIALS", () => Promise.resolve(undefined));
  if (TRIALS < ENOUGH) return;
  expect(tally.boundaries, "boundaries at which commands were killed").toEqual(new Set(CRASH_POINTS));
});

test.skipIf(WITHOUT_POSTGRES)(
  `nor in ${SHARED_TRIALS} with the ledger in PostgreSQL${NEEDS_POSTGRES}`,
  { ...settings(10 * SHARED_TRIALS), tags: ["long"] },
  async () => {
    const tally = await live(SHARED_TRIALS, "SHARED_TRIALS", () => sharedLedger());
    expect(tally.kills).toBeGreaterThan(0);
  },
);
