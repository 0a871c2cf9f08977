/** A source for an export of an unknown layout: rules for its columns, unless they are named like fields and need none. */

import type { ActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../text.ts";
import { type Column, hasGuards } from "./column.ts";
import {
  actionEntry,
  actionsOf,
  asHere,
  countsExpected,
  currencyExpected,
  decidingOf,
  expectLines,
  isConditional,
  isLog,
  mayDecide,
} from "./conditions.ts";
import type { Evidence } from "./evidence.ts";
import { eventRules, eventTimes, isAsNamed, rulesOf, type View } from "./fields.ts";
import { says } from "./header-words.ts";
import { type Roles, rolesOf } from "./roles.ts";
import { fieldColumns, fieldsTaken, isOfEvents, namedColumns, ownActions, type Taken, takenFor } from "./row-action.ts";
import { eachLines } from "./ticket-rules.ts";
import { orderTimeOf, TIME_FIELDS, zoneLines } from "./time-rules.ts";
import { ask, type Comment, comments, type Entry, inner, type Line, linesOf, valuesText } from "./yaml.ts";

/** A source: what stands under its name, around its `match`. */
export interface Source {
  readonly comments: readonly Comment[];
  readonly rules: readonly Line[];
  /** What its rows give, as far as that is known. */
  readonly actions: readonly string[];
}

/** @param needsEvents - whether sales have to register their events. */
export function fromColumns(evidence: Evidence, needsEvents: boolean): Source & { readonly taken: string } {
  const roles = rolesOf(evidence);
  const own = ownActions(roles);
  if (own.length > 0) {
    const taken = "its columns are named like fields, and each row names its action";
    return { taken, actions: own, ...withoutRules(roles, "and each row names its action, ") };
  }
  const taken = takenFor(roles);
  const { action, doubt } = taken;
  const named = namedColumns(roles, action);
  const view: View = { roles, action, named, time: orderTimeOf(action, roles) };
  return {
    taken:
      named.size > 0
        ? "its columns are named like fields; check which action its rows are"
        : "an unknown layout, so its columns were guessed from their names and cells; check each line",
    actions: doubt === undefined ? [action] : [],
    ...withAction(view, taken, needsEvents),
  };
}

/** How the file is written, where that is unusual. */
export function csvLines(
  { delimiter, encoding, headerLine, isEscaped, list, columns }: Evidence,
  isGuarded = columns.some(hasGuards),
): readonly Entry[] {
  if (list !== undefined) return [{ key: "rows", value: list, note: "the list in the file" }];
  const value = {
    delimiter,
    encoding,
    guards: isGuarded ? "strip" : undefined,
    escape: isEscaped === true ? "\\" : undefined,
    header: headerLine?.toString(),
  };
  const isUsual = Object.values(value).every((given) => given === undefined);
  return isUsual ? [] : [{ key: "csv", value, note: "as this file is written" }];
}

/** Columns that are no fields of the action. */
function besideFields(roles: Roles, action: ActionName): readonly Column[] {
  const fields = new Set(fieldColumns(roles, action).values());
  return [...roles.all, ...roles.empty].filter((column) => !fields.has(column) && fold(column.name) !== "action");
}

/** A source of columns that are named like fields. */
function withoutRules(roles: Roles, also = "", action: readonly Entry[] = []): Omit<Source, "actions"> {
  const times = roles.all.filter(({ name, times }) => TIME_NAMES.has(fold(name)) && times !== undefined);
  return {
    comments: [{ comment: `# The columns are named like fields, ${also}so they need no rules.` }],
    rules: [...csvLines(roles), ...zoneLines(times), ...action],
  };
}

const TIME_NAMES: ReadonlySet<string> = new Set(TIME_FIELDS.map(fold));

/** No rules where all columns are named like fields and are read correctly by that. */
function withAction(view: View, { why, doubt }: Taken, needsEvents: boolean): Omit<Source, "actions"> {
  const { roles, action, named, time } = view;
  const isSale = action === "soldTicket";
  const deciding = decidingOf(besideFields(roles, action), action);
  const { source, fields } = rulesOf(view);
  const registers = isSale && needsEvents;
  const event = actionEntry("newEvent", "with the first row of each event", [], eventRules(view));
  const expected = [
    ...(fieldsTaken(action).has("price") ? currencyExpected(roles) : []),
    ...(isSale ? countsExpected(roles) : []),
    ...[...deciding.status, ...deciding.blank].map(asHere),
  ];
  const known = new Set([...expected.map(({ key }) => key), ...[...deciding.mark, ...goodsIn(roles)].map(nameOf)]);
  const rules = linesOf([...source, ...fields, ...(registers ? [event] : [])]).join("\n");
  const unused = besideFields(roles, action).filter(
    (column) => !known.has(column.name) && !rules.includes(inner(column)),
  );
  const others = isSale || isLog(action) ? mayDecide(unused) : [];
  const given = actionsOf(view, why, deciding, fields, others);
  const before = [
    ...blocksFilled(roles),
    ...eachLines(roles, isSale),
    ...(isOfEvents(action) ? [] : expectLines(expected)),
    ...totalsSkipped(roles),
  ];
  const isByName = [...source, ...fields].every(isAsNamed) && !given.some(isConditional);
  if (named.size > 0 && doubt === undefined && isByName && before.length === 0)
    return withoutRules(roles, "", [{ key: "action", value: action, note: why }]);
  const used = [
    ...time.columns,
    ...(isOfEvents(action) || registers ? eventTimes(view) : []),
    ...(isSale ? deciding.mark.filter(({ times }) => times !== undefined) : []),
  ];
  const asBelow = `remove this line if they are ${action}, as below, else write sources of your own`;
  return {
    comments: isSale ? goodsShown(roles) : [],
    rules: [
      ...csvLines(roles),
      ...zoneLines(used),
      ...before,
      ...(source.length === 0 ? [] : [{ key: "fields", lines: source }]),
      ...(doubt === undefined ? [] : [{ key: "action", value: ask(`${doubt}: ${asBelow}`) }]),
      { key: "actions", entries: [...(registers ? [event] : []), ...given] },
    ],
  };
}

/** Never a guess: a blank id may be that of a row without a ticket, which would be given another's. */
function blocksFilled({ blocks }: Evidence): readonly Entry[] {
  if (blocks.length === 0) return [];
  const asked = `those of ${blocks.join(", ")} in which a blank cell means the one above, as [one, other]; or remove this line`;
  return [{ key: "fillDown", value: ask(asked) }];
}

const totalsSkipped = ({ totals }: Evidence): readonly Entry[] =>
  totals === undefined ? [] : [{ key: "skip", value: totals, note: "a line of totals is no row" }];

const nameOf = ({ name }: Column): string => name;

const goodsIn = ({ all }: Roles): readonly Column[] =>
  all.filter(
    ({ name, hasFewValues, holdsLists, values }) =>
      says(name, "goods") && hasFewValues && !holdsLists && values.size > 1,
  );

/** A cloakroom fee would be sent as a ticket. */
const goodsShown = (roles: Roles): readonly Comment[] =>
  goodsIn(roles).flatMap((goods) => {
    const out = goods.name.startsWith("item.") ? "leave them out by when" : "skip them";
    return comments(
      `${cleanText(goods.name, 40)} is ${valuesText(goods)}. If some are no tickets, ${out}: docs/mapping.md, Rows that give nothing`,
    );
  });
