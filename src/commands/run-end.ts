/** The end of a run: why it stopped, what it came to, and what to do next. */

import { describeKeySource } from "../config/declared.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import type { Chunk, RunInput } from "../ledger/ledger.ts";
import { adoptCommand } from "../next-command.ts";
import { placeText } from "../read/file-names.ts";
import { hasUnsentRows, type RunEnd, type Summary } from "../run/summary.ts";
import { isProxyAsking, proxyOf } from "../send/proxy.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import { cleanText, count, displayPath, durationText, number } from "../text.ts";
import { rejectionText } from "../write/rejection-text.ts";
import type { AllOptions, Context } from "./context.ts";
import { chunkNumber, describeActions, describeUnsentRows } from "./describe.ts";
import type { LogEvent } from "./reporter.ts";

/** The end of a command that sends. Returns its exit code. */
export function endSending(
  summary: Summary,
  environment: Environment,
  { json }: Pick<AllOptions, "json">,
  { reporter, trace }: Pick<Context, "reporter" | "trace">,
): number {
  trace.summary = summary;
  trace.run = summary.run ?? undefined;
  if (json) reporter.document(summary);
  if (environment.kind === "sandbox") reporter.notice("SANDBOX: nothing left this machine.");
  return summary.exitCode;
}

/** Says how a run ended, lane by lane. */
export function sayRunEnd(end: RunEnd, context: Context): void {
  const { reporter, cwd, verbose } = context;
  const { summary, stops, run, rejected } = end;
  sayStops(end, context);
  for (const { origin, response } of rejected) {
    const source = run.inputs[origin.input]?.name ?? "";
    const why = verbose ? `rejected: ${cleanText(response ?? "", 300)}` : rejectionText({ response });
    reporter.error(
      `${placeText({ source, line: origin.line })} ${origin.kind} ${cleanText(origin.subject.slice(2))} ${why}`,
      { event: "rejection", file: source, line: origin.line, action: origin.kind },
    );
  }
  const more = summary.actions.rejected - rejected.length;
  if (more > 0) reporter.error(`… and ${number(more)} more; all of them are in the rejects.`);
  reporter.info(
    `${describeActions(summary.actions)}.${hasUnsentRows(summary.rows) ? ` ${describeUnsentRows(summary.rows)}.` : ""}${describePace(summary.durationMs, end.sent)}`,
    {
      event: "run.ended",
      counts: summary.actions,
      next: summary.next ?? undefined,
      exitCode: summary.exitCode,
      durationMs: summary.durationMs,
    },
  );
  if (summary.output !== null && summary.actions.accepted + summary.actions.rejected > 0)
    reporter.info(`Promises: ${displayPath(summary.output, cwd)}`);
  sayRejects(summary, run.inputs, context);
  sayNext(summary, context, stops[0]?.kind);
}

/** Says which command comes next, where one does. @param stopped why the run stopped, where that is known. */
export function sayNext(summary: Summary, { reporter }: Pick<Context, "reporter">, stopped?: Stop["kind"]): void {
  if (summary.next === null) return;
  const lead = leadTo(summary, stopped);
  reporter.info(`${lead}: ${summary.next}`);
  if (lead === FIX && summary.actions.rejected > 0) reporter.info(`${ADOPT}: ${adoptCommand(summary.next)}`);
}

/** Names the rejects, and their encoding where an input has another. */
export function sayRejects(
  { rejects }: Pick<RunEnd["summary"], "rejects">,
  inputs: readonly Pick<RunInput, "encoding">[],
  { reporter, cwd }: Context,
): void {
  if (rejects.length === 0) return;
  const isOther = inputs.some(({ encoding = "utf-8" }) => encoding !== "utf-8");
  reporter.info(`Rejects: ${rejects.map((path) => displayPath(path, cwd)).join(", ")}${isOther ? " (UTF-8)" : ""}`);
}

/** Says why a run stopped, lane by lane. */
export function sayStops(end: Pick<RunEnd, "environment" | "lanes" | "stops">, { reporter, env }: Context): void {
  const [first] = end.stops;
  // What a person has to decide is reported for every lane; what ends all lanes alike, once.
  const said = new Set<Stop["kind"]>();
  for (const stop of end.stops) {
    const isOfChunk = stop.kind === "in doubt" || stop.kind === "refused";
    if (isOfChunk || !said.has(stop.kind))
      for (const line of describeStop(stop, end, env, stop === first)) reporter.error(line, eventOf(stop));
    said.add(stop.kind);
  }
}

/** ` In 3.2 s, 6,004 actions/s while sending.`; nothing where this command sent nothing. */
function describePace(ms: number, sent: { readonly actions: number; readonly ms: number }): string {
  if (sent.actions === 0) return "";
  const rate = Math.round((1000 * sent.actions) / Math.max(1, sent.ms));
  return ` In ${durationText(ms)}, ${number(rate)} actions/s while sending.`;
}

/** A stop in the log. */
function eventOf(stop: Stop): LogEvent {
  const { kind: reason } = stop;
  const detail = "detail" in stop ? cleanText(stop.detail, 300) : undefined;
  if (!("chunk" in stop)) return { event: "run.stopped", reason, detail: stop.kind === "stopped" ? stop.by : detail };
  const { chunk, lane, count: actions } = stop.chunk;
  if (stop.kind === "in doubt") return { event: "doubt", chunk, lane, actions, detail };
  return { event: "run.stopped", reason, chunk, lane, detail };
}

