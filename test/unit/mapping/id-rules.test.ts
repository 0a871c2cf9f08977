import { describe, expect, test } from "vitest";
import { areMadeOtherwise, idRulesOf } from "../../../src/mapping/id-rules.ts";
import { sourceOf } from "./samples.ts";

const waysOf = (yaml: string, action = "soldTicket"): readonly string[] =>
  idRulesOf(sourceOf(yaml)).find((rule) => rule.action === action)?.ways ?? [];

const sale = (ticketId: string, more = ""): string =>
  `${more}actions: [soldTicket: {fields: {eventId: e, ticketId: ${ticketId}, userId: u, price: "1"}}]`;
const ORDER_AND_POSITION = sale('"{Order code}-{Position ID}"');
const lookup = (where: string, file = "orders.csv"): string =>
  sale('"{o.T}"', `lookup: {o: {file: ${file}, where: {Ref: "${where}"}}, p: {file: p.csv, where: {P: "{P}"}}}\n`);

describe("the ids are made otherwise", () => {
  test.each([
    ["by another template", ORDER_AND_POSITION, sale('"{Event slug}-{Order code}-{Position ID}"')],
    ["by another text between", ORDER_AND_POSITION, sale('"{Order code}/{Position ID}"')],
    ["by another column", sale('"{Order}"'), sale('"{Barcode}"')],
    ["by another value of a table", sale('{from: "{A}", map: {a: x}}'), sale('{from: "{A}", map: {a: y}}')],
    ["by another else", sale('{from: "{A}", map: {a: x}, else: "{A}"}'), sale('{from: "{A}", map: {a: x}, else: z}')],
    ["by another first choice", sale('["{A}", "{B}"]'), sale('["{B}", "{A}"]')],
    [
      "by a name that stands for another column",
      sale('"{t}"', "columns: {t: A}\n"),
      sale('"{t}"', "columns: {t: B}\n"),
    ],
    ["by another position", sale('"{t}"', "columns: {t: {at: 1}}\n"), sale('"{t}"', "columns: {t: {at: 2}}\n")],
    ["by another row of a lookup", lookup("{R}"), lookup("{S}")],
    [
      "by another number",
      sale('"{O}-{n}"', 'each: {count: "{Q}"}\n'),
      sale('"{O}-{n}"', 'each: {in: "{Codes}", match: "[A-Z]+"}\n'),
    ],
    [
      "by the other id",
      'actions: [scannedTicket: {fields: {ticketId: "{T}"}}]',
      'actions: [scannedTicket: {fields: {nftId: "{T}"}}]',
    ],
    [
      "in an event",
      'actions: [newEvent: {fields: {eventId: "{E}", currency: EUR}}]',
      'actions: [newEvent: {fields: {eventId: "w-{E}", currency: EUR}}]',
    ],
    ["where columns were used by their names", "action: soldTicket", sale('"{Barcode}"')],
  ])("%s", (_what, before, after) => {
    const [action = ""] = idRulesOf(sourceOf(after)).map((rule) => rule.action);
    expect(areMadeOtherwise(waysOf(before, action), waysOf(after, action))).toBe(true);
  });
});

describe("the ids are made as before", () => {
  test.each([
    ["by other blanks in the template", sale('"{A}-{B}"'), sale('" { A }-{ B}"')],
    ["by a list of one", sale('"{A}"'), sale('["{A}"]')],
    ["by steps that do nothing", sale('"{A}"'), sale('{from: "{A}"}')],
    ["by a table in another order", sale('{from: "{A}", map: {a: x, b: y}}'), sale('{from: "{A}", map: {b: y, a: x}}')],
    ["by a name that stands for the same column", sale('"{A}"'), sale('"{t}"', "columns: {t: A}\n")],
    ["where another name was added", sale('"{A}"'), sale('"{A}"', "columns: {t: B}\n")],
    ["by another file of the lookup", lookup("{R}"), lookup("{R}", "more.csv")],
    [
      "where each says nothing of the id",
      sale('"{A}"', 'each: {count: "{Q}"}\n'),
      sale('"{A}"', 'each: {count: "{R}"}\n'),
    ],
    [
      "where the field stands at the source now",
      sale('"{A}"'),
      'fields: {ticketId: "{A}"}\nactions: [soldTicket: {fields: {eventId: e, userId: u, price: "1"}}]',
    ],
    ["where the sale names another event", sale('"{A}"'), sale('"{A}"').replace("eventId: e", "eventId: f")],
    ["where another field is made otherwise", sale('"{A}"'), sale('"{A}"').replace("userId: u", 'userId: "{U}"')],
    ["where a condition was added", sale('"{A}"'), sale('"{A}"').replace("{fields", "{when: {S: paid}, fields")],
    [
      "where an action was added that makes them in its own way",
      sale('"{A}"'),
      `${sale('"{A}"').slice(0, -1)}, soldTicket: {fields: {eventId: e, ticketId: "{B}", userId: u, price: "1"}}]`,
    ],
    ["where columns were used by their names", "action: soldTicket", sale('"{ticketId}"')],
  ])("%s", (_what, before, after) => {
    expect(waysOf(before)).not.toEqual([]);
    expect(areMadeOtherwise(waysOf(before), waysOf(after))).toBe(false);
    expect(areMadeOtherwise(waysOf(after), waysOf(before))).toBe(false);
  });

  test("and read as the config says them", () => {
    expect(waysOf(ORDER_AND_POSITION)).toEqual(['ticketId "{Order code}-{Position ID}"']);
    expect(waysOf(sale('"{t}-{{x}}"', "columns: {t: [Ticket, Code]}\n"))).toEqual([
      'ticketId "{Ticket or Code}-{{x}}"',
    ]);
    expect(waysOf(sale('"{O}-{n}"', 'each: {count: "{Q}"}\n'))).toEqual(['ticketId "{O}-{n}", each {"count":"{Q}"}']);
  });
});
