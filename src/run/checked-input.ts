import type { Plan } from "../plan/plan.ts";
import type { Problems } from "../plan/problems.ts";
import type { InputFile } from "../read/input-file.ts";

export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: Plan;
  readonly problems: Problems;
}

/** By which warnings are known that were told before. */
export const marksOf = ({ kept }: CheckedInput["problems"]): readonly string[] =>
  kept.flatMap(({ mark }) => (mark === undefined ? [] : [mark]));

/** Whether something changed of which no earlier command told. */
export const hasNewChange = ({ kept }: CheckedInput["problems"], told: ReadonlySet<string>): boolean =>
  kept.some(({ rule, mark }) => rule === "changed" && (mark === undefined || !told.has(mark)));
