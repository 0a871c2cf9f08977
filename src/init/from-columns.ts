/** A source for an export of an unknown layout: rules for its columns, unless they are named like fields and need none. */

import { type ActionName, actionsThat } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { fieldsOf } from "../map/columns.ts";
import { askedIn } from "../map/source.ts";
import { type Columns, called, columnsOf, fieldColumns, followsRefunds, titleIn } from "./columns.ts";
import {
  actionItem,
  currencyExpected,
  type Deciding,
  decidingOf,
  entriesShown,
  eventStatusShown,
  expectLines,
  invalidationItems,
  oneExpected,
  whenLines,
} from "./conditions.ts";
import { type Comment, type Entry, flow, type Line, type Value } from "./config-text.ts";
import { type Column, type Evidence, hasGuards } from "./evidence.ts";
import { isEventIdName, namesBefore, TRAITS } from "./header-words.ts";
import { eventIdRule, eventRule, knownTicketRule, soldTicketRule, userRule } from "./id-rules.ts";
import { exactPattern, widePattern } from "./match-patterns.ts";
import { ask, choice, inner, template, valuesText } from "./notes.ts";
import { priceLines } from "./price-rules.ts";
import { ownActions, type Taken, takenFor } from "./row-action.ts";
import {
  isTimeField,
  mayBeStarts,
  type OrderTime,
  orderTimeLines,
  orderTimeOf,
  startAsked,
  THE_DATE,
  timeRule,
  zoneLines,
} from "./time-rules.ts";

/** `match` for the file and its successors; for this file alone where something is asked that holds for no other. */
export const matchLine = (fileName: string, asked: string | undefined): Entry =>
  asked === undefined
    ? { key: "match", value: { inQuotes: widePattern(fileName) } }
    : { key: "match", value: { inQuotes: exactPattern(fileName) }, note: `this file only, as ${asked} below is` };

/** How the file is written, where that is unusual. */
export function csvLines(
  { delimiter, encoding, headerLine, isEscaped, list, columns }: Evidence,
  isGuarded = columns.some(hasGuards),
): readonly Entry[] {
  const value = flow({
    delimiter: delimiter === undefined ? undefined : { inQuotes: delimiter },
    encoding,
    guards: isGuarded ? "strip" : undefined,
    escape: isEscaped === true ? { inQuotes: "\\" } : undefined,
    header: headerLine === undefined ? undefined : String(headerLine),
  });
  if (list !== undefined) return [{ key: "rows", value: { inQuotes: list }, note: "the list in the file" }];
  return value.flow.length === 0 ? [] : [{ key: "csv", value, note: "as this file is written" }];
}

/** What a source was made from: rows that name their own actions; columns named like fields; or unknown columns. */
interface FromColumns {
  readonly how: "actions" | "fields" | "columns";
  readonly body: readonly Line[];
  /** What its rows give, as far as that is known. */
  readonly actions: readonly ActionName[];
}

/** @param needsEvents - whether sales have to register their events. */
export function fromColumns(evidence: Evidence, needsEvents: boolean): FromColumns {
  const columns = columnsOf(evidence);
  const own = ownActions(evidence);
  if (own.length > 0) return { how: "actions", actions: own, body: withOwnActions(evidence, columns, own) };
  const taken = takenFor(evidence, columns);
  return {
    how: taken.isNamed === true ? "fields" : "columns",
    actions: taken.doubt === undefined ? [taken.action] : [],
    body: withAction({ evidence, columns, taken, needsEvents }),
  };
}

/** Columns that are no fields of the action. */
function besideFields(evidence: Evidence, { all, empty }: Columns, action: ActionName): readonly Column[] {
  const fields = new Set(fieldColumns(evidence, action).values());
  return [...all, ...empty].filter((column) => !fields.has(column) && fold(column.name) !== "action");
}

const fileLines = (evidence: Evidence, columns: Columns, action: ActionName): readonly Entry[] => [
  matchLine(evidence.fileName, undefined),
  ...csvLines(evidence),
  ...zoneLines(namedTimes(evidence, action), columns.all),
];

const namedTimes = (evidence: Evidence, action: ActionName): readonly Column[] =>
  [...fieldColumns(evidence, action)].flatMap(([field, column]) =>
    isTimeField(field) && column.times !== undefined ? [column] : [],
  );

