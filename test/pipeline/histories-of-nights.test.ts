/** Worlds of some hundred histories each, judged by what is known of them; see support/nights/many-histories.ts. */

import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { playHistories } from "../support/nights/many-histories.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../support/postgres.ts";
import { randomOf } from "../support/random.ts";
import { type SharedLedger, sharedLedger } from "../support/shared-ledger.ts";

/** How many, and from where on: `vitest.config.ts`. `FIRST_WORLD=105 WORLDS=1` plays one again. */
const WORLDS = Number(process.env.WORLDS);
const SHARED_WORLDS = Number(process.env.SHARED_WORLDS);
const FIRST = Number(process.env.FIRST_WORLD);

async function play(count: number, ledgerOf: () => Promise<SharedLedger | undefined>) {
  const found: string[] = [];
  const sums = { accepted: 0, told: 0, mended: 0 };
  for (let number = FIRST; number < FIRST + count; number += 1) {
    const { findings, ...played } = await playHistories(randomOf(number), await ledgerOf());
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += played[key]; // its own keys
    found.push(...findings.map(({ what, story }) => `world ${number}, ${what}:\n${story}`));
  }
  if (process.env.OUT !== undefined) await appendFile(process.env.OUT, found.map((each) => `=== ${each}\n`).join(""));
  expect(found.slice(0, 3).join("\n\n"), `${found.length} of them`).toBe("");
  for (const times of Object.values(sums)) expect(times, JSON.stringify(sums)).toBeGreaterThan(0);
  return sums;
}

const inFiles = () => Promise.resolve(undefined);

const settings = (worlds: number, minutesEach = 1) => ({
  tags: ["both"],
  timeout: 60_000 + worlds * minutesEach * 60_000,
});

test("of hundreds of histories each deed is sent once and in order, or told", settings(WORLDS), async () => {
  await play(WORLDS, inFiles);
});

test.skipIf(WITHOUT_POSTGRES)(
  `and so it is with the ledger in PostgreSQL, of the same deeds${NEEDS_POSTGRES}`,
  { ...settings(SHARED_WORLDS, 10), tags: ["long"] },
  async () => {
    expect(await play(SHARED_WORLDS, sharedLedger)).toEqual(await play(SHARED_WORLDS, inFiles));
  },
);