/** @param isFirst whether it is the first stop that is reported. */
export function describeStop(
  stop: Stop,
  { environment, lanes }: Pick<RunEnd, "environment" | "lanes">,
  env: Context["env"],
  isFirst: boolean,
): readonly string[] {
  const inLane = lanes > 1 ? " in its lane" : "";
  const said = isFirst ? "Stopped:" : "Also:";
  const nothingAfter = (chunk: Chunk): string =>
    `Nothing of chunk ${chunkNumber(chunk)} or after it${inLane} was sent.`;
  switch (stop.kind) {
    case "in doubt":
      return [
        `${said} chunk ${chunkNumber(stop.chunk)} (${count(stop.chunk.count, "action")}) is in doubt: ${cleanText(stop.detail, 300)}. Nothing after its request${inLane} was sent.`,
        ...describeBody(stop),
      ];
    case "refused":
      return [
        `${said} the service refused chunk ${chunkNumber(stop.chunk)}: ${cleanText(stop.detail, 300)}. ${stop.whole ? "By refusalsAreWhole, none of it was taken." : "Part of it may have been taken."}`,
        ...describeBody(stop),
      ];
    case "authentication failed":
      return [`${describeAuthentication(environment, stop)} ${nothingAfter(stop.chunk)}`];
    case "not reachable": {
      const unreachable = describeUnreachable(environment, env, stop, "took nothing");
      const late =
        stop.waitMs === undefined
          ? ""
          : ` The next attempt would come in ${durationText(stop.waitMs)}, past --max-duration.`;
      return [`${unreachable}${late} ${nothingAfter(stop.chunk)}`];
    }
    case "too many rejections":
      return [
        `Stopped: ${count(stop.rejected, "action")} rejected, more than maxRejected (${environment.maxRejected}).`,
      ];
    case "stopped":
      // A doubt of another lane is reported before it.
      return isFirst
        ? [`Stopped${STOPPED_BY[stop.by] ?? ` by ${stop.by}`}. Nothing that this command sent is in doubt.`]
        : [];
  }
}

const STOPPED_BY: Readonly<Partial<Record<StopRequest, string>>> = {
  "max-duration": ": --max-duration reached",
  elsewhere: ": a person or another machine stopped the run",
};

const describeBody = ({ body }: { readonly body: string }): readonly string[] =>
  body === "" ? [] : [`The service said: ${cleanText(body, 500)}`];

const NEXT: Readonly<Record<Stop["kind"], string>> = {
  "in doubt": "Look, then decide",
  refused: "Look, then decide",
  "authentication failed": "Fix that, then",
  "not reachable": "Later",
  "too many rejections": "Look at the rejects, then",
  stopped: "Continue",
};

const FIX = "Fix the rows in the rejects, then run";
/** The service rejects some rows for good, night after night. What is adopted is never sent, so nothing else may stand there. */
const ADOPT = "If rows are right and the service will never take them, leave only those in the file and record them";

/** The words before the next command. A doubt comes before the rejects, even if another run has it. */
export function leadTo({ state, exitCode, rows, actions }: Summary, stopped: Stop["kind"] = "stopped"): string {
  const isDoubtful = exitCode === EXIT_CODES["in-doubt"] || stopped === "in doubt";
  // After a dry run, the next command is about the run that some of the input waits for.
  if (isDoubtful || state === "dry run") return NEXT["in doubt"];
  if (state === "published") return "To write its promises";
  if (state === "invalid") return "Fix the rows, then check them";
  if (state === "stopped") return NEXT[stopped];
  const isToFix = hasUnsentRows(rows) || actions.rejected + actions.notSent > 0 || actions.unclear === 0;
  if (isToFix) return FIX;
  return "Give the unclear rows a time or a key, or add --resend (they are new) or --adopt (they are known), then run";
}

/** The gateway's plain answer to a wrong key. Any other answer is shown, since the key may be right. */
const FORBIDDEN = /^\s*\{\s*"message"\s*:\s*"Forbidden"\s*\}\s*$/;

export function describeAuthentication(
  { name, keySource }: Environment,
  { detail, body }: { readonly detail: string; readonly body: string },
): string {
  const failed = `Authentication failed (${detail}): ${name} did not accept`;
  const key = describeKeySource(keySource);
  return FORBIDDEN.test(body)
    ? `${failed} the key from ${key}.`
    : `${failed} the request; the key came from ${key}. ${describeAnswer(body)}`;
}

export const describeAnswer = (body: string): string => `The answer was: ${cleanText(body, 500) || "(empty)"}.`;

/** @param tookNothing what the service did if it answered, but only that it wants to be asked later. */
export function describeUnreachable(
  environment: Environment,
  env: NodeJS.ProcessEnv,
  { reached, attempts, detail }: { readonly reached: boolean; readonly attempts: number; readonly detail: string },
  tookNothing: string,
): string {
  const proxy = proxyOf(environment, env)?.shown;
  if (isProxyAsking(detail))
    return `The proxy ${proxy ?? ""} asks for a user name and password (407), and was not tried again. Put them into HTTPS_PROXY (http://user:password@host:port), or bypass the proxy with NO_PROXY.`;
  const service = environment.kind === "sandbox" ? "the sandbox" : environment.baseUrl;
  const through = proxy === undefined ? "" : ` through the proxy ${proxy}`;
  return `${reached ? `${service} ${tookNothing}` : `Could not reach ${service}`}${through} after ${count(attempts, "attempt")} (${cleanText(detail, 200)}).`;
}
