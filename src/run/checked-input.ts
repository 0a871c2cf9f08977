import type { Plan } from "../plan/plan.ts";
import type { Problems } from "../plan/problems.ts";
import type { InputFile } from "../readers/input-file.ts";

export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: Plan;
  readonly problems: Problems;
}
