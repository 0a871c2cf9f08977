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
    "# Artikel is Kind (2), Garderobe (1). If some are no tickets, skip them: docs/mapping.md, Rows that give nothing",
  );
});

test("a number of tickets that is negative in a refund is asked about, as no each of the source reads it", () => {
  const csv = "Receipt No,Quantity,Each,Event ID\n1,2,10.00,e\n2,-2,10.00,e\n3,1,10.00,e\n";
  expect(ruleOf(bodyOf("till.csv", csv), "each")).toContain(
    "<FILL IN: -2 is no count: remove this line, and write each: {count: '{Quantity}'} and when: {Quantity: {above: 0}} in soldTicket>",
  );
});

test("a number beside an order may be its tickets, whatever it is called", () => {
  const csv = read("07-quantity-under-another-name/bookings.csv").replace("Spaces", "Heads");
  expect(ruleOf(bodyOf("bookings.csv", csv), "each")).toContain('"<FILL IN: {Heads}, if a row is so many tickets');
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

// ---- what public reports of others describe ----

const SALES = "Ticket ID,Event ID,Email,Price,Order Date";

/** Rows of sales, with a cell more in each. */
const salesWith = (name: string, cells: readonly string[]): string =>
  [`${SALES},${name}`, ...cells.map((cell, at) => `T${at},e,u${at}@x.example,30.00,2026-11-27T18:1${at}:03Z,${cell}`)]
    .join("\n")
    .concat("\n");

// fossasia/eventyay#3193
test.each([
  ["Test mode", ["No", "Yes", "No"]],
  ["livemode", ["true", "false", "true"]],
])("orders that were tests are asked about: %s", (name, cells) => {
  for (const status of ["", ",Status"]) {
    const csv = salesWith(`${name}${status}`, status === "" ? cells : cells.map((cell) => `${cell},paid`));
    expect(ruleOf(bodyOf("tickets.csv", csv), "when")).toMatch(
      new RegExp(`${name}: "<FILL IN: which values of ${name} are sales, [^>]*\\. A test is none>"`),
    );
  }
});

// Automattic/woocommerce-payments#8522
test.each(["Date / Time (UTC)", "Created (UTC)", "paid_at_utc"])("%s says its zone", (name) => {
  const csv = `Ticket ID,Event ID,Email,Price,${name}\nT1,e,u@x.example,30.00,2026-11-27 18:15:03\n`;
  expect(ruleOf(bodyOf("sales.csv", csv), "zone")).toBe(`zone: UTC   # guess: as ${name} says`);
});

// bolt/bolt#7918, hougaard/BCCL_support#21
test.each([
  ["0000-00-00 00:00:00", "2026-11-27 20:00:00", "iso"],
  ["-0001-11-30 00:00:00", "2026-11-27 20:00:00", "iso"],
  ["01.01.1753", "27.11.2026", "d.M.yyyy"],
])("%s is no time at which a ticket was cancelled", (none, time, format) => {
  const lines = bodyOf("tickets.csv", salesWith("cancelled_at", [none, none, time]));
  const back = lines.slice(lines.findIndex((line) => line.includes("- invalidatedTicket:")));
  expect(ruleOf(back, "when")).toContain(`['', '${none}'] or {not: ['', '${none}']}`);
  expect(ruleOf(back, "orderTime")).toMatch(new RegExp(`from: "\\{cancelled_at\\}", format: "?${format}`));
});

// microsoft/botbuilder-dotnet#3764
test("times as .NET writes them are read", () => {
  const csv = `${SALES}\nT1,e,u@x.example,30.00,/Date(1795803303069)/\nT2,e,v@x.example,30.00,/Date(1795803363069+0100)/\n`;
  expect(ruleOf(bodyOf("sales.csv", csv), "orderTime")).toContain('{from: "{Order Date}", format: unix-ms}');
});

// opencollective/opencollective#6430, duncanmcclean/simple-commerce#482
test.each([
  ["Attendees", ['"Ann A, Bob B, Cem C"', "Dee D", '"Eli E, Fay F"']],
  ["items", ['"[{""id"":""t1"",""quantity"":3}]"', '"[{""id"":""t2"",""quantity"":1}]"']],
])("several tickets in one cell are asked about: %s", (name, cells) => {
  const rows = cells.map((cell, at) => `${at}01,${at}0.00,u${at}@x.example,${cell}`);
  const lines = bodyOf("orders.csv", [`Order ID,Amount,Email,${name}`, ...rows].join("\n"));
  expect(ruleOf(lines, "ticketId")).toContain(`<FILL IN: the id of the ticket: ${name} may have several in a row>`);
  expect(ruleOf(lines, "price")).toContain("<FILL IN: what one ticket cost");
});

// liedekef/events-made-easy#116
test("a column for each ticket of a row is asked about", () => {
  const csv = `Booking,Email,Total,Ticket 1 Code,Ticket 1 Name,Ticket 2 Code,Ticket 2 Name
801,a@x.example,60.00,A7K2,Ann,B8L3,Bob
802,d@x.example,30.00,D1N5,Dee,,
`;
  const lines = bodyOf("registrations.csv", csv);
  expect(ruleOf(lines, "ticketId")).toBe(
    'ticketId: "<FILL IN: the id of the ticket: a row has several, in {Ticket 1 Code}, {Ticket 2 Code}>"   # give each its own soldTicket, with its ticketId and price, and when: {Ticket 2 Code: {empty: false}}',
  );
  expect(ruleOf(lines, "price")).toContain("<FILL IN: what one ticket cost: a row may have 2 tickets and one Total.");
});

// egh/ledger-autosync#34
test("a refund that has an id of its own gives back the ticket that it names", () => {
  const csv = `Date,Type,Gross,Email,Transaction ID,Reference Txn ID
2026-11-01T10:00:00Z,Payment,60.00,a@x.example,32N1,
2026-11-01T11:00:00Z,Payment,30.00,b@x.example,32N2,
2026-11-02T10:00:00Z,Refund,-30.00,b@x.example,32N3,32N2
`;
  const lines = bodyOf("paypal.csv", csv);
  const back = lines.slice(lines.findIndex((line) => line.includes("- invalidatedTicket:")));
  expect(ruleOf(back, "ticketId")).toBe('ticketId: "{Reference Txn ID}"   # guess: it holds the ids of other rows');
});

// julionc/awesome-shopify#81
test("cells that are blank below the first row of an order are asked about", () => {
  const csv = `Name,Email,Financial Status,Paid at,Total,Lineitem quantity,Lineitem name
#1,a@x.example,paid,2026-11-27 19:15:03 +0100,90.00,2,Adult
#1,,,,,1,Child
#2,b@x.example,refunded,2026-11-27 20:15:03 +0100,30.00,1,Adult
`;
  expect(ruleOf(bodyOf("orders.csv", csv), "fillDown")).toBe(
    'fillDown: "<FILL IN: those of Email, Financial Status, Paid at in which a blank cell means the one above, as [one, other]; or remove this line>"',
  );
});

test("a remark in whole sentences is no status: it is asked about, and no text of it expected", () => {
  const remark = "Customer called and asked for a refund as she is ill; cancelled by T.";
  const lines = bodyOf("sales.csv", salesWith("Cancellation remark", ["", remark, ""]));
  expect(ruleOf(lines, "expect")).toBeUndefined();
  expect(ruleOf(lines, "when")).toContain('{Cancellation remark: "<FILL IN: ');
});
