/** The capabilities of a mapping, by the numbers under which docs/mapping.md lists them. */

import { describe, expect, test } from "vitest";
import { stringifyJson } from "../../../src/actions/json.ts";
import { createMapper } from "../../../src/mapping/create-mapper.ts";
import type { Mapped } from "../../../src/mapping/mapper.ts";
import { json } from "./rows.ts";
import { actionsOf, mapText, sourceOf, tableOf } from "./samples.ts";

const SCAN = "actions:\n  - scannedTicket:\n      fields: ";

/** The data of the one action that each row gives. */
function dataOf(yaml: string, csv: string, options?: Parameters<typeof mapText>[2]): unknown[] {
  return actionsOf(mapText(yaml, csv, options).mapped).map((action) => (action as { data: unknown }).data);
}

const rulesOf = (mapped: Mapped | undefined) =>
  mapped?.kind === "invalid" ? mapped.findings.map(({ rule, field }) => `${rule} ${field}`) : mapped;

describe("5 columns", () => {
  test("by name, by the first present of a list, by the nth of a name, by position", () => {
    const yaml = `columns: {checkin: [Checked in, Check-in], firm: "Company#2", seat: 5, Status: [State, Status]}
actions:
  - soldTicket:
      fields:
        eventId: e
        ticketId: "{ID}"
        userId: "{firm}"
        price: "{Company#1}"
        metadataAttributes: {Seat: "{seat}", In: "{checkin}", Status: "{Status}"}`;
    const csv = "ID,Company,Company,Check-in,Place,Status\nt,1.00,ACME,yes,A1,ok\n";
    expect(dataOf(yaml, csv)).toEqual([
      {
        eventId: "e",
        ticketId: "t",
        userId: "ACME",
        price: "1.00",
        metadataAttributes: [
          { trait_type: "Seat", value: "A1" },
          { trait_type: "In", value: "yes" },
          { trait_type: "Status", value: "ok" },
        ],
      },
    ]);
  });

  test("by position may name the header that is expected there", () => {
    const yaml = (seat: string) => `columns: {seat: ${seat}}\n${SCAN}{ticketId: "{seat}"}`;
    const csv = "ID,Seat,Row\nt,A1,7\n";
    expect(dataOf(yaml("{at: 2, named: [Platz, Seat]}"), csv)).toEqual([{ ticketId: "A1" }]);
    expect(() => mapText(yaml("{at: 3, named: Seat}"), csv)).toThrow(
      'sources.s.columns.seat.named: column 3 of export.csv is called "Row", not "Seat"',
    );
    expect(() => mapText(yaml("{at: 4}"), csv)).toThrow("export.csv has 3 columns, and no column 4");
    const saidOf = (seat: string) => {
      const source = { name: "s", config: sourceOf(yaml(seat)) };
      const mapper = createMapper({ fileName: "export.csv", header: ["ID", "Seat", "Row"], source });
      return mapper.findingsOfFile?.().map(({ rule, field, message, hint }) => [rule, field, message, hint]);
    };
    expect(saidOf("{at: 2, named: Seat}")).toEqual([]);
    for (const seat of ["2", "{at: 2}", "[Place, 2]"])
      expect(saidOf(seat)).toEqual([
        [
          "column-by-position",
          "seat",
          'It is column 2, whatever its header; now that is "Seat".',
          'So that another column is never taken for it: seat: {at: 2, named: "Seat"}.',
        ],
      ]);
  });

  test("whose exact header looks like Name#2 or a.b are taken as they are called", () => {
    const csv = "Order#,Order##2,a.b,7\n1,2,3,4\n";
    const yaml = `columns: {seven: 7}\n${SCAN}{ticketId: "{Order#}-{Order##2}-{a.b}-{seven}"}`;
    expect(dataOf(yaml, csv)).toEqual([{ ticketId: "1-2-3-4" }]);
  });

  test("are reported as used and unused, with what becomes public", () => {
    const { understanding } = mapText(`${SCAN}{ticketId: "{ID}", orderTime: "{At}"}`, "ID,At,Name,Name\nt,1,x,y\n");
    expect(understanding).toEqual({
      how: "source s",
      action: "scannedTicket",
      columns: 4,
      used: ["ID", "At"],
      unused: ["Name", "Name"],
      publicFields: ["ticketId (hashed)", "orderTime"],
      notes: [],
    });
  });
});

test("6 constants", () => {
  expect(dataOf("actions:\n  - newEvent: {fields: {eventId: 007, currency: EUR, latitude: 1.50}}", "x\ny\n")).toEqual([
    { eventId: "007", currency: "EUR", latitude: 1.5 },
  ]);
});

describe("7 templates", () => {
  test("fill in columns; doubled braces are braces", () => {
    expect(dataOf(`${SCAN}{ticketId: "{{{Order}-{No}}}"}`, "Order,No\nA,1\n")).toEqual([{ ticketId: "{A-1}" }]);
  });

  test("of ids are empty when one column is, others when all are", () => {
    const yaml = `actions:
  - soldTicket:
      fields: {eventId: e, ticketId: "{A}-{B}", userId: u, price: "1", name: "{A} {B}", description: "Gate {B}"}`;
    expect(dataOf(yaml, "A,B\na,b\na,\n")).toEqual([
      { eventId: "e", ticketId: "a-b", userId: "u", price: "1", name: "a b", description: "Gate b" },
      { eventId: "e", userId: "u", price: "1", name: "a" },
    ]);
  });
});

test("8 the first of several that is not empty, then a template", () => {
  const yaml = `actions:\n  - claimedTicket: {fields: {ticketId: "{T}", userId: ["{A}", "{B}", "guest-{T}"]}}`;
  expect(dataOf(yaml, "T,A,B\n1,a,b\n2,,b\n3,,\n")).toEqual([
    { ticketId: "1", userId: "a" },
    { ticketId: "2", userId: "b" },
    { ticketId: "3", userId: "guest-3" },
  ]);
});

