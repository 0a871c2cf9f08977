/** The words of a run's end: why it stopped, what it came to, and what to do next. */

import { commandForDoubts, settleCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath, number } from "../actions/text.ts";
import { describeKeySource, describeOwnCertificate, type Environment } from "../config/environment.ts";
import type { ChunkRecord } from "../ledger/runs.ts";
import { rejectionText } from "../outputs/rejection-text.ts";
import { lanesOf, waitsForAnotherRun } from "../plan/files/manifest.ts";
import type { RunEnd, RunStop } from "../run/run-end.ts";
import { hasUnsentRows } from "../run/summary.ts";
import { ITEM_DOUBTS, saysCertificateRefused } from "../sending/answer.ts";
import { isProxyAsking, proxyOf } from "../sending/proxy.ts";
import type { Stop } from "../sending/send.ts";
import { actionRange, chunkNumber } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import type { LogEvent } from "./log-events.ts";
import { type Reporter, reporting } from "./reporter.ts";
import { describeActions, describeNothingOpen, describeUnsentRows } from "./summary.ts";

/** Tells how a run ended, lane by lane. */
export function tellRunEnd({ end }: { readonly end: RunEnd }, context: Context): void {
  const { reporter, cwd, verbose } = context;
  const { environment, summary, manifest, stops, left, rejects } = end;
  const first = stops[0]?.stop ?? { kind: "finished" };
  tellStops(end, context);
  for (const row of end.rejected)
    reporter.error(
      `${cleanText(row.source, 200)}:${row.line} ${row.action} ${cleanText(row.ticketId ?? row.nftId ?? row.eventId ?? "")} ${verbose ? `rejected: ${cleanText(row.response ?? "", 300)}` : rejectionText(row)}`,
      { event: "rejection", file: row.source, line: row.line, action: row.action },
    );
  const more = summary.actions.rejected - end.rejected.length;
  if (more > 0) reporter.error(`… and ${number(more)} more rejected by the service: the rejects have all of them.`);
  reporter.info(
    `${describeActions(summary.actions, { waiting: left.waiting, repeated: manifest.repeated })}.${hasUnsentRows(manifest.rows) ? ` ${describeUnsentRows(manifest.rows)}.` : ""}${describePace(summary.durationMs, end.sent)}`,
    {
      event: "run.ended",
      counts: summary.actions,
      next: summary.next ?? undefined,
      exitCode: summary.exitCode,
      durationMs: summary.durationMs,
    },
  );
  tellByAction(reporter, summary, end.sent.actions);
  const written = summary.actions.accepted + summary.actions.rejected + summary.actions.settledByHand;
  if (summary.output !== null && written > 0) reporter.info(`Promises: ${displayPath(summary.output, cwd)}`);
  if (summary.rejects.length > 0)
    reporter.info(`Rejects: ${summary.rejects.map((path) => displayPath(path, cwd)).join(", ")}`);
  const isDone = first.kind === "finished";
  if (isDone && rejects.gone.length > 0)
    reporter.warn(
      `The rejects that an earlier command of this run wrote are gone: ${rejects.gone.map((path) => displayPath(path, cwd)).join(", ")}. What of them is still open comes again when the input is streamed.`,
    );
  if (isDone && left.open > 0)
    reporter.warn(
      `${count(left.open, "action")} waited for another run when run ${summary.run} was planned. Nothing is in doubt there any more: stream the input again to send what is still open.`,
    );
  if (isDone && waitsForAnotherRun(left)) tellRunsWithDoubts(reporter, end.doubts, environment, reporter.error);
  else if (summary.next !== null) reporter.info(`${NEXT[first.kind]}: ${summary.next}`);
  if (isDone && rejects.areUnclear) reporter.info(NOTHING_TO_MEND);
  if (rejects.accepted > 0) reporter.info(describeNothingOpen(rejects.accepted));
}

