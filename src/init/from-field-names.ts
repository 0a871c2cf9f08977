/** A source for an export whose columns are named like fields, so that it needs few rules or none. */

import { ACTION_NAMES, ACTIONS, type ActionName, actionsThat, isActionName } from "../actions/actions.ts";
import { fold } from "../actions/nearest.ts";
import { cleanText } from "../actions/text.ts";
import { actionOfFileName, FILE_NAME_PATTERNS, fieldsOf, missingFields, readColumns } from "../map/columns.ts";
import { actionItem, entryOffered, invalidationItems } from "./action-items.ts";
import { type AmountEvidence, amountsOf, isQuantity } from "./amount-evidence.ts";
import { amountLines, areRivals, choiceLines } from "./amount-rules.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { expectLines, severalCurrencies, skipLines, skipsOfStatuses, whenLines } from "./conditions.ts";
import { type Entry, flow, type Line } from "./config-text.ts";
import { csvLines, everySuchFile, zoneLines } from "./file-settings.ts";
import { actionInFileName, mayTellSale, tellsBefore, WORDS } from "./header-words.ts";
import { holdsEmails } from "./id-columns.ts";
import { userRule } from "./id-rules.ts";
import { type OrderTime, orderTimeOf } from "./order-time.ts";
import { AS_FILE_NAME } from "./row-action.ts";
import type { Evidence } from "./sample.ts";
import { decidingOf, isDeed } from "./status-columns.ts";
import { isTime, timesOf, unixOf } from "./time-evidence.ts";
import { isTimeField, orderTimeLines, timeRule } from "./time-rules.ts";
import { areCurrencies, called, columnsOf, eventColumns, idColumns, pricesIn, titleIn } from "./unknown-columns.ts";
import { ask, inner, namesText, template, valuesText } from "./words.ts";

/** Which action the rows of a table with columns named like fields are. */
type Named =
  | NamedAction
  /** Nothing says which of them. */
  | { readonly among: readonly ActionName[] };

/** By the convention of file names, or the only one that fits. */
interface NamedAction {
  readonly action: ActionName;
  readonly why: string;
}

/** Undefined where what the action needs must be in columns with other names. */
function namedAction(evidence: Evidence): Named | undefined {
  const { header, fileName, lists } = evidence;
  const { fields, action, conflict } = readColumns(header);
  if (conflict !== undefined || lists?.some((list) => list !== "metadataAttributes") || action !== undefined)
    return undefined;
  const used = (name: ActionName) => [...fieldsOf(name, new Set())].filter((field) => fields.has(field)).length;
  const has = (name: ActionName) => missingFields(name, (field) => fields.has(field)).length === 0 && used(name) >= 2;
  const said = actionOfFileName(fileName);
  // What the file name says decides, as without a config.
  if (said !== undefined) return has(said) ? { action: said, why: AS_FILE_NAME } : undefined;
  if (actionInFileName(fileName) !== undefined) return undefined;
  const isOfTickets = fields.has("ticketId") || fields.has("nftId");
  const [best, ...others] = ACTION_NAMES.filter(
    (name) => has(name) && (ACTIONS[name].about === "ticket") === isOfTickets,
  ).sort((one, other) => used(other) - used(one));
  if (best === undefined) return undefined;
  // Sales name their event too; taken for a list of events, they would be lost.
  if (ACTIONS[best].about === "event" && otherThan(best, evidence).some(({ name }) => mayTellSale(name)))
    return undefined;
  const why = `guess: most of its fields are there${others.length === 0 ? "" : `; ${others.slice(0, 3).join(", ")} could be meant too`}`;
  const isSure = best === "soldTicket" || best === "updateTicket" || ACTIONS[best].about === "event";
  if (isSure || (best === "claimedTicket" && fields.has("to"))) return { action: best, why };
  // With an event or a price it may be a sale whose other columns have other names, or must be filled in.
  if (fields.has("eventId") || columnsOf(evidence).price !== undefined) return undefined;
  return { among: [best, ...others, ...scansToo(best, others)] };
}

