/** Sources for the exports of Tito. */

import type { Recipe } from "../recipe.ts";

export const TITO: readonly Recipe[] = [
  {
    name: "tito-tickets",
    page: "docs/recipes/tito.md",
    title: "Tito, tickets",
    headers: ["Number", "Ticket Created Date", "Ticket", "Event", "Void Status", "Price", "Ticket Reference"],
    notes: [
      "How Tito writes dates and voided tickets is not documented: look at them with tickets plan FILE --preview.",
      "A voided ticket was sold before, so it gives its sale and then its invalidation, which has no time of its own.",
    ],
    source: {
      match: "*tickets*.csv",
      zone: "Europe/Dublin",
      fields: { eventId: "{Event}", ticketId: "{Ticket Reference}" },
      actions: [
        {
          soldTicket: {
            fields: {
              userId: ["{Ticket Email}", "{Order Reference}"],
              price: { from: "{Price}", thousands: "," },
              orderTime: { from: "{Ticket Created Date}", format: ["yyyy-MM-dd", "iso"] },
              name: "{Ticket}",
            },
          },
        },
        { invalidatedTicket: { when: { "Void Status": ["void", "voided", "true", "Yes"] } } },
      ],
    },
    remarks: { zone: { fillIn: "the time zone of the export's times" } },
  },
];
