/** Sources for the exports of Eventbrite. */

import type { Recipe } from "../recipe.ts";

export const EVENTBRITE: readonly Recipe[] = [
  {
    name: "eventbrite-attendees",
    page: "docs/recipes/eventbrite.md",
    title: "Eventbrite, attendee report of one event",
    headers: ["Order #", "Order Date", "Attendee #", "Ticket Type", "Total Paid", "Attendee Status"],
    notes: [
      "The report names neither the event nor its zone, and dates follow the account's country. It has no time of check-in or refund, so the service takes the time of sending; order-time-missing warns of that and can stay.",
      "Each row is one ticket. The orders report is another one: there, Quantity may be more than 1.",
      "Refunded, Transferred and Not Attending (taken off the list by the organiser) end a ticket that was sold, so they give the sale and the invalidation. A transferred ticket comes again, as a row of its own, for its new holder.",
      "Deleted rows were removed by the organiser, such as tests, and give nothing. A ticket that was sent and is Deleted later stays valid. To have such tickets invalidated, move Deleted from skip to both lists.",
    ],
    source: {
      match: "*attendees*.csv",
      zone: "America/Chicago",
      expect: { Quantity: "1", Currency: "USD" },
      fields: { eventId: "eb-spring-gala", ticketId: "{Order #}-{Attendee #}" },
      skip: { "Attendee Status": "Deleted" },
      actions: [
        { newEvent: { fields: { eventName: "Spring Gala #7", currency: "USD" } } },
        {
          soldTicket: {
            when: { "Attendee Status": ["Attending", "Checked In", "Refunded", "Not Attending", "Transferred"] },
            fields: {
              userId: "{Email}",
              price: { from: "{Total Paid}", thousands: "," },
              orderTime: { from: "{Order Date}", format: "M/d/yy H:mm" },
              name: "{Ticket Type}",
              metadataAttributes: { "Ticket type": "{Ticket Type}", "Price tier": "{Price Tier}" },
            },
          },
        },
        { checkedInTicket: { when: { "Attendee Status": "Checked In" } } },
        { invalidatedTicket: { when: { "Attendee Status": ["Refunded", "Not Attending", "Transferred"] } } },
      ],
    },
    remarks: {
      zone: { fillIn: "the event's time zone, which the export does not name" },
      "expect.Currency": { fillIn: "the event's currency; another one is a problem", sameIn: "Currency" },
      "fields.eventId": { fillIn: "the id of the event, which the export does not name" },
      "actions.newEvent.fields.eventName": { fillIn: "what the event is called; public" },
      "actions.newEvent.fields.currency": { fillIn: "the event's currency", sameIn: "Currency" },
      "actions.soldTicket.fields.orderTime": { note: "the US layout, month first" },
    },
  },
];
