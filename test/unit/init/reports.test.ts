/** What strangers' exports hold, by fixtures/reports: each was once guessed wrongly, and is now read, or asked for with a sample. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bodyOf, ruleOf } from "./configs.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../fixtures/reports/${path}`, import.meta.url)), "utf8");

const linesOf = (path: string): readonly string[] => bodyOf(path.replace(/^.*\//, ""), read(path));

const TIMES = "03-init-denies-a-time-column";

test.each([
  [`${TIMES}/events.csv`, "startTime", 'startTime: {from: "{Start Date}", format: "M/d/yyyy, h:mm:ss a"}'],
  [`${TIMES}/orders-wp.csv`, "orderTime", 'orderTime: {from: "{Purchase Date}", format: "MMMM d, yyyy - h:mm a"}'],
  ["07-quantity-under-another-name/bookings.csv", "each", 'each: {count: "{Spaces}"}'],
  ["09-refund-as-negative-row/sales.csv", "ticketId", 'ticketId: "{Ticket}"'],
  [
    "10-free-price/attendees.csv",
    "price",
    'price: {from: "{Ticket Price}", decimal: ".", sign: ["$"], map: {Free: "<FILL IN:',
  ],
])("%s: %s", (path, field, rule) => {
  expect(ruleOf(linesOf(path), field)).toContain(rule);
});

test("a refund that is a row with a negative amount is no sale, and invalidates the ticket", () => {
  const lines = linesOf("09-refund-as-negative-row/sales.csv").join("\n");
  expect(lines).toContain("Amount: {not: {below: 0}}");
  expect(lines.slice(lines.indexOf("- invalidatedTicket:"))).toMatch(
    /when: \{Amount: \{below: 0\}\}[\s\S]*orderTime: \{from: "\{Date\}"/,
  );
});

test("what else a till sells is shown, as it would be sent as tickets", () => {
  const lines = bodyOf("till.csv", "Barcode,Artikel,Preis\n1,Kind,9.00\n2,Garderobe,2.00\n3,Kind,9.00\n");
  expect(lines).toContain(
    "# Artikel is Kind 2, Garderobe 1. If some are no tickets, skip them: docs/mapping.md, Rows that give nothing",
  );
});

test("a number of tickets that is negative in a refund is asked about, as no each of the source reads it", () => {
  const csv = "Receipt No,Quantity,Each,Event ID\n1,2,10.00,e\n2,-2,10.00,e\n3,1,10.00,e\n";
  expect(ruleOf(bodyOf("till.csv", csv), "each")).toContain(
    "<FILL IN: -2 is no count: remove this line, and write each: {count: '{Quantity}'} and when: {Quantity: {above: 0}} in soldTicket>",
  );
});

test("a number of tickets under a name that no list has is found by the prices", () => {
  const csv = read("07-quantity-under-another-name/bookings.csv").replace("Spaces", "Heads");
  expect(ruleOf(bodyOf("bookings.csv", csv), "each")).toContain(
    '"<FILL IN: {Heads}, by which the price is the same in more rows, if a row is so many tickets',
  );
});

test.each(["Seats", "num_seats", "Items", "Guests", "Ticket Qty", "Plätze"])(
  "%s beside an order are its tickets, and no id, in any order of columns",
  (name) => {
    for (const header of [`Order ID,${name}`, `${name},Order ID`]) {
      const rows = [3, 1, 2].map((seats, at) => (header.startsWith("Order") ? `A${at},${seats}` : `${seats},A${at}`));
      const csv = [`${header},Email,Total`, ...rows.map((row, at) => `${row},u${at}@example.com,60.00`)].join("\n");
      const lines = bodyOf("orders.csv", `${csv}\n`);
      expect(ruleOf(lines, "each")).toBe(
        `each: {count: "{${name}}"}   # guess: each row is an order of so many tickets`,
      );
      expect(ruleOf(lines, "ticketId")).toContain('"{Order ID}-{n}"');
    }
  },
);

test.each([
  ["words alone", ["gratis", "voll"], ["gratis", "voll"]],
  ["more words than amounts", ["Free", "Free", "-", "N/A", "12.50"], ["Free", "-", "N/A"]],
])("what each word for a price costs is asked: %s", (_, cells, words) => {
  const rows = cells.map((cell, at) => `${at},u${at}@example.com,${cell}`);
  const rule = ruleOf(bodyOf("attendees.csv", `${["Ticket ID,Email,Ticket Price", ...rows].join("\n")}\n`), "price");
  expect(rule).toMatch(/^price: \{from: "\{Ticket Price\}", map: \{.*\}, else: "\{Ticket Price\}"\}/);
  for (const word of words)
    expect(rule).toMatch(new RegExp(`"?${word}"?: "<FILL IN: its price, such as 0 \\(\\d rows?\\)>"`));
});

test("more words than a user could answer for are shown", () => {
  const rows = Array.from({ length: 12 }, (_, at) => `${at},u${at}@example.com,price ${"abcdefghijkl"[at]}`);
  const csv = `${["Ticket ID,Email,Ticket Price", ...rows].join("\n")}\n`;
  expect(ruleOf(bodyOf("attendees.csv", csv), "price")).toContain('Ticket Price holds \\"price a\\"');
});
