/** What a source says of columns whose values decide what a row gives: `expect`, `skip` and the `when` of an action. */

import type { ActionName } from "../actions/actions.ts";
import { cleanText } from "../actions/text.ts";
import type { ColumnProfile } from "./column-profile.ts";
import type { Comment, Entry, Line } from "./config-text.ts";
import { saysGone, saysIn, saysLetIn, saysSold } from "./header-words.ts";
import { type Deciding, isDeed, isLog } from "./status-columns.ts";
import type { Columns } from "./unknown-columns.ts";
import { allRowsText, ask, MOST_VALUES, rowsText, valuesText, valuesTold } from "./words.ts";

/** What `expect` does with a value that is not named. */
const OTHERS_TOLD =
  "all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value";

/**
 * `expect` for every such column: exactly the values in the file. So a new value is reported later: as an error where its row
 * gives an action, otherwise as a warning.
 *
 * @param more - what is expected of other columns.
 */
export function expectLines(
  more: readonly Entry[],
  columns: readonly ColumnProfile[],
  blanks: readonly ColumnProfile[] = [],
): readonly Entry[] {
  const statuses = columns
    .filter(({ values }) => values.size > 0 && values.size <= MOST_VALUES)
    .map(({ name, values, filled, rows }) => ({
      key: name,
      value: [...values.keys(), ...(filled < rows ? [""] : [])],
      note: OTHERS_TOLD,
    }));
  const empty = blanks.map(({ name }) => ({
    key: name,
    value: "",
    note: "as in all rows of this file; a row with something there that gives an action is an error",
  }));
  if (statuses.length + empty.length > 0)
    return [{ key: "expect", value: { block: [...more, ...statuses, ...empty] } }];
  if (more.length === 0) return [];
  const note = more.find((entry) => entry.note !== undefined)?.note;
  return [{ key: "expect", value: { flow: more.map(({ key, value }) => [key, value]) }, note }];
}

/** A column by which rows give something or nothing. */
export interface Skips {
  readonly column: ColumnProfile;
  /** Values whose rows are known to give nothing. */
  readonly known: readonly string[];
  /** Values of which the user must say whether they give nothing. */
  readonly open: readonly string[];
}

export function skipLines(skips: readonly Skips[]): readonly Entry[] {
  if (skips.length === 0) return [];
  const block = skips.map(({ column, known, open }) => ({
    key: column.name,
    value: {
      items: [
        ...known,
        ...open.slice(0, MOST_VALUES).map((value) => {
          const rows = rowsText(column.values.get(value) ?? 0);
          return ask(
            `no action takes ${cleanText(value, 40)} (${rows}): write it here if it gives nothing, else in the when of its actions`,
          );
        }),
        ...(open.length > MOST_VALUES ? [{ comment: `# and ${open.length - MOST_VALUES} more` }] : []),
      ],
    },
  }));
  return [{ key: "skip", value: { block }, note: "rows with these give nothing" }];
}

/** The values by which a row gives the action. */
function takenOf(status: ColumnProfile, action: ActionName): readonly string[] {
  const words = statusWords(status);
  if (action === "soldTicket") return [...words.sold, ...words.gone, ...words.in];
  if (action === "invalidatedTicket") return words.gone;
  return isLog(action) ? words.in : [];
}

/** Of several statuses, only the surest decides whether there was a sale. */
const conditioned = ({ statuses }: Deciding, action: ActionName): readonly ColumnProfile[] =>
  isLog(action) || !["soldTicket", "newEvent", "updateEvent"].includes(action) ? statuses : statuses.slice(0, 1);

/** Values of statuses that say nothing by their words; where none says anything, `when` asks. */
export function skipsOfStatuses(deciding: Deciding, action: ActionName): readonly Skips[] {
  return conditioned(deciding, action).flatMap((column) => {
    const taken = takenOf(column, action);
    const open = [...column.values.keys()].filter((value) => !taken.includes(value));
    return taken.length === 0 || open.length === 0 ? [] : [{ column, known: [], open }];
  });
}

/** The currency, and every column of states. */
export function expectOf({ currency }: Columns, { statuses, blanks }: Deciding): readonly Line[] {
  if (currency === undefined) return expectLines([], statuses, blanks);
  const { name, values, filled, rows } = currency;
  const [only] = values.keys();
  if (values.size > 1) return expectLines(severalCurrencies(currency), statuses, blanks);
  if (only === undefined || filled < rows)
    return [valuesTold(currency, ". An event has one currency."), ...expectLines([], statuses, blanks)];
  const note = `as in ${allRowsText(rows)}; a row with another that gives an action is an error`;
  return expectLines([{ key: name, value: only, note }], statuses, blanks);
}

/** An amount in another currency than its event's would be taken for one in it. */
export const severalCurrencies = (currency: ColumnProfile): readonly Entry[] => [
  {
    key: currency.name,
    value: ask(
      `the currency of the event, here ${valuesText(currency)}: a row with another one is an error. A list of them where the file has events of several`,
    ),
  },
];

export function statusWords(status: ColumnProfile | undefined) {
  const values = [...(status?.values.keys() ?? [])];
  return { sold: values.filter(saysSold), gone: values.filter(saysGone), in: values.filter(saysIn) };
}

/** The condition of an action: what each such column must hold, as far as its words say so. */
export function whenLines(
  deciding: Deciding,
  action: ActionName,
  columns: readonly ColumnProfile[],
  [time]: readonly ColumnProfile[],
): readonly Line[] {
  const told: Comment[] = [];
  const tests: Entry[] = [];
  for (const column of conditioned(deciding, action)) {
    const taken = takenOf(column, action);
    // Where every row was let in, `expect` says so for later rows.
    if (isLog(action) && taken.length === 0 && saysOnlyLetIn(column)) continue;
    told.push(valuesTold(column));
    tests.push(
      taken.length === 0
        ? { key: column.name, value: ask("the value that gives this action, or a list of them: [one, other]") }
        : { key: column.name, value: taken, note: "guess" },
    );
  }
  const blankable = (column: ColumnProfile, what: string): void => {
    const { name, filled, rows } = column;
    told.push({ comment: `# ${cleanText(name, 40)} is filled in ${filled} of ${rowsText(rows)}` });
    tests.push({ key: name, value: ask(`${what}; else remove this`) });
  };
  if (isDeed(action)) {
    for (const column of deciding.marks)
      blankable(column, "{empty: true} where a row with something there gives nothing");
    if (tests.length === 0 && time !== undefined && time.filled < time.rows && columns.includes(time))
      blankable(time, "{empty: false} where a row without a time gives nothing");
  }
  const [only, ...more] = tests;
  if (only === undefined) return [];
  return [
    ...told,
    more.length === 0
      ? { key: "when", value: { flow: [[only.key, only.value]] }, note: only.note }
      : { key: "when", value: { block: tests } },
  ];
}

const saysOnlyLetIn = ({ values, filled, rows }: ColumnProfile): boolean =>
  values.size === 1 && filled === rows && [...values.keys()].every(saysLetIn);
