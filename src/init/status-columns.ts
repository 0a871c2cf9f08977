/** The columns that decide what rows of one layout give: states, marks of a loss, entries. */

import { ACTIONS, type ActionName } from "../actions/actions.ts";
import { isMoney, isQuantity } from "./amount-evidence.ts";
import type { ColumnProfile } from "./column-profile.ts";
import {
  areLogStates,
  areStatuses,
  isLogStateName,
  isStatusName,
  tellsLoss,
  tellsRowKind,
  timeKindOf,
  WORDS,
} from "./header-words.ts";
import { isTime } from "./time-evidence.ts";
import { called } from "./unknown-columns.ts";

/** Something that happens to a ticket after its sale. */
export const isDeed = (action: ActionName): boolean => action !== "soldTicket" && ACTIONS[action].about === "ticket";

/** The columns that decide what a row gives. */
export interface Deciding {
  /** With a few values each, the surest first. */
  readonly statuses: readonly ColumnProfile[];
  /** Columns of which it matters whether they hold something, such as the time of a refund. */
  readonly marks: readonly ColumnProfile[];
  /** Columns that would be one of these but are empty in all rows. */
  readonly blanks: readonly ColumnProfile[];
  /** In a file of sales: times of entries, and columns that say whether there was one. */
  readonly entries: readonly ColumnProfile[];
  readonly rows: readonly (readonly string[])[];
}

export const isLog = (action: ActionName): boolean => action === "scannedTicket" || action === "checkedInTicket";

const tellsLossAsTime = ({ name }: ColumnProfile): boolean => tellsLoss(name) && timeKindOf(name) !== "other";

export function decidingOf(
  columns: readonly ColumnProfile[],
  action: ActionName,
  rows: readonly (readonly string[])[],
): Deciding {
  const all = columns.filter(({ filled }) => filled > 0);
  const known = statusesOf(all);
  if (ACTIONS[action].about === "event")
    return { statuses: known.filter(({ name }) => isStatusName(name)), marks: [], blanks: [], entries: [], rows };
  const isSale = action === "soldTicket";
  const ofLog = isLog(action)
    ? all.filter(
        (column) =>
          !known.includes(column) &&
          hasFewValues(column) &&
          (isLogStateName(column.name) || areLogStates([...column.values.keys()])),
      )
    : [];
  const flags = all.filter(
    (column) => !known.includes(column) && !ofLog.includes(column) && isFlag(column) && tellsLossAsTime(column),
  );
  const kinds =
    isSale || action === "invalidatedTicket"
      ? all.filter(
          (column) =>
            !known.includes(column) && tellsRowKind(column.name) && hasFewValues(column) && column.values.size > 1,
        )
      : [];
  // A text about a cancelled ticket may be the reason, in whatever column.
  const statuses = [
    ...new Set([
      ...(isSale || isLog(action) ? [...known, ...ofLog] : known.filter(({ name }) => isStatusName(name))),
      ...kinds,
      ...(action === "invalidatedTicket" ? [] : flags),
    ]),
  ];
  const isMark = (column: ColumnProfile): boolean =>
    (action !== "invalidatedTicket" &&
      tellsLossAsTime(column) &&
      (isTime(column) || column.filled < column.rows || column.values.size > 1)) ||
    (isLog(action) && isLogStateName(column.name) && !isTime(column) && !hasFewValues(column));
  const isBlank = (column: ColumnProfile): boolean =>
    column.filled === 0 &&
    (action === "invalidatedTicket"
      ? isStatusName(column.name) && !tellsLoss(column.name)
      : isStatusName(column.name) || tellsLossAsTime(column) || (isLog(action) && isLogStateName(column.name)));
  return {
    statuses,
    marks: all.filter((column) => isMark(column) && !statuses.includes(column)),
    blanks: columns.filter(isBlank),
    entries: isSale
      ? all.filter(
          (column) =>
            timeKindOf(column.name) === "entry" && !statuses.includes(column) && (isTime(column) || isFlag(column)),
        )
      : [],
    rows,
  };
}

/** Whether it says yes or no, in whatever words. */
const isFlag = (column: ColumnProfile): boolean =>
  column.values.size + (column.filled < column.rows ? 1 : 0) <= 2 && hasFewValues(column) && !isQuantity(column);

/** Columns of states: by their names, then by what their values say. */
export function statusesOf(columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const known = new Set(called(WORDS.status, columns));
  const named = columns.filter((column) => !known.has(column) && isStatusName(column.name));
  const others = columns.filter(
    (column) => !known.has(column) && !named.includes(column) && areStatuses([...column.values.keys()]),
  );
  return [...known, ...named, ...others].filter(hasFewValues);
}

/** A status has few values, none of them times or amounts; in a short file their number says nothing. */
function hasFewValues(column: ColumnProfile): boolean {
  const { values, rows } = column;
  if (values.size === 0 || values.size > 30 || (rows >= 20 && values.size > rows / 2)) return false;
  return !isTime(column) && !isMoney(column);
}
