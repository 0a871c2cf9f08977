/** The columns whose values decide what a row gives, and what a source says of them: `expect`, `skip`, `when`. */

import { ACTIONS, type ActionName } from "../actions/actions.ts";
import { cleanText } from "../actions/text.ts";
import { type Columns, called } from "./columns.ts";
import { type Comment, type Entry, flow, type Line, switchedOff, type Value } from "./config-text.ts";
import { type Column, hasFewValues } from "./evidence.ts";
import {
  areLogStates,
  areStatuses,
  isLogStateName,
  means,
  namesLoss,
  namesRowKind,
  says,
  timeKindOf,
  WORDS,
} from "./header-words.ts";
import { allRowsText, ask, MOST_VALUES, rowsText, valuesShown, valuesText } from "./notes.ts";
import { timeRule } from "./time-rules.ts";

/** Something that happens to a ticket after its sale. */
const isLater = (action: ActionName): boolean => action !== "soldTicket" && ACTIONS[action].about === "ticket";
const isLog = (action: ActionName): boolean => action === "scannedTicket" || action === "checkedInTicket";

/**
 * What a column decides. `status`: by its few values. `mark`: by whether it holds something, such as the time of a refund.
 * `blank`: would be one of these but is empty in all rows. `entry`: in a file of sales, whether and when there was one.
 */
type Role = "status" | "mark" | "blank" | "entry";

export type Deciding = Readonly<Record<Role, readonly Column[]>>;

export function decidingOf(columns: readonly Column[], action: ActionName): Deciding {
  const found = columns.map((column) => ({ column, role: roleOf(column, action) }));
  const of = (role: Role): readonly Column[] => found.filter((each) => each.role === role).map(({ column }) => column);
  return { status: surestFirst(of("status")), mark: of("mark"), blank: of("blank"), entry: of("entry") };
}

function roleOf(column: Column, action: ActionName): Role | undefined {
  const { name, times, filled, rows } = column;
  const values = [...column.values.keys()];
  const isSale = action === "soldTicket";
  const isLoss = action === "invalidatedTicket";
  const isState = says(name, "status");
  const saysLoss = namesLoss(name) && timeKindOf(name) !== "other";
  const saysLetIn = isLog(action) && isLogStateName(name);
  if (ACTIONS[action].about === "event") return isState && hasFewValues(column) ? "status" : undefined;
  if (filled === 0) {
    const isBlank = isLoss ? isState && !namesLoss(name) : isState || saysLoss || saysLetIn;
    return isBlank ? "blank" : undefined;
  }
  const isFlag = hasFewValues(column) && values.length + (filled < rows ? 1 : 0) <= 2 && !column.isCount;
  const isStatus =
    isState ||
    // In other files a text about a cancelled ticket may be the reason.
    ((isSale || isLog(action)) && areStatuses(values)) ||
    (isLog(action) && (saysLetIn || areLogStates(values))) ||
    ((isSale || isLoss) && namesRowKind(name) && values.length > 1) ||
    (!isLoss && isFlag && saysLoss);
  if (isStatus && hasFewValues(column)) return "status";
  if (!isLoss && saysLoss && (times !== undefined || filled < rows || values.length > 1)) return "mark";
  if (saysLetIn && times === undefined) return "mark";
  return isSale && timeKindOf(name) === "entry" && (times !== undefined || isFlag) ? "entry" : undefined;
}

/** By their names, then by what their values say. */
function surestFirst(columns: readonly Column[]): readonly Column[] {
  const byName = called(WORDS.status, columns);
  return [...new Set([...byName, ...columns.filter(({ name }) => says(name, "status")), ...columns])];
}

/**
 * `expect` for every such column: exactly the values in the file. So a new value is reported later: as an error where its row
 * gives an action, otherwise as a warning.
 *
 * @param more - what is expected of other columns.
 */
