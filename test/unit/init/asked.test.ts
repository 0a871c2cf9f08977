/** What would send wrong prices or people if it were guessed is asked. */

import { describe, expect, test } from "vitest";
import { bodyOf } from "./configs.ts";

const linesWith = (word: string, fileName: string, csv: string): readonly string[] =>
  bodyOf(fileName, csv)
    .map((line) => line.trim())
    .filter((line) => line.includes(word));

describe("the amount of an order that stands on each of its rows", () => {
  const csv = (name: string, ...amounts: readonly string[]): string => {
    const rows = amounts.map((amount, at) => `${at < 2 ? 1001 : 1002},T${at},e1,c1,${amount},2026-05-01T10:00:00Z`);
    return `${[`Order ID,Barcode,Event ID,Customer ID,${name},Order Date`, ...rows].join("\n")}\n`;
  };

  test.each([
    ...["Order Total", "Order Amount", "Order Price", "Basket Total", "Amount Paid", "Transaction Amount"],
    ...["Gesamtpreis", "Rechnungsbetrag", "Montant total", "Importe total", "Totale ordine"],
  ])("is asked for: %s", (name) => {
    const [asked, choice] = linesWith("price:", "sales.csv", csv(name, "90.00", "90.00", "30.00"));
    expect(asked).toContain(`<FILL IN: what one ticket cost: 1001 has 2 rows with ${name} 90.00 each.`);
    expect(choice).toMatch(new RegExp(`^#price: "\\{${name}\\}"`));
  });

  test("is a ticket's where only a date, and no order, has several rows", () => {
    const rows = ["T1", "T2"].map((ticket) => `${ticket},e1,c1,90.00,2026-05-01T10:00:00Z`);
    for (const date of ["Bestelldatum", "Orderdate", "Order Date"]) {
      const csv = `${[`Barcode,Event ID,Customer ID,Order Total,${date}`, ...rows].join("\n")}\n`;
      expect(linesWith("price:", "sales.csv", csv)).toEqual([expect.stringContaining("# guess")]);
    }
  });

  test("is a ticket's where an order has two, no order has several rows, or its name says so", () => {
    const guess = /^price: "\{.*\}" {3}# guess/;
    expect(linesWith("price:", "sales.csv", csv("Order Total", "90.00", "60.00", "30.00"))).toEqual([
      expect.stringMatching(guess),
    ]);
    expect(linesWith("price:", "sales.csv", csv("Order Total", "90.00"))).toEqual([expect.stringMatching(guess)]);
    expect(linesWith("price:", "sales.csv", csv("Ticket price", "90.00", "90.00", "30.00"))).toEqual([
      expect.stringMatching(guess),
    ]);
  });
});

