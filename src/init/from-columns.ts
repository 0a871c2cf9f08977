/** A source for an export of an unknown layout: rules for its columns, unless they are named like fields and need none. */

import { type ActionName, actionsThat } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { fieldsOf } from "../map/columns.ts";
import { askedIn } from "../map/source.ts";
import { type Columns, called, columnsOf, fieldColumns, titleIn } from "./columns.ts";
import {
  actionItem,
  currencyExpected,
  type Deciding,
  decidingOf,
  entriesShown,
  eventStatusShown,
  expectLines,
  invalidationItems,
  whenLines,
} from "./conditions.ts";
import { type Comment, type Entry, flow, type Line, switchedOff, type Value } from "./config-text.ts";
import { type Column, type Evidence, hasGuards, textIn } from "./evidence.ts";
import { isEventIdName, isIdName, namesBefore, TRAITS } from "./header-words.ts";
import { eventRule, knownTicketRule, soldTicketRule, userRule } from "./id-rules.ts";
import { exactPattern, widePattern } from "./match-patterns.ts";
import { ask, choice, inner, template, valuesText } from "./notes.ts";
import { priceLines } from "./price-rules.ts";
import { ownActions, type Taken, takenFor } from "./row-action.ts";
import { isTimeField, type OrderTime, orderTimeLines, orderTimeOf, timeRule, zoneLines } from "./time-rules.ts";

/** `match` for this file alone, where the event is asked: its answer does not hold for the next file; else for its successors, too. */
export const matchLine = (fileName: string, isOneEvent: boolean): Entry =>
  isOneEvent
    ? {
        key: "match",
        value: { inQuotes: exactPattern(fileName) },
        note: "this file only: eventId below is that of one event",
      }
    : { key: "match", value: { inQuotes: widePattern(fileName) } };

/** How the file is written, where that is unusual. */
export function csvLines(
  { delimiter, encoding, headerLine, columns }: Evidence,
  isGuarded = columns.some(hasGuards),
): readonly Entry[] {
  const value = flow({
    delimiter: delimiter === undefined ? undefined : { inQuotes: delimiter },
    encoding,
    guards: isGuarded ? "strip" : undefined,
    header: headerLine === undefined ? undefined : String(headerLine),
  });
  return value.flow.length === 0 ? [] : [{ key: "csv", value, note: "as this file is written" }];
}

/** What a source was made from: rows that name their own actions; columns named like fields; or unknown columns. */
interface FromColumns {
  readonly how: "actions" | "fields" | "columns";
  readonly body: readonly Line[];
  /** The actions that the rows name. */
  readonly own: readonly ActionName[];
}

export function fromColumns(evidence: Evidence): FromColumns {
  const columns = columnsOf(evidence);
  const own = ownActions(evidence);
  if (own.length > 0) return { how: "actions", own, body: withOwnActions(evidence, columns, own) };
  const taken = takenFor(evidence, columns);
  return { how: taken.isNamed === true ? "fields" : "columns", own, body: withAction(evidence, columns, taken) };
}

/** Columns that are no fields of the action. */
function besideFields(evidence: Evidence, { all, empty }: Columns, action: ActionName): readonly Column[] {
  const fields = new Set(fieldColumns(evidence, action).values());
  return [...all, ...empty].filter((column) => !fields.has(column) && fold(column.name) !== "action");
}