export function expectLines(
  more: readonly Entry[],
  columns: readonly Column[],
  blanks: readonly Column[] = [],
): readonly Line[] {
  const statuses = columns
    .filter(({ values }) => values.size > 0 && values.size <= MOST_VALUES)
    .map(({ name, values, filled, rows }) => ({
      key: name,
      value: [...values.keys(), ...(filled < rows ? [""] : [])],
      note: "all that stand in this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value",
    }));
  const empty = blanks.map(({ name }) => ({
    key: name,
    value: "",
    note: "as in all rows of this file; a row with something there that gives an action is an error",
  }));
  const all = [...more, ...statuses, ...empty];
  const shown = columns.filter(({ filled }) => filled > 0).map((column) => valuesShown(column));
  return all.length === 0 ? shown : [{ key: "expect", value: { block: [...shown, ...all] } }];
}

/** What is expected of the currency: an amount in another than its event's would be taken for one in it. */
export function currencyExpected(currency: Column | undefined): readonly Entry[] {
  if (currency === undefined) return [];
  const { name: key, values, filled, rows } = currency;
  const [only = ""] = values.keys();
  if (values.size === 1 && filled === rows)
    return [
      { key, value: only, note: `as in ${allRowsText(rows)}; a row with another that gives an action is an error` },
    ];
  const asked = `the currency of the event, here ${valuesText(currency)}: a row with another one is an error. A list of them where the file has events of several`;
  return [{ key, value: ask(asked) }];
}