describe("9 value tables", () => {
  const table = (otherwise: string) => `actions:
  - soldTicket:
      fields:
        eventId: e
        ticketId: "{T}"
        userId: u
        price: {from: "{P}", map: {Standard: 35.00, VIP: 079.5, Own: "{Own}"}${otherwise}}`;

  test("keep the digits of their values, which may be templates", () => {
    expect(dataOf(table(""), "T,P,Own\n1,Standard,\n2, VIP ,\n3,Own,12.0\n")).toMatchObject([
      { price: "35.00" },
      { price: "079.5" },
      { price: "12.0" },
    ]);
  });

  test("make an unknown value a problem that names the nearest", () => {
    const { mapped } = mapText(table(""), "T,P,Own\n1,Standart,\n");
    expect(mapped).toMatchObject([
      {
        kind: "invalid",
        findings: [
          { rule: "value-unknown", field: "price", value: "Standart", hint: expect.stringContaining("Standard?") },
        ],
        attempted: [{ action: "soldTicket", data: { ticketId: "1" } }],
      },
    ]);
  });

  test("take what else declares; an empty value is blank's, not the table's", () => {
    expect(dataOf(table(', else: "9"'), "T,P,Own\n1,x,\n2,,\n")).toEqual([
      { eventId: "e", ticketId: "1", userId: "u", price: "9" },
      { eventId: "e", ticketId: "2", userId: "u" },
    ]);
    expect(dataOf(table(', blank: "0"'), "T,P,Own\n1,,\n")).toMatchObject([{ price: "0" }]);
  });
});

const LIFE = `fields: {eventId: e, ticketId: "{barcode}"}
actions:
  - soldTicket: {fields: {userId: "{mail}", price: "{value}", orderTime: "{created}"}}
  - checkedInTicket: {when: {scanned: "true"}, fields: {orderTime: "{scanned_at}"}}
  - invalidatedTicket:
      when: [{ticket_invalidated: "1"}, {order_invalidated: "1"}]
      fields: {orderTime: ["{ticket_at}", "{order_at}"]}`;

test("10 one row gives several actions in a fixed order, each with its condition and time", () => {
  const csv = `barcode,mail,value,created,scanned,scanned_at,ticket_invalidated,ticket_at,order_invalidated,order_at
b1,m,5.00,100,true,200,1,300,0,
b2,m,5.00,101,false,,0,,1,400
b3,m,5.00,102,,,,,,
`;
  expect(actionsOf(mapText(LIFE, csv).mapped)).toEqual([
    { action: "soldTicket", data: { eventId: "e", ticketId: "b1", userId: "m", price: "5.00", orderTime: 100 } },
    { action: "checkedInTicket", data: { ticketId: "b1", orderTime: 200 } },
    { action: "invalidatedTicket", data: { ticketId: "b1", orderTime: 300 } },
    { action: "soldTicket", data: { eventId: "e", ticketId: "b2", userId: "m", price: "5.00", orderTime: 101 } },
    { action: "invalidatedTicket", data: { ticketId: "b2", orderTime: 400 } },
    { action: "soldTicket", data: { eventId: "e", ticketId: "b3", userId: "m", price: "5.00", orderTime: 102 } },
  ]);
});

describe("11 conditions", () => {
  const scanLog = (when: string) => `actions:\n  - scannedTicket: {when: ${when}, fields: {ticketId: "{T}"}}`;
  const csv = "T,Type,Result\n1,entry,ok\n2,exit,ok\n3,entry,error\n4,,\n";
  test.each([
    ["{Type: entry}", ["1", "3"]],
    ["{Type: entry, Result: ok}", ["1"]],
    ["{Type: [entry, exit], Result: ok}", ["1", "2"]],
    ["[{Type: exit}, {Result: error}]", ["2", "3"]],
    ["{Type: {not: entry}}", ["2", "4"]],
    ["{Type: {not: [entry, exit]}}", ["4"]],
    ["{Type: {empty: true}}", ["4"]],
    ["{Type: {empty: false}, Result: {not: ok}}", ["3"]],
    ['{"{Type}-{Result}": entry-ok}', ["1"]],
    ['{Type: ""}', ["4"]],
    ["{Type: ENTRY}", []],
  ])("%s", (when, tickets) => {
    expect(dataOf(scanLog(when), csv)).toEqual(tickets.map((ticketId) => ({ ticketId })));
  });

  test("that no action's meets skip the row, counted by the values that were looked at", () => {
    const { mapped } = mapText(scanLog("{Type: entry, Result: [ok], T: {empty: false}}"), csv);
    expect(mapped.slice(1)).toEqual([
      { kind: "skipped", reason: "Type = exit, Result = ok, T is not empty" },
      { kind: "skipped", reason: "Type = entry, Result = error, T is not empty" },
      { kind: "skipped", reason: "Type is empty, Result is empty, T is not empty" },
    ]);
  });
});

describe("12 a quantity", () => {
  const yaml = `each: {count: "{Qty}"}
actions:
  - soldTicket: {fields: {eventId: e, ticketId: "{Order}-{n}", userId: u, price: "1"}}
  - invalidatedTicket: {when: {Status: cancelled}, fields: {ticketId: "{Order}-{n}"}}`;

  test("repeats all actions of the row, ticket by ticket", () => {
    const actions = actionsOf(mapText(yaml, "Order,Qty,Status\nA,2,cancelled\nB,1,ok\n").mapped);
    expect(
      actions.map((each) => Object.values(each as object)).map(([action, data]) => [action, data.ticketId]),
    ).toEqual([
      ["soldTicket", "A-1"],
      ["invalidatedTicket", "A-1"],
      ["soldTicket", "A-2"],
      ["invalidatedTicket", "A-2"],
      ["soldTicket", "B-1"],
    ]);
  });

  test.each(["", "two", "1.5", "-1", "10001", "99999999999"])("that reads %j is a problem", (quantity) => {
    expect(rulesOf(mapText(yaml, `Order,Qty,Status\nA,${quantity},ok\n`).mapped[0])).toEqual(["each-unreadable {Qty}"]);
  });

  test("of 0 skips the row and says so", () => {
    expect(mapText(yaml, "Order,Qty,Status\nA,0,ok\n").mapped).toEqual([
      { kind: "skipped", reason: "nothing in {Qty}" },
    ]);
  });
});