/** Columns that are not fields of the action. */
function otherThan(action: ActionName, { header, columns }: Evidence): readonly ColumnProfile[] {
  const takes = fieldsOf(action, new Set());
  const own = new Set([...readColumns(header).fields].flatMap(([field, index]) => (takes.has(field) ? [index] : [])));
  return columns.filter(({ index }) => !own.has(index));
}

/** A table of tickets and users or times may hold anything that happens to a ticket. */
const scansToo = (...named: readonly [ActionName, readonly ActionName[]]): readonly ActionName[] =>
  (["scannedTicket", "checkedInTicket", "invalidatedTicket"] as const).filter((name) => !named.flat().includes(name));

/** The actions that the rows name in a column called action; none where one of the names is unknown. */
export function ownActions({ header, columns, lists }: Evidence): readonly ActionName[] {
  const { action, fields, conflict } = readColumns(header);
  const column = action === undefined ? undefined : columns[action];
  if (column === undefined || conflict !== undefined || fields.size === 0) return [];
  if (lists?.some((list) => list !== "metadataAttributes")) return [];
  const named = [...column.values.keys()];
  return column.filled === column.rows && named.every(isActionName) ? named : [];
}

export function fromOwnActions(evidence: Evidence, own: readonly ActionName[]): readonly Line[] {
  const beside = besideFields(evidence).filter(({ name }) => fold(name) !== "action");
  const passed = new Set(
    own.flatMap((action) => {
      const { statuses, marks } = decidingOf(beside, action, evidence.rows);
      return [...statuses, ...marks];
    }),
  );
  const needNone = "# The columns are named like fields, and each row names its action, so they need no rules";
  return [
    { comment: `${needNone}${passed.size === 0 ? "." : ""}` },
    ...[...passed].map((column, at) => {
      const condition = at === 0 ? "as long as a row means its action whatever these columns hold: " : "";
      return { comment: `# ${condition}${cleanText(column.name, 40)}: ${valuesText(column)}` };
    }),
    ...fileOf(evidence),
    ...zoneOfFields(evidence),
  ];
}

const fileOf = (evidence: Evidence): readonly Entry[] => [everySuchFile(evidence.fileName), ...csvLines(evidence)];

function zoneOfFields({ header, columns }: Evidence): readonly Entry[] {
  const isLocal = [...readColumns(header).fields].some(([field, index]) => {
    const column = isTimeField(field) ? columns[index] : undefined;
    return column !== undefined && timesOf(column)?.readings.some((reading) => reading.isLocal) === true;
  });
  return isLocal ? [{ key: "zone", value: ask("the time zone of times without one, such as Europe/Berlin") }] : [];
}

/** Undefined where the columns have other names, or where rules are needed and would leave out a list. */
export function fromNames(evidence: Evidence): readonly Line[] | undefined {
  const named = namedAction(evidence);
  if (named === undefined) return undefined;
  return "among" in named ? withoutAction(evidence, named.among) : withAction(evidence, named);
}

/** Asks which of the actions the rows are. */
function withoutAction(evidence: Evidence, among: readonly ActionName[]): readonly Line[] {
  const beside = besideFields(evidence);
  const { statuses, marks } = decidingOf(beside, "scannedTicket", evidence.rows);
  const unused = [...new Set([...statuses, ...marks, ...beside.filter(isTime)])];
  return [
    { comment: "# The columns are named like fields; nothing says which action the rows are." },
    ...(unused.length === 0
      ? []
      : [
          {
            comment: `# Their names alone leave out ${namesText(unused)}: call the file after its action (${FILE_NAME_PATTERNS}) and let tickets init look again.`,
          },
        ]),
    ...fileOf(evidence),
    ...zoneOfFields(evidence),
    { key: "action", value: ask(`what the rows are: ${among.join(", ")}`) },
  ];
}

