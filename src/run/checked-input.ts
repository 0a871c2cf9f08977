/** The result of checking an input. */

import type { ProblemLog } from "../plan/findings/problem-log.ts";
import type { PlanResult } from "../plan/make-plan.ts";
import type { InputFile } from "../readers/input-file.ts";

export interface CheckedInput {
  readonly files: readonly InputFile[];
  readonly plan: PlanResult;
  readonly problems: ProblemLog;
}