describe("13 a total that is divided", () => {
  const yaml = (rest: string) => `each: {count: "{Qty}"}
actions:
  - soldTicket:
      fields:
        eventId: e
        ticketId: "{Order}-{n}"
        userId: u
        price: {from: "{Total}", decimal: ",", blank: "0", divide: "{Qty}"${rest}}`;

  test("has the declared places; blank is replaced before", () => {
    expect(dataOf(yaml(", places: 2"), 'Order,Qty,Total\nA,2,"5,5"\nB,1,\n')).toMatchObject([
      { price: "2.75" },
      { price: "2.75" },
      { price: "0.00" },
    ]);
  });

  test("and does not divide is a problem, said once", () => {
    const { mapped } = mapText(yaml(", places: 2"), "Order,Qty,Total\nA,3,10\n");
    expect(rulesOf(mapped[0])).toEqual(["amount-not-divisible price"]);
    expect(mapped[0]).toMatchObject({ attempted: [{}, {}, {}] });
  });

  test("may declare what happens to the rest", () => {
    const csv = "Order,Qty,Total\nA,3,10\n";
    expect(dataOf(yaml(", places: 2, remainder: first"), csv)).toMatchObject([
      { price: "3.34" },
      { price: "3.33" },
      { price: "3.33" },
    ]);
    expect(dataOf(yaml(", places: 2, remainder: round"), csv)).toMatchObject([{ price: "3.33" }, {}, {}]);
  });
});

describe("14 a cell with many values", () => {
  const yaml = `zone: UTC
actions:
  - scannedTicket:
      each: {in: "{Scans}", match: '(?<list>.+?) \\((?<at>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d)\\)'}
      fields: {ticketId: "{T}", orderTime: "{item.at}"}`;

  test("gives one action per match, with named parts, in order", () => {
    expect(dataOf(yaml, 'T,Scans\n1,"Gate (N) (2026-05-09 18:00), Pit, left (2026-05-09 19:00)"\n2,\n')).toEqual([
      { ticketId: "1", orderTime: 1778349600 },
      { ticketId: "1", orderTime: 1778353200 },
    ]);
  });

  test("is a problem when text is left over", () => {
    const { mapped } = mapText(yaml, 'T,Scans\n1,"Gate (2026-05-09 18:00), Pit (yesterday)"\n2,nothing\n');
    expect(mapped.map(rulesOf)).toEqual([["each-unreadable {Scans}"], ["each-unreadable {Scans}"]]);
  });

  test("may stand beside a quantity, whose n it keeps", () => {
    const both = `zone: UTC
each: {count: "{Qty}"}
actions:
  - scannedTicket:
      each: {in: "{Scans}", match: '(?<at>\\d+)'}
      fields: {ticketId: "{T}-{n}", orderTime: "{item.at}"}`;
    expect(dataOf(both, "T,Qty,Scans\n1,2,5 6\n")).toEqual([
      { ticketId: "1-1", orderTime: 5 },
      { ticketId: "1-1", orderTime: 6 },
      { ticketId: "1-2", orderTime: 5 },
      { ticketId: "1-2", orderTime: 6 },
    ]);
  });

  test("that is empty skips a row without other actions and says so", () => {
    expect(mapText(yaml, "T,Scans\n1,\n").mapped).toEqual([{ kind: "skipped", reason: "nothing in {Scans}" }]);
  });
});

describe("15 JSON rows", () => {
  const config = sourceOf(`each: {path: barcodes}
columns: {buyer: [buyer.id, buyer.mail]}
actions:
  - resoldTicket:
      when: {status: CONFIRMED}
      fields:
        ticketId: "{item.barcode_values.0}"
        userId: "{buyer}"
        price: {from: "{proceeds.amount}", divide: "{number_of_tickets}", places: 2}
        orderTime: "{created_at}"`);
  const sale = `{"status":"CONFIRMED","created_at":"2026-05-01T10:00:00Z","proceeds":{"amount":120.50},"number_of_tickets":2,
    "buyer":{"mail":"m"},"barcodes":[{"barcode_values":["b1"]},{"barcode_values":[12345678901234567890]}]}`;

  test("give nested values, and one action per item of a list, numbers as they are written", () => {
    const mapper = createMapper({ fileName: "sales.ndjson", source: { name: "s", config } });
    const data = { userId: "m", price: "60.25", orderTime: 1777629600 };
    expect(mapper.map(json(sale))).toEqual({
      kind: "actions",
      actions: [
        { action: "resoldTicket", data: { ticketId: "b1", ...data } },
        { action: "resoldTicket", data: { ticketId: "12345678901234567890", ...data } },
      ],
    });
    // The list of buyer is of names of which any will do.
    expect(mapper.understanding.notes).toEqual([]);
    expect(mapper.findingsOfFile?.()).toEqual([]);
  });

  test("with something else than a list are a problem, and without it unless it is optional; with an empty one skipped", () => {
    const mapper = createMapper({ fileName: "sales.ndjson", source: { name: "s", config } });
    expect(rulesOf(mapper.map(json('{"status":"CONFIRMED","barcodes":"b1"}')))).toEqual(["each-unreadable barcodes"]);
    expect(mapper.map(json('{"status":"CONFIRMED","barcodes":[]}'))).toMatchObject({ kind: "skipped" });
    expect(mapper.map(json('{"status":"CONFIRMED","barcodes":null}'))).toMatchObject({ kind: "skipped" });
    expect(rulesOf(mapper.map(json('{"status":"CONFIRMED"}')))).toEqual(["list-missing barcodes"]);
    const lax = createMapper({
      fileName: "sales.ndjson",
      source: { name: "s", config: { ...config, optional: ["barcodes"] } },
    });
    expect(lax.map(json('{"status":"CONFIRMED"}'))).toEqual({ kind: "skipped", reason: "nothing in barcodes" });
    expect(mapper.map(json('{"status":"PENDING","barcodes":[1]}'))).toEqual({
      kind: "skipped",
      reason: "status = PENDING",
    });
  });

  test("whose value is a list or an object where text is wanted are a problem", () => {
    const mapper = createMapper({ fileName: "sales.ndjson", source: { name: "s", config } });
    const bad = json(
      '{"status":"CONFIRMED","barcodes":[{"barcode_values":[["x"]]}],"proceeds":{"amount":1},"number_of_tickets":1}',
    );
    expect(rulesOf(mapper.map(bad))).toEqual(["field-type item.barcode_values.0"]);
  });

  test("keep the digits of numbers wherever they stand", () => {
    const prices = sourceOf(
      'actions: [soldTicket: {fields: {eventId: e, ticketId: "{t}", userId: u, price: "{p.x}"}}]',
    );
    const mapper = createMapper({ fileName: "x.json", source: { name: "s", config: prices } });
    for (const written of ["12.50", "0.10", "1e2", "-0", "7"])
      expect(mapper.map(json(`{"t":1,"p":{"x":${written}}}`))).toMatchObject({
        actions: [{ data: { price: written } }],
      });
  });
});

