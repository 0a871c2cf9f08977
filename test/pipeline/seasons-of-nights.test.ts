/** Random seasons of nights, judged by what is known of the world; see support/nights. */

import { expect, test } from "vitest";
import { playSeason } from "../support/nights/season.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { randomOf } from "../support/random.ts";
import { type SharedLedger, sharedLedger } from "../support/shared-ledger.ts";

/** How many, and from where on: `vitest.config.ts`. `FIRST_SEASON=47 SEASONS=1` plays one again. */
const SEASONS = Number(process.env.SEASONS);
const SHARED_SEASONS = Number(process.env.SHARED_SEASONS);
const FIRST = Number(process.env.FIRST_SEASON);

/** So few seasons need not have everything. */
const ENOUGH = 8;

/** @param setting which says how many. */
async function play(setting: string, count: number, ledgerOf: () => Promise<SharedLedger | undefined>) {
  const sums = { nights: 0, accepted: 0, told: 0, mended: 0, doubts: 0 };
  for (let number = FIRST; number < FIRST + count; number += 1) {
    // Every second one has keys; of those without, every second one gives all in order each night.
    const keys = number % 2 === 0 ? undefined : randomOf(number);
    const options = { keys, isWhole: number % 4 === 2, shared: await ledgerOf() };
    const played = await playSeason(randomOf(number), options).catch((cause: unknown) => {
      throw new Error(`season ${number} (FIRST_SEASON=${number} ${setting}=1 plays it again)`, { cause });
    });
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += played[key]; // its own keys
  }
  return sums;
}

const settings = (seasons: number, minutesEach = 1) => ({
  tags: ["both"],
  timeout: 60_000 + seasons * minutesEach * 60_000,
});

test("each of many nights is right, or says of every row what it did not send", settings(SEASONS), async () => {
  const sums = await play("SEASONS", SEASONS, () => Promise.resolve(undefined));
  // What is rare must have happened, or the seasons show less than they seem to.
  if (SEASONS < ENOUGH) return;
  for (const times of Object.values(sums)) expect(times, JSON.stringify(sums)).toBeGreaterThan(0);
});

test.skipIf(WITHOUT_POSTGRES)(
  `so is each with the ledger in PostgreSQL${NEEDS_POSTGRES}`,
  { ...settings(SHARED_SEASONS, 10), tags: ["long"] },
  async () => {
    const { nights, accepted } = await play("SHARED_SEASONS", SHARED_SEASONS, sharedLedger);
    expect(Math.min(nights, accepted)).toBeGreaterThan(0);
  },
);
