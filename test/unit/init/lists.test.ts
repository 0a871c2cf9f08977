/** Tickets in lists of JSON rows, and rows in blocks of a table. */

import { describe, expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { tableOfObjects } from "../../../src/init/samples.ts";
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
  test("are asked for, whatever the outer list is called", () => {
    const [each] = linesOf(ORDER).filter((line) => line.startsWith("each:"));
    expect(each).toContain(
      '{path: "<FILL IN: lines; if tickets in them are the tickets, also each: {path: item.tickets} on each action',
    );
    expect(ruleOf(linesOf(ORDER), "item.qty")).toContain("<FILL IN: {item.tickets.length}, or 1");
    const lines = linesOf({ id: "e1", title: "Gala", sales: [{ units: [{ barcode: "b1" }, { barcode: "b2" }] }] });
    expect(ruleOf(lines, "each")).toContain("<FILL IN: sales; if units in them are the tickets");
  });
});

describe("a number of tickets", () => {
  test("beside ids in one cell is asked about, and the amount of the row may be divided by them", () => {
    const lines = bodyOf("orders.csv", 'Order,Email,Qty,Barcodes,Total\nA1,a@x.example,2,"x1, x2, x3",40.00\n');
    expect(ruleOf(lines, "each")).toContain("<FILL IN: {Qty}, if a row is so many tickets");
    expect(ruleOf(lines, "price")).toContain("divide it by {Barcodes.length}");
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
    "%s that only the first row of a block has is asked about, and never guessed",
    (name) => {
      const lines = bodyOf(
        "sales.csv",
        csv(`${name},Date,Total,Barcode,Note`, "A1,2026-05-01,24.00,T1,", ",,,T2,x", "A2,2026-05-02,12.00,T3,"),
      );
      expect(ruleOf(lines, "fillDown")).toBe(
        `fillDown: "<FILL IN: those of ${name}, Date in which a blank cell means the one above, as [one, other]; or remove this line>"`,
      );
    },
  );

  test("a column that a first row lacks, or that is no order's or event's, is none", () => {
    const some = csv("Order,Barcode,Refunded at", ",T1,2026-05-01", "A1,T2,", "A2,T3,");
    expect(ruleOf(bodyOf("sales.csv", some), "fillDown")).toBeUndefined();
  });
});

test("a refund or an exchange that names its ticket in another column is asked about", () => {
  for (const own of ["", "T2"]) {
    const rows = ["1,V7,T1,,K1,20.00", `2,V7,${own},T1,K1,20.00`];
    const all = bodyOf("x.csv", `No,Show ID,Ticket,Original ticket,Kunde,Betrag\n${rows.join("\n")}\n`);
    expect(ruleOf(all, "when")).toContain(
      '{Original ticket: "<FILL IN: which values of Original ticket mean that a ticket is no longer valid',
    );
  }
});