describe("17 date and time", () => {
  test("from two columns", () => {
    const yaml = `zone: Europe/Berlin\n${SCAN}{ticketId: "{T}", orderTime: {from: "{D} {H}", format: "d.M.yyyy HH:mm"}}`;
    expect(dataOf(yaml, "T,D,H\n1,1.9.2025,09:15\n2,,\n")).toEqual([
      { ticketId: "1", orderTime: 1756710900 },
      { ticketId: "2" },
    ]);
    expect(rulesOf(mapText(yaml, "T,D,H\n1,1.9.2025,\n").mapped[0])).toEqual(["time-unreadable orderTime"]);
  });

  test("from a constant date and a column, where times before rollover are of the next day", () => {
    const yaml = `zone: UTC
actions:
  - scannedTicket:
      fields:
        ticketId: "{Barcode}"
        orderTime: {from: "2026-05-09 {Time}", format: "yyyy-MM-dd H:mm", rollover: "06:00"}`;
    expect(dataOf(yaml, "Time,Barcode\n10:03,130942099897\n23:59,b\n0:30,c\n")).toEqual([
      { ticketId: "130942099897", orderTime: 1778320980 },
      { ticketId: "b", orderTime: 1778371140 },
      { ticketId: "c", orderTime: 1778373000 },
    ]);
  });
});

describe("18 zones", () => {
  const yaml = `zone: Europe/Berlin
actions:
  - scannedTicket:
      fields:
        ticketId: "{T}"
        orderTime: {from: "{At}", format: "yyyy-MM-dd HH:mm"}
  - checkedInTicket:
      fields:
        ticketId: "{T}"
        orderTime: {from: "{At}", format: "yyyy-MM-dd HH:mm", zone: UTC}`;

  test("hold for the source, or for one field", () => {
    expect(dataOf(yaml, "T,At\n1,2025-10-26 02:15\n")).toEqual([
      { ticketId: "1", orderTime: 1761437700 },
      { ticketId: "1", orderTime: 1761444900 },
    ]);
  });

  test("make an hour that does not exist a problem", () => {
    expect(rulesOf(mapText(yaml, "T,At\n1,2026-03-29 02:15\n").mapped[0])).toEqual(["time-skipped orderTime"]);
  });

  test("also serve local times of fields without a format, and columns named like fields", () => {
    const csv = "ticketId,orderTime\n1,2025-10-26T02:15:00\n";
    expect(dataOf(`zone: Europe/Berlin\n${SCAN}{ticketId: "{ticketId}", orderTime: "{orderTime}"}`, csv)).toEqual([
      { ticketId: "1", orderTime: 1761437700 },
    ]);
    const named = mapText("zone: Europe/Berlin\naction: scannedTicket", csv);
    expect(actionsOf(named.mapped)).toEqual([
      { action: "scannedTicket", data: { ticketId: "1", orderTime: 1761437700 } },
    ]);
    expect(named.understanding.how).toBe("source s");
  });
});

test("19 orderTime may be left out of an action that others of the row have", () => {
  const yaml = `fields: {ticketId: "{T}"}
actions:
  - scannedTicket: {fields: {orderTime: "{At}"}}
  - checkedInTicket: {}`;
  expect(dataOf(yaml, "T,At\n1,5\n")).toEqual([{ ticketId: "1", orderTime: 5 }, { ticketId: "1" }]);
});

describe("20 money", () => {
  const price = (steps: string) => `actions:
  - soldTicket: {fields: {eventId: e, ticketId: t, userId: u, price: ${steps}}}`;

  test.each([
    ['{from: "{P}", decimal: ","}', "23,00", "23.00"],
    ['{from: "{P}", thousands: ","}', "1,150.00", "1150.00"],
    ['{from: "{P}", sign: "$"}', "$60.00", "60.00"],
    ['{from: "{P}", sign: [EUR, €]}', "60.00 €", "60.00"],
    ['{from: "{P}", blank: "0"}', "", "0"],
    ['"{P}"', "12.5", "12.5"],
  ])("%s reads %s as %s", (steps, written, expected) => {
    expect(dataOf(price(steps), `P,x\n"${written}",y\n`)).toMatchObject([{ price: expected }]);
  });

  test("is never guessed: 12,50 is not 1,250", () => {
    expect(rulesOf(mapText(price('{from: "{P}", thousands: ","}'), 'P\n"12,50"\n').mapped[0])).toEqual([
      "price-invalid price",
    ]);
    // Without a declaration the text stays, and the check of the field says what to declare.
    expect(dataOf(price('"{P}"'), 'P\n"12,50"\n')).toMatchObject([{ price: "12,50" }]);
  });

  test.each([
    ['{from: "{P}", thousands: ","}', "0,100", "it would be 100; with , as its decimal mark, 0.100."],
    ['{from: "{P}", decimal: ",", thousands: "."}', "0.250", "it would be 250; with . as its decimal mark, 0.250."],
    ['{from: "{P}", decimal: ",", thousands: "."}', "0.250,00", "it would be 250.00. Declare"],
  ])("%s does not take %s for thousands, and names both readings", (steps, written, hint) => {
    const [mapped] = mapText(price(steps), `P,x\n"${written}",y\n`).mapped;
    expect(mapped).toMatchObject({ kind: "invalid", findings: [{ rule: "price-invalid", value: written }] });
    expect(mapped?.kind === "invalid" ? mapped.findings[0]?.hint : "").toContain(hint);
  });
});

