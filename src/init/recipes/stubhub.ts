/** Sources for the exports of StubHub. */

import type { Recipe } from "../recipe.ts";

export const STUBHUB: readonly Recipe[] = [
  {
    name: "stubhub-sales",
    page: "docs/recipes/stubhub.md",
    title: "StubHub, sales, one JSON object a line",
    headers: ["created_at", "proceeds", "number_of_tickets", "status", "barcodes"],
    notes: [
      "The sale names no buyer, so each sale counts as a buyer of its own.",
      "It is assumed that proceeds are those of the whole sale, and that CONFIRMED means sold. A sale in any other state gives nothing.",
    ],
    source: {
      match: "*sales*.ndjson",
      each: { path: "barcodes" },
      expect: { "proceeds.currency_code": "USD" },
      fields: { ticketId: "{item.barcode_values.0}" },
      actions: [
        {
          resoldTicket: {
            when: { status: "CONFIRMED" },
            fields: {
              userId: "stubhub-{id}",
              price: { from: "{proceeds.amount}", divide: "{number_of_tickets}", places: "2" },
              orderTime: "{created_at}",
            },
          },
        },
      ],
    },
    remarks: {
      each: { note: "one resale per barcode" },
      "expect.proceeds.currency_code": { fillIn: "the currency of the event" },
    },
  },
];
