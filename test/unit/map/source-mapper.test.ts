/** The capabilities of a mapping, by the numbers under which docs/mapping.md lists them. */

import { describe, expect, test } from "vitest";
import { cellsRow } from "./rows.ts";
import { actionsOf, mapJson, mapperOf, mapText, tableOf } from "./samples.ts";
import type { Mapped } from "./shown.ts";

const SCAN = "actions:\n  - scannedTicket:\n      fields: ";

/** The data of the one action that each row gives. */
function dataOf(yaml: string, csv: string, options?: Parameters<typeof mapText>[2]): unknown[] {
  return actionsOf(mapText(yaml, csv, options).mapped).map((action) => (action as { data: unknown }).data);
}

const rulesOf = (mapped: Mapped | undefined) =>
  mapped?.kind === "invalid" ? mapped.problems.map(({ rule, field }) => `${rule} ${field}`) : mapped;

describe("5 columns", () => {
  test("by position are told to name the header, where there is one", () => {
    const yaml = (seat: string) => `columns: {seat: ${seat}}\n${SCAN}{ticketId: "{seat}"}`;
    const csv = "ID,Seat,,Row,Row\nt,A1,7,8,9\n";
    expect(dataOf(yaml("2"), csv)).toEqual([{ ticketId: "A1" }]);
    expect(dataOf(yaml("3"), csv)).toEqual([{ ticketId: "7" }]);
    const rulesOfFile = (seat: string) =>
      mapText(yaml(seat), csv).problems.map(({ rule, field }) => `${rule} ${field}`);
    for (const seat of ["Seat", "3", "4"]) expect(rulesOfFile(seat)).toEqual([]);
    for (const seat of ["2", "[Place, 2]"]) expect(rulesOfFile(seat)).toEqual(["column-by-position seat"]);
  });

  test("whose exact header looks like Name#2 or a.b are taken as they are called", () => {
    const csv = "Order#,Order##2,a.b,7\n1,2,3,4\n";
    const yaml = `columns: {seven: 7}\n${SCAN}{ticketId: "{Order#}-{Order##2}-{a.b}-{seven}"}`;
    expect(dataOf(yaml, csv)).toEqual([{ ticketId: "1-2-3-4" }]);
  });
});

describe("9 value tables", () => {
  const table = (otherwise: string) => `actions:
  - soldTicket:
      fields:
        eventId: e
        ticketId: "{T}"
        userId: u
        price: {from: "{P}", map: {Standard: 35.00, VIP: 079.5, Own: "{Own}"}${otherwise}}`;

  test("make an unknown value a problem that names the nearest", () => {
    const { mapped } = mapText(table(""), "T,P,Own\n1,Standart,\n");
    expect(mapped).toMatchObject([
      {
        kind: "invalid",
        problems: [
          { rule: "value-unknown", field: "price", value: "Standart", hint: expect.stringContaining("Standard?") },
        ],
        attempted: [{ action: "soldTicket", data: { ticketId: "1" } }],
      },
    ]);
  });
});

describe("12 a quantity", () => {
  const yaml = `each: {count: "{Qty}"}
actions:
  - soldTicket: {fields: {eventId: e, ticketId: "{Order}-{n}", userId: u, price: "1"}}
  - invalidatedTicket: {when: {Status: cancelled}, fields: {ticketId: "{Order}-{n}"}}`;

  test.each(["", "two", "1.5", "-1", "10001", "99999999999"])("that reads %j is a problem", (quantity) => {
    expect(rulesOf(mapText(yaml, `Order,Qty,Status\nA,${quantity},ok\n`).mapped[0])).toEqual(["each-unreadable {Qty}"]);
  });

  test.each([
    ["the source's", `each: {count: "{Qty}"}\nactions: [SALE]`, 'skip: {Qty: ""} in its source'],
    ["an action's", "actions: [SALE]", 'when: {Qty: {not: ""}} at this action'],
  ])("%s that is empty names how a row is written that has none", (_whose, form, remedy) => {
    const each = form.startsWith("each") ? "" : 'each: {count: "{Qty}"}, ';
    const sale = `{soldTicket: {${each}fields: {eventId: E, ticketId: "{Order}-{n}", userId: u, price: "1"}}}`;
    expect(mapText(form.replace("SALE", sale), "Order,Qty\nA,\n").mapped[0]).toMatchObject({
      problems: [{ rule: "each-unreadable", hint: `If an empty cell means none, write ${remedy}.` }],
    });
  });

  test("of 0 skips the row and says so", () => {
    expect(mapText(yaml, "Order,Qty,Status\nA,0,ok\n").mapped).toEqual([
      { kind: "skipped", reason: "nothing in {Qty}" },
    ]);
  });
});