describe("21 a currency that is checked", () => {
  test("must be so in every item that gives an action", () => {
    const perItem = `each: {path: codes}
expect: {"{item.currency}": EUR}
actions:
  - scannedTicket: {when: {item.use: y}, fields: {ticketId: "{item.id}"}}`;
    const mapper = createMapper({ fileName: "x.ndjson", source: { name: "s", config: sourceOf(perItem) } });
    const mapped = [["EUR"], ["EUR", "USD"], ["GBP", "EUR"]].map((currencies) => {
      const codes = currencies.map((currency, id) => ({ id, currency, use: currency === "GBP" ? "n" : "y" }));
      return mapper.map(json(JSON.stringify({ codes })));
    });
    expect(mapped.map(rulesOf)).toEqual([
      expect.objectContaining({ kind: "actions" }),
      ["value-unexpected {item.currency}"],
      expect.objectContaining({ kind: "actions" }),
    ]);
  });

  const yaml = `expect: {Currency: EUR, Kind: [a, b]}
actions:
  - scannedTicket: {when: {Use: y}, fields: {ticketId: "{T}"}}`;

  test("must be the declared one in every row that gives an action", () => {
    const { mapped } = mapText(yaml, "T,Currency,Kind,Use\n1,EUR,b,y\n2,USD,a,y\n3,,c,y\n4,USD,a,n\n");
    expect(mapped.map(rulesOf)).toEqual([
      expect.objectContaining({ kind: "actions" }),
      ["value-unexpected Currency"],
      ["value-unexpected Currency", "value-unexpected Kind"],
      { kind: "skipped", reason: "Use = n" },
    ]);
  });
});

test("22 ids stay text, digit for digit", () => {
  expect(dataOf(`${SCAN}{ticketId: "{T}"}`, "T\n00123\n18441583423000000001\n1.84E+10\n")).toEqual([
    { ticketId: "00123" },
    { ticketId: "18441583423000000001" },
    { ticketId: "1.84E+10" },
  ]);
});

describe("23 cell repair", () => {
  const csv = "ticketId\n'=1+1\n'+1\n\t@x\n'a\n' -5\n";
  const guarded = ["=1+1", "+1", "@x", "'a", "' -5"].map((ticketId) => ({ ticketId }));

  test("removes what guards formulas, where it is declared", () => {
    expect(dataOf(`csv: {guards: strip}\n${SCAN}{ticketId: "{ticketId}"}`, csv)).toEqual(guarded);
    expect(dataOf("csv: {guards: strip}\naction: scannedTicket", csv)).toEqual(guarded);
  });

  test("leaves apostrophes alone where it is not", () => {
    expect(dataOf(`${SCAN}{ticketId: "{ticketId}"}`, csv)[0]).toEqual({ ticketId: "'=1+1" });
  });
});

describe("24 attributes", () => {
  const update = (traits: string) =>
    `actions:\n  - updateTicket: {fields: {ticketId: "{T}", metadataAttributes: ${traits}}}`;

  test("come from chosen columns under own names; empty ones are left out, and the field with the last", () => {
    const yaml = update(
      '{Seat no: "{Seat}", Where: ["{Zone}", "{Hall}"], Kind: {from: "{K}", map: {v: VIP}, else: plain}}',
    );
    expect(dataOf(yaml, "T,Seat,Zone,Hall,K\n1,07,,H,v\n2,,,,\n")).toEqual([
      {
        ticketId: "1",
        metadataAttributes: [
          { trait_type: "Seat no", value: "07" },
          { trait_type: "Where", value: "H" },
          { trait_type: "Kind", value: "VIP" },
        ],
      },
      { ticketId: "2" },
    ]);
  });

  test("may be numbers and dates by their display type", () => {
    const yaml = `zone: UTC\n${update('{Level: {from: "{L}", display: number, decimal: ","}, Born: {from: "{B}", display: date, format: d.M.yyyy}}')}`;
    expect(dataOf(yaml, 'T,L,B\n1,"2,50",1.1.2026\n')).toEqual([
      {
        ticketId: "1",
        metadataAttributes: [
          { trait_type: "Level", value: 2.5, display_type: "number" },
          { trait_type: "Born", value: 1767225600, display_type: "date" },
        ],
      },
    ]);
    const plain = update('{Level: {from: "{L}", display: number}}');
    const [exact] = dataOf(plain, "T,L\n1,0.12345678901234567890\n");
    expect(stringifyJson(exact)).toContain('"value":0.12345678901234567890,');
    expect(rulesOf(mapText(plain, "T,L\n1,high\n").mapped[0])).toEqual(["metadata-invalid Level"]);
  });

  test("may stand in a column as JSON", () => {
    const csv = 'T,M\n1,"[{""trait_type"":""Row"",""value"":""A""}]"\n2,x\n';
    for (const rule of ['"{M}"', '{from: "{M}"}']) {
      const { mapped } = mapText(update(rule), csv);
      expect(actionsOf(mapped)).toMatchObject([{ data: { metadataAttributes: [{ trait_type: "Row", value: "A" }] } }]);
      expect(rulesOf(mapped[1])).toEqual(["metadata-invalid metadataAttributes"]);
    }
  });
});