function withOwnActions(evidence: Evidence, columns: Columns, own: readonly ActionName[]): readonly Line[] {
  const passed = new Set(
    own.flatMap((action) => {
      const { status, mark } = decidingOf(besideFields(evidence, columns, action), action);
      return [...status, ...mark];
    }),
  );
  const needNone = "# The columns are named like fields, and each row names its action, so they need no rules";
  const shown = [...passed].map((column) => `${cleanText(column.name, 40)}: ${valuesText(column)}`);
  return [
    { comment: `${needNone}${shown.length === 0 ? "." : ""}` },
    ...(shown.length === 0 ? [] : [{ comment: "# as long as a row means its action whatever these columns hold:" }]),
    ...shown.map((text) => ({ comment: `# ${text}` })),
    ...fileLines(evidence, columns, own[0] ?? "soldTicket"),
  ];
}

/** What the lines of a source are made from. */
interface View {
  readonly evidence: Evidence;
  readonly columns: Columns;
  readonly taken: Taken;
  readonly needsEvents: boolean;
}

/** Rules for its columns; none where all are named like fields and are read correctly by that. */
function withAction(view: View): readonly Line[] {
  const { evidence, columns, taken } = view;
  const { action, why, isNamed = false, doubt } = taken;
  const isSale = action === "soldTicket";
  const deciding = decidingOf(besideFields(evidence, columns, action), action);
  const asking = { ...deciding, status: deciding.status.filter((column) => !followsRefunds(column, columns)) };
  const time = orderTimeOf(action, columns);
  const each = isSale ? eachLines(columns) : itemLines(columns);
  const rules = rulesOf(view, time);
  const currency = takes(action, "price") ? currencyExpected(columns.currency) : [];
  const one = isSale ? oneExpected(columns.one) : [];
  const happensNowAndThen =
    !isSale && takes(action, "orderTime") && time.columns.some(({ filled, rows }) => filled < rows);
  const needsRules =
    ![...rules.source, ...rules.fields].every(isAsNamed) ||
    Object.values(deciding).some(({ length }) => length > 0) ||
    each.length > 0 ||
    one.length > 0 ||
    columns.refunds !== undefined ||
    evidence.skip.length > 0 ||
    currency.some(({ value }) => isAsked(value)) ||
    happensNowAndThen;
  if (isNamed && !needsRules)
    return [
      {
        comment: `# The columns are named like fields, ${doubt === undefined ? "so they need no rules" : "but nothing says which action the rows are"}.`,
      },
      ...fileLines(evidence, columns, action),
      { key: "action", ...(doubt === undefined ? { value: action, note: why } : { value: ask(doubt) }) },
    ];
  const event = isSale && view.needsEvents ? newEventItem(columns) : undefined;
  const ofLoss = isSale ? deciding.mark.filter(({ times }) => times !== undefined) : [];
  const used = [...time.columns, ...rules.times, ...ofLoss, ...(event?.times ?? [])];
  const asBelow = `remove this line if they are ${action}, as below, else write sources of your own`;
  return [
    ...(isNamed ? [{ comment: "# The columns are named like fields, but not all is said by that." }] : []),
    matchLine(evidence.fileName, ofThisFile(rules)),
    ...csvLines(evidence),
    ...listsShown(columns),
    ...zoneLines(used, columns.all),
    ...each,
    ...(isEventAction(action) ? [] : expectLines([...currency, ...one], deciding.status, deciding.blank)),
    ...evidence.skip,
    ...(rules.source.length === 0 ? [] : [{ key: "fields", value: { block: rules.source } }]),
    ...(doubt === undefined ? [] : [{ key: "action", value: ask(`${doubt}: ${asBelow}`) }]),
    {
      key: "actions",
      value: { items: [...(event?.items ?? []), ...itemsOf(taken, columns, asking, time, rules.fields)] },
    },
  ];
}

const isEventAction = (action: ActionName): boolean => action === "newEvent" || action === "updateEvent";
const takes = (action: ActionName, field: FieldName): boolean => fieldsOf(action, new Set()).has(field);

const isAsked = (value: Value): boolean =>
  typeof value === "object" && "inQuotes" in value && askedIn(value.inQuotes) !== undefined;

/** What is asked of this file, and does not hold for the next. */
function ofThisFile({ source, fields }: Rules): string | undefined {
  if (source.some(({ key, value, note }) => key === "eventId" && isAsked(value) && note === undefined))
    return "eventId";
  return fields.some((line) => "key" in line && JSON.stringify(line.value).includes(THE_DATE)) ? "the date" : undefined;
}

/** Whether a rule says no more than the name of its column; comments say nothing. */
const isAsNamed = (line: Line): boolean =>
  "comment" in line ||
  (typeof line.value === "object" &&
    "inQuotes" in line.value &&
    fold(line.value.inQuotes.slice(1, -1)) === fold(line.key));

