/** How a ledger that was lost or restored from an older copy is noticed: it lacks runs that were sent from here. */

import { existsSync } from "node:fs";
import { importCommand } from "../actions/next-command.ts";
import { andMore, cleanText, count, displayPath, inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type Ledger, readMeta, runListPath } from "../ledger/ledger.ts";
import { findLostRuns, type LostRun, type RunListContent, readRunList } from "../ledger/run-list.ts";

/**
 * The runs that the list tells of and that the ledger does not know, or not fully.
 *
 * @param whose those sent to the service, or the sandbox instance, that the ledger belongs to; `boundTo` is undefined where it
 * is not known yet, as for a sandbox that is not running.
 * @param list what `readRunList` gave before the ledger was opened.
 * @param ledger undefined where there is none.
 */
export function lostRunsOf(
  { environment, boundTo }: { readonly environment: Environment; readonly boundTo: string | undefined },
  list: RunListContent,
  ledger: Ledger | undefined,
): readonly LostRun[] {
  const lost = findLostRuns(list, ledger);
  // A service that moved is still the same one; only a sandbox begins anew.
  if (environment.kind !== "sandbox" || lost.length === 0) return lost;
  const instance = boundTo ?? (ledger && readMeta(ledger, "bound_to")) ?? lost.at(-1)?.boundTo;
  return lost.filter((each) => each.boundTo === instance);
}

/**
 * For commands that only read. They hold no lock, so a run may begin meanwhile: the list is read first, since a run enters
 * the ledger before the list.
 */
export async function lookForLostRuns(
  environment: Environment,
  ledger: () => Promise<Ledger | undefined>,
): Promise<readonly LostRun[]> {
  const list = readRunList(runListPath(environment.ledgerPath));
  return lostRunsOf({ environment, boundTo: undefined }, list, await ledger());
}

/** How many runs are listed one by one. */
const SHOWN = 5;

/**
 * Says what happened and what to do, for a command that would otherwise send again what those runs have sent.
 *
 * @param left what the command did not do.
 */
export function lostRunsFailure(
  lost: readonly LostRun[],
  environment: Environment,
  cwd: string,
  left = "Nothing was sent.",
): Failure {
  const { name } = environment;
  const isImport = lost.every(({ how }) => how === "incomplete");
  const shown = lost.slice(0, SHOWN).map(describeLost);
  const more = andMore(lost.length - shown.length);
  const what = isImport
    ? `The ledger of ${name} still lacks part of ${lost.length === 1 ? "an imported run" : "the imported runs"}`
    : `The ledger of ${name} was lost, or restored from an older copy: it does not know everything that was sent from here`;
  const path = inShell(displayPath(runListPath(environment.ledgerPath), cwd));
  return new Failure("usage", `${what}: ${shown.join(", ")}${more}. ${left}`, {
    hint: [
      ...waysOut(lost, environment, cwd),
      `If you are sure that none of it will be sent twice, move the list of runs away: mv ${path} ${path}.aside`,
    ].join("\n"),
  });
}

function waysOut(lost: readonly LostRun[], environment: Environment, cwd: string): readonly string[] {
  if (lost.some(({ how }) => how === "older"))
    return [
      "Put back the ledger that knows more. If it is gone, move this one away; the next command then names the promises to import.",
    ];
  const unread = [...new Set(lost.flatMap((run) => run.unread))];
  const gone = unread.filter((path) => !existsSync(path)).map((path) => cleanText(displayPath(path, cwd), 200));
  const commands = unread
    .filter((path) => existsSync(path))
    .map((path) => `Import what it lacks: ${importCommand(environment, displayPath(path, cwd))}`);
  const [first] = lost;
  const whose = first !== undefined && lost.length === 1 ? `of run ${first.run}` : "of those runs";
  if (commands.length === 0 && (gone.length > 0 || lost.some(({ outputs }) => outputs.length === 0)))
    commands.push(`Import what it lacks from the promises ${whose}: ${importCommand(environment)}`);
  if (commands.length === 0)
    commands.push("No file tells more. Find out what else the service has, and leave it out of what you stream.");
  return [...(gone.length === 0 ? [] : [`Restore ${gone.join(", ")} first.`]), ...commands];
}

/** `run 7f3a0c11 of 2026-03-01T03:00:00.000Z (20 actions)` */
function describeLost({ run, createdAt, actions, how, known }: LostRun): string {
  const of = `run ${run} of ${createdAt}`;
  return how === "incomplete"
    ? `${of} (knows ${known} of ${count(actions, "action")})`
    : `${of} (${count(actions, "action")})`;
}