describe("25 events", () => {
  const yaml = `fields: {eventId: "{E}", ticketId: "{T}"}
actions:
  - newEvent: {fields: {currency: EUR, eventName: "{Name}"}}
  - scannedTicket: {when: {Use: y}}`;
  const names = (csv: string) =>
    mapText(yaml, csv).mapped.map((row) => (row.kind === "actions" ? row.actions.map(({ action }) => action) : row));

  test("are registered once, by the first row of each", () => {
    expect(names("E,T,Name,Use\na,1,A,y\na,2,A,y\nb,3,B,n\nb,4,B,n\n")).toEqual([
      ["newEvent", "scannedTicket"],
      ["scannedTicket"],
      ["newEvent"],
      { kind: "skipped", reason: "Use = n" },
    ]);
  });

  test("whose first row can't be read come with the next", () => {
    const priced = yaml.replace(
      "- scannedTicket: {when: {Use: y}}",
      '- resoldTicket: {fields: {userId: u, price: {from: "{P}", decimal: ","}}}',
    );
    const { mapped } = mapText(priced, "E,T,Name,P\na,1,A,x\na,2,A,5\n");
    expect(mapped[0]).toMatchObject({ kind: "invalid", attempted: [{ action: "resoldTicket" }] });
    expect(mapped[1]).toMatchObject({ actions: [{ action: "newEvent" }, { action: "resoldTicket" }] });
  });

  test("whose first row a later check refuses come with the next, when it is taken back", () => {
    const { header } = tableOf("E,T,Name,Use\n");
    const mapper = createMapper({ fileName: "x.csv", header, source: { name: "s", config: sourceOf(yaml) } });
    const row = { kind: "cells", line: 2, cells: ["a", "1", "A", "y"] } as const;
    const first = mapper.map(row);
    expect(first).toMatchObject({ actions: [{ action: "newEvent" }, {}] });
    mapper.retract?.(first.kind === "actions" ? first.actions : []);
    expect(mapper.map(row)).toMatchObject({ actions: [{ action: "newEvent" }, {}] });
    expect(mapper.map(row)).toMatchObject({ actions: [{ action: "scannedTicket" }] });
  });

  test("that can't be read hold back what depends on them", () => {
    const faulty = "zone: UTC\nactions:\n  - newEvent: {fields: {eventId: '{E}', currency: EUR, startTime: '{At}'}}";
    expect(mapText(faulty, "E,At\na,soon\n").mapped[0]).toMatchObject({
      kind: "invalid",
      attempted: [{ action: "newEvent", data: { eventId: "a" } }],
    });
  });

  test("of an events file skip a second row of the same event, and say so", () => {
    const file = "actions:\n  - newEvent: {when: {S: LIVE}, fields: {eventId: '{E}', currency: EUR}}";
    expect(mapText(file, "E,S\na,LIVE\na,LIVE\n").mapped[1]).toEqual({
      kind: "skipped",
      reason: "the event was given by an earlier row",
    });
  });
});

describe("26 files joined by key", () => {
  const yaml = `lookup:
  order: {file: /data/orders.csv, where: {Reference: "{Order Reference}"}}
actions:
  - soldTicket:
      fields:
        eventId: e
        ticketId: "{Ticket ID}"
        userId: ["{order.Email}", "{order.Reference}"]
        price: {from: "{order.Amount}", divide: "{order.Tickets}", places: 2}`;
  const orders = tableOf("Reference,Email,Amount,Tickets\nR1,a@x,10.00,2\nR2,,5,1\nR3,c@x,1,1\nR3,d@x,1,1\n");
  const lookups = new Map([["order", { file: "orders.csv", ...orders }]]);

  test("give the columns of the one row that fits", () => {
    const csv = "Ticket ID,Order Reference\nt1,R1\nt2,R1\nt3,R2\n";
    expect(dataOf(yaml, csv, { lookups })).toEqual([
      { eventId: "e", ticketId: "t1", userId: "a@x", price: "5.00" },
      { eventId: "e", ticketId: "t2", userId: "a@x", price: "5.00" },
      { eventId: "e", ticketId: "t3", userId: "R2", price: "5.00" },
    ]);
  });

  test("are a problem when no row fits, or several", () => {
    const { mapped } = mapText(yaml, "Ticket ID,Order Reference\nt1,R9\nt2,R3\nt3,\n", { lookups });
    expect(mapped.map(rulesOf)).toEqual([
      ["lookup-missing order"],
      ["lookup-ambiguous order"],
      ["lookup-missing order"],
    ]);
  });

  test("may be declared to have no row for some", () => {
    const lenient = yaml
      .replace('Reference}"}}', 'Reference}"}, missing: empty}')
      .replace('"{order.Reference}"]', "nobody]");
    expect(
      dataOf(lenient.replace(/price: .*/, "price: '1'"), "Ticket ID,Order Reference\nt1,R9\n", { lookups }),
    ).toEqual([{ eventId: "e", ticketId: "t1", userId: "nobody", price: "1" }]);
  });

  test("may join by several columns, and by those of another", () => {
    const chained = `lookup:
  order: {file: a, where: {Reference: "{Order Reference}"}}
  person: {file: b, where: {Mail: "{order.Email}", No: "{No}"}}
actions: [claimedTicket: {fields: {ticketId: "{Ticket ID}", userId: "{person.Id}"}}]`;
    const people = { file: "people.csv", ...tableOf("Mail,No,Id\na@x,1,p1\na@x,2,p2\n") };
    const both = new Map([...lookups, ["person", people]]);
    expect(dataOf(chained, "Ticket ID,Order Reference,No\nt,R1,2\n", { lookups: both })).toEqual([
      { ticketId: "t", userId: "p2" },
    ]);
  });
});

test("27 a key of the source's own stands beside each action", () => {
  const yaml = `key: ["{Barcode}", "{T}"]\nactions:\n  - scannedTicket: {fields: {ticketId: "{T}"}}\n  - checkedInTicket: {fields: {ticketId: "{T}"}}`;
  const { mapped } = mapText(yaml, "T,Barcode\n1,b\n2,\n,\n");
  expect(mapped.map((row) => row.kind === "actions" && row.keys)).toEqual([["b", "b"], ["2", "2"], false]);
  expect(rulesOf(mapText(yaml, "T,Barcode,x\n,,x\n").mapped[0])).toEqual(["key-empty key", "key-empty key"]);
});

test("28 a swap is the old ticket's invalidation and the new one's sale; a resale shares the ticket", () => {
  const yaml = `fields: {eventId: e, ticketId: "{Code}"}
actions:
  - soldTicket: {when: {Status: [SOLD, SWAPPED]}, fields: {userId: "{Mail}", price: "{Price}"}}
  - invalidatedTicket: {when: {Status: SWAPPED}}
  - resoldTicket: {when: {Status: RESOLD}, fields: {userId: "{Mail}", price: "{Price}"}}`;
  const csv = "Code,Status,Mail,Price\nold,SWAPPED,a,5\nnew,SOLD,b,5\nsame,RESOLD,c,6\n";
  expect(actionsOf(mapText(yaml, csv).mapped).map((each) => (each as { action: string }).action)).toEqual([
    "soldTicket",
    "invalidatedTicket",
    "soldTicket",
    "resoldTicket",
  ]);
});

