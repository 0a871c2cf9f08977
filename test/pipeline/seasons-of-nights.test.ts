/** Random seasons of nights, judged by what is known of the world; see support/nights. */

import { expect, test } from "vitest";
import { playSeason } from "../support/nights/season.ts";
import { randomOf } from "../support/random.ts";

/** How many, and from where on: `vitest.config.ts`. `FIRST_SEASON=47 SEASONS=1` plays one again. */
const SEASONS = Number(process.env.SEASONS);
const FIRST = Number(process.env.FIRST_SEASON);

/** So few seasons need not have everything. */
const ENOUGH = 8;

test("each of many nights is right, or says of every row what it did not send", {
  tags: ["both"],
  timeout: 60_000 + SEASONS * 60_000,
}, async () => {
  const sums = { nights: 0, accepted: 0, told: 0, mended: 0, doubts: 0 };
  for (let number = FIRST; number < FIRST + SEASONS; number += 1) {
    // Every second one has keys; of those without, every second one gives all in order each night.
    const keys = number % 2 === 0 ? undefined : randomOf(number);
    const played = await playSeason(randomOf(number), keys, number % 4 === 2).catch((cause: unknown) => {
      throw new Error(`season ${number} (FIRST_SEASON=${number} SEASONS=1 plays it again)`, { cause });
    });
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += played[key]; // its own keys
  }
  // What is rare must have happened, or the seasons show less than they seem to.
  if (SEASONS < ENOUGH) return;
  for (const times of Object.values(sums)) expect(times, JSON.stringify(sums)).toBeGreaterThan(0);
});