/** A column by which rows give something or nothing. */
export interface Skips {
  readonly column: Column;
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

/** The values of a status by which a row gives the action. */
function takenOf({ values }: Column, action: ActionName): readonly string[] {
  const texts = [...values.keys()];
  if (action === "soldTicket") return texts.filter((text) => means(text, "sold", "gone", "in"));
  if (action === "invalidatedTicket") return texts.filter((text) => means(text, "gone"));
  return isLog(action) ? texts.filter((text) => means(text, "in")) : [];
}

/** Of several statuses, only the surest decides whether there was a sale. */
const conditioned = ({ status }: Deciding, action: ActionName): readonly Column[] =>
  action === "soldTicket" ? status.slice(0, 1) : status;

/** Values of statuses that say nothing by their words; where none says anything, `when` asks. */
export function skipsOfStatuses(deciding: Deciding, action: ActionName): readonly Skips[] {
  return conditioned(deciding, action).flatMap((column) => {
    const taken = takenOf(column, action);
    const open = [...column.values.keys()].filter((value) => !taken.includes(value));
    return taken.length === 0 || open.length === 0 ? [] : [{ column, known: [], open }];
  });
}

/** The condition of an action: what each such column must hold, as far as its words say so. */
export function whenLines(
  deciding: Deciding,
  action: ActionName,
  { prices: [price], negatives }: Columns,
  time: Column | undefined,
): readonly Line[] {
  const shown: Comment[] = [];
  const tests: Entry[] = [];
  for (const column of conditioned(deciding, action)) {
    const { values, filled, rows } = column;
    const taken = takenOf(column, action);
    // Where every row was let in, `expect` says so for later rows.
    const isAllLetIn = values.size === 1 && filled === rows && [...values.keys()].every((text) => means(text, "letIn"));
    if (isLog(action) && taken.length === 0 && isAllLetIn) continue;
    tests.push(
      taken.length === 0
        ? { key: column.name, value: ask("the value that gives this action, or a list of them: [one, other]") }
        : { key: column.name, value: taken, note: "guess" },
    );
  }
  const test = (column: Column, what: string): void => {
    const { name, filled, rows } = column;
    shown.push({ comment: `# ${cleanText(name, 40)} is filled in ${filled} of ${rowsText(rows)}` });
    tests.push({ key: name, value: ask(`${what}; else remove this`) });
  };
  if (isLater(action)) {
    for (const column of deciding.mark) test(column, "{empty: true} where a row with something there gives nothing");
    if (tests.length === 0 && time !== undefined && time.filled < time.rows)
      test(time, "{empty: false} where a row without a time gives nothing");
  }
  if (action === "soldTicket" && price !== undefined && negatives.length > 0)
    tests.push({
      key: price.name,
      value: flow({ not: negatives.slice(0, MOST_VALUES) }),
      note: "guess: a refund is no sale",
    });
  const [only, ...more] = tests;
  if (only === undefined) return [];
  return [
    ...shown,
    more.length === 0
      ? { key: "when", value: { flow: [[only.key, only.value]] }, note: only.note }
      : { key: "when", value: { block: tests } },
  ];
}

/** An item of the list of actions. */
export function actionItem(
  key: ActionName,
  note: string | undefined,
  when: readonly Line[],
  fields: readonly Line[],
): Value {
  const block = [...when, ...(fields.length === 0 ? [] : [{ key: "fields", value: { block: fields } }])];
  return { block: [{ key, value: { block }, note }] };
}

/** Rows of sales that call a ticket void were sales before; those with a negative amount give back one of another row. */
export function invalidationItems(
  { status, mark }: Deciding,
  columns: Columns,
  ofRow: Column | undefined,
): readonly Value[] {
  const { all, rows, negatives, prices } = columns;
  const gone = status.map((column) => ({ column, values: takenOf(column, "invalidatedTicket") }));
  const isGone = (cells: readonly string[]): boolean =>
    gone.some(({ column, values }) => values.includes((cells[column.index] ?? "").trim()));
  const byStatus = gone.flatMap(({ column: { name }, values }) => {
    if (values.length > 0) return [flow({ [name]: values })];
    const asked = "the value that says that a ticket is no longer valid; remove this where none does";
    return namesLoss(name) ? [flow({ [name]: ask(asked) })] : [];
  });
  const byMark = mark
    .filter(({ index }) => !rows.every((cells) => (cells[index] ?? "").trim() === "" || isGone(cells)))
    .map(({ name, times }) => {
      const what =
        times === undefined
          ? "what says, such as {empty: false} or {not: 0.00},"
          : "{empty: false} where a time here says";
      return flow({ [name]: ask(`${what} that the ticket is no longer valid; else remove this`) });
    });
  const bySign = prices
    .slice(0, negatives.length === 0 ? 0 : 1)
    .map(({ name }) => flow({ [name]: negatives.slice(0, MOST_VALUES) }));
  const maps = [...byStatus, ...byMark, ...bySign];
  const [only, ...more] = maps;
  if (only === undefined) return [];
  const time = mark.find(({ times }) => times !== undefined) ?? (maps.length === bySign.length ? ofRow : undefined);
  const isGuess = bySign.length > 0 || gone.some(({ values }) => values.length > 0);
  return [
    actionItem(
      "invalidatedTicket",
      isGuess ? "guess: what these values mean" : "remove it where nothing says that a ticket is no longer valid",
      [{ key: "when", value: more.length === 0 ? only : { items: maps } }],
      time === undefined ? [] : [timeRule(time, all)],
    ),
  ];
}

/** Stands for a value in a comment. */
const WHATEVER: Value = { plain: "…" };

/** The file does not say whether an entry is a scan or the end of a ticket's life, so it becomes a comment. */
export function entryOffered({ status: [status], entry }: Deciding, { all }: Columns): readonly Comment[] {
  const values = [...(status?.values.keys() ?? [])].filter((text) => means(text, "in"));
  const time = entry.find(({ times }) => times !== undefined);
  const flag = entry.find(({ times }) => times === undefined);
  const when: readonly (readonly [string, Value])[] = [
    ...(status === undefined || values.length === 0 ? [] : [[status.name, values] as const]),
    ...(flag === undefined ? [] : [[flag.name, WHATEVER] as const]),
    ...(time === undefined ? [] : [[time.name, flow({ empty: "false" })] as const]),
  ].slice(0, 1);
  if (when.length === 0) return [];
  const item = actionItem(
    "checkedInTicket",
    undefined,
    [{ key: "when", value: { flow: when } }],
    time === undefined ? [] : [timeRule(time, all)],
  );
  return [
    { comment: "# Optional: checkedInTicket ends a ticket's life, scannedTicket is for tickets that may come again." },
    ...(flag === undefined ? [] : [valuesShown(flag)]),
    ...switchedOff({ items: [item] }),
  ];
}

/** Of events a status is shown, and its condition is left to the user. */
export const eventStatusOffered = ({ status: [status] }: Deciding): readonly Comment[] =>
  status === undefined
    ? []
    : [valuesShown(status), ...switchedOff({ block: [{ key: "when", value: flow({ [status.name]: WHATEVER }) }] })];
