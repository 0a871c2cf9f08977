/** Sources for the exports of access control. */

import type { Recipe } from "../recipe.ts";

export const ACCESS_CONTROL: readonly Recipe[] = [
  {
    name: "access-control-scans",
    page: "docs/recipes/access-control.md",
    title: "access control, scans of one evening",
    headers: ["Time", "Event", "Gate", "Barcode", "Section", "Row", "Seat", "Entry Mode"],
    notes: [
      "The file has times without a date. Times before the rollover belong to the day after.",
      "Its column Price is a code, not an amount.",
    ],
    source: {
      match: "*scans*.csv",
      zone: "America/New_York",
      fields: { ticketId: "{Barcode}" },
      actions: [
        {
          scannedTicket: {
            fields: { orderTime: { from: "2026-05-09 {Time}", format: "yyyy-MM-dd H:mm", rollover: "06:00" } },
          },
        },
      ],
    },
    remarks: {
      zone: { fillIn: "the time zone of the venue" },
      "actions.scannedTicket.fields.orderTime": { fillIn: "the date on which the evening began", part: "2026-05-09" },
    },
  },
];
