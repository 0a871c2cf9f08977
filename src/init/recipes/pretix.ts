/** Sources for the exports of pretix. */

import type { Recipe } from "../recipe.ts";

export const PRETIX: readonly Recipe[] = [
  {
    name: "pretix-positions",
    page: "docs/recipes/pretix.md",
    title: "pretix, order data, sheet of order positions",
    headers: ["Event slug", "Order code", "Position ID", "Status", "Order date", "Order time", "Product", "Price"],
    notes: [
      "Headers and statuses follow the language of the user who exports; this is the English layout.",
      "Pending and expired orders are not paid, so they give nothing; a pending one that is paid is sold in a later export.",
      "A canceled position has no time of cancellation, so its invalidation gets the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: {
      match: "*positions*.csv",
      csv: { guards: "strip" },
      zone: "Europe/Vienna",
      fields: { eventId: "{Event slug}", ticketId: "{Order code}-{Position ID}" },
      skip: { Status: ["pending", "expired"] },
      actions: [
        {
          soldTicket: {
            when: { Status: ["paid", "canceled"] },
            fields: {
              userId: ["{External customer ID}", "{Email}"],
              price: { from: "{Price}", decimal: "." },
              orderTime: { from: "{Order date} {Order time}", format: "yyyy-MM-dd HH:mm:ss" },
              name: "{Product}",
              metadataAttributes: {
                "Ticket type": "{Product}",
                Variation: "{Variation}",
                Section: "{Seat zone}",
                Row: "{Seat row}",
                Seat: "{Seat number}",
                Voucher: "{Voucher}",
              },
            },
          },
        },
        { invalidatedTicket: { when: { Status: "canceled" } } },
      ],
    },
    remarks: { zone: { fillIn: "the event's time zone, which the export does not name" } },
  },
  {
    name: "pretix-scans",
    page: "docs/recipes/pretix.md",
    title: "pretix, check-in log",
    headers: ["Check-in list", "Scan type", "Order code", "Position ID", "Result", "Device"],
    notes: [
      "The values of Scan type and Result, and how date and time are written, follow the exporting user's language: look at them with tickets plan FILE --preview.",
      "Leaving is no action of a ticket, so exits give nothing; nor do refused entries.",
    ],
    source: {
      match: "*scans*.csv",
      csv: { guards: "strip" },
      zone: "Europe/Vienna",
      fields: { ticketId: "{Order code}-{Position ID}" },
      skip: { "Scan type": "Exit" },
      actions: [
        {
          scannedTicket: {
            when: { "Scan type": "Entry", Result: "Successful" },
            fields: { orderTime: { from: "{Date} {Time}", format: ["yyyy-MM-dd H:mm", "yyyy-MM-dd H:mm:ss"] } },
          },
        },
      ],
    },
    remarks: { zone: { fillIn: "the event's time zone, which the export does not name" } },
  },
];
