/** `tickets status --remote`: asks the service what has become of its promises. It takes no lock. */

import { placeText } from "../actions/place.ts";
import { cleanText, count, number } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { noLedger } from "../run/ledger-of.ts";
import { remoteStatus as ask, type RemoteCounts, type RemoteStatus } from "../run/remote-status.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import { FAILED_STATUSES, FINAL_STATUSES, NOT_FOUND, OPEN_STATUSES } from "../send/status-answer.ts";
import type { Context } from "./context.ts";
import { failureText } from "./reporter.ts";
import { openSettings } from "./run-context.ts";
import { describeAnswer, describeAuthentication, describeUnreachable } from "./service-words.ts";
import { inColumns, widthsOf } from "./table.ts";
import { sayNeverSent } from "./words.ts";

export interface RemoteStatusOptions extends EnvironmentOptions {
  readonly run: string | undefined;
  readonly json: boolean;
}

/** Exit 4 where a promise ended without reaching the blockchain, is not known to the service, or was answered with nothing. */
export async function remoteStatus(options: RemoteStatusOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { core, environment } = await openSettings(context, options, "any");
  const found = await ask(core, { environment, run: options.run });
  const { problem, hasLedger, stop } = found;
  if (!hasLedger && options.run !== undefined && problem === undefined) throw noLedger(environment, cwd);
  if (problem !== undefined) reporter.error(failureText(problem));
  if (options.json) reporter.out(`${JSON.stringify(toDocument(options, environment, found))}\n`);
  else if (found.promises > 0) sayCounts(found, context);
  if (!hasLedger && problem === undefined) sayNeverSent(environment, context);
  else if (hasLedger && found.promises === 0)
    reporter.info(
      options.run === undefined
        ? `${environment.name} has given no promises yet.`
        : `Run ${options.run} was given no promises.`,
    );
  sayDoubtful(found, environment, context);
  if (stop !== undefined) sayStop(stop, found, environment, context);
  return found.exitCode;
}

/** The document of `status --remote --json`. */
function toDocument({ run }: RemoteStatusOptions, { name }: Environment, found: RemoteStatus) {
  const { runs, promises, statuses, unknown, final, failed, notFound, answers, unreadable, failures, stop } = found;
  return {
    ...{ environment: name, run: run ?? null, runs, promises, statuses, unknown, final, failed, notFound, answers },
    unreadable: unreadable.answers,
    failures: failures.map(({ source, line, action, actionPromise, ...place }) => ({
      ...place,
      ...{ source: source ?? null, line: line ?? null, action: action ?? null, actionPromise: actionPromise ?? null },
    })),
    stopped: stop?.kind ?? null,
    exitCode: found.exitCode,
  };
}

/** `11,900 of 12,040 promises are final.` */
const describeFinal = ({ final, promises }: RemoteCounts): string =>
  `${number(final)} of ${count(promises, "promise")} ${final === 1 ? "is" : "are"} final.`;

const UNANSWERED = "not answered yet";

/** What a person should know of a status, beside its word. */
const NOTES: Readonly<Record<string, string>> = {
  [UNANSWERED]: "",
  [NOT_FOUND]: "the service does not know these promises",
  ...Object.fromEntries(OPEN_STATUSES.map((status) => [status, "on its way"])),
  ...Object.fromEntries(FINAL_STATUSES.map((status) => [status, "final"])),
  ...Object.fromEntries(FAILED_STATUSES.map((status) => [status, "did not reach the blockchain"])),
};
const OTHER_NOTE = "not a status that tickets knows: counts as not final";

function sayCounts(found: RemoteStatus, { reporter }: Context): void {
  const statuses = Object.entries(found.statuses).map(([status, n]) => [cleanText(status), n] as const);
  const all = found.unknown === 0 ? statuses : [...statuses, [UNANSWERED, found.unknown] as const];
  const width = Math.max(...all.map(([, n]) => number(n).length));
  const rows = all.map(([status, n]) => [status, number(n).padStart(width), NOTES[status] ?? OTHER_NOTE]);
  reporter.out(`${count(found.promises, "promise")} of ${count(found.runs, "run")}\n`);
  const widths = widthsOf(rows);
  for (const row of rows) reporter.out(`  ${inColumns(row, widths)}\n`);
}

function sayDoubtful(found: RemoteStatus, environment: Environment, { reporter }: Context): void {
  const { failures, failed, notFound, unreadable } = found;
  for (const { source, line, action, actionPromise, status } of failures)
    reporter.error(
      `${source === undefined ? "" : `${placeText({ source, line })} `}${action ?? "action"} ${status}: its promise ${cleanText(actionPromise ?? "", 255)} did not reach the blockchain.`,
    );
  if (failed > failures.length) {
    reporter.error(
      `${number(failed - failures.length)} more did not. All of them are in the ledger's table promise_statuses (docs/design/ledger.md).`,
    );
  }
  if (notFound > 0)
    reporter.warn(
      `${environment.name} does not know ${count(notFound, "promise")} (HTTP 404). Either statusPath (${environment.statusPath}) is not its path, or the service has forgotten them.`,
    );
  if (unreadable.answers > 0)
    reporter.warn(
      `${count(unreadable.answers, "answer")} did not say what became of ${unreadable.answers === 1 ? "its promise" : "their promises"}: ${cleanText(unreadable.detail, 200)}. Is statusPath (${environment.statusPath}) right?`,
    );
}

function sayStop(
  stop: NonNullable<RemoteStatus["stop"]>,
  found: RemoteStatus,
  environment: Environment,
  { env, reporter }: Context,
): void {
  const kept = `${describeFinal(found)} What was answered is kept.`;
  switch (stop.kind) {
    case "authentication failed":
      reporter.error(`${describeAuthentication(environment, stop)} ${kept}`);
      break;
    case "not reachable":
      reporter.error(
        `${describeUnreachable(environment, env, stop, "gave no answer about a promise")} ${kept}\nLater, the same command asks about the rest.`,
      );
      break;
    case "refused":
      reporter.error(
        `${environment.name} refused to give the status of a promise: ${cleanText(stop.detail, 300)}. Is statusPath (${environment.statusPath}) right? ${describeAnswer(stop.body)} ${kept}`,
      );
      break;
    case "unreadable":
      reporter.error(
        `None of the answers said what became of a promise, so no more were asked for. Is statusPath (${environment.statusPath}) right?`,
      );
      break;
    default:
      reporter.info(`Stopped by ${stop.kind}. What was answered is kept; the same command asks about the rest.`);
  }
}
