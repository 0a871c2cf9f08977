import { describe, expect, test } from "vitest";
import { changeOfWays, type IdWay, idRulesOf, textOfWay } from "../../../src/mapping/id-rules.ts";
import { sourceOf } from "./samples.ts";

const waysOf = (yaml: string, action = "soldTicket"): readonly IdWay[] =>
  idRulesOf(sourceOf(yaml)).find((rule) => rule.action === action)?.ways ?? [];

const sale = (ticketId: string, more = ""): string =>
  `${more}actions: [soldTicket: {fields: {eventId: e, ticketId: ${ticketId}, userId: u, price: "1"}}]`;
/** Sales by a column each, for the rows of some channels. */
const sales = (...actions: readonly (readonly [string, string?])[]): string =>
  `actions: [${actions
    .map(([column, channel]) => {
      const when = channel === undefined ? "" : `when: {Channel: ${channel}}, `;
      return `soldTicket: {${when}fields: {eventId: e, ticketId: "{${column}}", userId: u, price: "1"}}`;
    })
    .join(", ")}]`;
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
    [
      "by a value that a table takes now, which was what else says",
      sale('{from: "{A}", map: {a: x}, else: z}'),
      sale('{from: "{A}", map: {a: x, b: y}, else: z}'),
    ],
    [
      "by a column that comes before the one of then",
      sale('"{t}"', "columns: {t: [A]}\n"),
      sale('"{t}"', "columns: {t: [B, A]}\n"),
    ],
    ["for some rows, by two actions instead of one", sales(["A"]), sales(["A", "web"], ["B", "box"])],
    ["for some rows, by one action instead of two", sales(["A", "web"], ["B", "box"]), sales(["B"])],
    [
      "for some rows, by a value in the when of another action",
      sales(["A", "[web, box]"], ["B", "tel"]),
      sales(["A", "web"], ["B", "[tel, box]"]),
    ],
    [
      "for some rows, by what a when does not take",
      sales(["A", "{not: box}"], ["B", "box"]),
      sales(["A", "{not: tel}"], ["B", "tel"]),
    ],
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
    expect(changeOfWays(waysOf(before, action), waysOf(after, action))).toBeDefined();
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
    [
      "where a table takes one more value",
      sale('{from: "{A}", map: {a: x}}'),
      sale('{from: "{A}", map: {a: x, b: y}}'),
    ],
    ["where a name may stand for one more column", sale('"{A}-{B}"'), sale('"{A}-{B}"', "columns: {A: [A, C]}\n")],
    [
      "where a name may stand for a third column",
      sale('"{t}"', "columns: {t: [A, B]}\n"),
      sale('"{t}"', "columns: {t: [A, B, C]}\n"),
    ],
    ["where the when of the only action takes other rows", sales(["A", "web"]), sales(["A", "box"])],
    [
      "where one of the actions takes more",
      sales(["A", "web"], ["B", "box"]),
      sales(["A", "[web, tel]"], ["B", "box"]),
    ],
    ["where the when of one of them was taken out", sales(["A", "web"], ["B", "box"]), sales(["A"], ["B", "box"])],
    ["where one of them was taken out", sales(["A", "web"], ["B", "box"]), sales(["A", "web"])],
    [
      "where the values of a when stand in another order",
      sales(["A", "[web, tel]"], ["B", "box"]),
      sales(["A", "[tel, web]"], ["B", "[box]"]),
    ],
    [
      "where the column of a when has another name",
      sales(["A", "web"], ["B", "box"]),
      `columns: {Kind: Channel}\n${sales(["A", "web"], ["B", "box"]).replaceAll("{Channel", "{Kind")}`,
    ],
    [
      "where the column of a when may have one more name",
      sales(["A", "web"], ["B", "box"]),
      `columns: {Channel: [Channel, Kanal]}\n${sales(["A", "web"], ["B", "box"])}`,
    ],
    ["where columns were used by their names", "action: soldTicket", sale('"{ticketId}"')],
  ])("%s", (_what, before, after) => {
    expect(waysOf(before)).not.toEqual([]);
    expect(changeOfWays(waysOf(before), waysOf(after))).toBeUndefined();
    expect(changeOfWays(waysOf(after), waysOf(before))).toBeUndefined();
  });

  test("and read as the config says them", () => {
    const textsOf = (yaml: string): readonly string[] => waysOf(yaml).map(textOfWay);
    expect(textsOf(ORDER_AND_POSITION)).toEqual(['ticketId "{Order code}-{Position ID}"']);
    expect(textsOf(sale('"{t}-{{x}}"', "columns: {t: [Ticket, Code]}\n"))).toEqual([
      'ticketId "{Ticket or Code}-{{x}}"',
    ]);
    expect(textsOf(sale('"{O}-{n}"', 'each: {count: "{Q}"}\n'))).toEqual(['ticketId "{O}-{n}", each {"count":"{Q}"}']);
  });
});
