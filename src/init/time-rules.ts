/** Rules for times: of which column, and in which format. */

import type { ActionName } from "../actions/actions.ts";
import { quoted } from "../actions/text.ts";
import { placeholder } from "../map/source.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { type Entry, flow, type Line } from "./config-text.ts";
import type { OrderTime } from "./order-time.ts";
import { clockOf, type TimeEvidence, timesOf, unixOf } from "./time-evidence.ts";
import { alsoText, ask, choice, inner, namesText, template, templateText } from "./words.ts";

const TIME_FIELDS = ["orderTime", "startTime", "endTime"] as const;

type TimeField = (typeof TIME_FIELDS)[number];

export const isTimeField = (field: string): field is TimeField => TIME_FIELDS.some((known) => known === field);

const HAPPENINGS: Readonly<Partial<Record<ActionName, string>>> = {
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
): readonly Line[] {
  const what = HAPPENINGS[action] ?? "the action";
  if (time.kind === "column") {
    const rule = timeRule(time.column, columns);
    return [{ ...rule, note: `${rule.note}${alsoText(time.also)}` }];
  }
  if (time.kind === "perhaps")
    return [
      {
        key: "orderTime",
        value: ask(`one of the next lines, without its #, where it is the time of ${what}; else remove this line`),
        note: time.why,
      },
      ...time.columns.map((column) => choice(timeRule(column, columns))),
    ];
  const why =
    time.others.length === 0
      ? "no column looks like a time"
      : `no column is named like the time of ${what} (${namesText(time.others)}: of something else)`;
  return [{ comment: `#orderTime: "{…}"   # ${why}; without one the service takes the time of sending` }];
}

/** The rule for a time, with the reason for it. */
export function timeRule(
  time: ColumnProfile,
  columns: readonly ColumnProfile[],
  key: TimeField = "orderTime",
): Required<Pick<Entry, "key" | "value" | "note">> {
  const unix = unixOf(time);
  if (unix !== undefined)
    return {
      key,
      value: flow({ from: template(time), format: unix }),
      note: "guess by name; all are whole numbers of that size",
    };
  const onlyClock = clockOf(time);
  if (onlyClock !== undefined)
    return {
      key,
      value: flow({
        from: { inQuotes: `${placeholder("the date, such as 2026-05-09")} ${inner(time)}` },
        format: { inQuotes: `yyyy-MM-dd ${onlyClock}` },
        rollover: { inQuotes: "06:00" },
      }),
      note: `${quoted(time.name)} holds times of day only`,
    };
  const evidence = timesOf(time);
  if (evidence === undefined)
    return {
      key,
      value: ask("its texts can't all be read as times in one way; write the rule, or remove the line"),
      note: `perhaps ${templateText(time)}`,
    };
  const clock = clockBeside(time, evidence, columns);
  const from = clock === undefined ? template(time) : { inQuotes: `${inner(time)} ${inner(clock.column)}` };
  const ways = evidence.readings.map((reading) => ({
    ...reading,
    format: clock === undefined ? reading.format : `${reading.format} ${clock.format}`,
  }));
  const [only, ...others] = ways;
  const example = quoted(evidence.example);
  if (only !== undefined && others.length === 0)
    return {
      key,
      value: flow({ from, format: { inQuotes: only.format } }),
      note: `guess: the only way that fits, ${example} is ${only.example}; fits ${only.fits} of ${time.values.size} texts`,
    };
  return {
    key,
    value: flow({ from, format: ask(ways.map(({ format }) => format).join(" or ")) }),
    note: `${example} is ${ways.map((way) => way.example.slice(0, 10)).join(" or ")}: which one, is never guessed`,
  };
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
