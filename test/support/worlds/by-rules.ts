/** Worlds played by the rules alone, in memory. */

import { judge, Ledger, positionOf, type Row } from "./rules.ts";
import { type Findings, type Night, type Outcome, playWorld, type Random, type World } from "./world.ts";

export function playByRules(world: World, random: Random): Findings {
  const ledger = new Ledger();
  const nights = playWorld(world, random);
  let step = nights.next();
  while (step.done !== true) step = nights.next(carryOut(step.value, ledger, world, random));
  return step.value;
}

const REJECTED_SHARE = { export: 0.06, corrected: 0.03, last: 0 } as const satisfies Record<Night["is"], number>;

function carryOut({ rows, is }: Night, ledger: Ledger, { form }: World, random: Random): Outcome {
  ledger.run += 1;
  const accepted: number[] = [];
  const told = new Map<number, string>();
  const rejects: Pick<Row, "id" | "position">[] = [];
  for (const [place, judged] of judge(rows, ledger, form !== "delta" && is !== "corrected").entries()) {
    const { row, verdict, position } = judged;
    if (verdict === "known") continue;
    if (verdict === "new" && random() >= REJECTED_SHARE[is]) {
      ledger.accept(judged, positionOf(ledger.run, place));
      accepted.push(row.id);
      continue;
    }
    told.set(row.id, verdict === "new" ? "rejected" : verdict);
    if (["new", "bad", "held"].includes(verdict)) rejects.push({ id: row.id, position });
  }
  return { accepted, told, rejects };
}