const fileLines = (evidence: Evidence, columns: Columns, action: ActionName): readonly Entry[] => [
  matchLine(evidence.fileName, false),
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

/** Rules for its columns; none where all are named like fields and are read correctly by that. */
function withAction(evidence: Evidence, columns: Columns, taken: Taken): readonly Line[] {
  const { action, why, isNamed = false, doubt } = taken;
  const isSale = action === "soldTicket";
  const deciding = decidingOf(besideFields(evidence, columns, action), action);
  const time = orderTimeOf(action, columns);
  const each = isSale ? eachLines(columns) : [];
  const rules = rulesOf(evidence, columns, taken, time);
  const currency = takes(action, "price") ? currencyExpected(columns.currency) : [];
  const happensNowAndThen =
    !isSale && takes(action, "orderTime") && time.columns.some(({ filled, rows }) => filled < rows);
  const needsRules =
    ![...rules.source, ...rules.fields].every(isAsNamed) ||
    Object.values(deciding).some(({ length }) => length > 0) ||
    each.length > 0 ||
    columns.negatives.length > 0 ||
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
  const asksEvent = isSale && rules.source.some(({ key, value }) => key === "eventId" && isAsked(value));
  const ofLoss = isSale ? deciding.mark.filter(({ times }) => times !== undefined) : [];
  const used = [...time.columns, ...rules.times, ...ofLoss];
  const asBelow = `remove this line if they are ${action}, as below, else write sources of your own`;
  return [
    ...(isNamed ? [{ comment: "# The columns are named like fields, but not all is said by that." }] : []),
    matchLine(evidence.fileName, asksEvent),
    ...csvLines(evidence),
    ...listsShown(evidence.lists),
    ...zoneLines(used, columns.all),
    ...each,
    ...(isEventAction(action) ? [] : expectLines(currency, deciding.status, deciding.blank)),
    ...(rules.source.length === 0 ? [] : [{ key: "fields", value: { block: rules.source } }]),
    ...(doubt === undefined ? [] : [{ key: "action", value: ask(`${doubt}: ${asBelow}`) }]),
    { key: "actions", value: { items: itemsOf(taken, columns, deciding, time, rules.fields) } },
  ];
}

const isEventAction = (action: ActionName): boolean => action === "newEvent" || action === "updateEvent";
const takes = (action: ActionName, field: FieldName): boolean => fieldsOf(action, new Set()).has(field);

const isAsked = (value: Value): boolean =>
  typeof value === "object" && "inQuotes" in value && askedIn(value.inQuotes) !== undefined;

/** Whether a rule says no more than the name of its column; comments say nothing. */
const isAsNamed = (line: Line): boolean =>
  "comment" in line ||
  (typeof line.value === "object" &&
    "inQuotes" in line.value &&
    fold(line.value.inQuotes.slice(1, -1)) === fold(line.key));

/** That a column named like its field is that field's is no guess. */
const withoutGuess = <L extends Line>(line: L): L =>
  "key" in line && isAsNamed(line) ? { ...line, note: undefined } : line;

function listsShown(lists: readonly string[] = []): readonly Comment[] {
  if (lists.length === 0) return [];
  const named = lists.slice(0, 5).join(", ");
  return [
    {
      comment: `#each: {path: ${lists[0]}}   # rows hold lists (${named}); with this line each item is a ticket, and {item.…} what is in it`,
    },
  ];
}

/** How many tickets a row is: taken for one each, rows of several would lose the others, and may have the price of all. */
function eachLines(columns: Columns): readonly Entry[] {
  const { quantities, order, ticket } = columns;
  const [quantity, ...more] = quantities;
  const asked = (what: string): readonly Entry[] => [
    {
      key: "each",
      value: flow({
        count: ask(
          `${what}, if a row is so many tickets; then ticketId needs {n}, and a price of all of them divide: docs/mapping.md, A quantity. Else remove this line`,
        ),
      }),
    },
  ];
  if (quantity === undefined) {
    const divider = dividesPrice(columns);
    return divider === undefined ? [] : asked(`${inner(divider)}, by which the price is the same in more rows`);
  }
  if (more.length > 0) return asked(quantities.map(inner).join(" and "));
  if (order === undefined || (ticket !== undefined && fold(ticket.name) === "ticketid")) return asked(inner(quantity));
  return [
    {
      key: "each",
      value: flow({ count: template(quantity) }),
      note: "guess: each row is an order of so many tickets",
    },
  ];
}

/** A column of small whole numbers that divides different amounts to the same price: 60.00 by 3, 40.00 by 2. */
function dividesPrice({ all, rows, prices: [price] }: Columns): Column | undefined {
  const read = price?.amounts?.readings[0].read;
  if (price === undefined || read === undefined) return undefined;
  return all.find((column) => {
    if (!column.isCount || column === price || isIdName(column.name)) return false;
    const pairs = rows.map((cells) => [Number(read(textIn(cells, price))), Number(textIn(cells, column))] as const);
    const filled = pairs.filter(([amount, count]) => amount > 0 && count > 0);
    const units = new Set(filled.map(([amount, count]) => (amount / count).toFixed(4)));
    return (
      new Set(filled.map(([, count]) => count)).size > 1 &&
      filled.length >= 3 &&
      units.size * 2 <= new Set(filled.map(([amount]) => amount)).size
    );
  });
}

/** Rules for the source and for its action, and the columns of times beside that of the action. */
interface Rules {
  readonly source: readonly Entry[];
  readonly fields: readonly Line[];
  readonly times: readonly Column[];
}

function rulesOf(evidence: Evidence, columns: Columns, { action, isNamed }: Taken, time: OrderTime): Rules {
  if (isEventAction(action)) return eventRules(evidence, columns, action, isNamed);
  const isSale = action === "soldTicket";
  const isResale = action === "resoldTicket";
  const { all, quantities, prices } = columns;
  const priced = isResale ? prices.filter(({ name }) => !namesBefore(name)) : prices;
  const quantity = quantities.length === 1 && columns.order !== undefined ? quantities[0] : undefined;
  const named = isNamed === true ? fieldColumns(evidence, action) : new Map<string, Column>();
  const whichUser =
    action === "claimedTicket"
      ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
      : undefined;
  const needsUser = takes(action, "userId") && !(named.has("to") && action === "claimedTicket");
  const isUserOptional = isNamed === true && !SELLS.has(action) && !named.has("userId");
  const ticket = isSale ? soldTicketRule(columns) : knownTicketRule(columns);
  const fields: readonly Line[] = [
    ...(isSale ? [] : [ticket]),
    ...(needsUser && !isUserOptional ? [userRule(columns, isResale, whichUser)] : []),
    ...(takes(action, "price") ? priceLines(columns, priced, isSale ? quantity : undefined) : []),
    ...(action === "updateTicket" && isNamed !== true ? [...traitsOffered(all), WHAT_CHANGES] : []),
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

function eventRules(evidence: Evidence, columns: Columns, action: ActionName, isNamed = false): Rules {
  const { all, currency, find } = columns;
  const id =
    find("eventId").find((column) => column.isUnique || isEventIdName(column.name)) ??
    all.find((column) => column.isUnique && isIdName(column.name));
  const rule = (key: FieldName, column: Column | undefined, asked?: string): readonly Entry[] => {
    if (column !== undefined) return [{ key, value: template(column), note: "guess by name" }];
    return asked === undefined || !takes(action, key) ? [] : [{ key, value: ask(asked) }];
  };
  const times = (["startTime", "endTime"] as const).flatMap((key) =>
    find(key)
      .slice(0, 1)
      .map((column) => ({ column, rule: timeRule(column, all, key) })),
  );
  const fields = [
    ...rule("eventId", id, "no column named like an id differs in every row"),
    ...rule("eventName", titleIn(columns, id)),
    ...(action === "newEvent"
      ? rule("currency", currency, "the currency of the events, such as EUR: no column has such a name")
      : []),
    ...times.map((time) => time.rule),
  ];
  const named = isNamed ? fieldColumns(evidence, action) : new Map<string, Column>();
  return {
    source: [],
    fields: [...fields, ...otherFields(named, fields)].map(withoutGuess),
    times: times.map(({ column }) => column),
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
  const item = actionItem(action, why, whenLines(deciding, action, columns, ofTime), fields);
  return action === "soldTicket"
    ? [...eventOffered(columns), item, ...entriesShown(deciding), ...invalidationItems(deciding, columns, ofTime)]
    : [item];
}

/** The event of a row, as a comment: it may be registered elsewhere. */
function eventOffered({ all, currency, find }: Columns): readonly Comment[] {
  const ids = find("eventId");
  const [name] = find("eventName").filter((column) => !isEventIdName(column.name));
  const [start] = find("startTime").filter((column) => !ids.includes(column));
  const fields = flow({
    eventName: name && template(name),
    startTime: start && timeRule(start, all, "startTime").value,
    currency: currency === undefined ? "EUR" : template(currency),
  });
  return [
    { comment: "# Where its events are not registered elsewhere, take the # away and check the currency:" },
    ...switchedOff({ items: [{ block: [{ key: "newEvent", value: flow({ fields }) }] }] }),
  ];
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