describe("whole numbers of which none is small", () => {
  const csv = (currency: string, ...amounts: readonly string[]): string => {
    const rows = amounts.map((amount, at) => `T${at},e1,c${at},${amount},${currency},2026-05-01T10:00:00Z`);
    return `${["Barcode,Event ID,Customer,Amount,Currency,Order Date", ...rows].join("\n")}\n`;
  };

  test("may be hundredths, which is asked", () => {
    expect(linesWith("price:", "sales.csv", csv("EUR", "2500", "4550", "0"))).toEqual([
      'price: "<FILL IN: one of the next lines, without its #: what one ticket cost>"   # a price is public for good; remove this line',
      '#price: "{Amount}"   # "2500" is 2500',
      '#price: {from: "{Amount}", divide: 100, places: 2}   # "2500" is 25.00; counts hundredths',
    ]);
  });

  test.each([
    ["one is small", "EUR", "2500", "45"],
    ["one has decimals", "EUR", "2500.50", "4550"],
    ["all are nothing", "EUR", "0", "0"],
    ["the currency has no hundredths", "JPY", "2500", "4550"],
  ])("are taken as they stand where %s", (_, currency, ...amounts) => {
    expect(linesWith("price:", "sales.csv", csv(currency, ...amounts))).toEqual([
      expect.stringMatching(/^price: "\{Amount\}" {3}# guess/),
    ]);
  });
});

describe("rows of several tickets", () => {
  const csv = (quantity: string): string =>
    `eventId,ticketId,userId,price,quantity,orderTime\ne1,T1,u1,50.00,${quantity},2026-05-01T10:00:00Z\ne1,T2,u2,25.00,1,2026-05-01T10:00:00Z\n`;

  test("a number of tickets beside columns named like fields is asked about", () => {
    expect(linesWith("each:", "sales.csv", csv("2"))).toEqual([
      'each: {count: "<FILL IN: {quantity}, if a row is so many tickets; then ticketId needs {n}, and a price of all of them divide: docs/mapping.md, A quantity. Else remove this line>"}',
    ]);
    expect(linesWith("ticketId:", "sales.csv", csv("2"))).toEqual(['ticketId: "{ticketId}"']);
  });

  const bookings = (counts: string, price: string, ...rows: readonly string[]): string =>
    `${[
      `Order ID,Event ID,Email,${counts},${price},Order Date`,
      ...rows.map((row, at) => `A${at},e1,u${at}@x.example,${row},2026-05-0${at + 1}T10:00:00Z`),
    ].join("\n")}\n`;

  test.each([
    ["Adults", "Children"],
    ["Erwachsene", "Kinder"],
    ["Adultes", "Enfants"],
    ["Persons", "Kids"],
    ["Pax", "Qty"],
    ["Standing", "Balcony"],
    ["Tickets", "Guests"],
    ["Adult", "Concession"],
  ])("the amount of a row is no ticket's before its counts are clear: %s, %s", (one, other) => {
    for (const price of ["Total", "Price", "Amount"]) {
      const csv = bookings(`${one},${other}`, price, "2,1,60.00", "1,0,25.00", "0,2,50.00");
      expect(linesWith("each:", "bookings.csv", csv)).toEqual([
        `each: {count: "<FILL IN: {${one}} and {${other}}, if a row is so many tickets; give each its own action, with its count and price, and {n} in its ticketId: docs/mapping.md, A quantity. Else remove this line>"}`,
      ]);
      expect(linesWith("price:", "bookings.csv", csv)).toEqual([
        expect.stringContaining(
          `price: "<FILL IN: what one ticket cost: a row has ${one} 2, ${other} 1, ${price} 60.00. If that is the price of each, take the next line`,
        ),
        expect.stringMatching(`^#price: "\\{${price}\\}"`),
      ]);
    }
  });

  test("a column that says 1 in every row counts beside one that does not", () => {
    const csv = bookings("Adults,Kids", "Total", "1,3,60.00", "1,0,25.00", "1,2,50.00");
    expect(linesWith("each:", "bookings.csv", csv)[0]).toContain("<FILL IN: {Adults} and {Kids}, if");
    expect(linesWith("price:", "bookings.csv", csv)[0]).toContain("a row has Adults 1, Kids 3, Total 60.00");
  });

  test("a price for each kind is chosen by the user", () => {
    const csv = bookings("Adults,Kids", "Adult price,Kid price", "1,3,30.00,10.00", "1,0,30.00,10.00");
    expect(linesWith("price:", "bookings.csv", csv).map((line) => line.replace(/ {3}# .*/, ""))).toEqual([
      'price: "<FILL IN: one of the next lines, without its #: what one ticket cost>"',
      '#price: "{Adult price}"',
      '#price: "{Kid price}"',
    ]);
  });

  test("the price of each ticket is one, however many the row has", () => {
    const csv = bookings("Adults,Kids", "Ticket price", "2,1,20.00", "1,0,20.00");
    expect(linesWith("price:", "bookings.csv", csv)).toEqual([
      expect.stringMatching(/^price: "\{Ticket price\}" {3}# guess/),
    ]);
  });

  test.each([
    ["Barcode", "qty"],
    ["ticketId", "Persons"],
  ])("a number beside %s: the price may be that of all", (id, quantity) => {
    const csv = `Order No,${id},eventId,userId,price,${quantity}\n1,T1,e1,u1,50.00,2\n1,T2,e1,u2,25.00,1\n`;
    expect(linesWith("price:", "sales.csv", csv)).toEqual([
      expect.stringContaining(`<FILL IN: what one ticket cost: a row has ${quantity} 2, price 50.00. If`),
      expect.stringMatching(/^#price: "\{price\}"/),
      expect.stringMatching(`^#price: \\{from: "\\{price\\}", divide: "\\{${quantity}\\}", places: 2\\}`),
    ]);
  });

  test("a number that is 1 beside each ticket is expected to stay so", () => {
    const csv = "Barcode,eventId,Email,Total,Qty\nT1,e1,a@x.example,50.00,1\nT2,e1,b@x.example,25.00,1\n";
    expect(linesWith("Qty:", "sales.csv", csv)).toEqual(["Qty: 1"]);
    expect(linesWith("price:", "sales.csv", csv)).toEqual([expect.stringMatching(/^price: "\{Total\}" {3}# guess/)]);
  });

  test("a text that says how many is a number, and no id", () => {
    const csv = bookings("Ticket", "Total", "2 x Adult,60.00", "1 x Child,25.00", "3 x Adult,90.00");
    expect(linesWith("each:", "bookings.csv", csv)[0]).toContain("<FILL IN: {Ticket}, if");
    expect(linesWith("ticketId:", "bookings.csv", csv)[0]).toContain('"{Order ID}"');
    expect(linesWith("price:", "bookings.csv", csv)[0]).toContain("a row has Ticket 2 x Adult, Total 60.00");
  });

  test("an order's total on its first row, with nothing or 0 on the others, is asked", () => {
    for (const other of ["", "0.00"]) {
      const csv = `Order ID,Barcode,Event ID,Email,Total\n1,T1,e,a@x.example,90.00\n1,T2,e,a@x.example,${other}\n2,T3,e,b@x.example,30.00\n`;
      expect(linesWith("price:", "sales.csv", csv)[0]).toContain(
        "<FILL IN: what one ticket cost: 1 has 2 rows and one Total",
      );
    }
  });

  test.each(["Barcodes", "Tickets"])("%s of a row are not one id", (name) => {
    const rows = [
      '1,e1,"T1, T2",50.00,a@b.example,2026-05-01T10:00:00Z',
      "2,e1,T3,25.00,c@b.example,2026-05-01T11:00:00Z",
    ];
    const csv = `${[`Order ID,Event ID,${name},Amount,Customer,Created at`, ...rows].join("\n")}\n`;
    expect(linesWith("ticketId:", "orders.csv", csv)).toEqual([
      expect.stringContaining(`"<FILL IN: the id of the ticket: ${name} may have several in a row>"`),
    ]);
    expect(linesWith("price:", "orders.csv", csv)[0]).toContain(
      `<FILL IN: what one ticket cost: a row may have several ${name} and one Amount. If`,
    );
    const each = csv.replace("Amount", "Ticket price");
    expect(linesWith("price:", "orders.csv", each)).toEqual([
      expect.stringMatching(/^price: "\{Ticket price\}" {3}# guess/),
    ]);
  });
});

describe("what a row is", () => {
  test.each([
    ["Type", "Return"],
    ["Transaction type", "Exchange"],
    ["Vorgangsart", "Rücknahme"],
  ])("is asked, whatever its words: %s", (name, given) => {
    const fields = `Ticket ID,Event ID,Customer ID,Price,Sold at,${name}\nT1,e1,u1,45.00,2026-05-01T10:00:00Z,Sale\nT2,e1,u2,45.00,2026-05-02T10:00:00Z,${given}\n`;
    const others = fields.replace("Ticket ID", "Barcode").replace("Price", "Preis");
    for (const csv of [fields, others])
      expect(linesWith("when:", "sales.csv", csv)[0]).toContain(
        `when: {${name}: "<FILL IN: which values of ${name} are sales, such as [one, other]? Sale (1), ${given} (1).`,
      );
  });
});

test("which rows are refunds is asked where only they have a word, as the amount of a free one does not say it", () => {
  const rows = ["T1,e1,u1,45.00,", "T2,e1,u2,0.00,", "T1,e1,u1,-45.00,Storno", "T2,e1,u2,0.00,Storno"];
  const csv = `${["Barcode,Event ID,Customer ID,Price,Remark", ...rows].join("\n")}\n`;
  expect(linesWith("Remark:", "till.csv", csv).filter((line) => line.includes("<FILL IN"))).toEqual([
    expect.stringContaining(
      'Remark: "<FILL IN: which values of Remark are sales, such as [one, other], {empty: true} or {empty: false}? Storno (2), empty (2).',
    ),
    expect.stringContaining(
      'Remark: "<FILL IN: which values of Remark mean that a ticket is no longer valid, such as [one, other], {empty: true} or {empty: false}? Storno (2), empty (2)',
    ),
  ]);
});

describe("several currencies", () => {
  test("by their signs", () => {
    const csv =
      "Barcode,Event ID,Customer ID,Price,Order Date\nT1,e,c,€12.00,2026-05-01T10:00:00Z\nT2,e,c,$15.00,2026-05-01T10:00:00Z\n";
    expect(linesWith("price:", "sales.csv", csv)[0]).toContain(
      'sign: "<FILL IN: the sign of the event\'s currency alone, of €, $: an amount with another is an error>"',
    );
    const one = csv.replace("$15.00", "15.00 EUR");
    expect(linesWith("price:", "sales.csv", one)[0]).toMatch(/^price: \{from: "\{Price\}".*# guess/);
  });

  test.each([
    ["beside columns of other names", "Barcode,Event ID,Customer,Preis,Bestelldatum,Currency"],
    ["beside columns named like fields", "Ticket ID,Event ID,User ID,Price,Order Time,Currency"],
  ])("by a column: %s", (_, header) => {
    const csv = `${header}\nT1,e,c1,30.00,2026-05-01T10:00:00Z,EUR\nT2,e,c2,30.00,2026-05-01T10:00:00Z,USD\n`;
    expect(linesWith("Currency:", "sales.csv", csv)).toEqual([
      expect.stringContaining("<FILL IN: the currency of the event, here EUR (1), USD (1)"),
    ]);
  });
});

describe("of a resale", () => {
  test.each([
    ["Seller ID,Buyer ID,Listing Price,Sold Price", "Buyer ID", "Sold Price"],
    ["Seller Email,Buyer Email,Original Price,Price", "Buyer Email", "Price"],
  ])("neither the seller nor what was asked before is taken: %s", (columns, user, price) => {
    const cells = (who: string): string =>
      columns
        .split(",")
        .map((name, at) => (/Price/.test(name) ? "50.00" : `${who}${at}@x.example`))
        .join(",");
    const csv = `Ticket ID,${columns},Resale Date\nT1,${cells("a")},2026-05-01T10:00:00Z\nT2,${cells("b")},2026-05-02T10:00:00Z\n`;
    expect(linesWith("userId:", "resales.csv", csv)[0]).toContain(`userId: "{${user}}"`);
    expect(linesWith("price:", "resales.csv", csv)[0]).toContain(`price: "{${price}}"`);
  });
});

test("a line of totals is left out by its word, not by a cell that a sale may lack too", () => {
  const csv = "Order,Seat,Email,Price\nA1,7,a@example.com,24.00\nA2,8,b@example.com,24.00\nTotal,,,48.00\n";
  expect(bodyOf("sales.csv", csv)).toContain("skip: {Order: Total}   # a line of totals is no row");
});
