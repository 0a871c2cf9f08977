/** What a command came to, in words. */

import { stringifyJson } from "../actions/json.ts";
import { cleanText, count, number } from "../actions/text.ts";
import type { RowCounts } from "../plan/files/manifest.ts";
import type { ChangedAction } from "../plan/findings/changed-actions.ts";
import { digestOfTold, numbered, type ToldWarnings } from "../plan/findings/told-warnings.ts";
import type { Vanished, VanishedTicket } from "../plan/findings/vanished-tickets.ts";
import type { PlanResult } from "../plan/make-plan.ts";
import { hasUnsentRows, type Summary } from "../run/summary.ts";
import { shown } from "./problems.ts";
import type { Reporter } from "./reporter.ts";

/**
 * `11,998 accepted, 2 rejected, 40 already sent; of those not sent 3 late`: every part that is not zero.
 *
 * @param of `inFlight`: of those in doubt, how many a living process is sending; `waiting`: of those not sent, how many
 *   wait for what another run holds; `repeated`: of those already sent, how many only stand twice in their input.
 */
export function describeActions(actions: Summary["actions"], of: SmallerParts = {}): string {
  const told = listOf(actionParts(actions, of));
  return `${count(actions.total, "action")}${told === "" ? "" : `: ${told}`}${describeNotSent(actions, of)}`;
}

/** What the counts of a summary hold within themselves. */
export interface SmallerParts {
  readonly inFlight?: number;
  readonly waiting?: number;
  readonly repeated?: number;
}

/** The parts of all actions, by what became of them. */
export const actionParts = (actions: Summary["actions"], { inFlight = 0, repeated = 0 }: SmallerParts) => ({
  accepted: actions.accepted,
  rejected: actions.rejected,
  refused: actions.refused,
  "in doubt": actions.inDoubt - inFlight,
  "in flight": inFlight,
  "settled by hand": actions.settledByHand,
  "not sent": actions.notSent,
  ...sentParts(actions, repeated),
});

/** `; of those not sent 3 late`; nothing where there is no more to say of them. */
export function describeNotSent({ late, superseded }: Summary["actions"], { waiting = 0 }: SmallerParts): string {
  const among = listOf({ waiting, late, superseded });
  return among === "" ? "" : `; of those not sent ${among}`;
}

/** `2 rejected, 40 already sent`: every part that is not zero. */
const listOf = (parts: Readonly<Record<string, number>>): string =>
  Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([part, value]) => `${number(value)} ${part}`)
    .join(", ");

const sentParts = ({ alreadySent }: Pick<Summary["actions"], "alreadySent">, repeated: number) => ({
  "already sent": alreadySent - repeated,
  repeated,
});

/** `40 already sent, 1 repeated`; nothing where there are none. */
export const describeSent = ({ actions, repeated }: Pick<PlanResult, "actions" | "repeated">): string =>
  listOf(sentParts(actions, repeated));

/** `26 rows: 23 mapped, 2 skipped, 1 held` */
export function describeRows(rows: Summary["rows"]): string {
  const parts = listOf(rowParts(rows));
  return `${count(rows.read, "row")}${parts === "" ? "" : `: ${parts}`}`;
}

/** The parts of all rows. */
export const rowParts = ({ mapped, skipped, invalid, held, mended }: Summary["rows"]) => ({
  mapped,
  skipped,
  invalid,
  held,
  mended,
});

/** `1 row invalid, 2 held` */
export function describeUnsentRows({ invalid, held }: RowCounts): string {
  if (invalid === 0) return `${count(held, "row")} held`;
  return `${count(invalid, "row")} invalid${held === 0 ? "" : `, ${number(held)} held`}`;
}

/** Why invalid rows are missing from the rejects. */
export function describeNothingOpen(rows: number): string {
  const [stand, them] =
    rows === 1
      ? ["stands for an action that was accepted already", "it"]
      : ["stand for actions that were accepted already", "them"];
  return `${count(rows, "invalid row")} ${stand}, so the rejects leave ${them} out. Mend ${them} at the source; the next export shows what changed.`;
}

/** How many changed actions, and how many vanished tickets, are shown to people; programs get more. */
const SHOWN = 10;

