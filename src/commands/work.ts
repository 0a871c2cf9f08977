/** `tickets work`: send what was published, here or on other machines. */

import { type WorkSettings, work as workOnRuns } from "../run/work.ts";
import { count, number } from "../text.ts";
import { afterRun } from "./after.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";

type WorkOptions = Options<"untilIdle" | "maxDuration" | "metrics" | "json">;

export async function work(options: WorkOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { core, environment } = await openSettings(context, options);
  const onRunEnd: WorkSettings["onRunEnd"] = ({ exitCode, summary }) =>
    afterRun({ environment, summary, exitCode, document: summary }, context, options.metrics);
  const { exitCode, accepted, rejected, ended } = await workOnRuns(core, {
    ...{ ...options, environment, onRunEnd },
    untilIdle: options.untilIdle === true,
  });
  reporter.info(
    `This worker sent ${count(accepted + rejected, "action")}${rejected > 0 ? `, of which ${number(rejected)} were rejected` : ""}.`,
  );
  if (options.json) reporter.document({ environment: environment.name, exitCode, accepted, rejected, ended });
  return exitCode;
}