function withAction(evidence: Evidence, { action, why }: NamedAction): readonly Line[] | undefined {
  const deciding = decidingOf(besideFields(evidence), action, evidence.rows);
  const { statuses, marks, blanks, entries } = deciding;
  const isConditional =
    [statuses, marks, blanks, entries].some(({ length }) => length > 0) ||
    (isDeed(action) && hasTimeNowAndThen(evidence));
  const currencies = currenciesBeside(evidence, action);
  const quantity =
    action === "soldTicket" ? called(WORDS.quantity, besideFields(evidence)).find(isQuantity) : undefined;
  const isNeeded = isConditional || currencies !== undefined || quantity !== undefined;
  const { lines: rules, times } = rulesOfNamed(evidence, action, isNeeded);
  if (rules.length > 0 && evidence.lists?.length) return undefined;
  if (rules.length === 0)
    return [
      { comment: "# The columns are named like fields, so they need no rules." },
      ...fileOf(evidence),
      ...zoneOfFields(evidence),
      { key: "action", value: action, note: why },
    ];
  const isSale = action === "soldTicket";
  const ticket = rules.flatMap((line) => ("key" in line && line.key === "ticketId" ? [line] : []));
  const { columns } = evidence;
  const items = [
    actionItem(action, why, whenLines(deciding, action, columns, times), rules, 0),
    ...(isSale ? [...entryOffered(deciding, columns, ticket), ...invalidationItems(deciding, columns, ticket)] : []),
  ];
  const open = isConditional
    ? "what each status gives must be said"
    : quantity === undefined
      ? "how some of them are written must be said"
      : "how many tickets a row is must be said";
  return [
    { comment: `# The columns are named like fields; ${open}.` },
    ...fileOf(evidence),
    ...zoneLines([...times, ...(isSale ? [...entries, ...marks] : [])], columns),
    ...(quantity === undefined ? [] : [severalTickets(quantity)]),
    ...expectLines(currencies === undefined ? [] : severalCurrencies(currencies), statuses, blanks),
    ...skipLines(skipsOfStatuses(deciding, action)),
    { key: "actions", value: { items } },
  ];
}

/** Taken for one ticket each, rows of several would lose the others, and may have the price of all. */
const severalTickets = (quantity: ColumnProfile): Entry => ({
  key: "each",
  value: flow({
    count: ask(
      `${inner(quantity)}, if a row is so many tickets; then ticketId needs {n}, and a price of all of them divide: docs/mapping.md, A quantity. Else remove this line`,
    ),
  }),
});

/** A column beside the fields by which its rows' prices are of several currencies. */
function currenciesBeside(evidence: Evidence, action: ActionName): ColumnProfile | undefined {
  if (!fieldsOf(action, new Set()).has("price")) return undefined;
  return called(WORDS.currency, otherThan(action, evidence)).find(
    (column) => areCurrencies(column) && column.values.size > 1,
  );
}

/** Whether only some rows have a time: the others may stand for what did not happen. */
function hasTimeNowAndThen({ header, columns }: Evidence): boolean {
  const column = columns[readColumns(header).fields.get("orderTime") ?? -1];
  return column !== undefined && column.filled > 0 && column.filled < column.rows;
}