describe("a block of seats", () => {
  const yaml = `each: {from: "{First}", to: "{Last}"}
actions: [{checkedInTicket: {fields: {ticketId: "R-{n}"}}}]`;
  const block = (first: string, last: string) => `First,Last\n${first},${last}\n`;

  test.each([
    ["5", "8", ["R-5", "R-6", "R-7", "R-8"]],
    ["7", "8", ["R-7", "R-8"]],
    ["A009", "A011", ["R-A009", "R-A010", "R-A011"]],
    ["12", "12", ["R-12"]],
  ])("%s to %s", (first, last, tickets) => {
    expect(dataOf(yaml, block(first, last))).toEqual(tickets.map((ticketId) => ({ ticketId })));
  });

  test.each([
    ["8", "5"],
    ["A1", "B2"],
    ["5", ""],
    ["1", "10001"],
  ])("%j to %j is a problem", (first, last) => {
    expect(rulesOf(mapText(yaml, block(first, last)).mapped[0])).toEqual(["each-unreadable {First} to {Last}"]);
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

  test("and does not divide is a problem, said once", () => {
    const { mapped } = mapText(yaml(", places: 2"), "Order,Qty,Total\nA,3,10\n");
    expect(rulesOf(mapped[0])).toEqual(["amount-not-divisible price"]);
    const hint = "Declare remainder: first (one unit more for the first tickets) or round.";
    expect(mapped[0]).toMatchObject({ problems: [{ hint }], attempted: [{}, {}, {}] });
  });
});

describe("14 a cell with many values", () => {
  const yaml = `zone: UTC
actions:
  - scannedTicket:
      each: {in: "{Scans}", match: '(?<list>.+?) \\((?<at>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d)\\)'}
      fields: {ticketId: "{T}", orderTime: "{item.at}"}`;

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
});

describe("15 JSON rows", () => {
  const yaml = `each: {path: barcodes}
columns: {buyer: [buyer.id, buyer.mail]}
actions:
  - resoldTicket:
      when: {status: CONFIRMED}
      fields:
        ticketId: "{item.barcode_values.0}"
        userId: "{buyer}"
        price: {from: "{proceeds.amount}", divide: "{number_of_tickets}", places: 2}
        orderTime: "{created_at}"`;

  test("with something else than a list are a problem, and without it unless it is optional; with an empty one skipped", () => {
    const nothing = expect.objectContaining({ kind: "skipped", reason: "nothing in barcodes" });
    const rows = ['"barcodes":"b1"', '"barcodes":[]', '"barcodes":null', '"id":1'].map(
      (list) => `{"status":"CONFIRMED",${list}}`,
    );
    const { mapped } = mapJson(yaml, ...rows, '{"status":"PENDING","barcodes":[1]}');
    expect(mapped.map(rulesOf)).toEqual([
      ...[["each-unreadable barcodes"], nothing, nothing, ["list-missing barcodes"]],
      { kind: "skipped", reason: "status = PENDING" },
    ]);
    expect(mapJson(`optional: [barcodes]\n${yaml}`, '{"status":"CONFIRMED"}').mapped).toEqual([nothing]);
  });

  test("say which keys of rows and items no rule reads", () => {
    const item = '{"barcode_values":["b1"],"refunded_at":"2026-05-01"}';
    const row = `{"status":"CONFIRMED","buyer":{"id":7,"city":"Bern"},"proceeds":{"amount":"12.00"},"number_of_tickets":1,"created_at":1,"barcodes":[${item}],"test":true}`;
    expect(mapJson(yaml, row).understanding.unused).toEqual(["buyer.city", "test", "item.refunded_at"]);
  });

  test("whose value is a list or an object where text is wanted are a problem", () => {
    const bad =
      '{"status":"CONFIRMED","barcodes":[{"barcode_values":[["x"]]}],"proceeds":{"amount":1},"number_of_tickets":1}';
    expect(mapJson(yaml, bad).mapped.map(rulesOf)).toEqual([["field-type item.barcode_values.0"]]);
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
});

describe("21 a currency that is checked", () => {
  test("must be so in every item that gives an action", () => {
    const perItem = `each: {path: codes}
expect: {"{item.currency}": EUR}
actions:
  - scannedTicket: {when: {item.use: y}, fields: {ticketId: "{item.id}"}}`;
    const rows = [["EUR"], ["EUR", "USD"], ["GBP", "EUR"]].map((currencies) =>
      JSON.stringify({
        codes: currencies.map((currency, id) => ({ id, currency, use: currency === "GBP" ? "n" : "y" })),
      }),
    );
    expect(mapJson(perItem, ...rows).mapped.map(rulesOf)).toEqual([
      expect.objectContaining({ kind: "actions" }),
      ["value-unexpected {item.currency}"],
      expect.objectContaining({ kind: "actions" }),
    ]);
  });
});

describe("24 attributes", () => {
  const update = (traits: string) =>
    `actions:\n  - updateTicket: {fields: {ticketId: "{T}", metadataAttributes: ${traits}}}`;

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
    expect(JSON.stringify(exact)).toContain('"value":0.12345678901234567890,');
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
    const mapper = mapperOf(yaml, { header: ["E", "T", "Name", "Use"] });
    const row = cellsRow(2, ["a", "1", "A", "y"]);
    const first = mapper.map(row);
    expect(first).toMatchObject({ actions: [{ action: "newEvent" }, {}] });
    mapper.retract();
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

describe("a row of a source", () => {
  test("clears no trait, and says so", () => {
    const yaml = `actions:
  - updateTicket: {fields: {ticketId: "{ID}", metadataAttributes: {A: "{A}", B: "{B}"}}}`;
    const { mapped } = mapText(yaml, "ID,A,B\na,\\clear,x\n");
    expect(mapped).toMatchObject([
      { kind: "invalid", problems: [{ rule: "not-clearable", field: "A", value: "\\clear" }] },
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
          problems: [
            { rule: "u64-invalid", field: "orderTime", value: text, hint: expect.stringContaining("leave it out") },
          ],
        },
      ]);
    }
  });
});

describe("a source without actions", () => {
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
  ['price: {from: "{x}", decimal: "."}', "1,150", 'thousands: "," reads it as 1150; decimal: "," reads it as 1.150'],
  ['orderTime: {from: "{x}", format: iso, zone: UTC}', "11/29/24 22:28", 'format: "M/d/yy H:mm" reads it.'],
  ['orderTime: {from: "{x}", format: iso, zone: UTC}', "3/4/24 22:28", "which is right is never guessed"],
])("%s says of %s what would read it", (rule, text, hint) => {
  const others = rule.startsWith("price") ? "" : ', price: "1"';
  const yaml = `actions: [soldTicket: {fields: {eventId: e, ticketId: t, userId: u${others}, ${rule}}}]`;
  const [mapped] = mapText(yaml, `x,y\n"${text}",1\n`).mapped;
  expect(mapped?.kind === "invalid" ? mapped.problems[0]?.hint : undefined).toContain(hint);
});

describe("fillDown", () => {
  const YAML = `fillDown: [Order, Status]
actions:
  - scannedTicket: {when: {Status: paid}, fields: {ticketId: "{Order}-{No}"}}`;

  test("has nothing to take above the first row, and in a rejects file", () => {
    expect(rulesOf(mapText(YAML, "Order,No,Status\n,1,paid\n").mapped[0])).toEqual(["fill-down-empty Order"]);
    const rejects = "Order,No,Status,tickets:reason,tickets:row\nA,1,paid,x,\n,2,,x,\n";
    expect(rulesOf(mapText(YAML, rejects).mapped[1])).toEqual(["fill-down-empty Order", "fill-down-empty Status"]);
  });

  test("takes nothing over a row that can't be read", () => {
    const mapper = mapperOf(YAML, { header: ["Order", "No", "Status"] });
    mapper.map(cellsRow(2, ["A", "1", "paid"]));
    mapper.map({ kind: "malformed", line: 3, text: "B", problems: [], bordersKnown: true, cells: ["B"] });
    expect(rulesOf(mapper.map(cellsRow(4, ["", "2", "paid"])))).toEqual(["fill-down-empty Order"]);
  });

  test("is refused for rows of JSON and for columns that are not there", () => {
    expect(() => mapText(`fillDown: Place\n${SCAN}{ticketId: "{No}"}`, "Order,No\n1,2\n")).toThrow(
      'sources.s.fillDown: export.csv has no column "Place"',
    );
    expect(() => mapperOf(YAML)).toThrow("sources.s.fillDown: needs a table; rows of JSON have no cell above");
  });
});

describe("the length of a list", () => {
  const YAML = `each: {path: barcodes}
expect: {number: "{barcodes.length}"}
actions:
  - resoldTicket:
      fields: {ticketId: "{item}", userId: u, price: {from: "{total}", divide: "{barcodes.length}", places: 2, remainder: first}}`;

  test("divides an amount, and can be expected of a column", () => {
    const rows = [3, 2].map((number) => `{"number":${number},"total":10,"barcodes":["a","b","c"]}`);
    expect(mapJson(YAML, ...rows).mapped).toMatchObject([
      { actions: [{ data: { price: "3.34" } }, { data: { price: "3.33" } }, { data: { price: "3.33" } }] },
      { problems: [{ rule: "value-unexpected", field: "number", message: "The source expects 3 in number." }] },
    ]);
  });

  test("in one cell, too", () => {
    const yaml = YAML.replace("{path: barcodes}", `{in: "{barcodes}", match: '(?<id>\\w+)'}`)
      .replace("{item}", "{item.id}")
      .replace("remainder: first", "remainder: round");
    const { mapped } = mapText(yaml, 'number,total,barcodes\n3,10,"a, b, c"\n2,10,"d, e, f"\n');
    expect(mapped[0]).toMatchObject({ actions: [1, 2, 3].map(() => ({ data: { price: "3.33" } })) });
    expect(mapped[1]).toMatchObject({ problems: [{ rule: "value-unexpected", field: "number", value: "2" }] });
  });
});

describe("an each inside an each", () => {
  const ORDER =
    '{"id":"o","seats":[{"id":"a","codes":["x","y"],"at":"1772356522, 1772356523"},{"id":"b","codes":[],"at":""},{"id":"c","codes":["z"],"at":"1772356524"}]}';

  test("of an action reads the item of the source, which is then {outer}", () => {
    const yaml = `each: {path: seats}
actions:
  - invalidatedTicket: {when: {item.id: b}, fields: {ticketId: "{item.id}"}}
  - scannedTicket:
      each: {in: "{item.at}", match: '(?<at>[0-9]+)'}
      fields: {ticketId: "{outer.id}", orderTime: "{item.at}"}
  - checkedInTicket: {each: {path: item.codes}, when: {outer.id: c}, fields: {ticketId: "{item}"}}`;
    expect(actionsOf(mapJson(yaml, ORDER).mapped)).toEqual([
      { action: "scannedTicket", data: { ticketId: "a", orderTime: 1772356522 } },
      { action: "scannedTicket", data: { ticketId: "a", orderTime: 1772356523 } },
      { action: "invalidatedTicket", data: { ticketId: "b" } },
      { action: "scannedTicket", data: { ticketId: "c", orderTime: 1772356524 } },
      { action: "checkedInTicket", data: { ticketId: "z" } },
    ]);
  });

  test("a field of the source may read the item around it", () => {
    const yaml = `each: {path: lines}
fields: {eventId: "{outer.event}", ticketId: "{item.code}"}
actions:
  - soldTicket: {each: {path: item.codes}, fields: {userId: "{buyer}", price: "1"}}`;
    const { mapped, problems } = mapJson(yaml, '{"buyer":"u","lines":[{"event":"e1","codes":[{"code":"a"}]}]}');
    expect(actionsOf(mapped)).toMatchObject([{ data: { eventId: "e1", ticketId: "a" } }]);
    expect(problems).toEqual([]);
  });

  test("the event of its items is a field of the source as any other", () => {
    const yaml = `fields: {eventId: "{item.event}", ticketId: "{item.code}"}
actions:
  - soldTicket: {each: {path: lines}, fields: {userId: "{buyer}", price: "1"}}`;
    const row = '{"buyer":"u","lines":[{"event":"e1","code":"a"},{"event":"e2","code":"b"}]}';
    const { mapped, problems } = mapJson(yaml, row);
    expect(actionsOf(mapped)).toMatchObject([{ data: { eventId: "e1" } }, { data: { eventId: "e2" } }]);
    expect(problems).toEqual([]);
  });

  test.each(["each: {path: lines}", ""])("a when that names its items is judged for each of them (%s)", (ofSource) => {
    const list = ofSource === "" ? "tickets" : "item.tickets";
    const action = (when: string) => `{each: {path: ${list}}, when: ${when}, fields: {ticketId: "{item.code}"}}`;
    const yaml = `${ofSource}
actions:
  - invalidatedTicket: ${action("{item.state: void}")}
  - checkedInTicket: ${action("{item.state: [in, out], type: gate}")}`;
    const line = (tickets: string) => `{"type":"gate","state":"void","tickets":[${tickets}]}`;
    const mixed = '{"code":"x","state":"in"},{"code":"y","state":"void"},{"code":"z","state":"lost"}';
    const row = (tickets: string) => (ofSource === "" ? line(tickets) : `{"type":"gate","lines":[${line(tickets)}]}`);
    const { mapped, problems } = mapJson(yaml, row(mixed), row('{"code":"z","state":"lost"}'));
    expect(actionsOf(mapped)).toEqual([
      { action: "invalidatedTicket", data: { ticketId: "y" } },
      { action: "checkedInTicket", data: { ticketId: "x" } },
    ]);
    expect(mapped[1]).toEqual({ kind: "skipped", reason: `no when takes an item of ${list}` });
    expect(problems).toMatchObject([
      {
        rule: "value-not-named",
        field: "item.state",
        message: 'No when, skip or expect names "lost" (2 times, first in item 1).',
      },
    ]);
  });
});
