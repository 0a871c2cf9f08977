/** What the check of an input came to. */
import type { PlanResult } from "../plan/planner.ts";
import type { ProblemLog } from "../plan/problems.ts";
import type { InputFile } from "../readers/input-file.ts";
export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: PlanResult;
  readonly problems: ProblemLog;
}
