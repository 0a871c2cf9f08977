/** Worlds played by the rules alone, in memory. */

import { type Judged, judge, Ledger, positionOf } from "./rules.ts";
import { type Night, type Outcome, type Problems, playWorld, type Random, type Reject, type World } from "./world.ts";

/** Learns of each night what the rules say, and then which rows were accepted. */
export interface Onlooker {
  readonly judged: (judged: readonly Judged[], isShownAgain: boolean) => void;
  readonly accepted: (ids: readonly number[]) => void;
}

export function playByRules(world: World, random: Random, onlooker?: Onlooker): Problems {
  const ledger = new Ledger();
  const nights = playWorld(world, random);
  let step = nights.next();
  while (step.done !== true) step = nights.next(carryOut(step.value, ledger, random, onlooker));
  return step.value;
}

const REJECTED_SHARE = { export: 0.06, corrected: 0.03, last: 0 } as const satisfies Record<Night["is"], number>;

function carryOut({ rows, is }: Night, ledger: Ledger, random: Random, onlooker: Onlooker | undefined): Outcome {
  ledger.run += 1;
  const accepted: number[] = [];
  const reported = new Map<number, string>();
  const rejects: Reject[] = [];
  const isShownAgain = is !== "corrected" && ledger.showsAgain();
  const all = judge(rows, ledger, isShownAgain);
  onlooker?.judged(all, isShownAgain);
  if (is !== "corrected") ledger.noteExport(all);
  for (const judged of all) if (judged.verdict === "known") ledger.correct(judged);
  for (const [place, judged] of all.entries()) {
    const { row, verdict, position } = judged;
    if (verdict === "known") continue;
    if (verdict === "new" && random() >= REJECTED_SHARE[is]) {
      ledger.accept(judged, positionOf(ledger.run, place));
      accepted.push(row.id);
      continue;
    }
    reported.set(row.id, verdict === "new" ? "rejected" : verdict);
    if (["new", "bad", "held", "unclear"].includes(verdict))
      rejects.push({ row, position, isUnclear: verdict === "unclear" });
  }
  onlooker?.accepted(accepted);
  return { accepted, reported, rejects };
}
