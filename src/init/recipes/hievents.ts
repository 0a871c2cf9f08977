/** Sources for the exports of Hi.Events. */

import type { Recipe } from "../recipe.ts";

export const HIEVENTS: readonly Recipe[] = [
  {
    name: "hievents-attendees",
    page: "docs/recipes/hievents.md",
    title: "Hi.Events, attendees, saved in Excel as CSV UTF-8",
    headers: ["Public ID", "Short ID", "Check Ins", "Product Name", "Event ID", "Status", "Created Date"],
    notes: [
      "The export holds no price, so the table gives prices by product. All times are UTC.",
      "A cancelled ticket was sold before, so it gives its sale, its scans and then its invalidation, at the time of its last change. AWAITING_PAYMENT is no sale yet.",
    ],
    source: {
      match: "*attendees*.csv",
      zone: "UTC",
      fields: { eventId: "hievents-{Event ID}", ticketId: "{Public ID}" },
      skip: { Status: "AWAITING_PAYMENT" },
      actions: [
        {
          soldTicket: {
            when: { Status: ["ACTIVE", "CANCELLED"] },
            fields: {
              userId: "{Email}",
              price: { from: "{Product Name}", map: { Standing: "20.00" } },
              orderTime: { from: "{Created Date}", format: "yyyy-MM-dd HH:mm:ss" },
              name: "{Product Name}",
              metadataAttributes: { "Ticket type": "{Product Name}" },
            },
          },
        },
        {
          scannedTicket: {
            when: { Status: ["ACTIVE", "CANCELLED"] },
            each: { in: "{Check Ins}", match: "(?<list>.+?) \\((?<at>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d)\\)" },
            fields: { orderTime: { from: "{item.at}", format: "yyyy-MM-dd HH:mm:ss" } },
          },
        },
        {
          invalidatedTicket: {
            when: { Status: "CANCELLED" },
            fields: { orderTime: { from: "{Last Updated Date}", format: "yyyy-MM-dd HH:mm:ss" } },
          },
        },
      ],
    },
    remarks: { "actions.soldTicket.fields.price.map.Standing": { fillIn: "its price", forEach: "Product Name" } },
  },
  {
    name: "hievents-events",
    page: "docs/recipes/hievents.md",
    title: "Hi.Events, events report",
    headers: ["Event ID", "Event Name", "Currency", "Start Date", "End Date", "Status", "Event State"],
    notes: [
      "All times are UTC. A draft is not public yet, so it gives nothing; an archived event was registered when it was live, and is only updated.",
    ],
    source: {
      match: "*events*.csv",
      zone: "UTC",
      fields: {
        eventId: "hievents-{Event ID}",
        eventName: "{Event Name}",
        currency: "{Currency}",
        startTime: { from: "{Start Date}", format: "yyyy-MM-dd HH:mm:ss" },
        endTime: { from: "{End Date}", format: "yyyy-MM-dd HH:mm:ss" },
      },
      skip: { Status: "DRAFT" },
      actions: [{ newEvent: { when: { Status: "LIVE" } } }, { updateEvent: { when: { Status: "ARCHIVED" } } }],
    },
    remarks: {},
  },
];
