/** A source for an export of an unknown layout: rules for its columns, unless they are named like fields and need none. */

import { ACTIONS, type ActionName, actionsThat } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { askedIn } from "../map/source.ts";
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
import { type Column, type Evidence, hasGuards } from "./evidence.ts";
import {
  eventTimes,
  linesFor,
  OF_A_SALE,
  OF_A_TICKET,
  OF_AN_EVENT,
  OF_ITS_EVENT,
  OF_SALES,
  orderCounted,
  type View,
} from "./fields.ts";
import { followsRefunds, type Roles, rolesOf } from "./roles.ts";
import { fieldColumns, fieldsTaken, ownActions, type Taken, takenFor } from "./row-action.ts";
import { isTimeField, orderTimeOf, timeRule, zoneLines } from "./time-rules.ts";
import {
  ask,
  type Comment,
  type Entry,
  flow,
  inner,
  inQuotes,
  type Line,
  template,
  text,
  type Value,
  valuesText,
} from "./yaml.ts";

/** What stands under the name of a source, around its `match`. */
export interface Body {
  readonly comments: readonly Comment[];
  readonly rules: readonly Line[];
}

/** What a source was made from: rows that name their own actions; columns named like fields; or unknown columns. */
interface FromColumns extends Body {
  readonly how: "actions" | "fields" | "columns";
  /** What its rows give, as far as that is known. */
  readonly actions: readonly ActionName[];
}

/** @param needsEvents - whether sales have to register their events. */
export function fromColumns(evidence: Evidence, needsEvents: boolean): FromColumns {
  const roles = rolesOf(evidence);
  const own = ownActions(roles);
  if (own.length > 0) return { how: "actions", actions: own, ...withOwnActions(roles, own) };
  const taken = takenFor(roles);
  const { action, doubt, isNamed = false } = taken;
  const named = isNamed ? fieldColumns(roles, action) : new Map<string, Column>();
  const view: View = { roles, action, named, time: orderTimeOf(action, roles) };
  const actions = doubt === undefined ? [action] : [];
  if (isNamed) return { how: "fields", actions, ...(asNamed(view, taken) ?? withRules(view, taken, needsEvents)) };
  return { how: "columns", actions, ...withRules(view, taken, needsEvents) };
}

/** How the file is written, where that is unusual. */
export function csvLines(
  { delimiter, encoding, headerLine, isEscaped, list, columns }: Evidence,
  isGuarded = columns.some(hasGuards),
): readonly Entry[] {
  if (list !== undefined) return [{ key: "rows", value: inQuotes(list), note: "the list in the file" }];
  const value = flow({
    delimiter: delimiter && inQuotes(delimiter),
    encoding,
    guards: isGuarded ? "strip" : undefined,
    escape: isEscaped === true ? inQuotes("\\") : undefined,
    header: headerLine?.toString(),
  });
  return value === "{}" ? [] : [{ key: "csv", value, note: "as this file is written" }];
}

/** Columns that are no fields of the action. */
function besideFields(roles: Roles, action: ActionName): readonly Column[] {
  const fields = new Set(fieldColumns(roles, action).values());
  return [...roles.all, ...roles.empty].filter((column) => !fields.has(column) && fold(column.name) !== "action");
}

/** What is said of a file that is read by the names of its columns. */
function fileLines(roles: Roles, action: ActionName): readonly Entry[] {
  const times = [...fieldColumns(roles, action)].filter(
    ([field, { times }]) => isTimeField(field) && times !== undefined,
  );
  return [
    ...csvLines(roles),
    ...zoneLines(
      times.map(([, column]) => column),
      roles,
    ),
  ];
}

function withOwnActions(roles: Roles, own: readonly ActionName[]): Body {
  const passed = own.flatMap((action) => {
    const { status, mark } = decidingOf(besideFields(roles, action), action);
    return [...status, ...mark];
  });
  const shown = [...new Set(passed)].map((column) => `# ${cleanText(column.name, 40)}: ${valuesText(column)}`);
  const needNone = "# The columns are named like fields, and each row names its action, so they need no rules";
  const comments =
    shown.length === 0
      ? [`${needNone}.`]
      : [needNone, "# as long as a row means its action whatever these columns hold:", ...shown];
  return { comments: comments.map((comment) => ({ comment })), rules: fileLines(roles, own[0] ?? "soldTicket") };
}

/** No rules where all columns are named like fields and are read correctly by that. */
function asNamed(view: View, { why, doubt }: Taken): Body | undefined {
  const { roles, action, time } = view;
  const deciding = decidingOf(besideFields(roles, action), action);
  const isSale = action === "soldTicket";
  const { source, fields } = rulesOf(view);
  const happensNowAndThen =
    !isSale && fieldsTaken(action).has("orderTime") && time.columns.some(({ filled, rows }) => filled < rows);
  const needsRules =
    ![...source, ...fields].every(isAsNamed) ||
    Object.values(deciding).some(({ length }) => length > 0) ||
    eachLines(view).length > 0 ||
    (isSale && roles.one !== undefined) ||
    roles.refunds !== undefined ||
    roles.skip.length > 0 ||
    expectedOf(view).some(({ value }) => typeof value === "string" && askedIn(value) !== undefined) ||
    happensNowAndThen;
  if (needsRules) return undefined;
  const isKnown = doubt === undefined;
  const comment = `# The columns are named like fields, ${isKnown ? "so they need no rules" : "but nothing says which action the rows are"}.`;
  const given: Entry = isKnown ? { key: "action", value: action, note: why } : { key: "action", value: ask(doubt) };
  return { comments: [{ comment }], rules: [...fileLines(roles, action), given] };
}