describe("a row of a source", () => {
  test("names its event also where its actions do not carry it", () => {
    const yaml = `fields: {eventId: "{E}", ticketId: "{T}"}\nactions: [scannedTicket: {}]`;
    expect(mapText(yaml, "E,T\ne,1\n").mapped).toEqual([
      { kind: "actions", actions: [{ action: "scannedTicket", data: { ticketId: "1" } }], eventId: "e" },
    ]);
  });

  test("clears no trait, and says so", () => {
    const yaml = `actions:
  - updateTicket: {fields: {ticketId: "{ID}", metadataAttributes: {A: "{A}", B: "{B}"}}}`;
    const { mapped } = mapText(yaml, "ID,A,B\na,\\clear,x\n");
    expect(mapped).toMatchObject([
      { kind: "invalid", findings: [{ rule: "not-clearable", field: "A", value: "\\clear" }] },
    ]);
  });

  test("clears a field by the source's word, also through its steps", () => {
    const yaml = `clear: "-"\nzone: UTC
actions:
  - updateEvent:
      fields:
        eventId: "{E}"
        eventName: {from: "{N}", map: {a: A}}
        startTime: {from: "{S}", format: d.M.yyyy}`;
    expect(dataOf(yaml, "E,N,S\ne,-,-\nf,a,1.1.1970\n")).toEqual([
      { eventId: "e", eventName: "", startTime: 0 },
      { eventId: "f", eventName: "A", startTime: 0 },
    ]);
  });

  test("tells all its problems at once, each once", () => {
    const yaml = `zone: UTC
fields: {eventId: e, ticketId: "{T}"}
expect: {C: EUR}
actions:
  - soldTicket: {fields: {userId: u, price: {from: "{P}", decimal: ","}, orderTime: {from: "{At}", format: d.M.yyyy}}}
  - scannedTicket: {fields: {orderTime: {from: "{At}", format: d.M.yyyy}}}`;
    expect(rulesOf(mapText(yaml, "T,P,At,C\n1,x,31.2.2026,USD\n").mapped[0])).toEqual([
      "price-invalid price",
      "time-unreadable orderTime",
      "value-unexpected C",
    ]);
  });

  test("that is empty is skipped", () => {
    expect(mapText(`${SCAN}{ticketId: "{T}"}`, "T,x\n,\n").mapped).toEqual([{ kind: "skipped", reason: "empty row" }]);
  });

  test("before 1970 has no Unix time", () => {
    const yaml = `zone: UTC\n${SCAN}{ticketId: t, orderTime: {from: "{At}", format: d.M.yyyy}}`;
    for (const text of ["31.12.1969", "1.7.0026", "1.7.0099"]) {
      expect(mapText(yaml, `At\n${text}\n`).mapped).toMatchObject([
        {
          kind: "invalid",
          findings: [
            { rule: "u64-invalid", field: "orderTime", value: text, hint: expect.stringContaining("leave it out") },
          ],
        },
      ]);
    }
  });
});

describe("a source without actions", () => {
  test("lends its clear word to columns named like fields", () => {
    const { mapped } = mapText("clear: LEER", "ticketId,imageUrl\nt,LEER\n", { fileName: "updates.csv" });
    expect(actionsOf(mapped)).toEqual([{ action: "updateTicket", data: { ticketId: "t", imageUrl: "" } }]);
  });

  test("gives way to --action, as one with actions does, and says so", () => {
    const csv = "ticketId\nt\n";
    const yaml = `actions:\n  - checkedInTicket: {fields: {ticketId: "{ticketId}"}}`;
    const { mapped, understanding } = mapText(yaml, csv, { action: "scannedTicket" });
    expect(actionsOf(mapped)).toEqual([{ action: "scannedTicket", data: { ticketId: "t" } }]);
    expect(understanding).toMatchObject({
      how: "--action",
      notes: ["the rules of source s are not used, because of --action"],
    });
  });
});

test.each([
  ['price: {from: "{x}", decimal: "."}', "1,150.00", 'thousands: "," reads it as 1150.00'],
  ['price: {from: "{x}", decimal: "."}', "12,50", 'decimal: "," reads it as 12.50'],
  ['price: {from: "{x}", decimal: "."}', "1,150", 'thousands: "," reads it as 1150; decimal: "," reads it as 1.150'],
  ['orderTime: {from: "{x}", format: iso, zone: UTC}', "11/29/24 22:28", 'format: "M/d/yy H:mm" reads it.'],
  ['orderTime: {from: "{x}", format: iso, zone: UTC}', "3/4/24 22:28", "which is right is never guessed"],
])("%s says of %s what would read it", (rule, text, hint) => {
  const others = rule.startsWith("price") ? "" : ', price: "1"';
  const yaml = `actions: [soldTicket: {fields: {eventId: e, ticketId: t, userId: u${others}, ${rule}}}]`;
  const [mapped] = mapText(yaml, `x,y\n"${text}",1\n`).mapped;
  expect(mapped?.kind === "invalid" ? mapped.findings[0]?.hint : undefined).toContain(hint);
});

describe("fillDown", () => {
  const YAML = `fillDown: [Order, Status]
actions:
  - scannedTicket: {when: {Status: paid}, fields: {ticketId: "{Order}-{No}"}}`;

  test("gives a blank cell the value above it", () => {
    expect(dataOf(YAML, "Order,No,Status\nA,1,paid\n,2,\n,3,open\nB,4,\n ,5,paid\n")).toEqual([
      { ticketId: "A-1" },
      { ticketId: "A-2" },
      { ticketId: "B-5" },
    ]);
  });

  test("has nothing to take above the first row, and in a rejects file", () => {
    expect(rulesOf(mapText(YAML, "Order,No,Status\n,1,paid\n").mapped[0])).toEqual(["fill-down-empty Order"]);
    const rejects = "Order,No,Status,tickets:reason,tickets:row\nA,1,paid,x,\n,2,,x,\n";
    expect(rulesOf(mapText(YAML, rejects).mapped[1])).toEqual(["fill-down-empty Order", "fill-down-empty Status"]);
  });

  test("takes nothing over a row that can't be read", () => {
    const header = ["Order", "No", "Status"];
    const mapper = createMapper({ fileName: "x.csv", header, source: { name: "s", config: sourceOf(YAML) } });
    mapper.map({ kind: "cells", line: 2, cells: ["A", "1", "paid"] });
    mapper.map({ kind: "malformed", line: 3, text: "B", findings: [], bordersKnown: true, cells: ["B"] });
    expect(rulesOf(mapper.map({ kind: "cells", line: 4, cells: ["", "2", "paid"] }))).toEqual([
      "fill-down-empty Order",
    ]);
  });

  test("is refused for rows of JSON and for columns that are not there", () => {
    expect(() => mapText(`fillDown: Place\n${SCAN}{ticketId: "{No}"}`, "Order,No\n1,2\n")).toThrow(
      'sources.s.fillDown: export.csv has no column "Place"',
    );
    expect(() => createMapper({ fileName: "x.ndjson", source: { name: "s", config: sourceOf(YAML) } })).toThrow(
      "sources.s.fillDown: needs a table; rows of JSON have no cell above",
    );
  });
});

