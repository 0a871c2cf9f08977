/** What follows a run once its exit code is known: metrics, and the user's own program. Neither changes how the run ended. */

import { Failure } from "../failure.ts";
import type { Context } from "./context.ts";
import type { Trace } from "./trace.ts";

/** How a command that sends ended. */
export interface Ended {
  readonly endedAt: string;
  readonly durationMs: number;
  readonly exitCode: number;
  /** What `--json` prints; undefined where there was nothing to do. */
  readonly document: object | undefined;
}

/** Never throws: what goes wrong is a warning. */
export async function afterRun(
  { environment, summary }: Pick<Trace, "environment" | "summary">,
  { endedAt, durationMs, exitCode, document }: Ended,
  { reporter, cwd, env, abort }: Pick<Context, "reporter" | "cwd" | "env" | "abort">,
  metricsFile: string | undefined,
): Promise<void> {
  if (metricsFile !== undefined && environment === undefined)
    reporter.warn("The metrics were not written, because no environment was chosen.");
  if (environment === undefined) return;
  if (metricsFile !== undefined) {
    const [{ status }, { metricsOf, writeMetrics }] = await Promise.all([
      import("../run/status.ts"),
      import("./metrics-file.ts"),
    ]);
    // What a ledger that can't be read would say is not known.
    const found = await status({ cwd }, environment, 0).catch((cause: unknown) => {
      if (cause instanceof Failure) return undefined;
      throw cause;
    });
    const last = { endedAt, durationMs, exitCode, counts: summary && { actions: { ...summary.actions } } };
    try {
      await writeMetrics(metricsFile, cwd, metricsOf(environment.name, found, last));
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      reporter.warn(cause.message);
    }
  }
  if (environment.onEnd === undefined || document === undefined) return;
  const { runOnEnd } = await import("./on-end.ts");
  const failed = await runOnEnd(environment, { document, exitCode, env }, abort);
  if (failed !== undefined) reporter.warn(failed);
}
