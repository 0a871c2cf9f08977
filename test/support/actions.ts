/** Actions as a file of `{action, data}` items has them. */

import type { Item } from "./service.ts";

export const newEvent = (eventId = "E"): Item => ({ action: "newEvent", data: { eventId, currency: "EUR" } });

export const sale = (ticketId: string, eventId = "E"): Item => ({
  action: "soldTicket",
  data: { eventId, ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1_768_600_000 },
});
