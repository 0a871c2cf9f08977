/** Sources for the exports of Ticket Tailor. */

import type { Recipe } from "../recipe.ts";

export const TICKETTAILOR: readonly Recipe[] = [
  {
    name: "tickettailor-tickets",
    page: "docs/recipes/tickettailor.md",
    title: "Ticket Tailor, tickets",
    headers: ["Order ID", "Event ID", "Event", "Event start", "Ticket reference", "Ticket type", "Ticket price"],
    notes: [
      "The export has no time of sale, so the service takes the time of sending: order-time-missing warns of it and can stay.",
      "Order status says how the order was paid, not whether, so no row is left out for it. The export does not show refunds.",
      "The check-in column is called Check-in or Checked in, and its words follow the account's language.",
    ],
    source: {
      match: "*tickets*.csv",
      zone: "Europe/London",
      columns: { checkin: ["Checked in", "Check-in"] },
      fields: { eventId: "tt-{Event ID}", ticketId: "{Ticket reference}" },
      actions: [
        {
          newEvent: {
            fields: {
              eventName: "{Event}",
              startTime: { from: "{Event start}", format: "EEE d MMM yyyy HH:mm" },
              currency: "GBP",
            },
          },
        },
        {
          soldTicket: {
            fields: {
              userId: "{Order ID}",
              price: { from: "{Ticket price}", thousands: ",", sign: "£", blank: "0" },
              name: "{Ticket type}",
            },
          },
        },
        { checkedInTicket: { when: { checkin: ["Yes", "TRUE", "1"] } } },
      ],
    },
    remarks: {
      zone: { fillIn: "the time zone of the events, which the export does not name" },
      "actions.newEvent": { note: "with the first row of each event" },
      "actions.newEvent.fields.currency": { fillIn: "the currency of the events" },
      "actions.soldTicket.fields.userId": { note: "the export holds no other id of the buyer" },
    },
  },
];
