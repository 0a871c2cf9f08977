/** The exports of known systems that `tickets init` recognises by their headers. What it writes for them stands in docs/recipes/. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface Recipe {
  /** Name of the source: its system and the export. */
  readonly name: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (for JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
}

/** The page that shows a recipe. */
export const pageOf = ({ name }: Recipe): string => `docs/recipes/${name.replace(/-\w+$/, "")}.md`;

/**
 * What the page of its system says of a recipe: what a user should know before trusting it, and its source as YAML. There
 * `# FILL IN: what` is beside an example of what no export says, which is asked; `as {Column}`: unless that column has the
 * same text in all rows; `for each {Column}`: once for each of its texts.
 */
export function readRecipe(recipe: Recipe): { readonly notes: readonly string[]; readonly source: string } {
  const own = dirname(createRequire(import.meta.url).resolve("ticket-stream/package.json"));
  const page = readFileSync(join(own, pageOf(recipe)), "utf8");
  const [before = "", after = ""] = page.split(`\nsources:\n  ${recipe.name}:\n`);
  const section = before.slice(before.lastIndexOf("\n## "));
  const notes = [...section.matchAll(/^- (.*)$/gm)].map(([, note = ""]) => note);
  return { notes, source: `${after.split("\n```")[0]}\n` };
}

/** The first whose headers a file has is taken. */
export const RECIPES: readonly Recipe[] = [
  {
    name: "pretix-positions",
    title: "pretix, order data, sheet of order positions",
    headers: ["Event slug", "Order code", "Position ID", "Status", "Order date", "Order time", "Product", "Price"],
  },
  {
    name: "pretix-scans",
    title: "pretix, check-in log",
    headers: ["Check-in list", "Scan type", "Order code", "Position ID", "Result", "Device"],
  },
  {
    name: "alfio-tickets",
    title: "alf.io, tickets",
    headers: ["ID", "Category", "Event", "Status", "PaidPrice", "ReservationID", "Confirmation"],
  },
  {
    name: "hievents-attendees",
    title: "Hi.Events, attendees, saved in Excel as CSV UTF-8",
    headers: ["Public ID", "Short ID", "Check Ins", "Product Name", "Event ID", "Status", "Created Date"],
  },
  {
    name: "hievents-events",
    title: "Hi.Events, events report",
    headers: ["Event ID", "Event Name", "Currency", "Start Date", "End Date", "Status", "Event State"],
  },
  {
    name: "eventbrite-attendees",
    title: "Eventbrite, attendee report of one event",
    headers: ["Order #", "Order Date", "Attendee #", "Ticket Type", "Total Paid", "Attendee Status"],
  },
  {
    name: "openevent-orders",
    title: "Open Event (eventyay), orders",
    headers: ["Order#", "Order Date", "Status", "Payment Type", "Total Amount", "Quantity"],
  },
  {
    name: "openevent-attendees",
    title: "Open Event (eventyay), attendees",
    headers: ["Order#", "Order Date", "Status", "Ticket Name", "Ticket ID", "Ticket Price", "Ticket Type"],
  },
  {
    name: "attendize-attendees",
    title: "Attendize, attendees, joined with the orders export",
    headers: ["Ticket ID", "Reference", "Ticket Type", "Order Date", "Has Arrived", "Arrival Time"],
  },
  {
    name: "tickettailor-tickets",
    title: "Ticket Tailor, tickets",
    headers: ["Order ID", "Event ID", "Event", "Event start", "Ticket reference", "Ticket type", "Ticket price"],
  },
  {
    name: "weeztix-tickets",
    title: "Weeztix (Eventix), tickets",
    headers: ["order_id", "barcode", "order_status", "ticket_invalidated", "ticket_value", "paid_currency"],
  },
  {
    name: "tito-tickets",
    title: "Tito, tickets",
    headers: ["Number", "Ticket Created Date", "Ticket", "Event", "Void Status", "Price", "Ticket Reference"],
  },
  {
    name: "access-control-scans",
    title: "access control, scans of one evening",
    headers: ["Time", "Event", "Gate", "Barcode", "Section", "Row", "Seat", "Entry Mode"],
  },
  {
    name: "stubhub-sales",
    title: "StubHub, sales, one JSON object a line",
    headers: ["created_at", "proceeds", "number_of_tickets", "status", "barcodes"],
  },
];
