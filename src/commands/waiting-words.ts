/** What is not sent because of another run: how much of it there is, and its rows. */

import { cleanText, count, number } from "../actions/text.ts";
import type { NamedRows } from "../plan/decide/waiting-rows.ts";
import type { PlanResult } from "../plan/make-plan.ts";
import { PROBLEMS_SHOWN } from "./problems.ts";
import type { Reporter } from "./reporter.ts";

/** Rows named in a line, unless more are asked for. */
const ROWS_SHOWN = 10;

/** `2 waiting in another run, 3 waiting for what another run holds`; empty where nothing waits. */
export function describeWaiting({ actions: { pending, waiting } }: Pick<PlanResult, "actions">): string {
  return [
    ...(pending > 0 ? [`${number(pending)} waiting in another run`] : []),
    ...(waiting > 0 ? [`${number(waiting)} waiting for what another run holds`] : []),
  ].join(", ");
}

/** Names the rows that wait, since a night says of every row why it was not sent. */
export function tellWaiting(
  { warn }: Reporter,
  { actions, waitingRows: { pending, waiting } }: Pick<PlanResult, "actions" | "waitingRows">,
  { most, verbose }: { readonly most: number | undefined; readonly verbose: boolean },
): void {
  const shown = most ?? (verbose ? PROBLEMS_SHOWN : ROWS_SHOWN);
  const tell = (of: number, why: string, rows: NamedRows): void => {
    if (of > 0)
      warn(`${count(of, "action")} ${of === 1 ? "is" : "are"} not sent, since ${why}: ${named(rows, shown)}.`);
  };
  const [one, it] = [actions.pending === 1 ? "it" : "them", actions.waiting === 1 ? "it waits" : "they wait"];
  tell(actions.pending, `another run may have sent or still send ${one}`, pending);
  tell(actions.waiting, `${it} for what another run holds`, waiting);
}

/** `sales.csv:7, sales.csv:9 and 8 more rows` */
function named({ rows, first }: NamedRows, most: number): string {
  const places = first.slice(0, most).map(({ source, line }) => `${cleanText(source, 200)}:${line}`);
  const more = rows - places.length;
  if (places.length === 0) return count(rows, "row");
  return `${places.join(", ")}${more > 0 ? ` and ${count(more, "more row")} (--max-problems shows more)` : ""}`;
}