describe("a row with fewer cells than the header", () => {
  const short = (yaml: string, ...values: string[]): Mapped => {
    const source = { name: "s", config: sourceOf(yaml) };
    const mapper = createMapper({ fileName: "x.csv", header: ["ID", "At", "Paid", "X"], source });
    const findings = [{ rule: "cell-count", message: "too short", hint: "Add a cell." }];
    return mapper.map({ kind: "malformed", line: 9, text: values.join(), findings, bordersKnown: true, cells: values });
  };

  test("is skipped where skip names what it has; else it is a problem that tells a line of totals", () => {
    expect(short(`skip: {ID: Summe}\n${SCAN}{ticketId: "{ID}"}`, "Summe", "", "12")).toEqual({
      kind: "skipped",
      reason: "ID = Summe",
    });
    expect(rulesOf(short(`skip: {X: ""}\n${SCAN}{ticketId: "{ID}"}`, "t1", "", "12"))).toEqual([
      "cell-count undefined",
    ]);
    expect(rulesOf(short(`${SCAN}{ticketId: "{ID}"}`, "Summe", "", "12"))).toEqual([
      "totals-line undefined",
      "cell-count undefined",
    ]);
  });
});

describe("the length of a list", () => {
  const YAML = `each: {path: barcodes}
expect: {number: "{barcodes.length}"}
actions:
  - resoldTicket:
      fields: {ticketId: "{item}", userId: u, price: {from: "{total}", divide: "{barcodes.length}", places: 2, remainder: first}}`;
  const mapJson = (text: string): Mapped =>
    createMapper({ fileName: "x.ndjson", source: { name: "s", config: sourceOf(YAML) } }).map(json(text));

  test("divides an amount, and can be expected of a column", () => {
    expect(mapJson('{"number":3,"total":10,"barcodes":["a","b","c"]}')).toMatchObject({
      actions: [{ data: { price: "3.34" } }, { data: { price: "3.33" } }, { data: { price: "3.33" } }],
    });
    const other = mapJson('{"number":2,"total":10,"barcodes":["a","b","c"]}');
    expect(other).toMatchObject({
      findings: [{ rule: "value-unexpected", field: "number", message: "The source expects 3 in number." }],
    });
  });

  test("is no text where expect doubles its braces", () => {
    expect(rulesOf(mapText(`expect: {A: "{{x}}"}\n${SCAN}{ticketId: "{B}"}`, "A,B\n{x},t\n").mapped[0])).toMatchObject({
      kind: "actions",
    });
  });
});

describe("an each inside an each", () => {
  const mapJson = (yaml: string, text: string): Mapped =>
    createMapper({ fileName: "x.ndjson", source: { name: "s", config: sourceOf(yaml) } }).map(json(text));
  const ORDER =
    '{"id":"o","seats":[{"id":"a","codes":["x","y"],"at":"1772356522, 1772356523"},{"id":"b","codes":[],"at":""},{"id":"c","codes":["z"],"at":"1772356524"}]}';

  test("of the source gives {item} of the inner, {outer} of the outer, and {n} over all", () => {
    const yaml = `each: {path: seats, each: {path: item.codes}}\n${SCAN}{ticketId: "{id}-{outer.id}-{item}-{n}"}`;
    expect(actionsOf([mapJson(yaml, ORDER)])).toMatchObject([
      { data: { ticketId: "o-a-x-1" } },
      { data: { ticketId: "o-a-y-2" } },
      { data: { ticketId: "o-c-z-3" } },
    ]);
  });

  test("may count, or find the many values of a cell", () => {
    const count = `each: {path: seats, each: {count: "{item.codes.length}"}}\n${SCAN}{ticketId: "{item.id}-{n}"}`;
    expect(actionsOf([mapJson(count, ORDER)])).toMatchObject([
      { data: { ticketId: "a-1" } },
      { data: { ticketId: "a-2" } },
      { data: { ticketId: "c-3" } },
    ]);
    const table = `each: {count: "{Qty}", each: {in: "{At}", match: '(?<at>[0-9]+)'}}\n${SCAN}{ticketId: "{ID}-{n}", orderTime: "{item.at}"}`;
    expect(dataOf(table, "ID,Qty,At\nt,2,1772356522 1772356523\n")).toHaveLength(4);
  });

  test("of an action reads the item of the source, which is then {outer}", () => {
    const yaml = `each: {path: seats}
actions:
  - invalidatedTicket: {when: {item.id: b}, fields: {ticketId: "{item.id}"}}
  - scannedTicket:
      each: {in: "{item.at}", match: '(?<at>[0-9]+)'}
      fields: {ticketId: "{outer.id}", orderTime: "{item.at}"}
  - checkedInTicket: {each: {path: item.codes}, when: {item.id: c}, fields: {ticketId: "{item}"}}`;
    expect(actionsOf([mapJson(yaml, ORDER)])).toEqual([
      { action: "scannedTicket", data: { ticketId: "a", orderTime: 1772356522 } },
      { action: "scannedTicket", data: { ticketId: "a", orderTime: 1772356523 } },
      { action: "invalidatedTicket", data: { ticketId: "b" } },
      { action: "scannedTicket", data: { ticketId: "c", orderTime: 1772356524 } },
      { action: "checkedInTicket", data: { ticketId: "z" } },
    ]);
  });
});
