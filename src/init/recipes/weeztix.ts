/** Sources for the exports of Weeztix (Eventix). */

import type { Recipe } from "../recipe.ts";

export const WEEZTIX: readonly Recipe[] = [
  {
    name: "weeztix-tickets",
    page: "docs/recipes/weeztix.md",
    title: "Weeztix (Eventix), tickets",
    headers: ["order_id", "barcode", "order_status", "ticket_invalidated", "ticket_value", "paid_currency"],
    notes: [
      "One row carries the whole life of a ticket. Its dates and its yes and no are not documented: look at them with tickets plan FILE --preview.",
      "A ticket is void when it or its order was invalidated; it was sold before, so it gives its sale, its scan and then its invalidation. What is not paid gives nothing.",
    ],
    source: {
      match: "*tickets*.csv",
      zone: "Europe/Amsterdam",
      expect: { paid_currency: "EUR" },
      fields: { eventId: "wave-26", ticketId: "{barcode}" },
      actions: [
        {
          soldTicket: {
            when: { order_status: "paid" },
            fields: {
              userId: "{email}",
              price: { from: "{ticket_value}", thousands: "," },
              orderTime: { from: "{created_at}", format: "iso" },
              name: "{ticket_name}",
              metadataAttributes: { Seat: "{seat}" },
            },
          },
        },
        {
          scannedTicket: {
            when: { order_status: "paid", is_scanned: ["true", "1", "yes"] },
            fields: { orderTime: { from: "{first_scanned_at}", format: "iso" } },
          },
        },
        {
          invalidatedTicket: {
            when: [
              { order_status: "paid", ticket_invalidated: ["true", "1", "yes"] },
              { order_status: "paid", order_invalidated: ["true", "1", "yes"] },
            ],
            fields: { orderTime: { from: ["{ticket_invalidated_at}", "{order_invalidated_at}"], format: "iso" } },
          },
        },
      ],
    },
    remarks: {
      zone: { fillIn: "the time zone of the export's times" },
      "expect.paid_currency": { fillIn: "the event's currency; another one is a problem", sameIn: "paid_currency" },
      "fields.eventId": { fillIn: "the id of the event, which the export does not hold" },
    },
  },
];
