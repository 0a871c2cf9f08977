/**
 * Random seasons of tickets, by the rules of what counts as already sent and by the program: nothing twice, nothing out of order,
 * nothing lost and no wrong last state without a word; and the program says of each row what the rules say.
 */

import { expect, test } from "vitest";
import { randomOf } from "../../support/random.ts";
import { playByProduct } from "../../support/worlds/by-product.ts";
import { playByRules } from "../../support/worlds/by-rules.ts";
import {
  FORMS,
  HISTORIES,
  inWords,
  type Problems,
  type World,
  WRONGS,
  type Wrong,
} from "../../support/worlds/world.ts";

/** How many of each kind, and from which seed on: `vitest.config.ts`. `FIRST_IDENTITY_WORLD=47 IDENTITY_WORLDS=1` plays one again, `LEDGER=postgres` with such a ledger. */
const WORLDS = Number(process.env.IDENTITY_WORLDS);
const FIRST = Number(process.env.FIRST_IDENTITY_WORLD);
/** The rules alone are quick. */
const WORLDS_BY_RULES = 100 * WORLDS;

const TICKETS = 10;
const KINDS = HISTORIES.flatMap((habits) =>
  FORMS.flatMap((form) =>
    (habits.isTimed ? [false, true] : [false]).map((correctsTimes) => {
      const world: World = { ...habits, form, correctsTimes, tickets: TICKETS };
      return [inWords(world), world] as const;
    }),
  ),
);

/** What the rules let happen. */
function isLeftOpen({ isTimed, isKeyed, isMixed, repeats, correctsTimes }: World, wrong: Wrong): boolean {
  // Where a time is corrected beside the edge of an export, it is another action; and one may then look older than it is.
  if (correctsTimes && ((wrong === "doubled" && isKeyed !== true) || wrong === "outOfOrder")) return true;
  // What says the same as an accepted one counts as that.
  return (!isTimed || isMixed === true) && isKeyed !== true && repeats && wrong === "lostSilently";
}

/** How many of the tickets may be doubled where times are corrected. */
const MOST_DOUBLED = { full: 0.02, window: 0.02, delta: 0 } as const;

function addUp(all: readonly Problems[]): Problems {
  const sum = { accepted: 0, happened: 0, doubled: 0, outOfOrder: 0, lostSilently: 0, wrongStateSilently: 0 };
  for (const each of all) for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += each[key]; // its own keys
  return sum;
}

test.each(KINDS)("by the rules: %s", { tags: ["both"], timeout: 60_000 * (1 + WORLDS) }, (_name, world) => {
  const seeds = Array.from({ length: WORLDS_BY_RULES }, (_, at) => FIRST * WORLDS_BY_RULES + at);
  const sum = addUp(seeds.map((seed) => playByRules(world, randomOf(seed))));
  expect(sum.accepted).toBeGreaterThan(0);
  for (const wrong of WRONGS) if (!isLeftOpen(world, wrong)) expect(sum[wrong], wrong).toBe(0);
  const tickets = WORLDS_BY_RULES * TICKETS;
  expect(sum.doubled / tickets).toBeLessThanOrEqual(MOST_DOUBLED[world.form]);
  expect(sum.outOfOrder / tickets).toBeLessThanOrEqual(0.002);
});

async function playAll(world: World): Promise<void> {
  for (let seed = FIRST; seed < FIRST + WORLDS; seed += 1) {
    const { story, ...found } = await playByProduct(world, randomOf(seed));
    const reported = `FIRST_IDENTITY_WORLD=${seed} IDENTITY_WORLDS=1 plays it again\n${story}`;
    for (const wrong of WRONGS) if (!isLeftOpen(world, wrong)) expect(found[wrong], `${wrong}: ${reported}`).toBe(0);
  }
}

const timeout = 60_000 * (1 + WORLDS);
for (const [short, tag] of [
  [true, "both"],
  [false, "long"],
] as const)
  test.each(KINDS.filter((_, at) => (at % 4 === 0) === short))(
    "by the program: %s",
    { tags: [tag], timeout },
    (_name, world) => playAll(world),
  );