/** Tells why a run stopped, lane by lane. */
export function tellStops(end: Pick<RunEnd, "environment" | "manifest" | "stops">, context: Context): void {
  const first = end.stops[0]?.stop;
  // What a person has to decide is reported for every lane; what ends all lanes alike, once.
  const told = new Set<Stop["kind"]>();
  for (const each of end.stops) {
    const { stop } = each;
    const isOfChunk = stop.kind === "in doubt" || stop.kind === "refused";
    const ofStop = { ...context, reporter: reporting(context.reporter, eventOf(stop)) };
    if (isOfChunk || !told.has(stop.kind)) tellStop(ofStop, end, each, stop === first);
    told.add(stop.kind);
  }
}

/** How many runs with doubts are named one by one. */
const DOUBTS_TOLD = 5;

/** Otherwise a night with nothing else to send would exit with 6 and not say what to do. */
export function tellRunsWithDoubts(
  reporter: Reporter,
  runs: readonly string[],
  environment: Environment,
  tell: Reporter["error"],
): void {
  if (runs.length === 0) {
    reporter.info(`What waits belongs to another run. See which: ${commandForDoubts(runs, environment)}`);
    return;
  }
  const shown = runs.slice(0, DOUBTS_TOLD);
  const more = andMore(runs.length - shown.length);
  tell(
    `${runs.length === 1 ? "Run" : "The runs"} ${shown.join(", ")}${more} ${runs.length === 1 ? "has" : "have"} actions in doubt. Until someone decides, no other run sends them or what depends on them.`,
    { event: "doubt" },
  );
  for (const run of shown) reporter.info(`${NEXT["in doubt"]}: ${settleCommand(run, environment)}`);
}

/** `By action: 40 newEvent, 12,000 soldTicket.`, of all of the input; nothing where there is one kind, or this command sent nothing. */
function tellByAction(
  reporter: Reporter,
  { byAction, actions: { alreadySent } }: RunEnd["summary"],
  sent: number,
): void {
  const kinds = Object.entries(byAction).filter(([, actions]) => actions > 0);
  if (sent === 0 || kinds.length < 2) return;
  const including = alreadySent > 0 ? ", including those not sent again" : "";
  reporter.info(
    `By action${including}: ${kinds.map(([action, actions]) => `${number(actions)} ${action}`).join(", ")}.`,
  );
}

/** ` In 3.2 s, 6,004 actions/s while sending.`; nothing where this command sent nothing. */
function describePace(ms: number, sent: { readonly actions: number; readonly ms: number }): string {
  if (sent.actions === 0) return "";
  const rate = Math.round((1000 * sent.actions) / Math.max(1, sent.ms));
  return ` In ${(ms / 1000).toFixed(1)} s, ${number(rate)} actions/s while sending.`;
}

/** What programs are told of a stop. */
function eventOf(stop: Stop): LogEvent {
  const { kind: reason } = stop;
  const detail = "detail" in stop ? cleanText(stop.detail, 300) : undefined;
  if (!("chunk" in stop)) return { event: "run.stopped", reason, detail: stop.kind === "stopped" ? stop.by : detail };
  const { chunk, lane, count: actions } = stop.chunk;
  if (stop.kind === "in doubt") return { event: "doubt", chunk, lane, actions, detail };
  return { event: "run.stopped", reason, chunk, lane, detail };
}

