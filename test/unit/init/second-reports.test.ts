/** What more strangers' exports hold, as their public reports describe it: each is read, or asked for. */

import { expect, test } from "vitest";
import { bodyOf, ruleOf } from "./configs.ts";

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
      new RegExp(`${name}: "<FILL IN: the values of a sale, [^>]*; a test is none>"`),
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