function withRules(view: View, { why, doubt, isNamed }: Taken, needsEvents: boolean): Body {
  const { roles, action, time } = view;
  const isSale = action === "soldTicket";
  const deciding = decidingOf(besideFields(roles, action), action);
  const { source, fields } = rulesOf(view);
  const registers = isSale && needsEvents;
  const used = [
    ...time.columns,
    ...(ACTIONS[action].about === "event" || registers ? eventTimes(view) : []),
    ...(isSale ? deciding.mark.filter(({ times }) => times !== undefined) : []),
  ];
  const asBelow = `remove this line if they are ${action}, as below, else write sources of your own`;
  const event = actionItem("newEvent", "with the first row of each event", [], linesFor(view, OF_ITS_EVENT));
  const named = { comment: "# The columns are named like fields, but not all is said by that." };
  return {
    comments: isNamed === true ? [named] : [],
    rules: [
      ...csvLines(roles),
      ...listsShown(roles),
      ...zoneLines(used, roles),
      ...eachLines(view),
      ...(ACTIONS[action].about === "event" ? [] : expectLines(expectedOf(view), deciding.status, deciding.blank)),
      ...roles.skip,
      ...(source.length === 0 ? [] : [{ key: "fields", value: { block: source } }]),
      ...(doubt === undefined ? [] : [{ key: "action", value: ask(`${doubt}: ${asBelow}`) }]),
      { key: "actions", value: { items: [...(registers ? [event] : []), ...itemsOf(view, why, deciding, fields)] } },
    ],
  };
}

const expectedOf = ({ roles, action }: View): readonly Entry[] => [
  ...(fieldsTaken(action).has("price") ? currencyExpected(roles) : []),
  ...(action === "soldTicket" ? oneExpected(roles) : []),
];

/** Rules of the source for all its actions, and those of the action. */
function rulesOf(view: View): { readonly source: readonly Line[]; readonly fields: readonly Line[] } {
  const { roles, action, named } = view;
  const isNamed = named.size > 0;
  const takes = fieldsTaken(action);
  const sells = [...actionsThat("sell-ticket"), ...actionsThat("resell-ticket")].some((name) => name === action);
  const needsUser = named.has("userId") || (!(isNamed && !sells) && !(action === "claimedTicket" && named.has("to")));
  const wanted = action === "soldTicket" ? OF_A_SALE : ACTIONS[action].about === "event" ? OF_AN_EVENT : OF_A_TICKET;
  const source = action === "soldTicket" ? linesFor(view, OF_SALES) : [];
  const guessed = linesFor(
    view,
    wanted.filter((field) => {
      if (field === "userId" && !needsUser) return false;
      if (field === "metadataAttributes") return action === "soldTicket" || (action === "updateTicket" && !isNamed);
      return field === "ticketId" || takes.has(field);
    }),
  );
  const ruled = new Set([...source, ...guessed].map((line) => ("key" in line ? line.key : "")));
  const others = [...named].flatMap(([field, column]): readonly Entry[] => {
    if (ruled.has(field)) return [];
    return [isTimeField(field) ? timeRule(column, roles, field) : { key: field, value: template(column) }];
  });
  return { source: source.map(withoutGuess), fields: [...guessed, ...others].map(withoutGuess) };
}

/** Whether a rule says no more than the name of its column; comments say nothing. */
const isAsNamed = (line: Line): boolean =>
  "comment" in line ||
  (typeof line.value === "string" && fold(/^"\{(.*)\}"$/.exec(line.value)?.[1] ?? "") === fold(line.key));

/** That a column named like its field is that field's is no guess. */
const withoutGuess = (line: Line): Line => ("key" in line && isAsNamed(line) ? { ...line, note: undefined } : line);

/** Lists that no rule looks into. */
function listsShown({ otherLists }: Roles): readonly Comment[] {
  if (otherLists.length === 0) return [];
  const named = otherLists.slice(0, 5).join(", ");
  return [
    {
      comment: `#each: {path: ${otherLists[0]}}   # rows hold lists (${named}); with this line each item is a ticket, and {item.…} what is in it`,
    },
  ];
}

/** How many tickets a row is: taken for one each, rows of several would lose the others, and may have the price of all. */
function eachLines({ roles, action }: View): readonly Entry[] {
  const { items } = roles;
  if (items !== undefined)
    return [{ key: "each", value: flow({ path: text(items) }), note: `guess: each item of ${items} is a ticket` }];
  if (action !== "soldTicket") return [];
  const count = orderCounted(roles);
  if (count === undefined) return eachAsked(roles);
  return [
    { key: "each", value: flow({ count: template(count) }), note: "guess: each row is an order of so many tickets" },
  ];
}

function eachAsked({ counts, quantities, items }: Roles): readonly Entry[] {
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

function itemsOf(
  { roles, action, time }: View,
  why: string,
  deciding: Deciding,
  fields: readonly Line[],
): readonly (Value | Comment)[] {
  if (ACTIONS[action].about === "event") return [actionItem(action, why, eventStatusShown(deciding), fields)];
  const ofTime = time.doubt === undefined ? time.columns[0] : undefined;
  const asking = { ...deciding, status: deciding.status.filter((column) => !followsRefunds(column, roles)) };
  const when = whenLines(asking, action, roles, ofTime);
  if (action !== "soldTicket") return [actionItem(action, why, when, fields)];
  const each = roles.items === undefined ? [] : eachAsked(roles);
  return [
    actionItem(action, why, [...when, ...each], fields),
    ...entriesShown(deciding),
    ...invalidationItems(asking, roles, ofTime),
  ];
}
