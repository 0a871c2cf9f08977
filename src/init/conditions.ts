/** The columns whose values decide what a row gives. `expect` lists their values, and `when` asks which of them give the action. */

import type { ActionName } from "../actions/actions.ts";
import { cleanText } from "../text.ts";
import type { Column } from "./column.ts";
import type { View } from "./fields.ts";
import { called, refundWords } from "./find-columns.ts";
import { areLogStates, areStatuses, namesOrder, namesRowKind, says } from "./header-words.ts";
import type { Roles } from "./roles.ts";
import { isOfEvents } from "./row-action.ts";
import { timeRule } from "./time-rules.ts";
import { namesLoss } from "./time-words.ts";
import {
  ask,
  type Comment,
  choice,
  type Data,
  type Entry,
  inner,
  type Line,
  oneOrItems,
  oneOrMore,
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

export const isLog = (action: ActionName): boolean => action === "scannedTicket" || action === "checkedInTicket";

function roleOf(column: Column, action: ActionName): Role | undefined {
  const { name, times, timeKind, filled, rows, hasFewValues } = column;
  const isSale = action === "soldTicket";
  const isLoss = action === "invalidatedTicket";
  const isState = says(name, "status");
  if (isOfEvents(action)) return isState && hasFewValues ? "status" : undefined;
  const namesOther = isSale && column.mayBeId && says(name, "original") && !namesOrder(name);
  const saysLoss = !isLoss && (namesLoss(name) || namesOther) && timeKind !== "other";
  const saysEntry = isLog(action) && says(name, "logState");
  if (filled === 0) return (isState && !(isLoss && namesLoss(name))) || saysLoss || saysEntry ? "blank" : undefined;
  const values = [...column.values.keys()];
  const isFlag = hasFewValues && values.length + (filled < rows ? 1 : 0) <= 2 && !column.isCount;
  const isStatus =
    isState ||
    (isSale && isFlag && says(name, "test")) ||
    (isFlag && saysLoss && !namesOther) ||
    (isSale && isFlag && says(name, "saleFlag") && column.amounts === undefined) ||
    // In other files a text about a cancelled ticket may be the reason.
    ((isSale || isLog(action)) && areStatuses(filled < rows ? [...values, ""] : values)) ||
    (isLog(action) && (saysEntry || areLogStates(values))) ||
    ((isSale || isLoss) && namesRowKind(name) && values.length > 1 && !values.some((value) => /\d/.test(value)));
  if (isStatus && hasFewValues) return "status";
  if (saysLoss && (times !== undefined || filled < rows || values.length > 1)) return "mark";
  return saysEntry && times === undefined ? "mark" : undefined;
}

/** `expect`, so that a new value is reported later. @param entries - exactly what is in the file, or a question. */
export const expectLines = (entries: readonly Line[]): readonly Entry[] =>
  entries.length === 0 ? [] : [{ key: "expect", lines: entries, note: EXPECTED }];

const EXPECTED = "what this file holds; a row with another value is an error if it gives an action";

/** Exactly the values of a column. */
export function asHere({ name, values, filled, rows }: Column): Entry {
  const texts = [...values.keys(), ...(filled < rows ? [""] : [])];
  return { key: name, value: oneOrMore(texts) };
}

/** What is expected of the currency: an amount in another than its event's would be taken for one in it. */
export function currencyExpected({ currency }: Roles): readonly Entry[] {
  if (currency === undefined) return [];
  if (currency.values.size === 1 && currency.filled === currency.rows) return [asHere(currency)];
  const asked = `the currency of the event, here ${valuesText(currency)}: a row with another one is an error. A list of them where the file has events of several`;
  return [{ key: currency.name, value: ask(asked) }];
}

/** What is expected of the numbers of tickets: those that no rule counts by would be taken for 1. */
export function countsExpected({ one, counts, items, inner }: Roles): readonly Entry[] {
  if (items === undefined) return one === undefined ? [] : [asHere(one)];
  const asked =
    inner === undefined
      ? `1, where each item is one ticket: one of several can't be sent. Else make each item of ${items} a row of the file, and run tickets init again`
      : `{item.${inner}.length}, or 1 where each item is one ticket`;
  return counts.map(({ name }) => ({ key: name, value: ask(asked) }));
}

/** An action that the rows give. */
export function actionEntry(key: ActionName, note: string, when: readonly Line[], fields: readonly Line[]): Entry {
  const below = fields.length === 0 ? [] : [{ key: "fields", lines: fields }];
  return { key, lines: [...when, ...below], note };
}

export const isConditional = ({ lines = [] }: Entry): boolean =>
  lines.some((line) => "key" in line && line.key === "when");

/** What the rows give, and of sales what may end a ticket. @param others - conditions that are not set. */
export function actionsOf(
  { roles, action, time }: View,
  note: string,
  deciding: Deciding,
  fields: readonly Line[],
  others: readonly Comment[],
): readonly Entry[] {
  const { mark } = deciding;
  const refund = refundTests(deciding, roles);
  const status = deciding.status.filter(({ name }) => name !== refund?.sold[0]);
  const ofTime = time.doubt === undefined ? time.columns[0] : undefined;
  if (action !== "soldTicket") {
    const some = ofTime !== undefined && ofTime.filled < ofTime.rows ? [ofTime] : [];
    const columns = status.length + mark.length > 0 ? [...status, ...mark] : some;
    const tests = columns.map((column) => whichOf(column, "give this action", ". Remove it if it decides nothing"));
    return [actionEntry(action, note, [...whenLines(tests), ...others], fields)];
  }
  // Of several statuses the surest says whether there was a sale, and each may say that it was a test.
  const isTest = ({ name }: Column): boolean => says(name, "test");
  const states = status.filter((column) => !isTest(column));
  const sold = [
    ...states
      .slice(0, 1)
      .map((column) => whichOf(column, "are sales", ". Tickets that were cancelled later were sold, too")),
    ...status.filter(isTest).map((column) => whichOf(column, "are sales", ". A test is none")),
  ];
  const when = refund === undefined ? whenLines(sold) : whenLines([...sold, refund.sold], "guess: a refund is no sale");
  return [
    actionEntry(action, note, [...when, ...others], fields),
    ...lossOf({ ...deciding, status: states }, roles, refund?.back, ofTime),
  ];
}

/** The fewest rows for each value of a column that may decide. */
const ROWS_PER_VALUE = 4;

/** Columns of few values that no rule uses: one may say that a row is no scan, or no sale. */
export function mayDecide(unused: readonly Column[]): readonly Comment[] {
  const others = unused.filter(
    ({ values, filled, hasFewValues }) =>
      hasFewValues && values.size > 1 && values.size <= 8 && values.size * ROWS_PER_VALUE <= filled,
  );
  return others.map((column) => {
    const { name, values } = column;
    const [most = ""] = [...values].sort(([, one], [, other]) => other - one)[0] ?? [];
    const note = `${cleanText(name, 40)} is ${valuesText(column)}: if it decides, say which rows count`;
    return choice({ key: "when", value: { [name]: most }, note });
  });
}

/** What a column must hold. */
type Test = readonly [name: string, value: Data];

const whenLines = (tests: readonly Test[], note?: string): readonly Entry[] =>
  tests.length === 0 ? [] : [{ key: "when", value: Object.fromEntries(tests), note }];

/** Asks which values of a column mean something. @param what - they do. */
function whichOf(column: Column, what: string, hint = ""): Test {
  const { filled, rows, noTime } = column;
  const none = ["", ...noTime].map((text) => `'${text}'`).join(", ");
  const orEmpty = filled < rows ? ", {empty: true} or {empty: false}" : "";
  const how = `[one, other]${noTime.length === 0 ? orEmpty : `, [${none}] or {not: [${none}]}`}`;
  return [
    column.name,
    ask(`which values of ${cleanText(column.name, 40)} ${what}, such as ${how}? ${valuesText(column)}${hint}`),
  ];
}

/** By the words of a column where it has one for refunds, as that of a free ticket is no negative amount. */
function refundTests({ status }: Deciding, roles: Roles): Readonly<Record<"sold" | "back", Test>> | undefined {
  const [words] = status.flatMap((column) => refundWords(column, roles) ?? []);
  if (words !== undefined) {
    const { name } = words.column;
    return { sold: [name, words.sold], back: [name, words.back] };
  }
  const name = roles.refund?.column.name;
  return name === undefined ? undefined : { sold: [name, { not: { below: "0" } }], back: [name, { below: "0" }] };
}

/** Which ticket a row gives back, where it has an id of its own and names that of another row. */
const saleOf = ({ all, ticket }: Roles): Column | undefined =>
  all.find(
    ({ name, filled, rows, values }) =>
      filled > 0 && filled < rows && name !== ticket?.name && [...values.keys()].every((id) => ticket?.values.has(id)),
  );

/** What may say in rows of sales that a ticket is no longer valid: a status, a mark, an amount that is given back. */
function lossOf(
  { status, mark }: Deciding,
  roles: Roles,
  refund: Test | undefined,
  ofRow: Column | undefined,
): readonly Entry[] {
  // A status that is the same in all rows tells no ticket from another.
  const differing = status.filter(
    ({ name, values, filled, rows }, at) => namesLoss(name) || (at === 0 && (values.size > 1 || filled < rows)),
  );
  const asked = [...differing, ...mark].map((column) => whichOf(column, "mean that a ticket is no longer valid"));
  const tests = refund === undefined ? asked : [...asked, refund];
  if (tests.length === 0) return [];
  const any = tests.map((test) => Object.fromEntries([test]));
  const when: Entry = { key: "when", ...oneOrItems(any) };
  const doubt = `remove ${any.length === 1 ? "it" : "the lines"} where nothing says that a ticket is no longer valid`;
  // A refund is a row of its own.
  const time = mark.find(({ times }) => times !== undefined) ?? (refund && ofRow);
  const sale = refund && saleOf(roles);
  const ofSale = sale && { key: "ticketId", value: inner(sale), note: "guess: it holds the ids of other rows" };
  const fields = [ofSale, time && timeRule(time, roles)].filter((rule) => rule !== undefined);
  return [actionEntry("invalidatedTicket", asked.length === 0 ? "guess: a refund" : doubt, [when], fields)];
}
