/** Which action the rows are: by the name of the file, by what the columns speak of, or by asking. */

import { describe, expect, test } from "vitest";
import { asksIn, bodyOf, givenIn, ruleOf, SALE } from "./configs.ts";

describe("where the file's name says the action, nothing else that happens to a ticket is written:", () => {
  test.each([
    [
      "refunds.csv",
      `${SALE},Order Date,Refunded at`,
      "e,t1,u,25.00,2026-01-01,2026-05-01T20:00:00Z",
      "invalidatedTicket",
      "Refunded at",
    ],
    ["scans.csv", `${SALE},Scanned at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "scannedTicket", "Scanned at"],
    [
      "checkins.csv",
      "Ticket ID,User ID,Checked in at",
      "t1,u,2026-05-01T20:00:00Z",
      "checkedInTicket",
      "Checked in at",
    ],
    ["resales.csv", `${SALE},Resold at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "resoldTicket", "Resold at"],
    ["sales.csv", `${SALE},Sold at`, "e,t1,u,25.00,2026-05-01T20:00:00Z", "soldTicket", "Sold at"],
  ])("%s with %s", (fileName, header, row, action, time) => {
    const lines = bodyOf(fileName, `${header}\n${row}\n`);
    // That a sale's event is registered elsewhere, only the user knows.
    const isSale = action === "soldTicket";
    expect(givenIn(lines)).toEqual(isSale ? ["newEvent", action] : [action]);
    expect(asksIn(lines)).toHaveLength(isSale ? 1 : 0);
    expect(ruleOf(lines, "orderTime")).toContain(`{${time}}`);
    expect(ruleOf(lines, "ticketId")).toMatch(/"\{(?:Ticket ID|Barcode)\}"/);
  });

  test("what it needs and no column gives is asked for", () => {
    const asked = (fileName: string, csv: string) =>
      asksIn(bodyOf(fileName, csv)).map((line) => /^ *(\w+)/.exec(line)?.[1]);
    expect(asked("sales.csv", "ticketId,userId,orderTime\nt1,u,1777000000\n")).toEqual([
      "eventId",
      "eventName",
      "currency",
      "price",
    ]);
    expect(asked("claims.csv", "ticketId,orderTime\nt1,1777000000\n")).toEqual(["userId"]);
    expect(asked("resales.csv", "ticketId,eventId\nt1,e\n")).toEqual(["userId", "price"]);
    expect(asked("events.csv", "eventId,eventName\ne,Gala\n")).toEqual(["currency"]);
    expect(asked("updates.csv", "ticketId,userId\nt1,u\n")).toEqual(["metadataAttributes"]);
    expect(asked("scans.csv", "Wristband,Gate\n77,N\n")).toEqual(["ticketId"]);
  });
});

describe("where no name says the action, it is asked for,", () => {
  test.each(["ticketId,userId\nt1,u\n", "ticketId,orderTime\nt1,1777000000\n", "Barcode,Note\nb1,u\n"])(
    "where nothing speaks of sales, events or scans: %j",
    (csv) => {
      const lines = bodyOf("export.csv", csv);
      expect(ruleOf(lines, "action")).toContain(
        '"<FILL IN: what the rows are, of soldTicket, updateTicket, resoldTicket, scannedTicket, checkedInTicket,',
      );
      expect(lines.join("\n")).not.toContain("need no rules");
    },
  );

  test("unless a time of entry does, beside which columns decide what a row gives", () => {
    const lines = bodyOf("export.csv", "ticketId,userId,Scanned at,Result\nt1,u,2026-05-01T20:00:00Z,ok\n");
    expect(givenIn(lines)).toEqual(["scannedTicket"]);
    expect(ruleOf(lines, "orderTime")).toContain('{from: "{Scanned at}"');
    expect(lines.join("\n")).toContain("  Result: ok");
  });

  test.each([
    ["april-cancellations.csv", "invalidatedTicket"],
    ["transfers.csv", "resoldTicket"],
  ])("a word of the file's name is a guess: %s", (fileName, action) => {
    const lines = bodyOf(fileName, `${SALE}\ne,t1,u,25.00\n`);
    expect(givenIn(lines.filter((line) => !line.includes("<FILL IN")))).toEqual([action]);
    expect(lines.find((line) => line.startsWith("action: "))).toContain(
      `means ${action}: remove this line if they are ${action}, as below`,
    );
  });
});