/**
 * Tells, with both values, what the input says of accepted actions that it did not say when they were sent, and what can be
 * done about it. What an earlier run reported with the same values counts as reported before.
 */
export function tellChanged(
  reporter: Reporter,
  { actions, changed }: PlanResult,
  verbose: boolean,
  told: ToldWarnings | undefined,
): void {
  const total = actions.changed;
  if (total === 0) return;
  const digests = numbered(
    changed.map(({ action, subject, before, now }) =>
      digestOfTold(["changed", action, subject, stringifyJson(before), stringifyJson(now)]),
    ),
  );
  const fresh = changed.filter((_, at) => told?.was(digests[at] ?? "") !== true);
  for (const digest of digests) told?.note(digest);
  const isNews = fresh.length > 0 || changed.length < total;
  const say = isNews ? reporter.warn : reporter.warnAgain;
  const before = isNews && changed.length === total ? total - fresh.length : 0;
  say(
    `${count(total, "action")} changed since ${total === 1 ? "it was" : "they were"} accepted${before === 0 ? "" : ` (${number(before)} reported before)`}; not sent again:`,
  );
  const shownFirst = isNews ? [...fresh, ...changed.filter((each) => !fresh.includes(each))] : changed;
  for (const change of shownFirst.slice(0, SHOWN)) say(`  ${describeChange(change, verbose)}`);
  if (total > SHOWN) say(`  … and ${number(total - SHOWN)} more.`);
  say(
    "  To change what is registered, send an update or a resale. To send such an action again as it is now, stream its row alone with --again (and with its name in tickets:actions, where the row gives more). Otherwise correct it at the source.",
  );
}

/** `sales.csv:12 soldTicket T-11: price 20.00 → 25.00` */
export function describeChange(
  { source, line, action, subject, before, now }: ChangedAction,
  verbose: boolean,
): string {
  const value = (data: Readonly<Record<string, unknown>>, field: string): string => {
    const said = data[field];
    if (said === undefined) return "(none)";
    return shown(field, typeof said === "string" ? said : stringifyJson(said), verbose);
  };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changes = fields.map((field) => `${field} ${value(before, field)} → ${value(now, field)}`);
  return `${cleanText(source, 200)}:${line} ${action} ${cleanText(subject)}: ${changes.join(", ")}`;
}

/** Tells which tickets of earlier exports are gone from this one. Nothing is done about them. */
export function tellVanished(
  reporter: Reporter,
  { count: total, first }: Vanished,
  rows: RowCounts,
  told: ToldWarnings | undefined,
): void {
  if (total === 0) {
    reporter.info(
      "Vanished: none; the input holds every ticket that was sold earlier for its events and is still valid.",
    );
    return;
  }
  const maybe = hasUnsentRows(rows) ? " (unless an invalid row is one of them)" : "";
  const digests = first.map(({ ticketId, eventId, state }) => digestOfTold(["vanished", ticketId, eventId, state]));
  const isKnown = first.length === total && digests.every((digest) => told?.was(digest) === true);
  for (const digest of digests) told?.note(digest);
  const say = isKnown ? reporter.warnAgain : reporter.warn;
  say(
    `Vanished: ${count(total, "ticket")} of the input's events ${total === 1 ? "was" : "were"} sold earlier and ${total === 1 ? "is" : "are"} no longer in the input${maybe}. Nothing was invalidated:`,
  );
  for (const ticket of first.slice(0, SHOWN)) say(`  ${describeVanished(ticket)}`);
  if (total > SHOWN) say(`  … and ${number(total - SHOWN)} more; --json lists ${number(first.length)}.`);
}

/** `T-12 of spring-gala, checked in, from sales.csv:13 of 2026-03-01` */
export function describeVanished({ ticketId, eventId, state, source, line, at }: VanishedTicket): string {
  const from = source === undefined ? "" : `, from ${cleanText(source, 200)}:${line} of ${at?.slice(0, 10)}`;
  return `${cleanText(ticketId)} of ${cleanText(eventId)}${state === "checked-in" ? ", checked in" : ""}${from}`;
}
