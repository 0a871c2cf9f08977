/** What several commands describe in the same words: counts, times, decisions, the fields of an action, who is at work. */

import { type Action, actionSpec } from "../actions/actions.ts";
import { type FieldName, isPersonal } from "../actions/fields.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import type { Chunk, LockHolder, Settlement } from "../ledger/ledger.ts";
import type { ActionCounts, RowCounts } from "../plan/plan.ts";
import type { Summary } from "../run/summary.ts";
import { cleanText, count, masked, number } from "../text.ts";
import type { Context } from "./context.ts";

/** `20 actions: 18 accepted, 2 rejected`. @param inFlight how many of those in doubt a living process is sending. */
export function describeActions(actions: Summary["actions"], inFlight = 0): string {
  const { total, accepted, rejected, inDoubt, notSent } = actions;
  const outcomes = { accepted, rejected, "in doubt": inDoubt - inFlight, "in flight": inFlight, "not sent": notSent };
  return withParts(count(total, "action"), { ...outcomes, ...backParts(actions) });
}

/** What of a plan is not new. */
const backParts = ({ alreadySent, changed, late, unclear }: Omit<ActionCounts, "total" | "new" | "held">) => ({
  "already sent": alreadySent,
  ...{ changed, late, unclear },
});

/** `40 already sent, 1 late`; nothing where all is new. */
export const describeBack = ({ held, ...actions }: ActionCounts): string => listOf({ ...backParts(actions), held });

/** `2 rejected, 40 already sent`: every part that is not zero. */
export const listOf = (parts: Readonly<Record<string, number>>): string =>
  Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([part, value]) => `${number(value)} ${part}`)
    .join(", ");

/** `26 rows: 23 mapped, 2 skipped, 1 held` */
export const describeRows = ({ read, mapped, skipped, invalid, held }: RowCounts): string =>
  withParts(count(read, "row"), { mapped, skipped, invalid, held });

function withParts(all: string, parts: Readonly<Record<string, number>>): string {
  const list = listOf(parts);
  return list === "" ? all : `${all}: ${list}`;
}

/** `1 row invalid, 2 held` */
export function describeUnsentRows({ invalid, held }: RowCounts): string {
  if (invalid === 0) return `${count(held, "row")} held`;
  return `${count(invalid, "row")} invalid${held === 0 ? "" : `, ${number(held)} held`}`;
}

/** `4 (a part of chunk 2)`: people know a run by the chunks that were planned. */
export const chunkNumber = ({ chunk, whole }: Pick<Chunk, "chunk" | "whole">): string =>
  whole === chunk ? `${chunk}` : `${chunk} (a part of chunk ${whole})`;

const DECIDED: Readonly<Record<Settlement["decision"], string>> = {
  sent: "settled as sent",
  "not-sent": "settled as not-sent",
  abandon: "closed",
  pause: "paused",
};

/** `settled as sent by anna, 18 Jan 03:00: found by support` */
export function describeSettlement(
  {
    decision,
    who,
    at,
    reason,
  }: Pick<Settlement, "decision" | "who" | "at"> & { readonly reason?: string | null | undefined },
  time: ShowTime,
): string {
  return `${DECIDED[decision]} by ${who}, ${time(at)}${reason == null ? "" : `: ${cleanText(reason, 200)}`}`;
}

const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

type Time = string | number | Date;

/** Shows a time of an output. */
export type ShowTime = (time: Time) => string;

/** `28 Nov 03:00`; of another year `28 Nov 2025 03:00` */
export function localTime(time: Time): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  const [day = "", clock = ""] = SHORT.format(at).split(", ");
  return at.getFullYear() === new Date().getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()} ${clock}`;
}

/** The times of one output, of which the first names the zone: `28 Nov 03:00 (Europe/Berlin)`, then `28 Nov 03:12`. */
export function localTimes(): ShowTime {
  let isNamed = false;
  return (time) => {
    const text = isNamed ? localTime(time) : `${localTime(time)} (${SHORT.resolvedOptions().timeZone})`;
    isNamed = true;
    return text;
  };
}

/** Where there is no ledger, nothing was sent from this machine. */
export const sayNeverSent = (environment: Environment, { reporter, cwd }: Pick<Context, "reporter" | "cwd">): void =>
  reporter.info(
    `Nothing was ever sent to ${environment.name} from here: there is no ledger at ${ledgerPlace(environment, cwd)}.`,
  );

/** `process 4711 on db2 since 28 Nov 03:00: tickets stream` */
export function describeHolding({ pid, host, since, command }: LockHolder, time: (at: string) => string): string {
  const where = host === undefined ? "" : ` on ${cleanText(host, 100)}`;
  return `process ${pid}${where} since ${time(since)}: ${cleanText(command, 200)}`;
}

/** Shown of every action that has them; of an update, all fields are shown. */
const SHOWN: ReadonlySet<string> = new Set(["userId", "to", "price", "orderTime"] satisfies FieldName[]);
const IDS: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"] satisfies FieldName[]);

/** The ids of what the action is about. */
export const idsOf = ({ data: { eventId, ticketId, nftId } }: Action): readonly string[] =>
  [eventId, ticketId, nftId].filter((id) => id != null);

/** Values that name a person are masked unless `verbose`. */
export function shownFields({ action, data }: Action, verbose: boolean): readonly (readonly [string, unknown])[] {
  const { updates } = actionSpec(action);
  return Object.entries(data).flatMap(([name, value]) => {
    // In an update, `null` is sent, too: the field stays as it is.
    const isShown = updates ? !IDS.has(name) : SHOWN.has(name) && value != null;
    return isShown ? [[name, isPersonal(name) && !verbose ? masked(String(value)) : value] as const] : [];
  });
}

const LONGEST = 60;

/** `userId gu…74, price 20.00, eventName "Gala 26"`: a text is in quotes where it would run into its neighbours. */
export const fieldsText = (fields: readonly (readonly [name: string, value: unknown])[]): string =>
  fields.map(([name, value]) => `${name} ${valueText(value)}`).join(", ");

function valueText(value: unknown): string {
  const text = cleanText(textOf(value), LONGEST);
  return typeof value !== "string" || /^[^\s,"]+$/.test(text) ? text : JSON.stringify(text);
}

/** A value as it is, or as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