/** That a column named like its field is that field's is no guess. */
const withoutGuess = <L extends Line>(line: L): L =>
  "key" in line && isAsNamed(line) ? { ...line, note: undefined } : line;

/** Lists that no rule looks into. */
function listsShown({ lists }: Columns): readonly Comment[] {
  if (lists.length === 0) return [];
  const named = lists.slice(0, 5).join(", ");
  return [
    {
      comment: `#each: {path: ${lists[0]}}   # rows hold lists (${named}); with this line each item is a ticket, and {item.…} what is in it`,
    },
  ];
}

/** A row of JSON whose list holds its tickets. */
const itemLines = ({ items }: Columns): readonly Entry[] =>
  items === undefined
    ? []
    : [{ key: "each", value: flow({ path: items }), note: `guess: each item of ${items} is a ticket` }];

/** How many tickets a row is: taken for one each, rows of several would lose the others, and may have the price of all. */
function eachLines(columns: Columns): readonly Entry[] {
  if (columns.items !== undefined) return itemLines(columns);
  const count = orderCounted(columns);
  if (count === undefined) return eachAsked(columns);
  return [
    { key: "each", value: flow({ count: template(count) }), note: "guess: each row is an order of so many tickets" },
  ];
}

function eachAsked({ counts, quantities, items }: Columns): readonly Entry[] {
  if (counts.length === 0) return [];
  const isByPrice = counts.length === 1 && counts[0]?.isNumber === true && quantities.length === 0;
  const names = `${counts.map(inner).join(" and ")}${isByPrice ? ", by which the price is the same in more rows" : ""}`;
  const what = items === undefined ? "a row" : `an item of ${items}`;
  const how =
    counts.length > 1
      ? "give each its own action, with its count and price, and {n} in its ticketId"
      : "then ticketId needs {n}, and a price of all of them divide";
  const asked = `${names}, if ${what} is so many tickets; ${how}: docs/mapping.md, A quantity. Else remove this line`;
  return [{ key: "each", value: flow({ count: ask(asked) }) }];
}

/** The number of tickets of an order, where a row is one and names no ticket, and nothing else may count them. */
function orderCounted({ quantities, counts, order, ticket, items }: Columns): Column | undefined {
  const [count, ...more] = counts;
  const isTicket = ticket !== undefined && fold(ticket.name) === "ticketid";
  if (more.length > 0 || order === undefined || items !== undefined || isTicket) return undefined;
  return count === quantities[0] ? count : undefined;
}

/** Rules for the source and for its action, and the columns of times beside that of the action. */
interface Rules {
  readonly source: readonly Entry[];
  readonly fields: readonly Line[];
  readonly times: readonly Column[];
}

function rulesOf({ evidence, columns, taken: { action, isNamed = false } }: View, time: OrderTime): Rules {
  const named = isNamed ? fieldColumns(evidence, action) : new Map<string, Column>();
  if (isEventAction(action)) return eventRules(columns, action, named);
  const isSale = action === "soldTicket";
  const isResale = action === "resoldTicket";
  const { all, prices } = columns;
  const priced = isResale ? prices.filter(({ name }) => !namesBefore(name)) : prices;
  const quantity = isSale ? orderCounted(columns) : undefined;
  const whichUser =
    action === "claimedTicket"
      ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
      : undefined;
  const isUserOptional = isNamed && !SELLS.has(action) && !named.has("userId");
  const needsUser = takes(action, "userId") && !isUserOptional && !(named.has("to") && action === "claimedTicket");
  const ticket = isSale ? soldTicketRule(columns) : knownTicketRule(columns);
  const fields: readonly Line[] = [
    ...(isSale ? [] : [ticket]),
    ...(needsUser ? [userRule(columns, isResale, whichUser)] : []),
    ...(takes(action, "price") ? priceLines(columns, priced, quantity) : []),
    ...(action === "updateTicket" && !isNamed ? [...traitsOffered(all), WHAT_CHANGES] : []),
    ...(takes(action, "orderTime") ? orderTimeLines(time, action, columns) : []),
    ...(isSale ? traitsOffered(all) : []),
  ];
  const source = isSale ? [eventRule(columns), ticket] : [];
  const others = otherFields(named, [...source, ...fields]);
  return { source: source.map(withoutGuess), fields: [...fields, ...others].map(withoutGuess), times: [] };
}

