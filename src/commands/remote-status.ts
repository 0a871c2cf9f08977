/** `tickets status --remote`: what the service says has become of its promises. */

import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import { askAboutPromises, type RemoteStatus } from "../run/remote-status.ts";
import { STOP_CODES } from "../run/summary.ts";
import type { AskStop } from "../send/ask-statuses.ts";
import { FAILED_STATUSES, isFinal, NOT_FOUND, OPEN_STATUSES } from "../send/status-answer.ts";
import { cleanText, count, number } from "../text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { columnsOf, layOut } from "./layout.ts";
import { describeAnswer, describeAuthentication, describeUnreachable } from "./run-end.ts";

/**
 * Exit 4 if a promise failed to reach the blockchain, is unknown to the service, or got no usable answer. If the service could not
 * be asked, the exit code is that of a run which stops for the same reason.
 */
export async function remoteStatus(options: Options<"run" | "json">, context: Context): Promise<number> {
  const { reporter } = context;
  const { run } = options;
  const { core, environment } = await openSettings(context, options, "any");
  const found = await askAboutPromises(core, environment, run);
  const exitCode = exitCodeOf(found);
  if (options.json) {
    const { stop, unreadable, ...counted } = found;
    const rest = { unreadable: unreadable.answers, stopped: stop?.kind ?? null, exitCode };
    reporter.document({ environment: environment.name, run: run ?? null, ...counted, ...rest });
  } else sayCounts(found, context);
  sayFailed(found, environment, context);
  if (found.stop !== undefined) sayStop(found.stop, found, environment, context);
  return exitCode;
}

function exitCodeOf({ stop, failed, notFound, unreadable }: RemoteStatus): number {
  if (stop !== undefined) return STOP_CODES[stop.kind === "unreadable" ? "refused" : stop.kind];
  return failed + notFound + unreadable.answers > 0 ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** What a status means to a person. */
function meaningOf(status: string): string {
  if (status === NOT_FOUND) return "the service does not know these promises";
  if (FAILED_STATUSES.includes(status)) return "did not reach the blockchain";
  if (isFinal(status)) return "final";
  return OPEN_STATUSES.some((open) => open === status) ? "on its way" : "not a status that tickets knows";
}

function sayCounts({ statuses, unknown, promises, runs }: RemoteStatus, { reporter, stdout }: Context): void {
  const rows = Object.entries(statuses).map(([status, n]) => [cleanText(status), number(n), meaningOf(status)]);
  if (unknown > 0) rows.push(["", number(unknown), "not answered yet"]);
  reporter.show(`${count(promises, "promise")} of ${count(runs, "run")}\n`);
  if (rows.length > 0) reporter.show(layOut(["status", "promises", "meaning"], rows, columnsOf(stdout)));
}

const isRight = ({ statusPath }: Environment): string => `Is statusPath (${statusPath}) right?`;

function sayFailed({ failed, notFound, unreadable }: RemoteStatus, environment: Environment, { reporter }: Context) {
  if (failed > 0)
    reporter.error(
      `${count(failed, "promise")} did not reach the blockchain. docs/design/ledger.md has the query that lists them.`,
    );
  if (notFound > 0)
    reporter.warn(
      `${environment.name} does not know ${count(notFound, "promise")} (HTTP 404), or has forgotten them. ${isRight(environment)}`,
    );
  if (unreadable.answers > 0)
    reporter.warn(
      `${count(unreadable.answers, "answer")} did not say what became of ${unreadable.answers === 1 ? "its promise" : "their promises"}: ${cleanText(unreadable.detail, 200)}. ${isRight(environment)}`,
    );
}

function sayStop(
  stop: AskStop,
  { final, promises }: RemoteStatus,
  environment: Environment,
  { env, reporter }: Context,
): void {
  const kept = `${number(final)} of ${count(promises, "promise")} ${final === 1 ? "is" : "are"} final. What was answered is kept; the same command asks about the rest.`;
  reporter.error(`${describeStop(stop, environment, env)} ${kept}`);
}

function describeStop(stop: AskStop, environment: Environment, env: Context["env"]): string {
  switch (stop.kind) {
    case "authentication failed":
      return describeAuthentication(environment, stop);
    case "not reachable":
      return describeUnreachable(environment, env, stop, "gave no answer about a promise");
    case "refused":
      return `${environment.name} refused to give the status of a promise: ${cleanText(stop.detail, 300)}. ${isRight(environment)} ${describeAnswer(stop.body)}`;
    case "unreadable":
      return `No answer said what became of a promise. ${isRight(environment)}`;
  }
}
