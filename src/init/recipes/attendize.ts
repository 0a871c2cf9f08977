/** Sources for the exports of Attendize. */

import type { Recipe } from "../recipe.ts";

export const ATTENDIZE: readonly Recipe[] = [
  {
    name: "attendize-attendees",
    page: "docs/recipes/attendize.md",
    title: "Attendize, attendees, joined with the orders export",
    headers: ["Ticket ID", "Reference", "Ticket Type", "Order Date", "Has Arrived", "Arrival Time"],
    notes: [
      "The attendees export holds no price, and the orders export only that of the whole order, so the table gives prices by ticket type.",
      "Export the orders of the same event too; a row whose Reference is not among them is a problem.",
      "Cancelled attendees never appear, so nothing tells that a ticket was cancelled. YES and NO follow the language of the user interface.",
    ],
    source: {
      match: "*attendees*.csv",
      zone: "UTC",
      lookup: { order: { file: "orders.csv", where: { Reference: "{Reference}" } } },
      fields: { eventId: "garden-party", ticketId: "{Ticket ID}" },
      actions: [
        {
          soldTicket: {
            fields: {
              userId: "{order.Email}",
              price: { from: "{Ticket Type}", map: { Standard: "25.00" } },
              orderTime: { from: "{Order Date}", format: "yyyy-MM-dd HH:mm:ss" },
              name: "{Ticket Type}",
            },
          },
        },
        {
          checkedInTicket: {
            when: { "Has Arrived": "YES" },
            fields: { orderTime: { from: "{Arrival Time}", format: "yyyy-MM-dd HH:mm:ss" } },
          },
        },
      ],
    },
    remarks: {
      zone: { fillIn: "the time zone of the installation (UTC unless its admin changed it)" },
      "fields.eventId": { fillIn: "the id of the event, which the export does not name" },
      "actions.soldTicket.fields.price.map.Standard": { fillIn: "its price", forEach: "Ticket Type" },
    },
  },
];
