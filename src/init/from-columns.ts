/** A source for an export of an unknown layout: columns are guessed by name and by what their cells look like. */

import type { ActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import { fieldsOf } from "../map/columns.ts";
import { askedIn } from "../map/source.ts";
import { actionItem, entryOffered, invalidationItems, OTHER_NOTE, WHATEVER } from "./action-items.ts";
import { priceLinesOf } from "./amount-rules.ts";
import { type ColumnProfile, isUnique } from "./column-profile.ts";
import { expectOf, skipLines, skipsOfStatuses, whenLines } from "./conditions.ts";
import { type Comment, type Entry, flow, type Line, type Value } from "./config-text.ts";
import { csvLines, everySuchFile, onlyThisFile, zoneLines } from "./file-settings.ts";
import { TRAITS, tellsBefore, wordsOf } from "./header-words.ts";
import { EVENT_ID_NAME, holdsEmails, isIdName, mayBeId } from "./id-columns.ts";
import { eventRule, knownTicket, knownTicketRule, ticketRule, userRule } from "./id-rules.ts";
import type { OrderTime } from "./order-time.ts";
import { takenFor } from "./row-action.ts";
import type { Evidence } from "./sample.ts";
import { type Deciding, decidingOf, statusesOf } from "./status-columns.ts";
import { orderTimeLines, timeRule } from "./time-rules.ts";
import { type Columns, called, columnsOf, type Order, titleIn } from "./unknown-columns.ts";
import { ask, choice, template, valuesTold } from "./words.ts";

export function fromColumns(evidence: Evidence): readonly Line[] {
  const columns = columnsOf(evidence);
  const { ticket, all } = columns;
  const taken = takenFor(evidence, columns);
  const { action, why } = taken;
  const isSale = action === "soldTicket";
  const event = eventRule(columns.called("eventId").filter((column) => column !== ticket && mayBeId(column)));
  const isOneEvent = isSale && asksFor(event);
  const deciding = decidingOf([...all, ...columns.empty], action, evidence.rows);
  const time = columns.timeOf(action);
  return [
    isOneEvent ? onlyThisFile(evidence.fileName) : everySuchFile(evidence.fileName),
    ...csvLines(evidence),
    ...listsTold(evidence.lists),
    ...zoneLines(localTimes(columns, action, deciding, time), all),
    ...(action === "newEvent"
      ? [{ key: "actions", value: { items: [eventAction(columns, why)] } }]
      : [
          ...(columns.order === undefined || !isSale ? [] : [eachTicketOf(columns.order)]),
          ...expectOf(columns, deciding),
          ...(isSale ? [{ key: "fields", value: { block: [event, ticketRule(evidence, columns)] } }] : []),
          ...skipLines(skipsOfStatuses(deciding, action)),
          ...(taken.doubt === undefined ? [] : [{ key: "action", value: ask(taken.doubt) }]),
          {
            key: "actions",
            value: {
              items: isSale
                ? saleActions(columns, deciding, time, why)
                : [deedAction(action, columns, deciding, time, why)],
            },
          },
        ]),
  ];
}

const asksFor = ({ value }: Entry): boolean =>
  typeof value === "object" && "inQuotes" in value && askedIn(value.inQuotes) !== undefined;

function listsTold(lists: readonly string[] = []): readonly Comment[] {
  if (lists.length === 0) return [];
  const named = lists.slice(0, 5).join(", ");
  return [
    {
      comment: `#each: {path: ${lists[0]}}   # rows hold lists (${named}); with this line each item is a ticket, and {item.…} what is in it`,
    },
  ];
}

const eachTicketOf = ({ quantity }: Order): Entry => ({
  key: "each",
  value: flow({ count: template(quantity) }),
  note: "guess: each row is an order of so many tickets",
});

/** Columns whose times may be in a zone that the source must name. */
function localTimes(
  columns: Columns,
  action: ActionName,
  { entries, marks }: Deciding,
  time: OrderTime,
): readonly ColumnProfile[] {
  if (action === "newEvent") return (["startTime", "endTime"] as const).flatMap(columns.called);
  const times = time.kind === "column" ? [time.column] : time.kind === "perhaps" ? time.columns : [];
  return action === "soldTicket" ? [...times, ...entries, ...marks] : times;
}

/** What happens to a ticket that was sold before. */
function deedAction(action: ActionName, columns: Columns, deciding: Deciding, time: OrderTime, why: string): Value {
  const takes = fieldsOf(action, new Set());
  const times = time.kind === "column" ? [time.column] : [];
  const ticket = knownTicket(columns);
  const isResale = action === "resoldTicket";
  const users = [...columns.called("userId"), ...columns.all.filter(holdsEmails)].filter(
    (column) => column !== ticket && !(isResale && tellsBefore(column.name)),
  );
  const whichUser =
    action === "claimedTicket"
      ? "the column that tells one user from another, in braces; or write to: and the column of the wallet, which becomes public"
      : undefined;
  return actionItem(action, why, whenLines(deciding, action, columns.all, times), [
    knownTicketRule(columns),
    ...(takes.has("userId") ? [userRule(users, whichUser)] : []),
    ...(takes.has("price") ? priceLinesOf(isResale ? withoutBefore(columns) : columns, undefined) : []),
    ...(action === "updateTicket" ? [...traitsOffered(columns.all), WHAT_CHANGES] : []),
    ...(takes.has("orderTime") ? orderTimeLines(time, action, columns.all) : []),
  ]);
}

/** Without the amounts that a ticket was offered for, or cost before. */
function withoutBefore(columns: Columns): Columns {
  const prices = columns.prices.filter(({ name }) => !tellsBefore(name));
  const { price } = columns;
  return { ...columns, prices, price: price !== undefined && tellsBefore(price.name) ? prices[0] : price };
}

const WHAT_CHANGES: Entry = {
  key: "metadataAttributes",
  value: ask("what changes: a map from names to columns, as in docs/mapping.md; or write imageUrl or mediaUrl instead"),
};

function saleActions(columns: Columns, deciding: Deciding, time: OrderTime, why: string): readonly (Value | Comment)[] {
  const { all, ticket, order } = columns;
  const users = [...columns.called("userId"), ...all.filter(holdsEmails)].filter((column) => column !== ticket);
  return [
    actionItem("soldTicket", why, whenLines(deciding, "soldTicket", all, []), [
      userRule(users),
      ...priceLinesOf(columns, order?.quantity),
      ...orderTimeLines(time, "soldTicket", all),
      ...traitsOffered(all),
    ]),
    ...entryOffered(deciding, all, []),
    ...invalidationItems(deciding, all, []),
  ];
}

function eventAction({ all, currency, called: find }: Columns, why: string): Value {
  const [status] = statusesOf(all);
  const id =
    find("eventId").find((column) => isUnique(column) || EVENT_ID_NAME.test(wordsOf(column.name).join(""))) ??
    all.find((column) => isUnique(column) && isIdName(column));
  const title = titleIn(all.filter((column) => column !== id));
  const field = (key: FieldName, column: ColumnProfile | undefined, asked?: string): readonly Entry[] => {
    if (column !== undefined) return [{ key, value: template(column), note: "guess by name" }];
    return asked === undefined ? [] : [{ key, value: ask(asked) }];
  };
  return actionItem(
    "newEvent",
    why,
    status === undefined ? [] : [statusOffered(status)],
    [
      ...field("eventId", id, "no column named like an id differs in every row"),
      ...field("eventName", title),
      ...field("currency", currency, "the currency of the events, such as EUR: no column has such a name"),
      ...(["startTime", "endTime"] as const).flatMap((name) =>
        find(name)
          .slice(0, 1)
          .map((column) => timeRule(column, all, name)),
      ),
    ],
    OTHER_NOTE,
  );
}

function statusOffered(status: ColumnProfile): Comment {
  const note = valuesTold(status).comment.replace(/^# /, "");
  return choice({ key: "when", value: flow({ [status.name]: WHATEVER }), note });
}

/** Columns that may become attributes, as a comment. */
function traitsOffered(columns: readonly ColumnProfile[]): readonly Comment[] {
  const traits = Object.entries(TRAITS).flatMap(([trait, words]) => {
    const [column] = called(words, columns);
    return column === undefined ? [] : [[trait, template(column)] as const];
  });
  if (traits.length === 0) return [];
  return [
    choice({ key: "metadataAttributes", value: { flow: traits }, note: "optional, and public on the blockchain" }),
  ];
}
