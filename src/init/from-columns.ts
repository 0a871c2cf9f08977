/** A source for an export of an unknown layout: rules for its columns, unless they are named like fields and need none. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { askedIn } from "../map/template.ts";
import { cleanText } from "../text.ts";
import { countsExpected, currencyExpected, decidingOf, expectLines, item, itemsOf } from "./conditions.ts";
import { type Column, type Evidence, hasGuards } from "./evidence.ts";
import { eventRules, eventTimes, isAsNamed, rulesOf, type View } from "./fields.ts";
import { says } from "./header-words.ts";
import { type Roles, rolesOf } from "./roles.ts";
import { fieldColumns, fieldsTaken, isOfEvents, ownActions, type Taken, takenFor } from "./row-action.ts";
import { eachLines } from "./ticket-rules.ts";
import { isTimeField, orderTimeOf, zoneLines } from "./time-rules.ts";
import {
  ask,
  type Comment,
  comments,
  type Entry,
  flow,
  inQuotes,
  type Line,
  listOf,
  text,
  valuesText,
} from "./yaml.ts";

/** What stands under the name of a source, around its `match`. */
export interface Body {
  readonly comments: readonly Comment[];
  readonly rules: readonly Line[];
}

/** What a source was made from: rows that name their own actions; columns named like fields; or unknown columns. */
export interface FromColumns extends Body {
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
  return { how: isNamed ? "fields" : "columns", actions, ...withAction(view, taken, needsEvents) };
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
  const times = [...fieldColumns(roles, action)].flatMap(([field, column]) =>
    isTimeField(field) && column.times !== undefined ? [column] : [],
  );
  return [...csvLines(roles), ...zoneLines(times)];
}

const withOwnActions = (roles: Roles, [first = "soldTicket"]: readonly ActionName[]): Body => ({
  comments: [{ comment: "# The columns are named like fields, and each row names its action, so they need no rules." }],
  rules: fileLines(roles, first),
});

/** No rules where all columns are named like fields and are read correctly by that. */
function withAction(view: View, taken: Taken, needsEvents: boolean): Body {
  const { roles, action, time } = view;
  const { why, doubt, isNamed = false } = taken;
  const isSale = action === "soldTicket";
  const deciding = decidingOf(besideFields(roles, action), action);
  const { source, fields } = rulesOf(view);
  const each = eachLines(roles, isSale);
  const expected = [
    ...(fieldsTaken(action).has("price") ? currencyExpected(roles) : []),
    ...(isSale ? countsExpected(roles) : []),
  ];
  const happensNowAndThen =
    !isSale && fieldsTaken(action).has("orderTime") && time.columns.some(({ filled, rows }) => filled < rows);
  const needsRules =
    ![...source, ...fields].every(isAsNamed) ||
    Object.values(deciding).some(({ length }) => length > 0) ||
    each.length > 0 ||
    (isSale && roles.one !== undefined) ||
    roles.fillDown.length > 0 ||
    roles.refund !== undefined ||
    roles.totals !== undefined ||
    expected.some(({ value }) => typeof value === "string" && askedIn(value) !== undefined) ||
    happensNowAndThen;
  if (isNamed && !needsRules) {
    const isKnown = doubt === undefined;
    const comment = `# The columns are named like fields, ${isKnown ? "so they need no rules" : "but nothing says which action the rows are"}.`;
    const given: Entry = isKnown ? { key: "action", value: action, note: why } : { key: "action", value: ask(doubt) };
    return { comments: [{ comment }], rules: [...fileLines(roles, action), given] };
  }
  const registers = isSale && needsEvents;
  const used = [
    ...time.columns,
    ...(isOfEvents(action) || registers ? eventTimes(view) : []),
    ...(isSale ? deciding.mark.filter(({ times }) => times !== undefined) : []),
  ];
  const asBelow = `remove this line if they are ${action}, as below, else write sources of your own`;
  const event = item("newEvent", "with the first row of each event", [], eventRules(view));
  const items = [...(registers ? [event] : []), ...itemsOf(view, why, deciding, fields)];
  const expect = isOfEvents(action) ? [] : expectLines(expected, deciding.status, deciding.blank);
  return {
    comments: isNamed ? [{ comment: "# The columns are named like fields, but not all is said by that." }] : [],
    rules: [
      ...csvLines(roles),
      ...blocksFilled(roles),
      ...listsShown(roles),
      ...zoneLines(used),
      ...each,
      ...expect,
      ...totalsSkipped(roles),
      ...(isSale ? goodsShown(roles) : []),
      ...(source.length === 0 ? [] : [{ key: "fields", value: { block: source } }]),
      ...(doubt === undefined ? [] : [{ key: "action", value: ask(`${doubt}: ${asBelow}`) }]),
      { key: "actions", value: { items } },
    ],
  };
}

const blocksFilled = ({ fillDown }: Evidence): readonly Entry[] =>
  fillDown.length === 0
    ? []
    : [{ key: "fillDown", value: listOf(fillDown.map(text)), note: "guess: filled in the first row of a block only" }];

const totalsSkipped = ({ totals }: Evidence): readonly Entry[] =>
  totals === undefined
    ? []
    : [{ key: "skip", value: flow({ [totals.column]: text(totals.text) }), note: "a line of totals is no row" }];

/** A cloakroom fee would be sent as a ticket. */
const goodsShown = ({ all }: Roles): readonly Comment[] =>
  all
    .filter(({ name, hasFewValues, values }) => says(name, "goods") && hasFewValues && values.size > 1)
    .flatMap((goods) => {
      const out = goods.name.startsWith("item.") ? "leave them out by when" : "skip them";
      return comments(
        `${cleanText(goods.name, 40)} is ${valuesText(goods)}. If some are no tickets, ${out}: docs/mapping.md, Rows that give nothing`,
      );
    });

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