/** Columns that are not fields, or whose name can't be written in a rule. */
function besideFields({ header, columns }: Evidence): readonly ColumnProfile[] {
  const used = new Set(readColumns(header).fields.values());
  const counts = new Map<string, number>();
  for (const { name } of columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  return columns.filter(({ name, index }) => !used.has(index) && /^[^{}]+$/.test(name) && counts.get(name) === 1);
}

/** Whether all amounts are read without a rule, and could be read in no other way. */
const isAsFieldsAre = ({ readings: [only, ...others], signs }: AmountEvidence): boolean =>
  others.length === 0 && signs.length === 0 && only?.decimal === "." && only.thousands === undefined;

/**
 * Rules of columns named like fields, and the columns of their times. No rules, unless they are needed, where all are read
 * correctly without any and there are no other columns.
 */
function rulesOfNamed(
  evidence: Evidence,
  action: ActionName,
  isNeeded: boolean,
): { readonly lines: readonly Line[]; readonly times: readonly ColumnProfile[] } {
  const { fields } = readColumns(evidence.header);
  let needsRules = isNeeded;
  const takes = fieldsOf(action, new Set());
  const times: ColumnProfile[] = [];
  const own = fields.get("orderTime");
  const given = own === undefined ? undefined : evidence.columns[own];
  const time = !takes.has("orderTime")
    ? undefined
    : orderTimeOf(action, {
        columns: [...besideFields(evidence), ...(given === undefined ? [] : [given])],
        rows: evidence.rows,
        events: eventColumns(evidence.columns),
        ids: idColumns(evidence.columns),
      });
  const isAsNamed = time === undefined || isTimeAsNamed(time, given, action);
  const lines = [...fields].flatMap(([field, index]): readonly Line[] => {
    const column = evidence.columns[index];
    if (column === undefined || !takes.has(field) || /[{}]/.test(column.name)) return [];
    const prices = field === "price" ? pricesIn([column, ...besideFields(evidence)]) : [];
    if (areRivals(prices)) {
      needsRules = true;
      return choiceLines(
        prices.map((rival) => ({ column: rival, quantity: undefined })),
        undefined,
      );
    }
    const amount = field === "price" ? amountsOf(column) : undefined;
    if (amount !== undefined && !amount.isPlain && !isAsFieldsAre(amount)) {
      needsRules = true;
      return amountLines(column, amount);
    }
    if (field === "orderTime" && !isAsNamed) return [];
    if (isTimeField(field)) times.push(column);
    if (isTimeField(field) && unixOf(column) !== "unix") {
      const found = timesOf(column);
      const isRead = found?.readings.every(({ format }) => format === "iso") === true;
      if (column.filled > 0 && !isRead && (found !== undefined || unixOf(column) !== undefined)) {
        needsRules = true;
        return [timeRule(column, evidence.columns, field)];
      }
    }
    return [{ key: field, value: template(column) }];
  });
  const users = fields.has("userId") || !SELLS.has(action) ? [] : usersBeside(evidence);
  if (users.length > 0) {
    needsRules = true;
    lines.push(userRule(users));
  }
  if (action === "newEvent") {
    const title = fields.has("eventName") ? undefined : titleIn(besideFields(evidence));
    if (title !== undefined) {
      needsRules = true;
      lines.push({ key: "eventName", value: template(title), note: "guess by name" });
    }
    for (const field of ["startTime", "endTime"] as const) {
      const [column] = fields.has(field) ? [] : called(WORDS[field], besideFields(evidence)).filter(isTime);
      if (column === undefined) continue;
      needsRules = true;
      times.push(column);
      lines.push(timeRule(column, evidence.columns, field));
    }
  }
  if (time !== undefined && time.kind !== "none" && !isAsNamed) {
    needsRules = true;
    times.push(...(time.kind === "column" ? [time.column] : time.columns));
    lines.push(...orderTimeLines(time, action, evidence.columns));
  }
  return { lines: needsRules ? lines : [], times };
}

const SELLS: ReadonlySet<ActionName> = new Set([...actionsThat("sell-ticket"), ...actionsThat("resell-ticket")]);

/** Columns that may tell who bought, where none is named like the field. */
function usersBeside(evidence: Evidence): readonly ColumnProfile[] {
  const beside = besideFields(evidence).filter(({ name, filled }) => filled > 0 && !tellsBefore(name));
  return [...called(WORDS.userId, beside), ...beside.filter(holdsEmails)];
}

/** Whether the column named orderTime holds the time, as far as can be told, or there is no time at all. */
function isTimeAsNamed(time: OrderTime, given: ColumnProfile | undefined, action: ActionName): boolean {
  if (time.kind === "none") return true;
  if (given === undefined || given.filled === 0) return false;
  if (time.kind === "column") return time.column === given;
  return action === "soldTicket" || (time.columns.length === 1 && time.columns[0] === given);
}
