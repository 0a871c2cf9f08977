/** Rules for times: of which column, and in which format. */

import type { ActionName } from "../actions/actions.ts";
import { placeholder } from "../mapping/placeholder.ts";
import type { ColumnProfile } from "./column-profile.ts";
import type { OrderTime } from "./order-time.ts";
import { clockOf, type TimeEvidence, timesOf, unixOf } from "./time-evidence.ts";
import { ask, inner, namesText, quoted, template } from "./words.ts";

const TIME_FIELDS = ["orderTime", "startTime", "endTime"] as const;

type TimeField = (typeof TIME_FIELDS)[number];

export const isTimeField = (field: string): field is TimeField => TIME_FIELDS.some((known) => known === field);

const DEEDS: Readonly<Partial<Record<ActionName, string>>> = {
  soldTicket: "the sale",
  resoldTicket: "the resale",
  scannedTicket: "the scan",
  checkedInTicket: "the check-in",
  claimedTicket: "the claim",
  invalidatedTicket: "the cancellation",
};

export function orderTimeLines(
  time: OrderTime,
  action: ActionName,
  columns: readonly ColumnProfile[],
): readonly string[] {
  const deed = DEEDS[action] ?? "the deed";
  if (time.kind === "column") {
    const [line = "", ...more] = timeLines(time.column, columns);
    return [time.also.length === 0 ? line : `${line}; also ${namesText(time.also)}`, ...more];
  }
  if (time.kind === "perhaps")
    return [
      `orderTime: ${ask(`one of the next lines, without its #, where it is the time of ${deed}; else remove this line`)}   # ${time.why}`,
      ...time.columns.flatMap((column) =>
        timeLines(column, columns).map(
          (line) => `#${line.replace("# guess: ", "# ").replace("# guess by name; ", "# ")}`,
        ),
      ),
    ];
  const why =
    time.others.length === 0
      ? "no column looks like a time"
      : `no column is called like the time of ${deed} (${namesText(time.others)}: of something else)`;
  return [`#orderTime: "{…}"   # ${why}; without one the service takes the time of sending`];
}

export function timeLines(
  time: ColumnProfile,
  columns: readonly ColumnProfile[],
  field: TimeField = "orderTime",
): readonly string[] {
  const unix = unixOf(time);
  if (unix !== undefined)
    return [
      `${field}: {from: ${template(time)}, format: ${unix}}   # guess by name; all are whole numbers of that size`,
    ];
  if (clockOf(time) !== undefined)
    return [
      `${field}: {from: ${JSON.stringify(`${placeholder("the date, such as 2026-05-09")} ${inner(time)}`)}, format: "yyyy-MM-dd ${clockOf(time)}", rollover: "06:00"}   # ${quoted(time.name)} holds times of day only`,
    ];
  const evidence = timesOf(time);
  if (evidence === undefined)
    return [
      `${field}: ${ask("its texts are no times in any one way; write the rule, or remove the line")}   # perhaps ${template(time)}`,
    ];
  const clock = clockBeside(time, evidence, columns);
  const from = clock === undefined ? template(time) : JSON.stringify(`${inner(time)} ${inner(clock.column)}`);
  const rules = evidence.readings.map(({ format, example, fits }) => ({
    format: clock === undefined ? format : `${format} ${clock.format}`,
    told: `${quoted(evidence.example)} is ${example}; fits ${fits} of ${time.values.size} texts`,
    example,
  }));
  const [only, ...others] = rules;
  const written = (format: string): string => `${field}: {from: ${from}, format: ${JSON.stringify(format)}}`;
  if (only !== undefined && others.length === 0)
    return [`${written(only.format)}   # guess: the only way that fits, ${only.told}`];
  return [
    `${written(placeholder(rules.map(({ format }) => format).join(" or ")))}   # ${quoted(evidence.example)} is ${rules.map(({ example }) => example.slice(0, 10)).join(" or ")}: which, is never guessed`,
  ];
}

/** The time of day that stands in a column of its own beside a date. */
function clockBeside(date: ColumnProfile, { readings }: TimeEvidence, columns: readonly ColumnProfile[]) {
  if (!readings.every(({ isDate }) => isDate)) return undefined;
  const clocks = columns.flatMap((column) => {
    const format = clockOf(column);
    return format === undefined ? [] : [{ column, format }];
  });
  const after = clocks.find(({ column }) => column.index === date.index + 1);
  return after ?? (clocks.length === 1 ? clocks[0] : undefined);
}
