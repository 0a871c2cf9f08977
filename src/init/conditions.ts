/** What a source says of columns by whose values rows differ: `expect`, `skip` and the `when` of an action. */

import type { ActionName } from "../actions/actions.ts";
import { cleanText } from "../actions/text.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { saysGone, saysIn, saysLetIn, saysSold } from "./header-words.ts";
import { type Deciding, isDeed, isLog } from "./status-columns.ts";
import type { Columns } from "./unknown-columns.ts";
import { ask, indented, MOST_VALUES, rowsText, valuesText, yamlText } from "./words.ts";

/** What `expect` does with a value that is not named. */
const OTHERS_TOLD =
  "all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value";

/**
 * `expect` of every column by whose values rows differ: all that stand in the file, exactly so. So a value that comes later
 * is told: as an error where its row gives an action, otherwise as a warning.
 *
 * @param more - lines `expect: {Column: value}` about other columns.
 */
export function expectLines(
  more: readonly string[],
  columns: readonly ColumnProfile[],
  blanks: readonly ColumnProfile[] = [],
): readonly string[] {
  const own = more.flatMap((line) => {
    const [, pairs = "", comment = ""] = /^expect: \{(.*?)\}(\s*(?:#.*)?)$/.exec(line) ?? [];
    const each = pairs.split(/, (?=[^,]+: )/);
    return each.map((pair, at) => `  ${pair}${at === each.length - 1 ? comment : ""}`);
  });
  const statuses = columns
    .filter(({ values }) => values.size > 0 && values.size <= MOST_VALUES)
    .map((column) => {
      const values = [...column.values.keys(), ...(column.filled < column.rows ? [""] : [])];
      return `  ${yamlText(column.name)}: [${values.map(yamlText).join(", ")}]   # ${OTHERS_TOLD}`;
    });
  const empty = blanks.map(
    ({ name }) =>
      `  ${yamlText(name)}: ""   # as in all rows of this file; a row with something there that gives an action is an error`,
  );
  return statuses.length + empty.length === 0 ? more : ["expect:", ...own, ...statuses, ...empty];
}

/** A column by which rows give something or nothing. */
export interface Skips {
  readonly column: ColumnProfile;
  /** Values whose rows are known to give nothing. */
  readonly known: readonly string[];
  /** Values of which that is to be said. */
  readonly open: readonly string[];
}

export function skipLines(skips: readonly Skips[]): readonly string[] {
  if (skips.length === 0) return [];
  const lines = skips.flatMap(({ column, known, open }) => [
    `  ${yamlText(column.name)}:`,
    ...known.map((value) => `    - ${yamlText(value)}`),
    ...open
      .slice(0, MOST_VALUES)
      .map(
        (value) =>
          `    - ${ask(`no action takes ${cleanText(value, 40)} (${rowsText(column.values.get(value) ?? 0)}): write it here if it gives nothing, else in the when of its actions`)}`,
      ),
    ...(open.length > MOST_VALUES ? [`    # and ${open.length - MOST_VALUES} more`] : []),
  ]);
  return ["skip:   # rows with these give nothing", ...lines];
}

/** The values by which a row gives the action. */
function takenOf(status: ColumnProfile, action: ActionName): readonly string[] {
  const words = statusWords(status);
  if (action === "soldTicket") return [...words.sold, ...words.gone, ...words.in];
  if (action === "invalidatedTicket") return words.gone;
  return isLog(action) ? words.in : [];
}

/** Of several only the surest decides whether there was a sale. */
const conditioned = ({ statuses }: Deciding, action: ActionName): readonly ColumnProfile[] =>
  isLog(action) || !["soldTicket", "newEvent", "updateEvent"].includes(action) ? statuses : statuses.slice(0, 1);

/** Statuses whose words say nothing; where none says anything, `when` asks. */
export function skipsOfStatuses(deciding: Deciding, action: ActionName): readonly Skips[] {
  return conditioned(deciding, action).flatMap((column) => {
    const taken = takenOf(column, action);
    const open = [...column.values.keys()].filter((value) => !taken.includes(value));
    return taken.length === 0 || open.length === 0 ? [] : [{ column, known: [], open }];
  });
}

function expectLine(currency: ColumnProfile): readonly string[] {
  const [only] = currency.values.keys();
  if (currency.values.size !== 1 || only === undefined || currency.filled < currency.rows)
    return [`# ${cleanText(currency.name, 40)} in this file: ${valuesText(currency)}. An event has one currency.`];
  return [
    `expect: {${yamlText(currency.name)}: ${yamlText(only)}}   # as in all ${rowsText(currency.rows)}; a row with another that gives an action is an error`,
  ];
}

/** The currency, and every column of states. */
export function expectOf({ currency }: Columns, { statuses, blanks }: Deciding): readonly string[] {
  const lines = currency === undefined ? [] : expectLine(currency);
  const [comment, expected] = lines[0]?.startsWith("#") === true ? [lines, []] : [[], lines];
  return [...comment, ...expectLines(expected, statuses, blanks)];
}

export function statusWords(status: ColumnProfile | undefined) {
  const values = [...(status?.values.keys() ?? [])];
  return { sold: values.filter(saysSold), gone: values.filter(saysGone), in: values.filter(saysIn) };
}

/** The condition of an action: what each column by which rows differ must hold, as far as its words say so. */
export function whenLines(
  deciding: Deciding,
  action: ActionName,
  columns: readonly ColumnProfile[],
  [time]: readonly ColumnProfile[],
): readonly string[] {
  const told: string[] = [];
  const entries: { readonly text: string; readonly isGuess: boolean }[] = [];
  for (const column of conditioned(deciding, action)) {
    const taken = takenOf(column, action);
    // What let all of them in is expected of all that come.
    if (isLog(action) && taken.length === 0 && saysOnlyLetIn(column)) continue;
    told.push(`# ${cleanText(column.name, 40)} in this file: ${valuesText(column)}`);
    entries.push(
      taken.length === 0
        ? {
            text: `${yamlText(column.name)}: ${ask("the value that gives this action, or a list of them: [one, other]")}`,
            isGuess: false,
          }
        : { text: `${yamlText(column.name)}: [${taken.map(yamlText).join(", ")}]`, isGuess: true },
    );
  }
  const filledIn = ({ name, filled, rows }: ColumnProfile) =>
    `# ${cleanText(name, 40)} is filled in ${filled} of ${rowsText(rows)}`;
  if (isDeed(action))
    for (const column of deciding.marks) {
      told.push(filledIn(column));
      entries.push({
        text: `${yamlText(column.name)}: ${ask("{empty: true} where a row with something there gives nothing; else remove this")}`,
        isGuess: false,
      });
    }
  if (
    isDeed(action) &&
    entries.length === 0 &&
    time !== undefined &&
    time.filled < time.rows &&
    columns.includes(time)
  ) {
    told.push(filledIn(time));
    entries.push({
      text: `${yamlText(time.name)}: ${ask("{empty: false} where a row without a time gives nothing; else remove this")}`,
      isGuess: false,
    });
  }
  const [only, ...more] = entries;
  if (only === undefined) return [];
  const note = ({ isGuess }: { readonly isGuess: boolean }) => (isGuess ? "   # guess" : "");
  return indented(6, [
    ...told,
    ...(more.length === 0
      ? [`when: {${only.text}}${note(only)}`]
      : [
          "when:",
          ...indented(
            2,
            entries.map((entry) => `${entry.text}${note(entry)}`),
          ),
        ]),
  ]);
}

const saysOnlyLetIn = ({ values, filled, rows }: ColumnProfile): boolean =>
  values.size === 1 && filled === rows && [...values.keys()].every(saysLetIn);
