/** Sources for the exports of Open Event (eventyay). */

import type { Recipe } from "../recipe.ts";

export const OPENEVENT: readonly Recipe[] = [
  {
    name: "openevent-orders",
    page: "docs/recipes/openevent.md",
    title: "Open Event (eventyay), orders",
    headers: ["Order#", "Order Date", "Status", "Payment Type", "Total Amount", "Quantity"],
    notes: [
      "One row is one order of Quantity tickets, which share its total equally. Use this or the attendees export of an event, not both: their ids differ.",
      "A cancelled order was sold before, so it gives its sales and their invalidations. Orders that are placed, pending, initializing or expired are not paid, and give nothing.",
      "There is no time of cancellation, so invalidations get the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: {
      match: "*orders*.csv",
      each: { count: "{Quantity}" },
      fields: { eventId: "oe-meetup", ticketId: "{Order#}-{n}" },
      skip: { Status: ["initializing", "pending", "placed", "expired"] },
      actions: [
        {
          soldTicket: {
            when: { Status: ["completed", "cancelled"] },
            fields: {
              userId: "{Email}",
              price: { from: "{Total Amount}", blank: "0", divide: "{Quantity}", places: "2" },
              orderTime: { from: "{Order Date}", format: "iso" },
              metadataAttributes: { "Discount code": "{Discount Code}" },
            },
          },
        },
        { invalidatedTicket: { when: { Status: "cancelled" } } },
      ],
    },
    remarks: { "fields.eventId": { fillIn: "the id of the event, which the export does not name" } },
  },
  {
    name: "openevent-attendees",
    page: "docs/recipes/openevent.md",
    title: "Open Event (eventyay), attendees",
    headers: ["Order#", "Order Date", "Status", "Ticket Name", "Ticket ID", "Ticket Price", "Ticket Type"],
    notes: [
      "Its column Ticket ID holds the order's, the same for all tickets of an order. So a ticket is known by order, kind and e-mail address. Where one address has two of a kind, ticket-sold-twice stops the run: use the orders export then.",
      "Use this or the orders export of an event, not both: their ids differ. Ticket Price is the list price, before discounts.",
      "A cancelled order was sold before, so it gives the sale and the invalidation, which has no time of its own. Orders that are placed, pending, initializing or expired are not paid, and give nothing.",
      "virtual_event_checkin_times are visits to the rooms of an online event, which do not end a ticket.",
    ],
    source: {
      match: "*attendees*.csv",
      fields: { eventId: "oe-meetup", ticketId: "{Ticket ID}-{Ticket Name}-{Email}" },
      skip: { Status: ["initializing", "pending", "placed", "expired"] },
      actions: [
        {
          soldTicket: {
            when: { Status: ["completed", "cancelled"] },
            fields: {
              userId: "{Email}",
              price: "{Ticket Price}",
              orderTime: { from: "{Order Date}", format: "MMMM d, yyyy HH:mm Z" },
              name: "{Ticket Name}",
              metadataAttributes: { "Ticket type": "{Ticket Name}" },
            },
          },
        },
        {
          scannedTicket: {
            when: { Status: ["completed", "cancelled"] },
            each: { in: "{virtual_event_checkin_times}", match: "(?<at>\\d{4}-[^']+)" },
            fields: { orderTime: { from: "{item.at}", format: "iso" } },
          },
        },
        { invalidatedTicket: { when: { Status: "cancelled" } } },
      ],
    },
    remarks: { "fields.eventId": { fillIn: "the id of the event, which the export does not name" } },
  },
];