const SELLS: ReadonlySet<ActionName> = new Set([...actionsThat("sell-ticket"), ...actionsThat("resell-ticket")]);

const WHAT_CHANGES: Entry = {
  key: "metadataAttributes",
  value: ask("what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead"),
};

/** Columns named like fields that have no rule yet. */
const otherFields = (named: ReadonlyMap<string, Column>, rules: readonly Line[]): readonly Entry[] => {
  const ruled = new Set(rules.flatMap((line) => ("key" in line ? [line.key] : [])));
  return [...named].flatMap(([field, column]) =>
    ruled.has(field)
      ? []
      : [isTimeField(field) ? timeRule(column, [], field) : { key: field, value: template(column) }],
  );
};

function eventRules(columns: Columns, action: ActionName, named: ReadonlyMap<string, Column>): Rules {
  const id = eventIdRule(columns);
  const title = titleIn(columns, id.column);
  const { all, currency } = columns;
  const times = timesOfEvent(columns);
  const taken = [...times.values(), ...named.values()];
  const starts = times.has("startTime") || named.has("startTime") ? [] : mayBeStarts(all, taken);
  const fields = [
    id.rule,
    ...(title === undefined ? [] : [{ key: "eventName", value: template(title), note: "guess by name" }]),
    ...(action === "newEvent" ? [currencyRule(currency)] : []),
    ...timeRules(times, all),
    ...startAsked(starts, all),
  ];
  return {
    source: [],
    fields: [...fields, ...otherFields(named, fields)].map(withoutGuess),
    times: [...times.values(), ...starts],
  };
}

const currencyRule = (currency: Column | undefined): Entry =>
  currency === undefined
    ? { key: "currency", value: ask("the currency of the events, such as EUR: no column has such a name") }
    : { key: "currency", value: template(currency), note: "guess by name" };

type EventTimes = ReadonlyMap<"startTime" | "endTime", Column>;

/** But for columns that are something else. */
const timesOfEvent = ({ find }: Columns, others: readonly Column[] = []): EventTimes =>
  new Map(
    (["startTime", "endTime"] as const).flatMap((key) => {
      const [column] = find(key);
      return column === undefined || others.includes(column) ? [] : [[key, column] as const];
    }),
  );

const timeRules = (times: EventTimes, all: readonly Column[]): readonly Entry[] =>
  [...times].map(([key, column]) => timeRule(column, all, key));

/** What registers the event of a row; that no other system does is asked with its currency. */
function newEventItem(columns: Columns) {
  const { all, currency, find } = columns;
  const ids = find("eventId");
  const [name] = find("eventName").filter((column) => !isEventIdName(column.name));
  const times = timesOfEvent(columns, ids);
  const what = `the currency of the events, such as ${currency === undefined ? "EUR" : inner(currency)}`;
  const title: readonly Entry[] =
    name !== undefined
      ? [{ key: "eventName", value: template(name), note: "guess by name; public" }]
      : ids.length === 0
        ? [{ key: "eventName", value: ask("what the event is called; this is public") }]
        : [];
  const asked = ask(`${what}; or remove newEvent, if the events are registered elsewhere`);
  const fields: readonly Entry[] = [...title, { key: "currency", value: asked }, ...timeRules(times, all)];
  return {
    items: [actionItem("newEvent", "with the first row of each event", [], fields)],
    times: [...times.values()],
  };
}

function itemsOf(
  { action, why }: Taken,
  columns: Columns,
  deciding: Deciding,
  time: OrderTime,
  fields: readonly Line[],
): readonly (Value | Comment)[] {
  if (isEventAction(action)) return [actionItem(action, why, eventStatusShown(deciding), fields)];
  const ofTime = time.doubt === undefined ? time.columns[0] : undefined;
  const each = action === "soldTicket" && columns.items !== undefined ? eachAsked(columns) : [];
  const when = whenLines(deciding, action, columns, ofTime);
  const item = actionItem(action, why, [...when, ...each], fields);
  return action === "soldTicket"
    ? [item, ...entriesShown(deciding), ...invalidationItems(deciding, columns, ofTime)]
    : [item];
}

/** Columns that may become attributes, as a comment. */
function traitsOffered(columns: readonly Column[]): readonly Comment[] {
  const traits = Object.entries(TRAITS).flatMap(([trait, words]) => {
    const [column] = called(words, columns);
    return column === undefined ? [] : [[trait, template(column)] as const];
  });
  if (traits.length === 0) return [];
  return [
    choice({ key: "metadataAttributes", value: { flow: traits }, note: "optional, and public on the blockchain" }),
  ];
}
