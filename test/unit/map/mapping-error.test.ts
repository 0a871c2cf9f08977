/** Rules that can't be carried out stop the run before anything is sent, and say where they stand. */

import { expect, test } from "vitest";
import { MappingError } from "../../../src/map/mapping-error.ts";
import type { SourceConfig } from "../../../src/map/source.ts";
import { sourceOf } from "./samples.ts";
import { createMapper } from "./shown.ts";

const HEADER = ["ID", "Status", "Company", "Company", "Total", "n"];

function errorOf(config: SourceConfig, header: readonly string[] | undefined = HEADER): MappingError {
  try {
    createMapper({ fileName: "orders.csv", header, source: { name: "orders", config } });
  } catch (error) {
    if (error instanceof MappingError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const fields = (text: string) => `actions:\n  - scannedTicket:\n      fields: ${text}`;
const FIELDS = "sources.orders.actions[0].scannedTicket.fields";
const sold = (price: string) =>
  `each: {count: "{Total}"}\nactions: [soldTicket: {fields: {eventId: e, ticketId: "{ID}", userId: u, price: ${price}}}]`;
const PRICE = "sources.orders.actions[0].soldTicket.fields.price";

test.each<[string, string, string, RegExp, RegExp?]>([
  ["a third of two headers", fields('{ticketId: "{Company#3}"}'), `${FIELDS}.ticketId`, /no column "Company#3"/],
  [
    "none of a list of columns",
    `columns: {x: [A, B]}\n${fields('{ticketId: "{x}"}')}`,
    "sources.orders.columns.x",
    /"A" or "B"/,
  ],
  [
    "a position behind the last column",
    `columns: {x: 7}\n${fields('{ticketId: "{x}"}')}`,
    "sources.orders.columns.x",
    /no column "7"/,
  ],
  ["a brace that does not end", fields('{ticketId: "{ID"}'), `${FIELDS}.ticketId`, /without \}/, /\{\{/],
  ["a brace that does not begin", fields('{ticketId: "ID}"}'), `${FIELDS}.ticketId`, /without \{/],
  ["an empty name", fields('{ticketId: "{}"}'), `${FIELDS}.ticketId`, /no name/],
  [
    "a constant that is no value of the field",
    "actions: [newEvent: {fields: {eventId: e, currency: EURO}}]",
    "sources.orders.actions[0].newEvent.fields.currency",
    /"EURO"/,
    /EUR/,
  ],
  [
    "a constant that can't be read",
    fields('{ticketId: "{ID}", orderTime: tomorrow}'),
    `${FIELDS}.orderTime`,
    /neither Unix seconds/,
  ],
  [
    "a condition on a missing column",
    'actions: [scannedTicket: {when: {State: x}, fields: {ticketId: "{ID}"}}]',
    "sources.orders.actions[0].scannedTicket.when.State",
    /no column "State"/,
    /Status/,
  ],
  [
    "an expectation of a missing column",
    `expect: {Currency: EUR}\n${fields('{ticketId: "{ID}"}')}`,
    "sources.orders.expect.Currency",
    /no column/,
  ],
  [
    "a format that has no meaning",
    fields('{ticketId: "{ID}", orderTime: {from: "{Total}", format: DD.MM}}'),
    `${FIELDS}.orderTime.format`,
    /DD has no meaning/,
  ],
  [
    "one of several formats",
    fields('{ticketId: "{ID}", orderTime: {from: "{Total}", format: [iso, x]}}'),
    `${FIELDS}.orderTime.format[1]`,
    /no meaning/,
  ],
  [
    "a time step in a text",
    fields('{ticketId: {from: "{ID}", format: iso}}'),
    `${FIELDS}.ticketId.format`,
    /not a time/,
  ],
  [
    "an amount step in a time",
    fields('{ticketId: "{ID}", orderTime: {from: "{Total}", decimal: ","}}'),
    `${FIELDS}.orderTime.decimal`,
    /not an amount/,
  ],
  ["places without divide", sold('{from: "{Total}", places: 2}'), `${PRICE}.places`, /only with divide/],
  [
    "the rest to the first of another count",
    sold('{from: "{Total}", divide: "{ID}", remainder: first}'),
    `${PRICE}.remainder`,
    /same template/,
  ],
  [
    "a division of what is no amount",
    fields('{ticketId: {from: "{ID}", divide: "2"}}'),
    `${FIELDS}.ticketId.divide`,
    /not an amount/,
  ],
  ["n without each", fields('{ticketId: "{item.x}"}'), `${FIELDS}.ticketId`, /only with each/],
  ["n that is a column too", sold('"{n}"'), PRICE, /column and the counter/],
  [
    "a group that match does not have",
    "actions: [scannedTicket: {each: {in: '{ID}', match: '(?<at>x)'}, fields: {ticketId: '{item.ta}'}}]",
    `${FIELDS}.ticketId`,
    /no named group "ta"/,
    /Its groups are "at"/,
  ],
  [
    "a group without item before it",
    "actions: [scannedTicket: {each: {in: '{ID}', match: '(?<at>x)'}, fields: {ticketId: '{at}'}}]",
    `${FIELDS}.ticketId`,
    /no column "at"/,
    /\{item\.at\}/,
  ],
  [
    "a list inside cells",
    `each: {path: tickets}\n${fields('{ticketId: "{ID}"}')}`,
    "sources.orders.each.path",
    /rows of JSON/,
  ],
  [
    "two each that give the same names",
    `each: {count: "2"}\nactions: [scannedTicket: {each: {count: "3"}, fields: {ticketId: "{ID}"}}]`,
    "sources.orders.actions[0].scannedTicket.each",
    /same names/,
  ],
  [
    "display outside of attributes",
    fields('{ticketId: {from: "{ID}", display: number}}'),
    `${FIELDS}.ticketId.display`,
    /trait/,
  ],
  [
    "a field that its action needs",
    "actions: [newEvent: {fields: {currency: EUR}}]",
    "sources.orders.actions[0].newEvent",
    /has no rule for eventId/,
  ],
])("%s", (_what, yaml, path, message, hint) => {
  const error = errorOf(sourceOf(yaml));
  expect(error.path).toBe(path);
  expect(error.message).toMatch(message);
  if (hint !== undefined) expect(error.hint).toMatch(hint);
});

test.each<[string, SourceConfig, string, RegExp]>([
  [
    "a pattern that can't be read",
    { each: { in: "{ID}", match: "(" }, actions: [] },
    "sources.orders.each.match",
    /regular expression/,
  ],
  [
    "a name with marks in its path",
    { columns: { "Order #": "x" }, actions: [{ scannedTicket: { fields: { ticketId: "{Order #}" } } }] },
    'sources.orders.columns["Order #"]',
    /no column/,
  ],
])("%s, which the schema of the config refuses too", (_what, config, path, message) => {
  const error = errorOf(config);
  expect(error.path).toBe(path);
  expect(error.message).toMatch(message);
});

test.each([
  ["places beyond every currency", sold('{from: "{Total}", divide: "2", places: 19}'), "whole number from 0 to 18"],
  [
    "a zone of no place",
    fields('{ticketId: t, orderTime: {from: "{Total}", zone: Europe/Berln}}'),
    "is not a time zone",
  ],
  [
    "an hour that no clock shows",
    fields('{ticketId: t, orderTime: {from: "{Total}", rollover: "25:00"}}'),
    "a time of day",
  ],
  ["action beside actions", `action: soldTicket\n${fields("{ticketId: t}")}`, "stands beside actions"],
  ["fields without actions", "fields: {ticketId: t}", "needs actions"],
  ["fillDown without actions", "fillDown: ID", "needs actions"],
])("%s is refused by the schema of the config", (_what, yaml, message) => {
  expect(() => sourceOf(yaml)).toThrow(message);
});

test("a lookup's columns", () => {
  const lookups = new Map([["order", { file: "o.csv", header: ["Ref", "Sum", "Sum"], rows: [] }]]);
  const create = (where: string, ticketId: string) => () =>
    createMapper({
      fileName: "orders.csv",
      header: HEADER,
      lookups,
      source: {
        name: "orders",
        config: sourceOf(`lookup: {order: {file: o.csv, where: {${where}}}}\n${fields(`{ticketId: "${ticketId}"}`)}`),
      },
    });
  expect(create('Ref: "{ID}"', "{order.Ref}")).not.toThrow();
  expect(create('Reff: "{ID}"', "{order.Ref}")).toThrow(/lookup.order.where.Reff: o.csv has no column "Reff"/);
  expect(create('Ref: "{Id}"', "{order.Ref}")).toThrow(/orders.csv has no column "Id"/);
  expect(create('Ref: "{ID}"', "{order.Total}")).toThrow(/fields.ticketId: o.csv has no column "Total"/);
  expect(create('Ref: "{ID}"', "{order.Sum}")).toThrow(/2 columns called "Sum"/);
  expect(create('Ref: "{order.Sum}"', "{ID}")).toThrow(/no column "order.Sum"/);
});
