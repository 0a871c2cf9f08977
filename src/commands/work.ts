/** `tickets work`: send what was published, here or on other machines. */

import { count, number } from "../actions/text.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type WorkResult, type WorkSettings, work as workOnRuns } from "../run/work.ts";
import type { Context } from "./context.ts";
import { runContextOf } from "./run-context.ts";

export interface WorkOptions extends EnvironmentOptions, Omit<WorkSettings, "settings" | "startedAt"> {
  readonly json: boolean;
}

export async function work(options: WorkOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const core = runContextOf(context);
  const settings = await loadSettings(core, options);
  const result = await workOnRuns(core, { ...options, settings, startedAt });
  tell(result, context);
  if (options.json) {
    const { environment, exitCode, accepted, rejected, ended, waits } = result;
    const document = {
      environment: environment.name,
      exitCode,
      accepted,
      rejected,
      ended,
      waits: waits?.message ?? null,
    };
    context.reporter.out(`${JSON.stringify(document)}\n`);
  }
  return result.exitCode;
}

function tell({ accepted, rejected, waits }: WorkResult, { reporter }: Context): void {
  if (waits !== undefined) {
    reporter.error(
      waits.message,
      waits.code === "in-doubt" ? { event: "doubt" } : { event: "run.stopped", reason: waits.code },
    );
    if (waits.hint !== undefined) reporter.info(waits.hint);
  }
  reporter.info(
    `This worker sent ${count(accepted + rejected, "action")}${rejected > 0 ? `, of which ${number(rejected)} were rejected` : ""}.`,
  );
}
