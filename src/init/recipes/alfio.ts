/** Sources for the exports of alf.io. */

import type { Recipe } from "../recipe.ts";

export const ALFIO: readonly Recipe[] = [
  {
    name: "alfio-tickets",
    page: "docs/recipes/alfio.md",
    title: "alf.io, tickets",
    headers: ["ID", "Category", "Event", "Status", "PaidPrice", "ReservationID", "Confirmation"],
    notes: [
      "Cancelled tickets never appear in this export, so nothing tells that a ticket was cancelled.",
      "A ticket TO_BE_PAID is reserved, not sold, and gives nothing until it is paid.",
      "It has no time of check-in, so the service takes the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: {
      match: "*tickets*.csv",
      fields: { eventId: "{Event}", ticketId: "{ID}" },
      skip: { Status: "TO_BE_PAID" },
      actions: [
        {
          soldTicket: {
            when: { Status: ["ACQUIRED", "CHECKED_IN"] },
            fields: {
              userId: "{E-Mail}",
              price: "{PaidPrice}",
              orderTime: { from: "{Confirmation}", format: "iso" },
              name: "{Category}",
              metadataAttributes: {
                "Ticket type": "{Category}",
                Seat: "{Seat}",
                "Promo code": "{Promo Code}",
                "External reference": "{External Reference}",
              },
            },
          },
        },
        { checkedInTicket: { when: { Status: "CHECKED_IN" } } },
      ],
    },
    remarks: { "actions.soldTicket.fields.orderTime": { note: "the offset counts, not the zone in brackets" } },
  },
];
