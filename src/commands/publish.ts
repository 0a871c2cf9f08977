/** `tickets publish`: check and plan, for workers to send. */

import { collectCommand, workCommand } from "../actions/next-command.ts";
import { count, displayPath } from "../actions/text.ts";
import { type PublishResult, type PublishSettings, publish as publishInput } from "../run/publish.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { describeChunks, tellNothingSent } from "./input-words.ts";
import { runContextOf } from "./run-context.ts";
import { tellRunsWithDoubts } from "./run-end.ts";
import { confirmBy, newLedgerBy } from "./stream.ts";
import { traceSummary } from "./trace.ts";

export interface PublishOptions
  extends EnvironmentOptions,
    Omit<PublishSettings, "settings" | "startedAt" | "confirm" | "newLedger"> {
  readonly json: boolean;
  /** Don't ask before anything is published. */
  readonly yes: boolean;
}

export async function publish(options: PublishOptions, context: Context): Promise<number> {
  const startedAt = performance.now();
  const { reporter, trace } = context;
  trace.files = options.files;
  const core = runContextOf(context);
  const settings = await loadSettings(core, options);
  const output = options.output ?? settings.environment.output;
  const result = await publishInput(core, {
    ...options,
    output,
    settings,
    startedAt,
    confirm: confirmBy(options, context, "Publish"),
    newLedger: newLedgerBy(options, context),
  });
  tellEnding(result, context);
  const { summary } = result;
  traceSummary(trace, summary);
  if (options.json) reporter.out(`${JSON.stringify(summary)}\n`);
  return summary.exitCode;
}

function tellEnding({ summary, ending }: PublishResult, { reporter, trace, cwd }: Context): void {
  switch (ending.kind) {
    case "nothing sent": {
      const { sending, same, environment } = ending;
      tellNothingSent(
        { ...ending, isSentByWorkers: sending.length > 0 && ending.doubts.length === 0 },
        summary,
        reporter,
      );
      if (sending.length === 0 || ending.doubts.length > 0) break;
      reporter.info(
        same === undefined
          ? `What is pending waits for workers in ${sending.length === 1 ? "run" : "the runs"} ${sending.join(", ")}.`
          : `Run ${same} has just this input: it was published before, and waits for workers.`,
      );
      reporter.info(`Send it: ${workCommand(environment)}`);
      break;
    }
    case "not confirmed":
      trace.told.length = 0;
      reporter.error("Not confirmed; nothing was published.");
      break;
    case "published": {
      const { run, environment, manifest, output, ahead, waiting, doubts } = ending;
      const first = ahead === 0 ? "" : `, behind ${count(ahead, "run")} that ${ahead === 1 ? "is" : "are"} still open`;
      reporter.info(
        `Published as run ${run}: ${count(manifest.actions.planned, "action")} in ${describeChunks(manifest)} wait for workers${first}.`,
        { event: "run.published", actions: manifest.actions.planned, chunks: manifest.chunks.length },
      );
      if (waiting > 0) reporter.warn(WAITING);
      if (doubts.length > 0) tellRunsWithDoubts(reporter, doubts, environment, reporter.error);
      reporter.info(`Send it, on any machine: ${workCommand(environment)}`);
      reporter.info(
        `Bring its promises here${output === undefined ? "" : `, into ${displayPath(output, cwd)}`}: ${collectCommand(environment, run, "--follow")}`,
      );
      break;
    }
    case "ended":
      // Told when the run ended.
      break;
  }
}

const WAITING =
  "Actions that depend on what is in doubt in another run are not among them. Publish the input again once someone has decided about that.";