/** @param isFirst whether it is the first stop that is reported. */
export function tellStop(
  { reporter, env }: Context,
  { environment, manifest }: Pick<RunEnd, "environment" | "manifest">,
  { stop, whole, isAmongSent }: RunStop,
  isFirst: boolean,
): void {
  const inLane = lanesOf(manifest) > 1 ? " in its lane" : "";
  const serviceName = environment.kind === "sandbox" ? "the sandbox" : environment.baseUrl;
  const throughProxy = proxyOf(environment, env)?.shown;
  const said = isFirst ? "Stopped:" : "Also:";
  const after = (chunk: ChunkRecord): string => `chunk ${chunkNumber(chunk, whole)} or after it${inLane}`;
  const sentAfter = (chunk: ChunkRecord): string =>
    isAmongSent
      ? `Later actions of chunk ${whole ?? chunk.chunk} were sent; nothing after that chunk${inLane} was.`
      : `Nothing after it${inLane} was sent.`;
  switch (stop.kind) {
    case "finished":
      break;
    case "in doubt":
      reporter.error(
        `${said} chunk ${chunkNumber(stop.chunk, whole, [actionRange(stop.chunk)])} is in doubt: ${cleanText(stop.detail, 300)}. ${isAnswered(stop) ? "" : "Its answer is not known. "}${sentAfter(stop.chunk)}`,
      );
      if (stop.body !== "") reporter.error(`The service said: ${cleanText(stop.body, 500)}`);
      break;
    case "refused":
      reporter.error(
        `${said} the service refused chunk ${chunkNumber(stop.chunk, whole)}: ${cleanText(stop.detail, 300)}. ${stop.whole ? "By refusalsAreWhole, none of it was taken." : "Part of it may have been taken."}`,
      );
      if (stop.body !== "") reporter.error(`The service said: ${cleanText(stop.body, 500)}`);
      break;
    case "not let in": {
      if (saysCertificateRefused(stop.detail)) {
        reporter.error(
          `${environment.name} did not accept ${describeOwnCertificate(environment.tls)} (${cleanText(stop.detail, 200)}). Nothing of ${after(stop.chunk)} was sent.`,
        );
        break;
      }
      const plain = /^\s*\{\s*"message"\s*:\s*"Forbidden"\s*\}\s*$/.test(stop.body);
      reporter.error(
        plain
          ? `${environment.name} did not accept the key (${stop.detail}). The key came from ${describeKeySource(environment.keySource)}. Nothing of ${after(stop.chunk)} was sent.`
          : `${environment.name} did not accept the request (${stop.detail}); the key came from ${describeKeySource(environment.keySource)}. The answer was: ${cleanText(stop.body, 500) || "(empty)"}`,
      );
      break;
    }
    case "not reachable":
      if (isProxyAsking(stop.detail)) {
        reporter.error(
          `The proxy ${throughProxy ?? ""} asks for a user name and password (407), and was not tried again. Nothing of ${after(stop.chunk)} was sent. Put them into HTTPS_PROXY (http://user:password@host:port), or bypass the proxy with NO_PROXY.`,
        );
        break;
      }
      reporter.error(
        `${stop.reached ? `${serviceName} took nothing` : `Could not reach ${serviceName}`}${throughProxy === undefined ? "" : ` through the proxy ${throughProxy}`} after ${count(stop.attempts, "attempt")} (${cleanText(stop.detail, 200)})${stop.waitMs === undefined ? "" : `; the next one would come ${seconds(stop.waitMs)} later, past --max-duration`}. Nothing of ${after(stop.chunk)} was sent.`,
      );
      break;
    case "too many rejections":
      reporter.error(
        `Stopped: ${count(stop.rejected, "action")} rejected, more than maxRejected (${environment.maxRejected}).`,
      );
      break;
    case "stopped":
      // A doubt of another lane is reported before it.
      if (!isFirst) break;
      reporter.error(
        stop.by === "max-duration"
          ? "Stopped: --max-duration is over. Nothing is in doubt."
          : stop.by === "elsewhere"
            ? "Stopped: a person or another machine stopped the run. Nothing is in doubt."
            : `Stopped by ${stop.by}. Nothing is in doubt.`,
      );
      break;
  }
}

/** Whether an answer came, but says too little or what it must not say. */
function isAnswered({ detail }: Extract<Stop, { kind: "in doubt" }>): boolean {
  return /^HTTP 2\d\d, but/.test(detail) || Object.values(ITEM_DOUBTS).some((why) => detail.startsWith(why));
}

/** What leads to the next command. */
export const NEXT: Readonly<Record<Stop["kind"], string>> = {
  finished: "Mend the rejects, then",
  "in doubt": "Look, then decide",
  refused: "Look, then decide",
  "not let in": "Mend that, then",
  "not reachable": "Later",
  "too many rejections": "Look at the rejects, then",
  stopped: "Continue",
};

const NOTHING_TO_MEND =
  "No value in these rejects is wrong. Follow the reason beside each row; to send one as it is, stream it alone with --again.";

/** `1.5 s` */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
