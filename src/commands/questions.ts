/** The words of what a person has to decide: the doubtful actions, and what would happen if they were sent twice. */

import { type Action, actionSpec } from "../actions/actions.ts";
import { cleanText, count, number } from "../actions/text.ts";
import { environmentFlags, settleCommand } from "../run/next-command.ts";
import type { DoubtfulAction, Questions } from "../run/questions.ts";
import { shown } from "./problems.ts";
import type { Reporter } from "./reporter.ts";

/** How many actions of a doubt are shown one by one. */
const SHOWN = 10;

export function tellQuestions(questions: Questions, { info }: Reporter, verbose: boolean): void {
  const { run, environment, chunks, superseded, isClosed } = questions;
  if (chunks.length === 0) info(`Nothing of run ${run} waits to be settled.`);
  for (const each of chunks) tellChunk(each, questions, info, verbose);
  if (superseded > 0 && !isClosed)
    info(
      `Of ${count(superseded, "action")} something later of the same history was accepted: sent now, ${superseded === 1 ? "it" : "they"} would undo it. With --not-sent ${superseded === 1 ? "it is" : "they are"} not sent again, and ${superseded === 1 ? "goes" : "go"} into rejects.`,
    );
  if (chunks.length === 0) return;
  const command = settleCommand(run, environment);
  const ways: readonly (readonly [string, string])[] = [
    ["If the service has them:", "--sent"],
    [`If it does not (they ${isClosed ? "go into rejects" : "are sent again"}):`, "--not-sent"],
    ...(questions.isOpen ? [["To close the run, its doubt unsettled:", "--abandon"] as const] : []),
  ];
  const width = Math.max(...ways.map(([words]) => words.length)) + 1;
  for (const [words, flag] of ways) info(`${words.padEnd(width)}${command} ${flag} --reason "…"`);
}

function tellChunk(
  { chunk, whole, actions }: Questions["chunks"][number],
  { run, environment }: Questions,
  info: Reporter["info"],
  verbose: boolean,
): void {
  info(
    `Chunk ${chunk.chunk}${whole === undefined ? "" : ` (a part of chunk ${whole})`} is ${chunk.state}: ${count(chunk.count, "action")}, ${number(chunk.first)} to ${number(chunk.first + chunk.count - 1)} of the run. ${cleanText(chunk.detail ?? "", 300)}`,
  );
  for (const { source, line, action } of actions.slice(0, SHOWN))
    info(`  ${cleanText(source, 200)}:${line} ${action.action} ${describeIds(action, verbose)}`);
  if (actions.length > SHOWN)
    info(
      `  … and ${number(actions.length - SHOWN)} more; all of them: tickets status ${run} --chunk ${chunk.chunk} ${environmentFlags(environment)}`,
    );
  // A deed that happens once is refused a second time by any service that keeps tickets; the others would be taken again.
  const refusedTwice = actions.filter(({ action }) => actionSpec(action.action).identity !== "history").length;
  if (refusedTwice > 0)
    info(
      `  ${number(refusedTwice)} of them the service would probably refuse a second time (${kinds(actions, true)}).`,
    );
  if (refusedTwice < actions.length)
    info(
      `  ${number(actions.length - refusedTwice)} of them it would take a second time, and register twice (${kinds(actions, false)}).`,
    );
}

function kinds(actions: readonly DoubtfulAction[], once: boolean): string {
  return [...new Set(actions.map(({ action }) => action.action))]
    .filter((action) => (actionSpec(action).identity !== "history") === once)
    .join(", ");
}

function describeIds({ data }: Action, verbose: boolean): string {
  const { eventId, ticketId, nftId, userId } = data;
  return [eventId, ticketId, nftId, userId == null ? undefined : shown("userId", userId, verbose)]
    .filter((id) => id != null)
    .map((id) => cleanText(String(id)))
    .join(" ");
}
