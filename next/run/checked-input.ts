import type { InputFile } from "../../src/readers/input-file.ts";
import type { Plan } from "../plan/plan.ts";
import type { Problems } from "../plan/problems.ts";

export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: Plan;
  readonly problems: Problems;
}