describe("an unknown layout", () => {
  test.each([
    ["gate-3.csv", "Time,Barcode,Gate\n10:03,123,N\n23:01,124,S\n", "  - scannedTicket:"],
    [
      "shows.csv",
      "Show ID,Title,Currency,Begin\n1,A,EUR,2026-01-01 10:00\n2,B,EUR,2026-02-01 10:00\n",
      "  - newEvent:",
    ],
    ["log.csv", "Code,Zeit,Ergebnis\nA1,10:03,ok\nA2,10:04,nein\n", '      when: {Ergebnis: "<FILL IN:'],
    ["export.csv", "Code,Device,Price\nA1,mobile,1.00\n", "  - soldTicket:"],
    ...["Booking Ref", "Order ID", "OrderID", "Auftragsnr", "Order"].map((id): [string, string, string] => [
      "orders.csv",
      `${id},Event ID,Qty,Total\nB1,e1,2,20.00\nB2,e1,1,10.00\n`,
      'each: {count: "{Qty}"}',
    ]),
    ["sales.csv", "event_id,ticket id,userId,price\ne,t,u,1.00\n", "action: soldTicket"],
  ])("%s is taken for what it looks like", (fileName, csv, line) => {
    expect(bodyOf(fileName, csv).some((each) => each.startsWith(line))).toBe(true);
  });

  test.each([
    [
      "orders.csv",
      "Order #,Order Date,Email,Quantity,Currency,Total Paid,Event Name,Event ID\n1,2026-03-05T10:15:00Z,a@example.com,1,EUR,25.00,Gala,9\n2,2026-03-05T10:16:00Z,b@example.com,2,EUR,50.00,Gala,9\n",
    ],
    [
      "report.csv",
      "Event ID,Event Name,Start Time,Currency,Barcode,Ticket price,Customer\n7,Gala,2026-09-05T20:00:00Z,EUR,0001,12.00,K1\n",
    ],
    ["x.csv", "Event ID,Currency,Numéro de commande\n7,EUR,1\n"],
  ])(
    "that names an order, a ticket or a buyer is of sales, though it has what an event has: %s %j",
    (fileName, csv) => {
      const lines = bodyOf(fileName, csv);
      expect(givenIn(lines)).toEqual(["newEvent", "soldTicket"]);
    },
  );

  test.each([
    "Event ID,Currency,Price\n7,EUR,12.00\n",
    "Event ID,Event Name,Start Time,Seat\n7,Gala,2026-09-05T20:00:00Z,A1\n",
    "Event ID,Currency,Title,Organizer email\n7,EUR,Gala,a@example.com\n",
  ])("that may be of sales or of events asks which: %j", (csv) => {
    const lines = bodyOf("x.csv", csv);
    expect(givenIn(lines)).toContain("soldTicket");
    expect(asksIn(lines).join("\n")).toContain(
      "the rows may be sales, or events: remove this line if they are soldTicket, as below",
    );
  });

  test.each([
    "Event ID,Event Name,Currency,Start Date,Status,Products Sold,Gross Revenue,Total Refunded,Total Fee,Total Orders,Unique Customers,Tickets\n7,Gala,EUR,2026-09-05T20:00:00Z,LIVE,5,1.00,0.00,2.00,7,8,9\n",
    "Code,Title,Start date,Venue,Capacity,Doors\ne1,Gala,2026-05-01T20:00Z,Hall,500,19:00\n",
  ])("with sums of sales at most is still of events: %j", (csv) => {
    const lines = bodyOf("program.csv", csv);
    expect(givenIn(lines)).toEqual(["newEvent"]);
  });
});
