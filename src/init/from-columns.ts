/** A source for an export of an unknown layout: columns are guessed by name and by what their cells look like. */

import type { ActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { cleanText } from "../actions/text.ts";
import { fieldsOf } from "../mapping/columns.ts";
import { askedIn } from "../mapping/placeholder.ts";
import { priceLinesOf } from "./amount-rules.ts";
import { type ColumnProfile, isUnique } from "./column-profile.ts";
import { expectOf, skipLines, skipsOfStatuses, statusWords, whenLines } from "./conditions.ts";
import { csvLine, matchLine, onlyThisFile, zoneLines } from "./file-settings.ts";
import { TRAITS, tellsLoss, wordsOf } from "./header-words.ts";
import { EVENT_ID_NAME, holdsEmails, isIdName, mayBeId } from "./id-columns.ts";
import { eventLine, knownTicket, knownTicketLine, ticketLine, userLine } from "./id-rules.ts";
import type { OrderTime } from "./order-time.ts";
import { takenFor } from "./row-action.ts";
import type { Evidence } from "./sample.ts";
import { type Deciding, decidingOf, statusesOf } from "./status-columns.ts";
import { isTime } from "./time-evidence.ts";
import { orderTimeLines, timeLines } from "./time-rules.ts";
import { type Columns, called, columnsOf } from "./unknown-columns.ts";
import { ask, indented, template, valuesText, yamlText } from "./words.ts";

export function fromColumns(evidence: Evidence): readonly string[] {
  const columns = columnsOf(evidence);
  const { ticket, all } = columns;
  const { action, why, doubt } = takenFor(evidence, columns);
  const isEvents = action === "newEvent";
  const isSale = action === "soldTicket";
  const lists = evidence.lists ?? [];
  const event = eventLine(columns.called("eventId").filter((column) => column !== ticket && mayBeId(column)));
  const isOneEvent = isSale && event.some((line) => askedIn(line) !== undefined);
  const deciding = decidingOf([...all, ...columns.empty], action, evidence.rows);
  const time = columns.timeOf(action);
  const times = time.kind === "column" ? [time.column] : time.kind === "perhaps" ? time.columns : [];
  return [
    isOneEvent ? onlyThisFile(evidence.fileName) : matchLine(evidence.fileName),
    ...csvLine(evidence),
    ...(lists.length === 0
      ? []
      : [
          `#each: {path: ${lists[0]}}   # rows hold lists (${lists.slice(0, 5).join(", ")}); with this line each item is a ticket, and {item.…} what is in it`,
        ]),
    ...zoneLines(
      isEvents
        ? (["startTime", "endTime"] as const).flatMap(columns.called)
        : [...times, ...(isSale ? [...deciding.entries, ...deciding.marks] : [])],
    ),
    ...(isEvents
      ? eventRules(columns, why)
      : [
          ...(columns.order === undefined || !isSale
            ? []
            : [
                `each: {count: ${template(columns.order.quantity)}}   # guess: each row is an order of so many tickets`,
              ]),
          ...expectOf(columns, deciding),
          ...(isSale ? ["fields:", ...event, ...ticketLine(evidence, columns)] : []),
          ...skipLines(skipsOfStatuses(deciding, action)),
          ...doubt,
          "actions:",
          ...(isSale ? saleRules(columns, deciding, time, why) : deedRules(action, columns, deciding, time, why)),
        ]),
  ];
}

/** An action of the list, with what stands under it. */
const actionLines = (
  action: ActionName,
  why: string,
  when: readonly string[],
  fields: readonly string[],
): readonly string[] => [`  - ${action}:`.padEnd(33) + why, ...when, "      fields:", ...indented(8, fields)];

/** What happens to a ticket that was sold before. */
function deedRules(
  action: ActionName,
  columns: Columns,
  deciding: Deciding,
  time: OrderTime,
  why: string,
): readonly string[] {
  const takes = fieldsOf(action, new Set());
  const times = time.kind === "column" ? [time.column] : [];
  const ticket = knownTicket(columns);
  return actionLines(action, why, whenLines(deciding, action, columns.all, times), [
    knownTicketLine(columns),
    ...(takes.has("userId")
      ? userLine(
          [...columns.called("userId"), ...columns.all.filter(holdsEmails)].filter((column) => column !== ticket),
          action === "claimedTicket"
            ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
            : undefined,
        )
      : []),
    ...(takes.has("price") ? priceLinesOf(columns, undefined) : []),
    ...(action === "updateTicket"
      ? [
          ...publicLines(columns.all),
          `metadataAttributes: ${ask("what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead")}`,
        ]
      : []),
    ...(takes.has("orderTime") ? orderTimeLines(time, action, columns.all) : []),
  ]);
}

function saleRules(columns: Columns, deciding: Deciding, time: OrderTime, why: string): readonly string[] {
  const { all, ticket, order } = columns;
  return [
    ...actionLines("soldTicket", why, whenLines(deciding, "soldTicket", all, []), [
      ...userLine([...columns.called("userId"), ...all.filter(holdsEmails)].filter((column) => column !== ticket)),
      ...priceLinesOf(columns, order?.quantity),
      ...orderTimeLines(time, "soldTicket", all),
      ...publicLines(all),
    ]),
    ...entryLines(deciding, all, []),
    ...invalidationLines(deciding, all, []),
  ];
}

/** Rows of sales that say that a ticket is void were sales before. */
export function invalidationLines(
  { statuses, marks, rows }: Deciding,
  columns: readonly ColumnProfile[],
  fields: readonly string[],
): readonly string[] {
  const gone = statuses.map((column) => ({ column, values: statusWords(column).gone }));
  const isTold = (cells: readonly string[]): boolean =>
    gone.some(({ column, values }) => values.includes((cells[column.index] ?? "").trim()));
  const maps = [
    ...gone.flatMap(({ column, values }) =>
      values.length > 0
        ? [`{${yamlText(column.name)}: [${values.map(yamlText).join(", ")}]}`]
        : tellsLoss(column.name)
          ? [
              `{${yamlText(column.name)}: ${ask("the value that says that a ticket is no longer valid; remove this where none does")}}`,
            ]
          : [],
    ),
    ...marks
      .filter(({ index }) => !rows.every((cells) => (cells[index] ?? "").trim() === "" || isTold(cells)))
      .map(
        (column) =>
          `{${yamlText(column.name)}: ${ask(`${isTime(column) ? "{empty: false} where a time here says" : "what says, such as {empty: false} or {not: 0.00},"} that the ticket is no longer valid; else remove this`)}}`,
      ),
  ];
  if (maps.length === 0) return [];
  const time = marks.find(isTime);
  return [
    `  - invalidatedTicket:             ${gone.some(({ values }) => values.length > 0) ? "# guess: what these values mean" : "# remove it where nothing says that a ticket is no longer valid"}`,
    ...(maps.length === 1 ? [`      when: ${maps[0]}`] : ["      when:", ...maps.map((map) => `        - ${map}`)]),
    ...(fields.length === 0 && time === undefined ? [] : ["      fields:"]),
    ...indented(8, [...fields, ...(time === undefined ? [] : timeLines(time, columns))]),
  ];
}

/** Whether an entry is a scan or the end of a ticket's life is not for a file to say. */
export function entryLines(
  { statuses: [status], entries }: Deciding,
  columns: readonly ColumnProfile[],
  ticket: readonly string[],
): readonly string[] {
  const values = statusWords(status).in;
  const time = entries.find(isTime);
  const flag = entries.find((column) => !isTime(column));
  const condition =
    values.length > 0 && status !== undefined
      ? `${yamlText(status.name)}: [${values.map(yamlText).join(", ")}]`
      : flag !== undefined
        ? `${yamlText(flag.name)}: …`
        : time === undefined
          ? undefined
          : `${yamlText(time.name)}: {empty: false}`;
  if (condition === undefined) return [];
  const rules = [
    ...ticket,
    ...(time === undefined ? [] : timeLines(time, columns).map((line) => line.replace(/^#(?! )/, ""))),
  ];
  const fields = rules.length === 0 ? [] : ["fields:", ...indented(2, rules)];
  return [
    "  # Optional: checkedInTicket ends a ticket's life, scannedTicket is for tickets that may come again.",
    ...(flag === undefined ? [] : [`  # ${cleanText(flag.name, 40)} in this file: ${valuesText(flag)}`]),
    "  #- checkedInTicket:",
    ...[`when: {${condition}}`, ...fields].map((line) => `  #    ${line}`),
  ];
}

function eventRules({ all, currency, called: find }: Columns, why: string): readonly string[] {
  const [status] = statusesOf(all);
  const id =
    find("eventId").find((column) => isUnique(column) || EVENT_ID_NAME.test(wordsOf(column.name).join(""))) ??
    all.find((column) => isUnique(column) && isIdName(column));
  const title = find("eventName").find((column) => column !== id && !isTime(column));
  const field = (name: FieldName, column: ColumnProfile | undefined) =>
    column === undefined ? [] : [`${name}: ${template(column)}   # guess by name`];
  return [
    "actions:",
    `  - newEvent:                      ${why}`,
    ...(status === undefined
      ? []
      : [
          `      #when: {${yamlText(status.name)}: …}   # ${cleanText(status.name, 40)} in this file: ${valuesText(status)}`,
        ]),
    "      fields:",
    ...indented(8, [
      ...(id === undefined
        ? [`eventId: ${ask("no column that is called like an id is different in every row")}`]
        : field("eventId", id)),
      ...field("eventName", title),
      ...(currency === undefined
        ? [`currency: ${ask("the currency of the events, such as EUR: no column is called so")}`]
        : field("currency", currency)),
      ...(["startTime", "endTime"] as const).flatMap((name) =>
        find(name)
          .slice(0, 1)
          .flatMap((column) => timeLines(column, all, name)),
      ),
    ]),
  ];
}

function publicLines(columns: readonly ColumnProfile[]): readonly string[] {
  const traits = Object.entries(TRAITS).flatMap(([trait, words]) => {
    const [column] = called(words, columns);
    return column === undefined ? [] : [`${yamlText(trait)}: ${template(column)}`];
  });
  if (traits.length === 0) return [];
  return [`#metadataAttributes: {${traits.join(", ")}}   # optional, and public on the blockchain`];
}
