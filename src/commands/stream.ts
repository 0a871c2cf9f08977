/** `tickets stream`: check, plan, send, and keep every promise. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { resultsCommand, workCommand } from "../next-command.ts";
import { type StreamResult, type StreamSettings, stream as streamInput } from "../run/stream.ts";
import { count, displayPath, number } from "../text.ts";
import type { Context, InputOptions, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { sayNothingSent } from "./input-words.ts";
import { endSending, sayNext, sayRejects } from "./run-end.ts";

type StreamOptions = InputOptions &
  Options<
    | ("dryRun" | "maxInvalid" | "resend" | "adopt" | "reason" | "yes" | "publish")
    | ("maxDuration" | "waitLock" | "output" | "moveAside" | "report")
  >;

export async function stream(options: StreamOptions, context: Context): Promise<number> {
  const { reporter, trace, stop } = context;
  const { files, report, dryRun, yes } = options;
  trace.files = files;
  trace.isKept = !dryRun;
  if (report !== undefined) {
    const { reportPath } = await import("../write/report/page.ts");
    trace.report = await reportPath(context, report, { output: options.output, isToSend: true });
  }
  const { core, ...settings } = await openSettings(context, options);
  const output = options.output ?? settings.environment.output;
  if (options.json && output === "-")
    throw new Failure("usage", "--json and --output - would both write to standard output.", {
      nothingSent: true,
      hint: "Name a file for the promises.",
    });
  // Asked only on a terminal, and not with --yes.
  const { ask } = reporter;
  const asked = yes || ask === undefined ? undefined : (question: string) => ask(question, stop);
  const result = await streamInput(core, {
    ...{ ...options, output, settings },
    mode: modeOf(options),
    publishes: options.publish,
    confirm:
      asked &&
      (({ actions, environment, host }) => asked(`Send ${count(actions, "action")} to ${environment} (${host})?`)),
    newLedger: yes || asked,
  });
  sayEnding(result, options, settings.environment, context);
  return endSending(result.summary, settings.environment, options, context);
}

function modeOf({ resend, adopt }: StreamOptions): StreamSettings["mode"] {
  if (resend) return "resend";
  return adopt ? "adopt" : "judge";
}

/** The last lines of a stream, after those about its input and its runs. */
function sayEnding(
  { summary, ending }: StreamResult,
  { files, adopt }: StreamOptions,
  environment: Environment,
  context: Context,
): void {
  const { reporter, trace } = context;
  const were = files.length === 1 ? "was" : "were";
  switch (ending.kind) {
    case "earlier run stopped":
      reporter.error(`${files.join(", ")} ${were} not read.`);
      break;
    case "same input":
      reporter.info(
        `That finished a run of this same input.${summary.exitCode === 0 ? "" : " To send what is still open, run the command again."}`,
      );
      break;
    case "resend waits":
      reporter.error(
        `${files.join(", ")} ${were} not sent: an earlier run came first, and may have sent some of it again. Look, then run the command again.`,
      );
      break;
    case "adopted":
      reporter.info(`${count(ending.actions, "action")} recorded as already sent; nothing was sent.`);
      break;
    case "published": {
      const { chunks, ahead } = ending;
      const { run, output } = summary;
      reporter.info(
        `Published run ${run}: ${count(summary.actions.notSent, "action")} in ${count(chunks, "chunk")}${ahead === 0 ? "" : `, behind ${number(ahead)} open ${ahead === 1 ? "run" : "runs"}`}.`,
        { event: "run.published", actions: summary.actions.notSent, chunks },
      );
      reporter.info(`To send it: ${workCommand(environment)}`);
      if (run !== null && output !== null)
        reporter.info(
          `To write its promises to ${displayPath(output, context.cwd)}: ${resultsCommand(environment, run, "--follow")}`,
        );
      if (summary.exitCode === EXIT_CODES["in-doubt"]) sayNext(summary, context);
      break;
    }
    case "nothing sent":
      sayNothingSent(ending.checked, summary, adopt === true, reporter);
      sayRejects(summary, ending.checked.plan.inputs, context);
      if (!ending.checked.plan.isRefused) sayNext(summary, context);
      break;
    case "not confirmed":
      trace.reported.length = 0;
      reporter.error("Not confirmed; nothing was sent.");
      break;
    case "sent":
      // Printed when the run ended.
      break;
  }
}
