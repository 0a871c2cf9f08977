/** The columns whose values decide what a row gives. `expect` lists their values, and `when` asks which of them give the action. */

import type { ActionName } from "../actions/actions.ts";
import type { Column } from "./evidence.ts";
import type { View } from "./fields.ts";
import { areLogStates, areStatuses, namesLoss, namesOrder, namesRowKind, says } from "./header-words.ts";
import { called, type Roles, refundWords } from "./roles.ts";
import { isOfEvents } from "./row-action.ts";
import { timeRule } from "./time-rules.ts";
import {
  ask,
  type Entry,
  flow,
  type Line,
  listOf,
  MOST_VALUES,
  rowsText,
  text,
  type Value,
  valuesText,
} from "./yaml.ts";

/**
 * What a column decides. `status`: by its few values. `mark`: by whether it holds something, such as the time of a refund.
 * `blank`: would be one of these but is empty in all rows.
 */
type Role = "status" | "mark" | "blank";

export type Deciding = Readonly<Record<Role, readonly Column[]>>;

export function decidingOf(columns: readonly Column[], action: ActionName): Deciding {
  const of = (role: Role): readonly Column[] => columns.filter((column) => roleOf(column, action) === role);
  const status = of("status");
  // The surest first: by their names, then by what their values say.
  const named = [...called("status", status), ...status.filter(({ name }) => says(name, "status"))];
  return { status: [...new Set([...named, ...status])], mark: of("mark"), blank: of("blank") };
}

function roleOf(column: Column, action: ActionName): Role | undefined {
  const { name, times, timeKind, filled, rows, hasFewValues } = column;
  const isSale = action === "soldTicket";
  const isLoss = action === "invalidatedTicket";
  const isLog = action === "scannedTicket" || action === "checkedInTicket";
  const isState = says(name, "status");
  if (isOfEvents(action)) return isState && hasFewValues ? "status" : undefined;
  const namesOther = isSale && column.mayBeId && says(name, "original") && !namesOrder(name);
  const saysLoss = !isLoss && (namesLoss(name) || namesOther) && timeKind !== "other";
  const saysEntry = isLog && says(name, "logState");
  if (filled === 0) return (isState && !(isLoss && namesLoss(name))) || saysLoss || saysEntry ? "blank" : undefined;
  const values = [...column.values.keys()];
  const isFlag = hasFewValues && values.length + (filled < rows ? 1 : 0) <= 2 && !column.isCount;
  const isStatus =
    isState ||
    (isFlag && saysLoss && !namesOther) ||
    (isSale && isFlag && says(name, "saleFlag") && column.amounts === undefined) ||
    // In other files a text about a cancelled ticket may be the reason.
    ((isSale || isLog) && areStatuses(filled < rows ? [...values, ""] : values)) ||
    (isLog && (saysEntry || areLogStates(values))) ||
    ((isSale || isLoss) && namesRowKind(name) && values.length > 1 && !values.some((value) => /\d/.test(value)));
  if (isStatus && hasFewValues) return "status";
  if (saysLoss && (times !== undefined || filled < rows || values.length > 1)) return "mark";
  return saysEntry && times === undefined ? "mark" : undefined;
}

/**
 * `expect` for every such column: exactly the values in the file. So a new value is reported later: as an error where its row
 * gives an action, otherwise as a warning.
 *
 * @param more - what is expected of other columns.
 */
export function expectLines(
  more: readonly Line[],
  columns: readonly Column[],
  blanks: readonly Column[] = [],
): readonly Line[] {
  const statuses = columns
    .filter(({ values }) => values.size > 0 && values.size <= MOST_VALUES)
    .map((column) => ({
      key: column.name,
      value: listOf(textsIn(column)),
      note: "all values of this file; a row with another is an error if it gives an action, and skipped with a warning if no when takes that value",
    }));
  const empty = blanks.map(({ name }) => ({
    key: name,
    value: text(""),
    note: "as in all rows of this file; a row with something there that gives an action is an error",
  }));
  const block = [...more, ...statuses, ...empty];
  return block.length === 0 ? [] : [{ key: "expect", value: { block } }];
}

const textsIn = ({ values, filled, rows }: Column): readonly string[] =>
  [...values.keys(), ...(filled < rows ? [""] : [])].map(text);

/** What is expected of the currency: an amount in another than its event's would be taken for one in it. */
export function currencyExpected({ currency, allRows }: Roles): readonly Entry[] {
  if (currency === undefined) return [];
  const [only = "", ...others] = textsIn(currency);
  const note = `as in ${allRows}; a row with another that gives an action is an error`;
  if (others.length === 0) return [{ key: currency.name, value: only, note }];
  const asked = `the currency of the event, here ${valuesText(currency)}: a row with another one is an error. A list of them where the file has events of several`;
  return [{ key: currency.name, value: ask(asked) }];
}

