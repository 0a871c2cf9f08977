/** Tickets in lists of JSON rows, and rows in blocks of a table. */

import { describe, expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { tableOfObjects } from "../../../src/init/json-table.ts";
import { bodyOf, load, ruleOf } from "./configs.ts";

function linesOf(...values: readonly object[]): readonly string[] {
  const rows = values.map((value, line) => ({ kind: "object", line, value, text: JSON.stringify(value) }) as const);
  const { yaml } = guessConfig({ fileName: "orders.json", isWhole: true, ...tableOfObjects(rows as never) });
  expect(load(yaml).problems.filter(({ message }) => !message.startsWith("is still to be"))).toEqual([]);
  return yaml.split("\n").map((line) => line.trim());
}

const ORDER = {
  event: { id: "e1", name: "Gala" },
  email: "a@x.example",
  lines: [
    { price: "12.00", qty: 2, tickets: [{ code: "x1" }, { code: "x2" }] },
    { price: "15.00", qty: 1, tickets: [{ code: "x3" }] },
  ],
};

describe("tickets in a list in a list", () => {
  test("are found: the source looks into the outer list, each action into the inner one", () => {
    const lines = linesOf(ORDER);
    expect(lines.filter((line) => line.startsWith("each:"))).toEqual([
      expect.stringMatching(/^each: \{path: lines\}/),
      "each: {path: item.tickets}",
      "each: {path: item.tickets}",
    ]);
    expect(ruleOf(lines, "ticketId")).toContain('"{item.code}"');
    expect(ruleOf(lines, "eventId")).toContain('"{event.id}"');
    expect(ruleOf(lines, "#price")).toContain('"{outer.price}"');
    expect(ruleOf(lines, "item.qty")).toContain('"{item.tickets.length}"');
  });

  test("whatever the outer list is called, where the items of the inner one have a ticket's id", () => {
    const lines = linesOf({ id: "e1", title: "Gala", sales: [{ units: [{ barcode: "b1" }, { barcode: "b2" }] }] });
    expect(lines).toContain("each: {path: item.units}");
    expect(ruleOf(lines, "ticketId")).toContain('"{item.barcode}"');
    expect(ruleOf(lines, "eventId")).toMatch(/<FILL IN: the id of the event.*# or "\{id\}", if that is one/);
  });

  test("one list deeper are asked for, as rules look into two", () => {
    const [each] = linesOf({ shows: [ORDER] }).filter((line) => line.startsWith("each:"));
    expect(each).toContain(
      "they look into two, and tickets are in shows.lines.tickets. Make the items of shows the rows",
    );
  });
});

describe("a number of tickets", () => {
  test("beside their list is expected to be that of its items", () => {
    const tickets = [{ barcode: "x1" }, { barcode: "x2" }];
    expect(ruleOf(linesOf({ event_id: "e", qty: 2, tickets }), "qty")).toContain('qty: "{tickets.length}"');
    expect(ruleOf(linesOf({ event_id: "e", qty: 7, tickets }), "qty")).toBeUndefined();
  });

  test("of an item is asked for, as no rule repeats an item", () => {
    const line_items = [
      { id: 1, event_id: "g", quantity: 3, total: "75.00" },
      { id: 2, event_id: "g", quantity: 1, total: "25.00" },
    ];
    const lines = linesOf({ order: 1001, email: "a@x.example", total: "100.00", line_items });
    expect(lines).toContain("each: {path: line_items}   # guess: each item of line_items is a ticket");
    expect(ruleOf(lines, "item.quantity")).toContain('"<FILL IN: 1, where each item is one ticket');
    expect(ruleOf(lines, "price")).toContain("a row has item.quantity 3, item.total 75.00. If");
  });
});

describe("rows in blocks", () => {
  const csv = (header: string, ...rows: readonly string[]): string => `${[header, ...rows].join("\n")}\n`;

  test.each(["Order", "Bestellnummer", "Event", "Evento"])(
    "%s that only the first row of a block has is filled down",
    (name) => {
      const lines = bodyOf(
        "sales.csv",
        csv(`${name},Date,Total,Barcode,Note`, "A1,2026-05-01,24.00,T1,", ",,,T2,x", "A2,2026-05-02,12.00,T3,"),
      );
      expect(ruleOf(lines, "fillDown")).toBe(
        `fillDown: [${name}, Date]   # guess: filled in the first row of a block only`,
      );
    },
  );

  test("an amount that each order has once is asked about", () => {
    const lines = bodyOf(
      "sales.csv",
      csv("Order,Date,Total,Barcode", "A1,2026-05-01,24.00,T1", ",,,T2", "A2,2026-05-02,12.00,T3"),
    );
    expect(ruleOf(lines, "price")).toContain("<FILL IN: what one ticket cost: A1 has 2 rows and one Total");
  });

  test("a column that a first row lacks, or that is no order's or event's, is none", () => {
    const some = csv("Order,Barcode,Refunded at", ",T1,2026-05-01", "A1,T2,", "A2,T3,");
    expect(ruleOf(bodyOf("sales.csv", some), "fillDown")).toBeUndefined();
  });
});

describe("a refund that names its ticket in another column", () => {
  test.each(["Billet d'origine", "Original ticket", "Ursprungsticket", "Ticket no 2"])(
    "%s: the ticket is invalidated, at the time of the row",
    (name) => {
      for (const [own, back] of [
        ["", "20.00"],
        ["R9", "-20.00"],
      ]) {
        const rows = ["1,V7,T1,,K1,20.00,2026-05-01 10:00", `2,V7,${own},T1,K1,${back},2026-05-02 10:00`];
        const all = bodyOf("x.csv", `No,Show ID,Ticket no,${name},Kunde,Betrag,Verkauft am\n${rows.join("\n")}\n`);
        const loss = all.slice(all.findIndex((line) => line.includes("- invalidatedTicket:")));
        expect(ruleOf(loss, "ticketId")).toContain(`"{${name}}"`);
        expect(ruleOf(loss, "orderTime")).toContain('"{Verkauft am}"');
        expect(ruleOf(loss, "when")).not.toContain("FILL IN");
      }
    },
  );

  test("an exchange, whose row has a ticket of its own, is asked about", () => {
    const rows = ["1,V7,T1,,K1,20.00", "2,V7,T2,T1,K1,20.00"];
    const all = bodyOf("x.csv", `No,Show ID,Ticket,Original ticket,Kunde,Betrag\n${rows.join("\n")}\n`);
    expect(ruleOf(all, "when")).toContain('{Original ticket: "<FILL IN: {empty: false} or what else here says');
  });
});