/** What is expected of the numbers of tickets: those that no rule counts by would be taken for 1. */
export function countsExpected({ one, counts, items, inner }: Roles): readonly Entry[] {
  if (items !== undefined)
    return counts.map(({ name }) => {
      const asked = `1, where each item is one ticket: one of several can't be sent. Else make each item of ${items} a row of the file, and run tickets init again`;
      return {
        key: name,
        value: ask(inner === undefined ? asked : `{item.${inner}.length}, or 1 where each item is one ticket`),
      };
    });
  if (one === undefined) return [];
  const texts = textsIn(one);
  const note = "each row is one ticket; a row with another number is an error, as it would be sent as one";
  return [{ key: one.name, value: texts.length === 1 ? (texts[0] ?? "") : listOf(texts), note }];
}

/** The items of `actions`: what the rows give, and of sales what may end a ticket. */
export function itemsOf(
  { roles, action, time }: View,
  why: string,
  deciding: Deciding,
  fields: readonly Line[],
): readonly Value[] {
  const { mark } = deciding;
  const refund = refundTests(deciding, roles);
  const status = deciding.status.filter(({ name }) => name !== refund?.sold[0]);
  const ofTime = time.doubt === undefined ? time.columns[0] : undefined;
  if (action !== "soldTicket") return [item(action, why, whenLines(laterTests(status, mark, ofTime)), fields)];
  // Of several statuses the surest says whether there was a sale.
  const sold = status.slice(0, 1).map((column): Test => {
    const values = `the values of a sale, such as [one, other], of ${valuesText(column)}`;
    return [column.name, ask(`${values}. What is cancelled later was sold, too`)];
  });
  const when = refund === undefined ? whenLines(sold) : whenLines([...sold, refund.sold], "guess: a refund is no sale");
  return [item(action, why, when, fields), ...lossItems({ ...deciding, status }, roles, refund?.back, ofTime)];
}

/** By the words of a column where it has one for refunds, as that of a free ticket is no negative amount. */
function refundTests({ status }: Deciding, roles: Roles): Readonly<Record<"sold" | "back", Test>> | undefined {
  const [words] = status.flatMap((column) => refundWords(column, roles) ?? []);
  if (words !== undefined) {
    const { name } = words.column;
    return { sold: [name, text(words.sold)], back: [name, text(words.back)] };
  }
  const name = roles.refund?.column.name;
  return name === undefined ? undefined : { sold: [name, "{not: {below: 0}}"], back: [name, "{below: 0}"] };
}

/** What a column must hold, as YAML. */
type Test = readonly [name: string, value: string];

const whenLines = (tests: readonly Test[], note?: string): readonly Line[] =>
  tests.length === 0 ? [] : [{ key: "when", value: flow(Object.fromEntries(tests)), note }];

/** The condition of what happens to a ticket later. */
function laterTests(status: readonly Column[], mark: readonly Column[], time: Column | undefined): readonly Test[] {
  const orRemove = (name: string, test: string, some: number, rows: number): Test => [
    name,
    ask(`${test} (${some} of ${rowsText(rows)}); else remove this`),
  ];
  const values = "the value that gives this action, or a list of them, [one, other], of";
  const tests = [
    ...status.map((column): Test => [column.name, ask(`${values} ${valuesText(column)}`)]),
    ...mark.map(({ name, filled, rows }) =>
      orRemove(name, "{empty: true} where a row with something there gives nothing", filled, rows),
    ),
  ];
  if (tests.length > 0 || time === undefined || time.filled === time.rows) return tests;
  const { name, filled, rows } = time;
  return [orRemove(name, "{empty: false} where a row without a time gives nothing", rows - filled, rows)];
}

/** What may say in rows of sales that a ticket is no longer valid: a status, a mark, an amount that is given back. */
function lossItems(
  { status, mark }: Deciding,
  roles: Roles,
  refund: Test | undefined,
  ofRow: Column | undefined,
): readonly Value[] {
  // A status that is the same in all rows tells no ticket from another.
  const differing = status.filter(
    ({ name, values, filled, rows }, at) => namesLoss(name) || (at === 0 && (values.size > 1 || filled < rows)),
  );
  const losses = [
    ...differing.map((column) =>
      flow({ [column.name]: ask(`the values of tickets that are no longer valid, of ${valuesText(column)}`) }),
    ),
    ...mark.map(({ name, values, times }) => {
      const other = times === undefined && !says(name, "original") ? `, {not: ${[...values.keys()][0]}}` : "";
      return flow({ [name]: ask(`{empty: false}${other} or what else here says that a ticket is no longer valid`) });
    }),
  ];
  const [only, ...more] = refund === undefined ? losses : [...losses, flow(Object.fromEntries([refund]))];
  if (only === undefined) return [];
  const when: Entry = { key: "when", value: more.length === 0 ? only : { items: [only, ...more] } };
  const doubt = `remove ${more.length === 0 ? "it" : "the lines"} where nothing says that a ticket is no longer valid`;
  // A refund is a row of its own.
  const time = mark.find(({ times }) => times !== undefined) ?? (refund && ofRow);
  const fields = time === undefined ? [] : [timeRule(time, roles)];
  return [item("invalidatedTicket", losses.length === 0 ? "guess: a refund" : doubt, [when], fields)];
}

/** An item of the list of actions. */
export function item(key: ActionName, note: string, before: readonly Line[], fields: readonly Line[]): Value {
  const block = [...before, ...(fields.length === 0 ? [] : [{ key: "fields", value: { block: fields } }])];
  return { block: [{ key, value: { block }, note }] };
}
